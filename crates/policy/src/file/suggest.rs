//! "Did you mean …?" for keys and words.

/// Words of other dialects and habits, and what they are called here.
const KNOWN_MISTAKES: &[(&str, &str)] = &[
    ("rules", "`rules` belongs to Intercept's YAML; here the rule's keys stand directly under the tool"),
    ("state", "here a counter is written as an entry of \"limits\""),
    ("ratelimit", "did you mean \"rate_limit\"?"),
    ("hidden", "did you mean \"hide\"?"),
    ("deny", "write \"action\": \"deny\""),
    ("allow", "write \"action\": \"allow\", or leave the rule empty: a listed tool is allowed"),
    ("block", "write \"action\": \"deny\""),
    ("approve", "write \"action\": \"ask\""),
    ("approval", "write \"action\": \"ask\""),
    ("message", "did you mean \"on_deny\" (in a condition) or \"reason\" (in a rule)?"),
    ("name", "names are the keys of \"tools\""),
];

/// What to say to an unknown key.
pub(super) fn key(unknown: &str, known: &[&str]) -> String {
    if let Some(near) = nearest(unknown, known) {
        return format!("did you mean \"{near}\"?");
    }
    let plain = plain(unknown);
    if let Some((_, advice)) = KNOWN_MISTAKES.iter().find(|(mistake, _)| *mistake == plain) {
        return (*advice).to_owned();
    }
    let twin = match unknown {
        "reason" => known.contains(&"on_deny").then_some("on_deny"),
        "on_deny" => known.contains(&"reason").then_some("reason"),
        "period" | "per" | "interval" => known.contains(&"window").then_some("window"),
        "limit" | "count" => known.contains(&"max").then_some("max"),
        _ => None,
    };
    match twin {
        Some(twin) => format!("did you mean \"{twin}\"?"),
        None => format!("known here: {}", known.join(", ")),
    }
}

/// The known word that is a slip of the finger away from this one, if there is one.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let wanted = plain(word);
    if wanted.is_empty() || wanted.len() > 64 {
        return None;
    }
    known
        .iter()
        // A server's word may be of any length.
        .filter(|k| k.len() <= 256)
        .map(|k| (distance(&wanted, &plain(k)), *k))
        .filter(|(d, k)| *d <= (k.len() / 3).clamp(1, 3) && *d < wanted.chars().count())
        .min_by_key(|(d, _)| *d)
        .map(|(_, k)| k)
}

/// Words that others use for what is meant by one of ours.
pub(super) fn meaning<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    const SAME: &[(&str, &[&str])] = &[
        ("deny", &["block", "reject", "refuse", "disallow", "forbid", "drop"]),
        ("allow", &["permit", "accept", "pass"]),
        ("ask", &["approve", "approval", "prompt", "confirm"]),
        ("eq", &["equals", "equal", "==", "=", "is"]),
        ("neq", &["!=", "ne", "not_equals"]),
        ("lt", &["<"]),
        ("lte", &["<=", "le"]),
        ("gt", &[">"]),
        ("gte", &[">=", "ge"]),
        ("regex", &["matches", "match", "pattern"]),
        ("contains", &["includes", "has"]),
        ("observe", &["watch", "monitor", "audit"]),
    ];
    let (ours, _) = SAME.iter().find(|(_, theirs)| theirs.contains(&word.to_lowercase().as_str()))?;
    known.iter().find(|k| *k == ours).copied()
}

/// `allow, deny or ask`
pub(super) fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Edits between two words, a swap of neighbours counting as one.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}
