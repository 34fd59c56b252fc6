//! What a person does in the window, with a real session running behind the real gate.

#![cfg(target_os = "linux")]

mod acting;
mod clients;
mod codegen;
mod drawer;
mod first_picture;
mod growth;
mod hardening;
mod looking;
mod scrolling;
mod secrets;
mod starting;
mod trees;

use callgate_tests::json::Json;
use callgate_tests::session::{Session, is_refusal, result_text};

fn refused(session: &mut Session, id: &str, tool: &str) -> anyhow::Result<String> {
    refused_with(session, id, tool, r#"{"n":1}"#)
}

fn refused_with(session: &mut Session, id: &str, tool: &str, arguments: &str) -> anyhow::Result<String> {
    let answer = session.ask(id, tool, arguments)?;
    anyhow::ensure!(is_refusal(&answer), "the call passed: {}", answer.to_text());
    Ok(result_text(&answer).unwrap_or_default().to_owned())
}

fn passed(session: &mut Session, id: &str, tool: &str) -> anyhow::Result<Json> {
    passed_with(session, id, tool, r#"{"n":1}"#)
}

fn passed_with(session: &mut Session, id: &str, tool: &str, arguments: &str) -> anyhow::Result<Json> {
    let answer = session.ask(id, tool, arguments)?;
    anyhow::ensure!(!is_refusal(&answer), "the call was refused: {}", answer.to_text());
    Ok(answer)
}
