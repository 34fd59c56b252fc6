//! The catalogue of known servers for people: what each is for, what its tools can do, how it is started, and where it is here
//! already.

use callgate_risk::{KnownServer, RiskClass, known_servers};
use callgate_text::quoted;

use super::installed::of_command;
use crate::view::{CatalogueServer, CatalogueTool, ClassCounts};
use crate::{Desk, DeskError};

impl Desk {
    /// Every server of the catalogue, by name.
    pub fn catalogue(&self) -> Result<Vec<CatalogueServer>, DeskError> {
        let launches = self.wiring.look_at_clients()?.launches();
        let mut all: Vec<CatalogueServer> = known_servers().iter().map(server).collect();
        for launch in &launches {
            let Some(known) = of_command(&launch.words) else { continue };
            if let Some(one) = all.iter_mut().find(|one| one.server == known.server) {
                one.here.push(format!("{} in {}", callgate_text::name(&launch.key.name), launch.client_name));
            }
        }
        all.sort_by_key(|one| one.server.to_lowercase());
        Ok(all)
    }
}

fn server(known: &KnownServer) -> CatalogueServer {
    let mut classes = ClassCounts::default();
    let mut tools: Vec<CatalogueTool> = Vec::new();
    for name in known.tool_names() {
        let Some(class) = known.class(name) else { continue };
        classes.add(class);
        tools.push(CatalogueTool { name: name.to_owned(), class, severity: class.severity() });
    }
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.class));
    let start = known.start.as_ref();
    let command =
        known.command().map(|words| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
    CatalogueServer {
        server: known.server.clone(),
        about: known.about.clone(),
        package: known.packages.first().cloned().unwrap_or_default(),
        version: known.version.clone(),
        classes,
        tools,
        name: short(known),
        command,
        variables: start.map(|start| start.variables.clone()).unwrap_or_default(),
        asks: start.map(|start| start.asks.clone()).unwrap_or_default(),
        here: Vec::new(),
    }
}

/// A name for it that people would choose: "server-slack" is "slack".
fn short(known: &KnownServer) -> String {
    let name = known.names.first().map(String::as_str).unwrap_or_default();
    let name = name.strip_prefix("mcp-").unwrap_or(name);
    let name = name.strip_prefix("server-").unwrap_or(name);
    name.strip_suffix("-mcp-server").or_else(|| name.strip_suffix("-mcp")).unwrap_or(name).to_owned()
}

impl ClassCounts {
    pub(super) fn add(&mut self, class: RiskClass) {
        self.tools += 1;
        *match class {
            RiskClass::Read => &mut self.read,
            RiskClass::Write => &mut self.write,
            RiskClass::Execute => &mut self.execute,
            RiskClass::Destructive => &mut self.destructive,
            RiskClass::Financial => &mut self.financial,
        } += 1;
        self.critical += u32::from(class.severity() == callgate_risk::RiskSeverity::Critical);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use crate::wiring_tests::world;

    #[test]
    fn a_known_server_is_told_with_what_starts_it_and_where_it_is_here() {
        let world = world();
        let all = world.desk.catalogue().unwrap();
        let play = all.iter().find(|one| one.server == "Playwright MCP").unwrap();
        assert_eq!(play.here, ["play in Claude Desktop", "play in Cursor"]);
        assert_eq!(play.command.as_deref(), Some("npx -y @playwright/mcp@0.0.83"));
        assert_eq!(play.classes.tools as usize, play.tools.len());
        assert_eq!(
            (play.name.as_str(), play.tools[0].class.name()),
            ("playwright", "Execute"),
            "the gravest first"
        );
        let slack = all.iter().find(|one| one.package == "@modelcontextprotocol/server-slack").unwrap();
        assert_eq!((slack.name.as_str(), slack.variables.len()), ("slack", 2));
        let built = all.iter().find(|one| one.server == "RunAutomation").unwrap();
        assert_eq!(built.command, None, "no registry has it");
        let names: Vec<_> = all.iter().map(|one| one.server.to_lowercase()).collect();
        assert!(names.is_sorted());
    }
}
