//! Putting the gate in front of an entry.

use super::read::{CommandParts, locate};
use super::{Edit, Gate, Gated, How, Server, Undo};
use crate::table::Shape;
use callgate_document::{Document, Literal, Odd, Splice};

/// The splices that put `gate` in front of `server`. In front of a gated entry only what differs is changed: a gate never
/// stands before another.
pub fn gate(document: &Document, shape: &Shape, server: &Server, gate: &Gate) -> Result<Edit, Odd> {
    match &server.how {
        How::Odd(odd) => return Err(odd.clone()),
        How::Remote => return Err(Odd::new("it is reached over the network; there is nothing to start")),
        How::Local(_) => {}
    }
    let parts = CommandParts::of(shape, locate(document, server)?)?;
    if let Some(gated) = &server.gated {
        return Ok(Edit { splices: renew(document, &parts, gated, gate)?, undo: Undo::FromFile });
    }
    let mut words = vec![
        Literal::Text("run"),
        Literal::Text("--server"),
        Literal::Text(&gate.server),
        Literal::Text("--client"),
        Literal::Text(&gate.client),
    ];
    if !parts.split {
        words.insert(0, Literal::Text(&gate.binary));
        words.push(Literal::Text("--"));
        let splices = document.put_front(parts.command, &words)?;
        return Ok(Edit { splices, undo: Undo::FromFile });
    }
    let program = &parts.command.value;
    let source = document.source(&program.span);
    let mut splices = vec![document.replace_text(program, &gate.binary)?];
    let mut undo = Undo::FromFile;
    if let Some(args) = parts.args {
        words.extend([Literal::Text("--"), Literal::Source(program.span.clone())]);
        if !document.takes_source(&args.value, source) {
            undo = Undo::NeedsText(source.to_owned());
        }
        splices.extend(document.put_front(args, &words)?);
    } else {
        words.extend([
            Literal::Text("--no-args"),
            Literal::Text("--"),
            Literal::Source(program.span.clone()),
        ]);
        splices.extend(document.add_list_after(parts.map, &parts.command.key, parts.args_key, &words)?);
    }
    Ok(Edit { splices, undo })
}

/// A gate that is there, with another binary, server or client.
fn renew(
    document: &Document,
    parts: &CommandParts<'_>,
    gated: &Gated,
    gate: &Gate,
) -> Result<Vec<Splice>, Odd> {
    if gated.server.is_none() {
        return Err(Odd::new("its gate names no server; unprotect it first"));
    }
    let list = parts.args.and_then(|m| m.value.list()).unwrap_or_default();
    let binary = if parts.split { Some(&parts.command.value) } else { list.first() };
    let words = if parts.split { list } else { list.get(1..).unwrap_or_default() };
    let at = |index: usize| words.get(index).filter(|_| index > 0);
    let wanted =
        [(binary, &gate.binary), (at(gated.server_at), &gate.server), (at(gated.client_at), &gate.client)];
    let mut splices = Vec::new();
    for (node, text) in wanted {
        // A gate that a person wrote may name no client; that is theirs to leave out.
        let Some(node) = node else { continue };
        if node.text() != Some(text) {
            splices.push(document.replace_text(node, text)?);
        }
    }
    Ok(splices)
}
