//! Taking a variable out of an entry's environment.

use super::Server;
use super::check::only_without;
use super::read::{CommandParts, locate};
use crate::table::Shape;
use callgate_document::{Document, Odd};

/// The document without the variable, and with everything else as it was.
pub fn without_variable(
    document: &Document,
    shape: &Shape,
    server: &Server,
    name: &str,
) -> Result<Document, Odd> {
    let gone = || Odd::new(format!("its `env` has no `{name}`"));
    let env = CommandParts::of(shape, locate(document, server)?)?.env.ok_or_else(gone)?;
    let member = env.member(name).ok_or_else(gone)?;
    let splices = document.drop_member(env, name)?;
    let after = document.spliced(&splices).map_err(|error| Odd::new(error.to_string()))?;
    match only_without(document, &member.value, &after) {
        true => Ok(after),
        false => Err(Odd::new(format!("`{name}` cannot be taken out of its `env` without changing more"))),
    }
}
