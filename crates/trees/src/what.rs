//! What a process is, in words. For people only: nothing is ended because of its name.

use std::fmt;

/// The kinds that matter in a server's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessKind {
    Gate,
    Keeper,
    Npx,
    Node,
    Python,
    Shell,
    Browser,
    /// One or more pages of a browser.
    Renderer,
    /// Another part of a browser, by its own word.
    BrowserPart(String),
    CrashHandler,
    /// Something else, by the name of its file.
    Program(String),
}

impl fmt::Display for ProcessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessKind::Gate => f.write_str("gate"),
            ProcessKind::Keeper => f.write_str("keeper"),
            ProcessKind::Npx => f.write_str("npx"),
            ProcessKind::Node => f.write_str("node"),
            ProcessKind::Python => f.write_str("python"),
            ProcessKind::Shell => f.write_str("shell"),
            ProcessKind::Browser => f.write_str("browser"),
            ProcessKind::Renderer => f.write_str("renderer"),
            ProcessKind::BrowserPart(part) => write!(f, "browser: {part}"),
            ProcessKind::CrashHandler => f.write_str("crash handler"),
            ProcessKind::Program(name) => f.write_str(name),
        }
    }
}

impl ProcessKind {
    /// A browser, or a part of one.
    pub fn is_browser(&self) -> bool {
        matches!(
            self,
            ProcessKind::Browser
                | ProcessKind::Renderer
                | ProcessKind::BrowserPart(_)
                | ProcessKind::CrashHandler
        )
    }

    /// By its command line; by what it calls itself where there is none.
    pub fn of(arguments: &[String], name: &str) -> ProcessKind {
        // A process that wrote its command line anew has it in one piece.
        let words: Vec<&str> = match arguments {
            [line] => line.split(' ').collect(),
            _ => arguments.iter().map(String::as_str).collect(),
        };
        let Some((program, rest)) = words.split_first() else { return ProcessKind::Program(name.to_owned()) };
        if name == "callgate-keeper" {
            return ProcessKind::Keeper;
        }
        let file = base(program);
        if file.contains("crashpad") {
            return ProcessKind::CrashHandler;
        }
        if is_browser(file) {
            return part_of_browser(rest);
        }
        match file {
            "callgate" if rest.first() == Some(&"run") => ProcessKind::Gate,
            "npx" | "bunx" | "uvx" | "pnpx" => ProcessKind::Npx,
            "npm" | "pnpm" | "yarn" if rest.first().is_some_and(|word| matches!(*word, "exec" | "dlx")) => {
                ProcessKind::Npx
            }
            "node" | "nodejs" | "bun" | "deno" | "MainThread" => {
                let script = rest.iter().find(|word| !word.starts_with('-')).map(|script| base(script));
                if matches!(script, Some("npx" | "npx-cli.js")) {
                    ProcessKind::Npx
                } else {
                    ProcessKind::Node
                }
            }
            "sh" | "bash" | "dash" | "zsh" | "fish" | "cmd" | "powershell" | "pwsh" => ProcessKind::Shell,
            _ if file.starts_with("python") => ProcessKind::Python,
            _ => ProcessKind::Program(if file.is_empty() { name.to_owned() } else { file.to_owned() }),
        }
    }
}

/// A file's name without what Windows puts behind it.
fn base(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    file.strip_suffix(".exe").unwrap_or(file)
}

/// Programs of the Chromium and Firefox families.
pub(crate) fn is_browser(file: &str) -> bool {
    const NAMES: &[&str] = &[
        "chrome",
        "chromium",
        "chromium-browser",
        "chrome-headless-shell",
        "headless_shell",
        "google-chrome",
        "google-chrome-stable",
        "Google Chrome",
        "Google Chrome for Testing",
        "Chromium",
        "msedge",
        "microsoft-edge",
        "Microsoft Edge",
        "brave",
        "brave-browser",
        "firefox",
        "firefox-bin",
        "firefox-esr",
        "Nightly",
    ];
    NAMES.contains(&file)
}

/// The name of the program that a process runs.
pub(crate) fn program(arguments: &[String]) -> &str {
    let program = arguments.first().map_or("", String::as_str);
    // In one piece: the path ends before the first flag, and may hold blanks.
    let path = if arguments.len() == 1 { program.split(" -").next().unwrap_or(program) } else { program };
    base(path)
}

fn part_of_browser(rest: &[&str]) -> ProcessKind {
    let kind = rest.iter().find_map(|word| word.strip_prefix("--type="));
    let part = match kind {
        None if rest.contains(&"-contentproc") => return ProcessKind::Renderer,
        None => return ProcessKind::Browser,
        Some("renderer") => return ProcessKind::Renderer,
        Some("crashpad-handler") => return ProcessKind::CrashHandler,
        Some("gpu-process") => "graphics",
        Some("utility") => {
            let service = rest.iter().find_map(|word| word.strip_prefix("--utility-sub-type="));
            service.and_then(|service| service.split('.').next()).unwrap_or("utility")
        }
        Some(other) => other,
    };
    ProcessKind::BrowserPart(part.chars().take(40).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_in_words() {
        let cases = [
            ("/usr/bin/callgate|run|--server|x", "callgate", "gate"),
            ("/usr/bin/callgate|run|--server|x", "callgate-keeper", "keeper"),
            ("npm exec @playwright/mcp@latest --headless", "npm exec @playw", "npx"),
            ("node|/usr/bin/npx|-y|@playwright/mcp", "node", "npx"),
            ("/usr/bin/node|--no-warnings|/a/dist/index.js", "node", "node"),
            ("sh|-c|playwright-mcp", "sh", "shell"),
            ("/usr/bin/python3.11|-m|mcp_server_git", "python3.11", "python"),
            ("/usr/lib/chromium/chromium|--headless|--user-data-dir=/tmp/x", "chromium", "browser"),
            ("/usr/lib/chromium/chromium --type=renderer --lang=en", "chromium", "renderer"),
            ("/usr/lib/chromium/chromium|--type=gpu-process", "chromium", "browser: graphics"),
            ("/usr/lib/chromium/chromium|--type=zygote", "chromium", "browser: zygote"),
            (
                "/usr/lib/chromium/chromium|--type=utility|--utility-sub-type=network.mojom.NetworkService",
                "chromium",
                "browser: network",
            ),
            ("/usr/lib/chromium/chrome_crashpad_handler|--monitor-self", "chrome_crashpad", "crash handler"),
            ("/opt/firefox/firefox|-contentproc|-childID|1|tab", "Web Content", "renderer"),
            (r"C:\Program Files\nodejs\node.exe|C:\a\index.js", "node.exe", "node"),
            ("/opt/thing/my-server|--port|1", "my-server", "my-server"),
            ("", "kworker/0:1", "kworker/0:1"),
        ];
        for (line, name, wanted) in cases {
            let arguments: Vec<String> =
                if line.is_empty() { Vec::new() } else { line.split('|').map(str::to_owned).collect() };
            assert_eq!(ProcessKind::of(&arguments, name).to_string(), wanted, "{line}");
        }
    }

    #[test]
    fn the_program_of_a_line_in_one_piece_is_found() {
        let one = |line: &str| program(&[line.to_owned()]).to_owned();
        assert_eq!(
            one("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome --headless"),
            "Google Chrome"
        );
        assert_eq!(one("/usr/lib/chromium/chromium --type=renderer"), "chromium");
    }
}
