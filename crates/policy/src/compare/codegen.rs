//! Rules about codegen sessions that are gone, or only observed.

use super::stand::is_shut;
use super::{Findings, View};
use crate::codegen::Kind;

impl View<'_> {
    pub(super) fn codegen(&self, findings: &mut Findings) {
        for kind in Kind::ALL {
            let lost = kind.tools().iter().any(|tool| {
                let old = self.old.applying_with(self.clients.old, tool, self.now_ms);
                let new = self.new.applying_with(self.clients.new, tool, self.now_ms);
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
