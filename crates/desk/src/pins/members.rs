//! Vendor members at the desk: what a server says beside the protocol and its clients do not get, and letting it through.

use callgate_controls::pin::{self, Pins};
use callgate_controls::vendor_keys::{VendorKey, known};
use callgate_protocol::vendor::Place;
use callgate_text::name;

use crate::acts::Plan;
use crate::view::{Answer, Done, MemberView};
use crate::{Desk, DeskError};

/// What is known of it where it was seen, or else the worst of elsewhere: whoever lets a name through does so in every place.
fn gravest(place: Place, key: &str) -> Option<&'static VendorKey> {
    let worse = || [Place::Capability, Place::Meta].into_iter().filter_map(|place| known(place, key));
    worse().find(|known| !known.is_harmless).or_else(|| known(place, key))
}

/// What was taken out, and what passes because a person said so.
pub(super) fn views(pins: &Pins) -> Vec<MemberView> {
    let taken_out = pins.taken_out.iter().map(|(key, taken)| {
        let place = if taken.is_capability { Place::Capability } else { Place::Meta };
        (key, taken.is_capability, Some(taken.since_ms), gravest(place, key))
    });
    let others = pins.let_through.iter().filter(|key| !pins.taken_out.contains_key(*key)).map(|key| {
        let is_capability = known(Place::Meta, key).is_none();
        let place = if is_capability { Place::Capability } else { Place::Meta };
        (key, is_capability, None, gravest(place, key))
    });
    let view = |(key, is_capability, since_ms, known): (&String, bool, Option<i64>, Option<&VendorKey>)| {
        MemberView {
            key: key.clone(),
            is_capability,
            passes: pins.let_through.contains(key),
            since_ms,
            what: known.map(|known| known.what.to_owned()),
            source: known.map(|known| known.source.to_owned()),
        }
    };
    taken_out.chain(others).map(view).collect()
}

impl Desk {
    fn member(&self, server: &str, key: &str) -> Result<MemberView, DeskError> {
        let view = self.pins(Some(server))?.into_iter().next();
        let found = view.and_then(|view| view.members.into_iter().find(|member| member.key == key));
        found.ok_or_else(|| {
            DeskError::NotFound(format!(
                "nothing called {} was taken out of what clients of {} got; nothing was changed",
                name(key),
                name(server)
            ))
        })
    }

    pub(crate) fn ask_to_let_through(&self, server: &str, key: &str) -> Result<Answer, DeskError> {
        let member = self.member(server, key)?;
        let (key_shown, server_shown) = (name(key), name(server));
        if member.passes {
            let words = format!("Nothing to change: {key_shown} of {server_shown} is let through");
            return Ok(Answer::Done(Done::said(words, Some(server))));
        }
        let words = format!("Let {key_shown} of {server_shown} through to its clients?");
        let what = member
            .what
            .unwrap_or_else(|| "is not known here; a client may act on it without asking".to_owned());
        let loosened = vec![format!("{key_shown}: it {what}")];
        let plan = Plan::LetThrough { server: server.to_owned(), key: key.to_owned() };
        self.ask(words, loosened, plan).map(Answer::Ask)
    }

    /// After a yes.
    pub(crate) fn let_through(&self, server: &str, key: &str) -> Result<Done, DeskError> {
        let (key_shown, server_shown) = (name(key), name(server));
        self.note_pins(server, &format!("let {key_shown} of server {server_shown} through to its clients"))?;
        pin::let_through(&self.home, server, key, true)?;
        let words =
            format!("{key_shown} of {server_shown} is let through to clients that connect from now on");
        Ok(Done::said(words, Some(server)))
    }

    pub(crate) fn take_out(&self, server: &str, key: &str) -> Result<Done, DeskError> {
        let (key_shown, server_shown) = (name(key), name(server));
        let words = match pin::let_through(&self.home, server, key, false)? {
            true => format!(
                "{key_shown} of {server_shown} is taken out again; a client that has it keeps it until it connects anew"
            ),
            false => format!("Nothing to change: {key_shown} of {server_shown} is not let through"),
        };
        Ok(Done::said(words, Some(server)))
    }
}
