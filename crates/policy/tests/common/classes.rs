//! Tools of which somebody knows what they can do.

use std::collections::BTreeMap;

use callgate_policy::{ToolClass, ToolClasses};

#[derive(Debug, Default)]
pub(crate) struct Told(BTreeMap<String, ToolClass>);

impl Told {
    pub(crate) fn tell(&mut self, tool: &str, class: ToolClass) {
        self.0.insert(tool.to_owned(), class);
    }
}

impl ToolClasses for Told {
    fn known(&self, tool: &str) -> Option<ToolClass> {
        self.0.get(tool).copied()
    }

    fn guess(&self, _tool: &str) -> ToolClass {
        ToolClass::CAUTIOUS
    }
}
