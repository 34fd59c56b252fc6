//! A desktop that nobody sees: a display and a session bus, both gone with the test.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use x11rb::CURRENT_TIME;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ClientMessageEvent, ConnectionExt as _,
    CreateWindowAux, EventMask, ImageFormat, InputFocus, MOTION_NOTIFY_EVENT, MapState, Window, WindowClass,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::wrapper::ConnectionExt as _;

/// Ends with its value.
#[derive(Debug)]
pub struct Owned(pub Child);

impl Drop for Owned {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _fetched = self.0.wait();
    }
}

#[derive(Debug)]
pub struct Desktop {
    /// The bus goes first: nothing on it may complain about a lost display.
    _bus: Option<Owned>,
    _display: Owned,
    pub display: String,
    /// Where the bus listens; none for a desktop without one.
    pub bus: Option<String>,
    folder: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bus {
    Private,
    None,
}

impl Desktop {
    /// Everything that it needs lies in `folder`.
    pub fn start(folder: &Path, bus: Bus) -> anyhow::Result<Desktop> {
        for name in ["person", "settings", "runtime", "bus"] {
            let path = folder.join(name);
            fs::create_dir_all(&path)?;
            fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        }
        let (display_process, display) = display()?;
        let (bus_process, bus) = match bus {
            Bus::Private => session_bus(folder).map(|(process, address)| (Some(process), Some(address)))?,
            Bus::None => (None, None),
        };
        Ok(Desktop { _bus: bus_process, _display: display_process, display, bus, folder: folder.to_owned() })
    }

    /// The home folder of the person at this desktop.
    pub fn person(&self) -> PathBuf {
        self.folder.join("person")
    }

    /// Where that person's settings are; not where they are if nobody said so.
    pub fn settings(&self) -> PathBuf {
        self.folder.join("settings")
    }

    /// What the app and its driver write to their error output.
    pub fn said(&self) -> PathBuf {
        self.folder.join("said")
    }

    /// Puts a program on this desktop and on no other.
    pub fn host(&self, command: &mut Command) {
        let person = self.person();
        command
            .env("DISPLAY", &self.display)
            .env("HOME", &person)
            .env("XDG_CONFIG_HOME", self.settings())
            .env("XDG_CACHE_HOME", person.join(".cache"))
            .env("XDG_DATA_HOME", person.join(".local/share"))
            .env("XDG_RUNTIME_DIR", self.folder.join("runtime"))
            .env("GDK_BACKEND", "x11")
            // The bus for screen readers is another program that would have to be ended.
            .env("NO_AT_BRIDGE", "1")
            .env("GTK_A11Y", "none")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("XDG_CURRENT_DESKTOP");
        match &self.bus {
            Some(address) => command.env("DBUS_SESSION_BUS_ADDRESS", address),
            // An address that leads nowhere: without any, one in the runtime folder might be found.
            None => command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus"),
        };
    }

    /// The window with this title, if it is on the screen.
    pub fn window(&self, title: &str) -> anyhow::Result<Option<Window>> {
        let (connection, screen) = x11rb::connect(Some(&self.display))?;
        let root = connection.setup().roots.get(screen).context("a display without a screen")?.root;
        for window in connection.query_tree(root)?.reply()?.children {
            let name = connection.get_property(false, window, AtomEnum::WM_NAME, AtomEnum::ANY, 0, 256)?;
            let on_screen =
                connection.get_window_attributes(window)?.reply()?.map_state == MapState::VIEWABLE;
            // Toolkits keep tiny windows of their own, of the same name.
            let is_real = connection.get_geometry(window)?.reply()?.width > 100;
            if on_screen && is_real && name.reply()?.value == title.as_bytes() {
                return Ok(Some(window));
            }
        }
        Ok(None)
    }

    /// What was copied last, as text; none if nobody has anything or its owner does not answer at once.
    pub fn clipboard(&self) -> anyhow::Result<Option<String>> {
        let (connection, screen) = x11rb::connect(Some(&self.display))?;
        let root = connection.setup().roots.get(screen).context("a display without a screen")?.root;
        let window = connection.generate_id()?;
        let plain = CreateWindowAux::new();
        connection.create_window(0, window, root, 0, 0, 1, 1, 0, WindowClass::INPUT_ONLY, 0, &plain)?;
        let atom = |name: &str| anyhow::Ok(connection.intern_atom(false, name.as_bytes())?.reply()?.atom);
        let (clipboard, text, here) = (atom("CLIPBOARD")?, atom("UTF8_STRING")?, atom("CALLGATE_TEST")?);
        connection.convert_selection(window, clipboard, text, here, CURRENT_TIME)?;
        connection.flush()?;
        let deadline = Instant::now() + Duration::from_secs(2);
        let answered = loop {
            match connection.poll_for_event()? {
                Some(Event::SelectionNotify(answer)) => break answer.property == here,
                Some(_) => {}
                None if Instant::now() >= deadline => break false,
                None => std::thread::park_timeout(Duration::from_millis(5)),
            }
        };
        if !answered {
            return Ok(None);
        }
        let value = connection.get_property(true, window, here, AtomEnum::ANY, 0, 1 << 20)?.reply()?.value;
        Ok(Some(String::from_utf8(value)?))
    }

    /// Takes the keyboard away from every window, as a person does who turns to another one.
    pub fn look_elsewhere(&self) -> anyhow::Result<()> {
        let (connection, screen) = x11rb::connect(Some(&self.display))?;
        let root = connection.setup().roots.get(screen).context("a display without a screen")?.root;
        connection.set_input_focus(InputFocus::NONE, root, CURRENT_TIME)?;
        Ok(connection.sync()?)
    }

    /// Who gets what is typed.
    pub fn keyboard(&self) -> anyhow::Result<Window> {
        let (connection, _) = x11rb::connect(Some(&self.display))?;
        Ok(connection.get_input_focus()?.reply()?.focus)
    }

    /// What a part of a window looks like now.
    pub fn pixels(&self, window: Window, at: (i16, i16), size: (u16, u16)) -> anyhow::Result<Vec<u8>> {
        let (connection, _) = x11rb::connect(Some(&self.display))?;
        let image = connection.get_image(ImageFormat::Z_PIXMAP, window, at.0, at.1, size.0, size.1, !0)?;
        Ok(image.reply()?.data)
    }

    /// Turns the mouse wheel down by so many notches, with the pointer at this place of a window.
    pub fn wheel_down(&self, window: Window, at: (i16, i16), notches: u32) -> anyhow::Result<()> {
        const DOWN: u8 = 5;
        let (connection, screen) = x11rb::connect(Some(&self.display))?;
        let root = connection.setup().roots.get(screen).context("a display without a screen")?.root;
        let there = connection.translate_coordinates(window, root, at.0, at.1)?.reply()?;
        connection.xtest_fake_input(MOTION_NOTIFY_EVENT, 0, 0, root, there.dst_x, there.dst_y, 0)?;
        for _ in 0..notches {
            connection.xtest_fake_input(BUTTON_PRESS_EVENT, DOWN, 0, root, 0, 0, 0)?;
            connection.xtest_fake_input(BUTTON_RELEASE_EVENT, DOWN, 0, root, 0, 0, 0)?;
        }
        Ok(connection.sync()?)
    }

    /// Asks a window to close, as a click on its cross does.
    pub fn close(&self, window: Window) -> anyhow::Result<()> {
        let (connection, _) = x11rb::connect(Some(&self.display))?;
        let protocols = connection.intern_atom(false, b"WM_PROTOCOLS")?.reply()?.atom;
        let delete = connection.intern_atom(false, b"WM_DELETE_WINDOW")?.reply()?.atom;
        let message = ClientMessageEvent::new(32, window, protocols, [delete, 0, 0, 0, 0]);
        connection.send_event(false, window, EventMask::NO_EVENT, message)?;
        Ok(connection.sync()?)
    }
}

/// Xvfb chooses a free number itself and says which.
fn display() -> anyhow::Result<(Owned, String)> {
    let mut command = Command::new("Xvfb");
    // Without a reset when the last one goes: who comes at that moment would be turned away.
    command.args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = Owned(command.spawn().context("there is no virtual display: install xvfb")?);
    let line = first_line(&mut process.0).context("Xvfb did not say which display it made")?;
    Ok((process, format!(":{line}")))
}

/// A bus that starts nothing by itself.
fn session_bus(folder: &Path) -> anyhow::Result<(Owned, String)> {
    let sockets = folder.join("bus");
    let settings = folder.join("bus.conf");
    let text = format!(
        r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:tmpdir={}</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>"#,
        sockets.display()
    );
    fs::write(&settings, text)?;
    let mut command = Command::new("dbus-daemon");
    command.arg(format!("--config-file={}", settings.display())).args(["--nofork", "--print-address=1"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = Owned(command.spawn().context("there is no session bus: install dbus")?);
    let address = first_line(&mut process.0).context("dbus-daemon did not say where it listens")?;
    Ok((process, address))
}

fn first_line(process: &mut Child) -> anyhow::Result<String> {
    let mut line = String::new();
    BufReader::new(process.stdout.take().context("no output")?).read_line(&mut line)?;
    anyhow::ensure!(!line.trim().is_empty(), "it ended at once");
    Ok(line.trim().to_owned())
}
