//! What is told of a tool: its class, how sure that is, why, and from which words of its definition.

use serde::{Deserialize, Serialize};

/// What a call of the tool can do, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub enum RiskClass {
    /// Retrieves; changes nothing.
    Read,
    /// Creates or changes data, in a way that can be undone or repeated.
    Write,
    /// Runs code, queries or processes, drives a browser or a device: what it does depends on its arguments.
    Execute,
    /// Removes or ends something for good.
    Destructive,
    /// Moves money, or commits to paying.
    Financial,
}

impl RiskClass {
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Execute, Self::Destructive, Self::Financial];

    pub fn severity(self) -> RiskSeverity {
        match self {
            Self::Read => RiskSeverity::Low,
            Self::Write => RiskSeverity::Medium,
            Self::Execute => RiskSeverity::High,
            Self::Destructive | Self::Financial => RiskSeverity::Critical,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "Read",
            Self::Write => "Write",
            Self::Execute => "Execute",
            Self::Destructive => "Destructive",
            Self::Financial => "Financial",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// A pure function of the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
pub enum RiskSeverity {
    Low,
    Medium,
    High,
    Critical,
}

impl RiskSeverity {
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "Low",
            Self::Medium => "Medium",
            Self::High => "High",
            Self::Critical => "Critical",
        }
    }
}

/// How much the definition itself says for the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(specta::Type))]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Hardly anything: the class is the cautious one, and a guess.
    Low,
    /// One word of it, or two that disagree.
    Medium,
    /// Name and description agree, or the tool is in the catalogue.
    High,
}

/// Where a quoted piece stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EvidencePlace {
    Name,
    Description,
    Schema,
    Annotations,
    Catalogue,
}

impl EvidencePlace {
    pub fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Description => "description",
            Self::Schema => "schema",
            Self::Annotations => "annotations",
            Self::Catalogue => "catalogue",
        }
    }
}

/// A piece of the definition, word for word, and what it speaks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    pub place: EvidencePlace,
    pub quote: String,
    pub suggests: RiskClass,
}

/// What a class alone does not tell, and what rules about flows of data need to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DataFlags {
    /// Files, mail, messages, secrets, customers, what is on the screen.
    pub reads_private_data: bool,
    /// Pages, mail, issues, comments: others wrote it, and it may address the agent.
    pub returns_text_of_others: bool,
    /// What it is given leaves this machine for somebody else to read.
    pub sends_outside: bool,
}

/// One operation of a tool that does several, chosen by an argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OperationClass {
    /// The argument that chooses.
    pub argument: String,
    pub value: String,
    pub class: RiskClass,
}

/// All that is told of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Assessment {
    pub class: RiskClass,
    pub severity: RiskSeverity,
    pub confidence: Confidence,
    /// A sentence.
    pub reason: String,
    pub evidence: Vec<Evidence>,
    /// What the definition leaves open, in sentences; empty if nothing.
    pub uncertain: Vec<String>,
    pub flags: DataFlags,
    /// Of a tool with an argument that chooses what it does; else empty.
    pub operations: Vec<OperationClass>,
}
