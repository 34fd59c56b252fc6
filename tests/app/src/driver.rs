//! What is in the window, through WebKit's own driver: found by what the page calls it, clicked as a person clicks.

use std::fs::OpenOptions;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::desktop::{Desktop, Owned};
use crate::http;

/// Long enough for a loaded machine; a good run never comes near it.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// On a display that nobody looks at, a loaded machine can leave a page without frames, and so without anything that
/// waits for one. A picture makes a frame.
const FRAMES: Duration = Duration::from_secs(4);
/// How W3C names an element in JSON.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

#[derive(Debug)]
pub struct Driver {
    pub process: Owned,
    port: u16,
    session: String,
}

/// Something on the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Element(String);

impl Driver {
    /// Starts the app with a driver above it. `set_up` sees the environment that both get.
    pub fn start(
        desktop: &Desktop,
        app: &Path,
        args: &[&str],
        set_up: impl Fn(&mut Command),
    ) -> anyhow::Result<Driver> {
        // Free at this moment; another test may take it in between, then the next one is tried.
        for _ in 0..5 {
            let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
            let mut command = Command::new("WebKitWebDriver");
            command.arg(format!("--port={port}")).arg("--host=127.0.0.1");
            desktop.host(&mut command);
            command.env("TAURI_WEBVIEW_AUTOMATION", "true");
            set_up(&mut command);
            // Not ours: WebKit's processes outlive the app for a moment, and who reads us waits for all who may write.
            let said = OpenOptions::new().create(true).append(true).open(desktop.said())?;
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
            let mut process =
                Owned(command.spawn().context("there is no WebKitWebDriver: install webkit2gtk-driver")?);
            if listens(port, &mut process) {
                let session = open(port, app, args)?;
                return Ok(Driver { process, port, session });
            }
        }
        anyhow::bail!("WebKitWebDriver does not listen")
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        let answer = http::ask(self.port, method, &format!("/session/{}{path}", self.session), body)?;
        let value = answer.get("value").cloned().unwrap_or_default();
        if let Some(error) = value.get("error") {
            anyhow::bail!("{error}: {}", value.get("message").unwrap_or(&Value::Null));
        }
        Ok(value)
    }

    /// Turns to the window whose page this holds for; the driver begins with the first that there was.
    pub fn turn_to(
        &self,
        what: &str,
        is_meant: impl Fn(&Driver) -> anyhow::Result<bool>,
    ) -> anyhow::Result<()> {
        self.wait(what, |driver| {
            let handles = driver.ask("GET", "/window/handles", None)?;
            for handle in handles.as_array().context("not a list of windows")? {
                driver.ask("POST", "/window", Some(&json!({ "handle": handle })))?;
                if is_meant(driver)? {
                    return Ok(Some(()));
                }
            }
            Ok(None)
        })
    }

    /// Runs a script in the page.
    pub fn script(&self, script: &str, args: &[Value]) -> anyhow::Result<Value> {
        self.ask("POST", "/execute/sync", Some(&json!({ "script": script, "args": args })))
    }

    /// Runs a script that gives its answer to the last of its arguments, when it has it.
    pub fn script_that_waits(&self, script: &str, args: &[Value]) -> anyhow::Result<Value> {
        self.ask("POST", "/execute/async", Some(&json!({ "script": script, "args": args })))
    }

    pub fn find(&self, css: &str) -> anyhow::Result<Vec<Element>> {
        let found = self.ask("POST", "/elements", Some(&json!({ "using": "css selector", "value": css })))?;
        let ids = found.as_array().context("not a list of elements")?.iter();
        Ok(ids.filter_map(|one| Some(Element(one.get(ELEMENT)?.as_str()?.to_owned()))).collect())
    }

    pub fn text(&self, element: &Element) -> anyhow::Result<String> {
        let text = self.ask("GET", &format!("/element/{}/text", element.0), None)?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Empty if it has none of that name.
    pub fn attribute(&self, element: &Element, name: &str) -> anyhow::Result<String> {
        let value = self.ask("GET", &format!("/element/{}/attribute/{name}", element.0), None)?;
        Ok(value.as_str().unwrap_or_default().to_owned())
    }

    pub fn click(&self, element: &Element) -> anyhow::Result<()> {
        self.ask("POST", &format!("/element/{}/click", element.0), Some(&json!({}))).map(drop)
    }

    pub fn type_into(&self, element: &Element, text: &str) -> anyhow::Result<()> {
        let body = json!({ "text": text });
        self.ask("POST", &format!("/element/{}/value", element.0), Some(&body)).map(drop)
    }

    pub fn clear(&self, element: &Element) -> anyhow::Result<()> {
        self.ask("POST", &format!("/element/{}/clear", element.0), Some(&json!({}))).map(drop)
    }

    /// Waits until `met` gives something; what fails on the way is tried again.
    pub fn wait<T>(
        &self,
        what: &str,
        mut met: impl FnMut(&Driver) -> anyhow::Result<Option<T>>,
    ) -> anyhow::Result<T> {
        let deadline = Instant::now() + PATIENCE;
        let mut frame = Instant::now() + FRAMES;
        loop {
            if Instant::now() >= frame {
                let _forced = self.picture();
                frame = Instant::now() + FRAMES;
            }
            let last = match met(self) {
                Ok(Some(value)) => return Ok(value),
                Ok(None) => None,
                Err(error) => Some(error),
            };
            if Instant::now() >= deadline {
                let last = last.map(|error| format!(" ({error:#})")).unwrap_or_default();
                anyhow::bail!("not within {PATIENCE:?}: {what}{last}; the page says:\n{}", self.page());
            }
            std::thread::park_timeout(Duration::from_millis(50));
        }
    }

    /// Waits for an element that the page calls so.
    pub fn the(&self, id: &str) -> anyhow::Result<Element> {
        self.one(&format!("[data-testid=\"{id}\"]"))
    }

    pub fn one(&self, css: &str) -> anyhow::Result<Element> {
        self.wait(css, |driver| Ok(driver.find(css)?.into_iter().next()))
    }

    /// Waits for it and clicks it, again if it moved away meanwhile.
    pub fn press(&self, id: &str) -> anyhow::Result<()> {
        self.press_css(&format!("[data-testid=\"{id}\"]"))
    }

    pub fn press_css(&self, css: &str) -> anyhow::Result<()> {
        self.wait(&format!("a click on {css}"), |driver| {
            let Some(element) = driver.find(css)?.into_iter().next() else { return Ok(None) };
            driver.click(&element).map(Some)
        })
    }

    /// Waits until something that the page calls so says this.
    pub fn says(&self, id: &str, words: &str) -> anyhow::Result<String> {
        let css = format!("[data-testid=\"{id}\"]");
        self.wait(&format!("{id} says {words:?}"), |driver| {
            for element in driver.find(&css)? {
                let text = driver.text(&element)?;
                if text.contains(words) {
                    return Ok(Some(text));
                }
            }
            Ok(None)
        })
    }

    /// A picture of the page, as PNG.
    pub fn picture(&self) -> anyhow::Result<Vec<u8>> {
        // A page that is drawn directly, and at rest, would give its next frame when something changes: so something does.
        self.script(
            "const root = document.documentElement; let left = 100; \
             const stirring = setInterval(() => { \
               root.style.outline = left % 2 ? '' : '1px solid transparent'; if (--left < 0) clearInterval(stirring); \
             }, 30);",
            &[],
        )?;
        let picture = self.ask("GET", "/screenshot", None)?;
        base64(picture.as_str().context("not a picture")?).context("not a picture")
    }

    /// All text of the page, for a failed test.
    pub fn page(&self) -> String {
        let text = self.script("return location.href + '\\n' + document.body.innerText", &[]);
        text.map_or_else(|error| error.to_string(), |text| text.as_str().unwrap_or_default().to_owned())
    }
}

fn listens(port: u16, process: &mut Owned) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline && matches!(process.0.try_wait(), Ok(None)) {
        if http::ask(port, "GET", "/status", None).is_ok() {
            return true;
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    false
}

fn open(port: u16, app: &Path, args: &[&str]) -> anyhow::Result<String> {
    let options = json!({ "binary": app, "args": args });
    let wanted = json!({ "capabilities": { "alwaysMatch": { "webkitgtk:browserOptions": options } } });
    let answer = http::ask(port, "POST", "/session", Some(&wanted))?;
    let session = answer.pointer("/value/sessionId").and_then(Value::as_str);
    Ok(session.with_context(|| format!("the app cannot be driven: {answer}"))?.to_owned())
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, count) = (bits << 6 | u32::from(six), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_come_whole() {
        assert_eq!(base64("aGVsbG8=").as_deref(), Some(b"hello".as_slice()));
        assert_eq!(base64("/+8="), Some(vec![0xff, 0xef]));
        assert_eq!(base64("a b"), None);
    }
}
