//! What the window follows: the log as it grows, at most one batch a frame, and what servers take.

use std::time::Duration;

use callgate_desk::Follower;
use callgate_desk::sampling::Sampler;
use callgate_desk::view::{LogBatch, Usage};
use tauri::ipc::Channel;
use tauri::{AppHandle, Manager as _};

use crate::say::say;
use crate::state::AppState;

const FRAME: Duration = Duration::from_millis(33);
/// Nobody sees it: only look whether somebody does again.
const HIDDEN: Duration = Duration::from_millis(200);
/// Two looks so far apart tell what share of a core a server takes.
const SAMPLE: Duration = Duration::from_secs(2);
/// After an error, so that a history that cannot be read is not hammered.
const TROUBLE: Duration = Duration::from_secs(2);

/// Sends what is new until a newer follower or the end of the window.
pub(crate) fn follow(
    app: &AppHandle,
    mut follower: Follower,
    batches: Channel<LogBatch>,
    ended: impl Fn() -> bool + Send + 'static,
) {
    let app = app.clone();
    std::thread::spawn(move || {
        while !ended() {
            if !app.state::<AppState>().front.is_visible() {
                std::thread::park_timeout(HIDDEN);
                continue;
            }
            if let Some(batch) = follower.tell() {
                if let Some(problem) = &batch.problem {
                    say(problem);
                }
                if batches.send(batch).is_err() {
                    return;
                }
            }
            std::thread::park_timeout(if follower.is_troubled() { TROUBLE } else { FRAME });
        }
    });
}

/// Sends what each running session takes until a newer question or the end of the window.
pub(crate) fn sample(
    app: &AppHandle,
    mut sampler: Sampler,
    usages: Channel<Vec<Usage>>,
    ended: impl Fn() -> bool + Send + 'static,
) {
    let app = app.clone();
    std::thread::spawn(move || {
        while !ended() {
            let state = app.state::<AppState>();
            if !state.front.is_visible() {
                std::thread::park_timeout(HIDDEN);
                continue;
            }
            let running = callgate_store::running(state.desk.home());
            if usages.send(sampler.sample(&running, state.clock.now().wall_ms)).is_err() {
                return;
            }
            std::thread::park_timeout(SAMPLE);
        }
    });
}
