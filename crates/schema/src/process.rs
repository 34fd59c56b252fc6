//! The process in which arguments are checked, from its inside: it reads questions and answers them, within its limits.

use std::io::{self, BufRead, BufReader, Write};
use std::thread;

use crate::{Fit, Schemas, confinement};

/// Room for the deepest check that the bounds of a schema allow; only what is used is ever taken.
const STACK: usize = 256 << 20;

/// Answers what is asked on standard input until that ends. Its end by a limit is an answer, too.
pub fn check_arguments() -> u8 {
    let work = || serve(BufReader::new(io::stdin()), &mut io::stdout(), confinement::allow_one_more);
    let served = confinement::confine().and_then(|()| on_large_stack(work)?);
    u8::from(served.is_err())
}

/// The same for any two ends; `before` is called before each question.
pub fn serve(
    mut questions: impl BufRead,
    answers: &mut impl Write,
    before: fn() -> io::Result<()>,
) -> io::Result<()> {
    let mut schemas = Schemas::default();
    while let Some((schema, args)) = take(&mut questions)? {
        before()?;
        tell(answers, &schemas.check(&schema, args.as_deref()))?;
    }
    Ok(())
}

pub(crate) fn on_large_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let thread = thread::Builder::new().stack_size(STACK).spawn(work)?;
    thread.join().map_err(|_| io::Error::other("it gave up"))
}

/// A question is one line with two lengths, then schema and arguments; without arguments the second length is `-`. `None` when
/// there are no more.
fn take(from: &mut impl BufRead) -> io::Result<Option<(String, Option<String>)>> {
    let bad = || io::Error::from(io::ErrorKind::InvalidData);
    let mut head = String::new();
    if from.read_line(&mut head)? == 0 {
        return Ok(None);
    }
    let (schema, args) = head.trim_end().split_once(' ').ok_or_else(bad)?;
    let mut text = |length: &str| {
        let mut text = vec![0; length.parse().map_err(|_| bad())?];
        from.read_exact(&mut text)?;
        String::from_utf8(text).map_err(|_| bad())
    };
    let schema = text(schema)?;
    let args = if args == "-" { None } else { Some(text(args)?) };
    Ok(Some((schema, args)))
}

/// An answer is one line, whatever a schema has in its names.
fn tell(to: &mut impl Write, answer: &Fit) -> io::Result<()> {
    let line = match answer {
        Fit::Fits => "fits".to_owned(),
        Fit::Differs(text) => format!("differs {text}"),
        Fit::Uncheckable(text) => format!("uncheckable {text}"),
    };
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).chain(['\n']).collect();
    to.write_all(line.as_bytes())?;
    to.flush()
}
