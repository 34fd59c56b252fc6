//! The four icons, each for light and for dark panels.

use callgate_desk::view::IconState;
use tauri::image::Image;

/// For ordinary screens and for fine ones.
type Sizes = [&'static [u8]; 2];

macro_rules! drawn {
    ($name:literal) => {
        [
            include_bytes!(concat!("../../../icons/tray/", $name, "-22.png")),
            include_bytes!(concat!("../../../icons/tray/", $name, ".png")),
        ]
    };
}

fn sizes(state: IconState, dark_panel: bool) -> Sizes {
    match (state, dark_panel) {
        (IconState::Quiet, false) => drawn!("quiet-light"),
        (IconState::Quiet, true) => drawn!("quiet-dark"),
        (IconState::BlockedLately, false) => drawn!("blocked-light"),
        (IconState::BlockedLately, true) => drawn!("blocked-dark"),
        (IconState::NeedsYou, false) => drawn!("needs-you-light"),
        (IconState::NeedsYou, true) => drawn!("needs-you-dark"),
        (IconState::NotProtecting, false) => drawn!("not-protecting-light"),
        (IconState::NotProtecting, true) => drawn!("not-protecting-dark"),
    }
}

/// The small one first.
pub(super) fn icons(state: IconState, dark_panel: bool) -> tauri::Result<Vec<Image<'static>>> {
    sizes(state, dark_panel).into_iter().map(Image::from_bytes).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_an_icon_of_its_own_on_either_panel() {
        let states =
            [IconState::Quiet, IconState::BlockedLately, IconState::NeedsYou, IconState::NotProtecting];
        let mut seen = Vec::new();
        for state in states {
            for dark in [false, true] {
                for icon in icons(state, dark).unwrap() {
                    assert!(icon.width() >= 22 && icon.width() == icon.height(), "{state:?}");
                    let pixels = icon.rgba().to_vec();
                    assert!(!seen.contains(&pixels), "{state:?} looks like another");
                    seen.push(pixels);
                }
            }
        }
    }
}
