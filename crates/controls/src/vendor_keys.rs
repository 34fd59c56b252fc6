//! Vendor keys: what is known of capabilities under `experimental` and `extensions` and of prefixed keys of `_meta`. Whatever is
//! not on this list as harmless is taken out of what a client gets, unless a person lets it through.
//!
//! One list, with where each is described. Harmless is what makes no client do, show or send anything that the gate would not
//! see, or what only makes it stricter.

use callgate_protocol::vendor::Place;

/// What is known of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VendorKey {
    /// The key; a beginning of keys, if it ends with a slash.
    pub key: &'static str,
    pub place: Place,
    pub is_harmless: bool,
    /// What a client does for it, to go on with "it …".
    pub what: &'static str,
    pub source: &'static str,
}

const fn key(
    (place, is_harmless): (Place, bool),
    key: &'static str,
    what: &'static str,
    source: &'static str,
) -> VendorKey {
    VendorKey { key, place, is_harmless, what, source }
}

const PASSES: bool = true;
const GOES: bool = false;

pub const KNOWN: [VendorKey; 15] = [
    key(
        (Place::Capability, GOES),
        "claude/channel/permission",
        "lets the server see Claude Code's own permission prompts and answer them",
        "https://code.claude.com/docs/en/channels-reference",
    ),
    key(
        (Place::Capability, GOES),
        "claude/channel",
        "lets the server write into a conversation of Claude Code by itself",
        "https://code.claude.com/docs/en/channels-reference",
    ),
    key(
        (Place::Capability, PASSES),
        "io.modelcontextprotocol/ui",
        "shows pages of the server in a sandbox; their calls come through the gate",
        "https://github.com/modelcontextprotocol/ext-apps",
    ),
    key(
        (Place::Capability, PASSES),
        "io.modelcontextprotocol/tasks",
        "lets calls be answered later; they are judged as all calls are",
        "https://modelcontextprotocol.io/extensions",
    ),
    key(
        (Place::Capability, PASSES),
        "io.modelcontextprotocol/oauth-client-credentials",
        "is about servers that are reached over HTTP",
        "https://modelcontextprotocol.io/extensions",
    ),
    key(
        (Place::Capability, PASSES),
        "io.modelcontextprotocol/enterprise-managed-authorization",
        "is about servers that are reached over HTTP",
        "https://modelcontextprotocol.io/extensions",
    ),
    key(
        (Place::Meta, PASSES),
        "io.modelcontextprotocol/",
        "is part of the protocol",
        "https://modelcontextprotocol.io/specification/draft/basic",
    ),
    key(
        (Place::Meta, PASSES),
        "ui/resourceUri",
        "names a page of the server that is shown in a sandbox; its calls come through the gate",
        "https://github.com/modelcontextprotocol/ext-apps",
    ),
    key(
        (Place::Meta, PASSES),
        "anthropic/maxResultSizeChars",
        "says how long a result Claude Code takes in as it is",
        "https://code.claude.com/docs/en/mcp",
    ),
    key(
        (Place::Meta, PASSES),
        "anthropic/requiresUserInteraction",
        "has Claude Code ask before each call",
        "https://code.claude.com/docs/en/mcp",
    ),
    key(
        (Place::Meta, GOES),
        "anthropic/alwaysLoad",
        "has Claude Code put the tool before the model in every conversation, asked for or not",
        "https://code.claude.com/docs/en/mcp",
    ),
    key(
        (Place::Meta, GOES),
        "openai/fileParams",
        "has Codex upload the local files that these arguments name",
        "https://github.com/openai/codex",
    ),
    key(
        (Place::Meta, GOES),
        "openai/widgetAccessible",
        "lets a page of the server call the tool by itself",
        "https://developers.openai.com/apps-sdk/reference",
    ),
    key(
        (Place::Meta, PASSES),
        "openai/toolInvocation/invoking",
        "is a short text that is shown while a tool runs",
        "https://developers.openai.com/apps-sdk/reference",
    ),
    key(
        (Place::Meta, PASSES),
        "openai/toolInvocation/invoked",
        "is a short text that is shown when a tool has run",
        "https://developers.openai.com/apps-sdk/reference",
    ),
];

/// What is known of this key, if anything.
pub fn known(place: Place, key: &str) -> Option<&'static VendorKey> {
    KNOWN.iter().find(|known| {
        known.place == place && (known.key == key || known.key.ends_with('/') && key.starts_with(known.key))
    })
}

/// Does it pass without anybody having let it through?
pub fn is_harmless(place: Place, key: &str) -> bool {
    known(place, key).is_some_and(|known| known.is_harmless)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_that_lend_a_client_to_its_server_do_not_pass_and_those_of_the_protocol_do() {
        for (place, key, harmless) in [
            (Place::Capability, "claude/channel", false),
            (Place::Capability, "claude/channel/permission", false),
            (Place::Capability, "claude/channel/else", false),
            (Place::Capability, "io.modelcontextprotocol/else", false),
            (Place::Capability, "", false),
            (Place::Meta, "io.modelcontextprotocol/related-task", true),
            (Place::Meta, "io.modelcontextprotocol.evil/x", false),
            (Place::Meta, "openai/fileParams", false),
            (Place::Meta, "callgate/rule", false),
            (Place::Capability, "anthropic/maxResultSizeChars", false),
        ] {
            assert_eq!(is_harmless(place, key), harmless, "{key}");
        }
    }

    #[test]
    fn every_key_says_what_it_does_and_where_that_is_written() {
        for known in KNOWN {
            assert!(known.source.starts_with("https://") && !known.what.ends_with('.'), "{known:?}");
            assert_eq!(KNOWN.iter().filter(|other| other.key == known.key).count(), 1, "{known:?}");
        }
    }
}
