//! Could this text, read the way a shell or a program reads it, spell this name?
//!
//! A command line has endless ways to write one word: quotes inside it, escapes, globs, braces, empty variables, strings
//! that are joined. None of them is undone here, because each reader undoes others; the name is followed through
//! the text with all readings open at once, as the set of how many of its bytes may have been written so far. That
//! errs to one side only: it may see the name where no reader would, and never the other way round.

/// How far a spelling may be stretched.
const WINDOW: usize = 256;
/// More of a name than this is not looked at.
const LONGEST: usize = 120;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spelled {
    /// By wildcards alone: `.*`.
    Bare,
    /// With so many wildcards or variables that few letters are left: `.c*`.
    Hinted,
    /// With wildcards or variables in place of some letters: `.callg*`.
    Wild,
    /// Letter by letter.
    Plain,
}

/// Letters that say more than a hint.
const ENOUGH: usize = 4;

/// For each way of reading, bit `i` says that `i` bytes of the name may have been written.
#[derive(Clone, Copy, Default)]
struct Progress {
    plain: u128,
    /// With something unseen among them, by how many letters were seen; [`ENOUGH`] stands for all from there on.
    wild: [u128; ENOUGH + 1],
}

impl Progress {
    fn is_empty(self) -> bool {
        self.plain == 0 && self.wild == [0; ENOUGH + 1]
    }

    fn join(&mut self, other: Progress) {
        self.plain |= other.plain;
        for (mask, more) in self.wild.iter_mut().zip(other.wild) {
            *mask |= more;
        }
    }

    fn with_literal(self, byte: u8, name: &[u8]) -> Progress {
        let fits = name
            .iter()
            .enumerate()
            .filter(|(_, wanted)| wanted.eq_ignore_ascii_case(&byte))
            .fold(0u128, |mask, (at, _)| mask | 1 << at);
        let step = |mask: u128| (mask & fits) << 1;
        let mut wild = self.wild.map(step);
        if byte.is_ascii_alphanumeric() {
            let most = wild[ENOUGH];
            wild.rotate_right(1);
            wild[0] = 0;
            wild[ENOUGH] |= most;
        }
        Progress { plain: step(self.plain), wild }
    }

    /// Something that stands for bytes we do not see: as many of them as `spread` says.
    fn with_unseen(self, name: &[u8], spread: impl Fn(u128) -> u128) -> Progress {
        let spread = |mask: u128| spread(mask) & full(name);
        let mut wild = self.wild.map(spread);
        // What was written plainly so far has as many letters as the name has up to there.
        let mut letters = 0;
        for written in 0..=name.len() {
            if self.plain & (1 << written) != 0 {
                wild[letters] |= spread(1 << written);
            }
            if name.get(written).is_some_and(u8::is_ascii_alphanumeric) {
                letters = ENOUGH.min(letters + 1);
            }
        }
        Progress { plain: 0, wild }
    }
}

fn full(name: &[u8]) -> u128 {
    (1 << (name.len() + 1)) - 1
}

fn one(mask: u128) -> u128 {
    mask << 1
}

fn many(mask: u128) -> u128 {
    if mask == 0 { 0 } else { u128::MAX << mask.trailing_zeros() }
}

/// How much following is left before a text counts as written to confuse.
#[derive(Debug)]
pub(super) struct Effort(usize);

impl Effort {
    pub(super) fn for_text(text: &[u8]) -> Effort {
        Effort(100_000 + text.len() / 16)
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// The best reading of `text` at `start` that spells `name` and ends where a name ends, with the place behind it.
pub(super) fn spelled(
    text: &[u8],
    start: usize,
    name: &[u8],
    effort: &mut Effort,
) -> Option<(Spelled, usize)> {
    follow(text, start, name, effort, ends_here)
}

/// Behind what stands at `at` for the value of something: `$name`, `${…}`, `` `…` ``, `%name%`.
pub(super) fn behind_expansion(text: &[u8], at: usize) -> Option<usize> {
    let text = &text[..text.len().min(at + WINDOW)];
    match text.get(at)? {
        b'$' => variable(text, at + 1),
        b'`' => close(text, at + 1, b'`'),
        b'%' => close(text, at + 1, b'%')
            .filter(|end| text[at + 1..end - 1].iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')),
        _ => None,
    }
}

/// Could the whole of `text` be a spelling of `name`?
pub(super) fn spelled_whole(text: &str, name: &str) -> bool {
    let text = text.as_bytes();
    let at_the_end = |text: &[u8], at: usize| at == text.len();
    !text.is_empty() && follow(text, 0, name.as_bytes(), &mut Effort::for_text(text), at_the_end).is_some()
}

fn follow(
    text: &[u8],
    start: usize,
    name: &[u8],
    effort: &mut Effort,
    may_end: impl Fn(&[u8], usize) -> bool,
) -> Option<(Spelled, usize)> {
    let name = &name[..name.len().min(LONGEST)];
    // Nearly every beginning is that of another word.
    if let (Some(wanted), Some(next)) = (name.get(1), text.get(start + 1))
        && text[start].eq_ignore_ascii_case(&name[0])
        && next.is_ascii_alphanumeric()
        && !next.eq_ignore_ascii_case(wanted)
    {
        return None;
    }
    let end = text.len().min(start + name.len() + WINDOW);
    let text = &text[..end];
    let mut progress = Vec::with_capacity(16);
    progress.push(Progress { plain: 1, ..Progress::default() });
    let mut best: Option<(Spelled, usize)> = None;
    let mut at = start;
    while let Some(here) = progress.get(at - start).copied() {
        if !here.is_empty() {
            // The first few letters are cheap, unless one has to look for the end of something.
            let costs = at > start + 3 || matches!(text.get(at), Some(b'{' | b'(' | b',' | b'|'));
            effort.0 = effort.0.saturating_sub(usize::from(costs));
            if let Some(kind) = complete(here, name).filter(|_| may_end(text, at))
                && best.is_none_or(|(other, _)| kind > other)
            {
                best = Some((kind, at));
            }
            if at == end || effort.is_spent() || matches!(best, Some((Spelled::Plain, _))) {
                break;
            }
            for (next, reached) in readings(text, at, here, name) {
                let slot = next - start;
                if progress.len() <= slot {
                    progress.resize(slot + 1, Progress::default());
                }
                progress[slot].join(reached);
            }
        }
        at += 1;
    }
    best
}

fn complete(progress: Progress, name: &[u8]) -> Option<Spelled> {
    let done = |mask: u128| mask & (1 << name.len()) != 0;
    if done(progress.plain) {
        return Some(Spelled::Plain);
    }
    match progress.wild.into_iter().rposition(done)? {
        0 => Some(Spelled::Bare),
        ENOUGH => Some(Spelled::Wild),
        _ => Some(Spelled::Hinted),
    }
}

/// `.callgate-notes` and `.callgate2` are other names.
fn ends_here(text: &[u8], at: usize) -> bool {
    let Some(rest) = text.get(at..) else { return true };
    match rest.first() {
        None => true,
        Some(byte) if byte.is_ascii() => !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-'),
        Some(_) => {
            let head = String::from_utf8_lossy(&rest[..rest.len().min(4)]);
            !head.chars().next().is_some_and(char::is_alphanumeric)
        }
    }
}

/// What the text at `at` may mean: where one goes on reading, and how much of the name is written by then.
fn readings(text: &[u8], at: usize, here: Progress, name: &[u8]) -> Vec<(usize, Progress)> {
    let byte = text[at];
    let next = at + 1;
    let mut all = vec![(next, here.with_literal(byte, name))];
    let unseen = |spread: fn(u128) -> u128| here.with_unseen(name, spread);
    match byte {
        b'"' | b'\'' | b'`' => {
            all.push((next, here));
            all.extend(joined(text, next).map(|behind| (behind, here)));
            if byte == b'`' {
                all.extend(close(text, next, b'`').map(|behind| (behind, unseen(many))));
            }
        }
        // An escape, or the end of a line that goes on in the next one.
        b'\\' | b'^' => {
            all.push((next, here));
            let newline = text[next..].iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
            all.push((next + newline, here));
        }
        b'?' => all.extend([(next, here), (next, unseen(one))]),
        b'*' => all.push((next, unseen(many))),
        b'[' => {
            all.push((next, here));
            all.extend(close(text, next, b']').map(|behind| (behind, unseen(one))));
        }
        b'$' => {
            all.push((next, here));
            all.extend(
                variable(text, next).into_iter().flat_map(|behind| [(behind, here), (behind, unseen(many))]),
            );
        }
        b'%' => all.extend(
            close(text, next, b'%').into_iter().flat_map(|behind| [(behind, here), (behind, unseen(many))]),
        ),
        b'{' | b'(' => {
            let choices = choices(text, at);
            all.push((next, here));
            all.extend(choices.starts.iter().map(|start| (*start, here)));
            if byte == b'{'
                && let Some(end) = choices.end
                && text[at..end].windows(2).any(|two| two == b"..")
            {
                all.push((end, unseen(many)));
            }
        }
        b',' | b'|' => all.extend(rest_of_choices(text, next).map(|behind| (behind, here))),
        b'}' | b')' | b']' | b'@' | b'!' | b'+' => all.push((next, here)),
        _ => {}
    }
    all.retain(|(next, reached)| *next <= text.len() && !reached.is_empty());
    all
}

/// Behind the quote that opens the next string of `'.call' + 'gate'`.
fn joined(text: &[u8], from: usize) -> Option<usize> {
    let between = text[from..]
        .iter()
        .take(24)
        .take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'+' | b',' | b'.' | b'&'))
        .count();
    let quote = text.get(from + between)?;
    (between > 0 && matches!(quote, b'"' | b'\'' | b'`')).then_some(from + between + 1)
}

fn close(text: &[u8], from: usize, mark: u8) -> Option<usize> {
    let inside = text[from..].iter().take(64).position(|b| *b == mark)?;
    (inside > 0).then_some(from + inside + 1)
}

/// Behind `$name`, `${…}`, `$(…)`, `$@` and the like; `from` is behind the dollar sign.
fn variable(text: &[u8], from: usize) -> Option<usize> {
    match text.get(from)? {
        b'{' | b'(' => choices(text, from).end,
        b'@' | b'*' | b'#' | b'?' | b'!' | b'-' | b'$' => Some(from + 1),
        byte if byte.is_ascii_digit() => Some(from + 1),
        _ => {
            let name = text[from..].iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
            (name > 0).then_some(from + name)
        }
    }
}

/// `{a,b}` and `(a|b)`: where each of the later choices starts, and what is behind all of them.
struct Choices {
    starts: Vec<usize>,
    end: Option<usize>,
}

fn choices(text: &[u8], open: usize) -> Choices {
    let mut found = Choices { starts: Vec::new(), end: None };
    let mut depth = 0usize;
    for (at, byte) in text.iter().enumerate().skip(open) {
        match byte {
            b'{' | b'(' => depth += 1,
            b'}' | b')' if depth == 1 => {
                found.end = Some(at + 1);
                break;
            }
            b'}' | b')' => depth -= 1,
            b',' | b'|' if depth == 1 => found.starts.push(at + 1),
            _ => {}
        }
    }
    found
}

/// Behind the brace that closes the choices one is in.
fn rest_of_choices(text: &[u8], from: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in text.iter().enumerate().skip(from) {
        match byte {
            b'{' | b'(' => depth += 1,
            b'}' | b')' if depth == 0 => return Some(at + 1),
            b'}' | b')' => depth -= 1,
            _ => {}
        }
    }
    None
}
