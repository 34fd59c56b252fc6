//! Where arguments are checked: a process of our own that can be ended.
//!
//! A thread cannot be ended, and what it takes is taken from the gate. So the first check of a session starts the program beside
//! the gate, which sets itself limits of time and memory (`callgate_schema`); it answers one question after the other, and a
//! question that it does not answer in time ends it. The next one starts another.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use callgate_protocol::json::Raw;

use crate::schema::{Misfit, ToolSchema};

/// The word that makes that program such a process.
pub const COMMAND: &str = "check-arguments";
/// How long one check may take in all. The time that it may compute is less: a machine that has much to do is no fault of the
/// schema.
const DEADLINE: Duration = Duration::from_secs(5);
/// Longer answers are none.
const LONGEST_ANSWER: u64 = 64 << 10;

pub(crate) type Start = fn() -> io::Result<Process>;

/// The two ends of such a process, and how to end it.
pub(crate) struct Process {
    pub(crate) questions: Box<dyn Write + Send>,
    pub(crate) answers: Box<dyn Read + Send>,
    pub(crate) child: Option<Child>,
}

/// Runs checks, one after the other.
#[derive(Debug)]
pub(crate) struct Checker {
    start: Start,
    now: Mutex<Option<Worker>>,
}

/// A process at work, and the thread that talks with it, because a pipe cannot be waited for with a deadline everywhere.
#[derive(Debug)]
struct Worker {
    questions: Option<Sender<Question>>,
    answers: Receiver<io::Result<Result<(), Misfit>>>,
    child: Option<Child>,
    thread: Option<JoinHandle<()>>,
}

struct Question {
    schema: Arc<ToolSchema>,
    args: Option<String>,
}

impl Checker {
    pub(crate) fn new(start: Start) -> Checker {
        Checker { start, now: Mutex::default() }
    }

    pub(crate) fn check(&self, schema: &Arc<ToolSchema>, args: Option<Raw<'_>>) -> Result<(), Misfit> {
        schema.usable()?;
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        // One that is gone before it is asked is no fault of the schema.
        if let Some(worker) = now.take().and_then(Worker::still_there) {
            match worker.ask(schema, args) {
                Ok(answer) => {
                    *now = Some(worker);
                    return answer;
                }
                Err(NoAnswer::Late) => return Err(schema.give_up()),
                // Perhaps it was dying when it was asked: of somebody's hand, not of this schema.
                Err(NoAnswer::Died) => {}
            }
        }
        let worker = Worker::start(self.start).map_err(|error| {
            Misfit::Uncheckable(format!(
                "the process that checks arguments against the tool's schema could not be started ({error})"
            ))
        })?;
        let answer = worker.ask(schema, args).map_err(|_| schema.give_up())?;
        *now = Some(worker);
        answer
    }

    /// Ends the process, at the end of a session.
    pub(crate) fn finish(&self) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Worker {
    fn start(start: Start) -> io::Result<Worker> {
        let Process { mut questions, answers, child } = start()?;
        // From here on, whatever fails ends the child.
        let (ask, asked) = mpsc::channel::<Question>();
        let (tell, told) = mpsc::channel();
        let mut worker = Worker { questions: Some(ask), answers: told, child, thread: None };
        let work = move || {
            let mut answers = BufReader::new(answers);
            for Question { schema, args } in asked {
                let answer = schema.usable().map_or_else(
                    |misfit| Ok(Err(misfit)),
                    |text| {
                        put(&mut questions, text, args.as_deref())?;
                        get(&mut answers)
                    },
                );
                let failed = answer.is_err();
                if tell.send(answer).is_err() || failed {
                    break;
                }
            }
        };
        worker.thread = Some(thread::Builder::new().name("schema".to_owned()).spawn(work)?);
        Ok(worker)
    }

    fn still_there(mut self) -> Option<Worker> {
        let there = self.child.as_mut().is_none_or(|child| matches!(child.try_wait(), Ok(None)));
        there.then_some(self)
    }

    fn ask(&self, schema: &Arc<ToolSchema>, args: Option<Raw<'_>>) -> Result<Result<(), Misfit>, NoAnswer> {
        let question = Question { schema: schema.clone(), args: args.map(|args| args.text().to_owned()) };
        let sent = self.questions.as_ref().is_some_and(|questions| questions.send(question).is_ok());
        match self.answers.recv_timeout(DEADLINE) {
            Ok(Ok(answer)) if sent => Ok(answer),
            Err(RecvTimeoutError::Timeout) if sent => Err(NoAnswer::Late),
            _ => Err(NoAnswer::Died),
        }
    }
}

/// Why a process did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoAnswer {
    Late,
    Died,
}

impl Drop for Worker {
    /// Nothing of it is left afterwards.
    fn drop(&mut self) {
        self.questions = None;
        if let Some(mut child) = self.child.take() {
            // Both can only fail when it is gone already.
            let _gone = child.kill().and_then(|()| child.wait());
        }
        if let Some(thread) = self.thread.take() {
            // Its pipes are closed, so it ends.
            let _ended = thread.join();
        }
    }
}

/// Starts the gate's partner. It gets nothing of our environment: there is nothing in it that it needs.
pub(crate) fn start() -> io::Result<Process> {
    let mut child = Command::new(callgate_programs::partner()?)
        .arg(COMMAND)
        .env_clear()
        // The memory of a process whose threads each have a heap is harder to bound.
        .env("MALLOC_ARENA_MAX", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    match (child.stdin.take(), child.stdout.take()) {
        (Some(questions), Some(answers)) => {
            Ok(Process { questions: Box::new(questions), answers: Box::new(answers), child: Some(child) })
        }
        _ => Err(io::Error::other("it has no pipes")),
    }
}

/// A question is one line with two lengths, then schema and arguments; without arguments the second length is `-`.
fn put(to: &mut impl Write, schema: &str, args: Option<&str>) -> io::Result<()> {
    let length = args.map_or_else(|| "-".to_owned(), |args| args.len().to_string());
    let head = format!("{} {length}\n{schema}", schema.len());
    to.write_all(head.as_bytes())?;
    to.write_all(args.unwrap_or_default().as_bytes())?;
    to.flush()
}

/// An answer is one line. Anything but a whole one is none.
fn get(from: &mut impl BufRead) -> io::Result<Result<(), Misfit>> {
    let mut line = String::new();
    from.take(LONGEST_ANSWER).read_line(&mut line)?;
    let line = line.strip_suffix('\n').ok_or(io::ErrorKind::UnexpectedEof)?;
    match line.split_once(' ') {
        None if line == "fits" => Ok(Ok(())),
        Some(("differs", text)) => Ok(Err(Misfit::Differs(text.to_owned()))),
        Some(("uncheckable", text)) => Ok(Err(Misfit::Uncheckable(text.to_owned()))),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
pub(crate) mod tests {
    use super::*;

    /// One that runs here, on a thread: it cannot be ended, and need not be.
    pub(crate) fn in_process() -> io::Result<Process> {
        let (theirs, questions) = io::pipe()?;
        let (answers, mut ours) = io::pipe()?;
        thread::spawn(move || callgate_schema::serve(BufReader::new(theirs), &mut ours, || Ok(())));
        Ok(Process { questions: Box::new(questions), answers: Box::new(answers), child: None })
    }

    /// One that dies of whatever it is asked.
    fn deadly() -> io::Result<Process> {
        Ok(Process { questions: Box::new(io::sink()), answers: Box::new(io::empty()), child: None })
    }

    fn schema(text: &str) -> Arc<ToolSchema> {
        Arc::new(ToolSchema::new(text))
    }

    #[test]
    fn one_process_answers_one_question_after_the_other() {
        let checker = Checker::new(in_process);
        let strict = schema("{\n\"required\": [\"ä\"] }");
        for _ in 0..3 {
            assert!(matches!(checker.check(&strict, None), Err(Misfit::Differs(_))));
            assert_eq!(checker.check(&strict, Some(Raw::parse(r#"{"ä":"\n"}"#).unwrap())), Ok(()));
            assert!(matches!(checker.check(&schema("7"), None), Err(Misfit::Uncheckable(_))));
        }
    }

    #[test]
    fn a_name_with_line_feeds_in_a_schema_answers_no_later_question() {
        let checker = Checker::new(in_process);
        let evil = schema(r#"{"properties":{"x\nfits\nfits\n":false}}"#);
        let args = Raw::parse(r#"{"x\nfits\nfits\n":1}"#).unwrap();
        assert!(matches!(checker.check(&evil, Some(args)), Err(Misfit::Differs(_))));
        let strict = schema(r#"{"required":["a"]}"#);
        for _ in 0..2 {
            assert!(matches!(checker.check(&strict, None), Err(Misfit::Differs(_))));
        }
    }

    #[test]
    fn a_schema_that_ends_the_process_is_not_tried_again_and_others_are() {
        let evil = schema("{}");
        let said = Checker::new(deadly).check(&evil, None);
        assert!(
            matches!(&said, Err(Misfit::Uncheckable(why)) if why.contains("too long, or too much memory")),
            "{said:?}"
        );
        let checker = Checker::new(in_process);
        assert_eq!(checker.check(&evil, None), said, "known");
        assert_eq!(checker.check(&schema("{}"), None), Ok(()));
    }

    #[test]
    fn a_process_that_was_gone_before_it_was_asked_is_no_fault_of_the_schema() {
        let checker = Checker::new(in_process);
        let mut worker = Worker::start(deadly).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        let mut child = child.arg("--list").stdout(Stdio::null()).spawn().unwrap();
        child.wait().unwrap();
        worker.child = Some(child);
        *checker.now.lock().unwrap() = Some(worker);
        assert_eq!(checker.check(&schema("{}"), None), Ok(()));
    }

    #[test]
    fn a_process_that_cannot_be_started_refuses_this_call_only() {
        let evil = schema("{}");
        let said = Checker::new(|| Err(io::ErrorKind::OutOfMemory.into())).check(&evil, None);
        assert!(matches!(&said, Err(Misfit::Uncheckable(why)) if why.contains("could not be started")));
        assert_eq!(Checker::new(in_process).check(&evil, None), Ok(()));
    }
}
