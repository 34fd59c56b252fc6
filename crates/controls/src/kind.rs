//! The kinds of counters, as words.

use callgate_home::vocabulary;

vocabulary! {
    /// What a counter counts.
    CounterKind {
        Calls = "calls",
        /// Calls under way at once.
        Concurrent = "concurrent",
        /// Calls ever.
        Total = "total",
        /// An amount from the arguments.
        Sum = "sum",
    }
}

impl CounterKind {
    pub fn of(limit: &callgate_policy::Limit) -> CounterKind {
        use callgate_policy::Kind;
        match limit.kind {
            Kind::Calls(_) => CounterKind::Calls,
            Kind::Concurrent => CounterKind::Concurrent,
            Kind::Total => CounterKind::Total,
            Kind::Sum { .. } => CounterKind::Sum,
        }
    }
}
