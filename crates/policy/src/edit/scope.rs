//! Whose rules an edit is about: everyone's, or what the policy adds for one client.
//!
//! A client has one overlay, that of its name or else that of a pattern. The first edit for a client that a pattern
//! speaks of copies the pattern's rules, or they would be lost to it.

use super::EditError;
use crate::compare;
use crate::file::{Body, PolicyFile};
use crate::name;
use crate::overlay::Overlay;
use crate::policy::Policy;
use callgate_document::{Draft, NewValue};

static NOTHING: Body = Body::NOTHING;

#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// The key of the client's overlay, as it is written or will be.
    client: Option<String>,
}

impl Scope {
    pub(super) const EVERYONE: Scope = Scope { client: None };

    /// Makes ready for an edit: afterwards no other overlay speaks for the client than the one that is edited.
    pub(super) fn open(
        draft: &mut Draft,
        policy: &Policy,
        client: Option<&str>,
        summary: &mut Vec<String>,
    ) -> Result<Scope, EditError> {
        let Some(client) = client else { return Ok(Scope::EVERYONE) };
        let folded = name::client_key(client);
        // What folds to nothing would be a rule for all clients without a name.
        if folded.is_empty() || name::is_pattern(&folded) || name::unusable(client).is_some() {
            return Err(EditError::NotAClient(client.to_owned()));
        }
        let key = match policy.overlays.of(client) {
            Some(overlay) if name::client_key(&overlay.client) == folded => overlay.client.clone(),
            Some(pattern) => {
                copy(draft, &pattern.client, client);
                summary.push(format!(
                    "the client {client:?} has rules of its own now; they begin as those of {:?}",
                    pattern.client
                ));
                client.to_owned()
            }
            None => client.to_owned(),
        };
        Ok(Scope { client: Some(key) })
    }

    /// For everyone: the scopes of those clients for whom the policy adds something. None, for a client's own.
    pub(super) fn clients(&self, file: &PolicyFile) -> Vec<Scope> {
        match self.client {
            Some(_) => Vec::new(),
            None => {
                file.clients.iter().map(|overlay| Scope { client: Some(overlay.client.clone()) }).collect()
            }
        }
    }

    pub(super) fn client(&self) -> Option<&str> {
        self.client.as_deref()
    }

    /// The name that a call of somebody in this scope carries.
    pub(super) fn caller(&self) -> &str {
        self.client().unwrap_or_default()
    }

    /// ` for the client "cursor"`; nothing for everyone.
    pub(super) fn whose(&self) -> String {
        self.client().map(|client| format!(" for the client {client:?}")).unwrap_or_default()
    }

    /// Where a part of these rules stands in the file.
    pub(super) fn path<'a>(&'a self, below: &[&'a str]) -> Vec<&'a str> {
        match self.client() {
            Some(client) => [&["clients", client], below].concat(),
            None => below.to_vec(),
        }
    }

    pub(super) fn body<'f>(&self, file: &'f PolicyFile) -> &'f Body {
        match self.client() {
            Some(client) => {
                let found = file.clients.iter().find(|overlay| overlay.client == client);
                found.map_or(&NOTHING, |overlay| &overlay.body)
            }
            None => &file.body,
        }
    }

    /// What is in force for this client besides the rules for everyone.
    pub(super) fn overlay<'p>(&self, policy: &'p Policy) -> Option<&'p Overlay> {
        self.client().and_then(|client| policy.overlays.of(client))
    }

    /// Everyone whom these rules are for: for all, clients without an overlay, then those with each of them.
    pub(super) fn overlays<'p>(&self, policy: &'p Policy) -> Vec<Option<&'p Overlay>> {
        match self.client() {
            Some(_) => vec![self.overlay(policy)],
            None => std::iter::once(None).chain(policy.overlays.iter().map(Some)).collect(),
        }
    }

    /// Takes out what an edit left empty. In a client's rules an empty rule would list its tool for this client, whatever the
    /// rules for everyone come to say; in those for everyone it would go on refusing names that look like its own. Stays if
    /// it lets anything through.
    pub(super) fn tidy(&self, draft: &mut Draft, tool: Option<&str>) {
        if !draft.is_changed() {
            return;
        }
        let mut tidied = draft.clone();
        if let Some(tool) = tool {
            for list in ["limits", "deny_if"] {
                tidied.remove_empty(&self.path(&["tools", tool, list]));
            }
            tidied.remove_empty(&self.path(&["tools", tool]));
        }
        tidied.remove_empty(&self.path(&["all_tools", "limits"]));
        for part in ["all_tools", "tools", "hide"] {
            tidied.remove_empty(&self.path(&[part]));
        }
        if let Some(client) = self.client() {
            tidied.remove_empty(&["clients", client]);
            tidied.remove_empty(&["clients"]);
        }
        if let (Ok(with), Ok(without)) = (Policy::parse(draft.text()), Policy::parse(tidied.text()))
            && compare::loosened(&without, &with).is_empty()
        {
            *draft = tidied;
        }
    }
}

/// The rules of one overlay once more, under another name, with their comments.
fn copy(draft: &mut Draft, from: &str, to: &str) {
    let rules = draft.document().and_then(|document| {
        let rules = document.root.at(&["clients", from])?;
        Some(document.piece(rules.span.clone()))
    });
    if let Some(rules) = rules {
        draft.set(&["clients", to], NewValue::Piece(rules));
    }
}
