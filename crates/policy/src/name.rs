//! Names of tools as callers write them: which are usable at all, which are patterns, which look alike.

use std::borrow::Cow;

use callgate_protocol::fold::fold;

/// No server has longer names; some readers truncate them.
pub(crate) const LONGEST: usize = 1024;

/// Why no server should ever be asked for a tool of this name.
pub(crate) fn unusable(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("the tool's name is empty");
    }
    if name.len() > LONGEST {
        return Some("the tool's name is too long");
    }
    // Plain ASCII names, that is nearly all, are settled by one pass over the bytes.
    if name.bytes().all(|b| (0x20..0x7f).contains(&b)) {
        return None;
    }
    name.chars()
        .any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fffd}'))
        .then_some("the tool's name holds control characters")
}

/// The form under which a careless reader may take two names for one.
pub(crate) fn folded(name: &str) -> Cow<'_, str> {
    fold(name)
}

pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use super::unusable;

    #[test]
    fn names_that_readers_may_cut_or_split_are_unusable() {
        for name in ["", "safe\0danger", "a\rb", "a\u{85}b", "a\u{2028}b", "a\u{fffd}", &"x".repeat(1025)] {
            assert!(unusable(name).is_some(), "{name:?}");
        }
        for name in ["safe", "__proto__", "ns/tool.v2-x", "größe", &"x".repeat(1024)] {
            assert!(unusable(name).is_none(), "{name:?}");
        }
    }
}
