//! Definitions on their way into the pins: what the server says of itself, taken in by the thread that reads lists, so that
//! whoever carries answers does not wait for the disk.

use std::sync::mpsc::Sender;

use callgate_controls::pin::{self, PinKind};
use callgate_home::Home;
use callgate_home::clock::wall_ms;
use callgate_protocol::json::Raw;
use callgate_protocol::vendor::Place;
use callgate_redaction::Masker;
use tracing::warn;

use crate::relay::News;

/// Where what a server says of itself is held against what was accepted.
#[derive(Clone, Debug)]
pub(crate) struct DefinitionStore {
    pub(crate) home: Home,
    pub(crate) server: String,
    pub(crate) masker: Masker,
    /// To the session's main thread.
    pub(crate) tell: Sender<News>,
}

impl DefinitionStore {
    /// Takes in all of one kind, as names with texts. False if that cannot be written down.
    pub(crate) fn learn(&self, kind: PinKind, listed: &[(String, String)]) -> bool {
        let listed = listed.iter().filter_map(|(name, text)| Some((name.as_str(), Raw::parse(text).ok()?)));
        match pin::learn(&self.home, &self.masker, &self.server, wall_ms(), kind, listed) {
            Ok(news) => {
                if !news.is_empty() {
                    let _over = self.tell.send(News::Definitions(news));
                }
                true
            }
            Err(error) => {
                warn!(%error, "what the server says of itself could not be pinned");
                false
            }
        }
    }

    /// Writes down what its clients did not get.
    pub(crate) fn take_out(&self, members: &[(Place, String)]) {
        if let Err(error) = pin::take_out(&self.home, &self.masker, &self.server, wall_ms(), members) {
            warn!(%error, "what was taken out of the server's answers could not be written down");
        }
    }
}
