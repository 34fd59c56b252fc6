//! `callgate explain`: the page of an error code, for whoever has no repository to look into.

use std::process::ExitCode;

use anyhow::bail;

use crate::args::CodeArgs;
use crate::screen::Screen;

/// The page of each code.
macro_rules! pages {
    ($($code:literal),* $(,)?) => {
        &[$(($code, include_str!(concat!("../../../../docs/errors/", $code, ".md")))),*]
    };
}

const PAGES: &[(&str, &str)] = pages![
    "CG-101", "CG-102", "CG-103", "CG-110", "CG-111", "CG-112", "CG-113", "CG-114", "CG-115", "CG-116",
    "CG-117", "CG-120", "CG-130",
];

pub(crate) fn run(args: &CodeArgs) -> anyhow::Result<ExitCode> {
    let screen = Screen::new();
    let Some(code) = &args.code else {
        for (_, page) in PAGES {
            screen.line(page.lines().next().unwrap_or_default().trim_start_matches("# "));
        }
        return Ok(ExitCode::SUCCESS);
    };
    let wanted = code.trim().to_uppercase();
    // "113" and "cg-113" are what a person types.
    let is_meant = |known: &str| known == wanted || known.strip_prefix("CG-") == Some(wanted.as_str());
    match PAGES.iter().find(|(known, _)| is_meant(known)) {
        Some((_, page)) => screen.line(page.trim_end()),
        None => bail!("there is no code {code:?}; `callgate explain` lists them all"),
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn every_page_that_there_is_can_be_read_without_the_repository() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors");
        let names = std::fs::read_dir(folder)
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name().into_string().unwrap());
        let mut there: Vec<String> = names
            .filter_map(|name| {
                Some(name.strip_suffix(".md").filter(|code| code.starts_with("CG-"))?.to_owned())
            })
            .collect();
        there.sort();
        assert_eq!(PAGES.iter().map(|(code, _)| *code).collect::<Vec<_>>(), there);
    }
}
