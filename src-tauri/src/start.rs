//! From the start of the process to its end.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use callgate_desk::sweep_programs;
use callgate_desk::view::Place;
use callgate_home::clock::{Clock, SystemClock};
use callgate_home::{Home, Locked};
use callgate_logging::{Log, Program};
use callgate_programs::{Installed, Pair, place};
use tauri::{AppHandle, Manager as _, RunEvent};
use tracing::info;

use crate::args::{self, Args, Parsed};
use crate::instance::{self, Claim};
use crate::state::AppState;
use crate::stderr::print_line;
use crate::{bindings, front, guard, heap, presence, ticker, tray};

#[cfg_attr(target_os = "linux", path = "start/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "start/other.rs")]
mod display;

/// How long a start at login waits for the desktop to show tray icons.
const PANEL: Duration = Duration::from_secs(30);

/// Runs the app, or asks the one that runs to show itself.
pub fn run() -> ExitCode {
    let args = match args::parse(std::env::args().skip(1)) {
        Parsed::Start(args) => args,
        Parsed::Help => return told(args::HELP),
        Parsed::Version => return told(concat!("callgate-app ", env!("CARGO_PKG_VERSION"))),
        Parsed::Wrong(why) => {
            print_line(&format!("{why}\n{}", args::HELP));
            return ExitCode::from(2);
        }
    };
    heap::prepare();
    front::prepare();
    let home = match Home::locate() {
        Ok(home) => home,
        Err(error) => return failed(&error.to_string()),
    };
    let _log = Log::start(&home, Program::App);
    let claimed = match claimed(&home, &args) {
        Ok(claimed) => claimed,
        Err(code) => return code,
    };
    if let Err(why) = display::check() {
        return failed(&why);
    }
    serve(home, &args, claimed)
}

/// What a start got hold of.
enum Claimed {
    Lock(Locked),
    /// Nothing can be written into the home, so there is no lock either: the window says what is wrong, and what to do.
    NoHome(String),
}

/// One app a home.
fn claimed(home: &Home, args: &Args) -> Result<Claimed, ExitCode> {
    let unusable = |why: String| {
        let words = unusable_home(home, &why);
        print_line(&words);
        Ok(Claimed::NoHome(words))
    };
    if let Err(error) = callgate_controls::prepare_home(home) {
        return unusable(error.to_string());
    }
    match instance::claim(home, args.open.as_ref()) {
        Ok(Claim::First(locked)) => Ok(Claimed::Lock(locked)),
        Ok(Claim::Heard) => Err(ExitCode::SUCCESS),
        Ok(Claim::Deaf) => {
            Err(failed("Callgate runs already, but it does not answer. End it and start it again."))
        }
        Err(error) => unusable(format!("{} cannot be written: {error}", home.app_lock().display())),
    }
}

/// What happened, what it means, what to do now.
fn unusable_home(home: &Home, why: &str) -> String {
    format!(
        "Callgate cannot use its folder {}, so every tool call behind the gate is refused: {why}. Make room on that disk or \
         make the folder yours and writable, then start Callgate again.",
        home.path().display()
    )
}

fn serve(home: Home, args: &Args, claimed: Claimed) -> ExitCode {
    let (locked, home_problem) = match claimed {
        Claimed::Lock(locked) => (Some(locked), None),
        Claimed::NoHome(words) => (None, Some(words)),
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let commands = bindings::builder();
    let built = tauri::Builder::default()
        .invoke_handler(commands.invoke_handler())
        .manage(AppState::new(home, clock, home_problem))
        .build(tauri::generate_context!());
    let app = match built {
        Ok(app) => app,
        Err(error) => return failed(&format!("the app cannot be started: {error}")),
    };
    info!(version = env!("CARGO_PKG_VERSION"), hidden = args.hidden, "app started");
    begin(app.handle(), args);
    let code = app.run_return(|app, event| match event {
        // The last window is gone, but not the app.
        RunEvent::ExitRequested { code: None, api, .. } if !is_quitting(app) => api.prevent_exit(),
        RunEvent::Exit => app.state::<AppState>().demo.end(),
        _ => {}
    });
    info!(code, "app ended");
    drop(locked);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

fn begin(app: &AppHandle, args: &Args) {
    let state = app.state::<AppState>();
    let home = state.desk.home().clone();
    std::thread::spawn({
        let home = home.clone();
        move || put_in_place(&home)
    });
    state.tray.start(app, tray::look(&state));
    let shown = app.clone();
    instance::listen(&home, move |place| front::show(&shown, place));
    ticker::start(app);
    ticker::keep_index(app);
    guard::start(app);
    presence::start(app);
    match args.hidden && state.home_problem.is_none() {
        true => show_without_tray(app),
        false => front::show(app, args.open.clone().unwrap_or(Place::Window)),
    }
}

/// Without a tray a hidden window could not be found. At login the panel may come after us, so it gets a while.
fn show_without_tray(app: &AppHandle) {
    let app = app.clone();
    std::thread::spawn(move || {
        let state = app.state::<AppState>();
        let deadline = Instant::now() + PANEL;
        while state.tray.may_come() && Instant::now() < deadline {
            if state.tray.works() {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(200));
        }
        front::show(&app, Place::Window);
    });
}

/// The program that AI clients start, and its partner.
fn put_in_place(home: &Home) {
    let Some(brought) = Pair::brought() else { return };
    match brought.map_err(io::Error::from).and_then(|pair| pair.install(home.path())) {
        Ok(Installed::Now | Installed::Already) => sweep_programs(home),
        Err(error) => {
            print_line(&format!("{} cannot be brought up to date: {error}", place(home.path()).display()));
        }
    }
}

/// Ends the app. The gate does not need it.
pub(crate) fn quit(app: &AppHandle) {
    app.state::<AppState>().quitting.store(true, Ordering::Relaxed);
    let ending = app.clone();
    let _ending = app.run_on_main_thread(move || {
        front::remember_now(&ending);
        ending.exit(0);
    });
}

fn is_quitting(app: &AppHandle) -> bool {
    app.state::<AppState>().quitting.load(Ordering::Relaxed)
}

#[expect(clippy::print_stdout, reason = "asked for by a person at a terminal")]
fn told(words: &str) -> ExitCode {
    println!("{words}");
    ExitCode::SUCCESS
}

fn failed(why: &str) -> ExitCode {
    print_line(why);
    ExitCode::FAILURE
}
