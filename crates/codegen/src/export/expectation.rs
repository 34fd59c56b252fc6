//! What an agent asserts of the page and waits for: the first element that a selector finds, as the servers take it.

use super::literal::literal;
use super::step::{Call, Step};

/// How a text is compared.
const ENDS: [(&str, &str, &str); 3] = [("startswith", "^", ""), ("endswith", "", "$"), ("contains", "", "")];

impl Call<'_, '_> {
    pub(super) fn expectation(&mut self, tool: &str) -> Option<Step> {
        let line = match tool {
            "playwright_assert_element_state" => {
                let matcher = match self.word("state")?.as_str() {
                    "visible" => "toBeVisible",
                    "hidden" => "toBeHidden",
                    "enabled" => "toBeEnabled",
                    "disabled" => "toBeDisabled",
                    "editable" => "toBeEditable",
                    "readonly" => "not.toBeEditable",
                    "checked" => "toBeChecked",
                    "unchecked" => "not.toBeChecked",
                    _ => return None,
                };
                self.expect_first(matcher, &[], Vec::new())?
            }
            "playwright_assert_element_count" | "playwright_wait_element_count" => self.count()?,
            "playwright_assert_text_content" => self.text_content()?,
            "playwright_assert_attribute" => self.attribute()?,
            "playwright_wait_attribute" => {
                let mut values = vec![self.text("attribute")?];
                values.extend(self.text("value"));
                self.expect_first("toHaveAttribute", &values, Vec::new())?
            }
            "playwright_assert_css_property" => {
                let property = self.text("property")?;
                // Servers compare without blanks around it and without case.
                let value = self.pattern("expectedValue", r"^\s*", r"\s*$", false)?;
                self.expect_first("toHaveCSS", &[property, value], Vec::new())?
            }
            "playwright_assert_request_made" => return self.request_made(),
            "playwright_wait_smart" => return self.wait_smart(),
            "playwright_wait_network_idle" => {
                format!("await page.waitForLoadState(\"networkidle\"{});", self.with_timeout(Vec::new()))
            }
            "playwright_wait_element_hidden" => self.expect_first("toBeHidden", &[], Vec::new())?,
            "playwright_wait_url" => {
                format!(
                    "await page.waitForURL({}{});",
                    self.text("urlPattern")?,
                    self.with_timeout(Vec::new())
                )
            }
            _ => return None,
        };
        Some(line.into())
    }

    /// `await expect(page.locator("#a").first()).toHaveText("b", { timeout: 5 });`
    fn expect_first(&mut self, matcher: &str, values: &[String], options: Vec<String>) -> Option<String> {
        let selector = self.text("selector")?;
        let options = self.with_timeout(options);
        let mut all = values.join(", ");
        all.push_str(if all.is_empty() { options.trim_start_matches(", ") } else { &options });
        Some(format!("await expect(page.locator({selector}).first()).{matcher}({all});"))
    }

    fn count(&mut self) -> Option<String> {
        let (selector, count) = (self.text("selector")?, self.number("count")?);
        let timeout = self.with_timeout(Vec::new());
        let matcher = match self.word("comparison").as_deref().unwrap_or("equal") {
            "equal" => {
                return Some(format!(
                    "await expect(page.locator({selector})).toHaveCount({count}{timeout});"
                ));
            }
            "greaterthan" => "toBeGreaterThan",
            "lessthan" => "toBeLessThan",
            "atleast" => "toBeGreaterThanOrEqual",
            "atmost" => "toBeLessThanOrEqual",
            _ => return None,
        };
        Some(format!(
            "await expect.poll(() => page.locator({selector}).count(){timeout}).{matcher}({count});"
        ))
    }

    fn text_content(&mut self) -> Option<String> {
        let any_case = self.flag("caseSensitive") == Some(false);
        let options = if any_case { vec!["ignoreCase: true".to_owned()] } else { Vec::new() };
        let kind = self.word("matchType");
        match kind.as_deref().unwrap_or("contains") {
            "contains" => {
                let text = self.text("expectedText")?;
                self.expect_first("toContainText", &[text], options)
            }
            "exact" => {
                let text = self.text("expectedText")?;
                self.expect_first("toHaveText", &[text], options)
            }
            "regex" => {
                let flags = if any_case { ", \"i\"" } else { "" };
                let pattern = format!("new RegExp({}{flags})", self.text("expectedText")?);
                self.expect_first("toHaveText", &[pattern], Vec::new())
            }
            kind => {
                let (_, before, after) = ENDS.into_iter().find(|(word, ..)| *word == kind)?;
                let pattern = self.pattern("expectedText", before, after, !any_case)?;
                self.expect_first("toHaveText", &[pattern], Vec::new())
            }
        }
    }

    fn attribute(&mut self) -> Option<String> {
        let name = self.text("attribute")?;
        let any_case = self.flag("caseSensitive") == Some(false);
        let kind = self.word("matchType");
        match kind.as_deref().unwrap_or("exact") {
            "exists" => self.expect_first("toHaveAttribute", &[name], Vec::new()),
            "notexists" => self.expect_first("not.toHaveAttribute", &[name], Vec::new()),
            "exact" => {
                let value = self.text("expectedValue")?;
                let options = if any_case { vec!["ignoreCase: true".to_owned()] } else { Vec::new() };
                self.expect_first("toHaveAttribute", &[name, value], options)
            }
            "contains" => {
                let value = self.pattern("expectedValue", "", "", !any_case)?;
                self.expect_first("toHaveAttribute", &[name, value], Vec::new())
            }
            _ => None,
        }
    }

    /// A pattern that finds exactly this text. None if a part of it is masked: nobody knows what to escape in it.
    fn pattern(&mut self, name: &str, before: &str, after: &str, case: bool) -> Option<String> {
        let text = self.args.get(name)?.as_str()?.into_owned();
        if self.values.has_mask(&text) {
            return None;
        }
        let mut pattern = before.to_owned();
        for c in text.trim().chars() {
            if r"\^$.|?*+()[]{}/-".contains(c) {
                pattern.push('\\');
            }
            pattern.push(c);
        }
        pattern.push_str(after);
        let flags = if case { "" } else { ", \"i\"" };
        Some(format!("new RegExp({}{flags})", literal(&pattern)))
    }

    /// Without a wait the server looks at nothing.
    fn request_made(&mut self) -> Option<Step> {
        if self.flag("waitForRequest") == Some(false) {
            return None;
        }
        let name = format!("request{}", self.number);
        let pattern = self.args.get("urlPattern")?.as_str()?.into_owned();
        let mut test = match regular(&pattern) {
            Some((source, flags)) => {
                format!("new RegExp({}, {}).test(made.url())", literal(source), literal(flags))
            }
            None => format!("made.url().includes({})", self.text("urlPattern")?),
        };
        if let Some(method) = self.args.get("method").and_then(|method| method.as_str()) {
            test.push_str(&format!(" && made.method() === {}", literal(&method.to_uppercase())));
        }
        Some(Step::Watch {
            begin: format!(
                "const {name} = page.waitForRequest((made) => {test}{});",
                self.with_timeout(Vec::new())
            ),
            end: format!("await {name};"),
        })
    }

    fn wait_smart(&mut self) -> Option<Step> {
        let seen = if self.flag("visible") == Some(false) { "toBeAttached" } else { "toBeVisible" };
        let mut lines = vec![self.expect_first(seen, &[], Vec::new())?];
        if self.flag("interactive") == Some(true) {
            lines.extend(self.expect_first("toBeEnabled", &[], Vec::new()));
        }
        if let Some(text) = self.text("hasText") {
            lines.extend(self.expect_first("toContainText", &[text], Vec::new()));
        }
        Some(Step::Code(lines))
    }
}

/// `/source/flags`, as the servers take it for a pattern; other texts are looked for as they are.
fn regular(pattern: &str) -> Option<(&str, &str)> {
    let (source, flags) = pattern.strip_prefix('/')?.rsplit_once('/')?;
    let known = flags.chars().all(|c| "dgimsuy".contains(c));
    let twice = flags.chars().enumerate().any(|(at, c)| flags[at + 1..].contains(c));
    (!source.is_empty() && known && !twice).then_some((source, flags))
}
