//! The digest of a call depends on what the call says, and on nothing else.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;

use callgate_protocol::{
    digest::{Digest, digest},
    json::Raw,
};
use proptest::prelude::*;

/// What some text says. A string is its UTF-16 units, so that lone surrogates have a place.
#[derive(Clone, Debug, PartialEq)]
enum Said {
    Literal(&'static str),
    Number(String),
    Text(Vec<u16>),
    Array(Vec<Said>),
    /// Sorted.
    Object(Vec<(Vec<u16>, Said)>),
}

fn said() -> impl Strategy<Value = Said> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["null", "true", "false"]).prop_map(Said::Literal),
        "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,2})?([eE][+-]?[0-9])?".prop_map(Said::Number),
        units().prop_map(Said::Text),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Said::Array),
            prop::collection::vec((units(), inner), 0..5).prop_map(object),
        ]
    })
}

fn object(mut members: Vec<(Vec<u16>, Said)>) -> Said {
    let mut seen = HashSet::new();
    // Two names that differ only in lone surrogates are one name to some readers, and refused.
    members.retain(|(name, _)| seen.insert(String::from_utf16_lossy(name)));
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    Said::Object(members)
}

fn units() -> impl Strategy<Value = Vec<u16>> {
    let unit = prop_oneof![
        4 => 0x61u16..0x64,
        2 => prop::sample::select(vec![0x22, 0x5c, 0x2f, 0x0a, 0x00, 0xe9, 0x2028, 0xfffd, 0x7f]),
        1 => prop::sample::select(vec![0xd83d, 0xde00, 0xd800, 0xdfff]),
    ];
    prop::collection::vec(unit, 0..4)
}

/// Writes what is said in one of its spellings; each number of `dice` decides on the next doubt.
struct Speller {
    dice: u64,
    out: String,
}

impl Speller {
    fn spell(said: &Said, seed: u64) -> String {
        let mut speller = Speller { dice: seed | 1, out: String::new() };
        speller.value(said);
        speller.out
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        self.dice % sides
    }

    fn blank(&mut self) {
        let blank = ["", "", "", " ", "\n\t"][self.roll(5) as usize];
        self.out.push_str(blank);
    }

    fn value(&mut self, said: &Said) {
        self.blank();
        match said {
            Said::Literal(text) => self.out.push_str(text),
            Said::Number(text) => self.out.push_str(text),
            Said::Text(units) => self.text(units),
            Said::Array(items) => {
                self.out.push('[');
                for (place, item) in items.iter().enumerate() {
                    self.out.push_str(if place == 0 { "" } else { "," });
                    self.value(item);
                }
                self.out.push(']');
            }
            Said::Object(members) => {
                let mut left: Vec<_> = members.iter().collect();
                self.out.push('{');
                while !left.is_empty() {
                    let (name, value) = left.swap_remove(self.roll(left.len() as u64) as usize);
                    self.blank();
                    self.text(name);
                    self.blank();
                    self.out.push(':');
                    self.value(value);
                    self.out.push_str(if left.is_empty() { "" } else { "," });
                }
                self.out.push('}');
            }
        }
        self.blank();
    }

    fn text(&mut self, units: &[u16]) {
        self.out.push('"');
        for character in char::decode_utf16(units.iter().copied()) {
            match character {
                Ok('/') if self.roll(2) == 0 => self.out.push_str("\\/"),
                Ok('\n') if self.roll(2) == 0 => self.out.push_str("\\n"),
                Ok(character @ ('"' | '\\')) if self.roll(2) == 0 => self.out.extend(['\\', character]),
                Ok(character) if character >= ' ' && !"\"\\".contains(character) && self.roll(2) == 0 => {
                    self.out.push(character);
                }
                Ok(character) => {
                    character.encode_utf16(&mut [0; 2]).iter().for_each(|&unit| self.escape(unit));
                }
                Err(lone) => self.escape(lone.unpaired_surrogate()),
            }
        }
        self.out.push('"');
    }

    fn escape(&mut self, unit: u16) {
        let text = if self.roll(2) == 0 { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") };
        self.out.push_str(&text);
    }
}

/// The same, but for one part: the one with this number, counted from the outside in.
fn altered(said: &Said, place: &mut usize) -> Said {
    let here = *place == 0;
    *place = place.wrapping_sub(1);
    match said {
        Said::Literal("null") if here => Said::Literal("false"),
        Said::Literal(_) if here => Said::Literal("null"),
        Said::Number(text) if here => {
            Said::Number(format!("{text}{}", if text == "0" || text == "-0" { ".0" } else { "0" }))
        }
        Said::Text(units) if here => Said::Text([units.as_slice(), &[0x78]].concat()),
        Said::Array(items) if here => Said::Array([items.as_slice(), &[Said::Literal("null")]].concat()),
        Said::Object(members) if here => {
            object([members.as_slice(), &[(vec![0x78; 9], Said::Literal("null"))]].concat())
        }
        Said::Array(items) => Said::Array(items.iter().map(|item| altered(item, place)).collect()),
        Said::Object(members) => {
            Said::Object(members.iter().map(|(name, value)| (name.clone(), altered(value, place))).collect())
        }
        other => other.clone(),
    }
}

fn parts(said: &Said) -> usize {
    1 + match said {
        Said::Array(items) => items.iter().map(parts).sum(),
        Said::Object(members) => members.iter().map(|(_, value)| parts(value)).sum(),
        _ => 0,
    }
}

fn of(text: &str) -> Digest {
    digest("tool", Some(Raw::parse(text).unwrap()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spelling_does_not_count(said in said(), one in any::<u64>(), other in any::<u64>()) {
        let (one, other) = (Speller::spell(&said, one), Speller::spell(&said, other));
        prop_assert_eq!(of(&one), of(&other), "{} {}", one, other);
    }

    #[test]
    fn every_part_counts(said in said(), pick in any::<prop::sample::Index>(), seed in any::<u64>()) {
        let mut place = pick.index(parts(&said));
        let other = altered(&said, &mut place);
        prop_assert_ne!(&said, &other);
        let (one, other) = (Speller::spell(&said, seed), Speller::spell(&other, seed));
        prop_assert_ne!(of(&one), of(&other), "{} {}", one, other);
    }

    #[test]
    fn what_is_said_differs_if_and_only_if_the_digest_does(one in said(), other in said(), seed in any::<u64>()) {
        let same = of(&Speller::spell(&one, seed)) == of(&Speller::spell(&other, !seed));
        prop_assert_eq!(same, one == other);
    }

    #[test]
    fn the_tool_counts(one in "[a-c\"]{0,3}", other in "[a-c\"]{0,3}", args in said(), seed in any::<u64>()) {
        let text = Speller::spell(&args, seed);
        let args = Some(Raw::parse(&text).unwrap());
        prop_assert_eq!(digest(&one, args) == digest(&other, args), one == other);
        prop_assert_ne!(digest(&one, args), digest(&other, None));
    }
}
