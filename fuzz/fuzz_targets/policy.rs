//! A policy text, a NUL, then arguments. No text may make the policy crate panic, and an edit that it agrees to make
//! leaves a policy that parses and does what was asked.

#![no_main]

#[path = "../fixed_keys.rs"]
mod fixed_keys;

use std::num::NonZeroU32;

use callgate_policy::{
    Call, Circumstances, Judgement, Policy, Unused, Window, compare, decide,
    edit::{Edit, apply},
};
use callgate_protocol::json::Raw;
use libfuzzer_sys::fuzz_target;

const TOOL: &str = "read_file";

fuzz_target!(|data: &[u8]| {
    let Ok(data) = std::str::from_utf8(data) else { return };
    let (text, args) = data.split_once('\0').unwrap_or((data, "{}"));
    let args = Raw::parse(args).ok();
    let parsed = Policy::parse(text);
    for edit in edits() {
        let Ok(edited) = apply(text, &edit) else { continue };
        let new = Policy::parse(&edited.text).expect("an edited policy parses");
        let again = apply(&edited.text, &edit).expect("an edit can be made twice");
        assert!(!again.changed, "the second time changes nothing");
        if let Edit::Block { .. } | Edit::Hide { .. } = edit {
            // What is only observed passes, and is noted.
            match new.judge(&Call::tool("client", TOOL, args), &Circumstances::timeless()) {
                Judgement::Refuse(_) => {}
                Judgement::Pass(pass) => assert!(pass.observing, "blocked and hidden tools are refused"),
            }
        }
        if let Ok(old) = &parsed {
            compare::loosened(old, &new);
        }
    }
    let Ok(policy) = parsed else { return };
    policy.visibility("client");
    for name in [TOOL, "delete_file", "Read_File", ""] {
        let call = Call::tool("client", name, args);
        if let Judgement::Pass(pass) = policy.judge(&call, &Circumstances::timeless()) {
            assert!(pass.observing || !policy.is_hidden("client", name), "a hidden tool never passes");
        }
        decide(&policy, &call, &Circumstances::timeless(), &Unused);
    }
    for method in ["resources/read", "prompts/get", "acme/x"] {
        decide(&policy, &Call::method("client", method, args), &Circumstances::timeless(), &Unused);
    }
});

fn edits() -> [Edit; 4] {
    let tool = || TOOL.to_owned();
    [
        Edit::Block { tool: tool(), reason: Some("no".to_owned()) },
        Edit::Hide { tool: tool() },
        Edit::Cap { tool: tool(), max: NonZeroU32::MIN, window: Window::MINUTE },
        Edit::Allow { tool: tool() },
    ]
}
