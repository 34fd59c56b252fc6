//! JSON as received: strictly checked text that is navigated and copied, never rebuilt.
//!
//! Owns the grammar (RFC 8259 and nothing beyond it), the refusal of duplicate members and of bottomless nesting,
//! navigation by slices of the original text, and the one way in which text is written out again.
//! Knows nothing of JSON-RPC. A number stays the lexeme it was and a string keeps its escapes, because a value
//! that was parsed and printed again is no longer the value that was judged.

mod emit;
mod raw;
mod scan;
mod stack;
mod string;
mod tokens;

pub use emit::{compact, quoted, write_string};
pub use raw::{Items, Kind, Members, Raw};
pub use scan::{JsonError, MAX_DEPTH, Problem};

pub(crate) use emit::{compact_text, is_safe};
pub(crate) use raw::Name;
pub(crate) use scan::{Duplicates, Sink, scan, structure};
pub(crate) use string::decode;
pub(crate) use tokens::{Token, tokens};
