//! Whether anybody can be asked on this desktop, as it tells on the session bus: the screen is not locked, and the person has not
//! said that they are not to be disturbed.

mod banners;

use std::collections::BTreeSet;

use zbus::blocking::fdo::DBusProxy;
use zbus::blocking::{Connection, MessageIterator, Proxy};
use zbus::message::Type;
use zbus::proxy::MethodFlags;
use zbus::zvariant::OwnedValue;
use zbus::{MatchRule, Message};

/// Each is a name on the bus and an interface; the same with `/` is its path.
const SCREEN_SAVERS: [&str; 4] = [
    "org.freedesktop.ScreenSaver",
    "org.gnome.ScreenSaver",
    "org.cinnamon.ScreenSaver",
    "org.mate.ScreenSaver",
];
/// Who shows notifications; where that is KDE, its property says that none are to be shown.
const NOTIFICATIONS: &str = "org.freedesktop.Notifications";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// Why nobody is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Away {
    Locked(&'static str),
    Inhibited,
    NoBanners,
}

/// Without a bus nobody tells.
pub(super) fn follow(changed: impl Fn(bool)) {
    if let Err(error) = follow_on_bus(changed) {
        tracing::info!(%error, "the lock of the screen and do-not-disturb are not followed");
    }
}

fn follow_on_bus(changed: impl Fn(bool)) -> zbus::Result<()> {
    let bus = Connection::session()?;
    let signals = MessageIterator::from(&bus);
    let dbus = DBusProxy::new(&bus)?;
    for rule in rules()? {
        dbus.add_match_rule(rule)?;
    }
    // Asked when signals come already: nothing is missed in between.
    let mut away: BTreeSet<Away> = SCREEN_SAVERS
        .into_iter()
        .filter(|saver| is_active(&bus, saver) == Ok(true))
        .map(Away::Locked)
        .chain(is_inhibited(&bus).then_some(Away::Inhibited))
        .chain(banners::are_off().then_some(Away::NoBanners))
        .collect();
    changed(!away.is_empty());
    for signal in signals {
        let Some((why, holds)) = signal.ok().as_ref().and_then(|signal| told(&bus, signal)) else { continue };
        match holds {
            true => away.insert(why),
            false => away.remove(&why),
        };
        changed(!away.is_empty());
    }
    Ok(())
}

fn rules() -> zbus::Result<[MatchRule<'static>; 4]> {
    let signal = || MatchRule::builder().msg_type(Type::Signal);
    Ok([
        signal().member("ActiveChanged")?.build(),
        signal().interface(PROPERTIES)?.member("PropertiesChanged")?.arg(0, NOTIFICATIONS)?.build(),
        // Another program shows notifications from now on, or none.
        signal()
            .interface("org.freedesktop.DBus")?
            .member("NameOwnerChanged")?
            .arg(0, NOTIFICATIONS)?
            .build(),
        signal().interface(banners::CHANGED.0)?.member(banners::CHANGED.1)?.build(),
    ])
}

/// What a signal says, if it is one of those that were asked for.
fn told(bus: &Connection, signal: &Message) -> Option<(Away, bool)> {
    let header = signal.header();
    if header.message_type() != Type::Signal {
        return None;
    }
    let (interface, member) = (header.interface()?.as_str(), header.member()?.as_str());
    match (interface, member) {
        (_, "ActiveChanged") => {
            let saver = SCREEN_SAVERS.into_iter().find(|saver| *saver == interface)?;
            Some((Away::Locked(saver), signal.body().deserialize().ok()?))
        }
        (PROPERTIES, "PropertiesChanged") | ("org.freedesktop.DBus", "NameOwnerChanged") => {
            Some((Away::Inhibited, is_inhibited(bus)))
        }
        changed if changed == banners::CHANGED => {
            banners::is_about(signal).then(|| (Away::NoBanners, banners::are_off()))
        }
        _ => None,
    }
}

/// Of one that runs: none is started for this.
fn is_active(bus: &Connection, saver: &str) -> zbus::Result<bool> {
    let path = format!("/{}", saver.replace('.', "/"));
    let proxy = Proxy::new(bus, saver, path, saver)?;
    let answer = proxy.call_with_flags("GetActive", MethodFlags::NoAutoStart.into(), &())?;
    answer.ok_or(zbus::Error::Unsupported)
}

/// Where there is no such property, nobody has said so.
fn is_inhibited(bus: &Connection) -> bool {
    let ask = || {
        let proxy = Proxy::new(bus, NOTIFICATIONS, "/org/freedesktop/Notifications", PROPERTIES)?;
        let which = (NOTIFICATIONS, "Inhibited");
        let answer: Option<OwnedValue> =
            proxy.call_with_flags("Get", MethodFlags::NoAutoStart.into(), &which)?;
        answer.ok_or(zbus::Error::Unsupported)
    };
    ask().is_ok_and(|value| bool::try_from(value) == Ok(true))
}
