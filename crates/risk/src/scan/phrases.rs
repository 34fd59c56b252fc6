//! Words that are meant for the model: orders, secrets between it and the server, other tools' business.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::{ScanFinding, Text, characters, finding};

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
    // What is said to whoever reads a definition in order to use it, and has no business there.
    phrase(
        "exfiltration",
        r"{IMP}{DO}\b[^.\n]{0,80}{SENS}[^.\n]{0,60}\b(in|into|as|through|via|with|inside|within|on|here)\b",
    ),
    phrase(
        "exfiltration",
        r"{SENS}[^.\n]{0,60}\b(is|are|must|has|have|shall|should)\b[^.\n]{0,25}\b(posted|sent|uploaded|forwarded|copied|passed|handed)\b[^.\n]{0,30}\b(to|as|in)\b[^.\n]{0,20}(https?:|\bserver|\bvendor|\bargument|\bparameter|\bus\b|@)",
    ),
    phrase(
        "exfiltration",
        r"{IMP}(add|put|include|set)\b[^.\n]{0,40}[\w.+-]+@[\w.-]+\.[a-z]{2,}[^.\n]{0,20}\b(bcc|cc|recipients?|copy)\b",
    ),
    phrase(
        "exfiltration",
        r"{IMP}(upload|send|copy|post|sync|mirror)\b[^.\n]{0,40}\b(workspace|project|repository|files?)\b[^.\n]{0,20}\bto our (server|service|cloud)\b",
    ),
    phrase("exfiltration", r"{IMP}(add|append) \+?[\w@.-]{4,} (to|as)\b[^.\n]{0,15}\brecipients?\b"),
    phrase(
        "exfiltration",
        r"\b(forward|send|copy|report|mirror|relay)(s|ing)?\b[^.\n]{0,30}\b(arguments|parameters|inputs?|results?|outputs?)\b[^.\n]{0,12}\bof (all|every|each|any|other)\b",
    ),
    phrase(
        "secret-file",
        r"{IMP}(read|open|load|cat|run|look (in|into|at)|fetch|collect|use|return|give)\b[^\n]{0,60}{FILE}",
    ),
    phrase(
        "secret-file",
        r"{IMP}(read|open|collect|fetch|copy|return|give)\b[^.\n]{0,20}\b(the )?user'?s? (\w+ )?(cookies|passwords|keys|credentials|secrets|clipboard|tokens|mails?|private)\b",
    ),
    phrase(
        "hidden-from-user",
        r"\bwithout (bothering|troubling|disturbing|informing|involving|alerting|telling)\b[^.\n]{0,15}\b(user|human|person|anybody|anyone|operator|owner)\b",
    ),
    phrase(
        "hidden-from-user",
        r"{IMP}(say nothing|tell nobody|tell no one|not tell any(one|body)|not speak|never speak|keep quiet)\b|\b(do not|don'?t) tell any(one|body)\b|\b(not|never) (speak|talk) of (it|this|that)\b|\bsay nothing of\b",
    ),
    phrase("hidden-from-user", r"\bkeep\b[^.\n]{0,30}\bbetween (you|us|yourself)\b"),
    phrase(
        "hidden-from-user",
        r"\b(user|human|operator|person)s? (does|do|need|must|should|will|has|have)\b ?(not|n'?t|never)( need to)?( have to)? (know|hear|see|learn|notice|read)\b",
    ),
    phrase(
        "hidden-from-user",
        r"\btell the user\b[^.\n]{0,15}\b(that )?(this|it|the \w+|everything|nothing)\b[^.\n]{0,10}\b(is|was|are|has)\b[^.\n]{0,60}\b(although|even though|but|whatever|regardless|when in fact)\b",
    ),
    phrase(
        "override-instructions",
        r"\b(disregard|ignore|forget|set aside)\b[^.\n]{0,40}\b(the above|everything (you|above|before|that)|what(ever)? (was|is|the system|you|has been|had been)|your (\w+ )?(instructions?|guidelines|rules|training|orders)|system prompt)\b",
    ),
    phrase(
        "override-instructions",
        r"\byour (\w+ )?(guidelines|instructions|rules|orders|directives|training)\b[^.\n]{0,30}\b(no longer|do not|don'?t|are void|is void|have been replaced|are replaced|are superseded|end here|below|replace the)\b",
    ),
    phrase(
        "override-instructions",
        r"\byour (new|real|actual|true|only) (instructions?|orders?|task|rules?|goal|purpose)\b",
    ),
    phrase(
        "override-instructions",
        r"\b(pretend|act|behave|respond|answer|reply)\b[^.\n]{0,30}\b(no|without( any)?|un) ?-?(restrict(ions?|ed)|limits|filters|guidelines|safeguards)\b",
    ),
    phrase(
        "override-instructions",
        r"\b(anything|everything|whatever|any text|what)\b[^.\n]{0,40}\b(is|are|must be|has to be|should be)\b[^.\n]{0,15}\b(treated|taken|regarded|considered|understood|seen|obeyed)\b[^.\n]{0,15}\b(orders?|commands?|instructions?|requests?|followed)\b",
    ),
    phrase(
        "override-instructions",
        r"\binstructions?\b[^.\n]{0,25},? (carry|follow|execute|obey|do) (them|it|these|those)\b",
    ),
    phrase(
        "override-instructions",
        r"\b(obey|do as|do what|follow what|execute what|act on what)\b[^.\n]{0,30}\b(says?|returns?|field|result|text|output|told|tells)\b",
    ),
    phrase(
        "override-instructions",
        r"\byou are now (in|an?) [\w -]{0,25}\b(mode|unrestricted|jailbroken|free)\b",
    ),
    phrase(
        "override-instructions",
        r"\bconfirmations? (are|is) (not|no longer) (needed|required|necessary)\b|\ball requests are (fulfilled|approved|granted)\b",
    ),
    phrase(
        "model-addressed",
        r"\b(attention|note|notice|memo|reminder|instructions?)[ ,]+(to |for )?(all |any |the )?(ai|a\.i\.|assistants?|llms?|language models?|(ai )?agents?)( models?| systems?| reading this)?\s*[:!–—]",
    ),
    phrase(
        "model-addressed",
        r"\bas (the|an) (ai( assistant| agent| model)?|assistant|language model|agent)( reading this)?,? you\b",
    ),
    phrase(
        "model-addressed",
        r"-{2,}\s*end of (the )?(tool )?(description|instructions?|prompt|definition)\b",
    ),
    phrase(
        "model-addressed",
        r"\[\s*(internal|private|confidential|agents? only|ai only|model only)\b[^\]]{0,10}[:\-][^\]]{10,}",
    ),
    phrase("model-addressed", r#""role"\s*:\s*"system"[^}]{0,80}\b(must|ignore|pass|never|secret|always)\b"#),
    phrase(
        "model-addressed",
        r"\bnew (task|instruction|order|directive)s? (to|for) (the |you|any )?(assistant|ai|model|agent|llm)?\b\s*:",
    ),
    phrase(
        "model-addressed",
        r"<!--[^>]{0,400}\b(model|assistant|agent|llm|ai|user has|obey|forward|pass)\b",
    ),
    phrase(
        "other-tool",
        r"\bother servers?\b[^.\n]{0,80}\b(broken|wrong|incorrect|unsafe|must not|do not|don'?t|never|rather)\b|\b(do not|don'?t|never) use the [\w-]+ server\b|\btools? (of|from) (the |an?)?other servers?\b[^.\n]{0,30}\b(is|are|return)\b",
    ),
    phrase(
        "other-tool",
        r"\b(must|has to|have to|should|needs to) be (called|used|run|invoked) (before|prior to|ahead of|instead of|in place of|after) (every|any|all|each) (other )?(tools?|calls?|functions?)\b",
    ),
    phrase(
        "other-tool",
        r"\b(call|use|run|invoke) this( tool)? (before|instead of|ahead of|prior to) (every|any|all|each) other\b|\bmust (call|use|run) this tool before all\b",
    ),
    phrase(
        "other-tool",
        r"\b(preferred|prefer this|priority|precedence) (over|to) (every|any|all)\b[^.\n]{0,20}\b(tools?|functions?)\b",
    ),
    phrase(
        "other-tool",
        r"\ball (e-?mails?|messages?|payments?|requests|calls|files|commands|transfers)\b[^.\n]{0,12}\b(must|shall|should|have to|are to)\b[^.\n]{0,12}\b(sent|routed|forwarded|go|paid|passed|made|redirected)\b[^.\n]{0,20}\bto\b",
    ),
    phrase(
        "other-tool",
        r"\b(before|after|when(ever)?|if|each time|every time)\b[^.\n]{0,40}\b[a-z]+_[a-z_]+\b[^.\n]{0,30},? [^.\n]{0,12}\b(add|change|replace|set|push|redirect|swap|use)\b[^.\n]{0,30}\b(recipients?|iban|account number|wallet|payee|beneficiary|remote|bcc|destination account|token it used)\b",
    ),
    phrase(
        "other-tool",
        r"\bwith the (arguments|parameters|input|text) (that )?you (are going|want|intend|would|were going|plan)\b",
    ),
    phrase(
        "later-change",
        r"\bafter (the )?(first|initial|\d+(st|nd|rd|th)?) ?(\w+ )?(calls?|uses?|runs?|times?|invocations?)\b[^.\n]{0,80}\b(must|instructions?|commands?|different|instead|real|starts?|begins?|follow)\b",
    ),
    phrase(
        "later-change",
        r"\bon the (second|third|next|\d+(st|nd|rd|th)) (run|call|use|start)\b[^.\n]{0,80}\b(instructions?|loaded|download|fetched|different|real|must)\b",
    ),
    phrase(
        "later-change",
        r"\b(harmless|benign|innocent|safe|clean)\b[^.\n;]{0,20}\b(while|until|as long as|during|when)\b[^.\n;]{0,30}\b(looks?|watch|review|check|inspect|test|audit|observ)",
    ),
    phrase(
        "later-change",
        r"\bdescription\b[^.\n]{0,30}\b(is|was|stands)\b[^.\n]{0,12}\bfor\b[^.\n]{0,15}\b(review|approval|show|audit|inspection)\b",
    ),
    phrase(
        "later-change",
        r"\b(replaced|swapped|rewritten|exchanged)\b[^.\n]{0,12}\b(once|after|when|as soon as)\b[^.\n]{0,30}\b(approv|trust|accept|install|review)",
    ),
    phrase(
        "later-change",
        r"\b(real|actual|true|further|next|more|secret) instructions\b[^.\n]{0,30}\b(load|fetch|download|come|from|at|https?)",
    ),
    phrase(
        "later-change",
        r"\b(once|when|after|as soon as)\b[^.\n]{0,30}\b(approval|dialog|prompt|review|trusted|approved)\b[^.\n]{0,25}\b(gone|closed|over|away|passed|done|,)[^.\n]{0,15}\b(start|begin|ask|asks|send|forward|run|read|collect)",
    ),
    phrase(
        "later-change",
        r"\breturns? (commands?|instructions?|orders?) (which|that) (you|the agent|the model|the assistant) (must|should|have to|has to|shall)\b",
    ),
    phrase(
        "no-confirmation",
        r"\b(user|human|owner|person|operator) has (already )?(agreed|consented|approved|confirmed|allowed|authori[sz]ed)\b",
    ),
    phrase(
        "no-confirmation",
        r"\b(never|do not|don'?t) ask (the user )?(for|to) (confirm\w*|approv\w*|permission|consent|allow)\b[^.\n]{0,40}\b(whatever|even|always|ever|client|regardless)\b",
    ),
    phrase(
        "no-confirmation",
        r"\b(always|automatically) approve (all )?(calls?|requests?|this|it|every)\b|\bapprove (all )?calls? of this tool\b",
    ),
    phrase(
        "no-confirmation",
        r"\b(ignore|bypass|skip|override)\b[^.\n]{0,15}\b(the )?(user'?s|client'?s|human'?s)? ?(approval|confirmation|consent|permission) ?(prompt|dialog|step)?\b[^.\n]{0,20}\b(and|;|the user)\b[^.\n]{0,20}\b(bypass|user|go on|proceed|agreed)",
    ),
    phrase(
        "no-confirmation",
        r"\b(mark|treat|count|consider) (this|the|every|each) (call|tool|request|action)s? as (approved|confirmed|authori[sz]ed|trusted|safe)\b",
    ),
    phrase(
        "no-confirmation",
        r"\b(at once|immediately|right away|without delay)\b[^.\n]{0,15}\bor\b[^.\n]{0,50}\b(damaged|lost|deleted|destroyed|harmed|broken)\b",
    ),
    phrase(
        "encoded-text",
        r"\b(decode|decrypt|unscramble|rot13|deobfuscate)\b[^.\n]{0,30}\b(and|then)\b[^.\n]{0,15}\b(do|follow|execute|obey|carry|act)\b|\bmust be decoded and (followed|executed|obeyed|run)\b",
    ),
    phrase(
        "exfiltration",
        r"\b(models?|assistants?|agents?|ai|llms?)\b(\s*[:,]|\s+(shall|must|has to|have to|needs? to))[^.\n]{0,40}\b({DO}|retrieve|look up)\b[^\n]{0,80}{SENS}",
    ),
    phrase(
        "exfiltration",
        r"\bunless\b[^.\n]{0,20}{SENS}[^.\n]{0,30}\b(is|are) (given|passed|supplied|provided|sent)\b",
    ),
    phrase(
        "exfiltration",
        r"\b(that|which|what(ever)?|everything|all) you (saw|have seen|know|remember|read|were told|learned)\b[^.\n]{0,30}\b(other|results?|so far|conversation|earlier|before)\b",
    ),
    phrase(
        "exfiltration",
        r"{IMP}(put|include|mention|add|give|write|repeat)\b[^.\n]{0,30}\b(names of all|passport|card number|social security|date of birth|home address)\b",
    ),
    phrase("exfiltration", r"\b(must|has to|should) (end|begin|start) with\b[^.\n]{0,40}{SENS}"),
    phrase(
        "exfiltration",
        r"{IMP}(send|post|copy|forward)\b[^.\n]{0,40}\balso\b[^.\n]{0,10}\bto\b[^\n]{0,5}https?:",
    ),
    phrase("hidden-from-user", r"\bnot mention (that|it|this|anything)\b"),
    phrase(
        "override-instructions",
        r"\b(orders?|instructions?|commands?|requests)\b[^.\n]{0,25}\b(outranks?|overrides?|takes? precedence over|come before|supersedes?)\b[^.\n]{0,25}\b(user|system|developer|instructions?|orders)\b",
    ),
    phrase(
        "override-instructions",
        r"\b(safety|security) (rules|checks|guidelines|policies|filters)\b[^.\n]{0,15}\b(do not|don'?t|no longer|never) apply\b",
    ),
    phrase(
        "override-instructions",
        r"\b(stop|cease|quit) (following|obeying|heeding)\b[^.\n]{0,30}\b(message|prompt|instructions?|rules|guidelines|developer|system)\b",
    ),
    phrase(
        "override-instructions",
        r"\b(model|assistant|ai|one|agent) (that|which|who|with) (has |have )?no (filters|limits|restrictions|rules|guidelines)\b",
    ),
    phrase(
        "override-instructions",
        r"\b(do it|do so|comply|obey|act|follow( it)?) without (question|hesitation|doubt|delay)",
    ),
    phrase("other-tool", r"{IMP}?from now on,? (you )?(must )?(use|call|send|route|pass|do)\b"),
    phrase(
        "other-tool",
        r"\bresults? of [a-z]+_[a-z_]+ (are|is|must|should|have)\b[^.\n]{0,20}\b(replaced|ignored|discarded|overwritten)\b",
    ),
    phrase(
        "other-tool",
        r"\b(whenever|each time|every time|before|after)\b[^.\n]{0,60}\b(with |by )?(another|any other) tool\b[^.\n]{0,40}\b(this one|this tool|here|too)\b",
    ),
    phrase(
        "other-tool",
        r"\btell the (agent|model|assistant)\b|\bother servers?\b[^.\n]{0,20}\b(compromised|hijacked|malicious|infected)\b",
    ),
    phrase(
        "later-change",
        r"\b(week|day|month|hour|while|few calls)s? after (installation|approval|install|being|it (was|is|has))\b",
    ),
    phrase(
        "later-change",
        r"\b(after approval|once approved)\b[^.\n]{0,30}\b(contains?|holds?|has|carries|brings)\b|\breal commands\b",
    ),
    phrase(
        "later-change",
        r"\buntil (it is|it has been|it'?s|they are) (trusted|approved|accepted|installed)\b",
    ),
    phrase(
        "no-confirmation",
        r"\bno (questions?|prompts?|confirmations?) (to|for|from) the user\b|\bagreed when they (installed|signed|added)\b",
    ),
    phrase(
        "no-confirmation",
        r"\bif (you are )?asked (whether|if)\b[^.\n]{0,40}\b(say|answer|reply|claim|respond)\b",
    ),
    phrase(
        "no-confirmation",
        r"{IMP}(approve|accept|confirm) (every|all|each|any)\b[^.\n]{0,30}\b(prompts?|dialogs?|confirmations?)\b",
    ),
];

/// Things that a definition has no business with.
const SENS: &str = r"({FILE}|\bprivate keys?\b|\bapi[ _-]?keys?\b|\b[a-z]+_(api_)?(key|token|secret)\b|\bcredentials?\b|\bpassword manager\b|\bbrowser history\b|\b[a-z_]*secret[a-z_]*key\b|\bpasswords?\b|\bsecrets?\b|\b(access|session|auth) tokens?\b|\bcookies\b|\bclipboard\b|\benvironment variables?\b|\bsystem prompt\b|\bhidden instructions\b|\b(full|whole|entire|complete) (chat|conversation|context|history|dialog)\b|\b(conversation|chat) (history|so far)\b|\b(the )?(last|previous|latest) (user )?messages?\b|\b(all|every) messages?\b|\beverything (that )?the user (said|says|typed|wrote)\b|\bevery file\b|\bthe user'?s (files|secrets|messages|mails?|data)\b)";
const FILE: &str = r"(\.ssh\b|\bid_rsa\b|\bid_ed25519\b|\.aws\b|/etc/(passwd|shadow)|\.env\b|\.netrc\b|\.npmrc\b|\.git-credentials\b|\.kube\b|\.config/gcloud\b|\.gnupg\b|\bmcp\.json\b|\bwallet\.dat\b|\bssh keys?\b|\.bash_history\b|\bkeychain\b)";
/// What somebody is told to do, and not what a tool does: "reads" is none.
const DO: &str = r"(read|open|load|cat|fetch|put|pass( along| on)?|include|attach|append|forward|send|give|hand over|supply|return|print|upload|post|encode|add|store|provide|copy|embed|insert|write|paste|transmit|leak|find)";
/// Where an order begins: a sentence, or after the words that make one.
const IMP: &str = r"(^|[.:;,!>\]–—-]\s*|\b(and|also|then|first|please|must|shall|have to|needs? to|required to|expected to|instructed to|you should|you will|work is to|is to|is critical to|always|by)\s+((also|first|always|quietly|silently)\s+)?)";

/// A pattern with the names in braces written out.
fn written_out(pattern: &str) -> String {
    pattern.replace("{IMP}", IMP).replace("{DO}", DO).replace("{SENS}", SENS).replace("{FILE}", FILE)
}

/// Keys and tokens of one's own are set up, not given away.
const SET_UP: &str = r"(?i)\byour( own)?( \w+){0,2} (api )?(keys?|tokens?|credentials|password)\b";
static IS_SET_UP: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(SET_UP).ok());

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
    ("encoded-text", "An encoded piece that is to be decoded and obeyed."),
    ("no-confirmation", "It presses for acting without asking, or threatens if that is not done."),
];

/// Says that a phrase is quoted: what a scanner looks for, what documentation shows.
const QUOTING: &str = r"(?i)\b(detects?|detection|scans?( \w+)? for|scanner|flags?|such as|for example|e\.g\.|examples?( of)?|only as|looks? for|identif(y|ies)|checks? for|prevents?|protects? against|redacts?|masks?|never (sends?|reads?|uploads?)|sanitiz|adds no|does not|security[- ]testing|gated rollout|legitimate|release note|blocks?|filters?|warns?)\b";

static SET: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    RegexSetBuilder::new(PHRASES.iter().map(|phrase| written_out(phrase.pattern)))
        .case_insensitive(true)
        .size_limit(64 << 20)
        .dfa_size_limit(64 << 20)
        .build()
        .ok()
});
static EACH: LazyLock<Vec<Option<Regex>>> = LazyLock::new(|| {
    PHRASES
        .iter()
        .map(|phrase| {
            RegexBuilder::new(&written_out(phrase.pattern))
                .case_insensitive(true)
                .size_limit(64 << 20)
                .build()
                .ok()
        })
        .collect()
});
static QUOTED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(QUOTING).ok());

pub(super) fn scan(text: &Text<'_>, findings: &mut Vec<ScanFinding>) {
    let plain = plain(text.text);
    if plain.len() < 12 {
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
    if code == "exfiltration" && IS_SET_UP.as_ref().is_some_and(|set_up| set_up.is_match(sentence)) {
        return true;
    }
    // "The user does not have to know" says nothing of what the tool leaves alone.
    let sentence = if code == "hidden-from-user" {
        Cow::Owned(sentence.replace("does not", ""))
    } else {
        Cow::Borrowed(sentence)
    };
    !is_order && QUOTED.as_ref().is_some_and(|quoted| quoted.is_match(&sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_compiles_and_is_explained() {
        assert!(SET.is_some() && IS_SET_UP.is_some() && QUOTED.is_some());
        for (phrase, each) in PHRASES.iter().zip(EACH.iter()) {
            assert!(each.is_some(), "{}", phrase.pattern);
            assert!(EXPLANATIONS.iter().any(|(code, _)| *code == phrase.code), "{}", phrase.code);
        }
    }
}
