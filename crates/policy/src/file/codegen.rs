//! `codegen`: rules about the sessions that a browser server records.

use super::Spot;
use super::reader::{Cursor, Reader};
use crate::problem::Place;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodegenSettings {
    /// A second session is not started while one is open.
    pub one_open_session: Option<Spot<bool>>,
    /// Only sessions that the client started itself are ended or cleared.
    pub own_sessions_only: Option<Spot<bool>>,
    /// A session with recorded actions is not cleared before it was ended.
    pub keep_unfinished: Option<Spot<bool>>,
    pub place: Place,
}

const KEYS: &[&str] = &["one_open_session", "own_sessions_only", "keep_unfinished"];

pub(super) fn read(reader: &mut Reader<'_, '_, '_>, cursor: &Cursor<'_>) -> Option<CodegenSettings> {
    let fields = reader.fields(cursor, "`codegen`", KEYS)?;
    let mut said = |key: &str| {
        let cursor = fields.get(key)?;
        let value = reader.boolean(cursor, &format!("`{key}`"))?;
        Some(Spot { value, place: cursor.place.clone() })
    };
    Some(CodegenSettings {
        one_open_session: said("one_open_session"),
        own_sessions_only: said("own_sessions_only"),
        keep_unfinished: said("keep_unfinished"),
        place: cursor.place.clone(),
    })
}
