//! Taking the gate away again. An entry that has none stays as it is.

use super::read::{CommandParts, locate};
use super::{How, Server};
use crate::table::Shape;
use callgate_document::{Document, Odd, Splice};

/// The splices that give the entry its own program back. `original`: the text that [`super::Undo::NeedsText`] asked to keep.
pub fn ungate(
    document: &Document,
    shape: &Shape,
    server: &Server,
    original: Option<&str>,
) -> Result<Vec<Splice>, Odd> {
    let Some(gated) = &server.gated else {
        return Ok(Vec::new());
    };
    if let How::Odd(odd) = &server.how {
        return Err(odd.clone());
    }
    let parts = CommandParts::of(shape, locate(document, server)?)?;
    let args = parts.args.ok_or_else(|| Odd::new("its gate has lost its words"))?;
    if !parts.split {
        return document.drop_front(args, gated.words + 1);
    }
    let list = args.value.list().unwrap_or_default();
    let program = list.get(gated.words).ok_or_else(|| Odd::new("its gate has lost the program"))?;
    // The kept text is of use only while it still says what the entry says.
    let kept = original.filter(|kept| program.text() == Some(*kept));
    let source = kept.unwrap_or_else(|| document.source(&program.span));
    let mut splices = vec![Splice::replace(parts.command.value.span.clone(), source)];
    // Words that were added behind the gate meanwhile are the person's, and need the list.
    if gated.no_args && list.len() == gated.words + 1 {
        splices.extend(document.drop_member(parts.map, &args.key)?);
    } else {
        splices.extend(document.drop_front(args, gated.words + 1)?);
    }
    Ok(splices)
}
