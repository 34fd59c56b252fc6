//! The other side of the screen's lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zbus::blocking::{Connection, connection};

const PATH: &str = "/org/gnome/ScreenSaver";
const NAME: &str = "org.gnome.ScreenSaver";

#[derive(Debug)]
pub struct ScreenSaver {
    connection: Connection,
    active: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Server(Arc<AtomicBool>);

#[zbus::interface(name = "org.gnome.ScreenSaver")]
impl Server {
    fn get_active(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl ScreenSaver {
    pub fn start(bus: &str) -> anyhow::Result<ScreenSaver> {
        let active = Arc::new(AtomicBool::new(false));
        let server = Server(Arc::clone(&active));
        let connection = connection::Builder::address(bus)?.serve_at(PATH, server)?.name(NAME)?.build()?;
        Ok(ScreenSaver { connection, active })
    }

    pub fn lock(&self, locked: bool) -> anyhow::Result<()> {
        self.active.store(locked, Ordering::SeqCst);
        Ok(self.connection.emit_signal(None::<&str>, PATH, NAME, "ActiveChanged", &locked)?)
    }
}
