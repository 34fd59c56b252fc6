//! System packages: looks for what is needed, and installs what is missing where it may.

use std::process::Command;

use anyhow::{Result, bail};

use crate::shell::{self, command, works};

/// Something that the project needs from the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) what: &'static str,
    /// A command that succeeds when it is there.
    probe: (&'static str, &'static [&'static str]),
    /// What brings it on Debian and its kin.
    packages: &'static [&'static str],
}

pub(crate) const C_COMPILER: Need =
    Need { what: "a C compiler", probe: ("cc", &["--version"]), packages: &["gcc", "libc6-dev"] };
pub(crate) const CPP_COMPILER: Need =
    Need { what: "a C++ compiler", probe: ("c++", &["--version"]), packages: &["g++"] };
pub(crate) const NPM: Need =
    Need { what: "Node.js with npm", probe: ("npm", &["--version"]), packages: &["nodejs", "npm"] };
pub(crate) const PYTHON: Need = Need {
    what: "Python 3 with venv",
    probe: ("python3", &["-c", "import ensurepip, venv"]),
    packages: &["python3", "python3-venv"],
};
pub(crate) const WINDOWS_COMPILER: Need = Need {
    what: "a C compiler for Windows",
    probe: ("x86_64-w64-mingw32-gcc", &["--version"]),
    packages: &["gcc-mingw-w64-x86-64-win32"],
};

/// What the window is compiled against.
pub(crate) const WEBVIEW: Need = Need {
    what: "WebKitGTK with its headers",
    probe: ("pkg-config", &["--exists", "webkit2gtk-4.1", "gtk+-3.0"]),
    packages: &["libwebkit2gtk-4.1-dev", "pkg-config"],
};
pub(crate) const VIRTUAL_DISPLAY: Need = Need {
    what: "a display without a screen",
    probe: ("sh", &["-c", "command -v Xvfb && command -v xwininfo && command -v import"]),
    packages: &["xvfb", "x11-utils", "imagemagick"],
};
pub(crate) const SESSION_BUS: Need =
    Need { what: "a D-Bus of one's own", probe: ("dbus-daemon", &["--version"]), packages: &["dbus"] };
/// A real keychain for the tests of secrets.
pub(crate) const KEYRING: Need = Need {
    what: "GNOME Keyring",
    probe: (
        "sh",
        &["-c", "command -v gnome-keyring-daemon && command -v dbus-daemon && command -v dbus-send"],
    ),
    packages: &["gnome-keyring", "dbus"],
};
pub(crate) const WEBDRIVER: Need = Need {
    what: "a driver for the window",
    probe: ("sh", &["-c", "command -v WebKitWebDriver"]),
    packages: &["webkit2gtk-driver"],
};
/// Where `ui/e2e/browser.mjs` looks for it.
pub(crate) const CHROMIUM: Need = Need {
    what: "Chromium",
    probe: (
        "sh",
        &[
            "-c",
            "ls $CHROMIUM /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome 2>&- | grep -q .",
        ],
    ),
    packages: &["chromium"],
};
pub(crate) const FONTS: Need = Need {
    what: "a font",
    probe: ("sh", &["-c", "fc-list | grep -q ."]),
    packages: &["fontconfig", "fonts-dejavu-core"],
};
pub(crate) const SVG_RENDERER: Need =
    Need { what: "a renderer of SVG", probe: ("rsvg-convert", &["--version"]), packages: &["librsvg2-bin"] };

/// Sees to it that all of them are there.
pub(crate) fn ensure(needs: &[Need]) -> Result<()> {
    let missing: Vec<Need> = needs.iter().copied().filter(|need| !is_there(need)).collect();
    for need in needs.iter().filter(|need| is_there(need)) {
        println!("{} is here", need.what);
    }
    if missing.is_empty() {
        return Ok(());
    }
    let whats = missing.iter().map(|need| need.what).collect::<Vec<_>>().join(", ");
    let packages: Vec<&str> = missing.iter().flat_map(|need| need.packages).copied().collect();
    let by_hand = format!("install it by hand (Debian: apt-get install {})", packages.join(" "));
    println!("missing: {whats}");
    let Some(prefix) = may_install() else {
        bail!("{whats} missing, and packages cannot be installed from here: {by_hand}");
    };
    println!("installing system packages with apt: {}", packages.join(" "));
    apt(prefix, &["update", "--quiet"])?;
    let mut install = vec!["install", "--yes", "--quiet", "--no-install-recommends"];
    install.extend(&packages);
    apt(prefix, &install)?;
    match missing.iter().find(|need| !is_there(need)) {
        Some(need) => bail!("{} is still missing after the installation: {by_hand}", need.what),
        None => Ok(()),
    }
}

fn is_there(need: &Need) -> bool {
    works(need.probe.0, need.probe.1)
}

/// The words that go before `apt-get`; nothing where we may not install.
fn may_install() -> Option<&'static [&'static str]> {
    if !works("apt-get", &["--version"]) {
        None
    } else if works("sh", &["-c", "test \"$(id -u)\" = 0"]) {
        Some(&[])
    } else if works("sudo", &["--non-interactive", "true"]) {
        Some(&["sudo", "--non-interactive"])
    } else {
        None
    }
}

fn apt(prefix: &[&str], arguments: &[&str]) -> Result<()> {
    shell::run(apt_get(prefix, arguments))
}

/// `apt-get`, by root or with what goes before it.
pub(crate) fn apt_get(prefix: &[&str], arguments: &[&str]) -> Command {
    // Somebody else's installation is waited for, instead of failing beside it; and progress is for terminals.
    let options = ["--option", "DPkg::Lock::Timeout=300", "--option", "Dpkg::Use-Pty=0"];
    let words = [prefix, &["apt-get"], &options, arguments].concat();
    let mut apt = command(words[0], &words[1..]);
    apt.env("DEBIAN_FRONTEND", "noninteractive");
    apt
}
