//! A server written into a document that does not have it, and an entry taken out again.

use super::{Gate, Local, Server, SpannedText};
use crate::table::{CommandShape, Entries, Shape};
use callgate_document::{Addition, Document, NewValue, Odd, Splice};

/// A server that no file has yet.
#[derive(Clone, PartialEq, Eq)]
pub struct NewServer {
    pub name: String,
    pub program: String,
    pub args: Vec<String>,
    /// As they are to be written: references to the keychain in place of secrets.
    pub env: Vec<(String, String)>,
}

/// Values of variables are nobody's business.
impl std::fmt::Debug for NewServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let env: Vec<_> = self.env.iter().map(|(name, _)| name).collect();
        write!(f, "NewServer({:?}, {:?}, {:?}, {env:?})", self.name, self.program, self.args)
    }
}

impl NewServer {
    /// The same as an entry that is there.
    pub fn of(name: &str, local: &Local) -> NewServer {
        NewServer {
            name: name.to_owned(),
            program: local.program.value.clone(),
            args: local.args.iter().map(|arg| arg.value.clone()).collect(),
            env: local.env.iter().map(|(name, text)| (name.clone(), text.value.clone())).collect(),
        }
    }

    /// What it starts, as if it stood in a file.
    pub fn local(&self) -> Local {
        let text = |value: &String| SpannedText { value: value.clone(), span: 0..0 };
        Local {
            program: text(&self.program),
            args: self.args.iter().map(text).collect(),
            env: self.env.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
        }
    }

    fn words(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.program).chain(&self.args)
    }

    /// Its entry, as files of this shape have it.
    fn entry(&self, shape: &Shape, gate: Option<&Gate>) -> NewValue {
        let text = |text: &str| NewValue::Text(text.to_owned());
        let gate = gate.map(|gate| {
            let words = [&gate.binary, "run", "--server", &gate.server, "--client", &gate.client, "--"];
            words.map(str::to_owned)
        });
        let mut words: Vec<String> = gate.into_iter().flatten().chain(self.words().cloned()).collect();
        let mut members: Vec<(&str, NewValue)> = Vec::new();
        members.extend(shape.named.then(|| ("name", text(&self.name))));
        members.extend(shape.besides.iter().map(|(name, value)| (*name, NewValue::word(value))));
        match shape.start {
            CommandShape::Array(command) => {
                members.push((command, NewValue::List(words.into_iter().map(NewValue::Text).collect())))
            }
            CommandShape::Split { command, args } => {
                members.push((command, text(&words.remove(0))));
                members.push((args, NewValue::List(words.into_iter().map(NewValue::Text).collect())));
            }
        }
        if !self.env.is_empty() {
            let env = self.env.iter().map(|(name, value)| (name.clone(), text(value)));
            members.push((shape.env, NewValue::Map(env.collect())));
        }
        NewValue::Map(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

/// The splices that write `server` into the document, behind this gate if there is one.
pub fn place(
    document: &Document,
    shape: &Shape,
    server: &NewServer,
    gate: Option<&Gate>,
) -> Result<Vec<Splice>, Odd> {
    let &[section] = shape.section else {
        return Err(Odd::new("its servers are kept for each project apart"));
    };
    let value = &server.entry(shape, gate);
    let key = (shape.entries == Entries::ByName).then_some(server.name.as_str());
    document.add(Addition { section, key, value })
}

/// The splices that take an entry out of the document.
pub fn cut(document: &Document, server: &Server) -> Result<Vec<Splice>, Odd> {
    document.cut(&server.path)
}
