//! Recorded actions kept until their session has ended: `codegen.keep_unfinished`.

use super::scope::Scope;
use crate::file::Body;
use callgate_document::{Draft, NewValue};

pub(super) fn keep(draft: &mut Draft, scope: &Scope, body: &Body, summary: &mut Vec<String>) {
    let said = body.codegen.as_ref().and_then(|codegen| codegen.keep_unfinished.as_ref());
    if said.is_some_and(|said| said.value) {
        return;
    }
    draft.set(&scope.path(&["codegen", "keep_unfinished"]), NewValue::word(&true));
    summary.push(format!(
        "codegen sessions with recorded actions are not cleared before they have ended{}",
        scope.whose()
    ));
}
