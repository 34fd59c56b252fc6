//! Where clients keep their files, with files that such clients wrote.

use std::fs;
use std::path::Path;

pub const DESKTOP: &str = ".config/Claude/claude_desktop_config.json";
pub const CURSOR: &str = ".cursor/mcp.json";

/// Where clients keep their files, and one that such a client wrote.
pub const FIXTURES: [(&str, &str); 5] = [
    (DESKTOP, "claude-desktop/app-written.json"),
    (CURSOR, "cursor/mcp.json"),
    (".codex/config.toml", "codex/config.toml"),
    (".config/goose/config.yaml", "goose/config.yaml"),
    (".claude.json", "claude-code/home.json"),
];

/// The same for every client that is known.
pub const EVERY_CLIENT: [(&str, &str); 21] = [
    FIXTURES[0],
    FIXTURES[1],
    FIXTURES[2],
    FIXTURES[3],
    FIXTURES[4],
    (".config/Code/User/mcp.json", "vscode/mcp.json"),
    (".config/Code - Insiders/User/mcp.json", "vscode-insiders/mcp.json"),
    (".codeium/windsurf/mcp_config.json", "windsurf/mcp_config.json"),
    (".cline/data/settings/cline_mcp_settings.json", "cline/cline_mcp_settings.json"),
    (".config/zed/settings.json", "zed/settings.json"),
    (".gemini/settings.json", "gemini/settings.json"),
    (".qwen/settings.json", "qwen/settings.json"),
    (".config/opencode/opencode.jsonc", "opencode/opencode.jsonc"),
    (".copilot/mcp-config.json", "copilot/mcp-config.json"),
    (".continue/config.yaml", "continue/config.yaml"),
    (".lmstudio/mcp.json", "lmstudio/mcp.json"),
    (".junie/mcp/mcp.json", "junie/mcp.json"),
    (".kiro/settings/mcp.json", "kiro/mcp.json"),
    (".warp/.mcp.json", "warp/mcp.json"),
    (".gemini/config/mcp_config.json", "antigravity/mcp_config.json"),
    (".aws/amazonq/agents/default.json", "amazon-q/default.json"),
];

pub fn fixture(name: &str) -> Vec<u8> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read(workspace.join("crates/clients/fixtures").join(name)).unwrap()
}
