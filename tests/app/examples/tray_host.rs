//! A host of tray icons on the session bus, until its input ends: for pictures of the app as it is on a common desktop.

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<()> {
    use std::io::Read as _;

    use anyhow::Context as _;
    use callgate_app_tests::tray::Host;

    let bus = std::env::var("DBUS_SESSION_BUS_ADDRESS").context("DBUS_SESSION_BUS_ADDRESS is not set")?;
    let _host = Host::start(&bus)?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {}
