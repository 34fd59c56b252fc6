//! `servers.json`: servers that Callgate was told of. What is wrong with it is told.

use callgate_clients::own;
use callgate_home::Home;
use callgate_redaction::Masker;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Name and command, secrets masked.
    pub(crate) servers: Vec<(String, Vec<String>)>,
    pub(crate) problem: Option<String>,
}

pub(crate) fn read(home: &Home) -> Listed {
    let masker = Masker::new(&[]);
    match own::commands(home.path()) {
        Ok(servers) => Listed {
            servers: servers.into_iter().map(|(name, command)| (name, masker.command(&command))).collect(),
            problem: None,
        },
        Err(error) => Listed { servers: Vec::new(), problem: Some(error.to_string()) },
    }
}
