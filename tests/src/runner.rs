//! Runs one case of the corpus through a gate and says everything that is wrong with the outcome.

use std::time::Duration;

use crate::corpus::{Case, Close, Expected, Kind, Records, Step};
use crate::gate::{ALLOW_POLICY, Bench, DENY_POLICY, Gate};
use crate::history;
use crate::json::Json;
use crate::notation::{self, show};
use crate::oracle::{Got, Ruling, client_messages, forbidden_calls, listed_tools, shows_hidden};
use crate::session::{Finished, Session, call_line, error_code, error_message, is_refusal, result_text};

const PROBE: &str = "\"callgate-probe\"";

/// The violations of one case; none is what we promise.
pub fn run(gate: Gate, case: &Case) -> Vec<String> {
    attempt(gate, case).unwrap_or_else(|error| vec![format!("I4: {error:#}")])
}

fn attempt(gate: Gate, case: &Case) -> anyhow::Result<Vec<String>> {
    let bench = bench(case)?;
    let server = bench.fake_server(&case.script, &[])?;
    let mut session = Session::start(bench.command(gate, &server)?)?;
    // A control that hangs has failed already; no need to be patient with it.
    let patience = if gate == Gate::Callgate { crate::session::PATIENCE } else { Duration::from_secs(1) };
    let mut wrong = Vec::new();
    if let Err(error) = drive(&mut session, case, &bench, patience) {
        wrong.push(format!("I4: {error:#}"));
    }
    let stderr = session.err.clone();
    let finished = session.finish()?;
    wrong.extend(forbidden_calls(&bench.server_got(), case.ruling));
    wrong.extend(server_side(&bench, case));
    wrong.extend(client_side(&finished, case));
    if gate == Gate::Callgate {
        wrong.extend(recorded(&bench, case)?);
    }
    if stderr.text().contains("panicked") {
        wrong.push(format!("I4: a panic: {}", stderr.text()));
    }
    Ok(wrong)
}

/// The folder that the gate's home lies in. The home of a case that names it has its usual name.
const ABOVE: &str = "‹above›";

fn bench(case: &Case) -> anyhow::Result<Bench> {
    let usual = case.steps.iter().any(|step| matches!(step, Step::Send(text) if text.contains(ABOVE)));
    Bench::with_home(if usual { ".callgate" } else { "home" }, policy(case.ruling))
}

pub fn policy(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::DefaultDeny => DENY_POLICY,
        Ruling::DefaultAllow => ALLOW_POLICY,
    }
}

/// Sends the case, then makes sure that the session is still of use.
fn drive(session: &mut Session, case: &Case, bench: &Bench, patience: Duration) -> anyhow::Result<()> {
    let bytes = |text: &str| {
        let text = text.replace(ABOVE, &bench.path("").to_string_lossy());
        notation::bytes(&text.replace("‹home›", &bench.home().to_string_lossy()))
    };
    for step in &case.steps {
        match step {
            Step::Send(text) if case.bytewise => {
                bytes(text).iter().try_for_each(|byte| session.send_bytes(&[*byte]))?;
            }
            Step::Send(text) => session.send_bytes(&bytes(text))?,
            Step::Wait(id) => session.answer_within(id, patience).map(drop)?,
        }
    }
    match case.close {
        Close::Probe => {
            session.send(&call_line(PROBE, "safe", "{}"))?;
            session.answer_within(PROBE, patience).map(drop)
        }
        Close::Eof => Ok(()),
        Close::Ends => session.out.wait_closed(patience),
    }
}

fn server_side(bench: &Bench, case: &Case) -> Option<String> {
    let expected = case.server_messages?;
    let lines = bench.server_lines();
    // The gate asks for the tools of a server by itself, for a client that never does.
    let is_own = |line: &str| {
        line.starts_with(r#"{"jsonrpc":"2.0","id":"callgate/"#) && line.contains(r#""method":"tools/list""#)
    };
    let got: Vec<_> = lines.iter().filter(|line| !line.contains("callgate-probe") && !is_own(line)).collect();
    (got.len() != expected).then(|| {
        let shown = got.iter().map(|line| show(line.as_bytes())).collect::<Vec<_>>().join("\n");
        format!("the server got {} messages instead of {expected}:\n{shown}", got.len())
    })
}

fn client_side(finished: &Finished, case: &Case) -> Vec<String> {
    let (messages, mut wrong) = client_messages(&finished.out);
    if shows_hidden(&listed_tools(&finished.out)) {
        wrong.push("the client is shown the hidden tool".to_owned());
    }
    for message in &messages {
        if let Got::Message { method, .. } = message
            && method == "tools/call"
        {
            wrong.push("the client got a call of a tool".to_owned());
        }
    }
    wrong.extend(answers(&messages, &case.answers));
    let holds = |text: &str| {
        let wanted = notation::bytes(text);
        finished.out.windows(wanted.len()).any(|window| window == wanted)
    };
    wrong.extend(
        case.holds.iter().filter(|text| !holds(text)).map(|text| format!("the client did not get {text}")),
    );
    wrong.extend(case.lacks.iter().filter(|text| holds(text)).map(|text| format!("the client got {text}")));
    if !wrong.is_empty() {
        wrong.push(format!("  the client got:\n{}", show(&finished.out)));
    }
    wrong
}

/// I3: each expected answer once, and no others. Answers to `null` are for lines whose id nobody can tell.
fn answers(messages: &[Got], expected: &[Expected]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut open: Vec<_> = expected.iter().filter(|expected| expected.kind != Kind::None).collect();
    for message in messages {
        let Got::Answer { id, body } = message else { continue };
        if *id == Json::Null || id.to_text() == PROBE {
            continue;
        }
        match open.iter().position(|expected| expected.id == *id && expected.kind.fits(body)) {
            Some(index) => drop(open.swap_remove(index)),
            None => wrong.push(format!(
                "I3: unexpected answer to {:.60}: {}",
                id.to_text(),
                show(body.to_text().as_bytes())
            )),
        }
    }
    let missing = open.iter().filter(|expected| !expected.optional);
    wrong.extend(
        missing.map(|expected| format!("I3: no answer {:?} to {:.60}", expected.kind, expected.id.to_text())),
    );
    wrong
}

impl Kind {
    fn fits(self, answer: &Json) -> bool {
        match self {
            Kind::Result => answer.get("result").is_some() && !is_refusal(answer),
            Kind::Denied => is_refusal(answer),
            // Without a handshake the revision's SDKs give a result.
            Kind::Unknown => {
                let said = match error_code(answer) {
                    Some(-32602) => error_message(answer),
                    Some(_) => None,
                    None => result_text(answer)
                        .filter(|_| answer.at(&["result", "isError"]) == Some(&Json::Bool(true))),
                };
                said.is_some_and(|text| text.starts_with("Unknown tool: "))
            }
            Kind::Error(code) => error_code(answer) == Some(code),
            Kind::Refused => is_refusal(answer) || answer.get("error").is_some(),
            Kind::Any => true,
            Kind::None => false,
        }
    }
}

/// I5: one record for each refused message.
fn recorded(bench: &Bench, case: &Case) -> anyhow::Result<Option<String>> {
    let Some(expected) = case.expected_records() else { return Ok(None) };
    let rows = history::rows(bench)?;
    let refused = rows.iter().filter(|row| !row.is_allowed()).count();
    let fits = match expected {
        Records::Exactly(count) => refused == count,
        Records::AtLeast(count) => refused >= count,
    };
    Ok((!fits).then(|| format!("I5: {refused} refused messages in the history, expected {expected:?}")))
}
