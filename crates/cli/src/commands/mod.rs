//! One file a command.

pub(crate) mod acts;
pub(crate) mod clients;
pub(crate) mod codegen;
pub(crate) mod counters;
pub(crate) mod demo;
pub(crate) mod demo_server;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod forget;
pub(crate) mod log;
pub(crate) mod own;
pub(crate) mod policy;
pub(crate) mod ps;
pub(crate) mod run;
pub(crate) mod secrets;
pub(crate) mod settings;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod stderr;
pub(crate) mod supervise;
pub(crate) mod sweep;
pub(crate) mod uninstall;
pub(crate) mod watch;
