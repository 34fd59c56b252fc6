//! The lock of the screen, as the desktop's screen saver tells it on the session bus.

use std::collections::BTreeSet;

use zbus::blocking::{Connection, MessageIterator, Proxy};
use zbus::message::Type;
use zbus::proxy::MethodFlags;
use zbus::{MatchRule, Message};

/// Each is a name on the bus and an interface; the same with `/` is its path.
const SCREEN_SAVERS: [&str; 4] = [
    "org.freedesktop.ScreenSaver",
    "org.gnome.ScreenSaver",
    "org.cinnamon.ScreenSaver",
    "org.mate.ScreenSaver",
];

/// Without a bus nobody tells.
pub(super) fn follow(changed: impl Fn(bool)) {
    if let Err(error) = follow_on_bus(changed) {
        tracing::info!(%error, "the lock of the screen is not followed");
    }
}

fn follow_on_bus(changed: impl Fn(bool)) -> zbus::Result<()> {
    let bus = Connection::session()?;
    let rule = MatchRule::builder().msg_type(Type::Signal).member("ActiveChanged")?.build();
    let signals = MessageIterator::for_match_rule(rule, &bus, None)?;
    // Asked when signals come already: nothing is missed in between.
    let mut active: BTreeSet<&str> =
        SCREEN_SAVERS.into_iter().filter(|saver| is_active(&bus, saver) == Ok(true)).collect();
    changed(!active.is_empty());
    for signal in signals {
        let Some((saver, is_active)) = signal.ok().as_ref().and_then(told) else { continue };
        match is_active {
            true => active.insert(saver),
            false => active.remove(saver),
        };
        changed(!active.is_empty());
    }
    Ok(())
}

/// Of one that runs: none is started for this.
fn is_active(bus: &Connection, saver: &str) -> zbus::Result<bool> {
    let path = format!("/{}", saver.replace('.', "/"));
    let proxy = Proxy::new(bus, saver, path, saver)?;
    let answer = proxy.call_with_flags("GetActive", MethodFlags::NoAutoStart.into(), &())?;
    answer.ok_or(zbus::Error::Unsupported)
}

fn told(signal: &Message) -> Option<(&'static str, bool)> {
    let header = signal.header();
    let interface = header.interface()?.as_str();
    let saver = SCREEN_SAVERS.into_iter().find(|saver| *saver == interface)?;
    Some((saver, signal.body().deserialize().ok()?))
}
