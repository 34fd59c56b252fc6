//! Variables by which more is loaded than the program, or by which it comes from elsewhere. Which there are is the table of
//! [`callgate_secrets`]; here is which of their values are worth a word.

use callgate_secrets::{Influence, influence};

use super::{Kind, LaunchFinding, LaunchGravity, is_public_registry, is_world_writable};

const PRELOAD: Kind = Kind {
    code: "preload-variable",
    gravity: LaunchGravity::Warning,
    words: "This variable has other code loaded into the server before its own.",
    fix: "Take it out, unless you put it there and know the file that it names.",
};

const SEARCH: Kind = Kind {
    code: "search-path",
    gravity: LaunchGravity::Warning,
    words: "Code is looked for in a folder in which every user and program of this machine can write.",
    fix: "Name a folder of your own.",
};

const SOURCE: Kind = Kind {
    code: "package-source",
    gravity: LaunchGravity::Note,
    words: "This variable has packages come from another place than the registry that others look at.",
    fix: "Make sure that the address is one that you trust.",
};

const UNCHECKED: Kind = Kind {
    code: "tls-unchecked",
    gravity: LaunchGravity::Warning,
    words: "This variable switches off that the server checks whom it talks to: anybody on the way can read and answer.",
    fix: "Take it out. For a certificate of your own, name that (NODE_EXTRA_CA_CERTS).",
};

const TRACED: Kind = Kind {
    code: "loader-trace",
    gravity: LaunchGravity::Note,
    words: "This variable has the system's loader write down what it does, also into files, for whatever is started.",
    fix: "Take it out when you are done looking for a fault.",
};

/// Options of an interpreter by which a file is run before the program.
const LOADING: &[&str] = &[
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "--preload",
    "-e",
    "--eval",
    "-m",
    "-javaagent",
    "-agentpath",
    "-agentlib",
    "--inspect",
    "--inspect-brk",
];

pub(super) fn look(place: &str, name: &str, value: &str, findings: &mut Vec<LaunchFinding>) {
    let mut say = |kind: &Kind| findings.push(kind.at(place.to_owned(), &format!("{name}={value}")));
    if value.trim().is_empty() {
        return;
    }
    match influence(name) {
        Some(Influence::Loads) => say(&PRELOAD),
        // `ENV=production` is another thing.
        Some(Influence::LoadsFile) if value.contains(['/', '\\', '~']) => say(&PRELOAD),
        Some(Influence::Options) if is_loading(name, value) => say(&PRELOAD),
        Some(Influence::Searched) if folders(value).any(is_world_writable) => say(&SEARCH),
        Some(Influence::Source)
            if !value.split_whitespace().all(is_public_registry) && value.contains("://") =>
        {
            say(&SOURCE)
        }
        Some(Influence::Unchecked) if value == "0" => say(&UNCHECKED),
        Some(Influence::Traced) => say(&TRACED),
        None if name.eq_ignore_ascii_case("PATH") && folders(value).any(is_world_writable) => say(&SEARCH),
        _ => {}
    }
}

fn is_loading(name: &str, value: &str) -> bool {
    let is_perl = name.to_ascii_uppercase().starts_with("PERL");
    value.split_whitespace().any(|word| {
        let option = word.split(['=', ':']).next().unwrap_or(word);
        LOADING.contains(&option)
            || (option.starts_with("-r") && !option.starts_with("--") && option.len() > 2)
            || (is_perl && option.starts_with("-M"))
    })
}

fn folders(value: &str) -> impl Iterator<Item = &str> {
    // Windows divides by semicolons, and has colons in its drives.
    let by_semicolon = value.contains(';') || value.get(1..3).is_some_and(|two| two == ":\\");
    value.split(if by_semicolon { ';' } else { ':' })
}
