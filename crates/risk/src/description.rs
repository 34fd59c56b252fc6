//! What a tool's description says it does: the verb that leads its first sentence, those beside it, and what later sentences add.

use crate::lexicon::{Act, COMPOUNDS, Verb, has_any, refined, verb_in_text};
use crate::phrase;
use crate::words::{Form, Word, sentences, split_sentence};

/// A verb of a description, with the sentence it stands in.
#[derive(Clone, Debug)]
pub(crate) struct SentenceReading<'a> {
    pub(crate) act: Act,
    pub(crate) is_weak: bool,
    pub(crate) verb: String,
    pub(crate) sentence: &'a str,
}

/// What a whole description says.
#[derive(Clone, Debug, Default)]
pub(crate) struct DescriptionReading<'a> {
    /// What it says it does, first of all.
    pub(crate) lead: Option<SentenceReading<'a>>,
    /// The gravest that a later sentence says of the tool itself.
    pub(crate) later: Option<SentenceReading<'a>>,
    /// Where it says that nothing is changed.
    pub(crate) read_only: Option<&'a str>,
    /// Where it says that there is no way back.
    pub(crate) irreversible: Option<&'a str>,
    /// Where it says that somebody pays.
    pub(crate) paid: Option<&'a str>,
}

/// What stands before the verb and says nothing.
const FILLERS: &str = " this tool tools a an the use used using to for that which allows allow you your users user agents agent \
    lets let can will be helps help able ability function api endpoint method mcp please also it and then wrapper utility \
    simple new powerful server command provides via way ways easily us clients client ";

/// After these an object has ended.
const PREPOSITIONS: &str = " with for from in on to by via using at into onto across based within between through during after \
    before when if while so that which where as per without including under against until ";

/// After these another sentence begins inside of this one.
const SUBORDINATES: &str = " that which when if before after where who whose how whether without while unless until because so such e.g like ";

const NEGATIONS: &[&str] = &[
    "not", "never", "no", "cannot", "can't", "doesn't", "don't", "won't", "without", "neither", "nor",
    "isn't", "didn't",
];

/// Nouns made of verbs, for sentences that have only those.
const ACTIONS: &[(&str, Act)] = &[
    ("search", Act::Read),
    ("lookup", Act::Read),
    ("analysis", Act::Read),
    ("comparison", Act::Read),
    ("retrieval", Act::Read),
    ("validation", Act::Read),
    ("listing", Act::Read),
    ("calculation", Act::Read),
    ("wait", Act::Read),
    ("calculator", Act::Read),
    ("converter", Act::Read),
    ("overview", Act::Read),
    ("inspection", Act::Read),
    ("summary", Act::Read),
    ("details", Act::Read),
    ("information", Act::Read),
    ("scraping", Act::Read),
    ("creation", Act::Write),
    ("modification", Act::Write),
    ("registration", Act::Write),
    ("execution", Act::Execute),
    ("deployment", Act::Execute),
    ("invocation", Act::Execute),
    ("automation", Act::Execute),
    ("click", Act::Execute),
    ("deletion", Act::Destroy),
    ("removal", Act::Destroy),
    ("cleanup", Act::Destroy),
    ("payment", Act::Pay),
    ("refund", Act::Pay),
    ("purchase", Act::Pay),
];

/// Things that are run, and not only done.
const RUNNABLE: &str = "code script command sql query workflow job function test program tool action task pipeline javascript \
    python statement shell process automation playbook notebook macro agent js cypher mutation transaction binary executable \
    container pod image build deployment lambda monitor snippet expression cli app application flow server simulation bash \
    operation api request method service benchmark migration model training routine procedure scenario zap actor";

const READ_ONLY: &[&str] = &[
    "read-only",
    "readonly",
    "read only",
    "a read query",
    "read queries",
    "a read cypher",
    "read cypher",
    "without modifying",
    "without changing",
    "without altering",
    "without side effects",
    "no side effects",
    "does not modify",
    "does not change",
    "does not alter",
    "doesn't modify",
    "doesn't change",
    "never modifies",
    "never changes",
    "nothing is changed",
    "only select",
    "select only",
    "select-only",
    "select queries only",
    "select statements only",
    "without executing",
    "without running",
    "without applying",
    "without making any changes",
    "without making changes",
    "does not execute",
    "does not make any changes",
    "dry run",
    "dry-run",
    "non-mutating",
];

const IRREVERSIBLE: &[&str] = &[
    "cannot be undone",
    "can't be undone",
    "can not be undone",
    "irreversible",
    "irreversibly",
    "cannot be reversed",
    "cannot be recovered",
    "not be recoverable",
    "not reversible",
    "no undo",
    "unrecoverable",
    "no way back",
    "cannot be reverted",
    "will be lost",
    "permanently delete",
    "permanently remove",
    "permanently destroy",
    "permanently erase",
    "for ever",
    "forever",
    "for good",
    "beyond recovery",
    "cannot be restored",
    "can't be restored",
    "nobody can get",
    "settings are lost",
];

/// Words that say together what none of them says alone.
const IDIOMS: &[(&str, Act)] = &[
    ("rid of", Act::Destroy),
    ("is gone", Act::Destroy),
    ("are gone", Act::Destroy),
    ("carry out", Act::Execute),
    ("carries out", Act::Execute),
    ("has an agent", Act::Execute),
    ("has another agent", Act::Execute),
    ("down and up", Act::Execute),
    ("which executes", Act::Execute),
    ("which runs", Act::Execute),
    ("that executes it", Act::Execute),
    ("back to how it was", Act::Execute),
    ("to another agent", Act::Execute),
    ("to production", Act::Execute),
    ("into production", Act::Execute),
    ("to sleep", Act::Execute),
    ("breaks off", Act::Execute),
    ("money back", Act::Pay),
    ("says when", Act::Write),
    ("tells you when", Act::Write),
    ("tell you when", Act::Write),
    ("lets you know when", Act::Write),
];

/// Said of what is done with a person's money.
const PAID: &[&str] = &[
    "is billed",
    "billed from",
    "billed to",
    "will be charged",
    "be charged",
    "charging your",
    "charges your",
    "charges the",
    "debits",
    "stored card",
    "default card",
    "credit card on file",
    "locking funds",
    "locks funds",
    "balance on chain",
];

/// A sentence that begins so is about what is told.
const QUESTIONS: &str = " whether which what who whose how when where why until ";

/// `context`: the words around, for what means different things.
pub(crate) fn read<'a>(description: &'a str, context: &[&str]) -> DescriptionReading<'a> {
    let mut found = DescriptionReading::default();
    for (nth, sentence) in sentences(description).into_iter().enumerate() {
        let words = split_sentence(sentence);
        if nth == 0 {
            found.lead = lead(sentence, &words, context);
            found.later = idiom(sentence).or_else(|| means(sentence, &words));
        } else if found.lead.is_none() && nth == 1 {
            found.lead = lead(sentence, &words, context);
        } else if let Some(said) = later(sentence, &words, context)
            && found.later.as_ref().is_none_or(|known| known.act < said.act)
        {
            found.later = Some(said);
        }
        let lower = sentence.to_lowercase();
        if nth < 4 && found.read_only.is_none() && claims_read_only(&lower) {
            found.read_only = Some(sentence);
        }
        if found.paid.is_none() && PAID.iter().any(|words| affirms(&lower, words)) {
            found.paid = Some(sentence);
        }
        if found.irreversible.is_none() && IRREVERSIBLE.iter().any(|words| affirms(&lower, words)) {
            found.irreversible = Some(sentence);
        }
    }
    found
}

/// Says so of the tool, and not of something else: "not read-only", "set the file read-only", "unlike the read-only tool".
fn claims_read_only(sentence: &str) -> bool {
    let is_said = READ_ONLY.iter().any(|words| affirms(sentence, words)) || is_select(sentence);
    const OF_OTHERS: &[&str] = &[
        "unlike",
        "instead",
        "make ",
        "set ",
        "mode",
        "toggle",
        "if ",
        "supports dry",
        "optional",
        "unless",
        "or read-only",
        "and read-only",
        "both ",
    ];
    is_said && !OF_OTHERS.iter().any(|words| sentence.contains(words))
}

/// Queries that are said to be SELECTs, and none of the others.
fn is_select(sentence: &str) -> bool {
    let has =
        |word: &str| sentence.split(|letter: char| !letter.is_alphanumeric()).any(|known| known == word);
    has("select")
        && (has("query") || has("queries") || has("statement") || has("sql"))
        && !["insert", "update", "delete", "ddl", "create", "alter", "any"].iter().any(|word| has(word))
}

/// The words stand there, and no "not" before them.
fn affirms(sentence: &str, words: &str) -> bool {
    sentence.find(words).is_some_and(|at| {
        let before = sentence[..at].trim_end();
        !["not", "non-", "isn't", "never", "not a", "beyond"].iter().any(|end| before.ends_with(end))
    })
}

fn is_in(table: &str, word: &str) -> bool {
    table.split_ascii_whitespace().any(|known| known == word)
}

fn idiom(sentence: &str) -> Option<SentenceReading<'_>> {
    let lower = sentence.to_lowercase();
    let (words, act) = IDIOMS.iter().find(|(words, _)| affirms(&lower, words))?;
    Some(SentenceReading { act: *act, is_weak: false, verb: (*words).to_owned(), sentence })
}

/// The verb that leads, with those on a level with it.
fn lead<'a>(sentence: &'a str, words: &[Word], context: &[&str]) -> Option<SentenceReading<'a>> {
    let first = words.first()?;
    if is_in(QUESTIONS, &first.text) && words.len() > 2 {
        return Some(SentenceReading { act: Act::Read, is_weak: true, verb: first.text.clone(), sentence });
    }
    let start = words.iter().take(10).position(|word| {
        let is_adverb = word.text.ends_with("ly") && verb_in_text(&word.text).is_none();
        !(is_in(FILLERS, &word.text) || is_adverb)
    })?;
    if is_in(" whether what which how who where ", &words[start].text) {
        return Some(SentenceReading {
            act: Act::Read,
            is_weak: true,
            verb: words[start].text.clone(),
            sentence,
        });
    }
    // "The order book": a noun.
    let has_article = start > 0 && is_in(" a an the ", &words[start - 1].text);
    match verb_in_text(&words[start].text) {
        Some((lemma, verb, form))
            if form != Form::Past
                && !is_negated(words, start)
                && (!has_article || !verb.is_noun_too)
                && !is_thing(words, start, verb, form) =>
        {
            Some(all_of_level(sentence, words, start, (&lemma, verb, form), context))
        }
        _ => from_nouns(sentence, words, context).or_else(|| of_things(sentence, words)),
    }
}

/// "Changes in your accounts", "Notes from last week", "Order book of a pair".
fn is_thing(words: &[Word], at: usize, verb: Verb, form: Form) -> bool {
    let Some(next) = words.get(at + 1).filter(|next| !next.after_break) else { return false };
    if COMPOUNDS.contains(&(words[at].text.as_str(), next.text.as_str())) {
        return true;
    }
    let is_plural = form == Form::ThirdPerson && verb.is_noun_too;
    is_plural
        && (is_in(" of between since ", &next.text)
            || (is_in(" from in ", &next.text) && (verb.is_weak || verb.act == Act::Write)))
}

/// A sentence without any verb tells what there is: "The last lines of a session". Not if the thing is one that runs.
fn of_things<'a>(sentence: &'a str, words: &[Word]) -> Option<SentenceReading<'a>> {
    let end = words
        .iter()
        .position(|word| is_in(" of from that between on to in you ", &word.text))
        .unwrap_or(words.len());
    // A few words, or what they are of: longer ones without any verb are not understood.
    let is_of_many = end > 0 && end == words.len() && end <= 3 && words[end - 1].text.ends_with('s');
    if end == 0 || (end == words.len() && !is_of_many) {
        return None;
    }
    let head = &words[..end];
    // "Anything from SELECT to DROP" is no thing, and keywords are kinds of statements.
    if is_in(" anything everything any all whatever ", &head[0].text)
        || words.iter().any(|word| word.is_upper && verb_in_text(&word.text).is_some())
    {
        return None;
    }
    let runs = has_any(head.iter().map(|word| word.text.as_str()), RUNNABLE)
        || has_any(
            head.iter().map(|word| word.text.as_str()),
            "terminal console executor runner access control gateway proxy wrapper",
        );
    (!runs && words.len() <= 14).then(|| SentenceReading {
        act: Act::Read,
        is_weak: true,
        verb: head.last().map(|word| word.text.clone()).unwrap_or_default(),
        sentence,
    })
}

fn all_of_level<'a>(
    sentence: &'a str,
    words: &[Word],
    start: usize,
    (lemma, verb, form): (&str, Verb, Form),
    context: &[&str],
) -> SentenceReading<'a> {
    let mut gravest = reading(sentence, words, start, (lemma, verb), context);
    for at in start + 1..words.len() {
        let word = &words[at];
        if is_in(SUBORDINATES, &word.text) || is_purpose(words, at) {
            break;
        }
        let is_joined = word.after_break
            || is_in(" and or then also / ", &words[at - 1].text)
            || (at >= 2 && words[at - 1].text.ends_with("ly") && is_in(" and or then ", &words[at - 2].text));
        if !is_joined {
            continue;
        }
        let Some((lemma, verb, other)) = verb_in_text(&word.text) else { continue };
        if other != form || (verb.is_noun_too && !takes_object(words, at)) || !is_verb_here(words, at, form) {
            continue;
        }
        // "An INSERT, UPDATE or DELETE query" names kinds; "add or remove labels" changes which there are.
        if word.is_upper
            || (lemma == "remove" && gravest.verb == "add")
            || (lemma == "drop" && words[..at].iter().any(|before| before.text == "drag"))
        {
            continue;
        }
        let said = reading(sentence, words, at, (&lemma, verb), context);
        if said.act > gravest.act && (!said.is_weak || gravest.is_weak) {
            gravest = said;
        }
    }
    gravest
}

/// "to record actions": what it is good for, not what it does.
fn is_purpose(words: &[Word], at: usize) -> bool {
    words[at].text == "to"
        && words.get(at + 1).is_some_and(|next| {
            verb_in_text(&next.text).is_some_and(|(_, verb, form)| form == Form::Base && !verb.is_noun_too)
        })
}

/// A noun does not stand before an article.
fn takes_object(words: &[Word], at: usize) -> bool {
    words.get(at + 1).is_some_and(|next| {
        !next.after_break
            && is_in(
                " a an the its their all any existing new this it them your one multiple specific ",
                &next.text,
            )
    })
}

/// "types, and sizes" are things; a verb has something after it.
fn is_verb_here(words: &[Word], at: usize, form: Form) -> bool {
    match words.get(at + 1) {
        Some(next) if is_in(" is are was of ", &next.text) => false,
        Some(next) if form == Form::ThirdPerson => {
            !next.after_break && !is_in(" and or ", &next.text) && !is_in(PREPOSITIONS, &next.text)
        }
        None => form != Form::ThirdPerson,
        Some(_) => true,
    }
}

fn reading<'a>(
    sentence: &'a str,
    words: &[Word],
    at: usize,
    (lemma, verb): (&str, Verb),
    context: &[&str],
) -> SentenceReading<'a> {
    let objects: Vec<&str> = words[at + 1..]
        .iter()
        .take_while(|word| !is_in(PREPOSITIONS, &word.text))
        .take(8)
        .map(|word| word.text.as_str())
        .collect();
    let mut act = phrase::act(lemma, verb, &objects, context);
    let mut is_weak = verb.is_weak && act != Act::Pay && refined(lemma, &objects).is_none();
    // "Runs a diff" is but a way to say that it does one.
    // "Generates a link" may be all that there is to getting one.
    is_weak |= lemma == "generate" && act == Act::Write;
    is_weak |= act == Act::Execute
        && is_in(" run execute perform invoke ", lemma)
        && !has_any(objects.iter().copied(), RUNNABLE);
    if lemma == "save" && words.iter().any(|word| is_in(" file disk path folder ", &word.text)) {
        (act, is_weak) = (Act::Write, false);
    }
    if lemma == "download"
        && words.iter().any(|word| is_in(" local locally disk save saves saved path ", &word.text))
    {
        (act, is_weak) = (Act::Write, false);
    }
    if is_in(" perform make do send handle execute issue process ", lemma) {
        if let Some(method) = http_method(&words[at + 1..]) {
            (act, is_weak) = (method, false);
        } else if is_in(" perform do handle process make ", lemma)
            && let Some(named) = action(&objects)
        {
            (act, is_weak) = (named, false);
        }
    }
    SentenceReading { act, is_weak, verb: lemma.to_owned(), sentence }
}

/// The method of "an HTTP DELETE request".
fn http_method(words: &[Word]) -> Option<Act> {
    let near = &words[..words.len().min(5)];
    near.iter().any(|word| is_in(" http https request requests rest ", &word.text)).then_some(())?;
    near.iter().filter(|word| word.is_upper).find_map(|word| match word.text.as_str() {
        "get" | "head" | "options" => Some(Act::Read),
        "post" | "put" | "patch" => Some(Act::Write),
        "delete" => Some(Act::Destroy),
        _ => None,
    })
}

fn action(words: &[&str]) -> Option<Act> {
    words.iter().find_map(|word| ACTIONS.iter().find(|(noun, _)| noun == word).map(|(_, act)| *act))
}

/// "Real-time web search": a sentence without a verb.
fn from_nouns<'a>(sentence: &'a str, words: &[Word], context: &[&str]) -> Option<SentenceReading<'a>> {
    let near: Vec<&Word> = words.iter().take(8).collect();
    let (at, (lemma, verb, act)) = near.iter().enumerate().find_map(|(at, word)| {
        // Keywords of SQL name kinds of statements.
        if is_in(SUBORDINATES, &word.text)
            || is_negated(words, at)
            || word.is_upper
            || is_in(" is has does should ", &word.text)
        {
            return None;
        }
        let is_compound = words
            .get(at + 1)
            .is_some_and(|next| COMPOUNDS.contains(&(word.text.as_str(), next.text.as_str())));
        if let Some((noun, act)) = ACTIONS.iter().find(|(noun, _)| *noun == word.text) {
            return Some((at, ((*noun).to_owned(), None, *act)));
        }
        let (lemma, verb, form) = verb_in_text(&word.text)?;
        (form != Form::Past
            && !is_compound
            && !is_thing(words, at, verb, form)
            && (!verb.is_noun_too || !verb.is_weak))
            .then_some((at, (lemma, Some(verb), verb.act)))
    })?;
    let act = match verb {
        Some(verb) => reading(sentence, words, at, (&lemma, verb), context).act,
        None => act,
    };
    Some(SentenceReading { act, is_weak: true, verb: lemma, sentence })
}

fn is_negated(words: &[Word], at: usize) -> bool {
    let next = words.get(at + 1).is_some_and(|word| word.text == "not");
    next || words[at.saturating_sub(3)..at].iter().any(|word| NEGATIONS.contains(&word.text.as_str()))
}

/// "by clicking an element": how it does what it does.
fn means<'a>(sentence: &'a str, words: &[Word]) -> Option<SentenceReading<'a>> {
    words.windows(2).filter(|two| two[0].text == "by").find_map(|two| {
        let (verb, known, form) = verb_in_text(&two[1].text)?;
        let acts = form == Form::Gerund && known.act >= Act::Execute && !known.is_weak;
        acts.then_some(SentenceReading { act: known.act, is_weak: false, verb, sentence })
    })
}

/// A later sentence that says what the tool does: "It also deletes …", "This will run …", "Executes …".
fn later<'a>(sentence: &'a str, words: &[Word], context: &[&str]) -> Option<SentenceReading<'a>> {
    let is_of_tool = words.first().is_some_and(|word| is_in(" this it the also will ", &word.text));
    let at = words.iter().take(6).position(|word| {
        let is_skipped = is_in(" this it the tool also will can then automatically permanently and operation action call command ", &word.text);
        !is_skipped
    })?;
    let (lemma, verb, form) = verb_in_text(&words[at].text)?;
    let is_claim = form == Form::ThirdPerson
        || (is_of_tool
            && form == Form::Base
            && words[..at].iter().any(|word| is_in(" will can ", &word.text)));
    if !is_claim || verb.is_weak || is_negated(words, at) {
        return None;
    }
    let has_object =
        words.get(at + 1).is_some_and(|next| !is_in(PREPOSITIONS, &next.text) && !next.after_break);
    let said = reading(sentence, words, at, (&lemma, verb), context);
    (has_object && said.act >= Act::Execute).then_some(said)
}
