//! Packages that may be others tomorrow, and folders of code that are everybody's.

use super::command_line::{CommandLine, Operand, Origin, Registry};
use super::{Kind, LaunchFinding, LaunchGravity, WORLD_WRITABLE, is_public_registry, is_world_writable};

const UNPINNED: Kind = Kind {
    code: "unpinned-package",
    gravity: LaunchGravity::Note,
    words: "No version is named, so each start may fetch another one than the one that you know.",
    fix: "Name the version that you have looked at (name@1.2.3, name==1.2.3), and raise it when you want to.",
};

const UNPINNED_IMAGE: Kind = Kind {
    code: "unpinned-package",
    gravity: LaunchGravity::Note,
    words: "No fixed tag is named, so the image may be another one than the one that you know.",
    fix: "Name a tag or, better, a digest (image@sha256:…).",
};

const SOURCE: Kind = Kind {
    code: "package-source",
    gravity: LaunchGravity::Note,
    words: "The package comes from a place of its own and not from the registry that others look at.",
    fix: "Make sure that the address is one that you trust, and name a commit or a version.",
};

pub(super) fn look(line: &CommandLine<'_>, findings: &mut Vec<LaunchFinding>) {
    for (at, word) in line.words.iter().enumerate() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some((at, value))),
            None => (*word, line.words.get(at + 1).map(|value| (at + 1, *value))),
        };
        let is_folder = match line.program().as_str() {
            "uv" | "uvx" => matches!(option, "--directory" | "--project" | "--with-editable"),
            "npm" | "npx" | "pnpm" | "yarn" | "bun" => {
                matches!(option, "--prefix" | "-C" | "--dir" | "--cwd")
            }
            _ => false,
        };
        if is_folder
            && let Some((at, folder)) = value
            && is_world_writable(folder)
        {
            findings.push(WORLD_WRITABLE.at(line.place(at), folder));
        }
    }
    if let Some(source) = other_source(line) {
        findings.push(SOURCE.at(line.place(source), line.words[source]));
        return;
    }
    let Some(operand) = line.operand().filter(|operand| operand.origin == Origin::Fetched) else { return };
    let word = line.words.get(operand.at).copied().unwrap_or_default();
    let is_elsewhere =
        operand.version.is_some_and(|version| version.contains("://") || version.starts_with("npm:"))
            || (operand.registry == Registry::Npm && is_repository(&operand.name));
    if is_elsewhere {
        if !names_a_commit(word) {
            findings.push(SOURCE.at(line.place(operand.at), word));
        }
    } else if !is_pinned(&operand) {
        let kind = if operand.registry == Registry::Image { &UNPINNED_IMAGE } else { &UNPINNED };
        findings.push(kind.at(line.place(operand.at), word));
    }
}

/// An option by which packages come from elsewhere.
fn other_source(line: &CommandLine<'_>) -> Option<usize> {
    let operand = line.operand();
    let end = operand.as_ref().map_or(line.words.len(), |operand| operand.at);
    let options = match line.program().as_str() {
        "npx" | "npm" | "pnpm" | "yarn" => &["--registry"][..],
        "uvx" | "uv" | "pipx" => {
            &["--index", "--default-index", "-i", "--index-url", "--extra-index-url", "-f", "--find-links"][..]
        }
        _ => return None,
    };
    let told = line.words.iter().take(end).enumerate().position(|(at, word)| {
        let (option, value) =
            word.split_once('=').map_or((*word, None), |(option, value)| (option, Some(value)));
        let value = value.or(line.words.get(at + 1).copied()).unwrap_or_default();
        options.contains(&option) && !is_public_registry(value)
    });
    let from = || {
        let at = line.words.iter().position(|word| *word == "--from" || *word == "--spec")? + 1;
        line.words.get(at).filter(|from| from.contains("://") && !names_a_commit(from)).map(|_| at)
    };
    told.or_else(|| from().filter(|_| matches!(line.program().as_str(), "uvx" | "uv" | "pipx")))
}

/// `owner/name`, `github:owner/name`, an address.
fn is_repository(name: &str) -> bool {
    name.contains(':') || (!name.starts_with('@') && name.contains('/'))
}

/// `#0123…` or `@0123…`: forty digits that are one state and no other.
fn names_a_commit(text: &str) -> bool {
    text.rsplit(['#', '@'])
        .next()
        .is_some_and(|end| end.len() == 40 && end.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_pinned(operand: &Operand<'_>) -> bool {
    let Some(version) = operand.version else { return false };
    match operand.registry {
        Registry::Image => {
            version.starts_with("sha256:") || version.bytes().any(|byte| byte.is_ascii_digit())
        }
        Registry::PyPi => {
            let exact = version.trim_start_matches('=').trim();
            exact.starts_with(|first: char| first.is_ascii_digit()) && !exact.contains(['*', ',', '<', '>'])
        }
        // `1.2.3` is one; `1`, `1.2`, `^1.2.3` and `latest` are many.
        Registry::Npm => {
            let core = version.split(['-', '+']).next().unwrap_or(version);
            core.split('.').count() == 3
                && core
                    .split('.')
                    .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        }
    }
}
