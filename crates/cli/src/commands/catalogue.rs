//! `callgate catalogue`: the servers that Callgate knows, with what their tools can do and what adds one.

use std::process::ExitCode;

use callgate_desk::view::CatalogueServer;
use serde_json::json;

use super::overview::classes_words;
use crate::act::{desk, told};
use crate::args::CatalogueArgs;
use crate::screen::{self, BOLD, DIM, Screen, harmless};

pub(crate) fn run(args: &CatalogueArgs) -> anyhow::Result<ExitCode> {
    let screen = Screen::new();
    let mut all = desk()?.catalogue().map_err(told)?;
    let words: Vec<String> = args.words.iter().map(|word| word.to_lowercase()).collect();
    all.retain(|one| words.iter().all(|word| text(one).contains(word)));
    if args.json {
        all.iter().for_each(|one| screen.line(&as_json(one).to_string()));
        return Ok(ExitCode::SUCCESS);
    }
    for one in &all {
        screen.line(&format!(
            "{}  {}",
            screen.paint(BOLD, &one.server),
            screen.paint(DIM, &format!("{} {}", one.package, one.version))
        ));
        screen.line(&format!("  {}", one.about));
        screen.line(&format!("  {}", classes_words(one.classes)));
        if !one.here.is_empty() {
            screen.line(&format!("  here as {}", harmless(&one.here.join(", "))));
        }
        match &one.command {
            Some(command) => screen.line(&screen.paint(DIM, &format!("  {}", add(one, command)))),
            None => {
                screen.line(&screen.paint(DIM, "  on no registry of packages: build it from its repository"))
            }
        }
        for asked in &one.asks {
            screen.line(&screen.paint(DIM, &format!("  add to the command: {asked}")));
        }
    }
    if all.is_empty() {
        screen::hint("no server of the catalogue fits these words");
    }
    Ok(ExitCode::SUCCESS)
}

fn text(one: &CatalogueServer) -> String {
    let tools: Vec<&str> = one.tools.iter().map(|tool| tool.name.as_str()).collect();
    format!("{} {} {} {}", one.server, one.about, one.package, tools.join(" ")).to_lowercase()
}

fn add(one: &CatalogueServer, command: &str) -> String {
    let secrets: String = one.variables.iter().map(|name| format!(" --secret {name}")).collect();
    format!("callgate add {} --start recommended{secrets} -- {command}", one.name)
}

fn as_json(one: &CatalogueServer) -> serde_json::Value {
    json!({
        "server": one.server, "about": one.about, "package": one.package, "version": one.version,
        "classes": one.classes, "tools": one.tools, "name": one.name, "command": one.command,
        "variables": one.variables, "asks": one.asks, "here": one.here,
    })
}
