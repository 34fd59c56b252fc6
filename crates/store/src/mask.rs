//! Secrets are masked at capture: before anything is written, and before it is cut to size. What a secret is stands in
//! `callgate-redaction`.

pub(crate) use callgate_redaction::warm;
pub use callgate_redaction::{KEPT, Kept, Masker, Secret, secret_values};

/// Names, rules and ids are kept to this length.
const SHORT: usize = 1024;

/// The start of a name, rule or id.
pub(crate) fn short(text: &str) -> &str {
    if text.len() <= SHORT { text } else { &text[..text.floor_char_boundary(SHORT)] }
}
