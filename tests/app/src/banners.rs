//! The other side of GNOME's settings: what `gsettings` answers, and who says that a setting was changed.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use zbus::blocking::{Connection, connection};

const FOLDER: &str = "settings-of-gnome";

/// The folder in which programs are looked for first.
pub fn programs(bench: &Path) -> PathBuf {
    bench.join(FOLDER)
}

#[derive(Debug)]
pub struct Banners {
    connection: Connection,
    value: PathBuf,
}

impl Banners {
    pub fn start(bus: &str, bench: &Path) -> anyhow::Result<Banners> {
        let folder = programs(bench);
        std::fs::create_dir_all(&folder)?;
        let (program, value) = (folder.join("gsettings"), folder.join("show-banners"));
        let banners = Banners { connection: connection::Builder::address(bus)?.build()?, value };
        banners.write(true)?;
        let asked = "get org.gnome.desktop.notifications show-banners";
        let script =
            format!("#!/bin/sh\n[ \"$*\" = \"{asked}\" ] || exit 1\ncat '{}'\n", banners.value.display());
        std::fs::write(&program, script)?;
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
        Ok(banners)
    }

    fn write(&self, shown: bool) -> anyhow::Result<()> {
        let draft = self.value.with_extension("draft");
        std::fs::write(&draft, format!("{shown}\n"))?;
        Ok(std::fs::rename(draft, &self.value)?)
    }

    pub fn show(&self, shown: bool) -> anyhow::Result<()> {
        self.write(shown)?;
        let (path, interface) = ("/ca/desrt/dconf/Writer/user", "ca.desrt.dconf.Writer");
        let body = ("/org/gnome/desktop/notifications/show-banners", vec![""], "tag");
        Ok(self.connection.emit_signal(None::<&str>, path, interface, "Notify", &body)?)
    }
}
