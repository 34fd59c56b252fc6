//! The app without a window: its commands, what they send on channels, and answers that a test puts in their place.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

use anyhow::Context as _;
use callgate_app::{AppState, bindings, guard};
use callgate_home::Home;
use callgate_home::clock::SystemClock;
use serde_json::{Value, json};
use tauri::ipc::{CallbackFn, InvokeBody, InvokeError, InvokeResponse, InvokeResponseBody};
use tauri::test::{INVOKE_KEY, MockRuntime, mock_builder, mock_context, noop_assets};
use tauri::webview::InvokeRequest;
use tauri::{App, WebviewUrl, WebviewWindow, WebviewWindowBuilder};

/// Whoever follows is asked again at once; a made-up answer takes this long.
const MADE_UP: Duration = Duration::from_millis(100);

pub(crate) struct Host {
    window: WebviewWindow<MockRuntime>,
    sent: Arc<Sent>,
    /// What is answered in place of a command, by its name.
    made_up: Mutex<HashMap<String, Value>>,
}

/// What was sent on channels and the page has not fetched yet.
#[derive(Default)]
struct Sent {
    messages: Mutex<Vec<Value>>,
    news: Condvar,
}

impl Host {
    /// The commands on a home, for as long as the app is kept.
    pub(crate) fn on(home: Home) -> anyhow::Result<(App<MockRuntime>, Host)> {
        let sent = Arc::new(Sent::default());
        let keep = Arc::clone(&sent);
        let app = mock_builder()
            .invoke_handler(bindings::builder().invoke_handler())
            .channel_interceptor(move |_, channel, index, body| keep.push(channel, index, body))
            .manage(AppState::new(home, Arc::new(SystemClock::new()), None).seen())
            .build(mock_context(noop_assets()))?;
        let window = WebviewWindowBuilder::new(&app, "main", WebviewUrl::default()).build()?;
        guard::start(app.handle());
        Ok((app, Host { window, sent, made_up: Mutex::default() }))
    }

    /// Answers a command as the page's host does: `ok` or `error`.
    pub(crate) fn invoke(&self, command: &str, arguments: Value) -> anyhow::Result<Value> {
        let made_up = self.made_up.lock().unwrap_or_else(PoisonError::into_inner).get(command).cloned();
        if let Some(answer) = made_up {
            std::thread::park_timeout(MADE_UP);
            return Ok(answer);
        }
        let (tell, told) = mpsc::sync_channel(1);
        let request = InvokeRequest {
            cmd: command.to_owned(),
            callback: CallbackFn(0),
            error: CallbackFn(1),
            url: "tauri://localhost".parse()?,
            body: InvokeBody::Json(arguments),
            headers: Default::default(),
            invoke_key: INVOKE_KEY.to_owned(),
        };
        let webview: &tauri::Webview<MockRuntime> = self.window.as_ref();
        webview.clone().on_message(request, Box::new(move |_, _, answer, _, _| drop(tell.send(answer))));
        match told.recv().context("the command was not answered")? {
            InvokeResponse::Ok(body) => Ok(json!({ "ok": value(&body)? })),
            InvokeResponse::Err(InvokeError(error)) => Ok(json!({ "error": error })),
        }
    }

    /// From now on this is the answer to a command; nothing: what it says itself.
    pub(crate) fn make_up(&self, command: &str, answer: Value) {
        let mut made_up = self.made_up.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Value::Null => drop(made_up.remove(command)),
            answer => drop(made_up.insert(command.to_owned(), answer)),
        }
    }

    /// What came on channels, once something did.
    pub(crate) fn messages(&self) -> Value {
        const PATIENCE: Duration = Duration::from_secs(20);
        let messages = self.sent.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.sent.news.wait_timeout_while(messages, PATIENCE, |messages| messages.is_empty());
        Value::Array(std::mem::take(&mut *waited.unwrap_or_else(PoisonError::into_inner).0))
    }
}

impl Sent {
    fn push(&self, channel: CallbackFn, index: usize, body: &InvokeResponseBody) -> bool {
        let Ok(message) = value(body) else { return false };
        let message = json!({ "channel": channel.0, "index": index, "message": message });
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).push(message);
        self.news.notify_all();
        true
    }
}

fn value(body: &InvokeResponseBody) -> anyhow::Result<Value> {
    match body {
        InvokeResponseBody::Json(text) => Ok(serde_json::from_str(text)?),
        InvokeResponseBody::Raw(_) => anyhow::bail!("no command answers with bytes"),
    }
}
