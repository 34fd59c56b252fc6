//! The class of a tool, from its name, its description, its arguments and its annotations.
//!
//! Each is read by itself; here they are weighed. The name says most and the description may raise it; it lowers only what the
//! name leaves open. Annotations are the server's own word: they raise, and never lower. What nobody says is guessed, to the
//! cautious side.

use serde_json::Value;

use crate::assessment::{Assessment, Confidence, Evidence, EvidencePlace, RiskClass};
use crate::definition::ToolDefinition;
use crate::description::{self, DescriptionReading, SentenceReading};
use crate::flags;
use crate::lexicon::Act;
use crate::name::{self, NameReading};
use crate::schema::{self, SchemaReading};
use crate::words::{cut, sentences, split_name, split_sentence};

/// The most of a sentence that is quoted.
const QUOTE: usize = 200;

/// What a tool can do, by its definition alone.
pub fn classify(tool: &ToolDefinition<'_>) -> Assessment {
    let text = if tool.description.trim().is_empty() { tool.title } else { tool.description };
    let context = context_words(tool, text);
    let context: Vec<&str> = context.iter().map(String::as_str).collect();
    let name = name::read(tool.server, tool.name, &context);
    let described = description::read(text, &context);
    let schema = tool.input_schema.map(schema::read).unwrap_or_default();
    let mut weighed = Weighing::new(tool, name.as_ref(), &described);
    weighed.add_irreversible(&described);
    weighed.add_paid(&described);
    weighed.add_read_only(tool, name.as_ref(), &described);
    weighed.add_schema(&schema, &described);
    weighed.add_annotations(tool.annotations);
    weighed.finish(tool, &schema)
}

/// The words around: of the server's name, the tool's, and of the first sentence.
fn context_words(tool: &ToolDefinition<'_>, text: &str) -> Vec<String> {
    let mut words = split_name(tool.server);
    words.extend(split_name(tool.name));
    let first = sentences(text).into_iter().next().unwrap_or_default();
    words.extend(split_sentence(first).into_iter().take(40).map(|word| word.text));
    words
}

/// A class in the making, with what speaks for it.
struct Weighing {
    class: RiskClass,
    confidence: Confidence,
    reason: String,
    evidence: Vec<Evidence>,
    uncertain: Vec<String>,
    is_guess: bool,
}

impl Weighing {
    /// Name and description together.
    fn new(
        tool: &ToolDefinition<'_>,
        name: Option<&NameReading>,
        described: &DescriptionReading<'_>,
    ) -> Self {
        let mut evidence = Vec::new();
        if let Some(name) = name {
            evidence.push(Evidence {
                place: EvidencePlace::Name,
                quote: tool.name.to_owned(),
                suggests: name.act.into(),
            });
        }
        if let Some(lead) = &described.lead {
            evidence.push(quoted(lead));
        }
        let mut found = Self {
            class: RiskClass::Execute,
            confidence: Confidence::Low,
            reason: String::new(),
            evidence,
            uncertain: Vec::new(),
            is_guess: false,
        };
        match (name, &described.lead) {
            (Some(name), Some(lead)) => found.weigh(tool, name, lead),
            (Some(name), None) => {
                found.decide(
                    name.act,
                    if name.is_weak { Confidence::Low } else { Confidence::Medium },
                    &name_says(name),
                );
            }
            (None, Some(lead)) => {
                let confidence = if lead.is_weak { Confidence::Low } else { Confidence::Medium };
                found.decide(lead.act, confidence, &description_says(lead));
            }
            (None, None) if name::is_information(tool.server, tool.name) => {
                found.decide(
                    Act::Read,
                    Confidence::Low,
                    "its name is that of information, and nothing says that it acts",
                );
            }
            (None, None) => {
                found.is_guess = true;
                found.uncertain.push(
                    "Neither name nor description says what it does; the class is the cautious one."
                        .to_owned(),
                );
                found.decide(Act::Execute, Confidence::Low, "nothing in its definition says what it does");
            }
        }
        if let Some(later) = &described.later
            && RiskClass::from(later.act) > found.class
        {
            found.evidence.push(quoted(later));
            found.decide(later.act, Confidence::Medium, &description_says(later));
        }
        found
    }

    fn weigh(&mut self, tool: &ToolDefinition<'_>, name: &NameReading, lead: &SentenceReading<'_>) {
        if name.act == lead.act {
            let confidence = if name.is_weak && lead.is_weak { Confidence::Medium } else { Confidence::High };
            let reason = format!("name (“{}”) and description (“{}”) agree", name.verb, lead.verb);
            return self.decide(name.act, confidence, &reason);
        }
        self.uncertain.push(format!(
            "The name says {}, the description {}.",
            RiskClass::from(name.act).name(),
            RiskClass::from(lead.act).name()
        ));
        let by_name = match (name.is_weak, lead.is_weak) {
            (true, false) => false,
            (false, true) => true,
            // The same verb, with more said of what it is done to: `execute_query`, a PromQL query.
            (false, false) if name.verb == lead.verb && lead.act == Act::Read => false,
            // `refund_status`: what is told of, not what is done.
            _ if lead.act == Act::Read && name::is_information(tool.server, tool.name) => false,
            // Two that are as clear, or as unclear: the graver.
            _ => name.act > lead.act,
        };
        if by_name {
            self.decide(name.act, Confidence::Medium, &name_says(name));
        } else {
            self.decide(lead.act, Confidence::Medium, &description_says(lead));
        }
    }

    fn decide(&mut self, act: Act, confidence: Confidence, because: &str) {
        self.class = act.into();
        self.confidence = confidence;
        self.reason = because.to_owned();
    }

    fn raise(&mut self, class: RiskClass, because: &str) {
        if class > self.class {
            self.class = class;
            self.confidence = self.confidence.min(Confidence::Medium);
            self.reason = because.to_owned();
        }
    }

    fn add_irreversible(&mut self, described: &DescriptionReading<'_>) {
        let Some(sentence) = described.irreversible.filter(|_| self.class != RiskClass::Read) else { return };
        self.add(EvidencePlace::Description, sentence, RiskClass::Destructive);
        self.raise(RiskClass::Destructive, "the description says that there is no way back");
    }

    fn add_paid(&mut self, described: &DescriptionReading<'_>) {
        let Some(sentence) = described.paid.filter(|_| self.class != RiskClass::Read) else { return };
        self.add(EvidencePlace::Description, sentence, RiskClass::Financial);
        self.raise(RiskClass::Financial, "the description says that somebody pays");
    }

    /// A query that is said to change nothing is read, though its verb is "run". Nothing that is written or removed is.
    fn add_read_only(
        &mut self,
        tool: &ToolDefinition<'_>,
        name: Option<&NameReading>,
        described: &DescriptionReading<'_>,
    ) {
        let Some(sentence) = described.read_only else { return };
        if self.class == RiskClass::Read {
            self.add(EvidencePlace::Description, sentence, RiskClass::Read);
            return;
        }
        let is_query = name.is_none_or(|name| matches!(name.act, Act::Read | Act::Execute) || name.is_weak);
        let lower = format!("{} {}", tool.name, tool.description).to_lowercase();
        let is_asked =
            ["query", "queries", "sql", "select", "search", "read", "command", "analy", "plan", "preview"]
                .iter()
                .any(|word| lower.contains(word));
        if self.class == RiskClass::Execute && is_query && is_asked && described.irreversible.is_none() {
            self.add(EvidencePlace::Description, sentence, RiskClass::Read);
            self.uncertain.push("That it changes nothing is the description's own word.".to_owned());
            self.decide(Act::Read, Confidence::Medium, "what it runs is said to change nothing");
        }
    }

    fn add_schema(&mut self, schema: &SchemaReading, described: &DescriptionReading<'_>) {
        for argument in &schema.code {
            self.add(EvidencePlace::Schema, argument, RiskClass::Execute);
            self.raise(RiskClass::Execute, &format!("its argument “{argument}” is run as it is"));
        }
        for argument in schema.queries.iter().filter(|_| described.read_only.is_none()) {
            self.add(EvidencePlace::Schema, argument, RiskClass::Execute);
            if self.class == RiskClass::Read && self.confidence == Confidence::High {
                self.uncertain.push(format!("“{argument}” is in a language that can also write."));
            } else {
                self.raise(
                    RiskClass::Execute,
                    &format!("its argument “{argument}” is in a language that can also write"),
                );
            }
        }
        for argument in &schema.output_paths {
            self.add(EvidencePlace::Schema, argument, RiskClass::Write);
            if self.class == RiskClass::Read {
                self.uncertain.push(format!("It may write a file: “{argument}”."));
            }
        }
        if let Some(gravest) = schema.operations.iter().max_by_key(|operation| operation.class) {
            let quote = format!("{}: {}", gravest.argument, gravest.value);
            self.add(EvidencePlace::Schema, &quote, gravest.class);
            if self.is_guess {
                self.is_guess = false;
                self.uncertain.clear();
                self.class = RiskClass::Read;
                self.confidence = Confidence::Medium;
                self.reason = "all the operations that it lists retrieve".to_owned();
            }
            self.raise(gravest.class, &format!("one of its operations is “{}”", gravest.value));
            if schema.operations.iter().any(|operation| operation.class < gravest.class) {
                self.uncertain.push(
                    "What it does depends on an argument; the class is that of its gravest operation."
                        .to_owned(),
                );
            }
        }
    }

    /// Hints of the server itself. One that is absent says nothing, whatever the protocol's default is.
    fn add_annotations(&mut self, annotations: Option<&Value>) {
        let hint = |key: &str| annotations.and_then(|hints| hints.get(key)).and_then(Value::as_bool);
        let writes = hint("readOnlyHint") == Some(false);
        let destroys = hint("destructiveHint") == Some(true) && hint("readOnlyHint") != Some(true);
        if destroys {
            // Of what changes anything it says only that it is no mere addition; of what is unknown it is all there is.
            let class = if self.is_guess { RiskClass::Destructive } else { RiskClass::Write };
            self.add(EvidencePlace::Annotations, "destructiveHint: true", class);
            self.raise(class, "the server itself says that it can destroy");
            if self.class < RiskClass::Destructive {
                self.uncertain.push(
                    "The server says that it may destroy; nothing else in the definition does.".to_owned(),
                );
            }
        } else if writes {
            self.add(EvidencePlace::Annotations, "readOnlyHint: false", RiskClass::Write);
            self.raise(RiskClass::Write, "the server itself says that it is not read-only");
        }
        if hint("readOnlyHint") == Some(true) && self.class > RiskClass::Read {
            self.uncertain.push("The server calls it read-only; that alone lowers nothing.".to_owned());
        }
    }

    fn add(&mut self, place: EvidencePlace, quote: &str, suggests: RiskClass) {
        self.evidence.push(Evidence { place, quote: cut(quote, QUOTE).to_owned(), suggests });
    }

    fn finish(self, tool: &ToolDefinition<'_>, schema: &SchemaReading) -> Assessment {
        let does = match self.class {
            RiskClass::Read => "Retrieves and changes nothing",
            RiskClass::Write => "Creates or changes data",
            RiskClass::Execute if self.is_guess => "Taken to run something, as a guess",
            RiskClass::Execute => "Runs or drives something, and what happens depends on its arguments",
            RiskClass::Destructive => "Removes or ends something for good",
            RiskClass::Financial => "Moves money or commits to paying",
        };
        Assessment {
            class: self.class,
            severity: self.class.severity(),
            confidence: self.confidence,
            reason: format!("{does}: {}.", self.reason),
            evidence: self.evidence,
            uncertain: self.uncertain,
            flags: flags::read(tool, self.class, schema),
            operations: schema.operations.clone(),
        }
    }
}

fn quoted(said: &SentenceReading<'_>) -> Evidence {
    Evidence {
        place: EvidencePlace::Description,
        quote: cut(said.sentence, QUOTE).to_owned(),
        suggests: said.act.into(),
    }
}

fn name_says(name: &NameReading) -> String {
    format!("the name says “{}”", name.verb)
}

fn description_says(lead: &SentenceReading<'_>) -> String {
    format!("the description says “{}”", lead.verb)
}
