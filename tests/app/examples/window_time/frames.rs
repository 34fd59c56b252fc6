//! Frames of the page: how far apart they come.

use std::time::Duration;

use anyhow::{Context as _, Result};
use callgate_app_tests::driver::Driver;
use callgate_bench::stats::Sample;

const WATCH: &str = r"
  const watch = { gaps: [], last: performance.now(), on: true };
  const frame = () => {
    const now = performance.now();
    watch.gaps.push(now - watch.last);
    watch.last = now;
    if (watch.on) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  window.framesWatched = watch;
  return 0";

const STOP: &str = "window.framesWatched.on = false; return window.framesWatched.gaps";

/// The gaps between frames while something goes on.
pub(crate) struct Frames {
    gaps: Sample,
    slow: f64,
}

impl Frames {
    pub(crate) fn watch<T>(driver: &Driver, meanwhile: impl FnOnce() -> Result<T>) -> Result<(Frames, T)> {
        driver.script(WATCH, &[])?;
        let done = meanwhile()?;
        let gaps = driver.script(STOP, &[])?;
        let gaps: Vec<f64> =
            gaps.as_array().context("no frames")?.iter().filter_map(|gap| gap.as_f64()).collect();
        anyhow::ensure!(gaps.len() > 10, "the page drew only {} frames", gaps.len());
        let slow = gaps.iter().filter(|gap| **gap > 34.0).count() as f64 / gaps.len() as f64 * 100.0;
        let gaps = Sample::new(gaps.into_iter().map(|gap| Duration::from_secs_f64(gap / 1e3)).collect());
        Ok((Frames { gaps, slow }, done))
    }

    pub(crate) fn p99(&self) -> f64 {
        millis(self.gaps.percentile(99))
    }

    pub(crate) fn p50(&self) -> f64 {
        millis(self.gaps.percentile(50))
    }

    pub(crate) fn worst(&self) -> f64 {
        millis(self.gaps.max())
    }

    /// Percent of the frames that came later than two frames of a usual screen.
    pub(crate) fn slow(&self) -> f64 {
        self.slow
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
