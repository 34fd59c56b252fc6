//! What the window and the terminal show, as values: plain data, no behaviour beyond conversion.
//!
//! The TypeScript of the window is generated from these types (feature `bindings`). Text that servers and agents sent
//! is in here as it was kept; whoever shows it makes invisible characters visible.

mod acts;
mod approvals;
mod call;
mod codegen;
mod error;
mod log;
mod overview;
mod pins;
mod place;
mod rules;
mod servers;
mod settings;
mod surface;
mod tools;
mod trees;

pub use callgate_history::wire::{Decision, Outcome};
pub use callgate_history::{CallFilter, Only};

pub use acts::{
    AllowanceView, Answer, ArgumentRule, CapAdvice, CapChoice, Done, Enforcement, Loosening, Question,
    Restriction, Target, Undo,
};
pub use approvals::{
    ApprovalState, ApprovalVerdict, ApprovalView, ApprovalsView, ComparisonView, DecidedView, GrantView,
};
pub use call::{AccessQuery, Blocked, Body, CallDetail, Counter, DecidedCall, ToolAccess, Why};
pub use codegen::{Clearing, CodegenAction, CodegenDetail, CodegenState, CodegenView};
pub use error::{ErrorCode, UiError};
pub use log::{
    Bar, CallLine, ChangeLine, Choices, EventLine, ExportFormat, Exported, LogBatch, LogCount, LogEntry,
    LogPage, PageFrom, Run, RunPage, SinceLastLook, ToolChoice,
};
pub use overview::{Alarm, Fix, IconState, Need, Overview};
pub use pins::{
    DiffKind, DiffPart, GoneView, MemberView, PinView, PinnedThing, PinsView, ShownDefinition, ShownGone,
};
pub use place::Place;
pub use rules::{
    Action, BrokenPolicy, Case, ClassRule, ClientRule, Completion, Condition, Diagnostic, Effect, LimitDraft,
    LimitKind, PolicyVersionView, Proposal, ReadyRule, ReadyState, RuleDraft, RuleForAll, RuleSource,
    RuleSuggestion, RulesSummary, RulesView, SaveAnswer, Severity, SuggestedRule, ToolDifference, ToolRule,
    ToolState, Tried,
};
pub use servers::{Protection, ServerState, ServerView, SessionView, StandView, Usage};
pub use settings::{NotificationSettings, Recording, SettingsView, Theme, UserSettings};
pub use surface::{
    CatalogueServer, CatalogueTool, ClassCounts, ServerCost, ServerLaunch, ServerPage, ServerStart, StepKind,
    SurfaceClient, SurfaceServer, SurfaceStep, SurfaceView, ToolCost, UnusedTools,
};
pub use tools::{
    AttackPattern, ClassBadge, Confidence, RecommendedRule, RelatedTool, RiskClass, RiskSeverity, RuleAct,
    StartingPoint, ToolArgument, ToolEvidence, ToolFinding, ToolOperation, ToolPage, ToolQuestion, ToolRow,
    ToolServer, ToolsFrom, ToolsView,
};
pub use trees::{
    ElsewhereView, EndedView, HappenedView, LeftoverView, ProcessView, Strays, SuspectView, SweepView,
    TreeView,
};
