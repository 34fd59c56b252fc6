//! The budgets, what was measured against them, and the tables that show both.

use std::fmt::Write as _;

use crate::stats::{median, middle_half};

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Times the relay's figure of the same turn.
    TimesRelay,
    Bytes,
    Count,
    Megabytes,
    Milliseconds,
    Nanoseconds,
    Seconds,
    PerSecond,
    /// Times what was asked for.
    Times,
    /// Times the length of the line that caused it.
    TimesLine,
    Percent,
    PercentOfCore,
    /// Tries that went as they must, of all tries.
    Share,
}

#[derive(Clone, Copy, Debug)]
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    fn holds(self, figure: f64) -> bool {
        match self {
            Bound::AtMost(most) => figure <= most,
            Bound::AtLeast(least) => figure >= least,
        }
    }
}

/// A figure that has a name, and perhaps a budget to keep.
#[derive(Clone, Debug)]
pub struct Row {
    what: String,
    unit: Unit,
    budget: Option<Bound>,
    stretch: Option<Bound>,
    /// One figure a turn.
    figures: Vec<f64>,
}

impl Row {
    pub fn new(what: &str, unit: Unit, figures: Vec<f64>) -> Row {
        Row { what: what.to_owned(), unit, budget: None, stretch: None, figures }
    }

    #[must_use]
    pub fn budget(self, bound: Bound) -> Row {
        Row { budget: Some(bound), ..self }
    }

    #[must_use]
    pub fn stretch(self, bound: Bound) -> Row {
        Row { stretch: Some(bound), ..self }
    }

    /// A budget on a share is a promise: one miss breaks it. Everything else is judged by its median.
    fn judged(&self) -> Option<f64> {
        match self.unit {
            Unit::Share => self.figures.iter().copied().reduce(f64::min),
            _ => median(&self.figures),
        }
    }

    pub fn is_measured(&self) -> bool {
        !self.figures.is_empty()
    }

    pub fn is_over(&self) -> bool {
        self.budget.is_some_and(|bound| self.judged().is_none_or(|figure| !bound.holds(figure)))
    }

    fn verdict(&self) -> &'static str {
        match (self.budget, self.judged()) {
            (None, _) => "",
            (Some(_), None) => "NOT MEASURED",
            (Some(budget), Some(figure)) if !budget.holds(figure) => "OVER",
            (_, Some(figure)) if self.stretch.is_some_and(|stretch| stretch.holds(figure)) => {
                "ok, stretch met"
            }
            _ => "ok",
        }
    }

    fn cells(&self) -> [String; 6] {
        let show = |bound: Option<Bound>| bound.map_or_else(String::new, |bound| self.show_bound(bound));
        let spread = middle_half(&self.figures)
            .map_or_else(String::new, |(low, high)| format!("{} – {}", self.show(low), self.show(high)));
        let measured = self.judged().map_or_else(|| "–".to_owned(), |figure| self.show(figure));
        [
            self.what.clone(),
            show(self.budget),
            show(self.stretch),
            measured,
            spread,
            self.verdict().to_owned(),
        ]
    }

    fn show_bound(&self, bound: Bound) -> String {
        match bound {
            Bound::AtMost(figure) => format!("≤ {}", self.show(figure)),
            // All of them: there is nothing above.
            Bound::AtLeast(figure) if self.unit == Unit::Share => self.show(figure),
            Bound::AtLeast(figure) => format!("≥ {}", self.show(figure)),
        }
    }

    fn show(&self, figure: f64) -> String {
        match self.unit {
            Unit::TimesRelay | Unit::Times => format!("{figure:.2} ×"),
            Unit::Bytes => format!("{figure:.0} B"),
            Unit::Count => format!("{figure:.0}"),
            Unit::TimesLine => format!("{figure:.2} × line"),
            Unit::Megabytes => format!("{figure:.1} MB"),
            Unit::Milliseconds => format!("{figure:.1} ms"),
            Unit::Nanoseconds => format!("{figure:.0} ns"),
            Unit::Seconds => format!("{figure:.2} s"),
            Unit::PerSecond => format!("{figure:.0} /s"),
            Unit::Percent => format!("{figure:.1} %"),
            Unit::PercentOfCore => format!("{figure:.2} % of a core"),
            Unit::Share if figure >= 1.0 => "all".to_owned(),
            Unit::Share => format!("{:.1} %", figure * 100.0),
        }
    }
}

/// The rows as a Markdown table that reads well on a terminal too.
pub fn table(rows: &[Row]) -> String {
    let head = ["what", "budget", "stretch", "measured (median)", "middle half", ""];
    let mut lines = vec![head.map(str::to_owned)];
    lines.extend(rows.iter().map(Row::cells));
    markdown(&lines)
}

/// Lays a table out; its first line is the heading.
pub fn markdown<const N: usize>(lines: &[[String; N]]) -> String {
    let widths: [usize; N] = std::array::from_fn(|column| {
        lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0).max(3)
    });
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        for (cell, width) in line.iter().zip(widths) {
            let _ = write!(text, "| {cell:<width$} ");
        }
        text.push_str("|\n");
        if index == 0 {
            for width in widths {
                let _ = write!(text, "|{:-<1$}", "", width + 2);
            }
            text.push_str("|\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_judged_by_the_median_of_the_turns() {
        let row = Row::new("p50", Unit::TimesRelay, vec![1.1, 1.3, 9.0]).budget(Bound::AtMost(1.35));
        assert!(!row.is_over());
        assert_eq!(row.verdict(), "ok");
        assert_eq!(row.stretch(Bound::AtMost(1.3)).verdict(), "ok, stretch met");
    }

    #[test]
    fn one_broken_promise_is_over_whatever_the_other_tries_did() {
        let row = Row::new("refused", Unit::Share, vec![1.0, 1.0, 0.9]).budget(Bound::AtLeast(1.0));
        assert!(row.is_over());
    }

    #[test]
    fn a_budget_that_nothing_measured_is_not_met() {
        let row = Row::new("p50", Unit::TimesRelay, Vec::new()).budget(Bound::AtMost(1.35));
        assert!(row.is_over());
        assert_eq!(row.verdict(), "NOT MEASURED");
    }
}
