//! The comment on top of policies that were made from the default one. It says what they do, and has to stay true.

use crate::policy::Policy;
use crate::{DEFAULT_POLICY, compare};

/// The comment of a policy that was changed since: true whatever the rules say.
const CHANGED: &str =
    "// Made from Callgate's default policy and changed since: the rules below say what is let through.";

/// The text with a comment of ours on top that fits its rules; every other byte as it is. A comment that a person wrote is
/// theirs.
pub fn truthful(text: &str) -> String {
    let shipped = DEFAULT_POLICY.lines().next().unwrap_or_default();
    let (first, rest) = text.split_at(text.find(['\r', '\n']).unwrap_or(text.len()));
    if first != shipped && first != CHANGED {
        return text.to_owned();
    }
    let is_default = match (Policy::parse(text), Policy::parse(DEFAULT_POLICY)) {
        (Ok(now), Ok(default)) => same(&now, &default),
        _ => false,
    };
    format!("{}{rest}", if is_default { shipped } else { CHANGED })
}

/// Does neither let anything through that the other refuses?
fn same(one: &Policy, other: &Policy) -> bool {
    compare::loosened(one, other).is_empty() && compare::loosened(other, one).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Edit, apply};

    #[test]
    fn the_comment_on_top_never_says_watch_only_above_a_deny() {
        let block = Edit::Block { tool: "x".to_owned(), reason: None };
        let blocked = apply(DEFAULT_POLICY, &block).map(|edited| truthful(&edited.text));
        let Ok(blocked) = blocked else { panic!("not blocked") };
        assert!(blocked.starts_with(CHANGED) && !blocked.contains("Watch only"), "{blocked}");
        assert_eq!(truthful(&blocked), blocked);
        let allowed = apply(&blocked, &Edit::Allow { tool: "x".to_owned() });
        let Ok(allowed) = allowed else { panic!("not allowed") };
        assert!(truthful(&allowed.text).starts_with("// Watch only"), "as before: {}", allowed.text);
        for own in ["// Watch only, mine\n{\"version\":\"1\",\"default\":\"deny\"}", "{}", ""] {
            assert_eq!(truthful(own), own);
        }
        assert_eq!(truthful(DEFAULT_POLICY), DEFAULT_POLICY);
    }
}
