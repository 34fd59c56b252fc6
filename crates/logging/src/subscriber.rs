//! The `tracing` subscriber: events of our own crates become lines. Spans have no part in it.

use std::sync::Arc;

use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};

use crate::line::LogEvent;
use crate::writer::Writer;

pub(crate) struct LineSubscriber {
    level: LevelFilter,
    writer: Arc<Writer>,
}

impl LineSubscriber {
    pub(crate) fn new(level: LevelFilter, writer: Arc<Writer>) -> LineSubscriber {
        LineSubscriber { level, writer }
    }
}

impl Subscriber for LineSubscriber {
    /// Libraries have their own ideas of what is worth a line, and no idea of what is a secret here.
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= self.level && metadata.target().starts_with("callgate")
    }

    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event(&self, event: &Event<'_>) {
        self.writer.write_soon(LogEvent::from_event(event));
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}
