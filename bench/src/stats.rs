//! The few figures that are made of many: percentiles and medians.

use std::time::Duration;

/// Durations of one measure, sorted.
#[derive(Clone, Debug)]
pub struct Sample {
    sorted: Vec<Duration>,
}

impl Sample {
    /// # Panics
    /// When nothing was measured.
    pub fn new(mut durations: Vec<Duration>) -> Sample {
        assert!(!durations.is_empty(), "a sample needs at least one duration");
        durations.sort_unstable();
        Sample { sorted: durations }
    }

    /// The smallest duration that `percent` of the sample do not exceed.
    pub fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.sorted.len() * percent).div_ceil(100).max(1);
        self.sorted[rank - 1]
    }

    pub fn max(&self) -> Duration {
        self.sorted[self.sorted.len() - 1]
    }
}

/// The middle of some figures; `None` of none.
pub fn median(figures: &[f64]) -> Option<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// Between which figures the middle half of them lies: how far a median can be trusted.
pub fn middle_half(figures: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = figures.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let skip = sorted.len() / 4;
    (sorted.len() > 1).then(|| (sorted[skip], sorted[sorted.len() - 1 - skip]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let sample = Sample::new((1..=200).rev().map(Duration::from_micros).collect());
        assert_eq!(sample.percentile(50), Duration::from_micros(100));
        assert_eq!(sample.percentile(99), Duration::from_micros(198));
        assert_eq!(sample.max(), Duration::from_micros(200));
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[5.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn the_middle_half_leaves_the_extremes_out() {
        assert_eq!(middle_half(&[9.0, 1.0, 3.0, 4.0, 2.0]), Some((2.0, 4.0)));
        assert_eq!(middle_half(&[1.0]), None);
    }
}
