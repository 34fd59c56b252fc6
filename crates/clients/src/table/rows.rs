//! The rows. What they say was tried with the real client, read in its documentation, or told by others: see `sure`.

use super::{CallTimeout, Client, CommandShape, ConfigLocation, ConfigScope, Entries, Shape, Sure};
use crate::system::Os::{self, Linux, Mac, Windows};
use callgate_document::Syntax::{self, Commented, Json, Jsonc, Toml, Yaml};

const EVERYWHERE: &[Os] = &[Linux, Mac, Windows];
const UNIX: &[Os] = &[Linux, Mac];

const SPLIT: CommandShape = CommandShape::Split { command: "command", args: "args" };

/// `mcpServers` with `command` and `args`, as nearly everybody has it.
pub(crate) const USUAL: Shape = Shape {
    section: &["mcpServers"],
    entries: Entries::ByName,
    start: SPLIT,
    env: "env",
    remote: &["url", "serverUrl", "httpUrl"],
    besides: &[],
    named: false,
    call_timeout: None,
};
/// Claude Code, Gemini CLI and its kin, Amazon Q.
const TIMED_IN_MS: Shape = Shape { call_timeout: Some(CallTimeout::Milliseconds("timeout")), ..USUAL };
/// Claude Code's servers for one project each, in the user's own file.
const PER_PROJECT: Shape = Shape { section: &["projects", "*", "mcpServers"], ..TIMED_IN_MS };
const CLINE: Shape = Shape { call_timeout: Some(CallTimeout::Seconds("timeout")), ..USUAL };
const SERVERS: Shape = Shape { section: &["servers"], besides: &[("type", "\"stdio\"")], ..USUAL };
const ZED: Shape = Shape { section: &["context_servers"], ..USUAL };
const CODEX: Shape = Shape {
    section: &["mcp_servers"],
    call_timeout: Some(CallTimeout::Seconds("tool_timeout_sec")),
    ..USUAL
};
const OPENCODE: Shape = Shape {
    section: &["mcp"],
    start: CommandShape::Array("command"),
    env: "environment",
    besides: &[("type", "\"local\""), ("enabled", "true")],
    ..USUAL
};
const COPILOT: Shape = Shape { besides: &[("type", "\"local\""), ("tools", "[\"*\"]")], ..USUAL };
const GOOSE: Shape = Shape {
    section: &["extensions"],
    start: CommandShape::Split { command: "cmd", args: "args" },
    env: "envs",
    remote: &["uri", "url"],
    besides: &[("type", "\"stdio\""), ("enabled", "true"), ("description", "\"\""), ("timeout", "300")],
    named: true,
    call_timeout: Some(CallTimeout::Seconds("timeout")),
    ..USUAL
};
const CONTINUE: Shape = Shape { entries: Entries::List, named: true, ..USUAL };

const fn user(path: &'static str, syntax: Syntax, shape: Shape, sure: Sure) -> ConfigLocation {
    ConfigLocation { os: EVERYWHERE, path, scope: ConfigScope::User, syntax, shape, sure, stands_alone: true }
}

/// A file that says more than servers, and would be wrong without it.
const fn whole(place: ConfigLocation) -> ConfigLocation {
    ConfigLocation { stands_alone: false, ..place }
}

const fn project(path: &'static str, syntax: Syntax, shape: Shape, sure: Sure) -> ConfigLocation {
    ConfigLocation { scope: ConfigScope::Project, ..user(path, syntax, shape, sure) }
}

const fn only(os: &'static [Os], place: ConfigLocation) -> ConfigLocation {
    ConfigLocation { os, ..place }
}

const fn scoped(scope: ConfigScope, place: ConfigLocation) -> ConfigLocation {
    ConfigLocation { scope, ..place }
}

/// Where a sandbox keeps what its program takes for the person's own folder.
const fn boxed(path: &'static str, syntax: Syntax, shape: Shape) -> ConfigLocation {
    only(&[Linux], scoped(ConfigScope::Sandboxed, user(path, syntax, shape, Sure::Told)))
}

/// A client that picks changes up by itself or with a click, and does not write what it has not read.
const fn plain(
    id: &'static str,
    name: &'static str,
    places: &'static [ConfigLocation],
    reload: &'static str,
) -> Client {
    Client { id, name, places, processes: &[], caches: false, reload }
}

pub(super) const CLIENTS: &[Client] = &[
    Client {
        processes: &[
            "/Claude.app/",
            "/lib/claude-desktop/",
            "/lib/claude-desktop-unofficial/",
            "/WindowsApps/Claude_",
            "/AnthropicClaude/",
        ],
        caches: true,
        ..plain(
            "claude-desktop",
            "Claude Desktop",
            &[
                only(&[Mac], user("{support}/Claude/claude_desktop_config.json", Json, USUAL, Sure::Said)),
                only(&[Mac], user("{support}/Claude-3p/claude_desktop_config.json", Json, USUAL, Sure::Told)),
                only(
                    &[Windows],
                    user(
                        "{localappdata}/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json",
                        Json,
                        USUAL,
                        Sure::Told,
                    ),
                ),
                // May survive as a stale file beside the packaged app's.
                only(
                    &[Windows],
                    scoped(
                        ConfigScope::Legacy,
                        user("{appdata}/Claude/claude_desktop_config.json", Json, USUAL, Sure::Said),
                    ),
                ),
                only(&[Linux], user("{config}/Claude/claude_desktop_config.json", Json, USUAL, Sure::Told)),
                boxed("~/.var/app/*/config/Claude/claude_desktop_config.json", Json, USUAL),
                boxed("~/snap/*/current/.config/Claude/claude_desktop_config.json", Json, USUAL),
            ],
            "Quit Claude Desktop from its menu and start it again; closing the window is not quitting.",
        )
    },
    plain(
        "claude-code",
        "Claude Code",
        &[
            user("{CLAUDE_CONFIG_DIR:-~}/.claude.json", Json, TIMED_IN_MS, Sure::Tried),
            scoped(
                ConfigScope::Local,
                user("{CLAUDE_CONFIG_DIR:-~}/.claude.json", Json, PER_PROJECT, Sure::Tried),
            ),
            project("{project}/.mcp.json", Json, TIMED_IN_MS, Sure::Tried),
            only(
                &[Linux],
                scoped(
                    ConfigScope::Managed,
                    user("/etc/claude-code/managed-mcp.json", Json, TIMED_IN_MS, Sure::Said),
                ),
            ),
            only(
                &[Mac],
                scoped(
                    ConfigScope::Managed,
                    user(
                        "/Library/Application Support/ClaudeCode/managed-mcp.json",
                        Json,
                        TIMED_IN_MS,
                        Sure::Said,
                    ),
                ),
            ),
            only(
                &[Windows],
                scoped(
                    ConfigScope::Managed,
                    user("{programfiles}/ClaudeCode/managed-mcp.json", Json, TIMED_IN_MS, Sure::Told),
                ),
            ),
        ],
        "Start a new session, or type /mcp and reconnect.",
    ),
    plain(
        "cursor",
        "Cursor",
        &[
            user("~/.cursor/mcp.json", Jsonc, USUAL, Sure::Said),
            project("{project}/.cursor/mcp.json", Jsonc, USUAL, Sure::Said),
            boxed("~/.var/app/*/.cursor/mcp.json", Jsonc, USUAL),
            boxed("~/snap/*/current/.cursor/mcp.json", Jsonc, USUAL),
        ],
        "Switch the server off and on in Cursor's settings, or reload the window; Cursor may ask to approve it once more.",
    ),
    plain(
        "vscode",
        "VS Code",
        &[
            only(&[Linux], user("{config}/Code/User/mcp.json", Jsonc, SERVERS, Sure::Said)),
            only(&[Mac], user("{support}/Code/User/mcp.json", Jsonc, SERVERS, Sure::Said)),
            only(&[Windows], user("{appdata}/Code/User/mcp.json", Jsonc, SERVERS, Sure::Said)),
            only(&[Linux], user("{config}/Code/User/profiles/*/mcp.json", Jsonc, SERVERS, Sure::Said)),
            only(&[Mac], user("{support}/Code/User/profiles/*/mcp.json", Jsonc, SERVERS, Sure::Said)),
            only(&[Windows], user("{appdata}/Code/User/profiles/*/mcp.json", Jsonc, SERVERS, Sure::Said)),
            only(UNIX, user("~/.vscode-server/data/User/mcp.json", Jsonc, SERVERS, Sure::Said)),
            project("{project}/.vscode/mcp.json", Jsonc, SERVERS, Sure::Said),
            boxed("~/.var/app/*/config/Code/User/mcp.json", Jsonc, SERVERS),
            boxed("~/snap/*/current/.config/Code/User/mcp.json", Jsonc, SERVERS),
        ],
        "Restart the server from the line above it in mcp.json; VS Code may ask to trust it once more.",
    ),
    plain(
        "vscode-insiders",
        "VS Code Insiders",
        &[
            only(&[Linux], user("{config}/Code - Insiders/User/mcp.json", Jsonc, SERVERS, Sure::Said)),
            only(&[Mac], user("{support}/Code - Insiders/User/mcp.json", Jsonc, SERVERS, Sure::Said)),
            only(&[Windows], user("{appdata}/Code - Insiders/User/mcp.json", Jsonc, SERVERS, Sure::Said)),
            only(
                &[Linux],
                user("{config}/Code - Insiders/User/profiles/*/mcp.json", Jsonc, SERVERS, Sure::Said),
            ),
            only(
                &[Mac],
                user("{support}/Code - Insiders/User/profiles/*/mcp.json", Jsonc, SERVERS, Sure::Said),
            ),
            only(
                &[Windows],
                user("{appdata}/Code - Insiders/User/profiles/*/mcp.json", Jsonc, SERVERS, Sure::Said),
            ),
        ],
        "Restart the server from the line above it in mcp.json; VS Code may ask to trust it once more.",
    ),
    plain(
        "windsurf",
        "Windsurf",
        &[
            user("~/.codeium/windsurf/mcp_config.json", Json, USUAL, Sure::Said),
            user("~/.codeium/mcp_config.json", Json, USUAL, Sure::Told),
        ],
        "Press Refresh in Windsurf's list of servers.",
    ),
    plain(
        "cline",
        "Cline",
        &[
            user("~/.cline/data/settings/cline_mcp_settings.json", Json, CLINE, Sure::Said),
            only(
                &[Linux],
                scoped(
                    ConfigScope::Legacy,
                    user(
                        "{config}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                        Json,
                        CLINE,
                        Sure::Said,
                    ),
                ),
            ),
            only(
                &[Mac],
                scoped(
                    ConfigScope::Legacy,
                    user(
                        "{support}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                        Json,
                        CLINE,
                        Sure::Said,
                    ),
                ),
            ),
            only(
                &[Windows],
                scoped(
                    ConfigScope::Legacy,
                    user(
                        "{appdata}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                        Json,
                        CLINE,
                        Sure::Said,
                    ),
                ),
            ),
        ],
        "Nothing to do: Cline watches its file.",
    ),
    plain(
        "zed",
        "Zed",
        &[
            only(UNIX, user("{config}/zed/settings.json", Jsonc, ZED, Sure::Said)),
            only(&[Windows], user("{appdata}/Zed/settings.json", Jsonc, ZED, Sure::Said)),
            project("{project}/.zed/settings.json", Jsonc, ZED, Sure::Said),
            boxed("~/.var/app/*/config/zed/settings.json", Jsonc, ZED),
            boxed("~/snap/*/current/.config/zed/settings.json", Jsonc, ZED),
        ],
        "Nothing to do: Zed watches its file.",
    ),
    plain(
        "codex",
        "Codex",
        &[
            user("{CODEX_HOME:-~/.codex}/config.toml", Toml, CODEX, Sure::Tried),
            project("{project}/.codex/config.toml", Toml, CODEX, Sure::Tried),
        ],
        "Start a new thread.",
    ),
    plain(
        "gemini",
        "Gemini CLI",
        &[
            user("~/.gemini/settings.json", Commented, TIMED_IN_MS, Sure::Tried),
            project("{project}/.gemini/settings.json", Commented, TIMED_IN_MS, Sure::Tried),
        ],
        "Type /mcp reload, or start Gemini again.",
    ),
    plain(
        "qwen",
        "Qwen Code",
        &[
            user("~/.qwen/settings.json", Commented, TIMED_IN_MS, Sure::Tried),
            project("{project}/.qwen/settings.json", Commented, TIMED_IN_MS, Sure::Tried),
        ],
        "Start Qwen Code again.",
    ),
    plain(
        "opencode",
        "OpenCode",
        &[
            // The first shadows the second.
            user("{config}/opencode/opencode.jsonc", Jsonc, OPENCODE, Sure::Tried),
            user("{config}/opencode/opencode.json", Jsonc, OPENCODE, Sure::Tried),
            project("{project}/opencode.jsonc", Jsonc, OPENCODE, Sure::Tried),
            project("{project}/opencode.json", Jsonc, OPENCODE, Sure::Tried),
        ],
        "Start OpenCode again.",
    ),
    plain(
        "copilot",
        "Copilot CLI",
        &[
            user("{COPILOT_HOME:-~/.copilot}/mcp-config.json", Json, COPILOT, Sure::Tried),
            project("{project}/.github/mcp.json", Json, COPILOT, Sure::Said),
        ],
        "Start Copilot again.",
    ),
    plain(
        "goose",
        "Goose",
        &[
            only(UNIX, user("{config}/goose/config.yaml", Yaml, GOOSE, Sure::Said)),
            only(&[Windows], user("{appdata}/Block/goose/config/config.yaml", Yaml, GOOSE, Sure::Said)),
        ],
        "Start a new session.",
    ),
    plain(
        "continue",
        "Continue",
        &[
            whole(user("~/.continue/config.yaml", Yaml, CONTINUE, Sure::Said)),
            project("{project}/.continue/mcpServers/*.yaml", Yaml, CONTINUE, Sure::Said),
            project("{project}/.continue/mcpServers/*.json", Json, USUAL, Sure::Told),
        ],
        "Nothing to do: Continue reads its file when it is saved.",
    ),
    plain(
        "lmstudio",
        "LM Studio",
        &[
            user("~/.lmstudio/mcp.json", Json, USUAL, Sure::Said),
            user("~/.cache/lm-studio/mcp.json", Json, USUAL, Sure::Told),
        ],
        "Open mcp.json in LM Studio and save it, or start LM Studio again.",
    ),
    plain(
        "junie",
        "Junie",
        &[
            user("~/.junie/mcp/mcp.json", Json, USUAL, Sure::Said),
            project("{project}/.junie/mcp/mcp.json", Json, USUAL, Sure::Said),
        ],
        "Restart the IDE if the server does not come back by itself.",
    ),
    plain(
        "kiro",
        "Kiro",
        &[
            user("~/.kiro/settings/mcp.json", Json, USUAL, Sure::Said),
            project("{project}/.kiro/settings/mcp.json", Json, USUAL, Sure::Said),
        ],
        "Nothing to do: Kiro reads its file when it is saved.",
    ),
    plain(
        "warp",
        "Warp",
        &[
            user("~/.warp/.mcp.json", Json, USUAL, Sure::Said),
            project("{project}/.warp/.mcp.json", Json, USUAL, Sure::Said),
        ],
        "Nothing to do: Warp watches its file.",
    ),
    plain(
        "antigravity",
        "Antigravity",
        &[
            user("~/.gemini/config/mcp_config.json", Json, USUAL, Sure::Told),
            scoped(
                ConfigScope::Legacy,
                user("~/.gemini/antigravity/mcp_config.json", Json, USUAL, Sure::Told),
            ),
            project("{project}/.agents/mcp_config.json", Json, USUAL, Sure::Told),
        ],
        "Press Refresh under Manage MCP Servers.",
    ),
    plain(
        "amazon-q",
        "Amazon Q",
        &[
            user("~/.aws/amazonq/cli-agents/*.json", Json, TIMED_IN_MS, Sure::Told),
            whole(user("~/.aws/amazonq/agents/default.json", Json, TIMED_IN_MS, Sure::Said)),
            scoped(ConfigScope::Legacy, user("~/.aws/amazonq/mcp.json", Json, TIMED_IN_MS, Sure::Said)),
            project("{project}/.amazonq/mcp.json", Json, TIMED_IN_MS, Sure::Said),
        ],
        "Start a new session.",
    ),
];
