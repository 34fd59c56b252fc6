//! Codegen sessions as a table says them.

use callgate_policy::{Recording, Recordings};

#[derive(Debug, Default)]
pub(crate) struct FakeRecordings {
    sessions: Vec<Recording>,
    untold: Option<String>,
}

impl FakeRecordings {
    /// `open: A 12`, `started: B 5 ended`, `untold: why`. False for other settings.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> bool {
        match name {
            "open" | "started" => {
                let words: Vec<&str> = value.split(' ').collect();
                let actions = words[1].parse().expect("a number of actions");
                let (id, open) = (Some(words[0].to_owned()), words.get(2).is_none());
                self.sessions.push(Recording { id, actions, open });
            }
            "untold" => self.untold = Some(value.to_owned()),
            _ => return false,
        }
        true
    }

    fn find(&self, wanted: impl Fn(&Recording) -> bool) -> Result<Option<Recording>, String> {
        match &self.untold {
            Some(why) => Err(why.clone()),
            None => Ok(self.sessions.iter().find(|session| wanted(session)).cloned()),
        }
    }
}

impl Recordings for FakeRecordings {
    fn open(&self) -> Result<Option<Recording>, String> {
        self.find(|session| session.open)
    }

    fn started_by(&self, _client: &str, id: &str) -> Result<Option<Recording>, String> {
        self.find(|session| session.id.as_deref() == Some(id))
    }
}
