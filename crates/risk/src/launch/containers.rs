//! Containers that keep nothing in: privileges, the host's folders, its network.

use super::command_line::CommandLine;
use super::{Kind, LaunchFinding, LaunchGravity};

const PRIVILEGED: Kind = Kind {
    code: "container-privileged",
    gravity: LaunchGravity::Warning,
    words: "The container gets the rights of the machine itself: it keeps nothing in.",
    fix: "Take the option out. If the server needs a device or one right, give it that one (--device, --cap-add).",
};

const MOUNT: Kind = Kind {
    code: "container-host-mount",
    gravity: LaunchGravity::Warning,
    words: "The container gets a folder of this machine with which it can reach everything, or all that is yours.",
    fix: "Mount the one folder that the server works in, and read-only where that will do (:ro).",
};

const SOCKET: Kind = Kind {
    code: "container-socket",
    gravity: LaunchGravity::Warning,
    words: "The container can start others by the socket of the container service, with any rights and any folder.",
    fix: "Take the socket out, unless managing containers is what the server is for.",
};

const NETWORK: Kind = Kind {
    code: "container-host-network",
    gravity: LaunchGravity::Warning,
    words: "The container shares the network or the processes of this machine: it reaches whatever listens here.",
    fix: "Take the option out, and publish the one port that is needed (-p 127.0.0.1:PORT:PORT).",
};

/// Folders that are everything: of the system, and of keys.
const WHOLE: &[&str] = &[
    "/",
    "/etc",
    "/root",
    "/home",
    "/users",
    "/var",
    "/usr",
    "/boot",
    "/dev",
    "/proc",
    "/sys",
    "/var/run",
    "/run",
    "/var/lib/docker",
];
const WHOLE_HOMES: &[&str] = &["~", "$home", "${home}", "%userprofile%", "${env:home}", "${userhome}"];
const KEYS: &[&str] = &["/.ssh", "/.aws", "/.gnupg", "/.kube", "/.config/gcloud", "/.docker", "/.azure"];
const SOCKETS: &[&str] = &["docker.sock", "podman.sock", "containerd.sock", "docker_engine", "crio.sock"];

pub(super) fn look(line: &CommandLine<'_>, findings: &mut Vec<LaunchFinding>) {
    let is_run = matches!(
        (line.program().as_str(), line.words.get(1).copied()),
        ("docker" | "podman" | "nerdctl", Some("run" | "container" | "create" | "exec"))
    );
    if !is_run {
        return;
    }
    // What comes after the image is the server's own.
    let end = line.operand().map_or(line.words.len(), |operand| operand.at);
    let mut at = 2;
    while at < end {
        let word = line.words[at];
        let (option, value, next) = match word.split_once('=') {
            Some((option, value)) => (option, value, 0),
            None => (word, line.words.get(at + 1).copied().unwrap_or_default(), 1),
        };
        let (option, value, next) = match word.strip_prefix("-v").filter(|rest| !rest.is_empty()) {
            Some(joined) => ("-v", joined, 0),
            None => (option, value, next),
        };
        let shown = if next == 1 { format!("{option} {value}") } else { word.to_owned() };
        let place = || line.place(at);
        match option {
            "--privileged" if value != "false" || next == 1 => {
                findings.push(PRIVILEGED.at(place(), "--privileged"))
            }
            "--cap-add"
                if matches!(
                    value.to_ascii_uppercase().trim_start_matches("CAP_"),
                    "ALL" | "SYS_ADMIN" | "SYS_PTRACE" | "SYS_MODULE" | "DAC_READ_SEARCH"
                ) =>
            {
                findings.push(PRIVILEGED.at(place(), &shown));
            }
            "--security-opt"
                if value.contains("unconfined") || value == "label=disable" || value == "label:disable" =>
            {
                findings.push(PRIVILEGED.at(place(), &shown));
            }
            "--net" | "--network" | "--pid" | "--ipc" | "--userns" | "--uts" if value == "host" => {
                findings.push(NETWORK.at(place(), &shown));
            }
            "-v" | "--volume" | "--mount" => mount(&place(), option, value, &shown, findings),
            _ => {}
        }
        at += 1;
    }
}

fn mount(place: &str, option: &str, value: &str, shown: &str, findings: &mut Vec<LaunchFinding>) {
    let source = if option == "--mount" {
        let named = value
            .split(',')
            .find_map(|part| part.strip_prefix("source=").or_else(|| part.strip_prefix("src=")));
        named.unwrap_or_default().to_owned()
    } else {
        from(value).to_owned()
    };
    let source = source.replace('\\', "/").to_ascii_lowercase();
    let source = match source.trim_end_matches('/') {
        "" if source.is_empty() => return,
        "" => "/",
        other => other,
    };
    if SOCKETS.iter().any(|socket| source.ends_with(socket)) {
        findings.push(SOCKET.at(place.to_owned(), shown));
    } else if is_too_much(source) {
        findings.push(MOUNT.at(place.to_owned(), shown));
    }
}

/// The host's side of `HOST:CONTAINER[:ro]`; a drive has a colon of its own.
fn from(value: &str) -> &str {
    let drive = value.get(1..3).is_some_and(|two| two == ":\\" || two == ":/")
        && value.as_bytes()[0].is_ascii_alphabetic();
    let start = if drive { 2 } else { 0 };
    // A default in a placeholder has one, too.
    let skip = if value.starts_with("${") { value.find('}').unwrap_or(0) } else { start };
    value[skip..].find(':').map_or("", |end| &value[..skip + end])
}

fn is_too_much(source: &str) -> bool {
    let is_drive = source.len() == 2 && source.ends_with(':');
    // `/home/ada`, `/users/ada`, `c:/users/ada`: all that somebody has.
    let parts: Vec<&str> =
        source.split('/').filter(|part| !part.is_empty() && !part.ends_with(':')).collect();
    let is_home = matches!(parts[..], ["home" | "users", _]) && source.contains('/');
    WHOLE.contains(&source)
        || WHOLE_HOMES.contains(&source)
        || is_drive
        || is_home
        || KEYS.iter().any(|key| source.ends_with(key) || source.contains(&format!("{key}/")))
}
