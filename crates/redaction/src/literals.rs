//! The values that a session knows to be secret: those of its server's environment, and every one that was masked once.
//!
//! They are searched for without an automaton, because that would hold them a second time in memory that nobody clears: a
//! filter over every four characters says where one might begin, and there it is compared. Nothing is built when one is added,
//! nothing is looked at while there is none.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

use zeroize::Zeroizing;

use crate::Secret;
use crate::distinctiveness::{Worth, parts, worth};
use crate::encodings::forms;

/// Longer values are known in pieces, so that none is cut in two by the end of what is looked at.
const PIECE: usize = 1024;
/// Of those that are longer than a password, the oldest go first when there are too many bytes.
const LONG: usize = 256;
/// A learned word or number that is shorter is part of others by chance.
const WORD: usize = 12;
/// Calls under way whose short values are known.
const MOST_CALLS: usize = 256;
/// Bits of the filter.
const FILTER: usize = 1 << 16;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Known from the start; never forgotten.
    Given,
    Typed,
    Answered,
}

/// Which values are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    /// Not what was learned: who is gated could teach anything.
    Given,
}

impl Which {
    fn has(self, known: &Literal) -> bool {
        self == Which::All || known.source == Source::Given
    }
}

/// How many values are known, and how many bytes all their forms have; then the oldest go.
#[derive(Clone, Copy)]
struct Room {
    values: usize,
    bytes: usize,
}

const TYPED: Room = Room { values: 384, bytes: 384 * 1024 };
/// By itself: what a server answers must not crowd out what was typed.
const ANSWERED: Room = Room { values: 128, bytes: 128 * 1024 };

impl Source {
    /// `None`: no end of it.
    fn room(self) -> Option<Room> {
        match self {
            Source::Given => None,
            Source::Typed => Some(TYPED),
            Source::Answered => Some(ANSWERED),
        }
    }
}

struct LiteralForm {
    text: Zeroizing<String>,
    /// Quotes around it, which stay.
    quoted: bool,
    /// Only where it is a word of its own.
    word: bool,
}

struct Literal {
    value: Zeroizing<String>,
    forms: Vec<LiteralForm>,
    /// Of all its forms.
    bytes: usize,
    source: Source,
    /// Larger is newer.
    used: u64,
}

/// Where a form begins: the hash of its first characters, which do not follow from it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FormStart {
    hash: u16,
    slot: u16,
    form: u16,
}

#[derive(Default)]
pub(crate) struct Literals {
    slots: Vec<Option<Literal>>,
    /// In order.
    starts: Vec<FormStart>,
    /// Empty while there is none.
    filter: Vec<u64>,
    /// The short values of calls under way, the oldest first.
    brief: VecDeque<(u64, Vec<Secret>)>,
    clock: u64,
}

impl fmt::Debug for Literals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Literals({})", self.slots.iter().flatten().count())
    }
}

impl Literals {
    /// A value that must not be written, whatever it looks like.
    pub(crate) fn give(&mut self, value: &str) {
        for part in parts(value) {
            if worth(part, true, Source::Given) == Worth::Session {
                self.remember(part, Source::Given);
            }
        }
    }

    /// Takes in a value that was masked in this call; `true` if something is masked now that was not before. `sure`: its place
    /// says that it is a secret, not only the words of a sentence.
    pub(crate) fn learn(&mut self, call: Option<u64>, value: &str, sure: bool, source: Source) -> bool {
        let mut new = false;
        for part in parts(value) {
            match worth(part, sure, source) {
                Worth::Session => new |= self.remember(part, source),
                Worth::Call => {
                    new |= self.remember_quoted(part, source);
                    new |= call.is_some_and(|call| self.remember_brief(call, part));
                }
                Worth::Nothing => {}
            }
        }
        new
    }

    fn remember(&mut self, value: &str, source: Source) -> bool {
        let mut new = false;
        for piece in pieces(value) {
            let word = source != Source::Given && is_word(piece);
            let plain = |text: Zeroizing<String>| {
                let word = word && text.as_str() == piece;
                LiteralForm { text, quoted: false, word }
            };
            new |= self.insert(piece, source, || forms(piece).into_iter().map(plain).collect());
        }
        new
    }

    fn remember_quoted(&mut self, value: &str, source: Source) -> bool {
        let quotes = ["'", "\"", "`", "\\\"", "\\'"];
        let form = |quote: &str| LiteralForm {
            text: Zeroizing::new(format!("{quote}{value}{quote}")),
            quoted: true,
            word: false,
        };
        self.insert(value, source, || quotes.into_iter().map(form).collect())
    }

    fn remember_brief(&mut self, call: u64, value: &str) -> bool {
        if !self.brief.iter().any(|(known, _)| *known == call) {
            if self.brief.len() == MOST_CALLS {
                self.brief.pop_front();
            }
            self.brief.push_back((call, Vec::new()));
        }
        let Some((_, values)) = self.brief.iter_mut().find(|(known, _)| *known == call) else { return false };
        let new = !values.iter().any(|known| known.expose() == value) && values.len() < MOST_CALLS;
        if new {
            values.push(Secret::new(value.to_owned()));
        }
        new
    }

    /// The short values of this call.
    pub(crate) fn brief(&self, call: u64) -> Vec<Secret> {
        let known = self.brief.iter().find(|(known, _)| *known == call);
        known.map(|(_, values)| values.clone()).unwrap_or_default()
    }

    /// The call has its answer.
    pub(crate) fn forget_brief(&mut self, call: u64) {
        self.brief.retain(|(known, _)| *known != call);
    }

    pub(crate) fn has_brief(&self) -> bool {
        !self.brief.is_empty()
    }

    /// `forms` are made only of what is new.
    fn insert(&mut self, value: &str, source: Source, forms: impl FnOnce() -> Vec<LiteralForm>) -> bool {
        self.clock += 1;
        let same =
            |known: &Option<Literal>| known.as_ref().is_some_and(|known| known.value.as_str() == value);
        if let Some(slot) = self.slots.iter().position(same) {
            self.use_again(slot, source);
            return false;
        }
        let forms = forms();
        let bytes = forms.iter().map(|form| form.text.len()).sum();
        let value = Zeroizing::new(value.to_owned());
        let literal = Literal { value, forms, bytes, source, used: self.clock };
        self.make_room(source, bytes);
        let slot = match self.slots.iter().position(Option::is_none) {
            Some(free) => free,
            None => {
                self.slots.push(None);
                self.slots.len() - 1
            }
        };
        if self.filter.is_empty() {
            self.filter = vec![0; FILTER / 64];
        }
        for (form, one) in literal.forms.iter().enumerate() {
            let Some(hash) = hash_at(one.text.as_bytes(), 0) else { continue };
            let (Ok(slot), Ok(form)) = (u16::try_from(slot), u16::try_from(form)) else { continue };
            let start = FormStart { hash, slot, form };
            if let Err(at) = self.starts.binary_search(&start) {
                self.starts.insert(at, start);
            }
            self.filter[usize::from(hash) / 64] |= 1 << (hash % 64);
        }
        self.slots[slot] = Some(literal);
        true
    }

    /// What an answer showed and is typed now is one of the typed.
    fn use_again(&mut self, slot: usize, source: Source) {
        let known = self.slots[slot].as_ref().map(|known| (known.source, known.bytes));
        let typed_now = known.filter(|(known, _)| (*known, source) == (Source::Answered, Source::Typed));
        if let Some((_, bytes)) = typed_now {
            self.make_room(source, bytes);
        }
        if let Some(known) = self.slots[slot].as_mut() {
            known.used = self.clock;
            known.source = if typed_now.is_some() { source } else { known.source };
        }
    }

    /// The oldest of the same source go until there is room for one of so many bytes.
    fn make_room(&mut self, source: Source, bytes: usize) {
        let Some(room) = source.room() else { return };
        loop {
            let same = || {
                let slots = self.slots.iter().enumerate();
                let known = slots.filter_map(|(slot, known)| Some((slot, known.as_ref()?)));
                known.filter(|(_, known)| known.source == source)
            };
            let heavy = same().map(|(_, known)| known.bytes).sum::<usize>() + bytes > room.bytes;
            if !heavy && same().count() < room.values {
                return;
            }
            // A few long values have more bytes than all passwords together.
            let oldest = same().min_by_key(|(_, known)| (heavy && known.value.len() <= LONG, known.used));
            let Some((oldest, _)) = oldest else { return };
            self.slots[oldest] = None;
            self.starts.retain(|start| usize::from(start.slot) != oldest);
            self.filter.fill(0);
            for start in &self.starts {
                self.filter[usize::from(start.hash) / 64] |= 1 << (start.hash % 64);
            }
        }
    }

    /// Is one of them in this text?
    pub(crate) fn any(&self, which: Which, text: &str) -> bool {
        self.scan(which, text, |_| true)
    }

    /// Where they stand in this text; they may overlap.
    pub(crate) fn find(&self, which: Which, text: &str, found: &mut Vec<Range<usize>>) {
        self.scan(which, text, |range| {
            found.push(range);
            false
        });
    }

    /// Is this one of them? Not if it is known in quotes alone: a PIN is no secret wherever the same number stands.
    pub(crate) fn is(&self, which: Which, text: &str) -> bool {
        let same = |known: &Literal| {
            known.value.as_str() == text && which.has(known) && known.forms.iter().any(|form| !form.quoted)
        };
        !self.filter.is_empty() && self.slots.iter().flatten().any(same)
    }

    /// Until `found` says that it is enough.
    fn scan(&self, which: Which, text: &str, mut found: impl FnMut(Range<usize>) -> bool) -> bool {
        if self.filter.is_empty() {
            return false;
        }
        let bytes = text.as_bytes();
        for at in 0..bytes.len().saturating_sub(3) {
            let Some(hash) = hash_at(bytes, at) else { break };
            if self.filter[usize::from(hash) / 64] >> (hash % 64) & 1 == 0 {
                continue;
            }
            let first = self.starts.partition_point(|start| start.hash < hash);
            for start in self.starts[first..].iter().take_while(|start| start.hash == hash) {
                let literal = self.slots.get(usize::from(start.slot)).and_then(Option::as_ref);
                let literal = literal.filter(|known| which.has(known));
                let Some(form) = literal.and_then(|known| known.forms.get(usize::from(start.form))) else {
                    continue;
                };
                if bytes[at..].starts_with(form.text.as_bytes())
                    && (!form.word || stands_alone(text, &(at..at + form.text.len())))
                {
                    let quote = if !form.quoted {
                        0
                    } else if form.text.starts_with('\\') {
                        2
                    } else {
                        1
                    };
                    if found(at + quote..at + form.text.len() - quote) {
                        return true;
                    }
                }
            }
        }
        false
    }
}

/// Short values, where they are words of their own.
pub(crate) fn find_brief(values: &[Secret], text: &str, found: &mut Vec<Range<usize>>) {
    for value in values {
        let places = text.match_indices(value.expose()).map(|(at, same)| at..at + same.len());
        found.extend(places.filter(|place| stands_alone(text, place)));
    }
}

/// Letters alone or digits alone, and few of them.
fn is_word(value: &str) -> bool {
    value.chars().count() < WORD
        && (value.chars().all(char::is_alphabetic) || value.chars().all(|c| c.is_ascii_digit()))
}

/// Is this a word of its own? The letters of an escape before it are none of a word's.
fn stands_alone(text: &str, place: &Range<usize>) -> bool {
    let part_of = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let before = &text[..place.start];
    !part_of(text[place.end..].chars().next())
        && (!part_of(before.chars().next_back()) || ends_with_escape(before))
}

/// `\n`, `%20`, `\x27`, `\u0022`, or the colour of a terminal.
fn ends_with_escape(text: &str) -> bool {
    let bytes = text.as_bytes();
    let hex = |lead: &[u8], digits: usize| {
        let before = bytes.len().checked_sub(digits).map(|at| bytes.split_at(at));
        before.is_some_and(|(before, last)| before.ends_with(lead) && last.iter().all(u8::is_ascii_hexdigit))
    };
    let colour = || {
        let code = text.strip_suffix('m')?.trim_end_matches(|c: char| c.is_ascii_digit() || c == ';');
        let lead = code.strip_suffix('[')?;
        ["\u{1b}", "\\u001b", "\\u001B", "\\x1b", "\\x1B", "\\e", "\\033"]
            .iter()
            .any(|escape| lead.ends_with(escape))
            .then_some(())
    };
    matches!(bytes, [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'])
        || hex(b"%", 2)
        || hex(b"\\x", 2)
        || hex(b"\\u", 4)
        || colour().is_some()
}

/// Of the four characters that begin here.
fn hash_at(bytes: &[u8], at: usize) -> Option<u16> {
    let four: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    Some((u32::from_le_bytes(four).wrapping_mul(0x9E37_79B1) >> 16) as u16)
}

/// A value in pieces of at most [`PIECE`] bytes. The last one is as long as the others, so that it is no ordinary word.
fn pieces(value: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut from = 0;
    while value.len() - from > PIECE {
        let end = value.floor_char_boundary(from + PIECE);
        pieces.push(&value[from..end]);
        from = end;
    }
    let last = if pieces.is_empty() { 0 } else { value.floor_char_boundary(value.len() - PIECE) };
    pieces.push(&value[last..]);
    pieces
}

#[cfg(test)]
#[path = "literals_tests.rs"]
mod tests;
