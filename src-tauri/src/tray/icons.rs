//! The icons of the five states. One set for light and dark panels alike: which of them a desktop has cannot be asked.

use callgate_desk::view::IconState;
use tauri::image::Image;

/// For ordinary panels, for those that are a little higher, and for fine screens.
type Sizes = [&'static [u8]; 3];

macro_rules! drawn {
    ($state:literal, $shade:literal) => {
        [
            include_bytes!(concat!("../../../icons/tray/", $state, "-", $shade, "-22.png")),
            include_bytes!(concat!("../../../icons/tray/", $state, "-", $shade, "-24.png")),
            include_bytes!(concat!("../../../icons/tray/", $state, "-", $shade, "-44.png")),
        ]
    };
    ($state:literal) => {
        // macOS colours the bare shape itself.
        if cfg!(target_os = "macos") { drawn!($state, "template") } else { drawn!($state, "panel") }
    };
}

fn sizes(state: IconState) -> Sizes {
    match state {
        IconState::Quiet => drawn!("quiet"),
        IconState::BlockedLately => drawn!("blocked"),
        IconState::NeedsYou => drawn!("needs-you"),
        IconState::Paused => drawn!("paused"),
        IconState::NotProtecting => drawn!("not-protecting"),
    }
}

/// The small one first.
pub(super) fn icons(state: IconState) -> tauri::Result<Vec<Image<'static>>> {
    sizes(state).into_iter().map(Image::from_bytes).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    const STATES: [IconState; 5] = [
        IconState::Quiet,
        IconState::BlockedLately,
        IconState::NeedsYou,
        IconState::Paused,
        IconState::NotProtecting,
    ];

    /// How bright a point looks, from 0 to 1 (sRGB to linear light).
    fn luminance(rgb: &[u8]) -> f64 {
        let linear = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.04 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2])
    }

    fn contrast(one: f64, other: f64) -> f64 {
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn every_state_is_seen_on_light_and_on_dark_panels() {
        for state in STATES {
            for icon in icons(state).unwrap() {
                let size = icon.width();
                assert!(size >= 22 && size == icon.height(), "{state:?}");
                for (panel, name) in [([0xf5, 0xf4, 0xf3], "light"), ([0x2b, 0x2b, 0x2b], "dark")] {
                    let panel = luminance(&panel);
                    // What is opaque and stands out: the least that graphics need by the web's own rule is 3.
                    let seen = icon
                        .rgba()
                        .chunks_exact(4)
                        .filter(|point| point[3] > 250 && contrast(luminance(point), panel) >= 3.0);
                    let (seen, all) = (seen.count(), usize::try_from(size * size).unwrap());
                    assert!(seen * 8 > all, "{state:?} on a {name} panel: {seen} of {all} points");
                }
            }
        }
    }

    #[test]
    fn every_state_has_a_shape_of_its_own_not_only_a_colour() {
        for (number, state) in STATES.iter().enumerate() {
            for other in &STATES[..number] {
                for (one, another) in icons(*state).unwrap().iter().zip(icons(*other).unwrap()) {
                    // In greys: painted, empty, or white.
                    let shape = |icon: &Image<'_>| -> Vec<u8> {
                        let grey = |point: &[u8]| match (point[3] > 128, luminance(point) > 0.6) {
                            (false, _) => 0,
                            (true, false) => 1,
                            (true, true) => 2,
                        };
                        icon.rgba().chunks_exact(4).map(grey).collect()
                    };
                    let (one, another) = (shape(one), shape(&another));
                    let differ = one.iter().zip(&another).filter(|(a, b)| a != b).count();
                    assert!(differ * 20 > one.len(), "{state:?} and {other:?}: {differ} points");
                }
            }
        }
    }
}
