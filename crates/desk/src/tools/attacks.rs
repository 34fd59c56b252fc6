//! What was done elsewhere with tools of a kind, each from a public source, and what the gate does about it.

use callgate_risk::RiskClass;

use super::facts::Tool;
use crate::view::AttackPattern;

struct Pattern {
    title: &'static str,
    words: &'static str,
    source: &'static str,
    gate: &'static str,
    is_about: fn(&Tool) -> bool,
}

const PATTERNS: &[Pattern] = &[
    Pattern {
        title: "Instructions in a definition",
        words: "A description tells the model to read other files or to call other tools first, where no person sees it.",
        source: "Invariant Labs, tool poisoning attacks, April 2025",
        gate: "Every definition is scanned, with hidden characters spelled out; a tool with a finding is asked about.",
        is_about: |tool| !tool.findings.is_empty(),
    },
    Pattern {
        title: "Instructions in what it returns",
        words: "Text that others wrote, such as an issue or a page, tells the agent to fetch what is private and to publish it.",
        source: "Invariant Labs, GitHub MCP, May 2025",
        gate: "The tools that write or send can be limited, asked about or hidden; every call is on record.",
        is_about: |tool| tool.assessment.flags.returns_text_of_others,
    },
    Pattern {
        title: "A copy of everything goes to somebody else",
        words: "A server for mail was clean for fifteen versions; the sixteenth sent a copy of each message to its author.",
        source: "postmark-mcp 1.0.16 on npm, September 2025",
        gate: "What was sent is on record with its arguments. What a server's own program does on the network is not seen.",
        is_about: |tool| tool.assessment.flags.sends_outside,
    },
    Pattern {
        title: "A path that leads elsewhere",
        words: "A link, or a folder whose name begins alike, leads out of the folder that was allowed.",
        source: "CVE-2025-53109 and CVE-2025-53110",
        gate: "inside and not_inside follow links on the real disk and compare whole names.",
        is_about: |tool| {
            let paths = ["path", "file", "folder", "director"];
            let named = |name: &str| paths.iter().any(|word| name.to_lowercase().contains(word));
            super::arguments::of(&tool.definition).iter().any(|argument| named(&argument.name))
        },
    },
    Pattern {
        title: "An argument that becomes a command",
        words: "A value that begins with a dash, or holds the signs of a shell, is run by the program behind the tool.",
        source: "CVE-2025-68144 and CVE-2025-53967",
        gate: "validate holds arguments against the tool's schema; conditions refuse what does not fit a pattern.",
        is_about: |tool| tool.assessment.class == RiskClass::Execute,
    },
    Pattern {
        title: "An agent in a loop",
        words: "A model that sees no progress makes the same call hundreds of times within minutes.",
        source: "opencode issue 31942 (277 calls); hermes-agent issue 10776 (90 retries)",
        gate: "A limit stops it, and tells the model when to come back.",
        is_about: |tool| matches!(tool.assessment.class, RiskClass::Write | RiskClass::Execute),
    },
    Pattern {
        title: "Gone in seconds",
        words: "An agent removed a production database during a freeze, and reported that all was well.",
        source: "Replit and SaaStr, July 2025",
        gate: "ask holds each call until a person has decided; hide takes the tool off the list.",
        is_about: |tool| tool.assessment.class == RiskClass::Destructive,
    },
    Pattern {
        title: "Paid for by mistake",
        words: "A page or a message talks an agent into a purchase, or into paying twice.",
        source: "OWASP Top 10 for LLM Applications 2025, LLM06 Excessive Agency",
        gate: "ask holds each call until a person has decided; a sum limit adds up amounts.",
        is_about: |tool| tool.assessment.class == RiskClass::Financial,
    },
];

pub(super) fn of(tool: &Tool) -> Vec<AttackPattern> {
    let its = PATTERNS.iter().filter(|pattern| (pattern.is_about)(tool));
    its.map(|pattern| AttackPattern {
        title: pattern.title.to_owned(),
        words: pattern.words.to_owned(),
        source: pattern.source.to_owned(),
        gate: pattern.gate.to_owned(),
    })
    .collect()
}
