//! The first look at every text: is there anything in it that could be the start of a secret?
//!
//! Every byte of every call goes through this one, so a long text is walked at several places at once: each step waits for the
//! one before it, and the processor has the others to do meanwhile.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::{Anchored, dfa::DFA};

use crate::{commands, shapes, vocabulary};

/// How much of a trigger is looked for: a look-up of whole texts would be large.
const BEGINNING: usize = 8;
/// Places at which a long text is walked at once.
const LANES: usize = 4;
/// Shorter texts are walked from one end to the other.
const LONG: usize = 4096;

/// The first few texts that are shorter than this are looked through by hand where nobody has built the look-up: building it
/// takes longer, and who has one sentence to write may be about to block something.
const SHORT: usize = 512;
const FEW: usize = 8;
static BY_HAND: AtomicUsize = AtomicUsize::new(0);

/// Is one of them in this text, in any case?
pub(crate) fn any(text: &str) -> bool {
    let is_short = || text.len() < SHORT && BY_HAND.fetch_add(1, Ordering::Relaxed) < FEW;
    if TRIGGERS.get().is_none() && is_short() {
        return all().iter().any(|trigger| holds(text, trigger));
    }
    let (triggers, bytes) = (triggers(), text.as_bytes());
    let Ok(start) = triggers.start_state(Anchored::No) else { return true };
    if bytes.len() < LONG {
        return walk(triggers, [start], [bytes]);
    }
    // Each lane reads on into the next one, for what stands across their border.
    let lane = bytes.len() / LANES;
    let lanes: [&[u8]; LANES] = std::array::from_fn(|at| {
        let end = if at + 1 < LANES { (at + 1) * lane + BEGINNING } else { bytes.len() };
        &bytes[at * lane..end.min(bytes.len())]
    });
    walk(triggers, [start; LANES], lanes)
}

fn walk<const N: usize>(triggers: &DFA, mut states: [StateID; N], lanes: [&[u8]; N]) -> bool {
    let together = lanes.iter().map(|lane| lane.len()).min().unwrap_or_default();
    let heads = lanes.map(|lane| &lane[..together]);
    for at in 0..together {
        let mut found = false;
        for (state, head) in states.iter_mut().zip(heads) {
            *state = triggers.next_state(Anchored::No, *state, head[at]);
            found |= triggers.is_match(*state);
        }
        if found {
            return true;
        }
    }
    states.into_iter().zip(lanes).any(|(mut state, lane)| {
        lane[together..].iter().any(|byte| {
            state = triggers.next_state(Anchored::No, state, *byte);
            triggers.is_match(state)
        })
    })
}

/// Builds the look-up that every call needs, before a call has to wait for it.
pub fn warm() {
    triggers();
}

static TRIGGERS: OnceLock<DFA> = OnceLock::new();

/// Escapes are among them, because they could spell a trigger.
fn triggers() -> &'static DFA {
    TRIGGERS.get_or_init(|| {
        let all = all();
        // What has another one in it is found by that one.
        let other = |text: &str, other: &str| other.len() < text.len() && holds(text, other);
        let few = all.iter().copied().filter(|text| !all.iter().any(|one| other(text, one)));
        DFA::builder().ascii_case_insensitive(true).build(few).expect("a short list of fixed patterns")
    })
}

fn all() -> Vec<&'static str> {
    let hints = shapes::SHAPES.iter().map(shapes::Shape::hint);
    let names = vocabulary::TRIGGERS.iter().chain(commands::TRIGGERS).copied();
    let beginning = |text: &'static str| &text[..text.floor_char_boundary(BEGINNING)];
    names.chain(hints).map(beginning).chain(["\\u"]).collect()
}

/// Is the other in this text, in any case?
fn holds(text: &str, other: &str) -> bool {
    text.as_bytes().windows(other.len()).any(|window| window.eq_ignore_ascii_case(other.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_looked_through_by_hand_with_the_same_outcome() {
        let texts =
            ["", "block browser_click", "PassWord: x", "api_key=1", "ghp_0123456789", "\\u0070", "ключ"];
        for text in texts {
            assert_eq!(all().iter().any(|trigger| holds(text, trigger)), {
                warm();
                any(text)
            });
        }
    }

    #[test]
    fn a_trigger_is_found_wherever_in_a_long_text_it_stands() {
        let filler = "abcd xyz ";
        for long in [LONG - 9, LONG, LONG + 1, 3 * LONG + 5] {
            let text: String = filler.chars().cycle().take(long).collect();
            assert!(!any(&text), "{long}");
            // Every trigger at one place, and one of them at every place.
            let places = all()
                .into_iter()
                .map(|trigger| (trigger, long / 2))
                .chain((0..long).map(|at| ("PassWord", at)));
            for (trigger, at) in places {
                let mut text = text.clone();
                text.insert_str(at, trigger);
                assert!(any(&text), "{trigger} at {at} of {long}");
            }
        }
        assert!(!any(""));
    }
}
