//! The verbs of tool names and descriptions, and what each does: tables, one row a kind.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::words::{Form, lemmas};

/// What a verb does, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Act {
    Read,
    Write,
    Execute,
    Destroy,
    Pay,
}

/// A verb of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verb {
    pub(crate) act: Act,
    /// It may mean other things (*open*, *post*, *load*): better evidence beside it wins.
    pub(crate) is_weak: bool,
    /// It is as often a noun (*call*, *run*, *update*): a verb only where verbs stand.
    pub(crate) is_noun_too: bool,
}

/// Verbs by act; `weak` and `noun` say how far each row can be trusted.
struct Row {
    act: Act,
    is_weak: bool,
    is_noun_too: bool,
    verbs: &'static str,
}

const fn sure(act: Act, verbs: &'static str) -> Row {
    Row { act, is_weak: false, is_noun_too: false, verbs }
}

const fn sure_or_noun(act: Act, verbs: &'static str) -> Row {
    Row { act, is_weak: false, is_noun_too: true, verbs }
}

const fn weak(act: Act, verbs: &'static str) -> Row {
    Row { act, is_weak: true, is_noun_too: false, verbs }
}

const fn weak_or_noun(act: Act, verbs: &'static str) -> Row {
    Row { act, is_weak: true, is_noun_too: true, verbs }
}

const ROWS: &[Row] = &[
    sure(
        Act::Read,
        "get fetch retrieve describe find read show inspect analyze enumerate browse lookup identify detect discover explore \
         summarize explain compare calculate compute count validate verify preview simulate estimate predict recommend \
         suggest tail grep glob locate scan poll peek whoami ping traceroute extract parse diagnose resolve \
         assess determine interpret introspect infer classify tokenize decode encode hash translate convert measure \
         observe wait expect assert return obtain display collect gather scrape crawl transcribe ocr \
         visualize geocode autocomplete paginate examine hydrate lint typecheck screenshot \
         sleep prefetch distill recollect recap aggregate correlate rank score paraphrase proofread spellcheck recall exists head \
         stat diff blame echo demonstrate ask answer consult ls cat dir pwd whois dig nslookup sniff \
         decompile disassemble is has does should rerank solve forecast investigate think reason brainstorm outline learn",
    ),
    sure_or_noun(
        Act::Read,
        "list search view query lookup snapshot watch monitor report overview sample profile",
    ),
    weak(
        Act::Read,
        "check provide give tell access understand know see include contain support ensure load contains expand",
    ),
    weak_or_noun(
        Act::Read,
        "check track export download trace plan quote rate research look stream filter sort match review",
    ),
    sure(
        Act::Write,
        "create add update write edit modify insert append set save store put patch rename assign attach configure \
         customize enable disable upsert replace duplicate clone fork register annotate favorite follow unfollow vote \
         upvote downvote reply respond invite notify broadcast publish submit approve reject accept decline \
         dismiss acknowledge complete finish schedule reschedule import upload \
         reorder reassign unassign subscribe unsubscribe toggle adjust allocate provision define declare populate \
         bookmark unarchive archive lock unlock mute unmute hide unhide pin unpin star unstar tweet retweet \
         mark reopen enqueue produce increment decrement expire persist remember memorize ingest \
         render compose draft commit stage cherry apply grant share send \
         forward email dm transition promote demote rotate extend renew sync synchronize link \
         group ungroup align rewrite refactor sign emulate touch mkdir cp mv ln chmod chown \
         seed backfill initialize init scaffold bootstrap compress gzip zip unzip concatenate trim crop \
         maximize minimize reroute rsvp paint draw colorize animate parent correct fix escalate triage snooze enroll \
         confirm finalize associate disassociate dissociate enrich whitelist blacklist manage maintain administer \
         impersonate redirect localize prepend integrate onboard \
         fulfill deactivate isolate overwrite resize generate nominate designate setup hset lpush rpush sadd zadd xadd hmset mset setex",
    ),
    sure_or_noun(Act::Write, "update copy move change comment label tag upload import push"),
    weak(
        Act::Write,
        "split divide generate keep arrange make begin end open post join leave switch use handle process close",
    ),
    weak_or_noun(
        Act::Write,
        "post record log note pull comment react flag form design model map file cache document block",
    ),
    sure(
        Act::Execute,
        "execute exec invoke dispatch evaluate eval deploy redeploy undeploy launch spawn restart reboot start stop shutdown \
         suspend resume pause unpause power rerun retry replay rollback rollout scale drain cordon uncordon failover \
         click doubleclick navigate goto type fill tap swipe scroll hover press drag install upgrade downgrade compile \
         dial login logout authenticate authorize connect disconnect reconnect inject automate \
         control orchestrate operate hibernate wake mount unmount boot flash reload recover \
         merge rebase ssh sudo trigger run autoscale hijack bypass \
         delegate migrate keypress keydown \
         sendkeys mousemove arm disarm quit mutate intercept vacuum bisect seal unseal ",
    ),
    sure_or_noun(Act::Execute, "run trigger click drag press scroll"),
    weak_or_noun(
        Act::Execute,
        "type call build test select focus hover play skip command work act interact activate request perform",
    ),
    weak(Act::Write, "capture new take place book reserve bring restore do"),
    weak(Act::Write, "raise bump nudge remind lower"),
    weak(
        Act::Execute,
        "roll bounce hand initiate connect transfer start cancel abort go turn spin shut force",
    ),
    weak_or_noun(Act::Pay, "order"),
    sure(
        Act::Destroy,
        "delete remove drop truncate purge wipe erase destroy clear flush uninstall terminate kill revoke prune discard \
         empty deprovision evict expunge unlink rm rmdir del nuke shred obliterate annihilate decommission \
         reset cleanup clean recreate unpublish deregister unregister invalidate ban kick unfriend detach \
         reformat rmi flushall flushdb delist abandon forget zap trash eject expel tombstone dispose cleanse hdel srem zrem \
         lrem xdel reinitialize reimage yank scrap",
    ),
    weak_or_noun(Act::Destroy, "throw burn"),
    sure(
        Act::Pay,
        "pay refund purchase buy sell withdraw payout donate reimburse remit rebuy repay prepay stake unstake \
         liquidate hodl ",
    ),
    sure_or_noun(Act::Pay, "charge"),
    weak_or_noun(Act::Pay, "deposit checkout trade wire tip bid swap"),
];

static VERBS: LazyLock<FxHashMap<&'static str, Verb>> = LazyLock::new(|| {
    let mut verbs = FxHashMap::default();
    for row in ROWS {
        for verb in row.verbs.split_whitespace() {
            // A later row corrects an earlier one: the weaker reading is the truer one.
            verbs.insert(verb, Verb { act: row.act, is_weak: row.is_weak, is_noun_too: row.is_noun_too });
        }
    }
    verbs
});

/// The verb that a word is, as it stands, or with *re-* and *un-* taken off.
pub(crate) fn verb(word: &str) -> Option<Verb> {
    let known = |word: &str| VERBS.get(word).copied();
    known(word)
        .or_else(|| {
            let stem = word
                .strip_prefix("re")
                .or_else(|| word.strip_prefix("auto"))
                .filter(|stem| stem.len() > 3)?;
            known(stem).filter(|verb| verb.act != Act::Read && !verb.is_weak)
        })
        .or_else(|| {
            let stem = word.strip_prefix("un").filter(|stem| stem.len() > 3)?;
            // Undoing is a change, whatever is undone.
            known(stem).filter(|verb| verb.act != Act::Read).map(|verb| Verb {
                act: Act::Write.max(if verb.act == Act::Execute { Act::Execute } else { Act::Write }),
                ..verb
            })
        })
}

/// The verb behind a word of a sentence, in whatever form it stands there.
pub(crate) fn verb_in_text(word: &str) -> Option<(String, Verb, Form)> {
    lemmas(word).find_map(|(lemma, form)| verb(&lemma).map(|verb| (lemma.into_owned(), verb, form)))
}

/// What a verb does to particular things, where that is not what it does otherwise. The first row that fits counts.
struct Refinement {
    verbs: &'static str,
    objects: &'static str,
    act: Act,
}

const fn with(verbs: &'static str, objects: &'static str, act: Act) -> Refinement {
    Refinement { verbs, objects, act }
}

const REFINEMENTS: &[Refinement] = &[
    // What is only tried, worked out or asked changes nothing.
    with(
        "run execute perform start create generate make do",
        "preview simulation estimate dryrun forecast",
        Act::Read,
    ),
    with(
        "run execute perform make create do",
        "search lookup analysis comparison calculation report insight retention funnel segmentation select cohort trend promql logql nrql groq kql analytics",
        Act::Read,
    ),
    with(
        "generate create get make",
        "uuid guid hash random summary recommendation suggestion embedding explanation quote",
        Act::Read,
    ),
    with("request", "information info details status list quote", Act::Read),
    with("apply", "filter filters search", Act::Read),
    with("trace", "route path request span calls", Act::Read),
    with("take capture save grab", "screenshot snapshot", Act::Read),
    with("capture", "screenshot screen snapshot page image frame network traffic logs dom", Act::Read),
    with("convert", "file pdf document video audio", Act::Write),
    with("start", "trial tracking timer", Act::Write),
    with("start stop pause resume", "entry timer tracking reminder alert notification", Act::Write),
    with("stop", "recording record", Act::Write),
    with("send", "amount bitcoin sum", Act::Pay),
    with("raise bump", "fee", Act::Pay),
    with("send", "request statement sql", Act::Execute),
    with("resolve reopen", "incident ticket alert issue thread comment conversation", Act::Write),
    with("give", "password team name", Act::Write),
    with("load unload", "model module driver plugin", Act::Execute),
    with("cancel", "session", Act::Execute),
    with("clear", "field input textbox", Act::Execute),
    with("submit", "form", Act::Execute),
    with("attach", "target process debugger shell", Act::Execute),
    with("begin", "record codegen session", Act::Execute),
    with("drop", "drag", Act::Execute),
    with("apply", "mutation", Act::Execute),
    with("apply make", "infrastructure", Act::Execute),
    with("solve", "captcha", Act::Execute),
    with("roll", "dice die", Act::Read),
    with("put", "question query", Act::Read),
    with("put move throw", "bin trash", Act::Destroy),
    with("give hand", "task job work", Act::Execute),
    with("answer", "invitation ticket mail email message review comment", Act::Write),
    with("apply", "actions macro series steps", Act::Execute),
    with("fill", "missing gap contact record column profile template", Act::Write),
    with("accept dismiss", "javascript dialog popup", Act::Execute),
    with("make", "device lamp light screen robot speaker", Act::Execute),
    with("set open close shut turn switch", "valve pump relay motor plug siren heater", Act::Execute),
    with("open", "runner ui gui console program", Act::Execute),
    with("upgrade", "plan subscription tier", Act::Pay),
    // A thing that runs, made, is a thing run.
    with(
        "create make place start initiate add request submit open new trigger",
        "call execution deployment rollout rollback invocation run dispatch exec",
        Act::Execute,
    ),
    with("create new open start launch add", "browser browsers tab tabs", Act::Execute),
    with("new", "page window session", Act::Execute),
    with("create", "session sandbox terminal shell", Act::Execute),
    with("assign perform request delegate create", "copilot agent subagent", Act::Execute),
    with(
        "perform",
        "task tasks action actions operation operations command commands click gesture",
        Act::Execute,
    ),
    with(
        "apply",
        "migration migrations manifest manifests terraform plan kubernetes kubectl helm playbook yaml stack infrastructure sql",
        Act::Execute,
    ),
    with("apply", "discount coupon credit", Act::Write),
    with("sync synchronize", "app application argocd pipeline connection connector source", Act::Execute),
    with("approve reject", "deployment deployments workflow run runs execution", Act::Execute),
    with("enable disable toggle set update", "firewall", Act::Execute),
    with("restore", "database snapshot backup project cluster instance table branch", Act::Execute),
    with("restore", "*", Act::Write),
    with("open", "issue ticket request pull case incident", Act::Write),
    with("open", "node nodes entity entities", Act::Read),
    with(
        "open",
        "browser url page tab app application link website window file dialog session connection door garage valve program",
        Act::Execute,
    ),
    with(
        "close",
        "issue ticket request pull case incident task deal milestone alert conversation epic",
        Act::Write,
    ),
    with("close", "position positions trade", Act::Pay),
    with("collect", "payment payments fee fees", Act::Pay),
    with("forward", "port ports traffic", Act::Execute),
    with("close", "account", Act::Destroy),
    with("close", "browser page tab tabs session connection window app application", Act::Execute),
    with("send", "command commands key keys keystroke keystrokes input signal intent gcode", Act::Execute),
    with("write", "query sql cypher register registers memory", Act::Execute),
    with("send", "http http1 http2 curl raw", Act::Execute),
    with("promote", "app apps pipeline pipelines release deployment build", Act::Execute),
    with("enable disable", "maintenance", Act::Execute),
    with("switch", "connection tab tabs window frame session page context", Act::Execute),
    with("switch", "branch", Act::Write),
    with("handle", "dialog alert popup prompt", Act::Execute),
    with("upload", "*", Act::Write),
    with("select", "option dropdown element tab radio checkbox text", Act::Execute),
    with("turn", "on off", Act::Execute),
    with("lock unlock", "door doors car vehicle screen computer workstation", Act::Execute),
    with("set change adjust", "temperature thermostat brightness volume light lights fan hvac", Act::Execute),
    with("set", "breakpoint breakpoints", Act::Write),
    with("go", "back forward", Act::Execute),
    with("sign", "in out", Act::Execute),
    with("sign", "transaction", Act::Pay),
    with("log", "in out", Act::Execute),
    with("check", "in out", Act::Write),
    with("check uncheck", "checkbox box radio", Act::Execute),
    with("force", "push", Act::Destroy),
    with("process", "payment payments refund payroll", Act::Pay),
    // What is ended for good, and what only stops.
    with(
        "cancel abort",
        "run runs job jobs task tasks workflow build builds deployment execution query pipeline command process operation download upload request scan",
        Act::Execute,
    ),
    with("cancel", "subscription notification reminder", Act::Write),
    with("cancel", "*", Act::Destroy),
    with("abort", "*", Act::Execute),
    with(
        "reset",
        "password zoom view viewport filter filters camera layout selection timer display",
        Act::Write,
    ),
    with(
        "remove clear",
        "filter filters highlight highlights selection background breakpoint breakpoints noise formatting",
        Act::Write,
    ),
    with("clean cleanup", "data text html string dataset column csv", Act::Write),
    with("empty", "file folder document project", Act::Write),
    with("drop", "file files element onto pin", Act::Execute),
    with("trim", "stream history log", Act::Destroy),
    with("swap", "*", Act::Write),
    with("end", "call session", Act::Write),
    with("detach", "volume policy disk interface", Act::Execute),
    with("detach", "*", Act::Write),
    with("transfer", "call", Act::Execute),
    with("transfer", "ownership repository project issue domain file files", Act::Write),
    with("flash", "*", Act::Execute),
    with("forget", "memory memories fact password", Act::Destroy),
    with("kick", "off", Act::Execute),
    with("spin shut power", "up down off on", Act::Execute),
    with("set create make", "up", Act::Write),
    with("move", "mouse cursor robot motor arm axis pointer", Act::Execute),
    with("move", "trash bin", Act::Destroy),
    with("send move put", "trash", Act::Destroy),
    with("bring put take", "*", Act::Write),
    with("mark", "*", Act::Write),
    with(
        "query",
        "sql d1 postgres postgresql mysql sqlite mssql oracle snowflake redshift databricks mariadb cypher mutation duckdb cockroachdb",
        Act::Execute,
    ),
    with("run execute make", "analytics", Act::Read),
];

static REFINED: LazyLock<FxHashMap<&'static str, Vec<(&'static str, Act)>>> = LazyLock::new(|| {
    let mut refined: FxHashMap<_, Vec<_>> = FxHashMap::default();
    for row in REFINEMENTS {
        for verb in row.verbs.split_whitespace() {
            refined.entry(verb).or_default().push((row.objects, row.act));
        }
    }
    refined
});

/// What a verb does to these things, if that is a matter of the things.
pub(crate) fn refined(verb: &str, objects: &[&str]) -> Option<Act> {
    let rows = REFINED.get(verb)?;
    rows.iter().find_map(|(things, act)| {
        let fits = *things == "*"
            || things.split(' ').any(|thing| objects.iter().any(|object| same_thing(object, thing)));
        fits.then_some(*act)
    })
}

/// One of a kind or many.
pub(crate) fn same_thing(word: &str, thing: &str) -> bool {
    word == thing
        || word.strip_suffix('s') == Some(thing)
        || word.strip_suffix("es") == Some(thing)
        || (word.len() > 4
            && word.strip_suffix("ies").is_some_and(|stem| thing.strip_suffix('y') == Some(stem)))
}

/// Whether any word is one of a table's things.
pub(crate) fn has_any<'a>(words: impl IntoIterator<Item = &'a str>, things: &str) -> bool {
    words.into_iter().any(|word| things.split_whitespace().any(|thing| same_thing(word, thing)))
}

/// Two words that are one noun, though the first is a verb by itself.
pub(crate) const COMPOUNDS: &[(&str, &str)] = &[
    ("pull", "request"),
    ("pull", "requests"),
    ("merge", "request"),
    ("merge", "requests"),
    ("check", "run"),
    ("check", "runs"),
    ("check", "suite"),
    ("test", "case"),
    ("test", "cases"),
    ("test", "suite"),
    ("test", "run"),
    ("test", "runs"),
    ("test", "plan"),
    ("build", "log"),
    ("build", "logs"),
    ("call", "log"),
    ("call", "logs"),
    ("call", "history"),
    ("run", "history"),
    ("order", "book"),
    ("log", "stream"),
    ("log", "group"),
    ("file", "system"),
    ("form", "response"),
    ("post", "analytics"),
    ("block", "children"),
    ("release", "notes"),
    ("design", "system"),
    ("model", "context"),
    ("tag", "manager"),
    ("trade", "history"),
    ("swap", "quote"),
    ("design", "context"),
    ("map", "tile"),
    ("request", "log"),
    ("log", "files"),
    ("start", "date"),
    ("rate", "limit"),
    ("rate", "limits"),
    ("code", "search"),
    ("share", "link"),
    ("call", "graph"),
    ("call", "tree"),
    ("call", "stack"),
    ("trade", "data"),
    ("document", "symbols"),
    ("form", "fields"),
    ("model", "info"),
    ("file", "info"),
    ("block", "info"),
    ("log", "entries"),
];

/// Nouns that a tool is named by when it only tells of them.
pub(crate) const INFORMATION: &str = "status state info information details detail logs history metrics stats statistics \
    summary tables table schema schemas data insights insight version versions spec docs documentation help health usage \
    events tree symbols references definition definitions diagnostics alerts trends trend news weather prices price pricing \
    quotes ticker orderbook candles balance balances portfolio positions metadata catalog directory inventory leaderboard \
    results graph analytics performance overview guide examples example capabilities languages regions zones models context \
    profile subscriptions messages requests sources capability skeleton outline xrefs strings imports exports segments \
    headlines forecast ratings reviews transcript captions suggestions recommendations vulnerabilities advisories costs \
    subscription instructions time date calculator dictionary thesaurus timezone timezones hover completion completions log \
    snapshot screenshot lineage topology changelog readme license structure coverage";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixed_verbs_do_what_their_stems_do() {
        assert_eq!(verb("rerun").map(|verb| verb.act), Some(Act::Execute));
        assert_eq!(verb("redeploy").map(|verb| verb.act), Some(Act::Execute));
        assert_eq!(verb("undelete").map(|verb| verb.act), Some(Act::Write));
        assert_eq!(verb("reading"), None);
    }

    #[test]
    fn every_refined_verb_is_one_word() {
        for row in REFINEMENTS {
            assert!(!row.verbs.is_empty() && !row.objects.is_empty());
        }
    }
}
