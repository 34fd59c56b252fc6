//! What each tool of the browser servers stands for in a test, one line each.

use callgate_protocol::json::{Kind, Raw};
use rustc_hash::FxHashMap;

use super::in_comment;
use super::literal::literal;
use super::value::{Values, Variables};
use crate::session::{Action, Arguments, Outcome};

/// One line of a test.
pub(super) enum Step {
    Code(String),
    Comment(String),
}

/// What steps share.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) variables: Variables,
    /// The expression of the last user agent that was set.
    pub(super) user_agent: Option<String>,
    /// Responses that are waited for, by the name that the agent gave them.
    responses: FxHashMap<String, String>,
}

impl Steps {
    pub(super) fn of(&mut self, number: usize, action: &Action) -> Step {
        let tool = action.tool.as_str();
        let (text, masked) = match &action.args {
            Arguments::Whole(text) => (text.as_str(), false),
            Arguments::Masked(text) => (text.as_str(), true),
            Arguments::Absent => ("{}", false),
            Arguments::Cut(start) => {
                return Step::Comment(format!(
                    "{}, recorded in part: {}",
                    in_comment(tool),
                    in_comment(start)
                ));
            }
            Arguments::Names(names) => {
                let of = if names.is_empty() { String::new() } else { format!(" of {}", in_comment(names)) };
                return Step::Comment(format!("{}: the values{of} are not on record", in_comment(tool)));
            }
        };
        let code = Raw::parse(text).ok().and_then(|args| {
            let selector = args.get("selector").and_then(Raw::as_str).map(|selector| selector.into_owned());
            let hint = selector.unwrap_or_else(|| tool.trim_start_matches("playwright_").to_owned());
            let values = Values { variables: &mut self.variables, masked, step: number, tool, hint };
            let mut call = Call { args, values, number };
            match tool {
                "playwright_custom_user_agent" => {
                    self.user_agent = Some(call.value("userAgent")?);
                    None
                }
                "playwright_expect_response" => {
                    let id = args.get("id").and_then(Raw::as_str)?.into_owned();
                    let name = format!("response{number}");
                    let code = format!("const {name} = page.waitForResponse({});", call.value("url")?);
                    // One that failed becomes a comment, and a comment declares no name.
                    if action.outcome != Outcome::Failed {
                        self.responses.insert(id, name);
                    }
                    Some(code)
                }
                "playwright_assert_response" => {
                    let name = self.responses.get(args.get("id").and_then(Raw::as_str)?.as_ref())?;
                    Some(match call.value("value") {
                        Some(value) => format!("expect(await (await {name}).text()).toContain({value});"),
                        None => format!("expect((await {name}).ok()).toBeTruthy();"),
                    })
                }
                _ => call.code(tool),
            }
        });
        code.map_or_else(|| Step::Comment(format!("{} {}", in_comment(tool), in_comment(text))), Step::Code)
    }
}

/// One call, on its way into a line.
struct Call<'a, 'v> {
    args: Raw<'a>,
    values: Values<'v>,
    number: usize,
}

impl Call<'_, '_> {
    /// `None` for tools that only look, for unknown ones, and where an argument is missing.
    fn code(&mut self, tool: &str) -> Option<String> {
        let selected = |call: &mut Self, method: &str| {
            Some(format!("await page.{method}({});", call.value("selector")?))
        };
        Some(match tool {
            "playwright_navigate" => {
                let url = self.value("url")?;
                let options = self.options(&["waitUntil", "timeout"]);
                format!("await page.goto({url}{});", with(&options))
            }
            "playwright_click" => return selected(self, "click"),
            "playwright_hover" => return selected(self, "hover"),
            "playwright_fill" => {
                format!("await page.fill({}, {});", self.value("selector")?, self.value("value")?)
            }
            "playwright_select" => {
                format!("await page.selectOption({}, {});", self.value("selector")?, self.value("value")?)
            }
            "playwright_upload_file" => {
                format!("await page.setInputFiles({}, {});", self.value("selector")?, self.value("filePath")?)
            }
            "playwright_press_key" => match self.value("selector") {
                Some(selector) => format!("await page.press({selector}, {});", self.value("key")?),
                None => format!("await page.keyboard.press({});", self.value("key")?),
            },
            "playwright_drag" => {
                let (from, to) = (self.value("sourceSelector")?, self.value("targetSelector")?);
                format!("await page.dragAndDrop({from}, {to});")
            }
            "playwright_iframe_click" => format!("await {}.click();", self.framed()?),
            "playwright_iframe_fill" => format!("await {}.fill({});", self.framed()?, self.value("value")?),
            "playwright_click_and_switch_tab" => {
                let selector = self.value("selector")?;
                format!(
                    "[page] = await Promise.all([page.context().waitForEvent(\"page\"), page.click({selector})]);"
                )
            }
            "playwright_go_back" => "await page.goBack();".to_owned(),
            "playwright_go_forward" => "await page.goForward();".to_owned(),
            "playwright_evaluate" => format!("await page.evaluate({});", self.value("script")?),
            "playwright_resize" => {
                let (width, height) = (self.number("width")?, self.number("height")?);
                format!("await page.setViewportSize({{ width: {width}, height: {height} }});")
            }
            "playwright_screenshot" => {
                let path = self.own_file("png");
                let mut options = vec![format!("path: {path}")];
                options.extend(self.options(&["fullPage"]));
                let of = match self.value("selector") {
                    Some(selector) => format!("page.locator({selector})"),
                    None => "page".to_owned(),
                };
                format!("await {of}.screenshot({{ {} }});", options.join(", "))
            }
            "playwright_save_as_pdf" => format!("await page.pdf({{ path: {} }});", self.own_file("pdf")),
            "playwright_get" => return self.request("get"),
            "playwright_post" => return self.request("post"),
            "playwright_put" => return self.request("put"),
            "playwright_patch" => return self.request("patch"),
            "playwright_delete" => return self.request("delete"),
            _ => return None,
        })
    }

    fn value(&mut self, name: &str) -> Option<String> {
        let value = self.args.get(name).filter(|value| !value.is_null())?;
        self.values.expression(value)
    }

    fn number(&self, name: &str) -> Option<String> {
        self.args.get(name)?.as_number().map(str::to_owned)
    }

    /// `name: value` of those that are there and are plain.
    fn options(&mut self, names: &[&str]) -> Vec<String> {
        let plain = |value: &Raw<'_>| !matches!(value.kind(), Kind::Array | Kind::Object | Kind::Null);
        let mut found = Vec::new();
        for name in names {
            if let Some(value) = self.args.get(name).filter(plain)
                && let Some(value) = self.values.expression(value)
            {
                found.push(format!("{name}: {value}"));
            }
        }
        found
    }

    fn framed(&mut self) -> Option<String> {
        let (frame, selector) = (self.value("iframeSelector")?, self.value("selector")?);
        Some(format!("page.frameLocator({frame}).locator({selector})"))
    }

    /// In the folder of the test's own results: where the agent had it written is not for a test to overwrite.
    fn own_file(&self, extension: &str) -> String {
        format!("test.info().outputPath({})", literal(&format!("step-{}.{extension}", self.number)))
    }

    fn request(&mut self, method: &str) -> Option<String> {
        let url = self.value("url")?;
        let mut options = Vec::new();
        let mut headers: Vec<String> =
            self.value("headers").map(|headers| format!("...{headers}")).into_iter().collect();
        headers.extend(self.value("token").map(|token| format!("Authorization: \"Bearer \" + {token}")));
        if !headers.is_empty() {
            options.push(format!("headers: {{ {} }}", headers.join(", ")));
        }
        options.extend(self.value("value").map(|data| format!("data: {data}")));
        Some(format!("await page.request.{method}({url}{});", with(&options)))
    }
}

fn with(options: &[String]) -> String {
    if options.is_empty() { String::new() } else { format!(", {{ {} }}", options.join(", ")) }
}
