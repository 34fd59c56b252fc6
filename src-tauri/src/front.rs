//! The window: made when it is wanted, hidden when it is closed, let go when nobody has wanted it for a while.
//!
//! It shows our own page and nothing else: every other address, new window, download and permission is denied here,
//! whatever the page may have been talked into.

#[cfg_attr(target_os = "linux", path = "front/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "front/other.rs")]
mod drawing;
mod place;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use callgate_desk::view::{Place, Theme};
use callgate_home::Home;
use tauri::webview::{NewWindowResponse, PageLoadEvent, PermissionResponse};
use tauri::window::Color;
use tauri::{
    AppHandle, Emitter as _, Manager as _, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent,
};

use crate::state::AppState;
use crate::stderr::print_line;
use crate::{notify, route};

const LABEL: &str = "main";
/// Hidden for so long, the page is let go; the next look makes it anew.
const LET_GO_MS: u64 = 5 * 60 * 1000;
/// Said when the window is closed for the first time.
const GOES_ON: &str =
    "Closing the window does not end it: a click on the icon brings it back, and its menu has Quit.";

/// What is known about the window.
#[derive(Debug, Default)]
pub(crate) struct Front {
    visible: AtomicBool,
    /// It has the keyboard.
    focused: AtomicBool,
    /// For those who wait until it is visible.
    seen: (Mutex<()>, Condvar),
    /// Uptime at which it was hidden.
    hidden_at_ms: AtomicU64,
    page: Mutex<Page>,
}

#[derive(Debug, Default)]
enum Page {
    /// On its way; then it shows this.
    #[default]
    Loading,
    LoadingFor(String),
    /// There, but its scripts may not listen yet.
    Loaded,
    /// It has asked us something: it listens.
    Listening,
}

impl Front {
    /// May somebody see what the window shows?
    pub(crate) fn is_visible(&self) -> bool {
        self.visible.load(Ordering::Relaxed)
    }

    /// Does the person look at it now, rather than at another window?
    pub(crate) fn is_in_front(&self) -> bool {
        self.is_visible() && self.focused.load(Ordering::Relaxed)
    }

    /// Waits until somebody may see it or there is another reason to look, at most so long.
    pub(crate) fn wait_until_visible(&self, most: Duration) {
        let (lock, signal) = &self.seen;
        let guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_visible() {
            let _waited = signal.wait_timeout(guard, most);
        }
    }

    pub(crate) fn see(&self) {
        self.visible.store(true, Ordering::Relaxed);
        self.wake_waiting();
    }

    /// Those who wait look again.
    pub(crate) fn wake_waiting(&self) {
        let (lock, signal) = &self.seen;
        // Taken, so that nobody is between looking and waiting.
        let _guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
        signal.notify_all();
    }

    /// The page talks to us, so it also hears us.
    pub(crate) fn listens(&self) {
        let mut page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*page, Page::Loaded) {
            *page = Page::Listening;
        }
    }
}

/// Decides how pages are drawn. First of all, before there is another thread.
pub(crate) fn prepare() {
    drawing::prepare();
}

/// Brings the window to the front, at a place. From any thread.
pub(crate) fn show(app: &AppHandle, place: Place) {
    on_main(app, move |app| {
        let address = route::address(&place);
        let shown = match app.get_webview_window(LABEL) {
            Some(window) => {
                if let Some(address) = address {
                    lead(&window, address);
                }
                reveal(&window)
            }
            None => make(app, address.as_deref()).and_then(|window| reveal(&window)),
        };
        if let Err(error) = shown {
            print_line(&format!("the window cannot be shown: {error}"));
        }
    });
}

fn reveal(window: &WebviewWindow) -> tauri::Result<()> {
    let front = &window.state::<AppState>().inner().front;
    front.see();
    window.unminimize()?;
    window.show()?;
    window.set_focus()
}

/// Hides the window and remembers where it was.
pub(crate) fn hide(app: &AppHandle) {
    on_main(app, |app| {
        let Some(window) = app.get_webview_window(LABEL) else { return };
        let state = app.state::<AppState>();
        if !place::read(state.desk.home()).is_some_and(|kept| kept.told_of_tray) {
            notify::tell(app, "Callgate goes on in the tray", GOES_ON);
        }
        remember(&window, true);
        state.front.hidden_at_ms.store(state.clock.now().uptime_ms, Ordering::Relaxed);
        state.front.visible.store(false, Ordering::Relaxed);
        if let Err(error) = window.hide() {
            print_line(&format!("the window cannot be hidden: {error}"));
        }
    });
}

/// Lets the page go if nobody has wanted it for a while: its processes take a hundred megabytes.
pub(crate) fn let_go_if_idle(app: &AppHandle) {
    // Asked every second: the main thread is woken only for something.
    if !is_idle(app) || app.get_webview_window(LABEL).is_none() {
        return;
    }
    on_main(app, |app| {
        // Somebody may have wanted it meanwhile.
        if let Some(window) = app.get_webview_window(LABEL).filter(|_| is_idle(app))
            && let Err(error) = window.destroy()
        {
            print_line(&format!("the window cannot be let go: {error}"));
        }
    });
}

fn is_idle(app: &AppHandle) -> bool {
    let state = app.state::<AppState>();
    let hidden = state.front.hidden_at_ms.load(Ordering::Relaxed);
    !state.front.is_visible() && state.clock.now().uptime_ms.saturating_sub(hidden) >= LET_GO_MS
}

/// Where the window is now, for the next start.
pub(crate) fn remember_now(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(LABEL).filter(|_| app.state::<AppState>().front.is_visible())
    {
        let told = place::read(app.state::<AppState>().desk.home()).is_some_and(|kept| kept.told_of_tray);
        remember(&window, told);
    }
}

fn make(app: &AppHandle, address: Option<&str>) -> tauri::Result<WebviewWindow> {
    let home = app.state::<AppState>().desk.home().clone();
    *page(app) = Page::Loading;
    let frame = place::read(&home).and_then(|kept| kept.on(&screens(app)));
    let mut builder = confined(app, LABEL, address.unwrap_or_default())
        .title("Callgate")
        .inner_size(place::WIDTH, place::HEIGHT)
        .min_inner_size(place::MIN_WIDTH, place::MIN_HEIGHT)
        .on_page_load(|window, load| {
            if load.event() == PageLoadEvent::Finished {
                loaded(&window);
            }
        });
    if let Some(frame) = &frame {
        builder = builder.inner_size(frame.width, frame.height).maximized(frame.maximized);
        if let Some((x, y)) = frame.at {
            builder = builder.position(x, y);
        }
    }
    let window = builder.build()?;
    window.set_background_color(Some(ground(app, &window)))?;
    let app = app.clone();
    window.on_window_event(move |event| happened(&app, event));
    Ok(window)
}

/// A window for our own page, at this address, with nothing that leads out of it. It is made unseen: shown when it has the
/// colour of its theme.
pub(crate) fn confined<'a>(
    app: &'a AppHandle,
    label: &str,
    address: &str,
) -> WebviewWindowBuilder<'a, tauri::Wry, AppHandle> {
    let desk = &app.state::<AppState>().inner().desk;
    let url = WebviewUrl::App(format!("index.html{address}").into());
    let builder = WebviewWindowBuilder::new(app, label, url)
        .devtools(cfg!(debug_assertions))
        .on_navigation(is_ours)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .on_download(|_, _| false)
        .on_permission_request(|_, _| PermissionResponse::Deny)
        .initialization_script(first_theme(desk.theme()))
        .visible(false);
    // Whatever the web engine keeps stays in the home, private like the rest. Without a home it keeps nothing.
    let kept = desk.home().path().join("webview");
    match std::fs::create_dir_all(&kept) {
        Ok(()) => builder.data_directory(kept),
        Err(_) => builder.incognito(true),
    }
}

/// The page's own ground, so that nothing flashes before its first picture; as in `ui/src/styles/tokens.css`.
pub(crate) fn ground(app: &AppHandle, window: &WebviewWindow) -> Color {
    let chosen = app.state::<AppState>().desk.theme();
    let dark = match chosen {
        Theme::Light => false,
        Theme::Dark => true,
        Theme::System => window.theme().is_ok_and(|theme| theme == tauri::Theme::Dark),
    };
    if dark { Color(0x12, 0x15, 0x1b, 0xff) } else { Color(0xf6, 0xf7, 0xf9, 0xff) }
}

/// Gives the page its theme before it has a style or a script of its own: its first picture has the right colours.
fn first_theme(chosen: Theme) -> String {
    let theme = match chosen {
        Theme::Light => "'light'",
        Theme::Dark => "'dark'",
        Theme::System => "matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'",
    };
    // Some web engines run this before the document has an element.
    format!(
        "(() => {{ const set = () => {{ \
           const root = document.documentElement; if (root) root.dataset.theme = {theme}; return root !== null; }}; \
         if (!set()) new MutationObserver((_, seen) => set() && seen.disconnect()).observe(document, {{ childList: true }}); \
         }})()"
    )
}

/// Only our own page.
fn is_ours(url: &Url) -> bool {
    let host = url.host_str();
    match url.scheme() {
        "tauri" => host == Some("localhost"),
        "http" | "https" => host == Some("tauri.localhost") && url.port().is_none(),
        _ => false,
    }
}

fn happened(app: &AppHandle, event: &WindowEvent) {
    match event {
        WindowEvent::CloseRequested { api, .. } => {
            api.prevent_close();
            // Without a tray there would be no way back to a hidden window.
            match app.state::<AppState>().tray.works() {
                true => hide(app),
                false => crate::start::quit(app),
            }
        }
        WindowEvent::Focused(focused) => {
            let state = app.state::<AppState>();
            state.front.focused.store(*focused, Ordering::Relaxed);
            if *focused {
                // Whatever a screen saver said last.
                state.presence.set(true);
            }
            // Who looks here needs no window above all others.
            state.ticker.wake();
        }
        WindowEvent::Destroyed => {
            let state = app.state::<AppState>();
            state.front.visible.store(false, Ordering::Relaxed);
            state.forget_questions();
        }
        _ => {}
    }
}

/// Leads a page to an address, whatever state it is in.
fn lead(window: &WebviewWindow, address: String) {
    let mut page = page(window.app_handle());
    let led = match &*page {
        Page::Loading | Page::LoadingFor(_) => {
            *page = Page::LoadingFor(address);
            return;
        }
        Page::Loaded => set_address(window, &address),
        Page::Listening => window.emit_to(LABEL, "navigate", address),
    };
    if let Err(error) = led {
        print_line(&format!("the window cannot be led to another place: {error}"));
    }
}

fn loaded(window: &WebviewWindow) {
    let was = std::mem::replace(&mut *page(window.app_handle()), Page::Loaded);
    if let Page::LoadingFor(address) = was
        && let Err(error) = set_address(window, &address)
    {
        print_line(&format!("the window cannot be led to another place: {error}"));
    }
}

fn set_address(window: &WebviewWindow, address: &str) -> tauri::Result<()> {
    // A JSON string is a JavaScript one.
    window.eval(format!("location.hash = {}", serde_json::Value::from(address)))
}

fn page(app: &AppHandle) -> std::sync::MutexGuard<'_, Page> {
    app.state::<AppState>().inner().front.page.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remember(window: &WebviewWindow, told_of_tray: bool) {
    let (Ok(size), Ok(at), Ok(scale)) = (window.inner_size(), window.outer_position(), window.scale_factor())
    else {
        return;
    };
    let (size, at) = (size.to_logical::<f64>(scale), at.to_logical::<f64>(scale));
    let maximized = window.is_maximized().unwrap_or(false);
    let home: &Home = &window.state::<AppState>().desk.home().clone();
    let (width, height) = (size.width, size.height);
    let kept = place::WindowPlacement { x: at.x, y: at.y, width, height, maximized, told_of_tray };
    place::write(home, &kept);
}

fn screens(app: &AppHandle) -> Vec<place::Screen> {
    let monitors = app.available_monitors().unwrap_or_default();
    let screens = monitors.iter().map(|monitor| {
        let scale = monitor.scale_factor();
        let (at, size) =
            (monitor.position().to_logical::<f64>(scale), monitor.size().to_logical::<f64>(scale));
        place::Screen { x: at.x, y: at.y, width: size.width, height: size.height }
    });
    screens.collect()
}

pub(crate) fn on_main(app: &AppHandle, act: impl FnOnce(&AppHandle) + Send + 'static) {
    let handle = app.clone();
    // It fails only when the app is ending.
    let _ending = app.run_on_main_thread(move || act(&handle));
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn the_window_goes_nowhere_but_to_its_own_page() {
        let cases = [
            ("tauri://localhost/", true),
            ("tauri://localhost/index.html#/rules/x", true),
            ("http://tauri.localhost/", true),
            ("https://tauri.localhost/a", true),
            ("tauri://example.com/", false),
            ("http://localhost/", false),
            ("http://tauri.localhost:8080/", false),
            ("https://tauri.localhost.example.com/", false),
            ("https://example.com/", false),
            ("file:///etc/passwd", false),
            ("data:text/html,x", false),
            ("javascript:alert(1)", false),
            ("about:blank", false),
            ("blob:tauri://localhost/x", false),
        ];
        for (url, ours) in cases {
            assert_eq!(is_ours(&Url::parse(url).unwrap()), ours, "{url}");
        }
    }
}
