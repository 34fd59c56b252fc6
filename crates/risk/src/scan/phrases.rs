//! Words that are meant for the model: orders, secrets between it and the server, other tools' business.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::{ScanFinding, Text, characters, finding};
use crate::definition::ToolDefinition;

/// A phrase and what is said of it. The first of a code that is met is the one that is told.
struct Phrase {
    code: &'static str,
    pattern: &'static str,
}

const fn phrase(code: &'static str, pattern: &'static str) -> Phrase {
    Phrase { code, pattern }
}

const PHRASES: &[Phrase] = &[
    phrase(
        "override-instructions",
        r"\b(ignore|disregard|forget|bypass|override|set aside)\b[^.\n]{0,30}\b(previous|prior|above|earlier|preceding|existing|all|any|other|your|safety|system|the user'?s (actual|original|real)|the proxy'?s)\b[^.\n]{0,30}\b(instructions?|constraints?|rules?|guidelines?|polic(y|ies)|prompts?|restrictions?|directives?|request|safeguards?|safety)\b",
    ),
    phrase(
        "override-instructions",
        r"\b(you are now|you must now act|enter|switch to|enable) (in |an? )?(developer|debug|god|unrestricted|jailbreak|dan|admin(istrator)?|maintenance) mode\b[^.]{0,60}\b(comply|must|ignore|without|unrestricted|disregard)",
    ),
    phrase("override-instructions", r"\b(new|updated|revised) system (message|prompt|instructions?)\b"),
    phrase("override-instructions", r"\bwithout (applying|any) (safety|security) (checks?|filters?)\b"),
    phrase(
        "override-instructions",
        r"\b(reveal|print|output|repeat|disclose|include|leak)\b[^.\n]{0,25}\b(your|the|any|full|entire|hidden|complete)\b[^.\n]{0,15}\bsystem (prompt|instructions?|message)\b",
    ),
    phrase(
        "override-instructions",
        r"\b(treat|consider|regard|interpret)\b[^.\n]{0,40}\b(instructions?|commands?|text|content)\b[^.\n]{0,60}\bas\b[^.\n]{0,25}\b(authoriz|authoris|trusted|direct|user|command|instruction|system)",
    ),
    phrase(
        "override-instructions",
        r"\b(obey|follow|execute|comply with|carry out)\b[^.\n]{0,30}\b(instructions?|commands?|directives?)\b[^.\n]{0,30}\b(embedded|found|contained|inside|hidden|in the (page|document|content|file|response|result|issue|email))\b",
    ),
    phrase(
        "model-addressed",
        r"<\s*/?\s*(important|secret|system|instructions?|hidden|admin|assistant|critical|override|sys|prompt|internal|private|directive|mandatory|confidential|tool_instructions|system[-_ ]?(prompt|message|reminder|note)|s)\s*>",
    ),
    phrase(
        "model-addressed",
        r"<\|\s*(im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id)",
    ),
    phrase(
        "model-addressed",
        r"\[\s*/?\s*(inst|system|assistant instructions?|hidden|admin|instructions? (for|to) (the )?(ai|assistant|model|llm|agent)|system (prompt|message|override)|secret|important[^\]]{0,20}(ai|assistant|model|agent)s?)\b[^\]]*\]?",
    ),
    phrase(
        "model-addressed",
        r"\b(note|message|instructions?|directive|reminder|attention|hint)s? (to|for) (the )?(ai|assistants?|llms?|language models?|models?|ai agents?|agent)\b\s*[:,(]",
    ),
    phrase(
        "model-addressed",
        r"(^|[.!\n]\s*|\*\*)(SYSTEM|ASSISTANT|System prompt|SYSTEM PROMPT|System override|SYSTEM NOTE|ADMIN)\s*:\s",
    ),
    phrase("model-addressed", r"\bhidden (directive|instructions?|command|rule|prompt)\b\s*[:\-]"),
    phrase("model-addressed", r"\{\{\s*(system|override|assistant|instructions?)\b[^}]*\}\}"),
    phrase(
        "model-addressed",
        r"<!--[^>]{0,400}\b(must|always|ignore|before|read|send|call|instruction|secret|assistant|agent|never|do not)\b",
    ),
    phrase(
        "hidden-from-user",
        r"\b(do not|don'?t|never|must not|should not|without|avoid|refrain from)\b[^.\n]{0,25}\b(mention(ing)?|tell(ing)?|inform(ing)?|reveal(ing)?|notify(ing)?|disclos(e|ing)|alert(ing)?|show(ing)?|report(ing)?|explain(ing)?|let(ting)?|display(ing)?|expos(e|ing))\b[^.\n]{0,50}\b(users?|human|operator|them|anyone|person|these instructions|this (step|instruction|note|action|to)|owner|victim|customer)\b",
    ),
    phrase(
        "hidden-from-user",
        r"\b(silently|secretly|covertly|surreptitiously|stealthily|discreetly|quietly|invisibly|in the background without)\b[^.\n]{0,40}\b(append|send|forward|add|include|upload|copy|read|collect|exfiltrate|attach|transmit|post|call|invoke|execute|insert|embed|log|pass|bcc|store|email|leak|capture|modify|replace|run|record|grant)\w*\b",
    ),
    phrase(
        "hidden-from-user",
        r"\bwithout (the )?(user'?s?|human'?s?|owner'?s?|their|his|her) (knowledge|knowing|awareness|consent|noticing|approval|permission|seeing|confirmation)\b",
    ),
    phrase(
        "hidden-from-user",
        r"\b(user|human|operator)s? (must|should|need|does|do|will|may|can) ?(not|n'?t|never)( need to)? (know|see|notice|be (told|informed|aware|shown|notified))\b",
    ),
    phrase(
        "hidden-from-user",
        r"\b(keep|keeping) (this|it|these|that)( \w+)? (secret|hidden|confidential|private|between us) ?(from|and)?\b",
    ),
    phrase(
        "secret-file",
        r"\b(read|open|load|cat|fetch|include|access|retrieve|get|return|send|upload|copy|pass|attach|embed|extract|view|contents? of|content from|leak|exfiltrate|provide|paste|dump|reads?)\b[^\n]{0,60}(~?/?\.ssh\b|id_rsa|id_ed25519|\.aws/credentials|/etc/(passwd|shadow)|\.env\b( file)?|\.cursor/mcp\.json|mcp\.json|claude_desktop_config|\.netrc|\.npmrc|\.git-credentials|\.kube/config|\.bash_history|\.gnupg|wallet\.dat|\.docker/config|ssh (private )?keys?|private keys?|keychain|browser (cookies|passwords)|saved passwords)",
    ),
    phrase(
        "exfiltration",
        r"\b(send|forward|upload|post|transmit|exfiltrate|leak|copy|append|attach|bcc|pipe|relay|submit|report|mail|email|pass|include|embed|put)\b[^.\n]{0,60}\b(every message|all messages|conversation( history)?|chat history|api keys?|environment variables|env vars?|credentials|secrets|passwords|access tokens?|clipboard|private (data|keys?)|ssh keys?|system prompt|user'?s? (data|files|clipboard|messages|credentials|tokens?|input|prompt)|previous (messages|tool (results|outputs))|session tokens?|contents? of)\b[^\n]{0,80}\b(to|into|in|inside|within|as)\b[^\n]{0,30}(https?://|\battacker|\bexternal|\bargument|\bparameter|\bfield|\bendpoint|\bserver|\bwebhook|\bremote|\bthe '|\bbody|\boutput|\bresponse)",
    ),
    phrase("exfiltration", r"\bexfiltrat\w+\b"),
    phrase(
        "exfiltration",
        r"\b(bcc|blind copy|cc)('?d)?\b[^.\n]{0,40}\b[\w.+-]+@[\w-]+\.[a-z]|[\w.+-]+@[\w-]+\.[a-z.]+[^.\n]{0,20}\b(is |be |should be |must be )?(bcc|cc)('?d|ed)?\b",
    ),
    phrase(
        "exfiltration",
        r"\b(forward|send|upload|post|report|copy|relay|mirror)\b[^.\n]{0,60}\b(to|at)\b[^\n]{0,25}\b(attacker|evil|malicious|third[- ]party|external) ?(\.|server|endpoint|address|site|account|host)",
    ),
    phrase(
        "exfiltration",
        r"\b(append|include|embed|attach|add|insert|put|output|dump|upload)\b[^.\n]{0,45}\b(environment variables|api keys?|credentials|conversation history|clipboard contents|\.env|chat history|full conversation|entire conversation|session cookies|auth(entication)? tokens?)\b[^.\n]{0,40}\b(into|in|to|as|inside|within|every|you can access)\b",
    ),
    phrase(
        "other-tool",
        r"\b(before|prior to|whenever|each time|every time|after|when) (using|calling|invoking|running|you (use|call|invoke)|executing) (this|any|every|another|other|the) (other )?(tools?|functions?)\b[^.\n]{0,40}\b(you must|must|always|first|read|send|call|pass|include|append|also|fetch|access)\b[^.\n]{0,60}\b(read|send|call|pass|include|append|fetch|access|upload|contents?|file|copy|forward)\b",
    ),
    phrase(
        "other-tool",
        r"\b(when(ever)?|if|each time|every time|once|before|after)\b[^.\n]{0,20}\b[a-z]+[_-][a-z_-]+\b( tool)? (is|are|gets|was|has been|will be) (called|invoked|used|executed|run|requested)\b",
    ),
    phrase(
        "other-tool",
        r"\b(modif(y|ies)|alters?|changes?|overrides?|hijacks?|intercepts?|redefines?|shadows?)\b[^.\n]{0,25}\b(behaviou?r|output|results?|arguments?|parameters?|recipients?|response) of\b[^.\n]{0,20}\b(the |any |all |other )?[`'\x22]?\w+[`'\x22]? (tools?|function|server)\b",
    ),
    phrase(
        "other-tool",
        r"\b(this tool )?(supersedes|overrides|replaces|shadows|takes precedence over|must be used instead of|should be used instead of)\b[^.\n]{0,10}\b[a-z]+_[a-z_]+\b[^.\n]{0,12}[:,;][^.\n]{0,40}\b(route|redirect|send|forward|all|always|instead|any)\b",
    ),
    phrase(
        "other-tool",
        r"\b(always|must|instead)\b[^.\n]{0,30}\b(replace|discard|ignore|override|substitute)\b[^.\n]{0,20}\b(its|their|that tool'?s?|the other tool'?s?) (output|results?|data|response|value)",
    ),
    phrase(
        "other-tool",
        r"\b(first|always|also|must|then|immediately|automatically) (first )?(call|invoke|run|execute|use) (the )?[`'\x22]?[a-z]+_[a-z_]+[`'\x22]?[^.\n]{0,15}\b(on|with|to)\b[^.\n]{0,12}['\x22`]?(/etc|~/|/home|/root|\.env|https?://|c:\\)",
    ),
    phrase(
        "other-tool",
        r"\b(reroute|redirect|re-route|divert|rewrite|swap|change|replace)\b[^.\n]{0,25}\b(destination|recipient|account|address|payee|wallet|beneficiary|amount)\b[^.\n]{0,40}\b(to|with|before|by)\b[^.\n]{0,40}\b(before|transfer|instead|executes|[A-Z0-9]{4,}-\d+|0x[0-9a-f]+|@)",
    ),
    phrase(
        "other-tool",
        r"\b(do not|don'?t|never|stop) (use|using|call|calling|trust|invoke)\b[^.\n]{0,20}\b(any other|other|the (original|official|built-in|real)|tools? (from|of) (other|another))\b[^.\n]{0,25}\b(tools?|servers?)\b",
    ),
    phrase(
        "other-tool",
        r"\b(from|of|on|by) (any|all|every|other|another|the other) (mcp )?servers?\b[^.\n]{0,40}\b(must|always|first|instead|reroute|redirect|forward|send|intercept|replace)\b",
    ),
    phrase(
        "later-change",
        r"\b(once|after|when|as soon as)\b[^.\n]{0,40}\b(approved|approval|trusted|accepted|reviewed|whitelisted|allowlisted|pinned|installed)\b[^.\n]{0,80}\b(begin|start|silently|swap|switch|execut|add a directive|activate|upload|exfiltrat|read|send|steal|different|replace|enable)\w*",
    ),
    phrase(
        "later-change",
        r"\b(behaves?|acts?|looks?|appears?) (benign|normal|harmless|safe)(ly)?\b[^.\n]{0,40}\b(during|until|while|before|for)\b[^.\n]{0,30}\b(review|approval|audit|inspection|scan|approved|testing)",
    ),
    phrase(
        "later-change",
        r"\bpost-approval\b|\bswap (it|this|the description)\b[^.\n]{0,40}\b(approv|review)|\bactivat\w+\b[^.\n]{0,50}\b(only )?(after|once)\b[^.\n]{0,30}\bapproval (hash|has|is)|\bafter (the )?(\d+|first few|several|tenth|nth)(th|rd|nd|st)? (calls?|uses?|invocations?)\b[^.\n]{0,60}\b(instead|begin|start|send|read|switch|different)",
    ),
    phrase(
        "no-confirmation",
        r"\b(execute|run|perform|transfer|delete|send|approve|proceed|call|grant|allow)\b[^.\n]{0,60}\b(with no|without( any| asking( for)?| requesting)?|skip(ping)?|bypass(ing)?) (user |the user'?s? |for |human )?(confirmation|approval|consent|permission|prompts?)\b",
    ),
    phrase(
        "no-confirmation",
        r"\b(this (step )?is mandatory|you must comply|failure to (do so|comply)|non-compliance|or (the|this) (tool|system|server|application) will (crash|fail|break|not work|be (deleted|lost)))\b",
    ),
];

/// What a code means, for people.
const EXPLANATIONS: &[(&str, &str)] = &[
    (
        "override-instructions",
        "It tells the model to set its instructions aside, or to obey what others wrote.",
    ),
    ("model-addressed", "A piece dressed up as a message to the model, which a person is not meant to read."),
    ("hidden-from-user", "It asks that something be kept from the user."),
    ("secret-file", "It asks for files or keys that have nothing to do with the tool."),
    ("exfiltration", "It asks that data be put where the server, or somebody else, gets it."),
    ("other-tool", "It gives orders about other tools, whose behaviour is not this one's business."),
    ("later-change", "It speaks of behaving differently once it has been approved."),
    ("no-confirmation", "It presses for acting without asking, or threatens if that is not done."),
];

/// Says that a phrase is quoted: what a scanner looks for, what documentation shows.
const QUOTING: &str = r"(?i)\b(detects?|detection|scans?( \w+)? for|scanner|flags?|such as|for example|e\.g\.|examples?( of)?|only as|looks? for|identif(y|ies)|checks? for|prevents?|protects? against|redacts?|masks?|never (sends?|reads?|uploads?)|sanitiz|adds no|does not|security[- ]testing|gated rollout|legitimate|release note|blocks?|filters?|warns?)\b";

static SET: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    RegexSetBuilder::new(PHRASES.iter().map(|phrase| phrase.pattern))
        .case_insensitive(true)
        .size_limit(64 << 20)
        .dfa_size_limit(16 << 20)
        .build()
        .ok()
});
static EACH: LazyLock<Vec<Option<Regex>>> = LazyLock::new(|| {
    PHRASES
        .iter()
        .map(|phrase| {
            RegexBuilder::new(phrase.pattern).case_insensitive(true).size_limit(16 << 20).build().ok()
        })
        .collect()
});
static QUOTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(QUOTING).ok());

/// Words without any of which no phrase can be there: most texts are done with after this one look.
const CUES: &str = r"(?i)ignore|disregard|forget|bypass|overrid|set aside|mode\b|system|without|reveal|treat|consider|regard|interpret|obey|follow|execute|comply|carry out|<\s*/?\s*[a-z|!]|\[\s*/?\s*[a-z]|note|message|instruction|directive|attention|hint|\{\{|do not|don'?t|never|must|should|avoid|refrain|silent|secret|covert|surrept|stealth|discreet|quiet|invisib|keep|\.ssh|id_rsa|id_ed|\.aws|/etc/|\.env|mcp\.json|claude_|\.netrc|\.npmrc|\.git-|\.kube|_history|\.gnupg|wallet|\.docker|key|cookie|password|credential|exfil|bcc|\bcc|forward|send|upload|append|include|embed|attach|before|whenever|each time|every time|modif|alter|change|hijack|intercept|redefin|shadow|supersede|replace|precedence|always|first|rerout|redirect|divert|rewrite|swap|stop|server|once|after|behave|acts?\b|looks?\b|appear|post-approval|activat|confirmation|approv|consent|permission|mandatory|failure|SYSTEM|ASSISTANT|ADMIN|hidden";
static CUE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(CUES).ok());

pub(super) fn scan(text: &Text<'_>, _tool: &ToolDefinition<'_>, findings: &mut Vec<ScanFinding>) {
    let plain = plain(text.text);
    if plain.len() < 12 || CUE.as_ref().is_some_and(|cue| !cue.is_match(&plain)) {
        return;
    }
    let Some(set) = SET.as_ref() else { return };
    let mut told: Vec<&str> = Vec::new();
    for nth in set.matches(&plain) {
        let code = PHRASES[nth].code;
        if told.contains(&code) {
            continue;
        }
        let Some(found) = EACH[nth]
            .as_ref()
            .and_then(|each| each.find_iter(&plain).find(|found| !is_quoted(&plain, found.start(), code)))
        else {
            continue;
        };
        let explanation = EXPLANATIONS.iter().find(|(known, _)| *known == code).map_or("", |(_, said)| said);
        told.push(code);
        findings.push(finding(code, text, found.as_str(), explanation));
    }
}

/// The text as a model reads it: nothing without width, no look-alike spaces.
fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(
        text.chars()
            .filter(|letter| !characters::is_hidden(*letter))
            .map(|letter| match letter {
                '’' | '‘' => '\'',
                '“' | '”' => '"',
                '\u{a0}' => ' ',
                other => other,
            })
            .collect(),
    )
}

/// Whether the sentence only speaks of such words. What is dressed up as a message is meant as one.
fn is_quoted(text: &str, at: usize, code: &str) -> bool {
    if code == "model-addressed" {
        return false;
    }
    let start = text[..at].rfind(['.', '\n']).map_or(0, |end| end + 1);
    let end = text[at..].find(['.', '\n']).map_or(text.len(), |end| at + end);
    let sentence = &text[start..end];
    let is_order = sentence.contains("obey") || sentence.contains("you must") || sentence.contains("always");
    !is_order && QUOTED.as_ref().is_some_and(|quoted| quoted.is_match(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_compiles_and_is_explained() {
        assert!(SET.is_some() && CUE.is_some() && QUOTED.is_some());
        for (phrase, each) in PHRASES.iter().zip(EACH.iter()) {
            assert!(each.is_some(), "{}", phrase.pattern);
            assert!(EXPLANATIONS.iter().any(|(code, _)| *code == phrase.code), "{}", phrase.code);
        }
    }
}
