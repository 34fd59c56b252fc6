//! The first second of a window, as it is on the screen: no driver, which would only see what is there in the end.

use std::collections::BTreeSet;
use std::time::Instant;

use callgate_app_tests::app::Undriven;
use callgate_app_tests::driver::PATIENCE;
use callgate_tests::gate::{Bench, OPEN_POLICY};

/// A corner of the page with writing on it: small, so that there are many pictures.
const SIZE: (u16, u16) = (360, 240);

/// Chosen dark on a desktop that is light: neither the toolkit's ground nor the page's own may be seen first.
#[test]
fn a_dark_window_does_not_flash_white_before_its_first_picture() -> anyhow::Result<()> {
    let bench = Bench::new(OPEN_POLICY)?;
    std::fs::write(bench.home().join("settings.json"), r#"{ "app": { "theme": "dark" } }"#)?;
    let app = Undriven::start(bench, &["--open", "settings"])?;
    let deadline = Instant::now() + PATIENCE;
    let mut pictures = 0;
    while Instant::now() < deadline {
        // Not there yet.
        let Ok(Some(window)) = app.desktop.window("Callgate") else { continue };
        let Ok(picture) = app.desktop.pixels(window, (0, 0), SIZE) else { continue };
        pictures += 1;
        let light = picture.chunks_exact(4).filter(|pixel| pixel[..3].iter().all(|one| *one > 0xb0)).count();
        let share = light * 4 * 100 / picture.len();
        anyhow::ensure!(share < 30, "{share} % of picture {pictures} are light");
        let colours: BTreeSet<&[u8]> = picture.chunks_exact(4).collect();
        // There is writing on it: the page is drawn.
        if colours.len() > 40 {
            return Ok(());
        }
    }
    anyhow::bail!("the page was not drawn within {PATIENCE:?}")
}
