//! Readable tables of cases: sections `== title`, a policy, `--`, and one expectation a line.

#![expect(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod classes;
pub(crate) mod disk;
pub(crate) mod recordings;

use std::path::PathBuf;

pub(crate) struct Section {
    pub(crate) title: String,
    /// `name: value` lines right below the title.
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) policy: String,
    pub(crate) lines: Vec<String>,
}

pub(crate) fn cases(file: &str) -> Vec<Section> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.split("\n== ").skip(1).map(section).collect()
}

fn section(text: &str) -> Section {
    let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (policy, lines) = rest.split_once("\n--\n").unwrap_or((rest, ""));
    let mut settings = Vec::new();
    let mut policy = policy;
    while let Some((line, after)) = policy.split_once('\n')
        && let Some((name, value)) = line.strip_prefix('@').and_then(|l| l.split_once(": "))
    {
        settings.push((name.to_owned(), value.to_owned()));
        policy = after;
    }
    let lines = lines.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#'));
    Section {
        title: title.to_owned(),
        settings,
        policy: policy.to_owned(),
        lines: lines.map(str::to_owned).collect(),
    }
}

/// A section whose texts have names: `-- name` lines, each with the text below it.
pub(crate) struct Story {
    pub(crate) title: String,
    pub(crate) parts: Vec<(String, String)>,
}

impl Story {
    pub(crate) fn part(&self, name: &str) -> &str {
        let found = self.parts.iter().find(|(n, _)| n == name);
        found.map_or_else(|| panic!("{}: no part {name:?}", self.title), |(_, text)| text.as_str())
    }
}

impl std::fmt::Display for Story {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "== {}", self.title)?;
        for (name, text) in &self.parts {
            writeln!(f, "-- {name}")?;
            f.write_str(text)?;
        }
        writeln!(f)
    }
}

pub(crate) fn stories(file: &str) -> Vec<Story> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let story = |text: &str| {
        let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
        let mut parts: Vec<(String, String)> = Vec::new();
        for line in rest.trim_end().lines() {
            match (line.strip_prefix("-- "), parts.last_mut()) {
                (Some(name), _) => parts.push((name.to_owned(), String::new())),
                (None, Some((_, text))) => *text += &format!("{line}\n"),
                (None, None) => panic!("{title}: {line:?} belongs to no part"),
            }
        }
        Story { title: title.to_owned(), parts }
    };
    text.split("\n== ").skip(1).map(story).collect()
}

/// The pages that the sample policies were taken from, if they lie beside the project.
pub(crate) fn seed_pages() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/seeds");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut pages: Vec<_> = entries
        .filter_map(Result::ok)
        .filter_map(|e| {
            Some((e.file_name().to_string_lossy().into_owned(), std::fs::read_to_string(e.path()).ok()?))
        })
        .collect();
    pages.sort();
    pages
}

/// The policies printed on a page: from each line that is `{` to the bracket that closes it.
pub(crate) fn printed_policies(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = page[from..].find("\n{\n") {
        let start = from + at + 1;
        let mut depth = 0;
        let Some(length) = page[start..].find(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        }) else {
            break;
        };
        found.push(page[start..=start + length].to_owned());
        from = start + length;
    }
    found
}

pub(crate) const SEEDS: [&str; 5] = [
    "{\n\"version\": \"1\",\n\"default\": \"deny\",\n\"tools\": {\n\"get_codegen_session\": {}\n}\n}",
    "{\n  \"version\": \"1\",\n  \"default\": \"deny\",\n  \"tools\": {\n    \"end_codegen_session\": {\n      \"limits\": [\n        {\n          \"counter\": \"end_codegen_session_rate\",\n          \"window\": \"minute\",\n          \"max\": 30,\n          \"scope\": \"grant\"\n        }\n      ]\n    }\n  }\n}",
    "{\n\"version\": \"1\",\n\"default\": \"deny\",\n\"tools\": {\n\"start_codegen_session\": {\n\"limits\": [\n{\n\"counter\": \"start_codegen_session_rate\",\n\"window\": \"minute\",\n\"max\": 10,\n\"scope\": \"grant\"\n}\n]\n}\n}\n}",
    "{\n  \"version\": \"1\",\n  \"default\": \"deny\",\n  \"tools\": {\n    \"get_codegen_session\": {}\n  }\n}",
    "{\n\"version\": \"1\",\n\"default\": \"deny\",\n\"hide\": [\n\"clear_codegen_session\"\n]\n}",
];
