//! What a tool's name says: its verb, wherever it stands, and what that is done to.

use crate::lexicon::{Act, COMPOUNDS, INFORMATION, Verb, has_any, verb};
use crate::phrase;
use crate::words::split_name;

/// What a name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NameReading {
    pub(crate) act: Act,
    pub(crate) is_weak: bool,
    /// The word that says so.
    pub(crate) verb: String,
}

/// Words at the head of a name that say nothing of what is done.
const HEADS: &str = "mcp api tool tools v1 v2 v3 bulk batch multi mass async safe quick force auto browser";

/// Verbs that are found also where a name runs them into the next word: `getuser`.
const RUN_TOGETHER: &[&str] = &[
    "get", "list", "search", "fetch", "create", "delete", "update", "remove", "send", "insert", "execute",
    "write", "drop", "run",
];

/// A name's verb. `None` if it has none. `context`: the words of its server and of its description.
pub(crate) fn read(server: &str, name: &str, context: &[&str]) -> Option<NameReading> {
    let all = split_name(name);
    let words = without_heads(&all, &split_name(server));
    let heads = &all[..all.len() - words.len()];
    if words.windows(2).any(|two| two == ["dry", "run"]) || words.iter().any(|word| word == "dryrun") {
        return Some(NameReading { act: Act::Read, is_weak: false, verb: "dry run".to_owned() });
    }
    words
        .split(|word| matches!(word.as_str(), "and" | "or" | "then"))
        .filter_map(|part| read_part(&part.iter().map(String::as_str).collect::<Vec<_>>(), heads, context))
        .reduce(stronger)
        .or_else(|| run_together(words))
}

fn run_together(words: &[String]) -> Option<NameReading> {
    let first = words.first()?;
    let found =
        RUN_TOGETHER.iter().find(|start| first.len() > start.len() + 2 && first.starts_with(**start))?;
    Some(NameReading { act: verb(found)?.act, is_weak: true, verb: (*found).to_owned() })
}

/// The nouns of a name without a verb: information, or anything.
pub(crate) fn is_information(server: &str, name: &str) -> bool {
    let words = split_name(name);
    let words = without_heads(&words, &split_name(server));
    words.last().is_some_and(|last| has_any([last.as_str()], INFORMATION))
}

/// The graver of two; a weak word does not outweigh a clear one.
fn stronger(one: NameReading, other: NameReading) -> NameReading {
    let rank = |reading: &NameReading| (!reading.is_weak, reading.act);
    if rank(&other) > rank(&one) { other } else { one }
}

fn without_heads<'a>(words: &'a [String], server: &[String]) -> &'a [String] {
    let mut rest = words;
    while let [first, others @ ..] = rest {
        if others.is_empty() {
            break;
        }
        let is_head = has_any([first.as_str()], HEADS) || server.contains(first);
        // A server called "search" has tools that search; the word goes only if another verb is left.
        let is_needed = verb(first).is_some() && !others.iter().any(|word| verb(word).is_some());
        if !is_head || is_needed {
            break;
        }
        rest = others;
    }
    rest
}

fn read_part(words: &[&str], heads: &[String], context: &[&str]) -> Option<NameReading> {
    // To issue something is seldom meant; an issue is.
    if words.first() == Some(&"issue") && has_any(words[1..].iter().copied(), "credit refund voucher payout")
    {
        return Some(NameReading { act: Act::Pay, is_weak: false, verb: "issue".to_owned() });
    }
    let at = head(words)?;
    let known = verb(words[at])?;
    // What stands before it counts too: `sql_run_query`, `terraform_apply`.
    let before = words[..at].iter().copied().chain(heads.iter().map(String::as_str));
    let objects: Vec<&str> = words[at + 1..].iter().copied().chain(before).collect();
    let act = phrase::act(words[at], known, &objects, context);
    // A word that is made certain by what it is done to is weak no more.
    let is_weak = known.is_weak && act == known.act && act != Act::Pay && !is_settled(words[at], &objects);
    Some(NameReading { act, is_weak, verb: words[at].to_owned() })
}

fn is_settled(verb: &str, objects: &[&str]) -> bool {
    crate::lexicon::refined(verb, objects).is_some()
}

/// Where the verb of a name stands.
fn head(words: &[&str]) -> Option<usize> {
    let skip = usize::from(starts_with_compound(words)) * 2;
    let known = |at: usize| words.get(at).and_then(|word| verb(word)).filter(|_| at >= skip);
    let is_clear = |verb: &Verb| !verb.is_noun_too && !verb.is_weak;
    let last = words.len().checked_sub(1)?;
    if let Some(first) = known(0) {
        // `list_push`, `record_delete`: a noun, after all.
        let is_act = |verb: &Verb| is_clear(verb) && (verb.act != Act::Read || first.is_weak);
        // `snapshot_restore`; of `list_new` the end is no verb.
        let is_later = |verb: &Verb| {
            verb.is_weak
                && !verb.is_noun_too
                && verb.act > Act::Read
                && !matches!(words[last], "new" | "do" | "go")
        };
        let is_noun = first.is_noun_too
            && last > 0
            && known(last).as_ref().is_some_and(|verb| is_act(verb) || is_later(verb));
        return Some(if is_noun { last } else { 0 });
    }
    if known(1).as_ref().is_some_and(is_clear) {
        return Some(1);
    }
    if known(last).is_some_and(|verb| !verb.is_weak) {
        return Some(last);
    }
    let all = || (skip..words.len()).filter(|at| known(*at).is_some());
    all()
        .find(|at| known(*at).as_ref().is_some_and(is_clear))
        .or_else(|| all().find(|at| known(*at).is_some_and(|verb| !verb.is_weak)))
        .or_else(|| all().next())
}

fn starts_with_compound(words: &[&str]) -> bool {
    matches!(words, [first, second, ..] if COMPOUNDS.contains(&(*first, *second)))
}
