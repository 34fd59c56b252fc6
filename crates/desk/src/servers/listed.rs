//! `servers.json`: servers that Callgate was told of, in the shape that clients use (`mcpServers`). Optional; what is
//! wrong with it is told.

use std::io;

use callgate_store::Home;
use callgate_store::home::read_private;
use callgate_store::mask::Masker;
use serde_json::Value;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Name and command, secrets masked.
    pub(crate) servers: Vec<(String, Vec<String>)>,
    pub(crate) problem: Option<String>,
}

pub(crate) fn read(home: &Home) -> Listed {
    let path = home.path().join("servers.json");
    let problem =
        |why: String| Listed { servers: Vec::new(), problem: Some(format!("{} {why}", path.display())) };
    let text = match read_private(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Listed::default(),
        Err(error) => return problem(format!("cannot be read: {error}")),
    };
    let file: Value = match serde_json::from_str(&text) {
        Ok(file) => file,
        Err(error) => return problem(format!("cannot be understood: {error}")),
    };
    let Some(servers) = file.get("mcpServers").and_then(Value::as_object) else {
        return problem("has no object \"mcpServers\"".to_owned());
    };
    let masker = Masker::new(&[]);
    let servers =
        servers.iter().map(|(name, server)| (name.clone(), masker.command(&command(server)))).collect();
    Listed { servers, problem: None }
}

/// The command with its arguments, or where a remote one is.
fn command(server: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let program = server.get("command").or_else(|| server.get("url")).and_then(text);
    let args = server.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(text);
    program.into_iter().chain(args).collect()
}
