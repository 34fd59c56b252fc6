//! Rules about codegen sessions that are gone, or only observed.

use super::stand::is_shut;
use super::{Findings, View};
use crate::codegen::Kind;

impl View<'_> {
    pub(super) fn codegen(&self, findings: &mut Findings) {
        for kind in Kind::ALL {
            let tools = kind.tools().iter();
            let of_class = |tool: &&'static str| {
                let tool = *tool;
                self.classes_of(tool).into_iter().map(move |class| (tool, class))
            };
            let lost = tools.flat_map(of_class).any(|(tool, class)| {
                let old = self.old.applying_as(self.clients.old, tool, class, self.now_ms);
                let new = self.new.applying_as(self.clients.new, tool, class, self.now_ms);
                let held = |applying: &crate::applying::Applying<'_>| {
                    !applying.observing() && applying.codegen().any(|rules| rules.has(kind))
                };
                held(&old) && !held(&new) && !is_shut(&old) && !is_shut(&new)
            });
            if lost {
                findings.push(self, &format!("codegen sessions: no longer required that {}", kind.words()));
            }
        }
    }
}
