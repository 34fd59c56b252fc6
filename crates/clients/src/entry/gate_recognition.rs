//! Recognising a gate by what it is: the name of one of our programs, and `run` as its first word.

use super::Gated;

/// Whether a command is one of our programs, wherever it is kept.
pub fn is_callgate(command: &str) -> bool {
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
    callgate_programs::is_callgate(name)
}

/// The gate at the head of a list of words, `binary` being what is started with them.
///
/// `None`: no gate. `Some(Err(()))`: ours by name, yet nothing behind it that could be put back.
pub(super) fn recognise(binary: &str, words: &[&str]) -> Option<Result<Gated, ()>> {
    if !is_callgate(binary) || words.first() != Some(&"run") {
        return None;
    }
    let mut gate = Gated { binary: binary.to_owned(), ..Gated::default() };
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match *word {
            "--" => {
                gate.words = at + 1;
                return Some(if words.len() > gate.words { Ok(gate) } else { Err(()) });
            }
            // Skipped together with its value, for the value may be `--`.
            "--server" | "--client" => {
                let value = words.get(at + 1).map(|w| (*w).to_owned());
                if *word == "--server" {
                    (gate.server, gate.server_at) = (value, at + 1);
                } else {
                    (gate.client, gate.client_at) = (value, at + 1);
                }
                at += 1;
            }
            // As a person may write it. There is no word of its own to renew.
            word if word.starts_with("--server=") => {
                gate.server = word.split_once('=').map(|(_, n)| n.to_owned())
            }
            word if word.starts_with("--client=") => {
                gate.client = word.split_once('=').map(|(_, n)| n.to_owned())
            }
            "--no-args" => gate.no_args = true,
            "--demo" => gate.demo = true,
            // A word that a person put there: theirs, and gone with the gate.
            _ => {}
        }
        at += 1;
    }
    Some(Err(()))
}
