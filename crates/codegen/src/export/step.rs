//! What each recorded action is in a test, and what actions share: names of responses, the page's settings.

use callgate_protocol::json::{Kind, Raw};
use rustc_hash::{FxHashMap, FxHashSet};

use super::in_comment;
use super::literal::literal;
use super::value::{ActionValues, Variables};
use crate::session::{Action, CallOutcome, RetainedArguments};
use crate::tools::ANSWERED_WITH_A_STATUS;

/// What an action is in a test. No line of code has a line end in it: texts are literals.
#[derive(Debug)]
pub(super) enum Step {
    Code(Vec<String>),
    /// Code that watches what other actions do: it begins before those that ran beside it, and is awaited after them.
    Watch {
        begin: String,
        end: String,
    },
    Comment(String),
}

impl From<String> for Step {
    fn from(line: String) -> Step {
        Step::Code(vec![line])
    }
}

/// What steps share.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) variables: Variables,
    /// The expression of the last user agent that was set.
    pub(super) user_agent: Option<String>,
    /// The size that the browser was opened with.
    pub(super) viewport: Option<String>,
    /// Some action used the browser already.
    opened: bool,
    /// Responses that are asserted later, by the name that the agent gave them.
    asserted: FxHashSet<String>,
    /// Responses that are waited for, by that name.
    responses: FxHashMap<String, String>,
}

impl Steps {
    pub(super) fn new(actions: &[Action]) -> Steps {
        let asserts = actions.iter().filter(|action| {
            action.tool == "playwright_assert_response" && action.outcome != CallOutcome::Failed
        });
        Steps { asserted: asserts.filter_map(response_id).collect(), ..Steps::default() }
    }

    pub(super) fn step(&mut self, number: usize, action: &Action) -> Step {
        let tool = action.tool.as_str();
        let (text, masked) = match &action.args {
            RetainedArguments::Whole(text) => (text.as_str(), false),
            RetainedArguments::Masked(text) => (text.as_str(), true),
            RetainedArguments::Absent => ("{}", false),
            RetainedArguments::Cut(start) => {
                return Step::Comment(format!(
                    "{}, recorded in part: {}",
                    in_comment(tool),
                    in_comment(start)
                ));
            }
            RetainedArguments::Names(names) => {
                let of = if names.is_empty() { String::new() } else { format!(" of {}", in_comment(names)) };
                return Step::Comment(format!("{}: the values{of} are not on record", in_comment(tool)));
            }
        };
        let step = Raw::parse(text).ok().and_then(|args| self.code(number, action, args, masked));
        step.unwrap_or_else(|| Step::Comment(format!("{} {}", in_comment(tool), in_comment(text))))
    }

    fn code(&mut self, number: usize, action: &Action, args: Raw<'_>, masked: bool) -> Option<Step> {
        let tool = action.tool.as_str();
        let failed = action.outcome == CallOutcome::Failed;
        let selector = args.get("selector").and_then(Raw::as_str).map(|selector| selector.into_owned());
        let hint = selector.unwrap_or_else(|| tool.trim_start_matches("playwright_").to_owned());
        // What only a comment would read need not be set.
        let mut unread = Variables::default();
        let variables = if failed { &mut unread } else { &mut self.variables };
        let values = ActionValues { variables, masked, step: number, tool, hint };
        let mut call = Call { args, values, number, status: action.status };
        match tool {
            // Servers take it while they open the browser, and refuse it afterwards.
            "playwright_custom_user_agent" => {
                self.opened = true;
                if action.outcome == CallOutcome::Done {
                    self.user_agent = Some(call.text("userAgent")?);
                }
                None
            }
            "playwright_navigate" => {
                let first = !std::mem::replace(&mut self.opened, true);
                if first && !failed {
                    self.viewport = call.viewport();
                }
                call.page(tool)
            }
            "playwright_expect_response" => {
                self.opened = true;
                let id = response_id(action).filter(|id| self.asserted.contains(id))?;
                let name = format!("response{number}");
                let code = format!("const {name} = page.waitForResponse({});", call.text("url")?);
                // One that failed becomes a comment, and a comment declares no name.
                if !failed {
                    self.responses.insert(id, name);
                }
                Some(code.into())
            }
            "playwright_assert_response" => {
                let name = self.responses.get(&response_id(action)?)?;
                let line = match call.text("value") {
                    Some(value) => {
                        format!("expect(JSON.stringify(await (await {name}).json())).toContain({value});")
                    }
                    None => call.succeeded(&format!("(await {name})")),
                };
                Some(line.into())
            }
            _ => {
                self.opened |= !ANSWERED_WITH_A_STATUS.contains(&tool);
                call.request(tool).or_else(|| call.expectation(tool)).or_else(|| call.page(tool))
            }
        }
    }
}

/// The name that an agent gave to a response.
fn response_id(action: &Action) -> Option<String> {
    let args = Raw::parse(action.args.text()).ok()?;
    args.get("id").and_then(Raw::as_str).map(|id| id.into_owned())
}

/// One call, on its way into code. Its methods give `None` for tools that they do not know, and where an argument is missing
/// or is not of its kind: such a call cannot have come to anything.
pub(super) struct Call<'a, 'v> {
    pub(super) args: Raw<'a>,
    pub(super) values: ActionValues<'v>,
    pub(super) number: usize,
    /// What the answer says of a request.
    pub(super) status: Option<u16>,
}

impl<'a> Call<'a, '_> {
    fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.args.get(name).filter(|value| !value.is_null())
    }

    /// The expression of a text.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        let text = self.get(name).filter(|value| value.kind() == Kind::String)?;
        self.values.expression(text)
    }

    /// The expression of a text or of a list of texts.
    pub(super) fn texts(&mut self, name: &str) -> Option<String> {
        let texts = |value: &Raw<'_>| match value.kind() {
            Kind::String => true,
            Kind::Array => value.items().all(|item| item.kind() == Kind::String),
            _ => false,
        };
        let value = self.get(name).filter(texts)?;
        self.values.expression(value)
    }

    /// The expression of an object.
    pub(super) fn object(&mut self, name: &str) -> Option<String> {
        let value = self.get(name).filter(|value| value.kind() == Kind::Object)?;
        self.values.expression(value)
    }

    /// A text that is a choice of ours and no expression.
    pub(super) fn word(&self, name: &str) -> Option<String> {
        self.get(name)?.as_str().map(|word| word.to_ascii_lowercase().replace('_', ""))
    }

    pub(super) fn number(&self, name: &str) -> Option<String> {
        self.get(name)?.as_number().map(str::to_owned)
    }

    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.get(name)?.as_bool()
    }

    /// `, { timeout: 500 }`, or nothing; with other options before it.
    pub(super) fn with_timeout(&self, mut options: Vec<String>) -> String {
        options.extend(self.number("timeout").map(|timeout| format!("timeout: {timeout}")));
        with(&options)
    }

    /// In the folder of the test's own results: where the agent had it written is not for a test to overwrite.
    pub(super) fn own_file(&self, extension: &str) -> String {
        format!("test.info().outputPath({})", literal(&format!("step-{}.{extension}", self.number)))
    }
}

/// As the last argument of a call.
pub(super) fn with(options: &[String]) -> String {
    if options.is_empty() { String::new() } else { format!(", {}", braced(options)) }
}

pub(super) fn braced(options: &[String]) -> String {
    format!("{{ {} }}", options.join(", "))
}
