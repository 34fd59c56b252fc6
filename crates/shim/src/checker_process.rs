//! The process in which arguments are checked, from its inside: it reads questions and answers them, within its limits.

use std::io::{self, BufRead, BufReader, Write};
use std::thread;

use crate::checker::{take, tell};
use crate::confinement;
use crate::schema::Schemas;

/// Room for the deepest check that the bounds of a schema allow; only what is used is ever taken.
const STACK: usize = 256 << 20;

/// Answers what is asked on standard input until that ends. Its end by a limit is an answer, too.
pub fn check_arguments() -> u8 {
    let work = || serve(BufReader::new(io::stdin()), &mut io::stdout(), confinement::allow_one_more);
    let served = confinement::confine().and_then(|()| on_large_stack(work)?);
    u8::from(served.is_err())
}

/// `before` each question.
pub(crate) fn serve(
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
