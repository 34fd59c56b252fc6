//! The SDKs that servers are made with, as far as they differ in how an unknown name is answered. Each form was taken from
//! what a server of that SDK answers.

use super::{ID, NAME, Thing, UnknownForm};
use crate::json::Raw;

/// Longer remarks of a server about itself are not repeated.
const LONGEST_META: usize = 512;

/// Who a server's SDK is, by what it said first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sdk {
    dialect: Dialect,
    /// There was no handshake.
    stateless: bool,
    /// What the server adds to its results where there is no handshake.
    meta: String,
    /// It said that it takes subscriptions.
    subscribes: bool,
    /// It said that it completes arguments.
    completes: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Dialect {
    /// `McpServer` of the TypeScript SDK, version 1.
    TypeScript1,
    TypeScript2,
    /// `Server` of the TypeScript SDK, where each server has words of its own; these are the most common.
    TypeScriptPlain,
    Python1,
    Python2,
    /// FastMCP on either of the two before.
    FastMcp1,
    FastMcp2,
    /// As the specification has it.
    #[default]
    Specification,
}

impl Sdk {
    /// From the whole line that answered the handshake.
    pub fn of_handshake(line: &str) -> Sdk {
        let result = Raw::parse(line).ok().and_then(|line| line.get("result"));
        let said = result.and_then(|result| result.get("capabilities"));
        let resources = said.and_then(|said| said.get("resources"));
        let subscribes = resources.and_then(|resources| resources.get("subscribe")).and_then(Raw::as_bool);
        Sdk {
            dialect: Dialect::of_handshake(line),
            subscribes: subscribes == Some(true),
            completes: said.and_then(|said| said.get("completions")).is_some(),
            ..Sdk::default()
        }
    }

    /// The same of a server that took a subscription: some do and say that they do not.
    pub fn that_subscribes(self) -> Sdk {
        Sdk { subscribes: true, ..self }
    }

    /// Where there is no handshake: from a list of the server's, if there was one.
    pub fn stateless(list: Option<&str>) -> Sdk {
        let line = list.unwrap_or_default();
        let result = Raw::parse(line).ok().and_then(|line| line.get("result"));
        let meta = result.and_then(|result| result.get("_meta")).map_or("", Raw::text);
        let meta = if meta.len() > LONGEST_META || meta.contains([ID, NAME]) { "" } else { meta };
        let dialect = match result {
            _ if is_result_first(line) => Dialect::TypeScript2,
            // What it says of each thing that it lists.
            _ if line.contains(r#""_meta":{"fastmcp":"#) => Dialect::FastMcp2,
            _ => Dialect::Python2,
        };
        Sdk { dialect, stateless: true, meta: meta.to_owned(), ..Sdk::default() }
    }

    /// What its servers answer for a thing that they do not have.
    pub fn unknown(&self, thing: Thing) -> UnknownForm {
        use Dialect as D;
        let form = match (thing, self.dialect) {
            (Thing::Tool, D::TypeScript1) => {
                let result = tool_result("MCP error -32602: Tool {} not found", Order::TypeFirst, "");
                format!(r#"{{"result":{result},"jsonrpc":"2.0","id":{ID}}}"#)
            }
            (Thing::Tool, D::TypeScriptPlain) => {
                let result = tool_result("Unknown tool: {}", Order::TypeFirst, "");
                format!(r#"{{"result":{result},"jsonrpc":"2.0","id":{ID}}}"#)
            }
            (Thing::Tool, D::Python1) => self.tool("Unknown tool: {}", Order::TypeFirst),
            (Thing::Tool, D::Python2) => self.tool("Unknown tool: {}", Order::TextFirst),
            (Thing::Tool, D::FastMcp1) => self.tool("Unknown tool: '{}'", Order::TypeFirst),
            (Thing::Tool, D::FastMcp2) => self.tool("Unknown tool: '{}'", Order::TextFirst),
            (Thing::Tool, D::TypeScript2) => error(-32602, "Tool {} not found"),
            (Thing::Tool, D::Specification) => error(-32602, "Unknown tool: {}"),

            (Thing::Resource, D::TypeScript1) => error(-32602, "MCP error -32602: Resource {} not found"),
            (Thing::Resource, D::TypeScript2) => error_with_uri("Resource not found: {}"),
            (Thing::Resource, D::TypeScriptPlain) => error(-32603, "Unknown resource: {}"),
            (Thing::Resource, D::Python1) => error(0, "Unknown resource: {}"),
            (Thing::Resource, D::Python2) => error_with_uri("Unknown resource: {}"),
            (Thing::Resource, D::FastMcp1) => error(0, "Unknown resource: '{}'"),
            (Thing::Resource, D::FastMcp2) => error_with_uri("Resource not found: '{}'"),
            (Thing::Resource, D::Specification) => error(-32002, "Resource not found: {}"),

            (Thing::Prompt, D::TypeScript1) => error(-32602, "MCP error -32602: Prompt {} not found"),
            (Thing::Prompt, D::TypeScript2) => error(-32602, "Prompt {} not found"),
            (Thing::Prompt, D::TypeScriptPlain) => error(-32603, "Unknown prompt: {}"),
            (Thing::Prompt, D::Python2) if self.stateless => error(-32603, "Internal server error"),
            (Thing::Prompt, D::Python1 | D::Python2) => error(0, "Unknown prompt: {}"),
            (Thing::Prompt, D::FastMcp1) => error(0, "Unknown prompt: '{}'"),
            (Thing::Prompt, D::FastMcp2) => error(-32602, "Unknown prompt: '{}'"),
            (Thing::Prompt, D::Specification) => error(-32602, "Unknown prompt: {}"),

            (Thing::Subscription | Thing::Unsubscription, _) if self.subscribes => self.accepted(),
            (Thing::Subscription, _) => self.no_method("resources/subscribe"),
            (Thing::Unsubscription, _) => self.no_method("resources/unsubscribe"),
        };
        UnknownForm(form)
    }

    /// What its servers answer when arguments are to be completed of a thing that they do not have.
    pub fn unknown_completion(&self, thing: Thing) -> UnknownForm {
        match thing {
            _ if !self.completes => UnknownForm(self.no_method("completion/complete")),
            Thing::Resource if self.dialect == Dialect::TypeScript1 => {
                UnknownForm(error(-32602, "MCP error -32602: Resource template {} not found"))
            }
            thing => self.unknown(thing),
        }
    }

    /// Their SDKs look at no address: whoever made the server would have to.
    fn accepted(&self) -> String {
        match self.dialect {
            Dialect::TypeScript1 | Dialect::TypeScript2 | Dialect::TypeScriptPlain => {
                format!(r#"{{"result":{{}},"jsonrpc":"2.0","id":{ID}}}"#)
            }
            _ => format!(r#"{{"jsonrpc":"2.0","id":{ID},"result":{{}}}}"#),
        }
    }

    fn no_method(&self, method: &str) -> String {
        match self.dialect {
            Dialect::Python2 | Dialect::FastMcp2 => format!(
                r#"{{"jsonrpc":"2.0","id":{ID},"error":{{"code":-32601,"message":"Method not found","data":"{method}"}}}}"#
            ),
            _ => error(-32601, "Method not found"),
        }
    }

    /// Without a handshake every result says that it is whole, and whose it is.
    fn tool(&self, text: &str, order: Order) -> String {
        let more = match (self.stateless, self.meta.as_str()) {
            (false, _) => String::new(),
            (true, "") => r#","resultType":"complete""#.to_owned(),
            (true, meta) => format!(r#","resultType":"complete","_meta":{meta}"#),
        };
        format!(r#"{{"jsonrpc":"2.0","id":{ID},"result":{}}}"#, tool_result(text, order, &more))
    }
}

#[derive(Clone, Copy)]
enum Order {
    TypeFirst,
    TextFirst,
}

/// `{}` stands for the name, here and below.
fn tool_result(text: &str, order: Order, more: &str) -> String {
    let text = text.replace("{}", &NAME.to_string());
    let block = match order {
        Order::TypeFirst => format!(r#"{{"type":"text","text":"{text}"}}"#),
        Order::TextFirst => format!(r#"{{"text":"{text}","type":"text"}}"#),
    };
    format!(r#"{{"content":[{block}],"isError":true{more}}}"#)
}

fn error(code: i32, message: &str) -> String {
    let message = message.replace("{}", &NAME.to_string());
    format!(r#"{{"jsonrpc":"2.0","id":{ID},"error":{{"code":{code},"message":"{message}"}}}}"#)
}

fn error_with_uri(message: &str) -> String {
    let message = message.replace("{}", &NAME.to_string());
    format!(
        r#"{{"jsonrpc":"2.0","id":{ID},"error":{{"code":-32602,"message":"{message}","data":{{"uri":"{NAME}"}}}}}}"#
    )
}

fn is_result_first(line: &str) -> bool {
    let first = Raw::parse(line).ok().and_then(|line| line.members().next().map(|(name, _)| name));
    first.as_deref() == Some("result")
}

impl Dialect {
    fn of_handshake(line: &str) -> Dialect {
        let result = Raw::parse(line).ok().and_then(|line| line.get("result"));
        let Some(result) = result else { return Dialect::Specification };
        let capability = |name: &str| result.get("capabilities").and_then(|all| all.get(name));
        let says = |capability: Option<Raw<'_>>, name: &str| {
            capability.and_then(|capability| capability.get(name)).and_then(Raw::as_bool)
        };
        let first_of_all = ["tools", "resources", "prompts"].into_iter().find_map(capability);
        let lists_change = says(first_of_all, "listChanged") == Some(true);
        if is_result_first(line) {
            return if lists_change { Dialect::TypeScript1 } else { Dialect::TypeScriptPlain };
        }
        // What Python's models write though it says nothing.
        let says_no = says(capability("resources"), "subscribe") == Some(false);
        let first = result.members().next().map(|(name, _)| name);
        match (capability("experimental").is_some(), lists_change) {
            (true, false) => Dialect::Python1,
            (true, true) => Dialect::FastMcp1,
            (false, _) if first.as_deref() == Some("capabilities") => Dialect::Python2,
            (false, true) if says_no => Dialect::FastMcp2,
            (false, _) => Dialect::Specification,
        }
    }
}
