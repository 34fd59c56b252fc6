//! A desktop entry among those that the desktop starts (XDG Autostart).
//!
//! Written here, because the folder is where `XDG_CONFIG_HOME` says, and a path with a blank in it has to be quoted.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use callgate_home::atomic;

/// Does the desktop start this program, and not one that lies elsewhere?
pub(super) fn is_on() -> bool {
    let text = file().and_then(|file| fs::read_to_string(file).map_err(|error| error.to_string()));
    text.is_ok_and(|text| program().is_ok_and(|program| starts(&text, &program)))
}

/// One of the same name that somebody else wrote is theirs.
pub(super) fn is_there() -> bool {
    let text = file().and_then(|file| fs::read_to_string(file).map_err(|error| error.to_string()));
    text.is_ok_and(|text| text.starts_with(HEAD))
}

pub(super) fn set(yes: bool) -> Result<(), String> {
    let file = file()?;
    let done = if yes { write(&file, &entry(&program()?)) } else { remove(&file) };
    done.map_err(|error| format!("{}: {error}", file.display()))
}

fn file() -> Result<PathBuf, String> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let settings = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")));
    let settings = settings.ok_or("there is no home folder")?;
    Ok(settings.join("autostart").join("Callgate.desktop"))
}

/// What is to be started, as a desktop entry can name it: in UTF-8.
fn program() -> Result<String, String> {
    match super::program().into_os_string().into_string() {
        Ok(name) if name.is_empty() => Err("it is not known where this program lies".to_owned()),
        Ok(name) => Ok(name),
        Err(name) => Err(format!("the desktop cannot start {}, whose path is not UTF-8", name.display())),
    }
}

/// Whole or not at all: a desktop would start what half an entry says.
fn write(file: &Path, entry: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    atomic::replace(file, entry.as_bytes())
}

fn remove(file: &Path) -> std::io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// How every entry of ours begins, whichever version wrote it.
const HEAD: &str = "[Desktop Entry]\nType=Application\nName=Callgate\n";

fn entry(program: &str) -> String {
    format!(
        "{HEAD}Comment=See and stop what AI agents do with local tools\nIcon=callgate\n{}\n\
         StartupNotify=false\nTerminal=false\n",
        exec(program)
    )
}

/// The line that says what is started.
fn exec(program: &str) -> String {
    format!("Exec={} {}", quoted(program), super::ARGS.join(" "))
}

/// Desktops switch an entry off by a line in it instead of removing it.
fn starts(entry: &str, program: &str) -> bool {
    let off = ["hidden=true", "x-gnome-autostart-enabled=false"];
    let exec = exec(program);
    entry.lines().any(|line| line == exec)
        && !entry.lines().any(|line| off.contains(&line.replace(' ', "").to_ascii_lowercase().as_str()))
}

/// One word of a command line in a desktop entry: quoted, and its quotes escaped once more as every text there.
fn quoted(word: &str) -> String {
    let mut out = String::from("\"");
    for c in word.chars() {
        match c {
            '\\' => out.push_str("\\\\\\\\"),
            '"' | '`' | '$' => out.extend(["\\\\", c.encode_utf8(&mut [0; 4])]),
            '%' => out.push_str("%%"),
            '\n' => out.push_str("\\n"),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strange_path_stays_one_word() {
        assert_eq!(quoted("/opt/My Apps/callgate-app"), r#""/opt/My Apps/callgate-app""#);
        assert_eq!(quoted(r#"/a"$(x)`%f\"#), r#""/a\\"\\$(x)\\`%%f\\\\""#);
        assert_eq!(quoted("/a\nExec=evil").lines().count(), 1);
    }

    #[test]
    fn an_entry_that_the_desktop_switched_off_is_off() {
        let program = "/usr/bin/callgate-app";
        let on = entry(program);
        assert!(starts(&on, program) && on.contains("\nExec=\"/usr/bin/callgate-app\" --hidden\n"), "{on}");
        for line in ["Hidden=true", "X-GNOME-Autostart-enabled = false"] {
            assert!(!starts(&format!("{on}{line}\n"), program), "{line}");
        }
    }

    #[test]
    fn an_entry_of_a_program_that_was_moved_does_not_start_this_one() {
        let on = entry("/opt/My Apps/100%/callgate-app");
        assert!(starts(&on, "/opt/My Apps/100%/callgate-app"), "{on}");
        assert!(!starts(&on, "/usr/bin/callgate-app") && !starts("", "/usr/bin/callgate-app"));
    }
}
