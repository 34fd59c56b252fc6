//! Diagnosis of a server that did not get as far as serving, from how it ended and what it said last: a code, and words for people.
//!
//! Pure. What it recognises is what real servers and their tools print; what it does not recognise is shown as it is. Each
//! code has a page in `docs/errors`.

use callgate_supervise::{Ending, StartFailure};

/// How many of a server's last lines are shown.
const SHOWN: usize = 8;

/// A cause that is known by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnosis {
    pub(crate) code: &'static str,
    /// What is wrong and what to do; none where the ending says it already.
    words: Option<&'static str>,
    /// What the server said last.
    said: Vec<String>,
    /// Where npx keeps its copy of the server, if that is what is incomplete.
    npx_copy: Option<String>,
}

/// One thing that servers say when they cannot start.
struct Sign {
    code: &'static str,
    /// Any of these, in lower case, in any line.
    any: &'static [&'static str],
    words: &'static str,
}

/// In this order: what is more particular comes first.
const SIGNS: &[Sign] = &[
    Sign {
        code: "CG-112",
        any: &[
            "executable doesn't exist",
            "playwright install",
            "browser is not installed",
            "could not find chrome",
            "could not find chromium",
            "chromium distribution 'chrome' is not found",
        ],
        words: "its browser is not installed; install it (for Playwright: npx playwright install chromium)",
    },
    Sign {
        code: "CG-114",
        any: &[
            "processsingleton",
            "profile is already in use",
            "browser is already in use",
            "user data directory is already in use",
            "profile appears to be in use",
        ],
        words: "its browser profile is in use by another browser; close that one, or give this server a profile of its own",
    },
    Sign {
        code: "CG-113",
        any: &["eaddrinuse", "address already in use"],
        words: "the port that it wants is in use by another program; end that one, or give this server another port",
    },
    Sign {
        code: "CG-111",
        any: &[
            "unsupported engine",
            "ebadengine",
            "err_require_esm",
            "err_unknown_builtin_module",
            "requires node",
            "node.js version",
            "unsupported node",
            "syntaxerror: unexpected token",
            "syntaxerror: the requested module",
            "syntaxerror: invalid regular expression flags",
            "referenceerror: fetch is not defined",
        ],
        words: "it was probably started with a Node.js that is too old for it; start it with a newer one (node --version)",
    },
    Sign {
        code: "CG-115",
        any: &[
            "npm error code e404",
            "npm err! code e404",
            "npm error code enotfound",
            "npm err! code enotfound",
            "npm error code eai_again",
            "npm err! code eai_again",
            "npm error code etimedout",
            "npm error code econnrefused",
            "npm error code econnreset",
            "could not determine executable to run",
            "no matching distribution found",
            // uv, without the network and with a name that nobody has.
            "failed to fetch: `http",
            "no solution found when resolving tool dependencies",
            "was not found in the package registry",
            "dns error: failed to lookup address",
        ],
        words: "its package could not be installed; check the name of the package and the network",
    },
    Sign {
        code: "CG-117",
        // Node lists who asked for a module that is missing: nobody did when it is the program itself.
        any: &["requirestack: []", "can't open file"],
        words: "the file that it is to run is not there; check its path in the client's entry, and if that does not begin at the root, the folder that it counts from",
    },
    Sign {
        code: "CG-116",
        any: &["cannot find module", "err_module_not_found", "modulenotfounderror", "importerror:"],
        words: "a part of it is not installed; install its dependencies again",
    },
];

/// What is known about a server that ended before it and its client had met.
pub(crate) fn diagnose(ending: Option<&Ending>, last_lines: &[String]) -> Option<Diagnosis> {
    let plain = |code| Some(Diagnosis { code, words: None, said: Vec::new(), npx_copy: None });
    match ending {
        Some(Ending::FailedToStart { cause }) => match cause {
            StartFailure::NotFound { .. } | StartFailure::NoSuchFile { .. } => plain("CG-101"),
            StartFailure::Withheld { .. } => plain("CG-103"),
            StartFailure::Directory { .. }
            | StartFailure::NotExecutable { .. }
            | StartFailure::Forbidden { .. }
            | StartFailure::BadInterpreter { .. }
            | StartFailure::MissingLoader { .. }
            | StartFailure::NotAProgram { .. }
            | StartFailure::Other { .. } => plain("CG-102"),
        },
        Some(Ending::KeeperLost) => None,
        Some(Ending::Exited { .. } | Ending::Signalled { .. }) | None => {
            let heard: Vec<String> = last_lines.iter().map(|line| line.to_lowercase()).collect();
            let says =
                |sign: &&Sign| heard.iter().any(|line| sign.any.iter().any(|text| line.contains(text)));
            let sign = SIGNS.iter().find(says);
            let telling: Vec<&String> = last_lines.iter().filter(|line| is_telling(line)).collect();
            let shown = &telling[telling.len().saturating_sub(SHOWN)..];
            let said = shown.iter().map(|line| (*line).clone()).collect();
            let (code, words) = sign.map_or(("CG-110", None), |sign| (sign.code, Some(sign.words)));
            // An installation that was cut short stays as it is: npx takes it for whole.
            let incomplete = matches!(code, "CG-110" | "CG-116" | "CG-117");
            let npx_copy = last_lines.iter().filter(|_| incomplete).find_map(|line| npx_copy(line));
            Some(Diagnosis { code, words, said, npx_copy })
        }
    }
}

/// The folder of npx that a line names: `/home/me/.npm/_npx/15c61037b1978c83`. Nothing else is taken for one, because a
/// person is told to remove it.
fn npx_copy(line: &str) -> Option<String> {
    const CACHES: [&str; 3] = ["/.npm/_npx/", "/npm-cache/_npx/", "\\npm-cache\\_npx\\"];
    let (at, cache) = CACHES.iter().find_map(|cache| Some((line.find(cache)?, cache)))?;
    let before = &line[..at];
    let start = before
        .rfind(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '(' | '['))
        .map_or(0, |at| at + 1);
    let after = &line[at + cache.len()..];
    let hash = after.len() - after.trim_start_matches(|c: char| c.is_ascii_hexdigit()).len();
    let folder = format!("{}{cache}{}", line.get(start..at)?.trim_start_matches("file://"), &after[..hash]);
    let is_whole = hash == 16 && after[hash..].starts_with(['/', '\\']) && !folder.contains("..");
    (is_whole && folder.len() <= 200 && !folder.chars().any(char::is_control)).then_some(folder)
}

/// Does a line say what happened? Where in its code it happened is of no use to whoever starts it.
fn is_telling(line: &str) -> bool {
    let line = line.trim();
    let frame = ["at ", "File \"", "node:internal"].iter().any(|start| line.starts_with(start));
    !frame && line.chars().any(char::is_alphanumeric)
}

impl Diagnosis {
    /// To be put behind a sentence about the end.
    pub(crate) fn after(&self, sentence: &str) -> String {
        let mut text = sentence.to_owned();
        if let Some(words) = self.words {
            text.push_str(": ");
            text.push_str(words);
        }
        if let Some(folder) = &self.npx_copy {
            text.push_str(&format!(
                "; npx runs its own copy of it, which may be incomplete: remove {folder}, and it is installed anew"
            ));
        }
        text.push_str(&format!(" (see `callgate explain {}`)", self.code));
        if !self.said.is_empty() {
            text.push_str(&format!(". Its last words: {}", self.said.join(" | ")));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_real_servers_say_is_recognised() {
        for (said, code) in [
            (
                "browserType.launch: Executable doesn't exist at /home/u/.cache/ms-playwright/chromium-1148/chrome-linux/chrome",
                "CG-112",
            ),
            ("║     npx playwright install                              ║", "CG-112"),
            ("Error: listen EADDRINUSE: address already in use :::3000", "CG-113"),
            ("OSError: [Errno 98] Address already in use", "CG-113"),
            (
                "[1:2:ERROR:process_singleton_posix.cc] Failed to create a ProcessSingleton for your profile directory.",
                "CG-114",
            ),
            (
                "Error: Browser is already in use for /tmp/p, use --isolated to run multiple instances",
                "CG-114",
            ),
            ("npm WARN EBADENGINE Unsupported engine {", "CG-111"),
            ("Error [ERR_REQUIRE_ESM]: require() of ES Module not supported", "CG-111"),
            ("    at x\nSyntaxError: Unexpected token '??='", "CG-111"),
            ("npm error code E404\nnpm error 404 Not Found", "CG-115"),
            ("Error: Cannot find module 'zod'\n  requireStack: [ '/srv/index.js' ]", "CG-116"),
            ("Error: Cannot find module '/srv/index.js'\n  requireStack: []", "CG-117"),
            ("python3: can't open file '/srv/x.py': [Errno 2] No such file or directory", "CG-117"),
            ("ModuleNotFoundError: No module named 'mcp'", "CG-116"),
            ("AttributeError: module 'mcp' has no attribute 'x'", "CG-110"),
            ("", "CG-110"),
        ] {
            let ending = Ending::Exited { code: 1 };
            let found = diagnose(Some(&ending), &lines(said)).map(|found| found.code);
            assert_eq!(found, Some(code), "{said}");
        }
    }

    #[test]
    fn a_program_that_cannot_be_run_has_its_own_codes() {
        let failed = |cause| Ending::FailedToStart { cause };
        for (ending, code) in [
            (failed(StartFailure::NotFound { program: "npx".into(), looked_in: Vec::new() }), Some("CG-101")),
            (failed(StartFailure::NoSuchFile { path: "/x".into() }), Some("CG-101")),
            (failed(StartFailure::NotExecutable { path: "/x".into() }), Some("CG-102")),
            (failed(StartFailure::Withheld { why: "no".into() }), Some("CG-103")),
            (Ending::KeeperLost, None),
            (Ending::Exited { code: 0 }, Some("CG-110")),
        ] {
            assert_eq!(diagnose(Some(&ending), &[]).map(|found| found.code), code, "{ending}");
        }
    }

    #[test]
    fn the_words_name_the_page_and_end_with_what_was_said() {
        let said: Vec<String> =
            (0..20).map(|n| format!("line {n}")).chain(["EADDRINUSE".to_owned()]).collect();
        let found = diagnose(Some(&Ending::Exited { code: 1 }), &said);
        let text = found.map(|found| found.after("it ended")).unwrap_or_default();
        assert!(text.starts_with("it ended: the port that it wants is in use"), "{text}");
        assert!(text.contains("(see `callgate explain CG-113`). Its last words: line 13 | "), "{text}");
        assert!(text.ends_with("| EADDRINUSE"), "{text}");
    }

    #[test]
    fn an_incomplete_copy_of_npx_is_named_and_nothing_else_is_to_be_removed() {
        let copy = "/home/me/.npm/_npx/15c61037b1978c83";
        for (line, folder) in [
            (format!("Error: Cannot find module '{copy}/node_modules/x/dist/index.js'"), Some(copy)),
            (format!("    at file://{copy}/node_modules/x.js:1:1"), Some(copy)),
            (
                r"C:\Users\me\AppData\Local\npm-cache\_npx\15c61037b1978c83\node_modules\x".to_owned(),
                Some(r"C:\Users\me\AppData\Local\npm-cache\_npx\15c61037b1978c83"),
            ),
            ("remove /home/me/.npm/_npx/".to_owned(), None),
            ("/home/me/.npm/_npx/../../x".to_owned(), None),
            ("/home/me/../you/.npm/_npx/15c61037b1978c83/x".to_owned(), None),
            ("/home/me/.npm/_npx/15c61037b1978c83".to_owned(), None),
            ("/home/me/Documents/_npx/15c61037b1978c83/x".to_owned(), None),
        ] {
            assert_eq!(npx_copy(&line).as_deref(), folder, "{line}");
        }
        let found = diagnose(
            Some(&Ending::Exited { code: 1 }),
            &[format!("Error: Cannot find module '{copy}/node_modules/x'")],
        );
        let text = found.map(|found| found.after("it ended")).unwrap_or_default();
        assert!(text.contains(&format!("remove {copy}, and it is installed anew")), "{text}");
    }

    #[test]
    fn a_package_that_cannot_be_fetched_is_told_as_that_for_uvx_too() {
        let offline = lines(
            "  × Failed to fetch: `https://pypi.org/simple/mcp-server-fetch/`\n  ├─▶ error sending request for url\n  ╰─▶ dns error: failed to lookup address information: Name or service not known",
        );
        let misspelled = lines(
            "  × No solution found when resolving tool dependencies:\n  ╰─▶ Because mcp-server-fech was not found in the package registry and you require mcp-server-fech",
        );
        for said in [offline, misspelled] {
            let found = diagnose(Some(&Ending::Exited { code: 1 }), &said);
            assert_eq!(found.map(|found| found.code), Some("CG-115"), "{said:?}");
        }
    }

    #[test]
    fn a_stack_does_not_hide_what_happened() {
        let frames = (0..12).map(|n| format!("    at Module._load (node:internal/modules/cjs/loader:{n})"));
        let said: Vec<String> = ["node:internal/modules/cjs/loader:1143", "  throw err;", "  ^", ""]
            .map(str::to_owned)
            .into_iter()
            .chain(["Error: Cannot find module '/srv/notes.js'".to_owned()])
            .chain(frames)
            .chain(["  requireStack: []".to_owned(), "}".to_owned()])
            .collect();
        let found = diagnose(Some(&Ending::Exited { code: 1 }), &said);
        let text = found.map(|found| found.after("it ended")).unwrap_or_default();
        let end =
            "Its last words:   throw err; | Error: Cannot find module '/srv/notes.js' |   requireStack: []";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn every_code_has_its_page() {
        let pages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors");
        let others = ["CG-101", "CG-102", "CG-103", "CG-110", "CG-120", "CG-130"];
        for code in SIGNS.iter().map(|sign| sign.code).chain(others) {
            let page = std::fs::read_to_string(format!("{pages}/{code}.md")).unwrap_or_default();
            assert!(page.starts_with(&format!("# {code}: ")), "docs/errors/{code}.md");
        }
    }
}
