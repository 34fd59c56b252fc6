//! Where the window was: kept in the home, and used only if somebody could still see it there.

use std::path::PathBuf;

use callgate_home::{Home, atomic};
use serde::{Deserialize, Serialize};

pub(super) const WIDTH: f64 = 980.0;
pub(super) const HEIGHT: f64 = 640.0;
pub(super) const MIN_WIDTH: f64 = 720.0;
pub(super) const MIN_HEIGHT: f64 = 480.0;
/// So much of the title bar has to be on a screen for the window to be found and moved.
const GRIP: f64 = 80.0;

/// As it was left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct WindowPlacement {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    pub maximized: bool,
    /// The person was told that a closed window is not the end of the app.
    #[serde(default)]
    pub told_of_tray: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Screen {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// Where to put it. Without a place the desktop chooses.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame {
    pub at: Option<(f64, f64)>,
    pub width: f64,
    pub height: f64,
    pub maximized: bool,
}

impl WindowPlacement {
    /// On the screens that there are now; none if what was kept makes no sense.
    pub(super) fn on(&self, screens: &[Screen]) -> Option<Frame> {
        let numbers = [self.x, self.y, self.width, self.height];
        if !numbers.iter().all(|number| number.is_finite() && number.abs() < 100_000.0) {
            return None;
        }
        let grip = screens.iter().find(|screen| {
            let across = self.x + self.width > screen.x + GRIP && self.x < screen.x + screen.width - GRIP;
            across && self.y >= screen.y - 1.0 && self.y < screen.y + screen.height - GRIP
        });
        let room = grip.or(screens.first());
        let within =
            |wanted: f64, least: f64, room: Option<f64>| wanted.min(room.unwrap_or(wanted)).max(least);
        Some(Frame {
            at: grip.map(|_| (self.x, self.y)),
            width: within(self.width, MIN_WIDTH, room.map(|screen| screen.width)),
            height: within(self.height, MIN_HEIGHT, room.map(|screen| screen.height)),
            maximized: self.maximized,
        })
    }
}

fn path(home: &Home) -> PathBuf {
    home.control_dir().join("window.json")
}

pub(super) fn read(home: &Home) -> Option<WindowPlacement> {
    serde_json::from_str(&callgate_home::read_private(&path(home)).ok()?).ok()
}

/// Not worth a word if it fails: the next window is where the desktop puts it.
pub(super) fn write(home: &Home, kept: &WindowPlacement) {
    let _lost = atomic::replace(&path(home), &serde_json::to_vec(kept).unwrap_or_default());
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    const SCREEN: Screen = Screen { x: 0.0, y: 0.0, width: 1920.0, height: 1080.0 };

    fn kept(x: f64, y: f64, width: f64, height: f64) -> WindowPlacement {
        WindowPlacement { x, y, width, height, maximized: false, told_of_tray: false }
    }

    #[test]
    fn the_window_comes_back_where_it_was_if_it_can_be_seen_there() {
        let second = Screen { x: 1920.0, ..SCREEN };
        let cases = [
            (kept(100.0, 50.0, 980.0, 640.0), Some((100.0, 50.0)), "in the middle"),
            (kept(2000.0, 50.0, 980.0, 640.0), Some((2000.0, 50.0)), "on the second screen"),
            (kept(-900.0, 50.0, 980.0, 640.0), None, "only an edge is left"),
            (kept(100.0, -500.0, 980.0, 640.0), None, "the title bar is above the screen"),
            (kept(9000.0, 50.0, 980.0, 640.0), None, "a screen that is gone"),
        ];
        for (kept, at, why) in cases {
            assert_eq!(kept.on(&[SCREEN, second]).unwrap().at, at, "{why}");
        }
    }

    #[test]
    fn its_size_fits_the_screen_and_is_never_too_small() {
        let frame = kept(0.0, 0.0, 4000.0, 10.0).on(&[SCREEN]).unwrap();
        assert_eq!((frame.width, frame.height), (1920.0, MIN_HEIGHT));
        assert_eq!(kept(0.0, 0.0, f64::NAN, 10.0).on(&[SCREEN]), None);
        assert_eq!(kept(0.0, 0.0, 800.0, 600.0).on(&[]).unwrap().at, None, "no screen is known");
    }

    #[test]
    fn what_was_kept_is_read_back_and_rubbish_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        callgate_controls::prepare_home(&home).unwrap();
        assert_eq!(read(&home), None);
        let there = kept(1.5, 2.0, 800.0, 600.0);
        write(&home, &there);
        assert_eq!(read(&home), Some(there));
        atomic::replace(&path(&home), b"{\"x\":1}").unwrap();
        assert_eq!(read(&home), None);
    }
}
