//! What a policy adds for single clients, and which of it is for whom.
//!
//! Clients name themselves, and do not always spell it alike; so they are compared by the folded form of their names, blanks left out.

use rustc_hash::FxHashMap;

use crate::glob::Glob;
use crate::layer::Layer;
use crate::{methods, name};

#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    /// As it is written.
    pub(crate) client: String,
    /// For calls of tools.
    pub(crate) layer: Layer,
    /// For all other requests.
    pub(crate) requests: methods::Layer,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Overlays {
    all: Vec<Overlay>,
    exact: FxHashMap<Box<str>, usize>,
    /// The most specific first.
    globs: Vec<(Glob, usize)>,
}

impl Overlays {
    /// Gives back the name of another overlay if that is for the same client already.
    pub(crate) fn add(&mut self, overlay: Overlay) -> Result<(), String> {
        let folded = name::client_key(&overlay.client).into_owned();
        let same = self.all.iter().find(|other| name::client_key(&other.client) == folded.as_str());
        if let Some(other) = same {
            return Err(other.client.clone());
        }
        let at = self.all.len();
        if name::is_pattern(&folded) {
            self.globs.push((Glob::new(&folded), at));
            self.globs.sort_by(|(a, _), (b, _)| a.rank().cmp(&b.rank()));
        } else {
            self.exact.insert(folded.into_boxed_str(), at);
        }
        self.all.push(overlay);
        Ok(())
    }

    /// The exact name, else the most specific pattern; never more than one.
    pub(crate) fn of(&self, client: &str) -> Option<&Overlay> {
        if self.all.is_empty() {
            return None;
        }
        let folded = name::client_key(client);
        let by_name = self.exact.get(folded.as_ref());
        let at = by_name.or_else(|| self.globs.iter().find(|(g, _)| g.matches(&folded)).map(|(_, at)| at));
        at.and_then(|at| self.all.get(*at))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Overlay> {
        self.all.iter()
    }

    /// The clients that have an overlay by exact name, in folded form.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.exact.keys().map(|name| &**name)
    }

    /// The patterns, the most specific first, with their overlays.
    pub(crate) fn globs(&self) -> impl Iterator<Item = (&Glob, &Overlay)> {
        self.globs.iter().filter_map(|(glob, at)| Some((glob, self.all.get(*at)?)))
    }
}
