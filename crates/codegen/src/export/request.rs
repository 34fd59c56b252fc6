//! HTTP requests beside the page, which neither have its cookies nor leave it any.

use callgate_protocol::json::{Kind, Raw};

use super::literal::literal;
use super::step::{Call, Step, with};

impl Call<'_, '_> {
    pub(super) fn request(&mut self, tool: &str) -> Option<Step> {
        let method = match tool.strip_prefix("playwright_")? {
            method @ ("get" | "post" | "put" | "patch" | "delete") => method,
            _ => return None,
        };
        let url = self.text("url")?;
        let name = format!("response{}", self.number);
        let mut headers = Vec::new();
        // The body of a post is JSON to the servers; the others send their text as it is.
        let data = if method == "post" {
            headers.push("\"Content-Type\": \"application/json\"".to_owned());
            self.json_body()
        } else {
            self.text("value").or_else(|| self.object("value"))
        };
        headers.extend(self.text("token").map(|token| format!("Authorization: \"Bearer \" + {token}")));
        headers.extend(self.given_headers());
        let mut options = Vec::new();
        if !headers.is_empty() {
            options.push(format!("headers: {{ {} }}", headers.join(", ")));
        }
        options.extend(data.map(|data| format!("data: {data}")));
        Some(Step::Code(vec![
            format!("const {name} = await request.{method}({url}{});", with(&options)),
            self.succeeded(&name),
        ]))
    }

    /// As far as the session went well: an answer that was no success then is none now.
    pub(super) fn succeeded(&self, response: &str) -> String {
        match self.status {
            Some(status) if !(200..300).contains(&status) => {
                format!("expect({response}.status()).toBe({status});")
            }
            _ => format!("expect({response}.ok()).toBeTruthy();"),
        }
    }

    fn json_body(&mut self) -> Option<String> {
        let value = self.args.get("value")?;
        let Some(text) = value.as_str() else { return self.values.expression(value) };
        match Raw::parse(&text) {
            Ok(json) => self.values.expression(json),
            // Masked as a whole: it is JSON in the variable.
            Err(_) if self.values.has_mask(&text) => {
                Some(format!("JSON.parse({})", self.values.expression(value)?))
            }
            Err(_) => self.values.expression(value),
        }
    }

    fn given_headers(&mut self) -> Vec<String> {
        let mut headers = Vec::new();
        for (name, value) in self.args.get("headers").into_iter().flat_map(Raw::members) {
            let value = match value.kind() {
                Kind::String => self.values.expression(value),
                Kind::Number | Kind::Bool => Some(literal(value.text())),
                Kind::Null | Kind::Array | Kind::Object => None,
            };
            // In brackets, because a plain `"__proto__"` would set the object's kind instead of a member.
            headers.extend(value.map(|value| format!("[{}]: {value}", literal(&name))));
        }
        headers
    }
}
