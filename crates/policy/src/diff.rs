//! Two texts line by line, in the form that every reader of patches knows.

use std::fmt::Write as _;

/// Lines shown around a change.
const CONTEXT: usize = 3;
/// How many lines may differ before the middle is shown as replaced as a whole: the search grows with the square of it.
const MOST_EDITS: usize = 1000;

/// A unified diff; empty when the texts are equal. `names` stand in its head.
pub fn unified(before: &str, after: &str, names: (&str, &str)) -> String {
    let (old, new) = (lines(before), lines(after));
    let marks = compare(&old, &new);
    let mut out = String::new();
    for hunk in hunks(&marks) {
        if out.is_empty() {
            let _ = writeln!(out, "--- {}\n+++ {}", names.0, names.1);
        }
        let before = &marks[..hunk.start];
        let (old_at, new_at) = (count(before, Mark::in_old), count(before, Mark::in_new));
        let inside = &marks[hunk];
        let (old_count, new_count) = (count(inside, Mark::in_old), count(inside, Mark::in_new));
        let _ = writeln!(out, "@@ -{} +{} @@", span(old_at, old_count), span(new_at, new_count));
        let (mut i, mut j) = (old_at, new_at);
        for mark in inside {
            let (sign, line) = match mark {
                Mark::Same => (' ', old[i]),
                Mark::Gone => ('-', old[i]),
                Mark::Added => ('+', new[j]),
            };
            i += usize::from(mark.in_old());
            j += usize::from(mark.in_new());
            out.push(sign);
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Same,
    Gone,
    Added,
}

impl Mark {
    fn in_old(&self) -> bool {
        *self != Mark::Added
    }

    fn in_new(&self) -> bool {
        *self != Mark::Gone
    }
}

fn count(marks: &[Mark], which: fn(&Mark) -> bool) -> usize {
    marks.iter().filter(|mark| which(mark)).count()
}

/// Lines with their ends.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// First line (from 1) and how many; of none, the line before.
fn span(at: usize, count: usize) -> String {
    match count {
        0 => format!("{at},0"),
        1 => format!("{}", at + 1),
        _ => format!("{},{count}", at + 1),
    }
}

/// Changes with their surroundings; neighbours that touch are one.
fn hunks(marks: &[Mark]) -> Vec<std::ops::Range<usize>> {
    let mut hunks: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, _) in marks.iter().enumerate().filter(|(_, mark)| **mark != Mark::Same) {
        let (start, end) = (at.saturating_sub(CONTEXT), (at + 1 + CONTEXT).min(marks.len()));
        match hunks.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => hunks.push(start..end),
        }
    }
    hunks
}

/// The shortest way from the old lines to the new ones: what both start and end with is the same, the middle is searched.
fn compare(old: &[&str], new: &[&str]) -> Vec<Mark> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_middle, new_middle) = (&old_rest[..old_rest.len() - tail], &new_rest[..new_rest.len() - tail]);
    let mut marks = vec![Mark::Same; head];
    match shortest(old_middle, new_middle) {
        Some(middle) => marks.extend(middle),
        None => {
            marks.extend(std::iter::repeat_n(Mark::Gone, old_middle.len()));
            marks.extend(std::iter::repeat_n(Mark::Added, new_middle.len()));
        }
    }
    marks.extend(std::iter::repeat_n(Mark::Same, tail));
    marks
}

/// Myers' search: for each number of edits the furthest point on each diagonal, until the end is reached; then back along
/// the way. `None` when there are too many edits.
fn shortest(old: &[&str], new: &[&str]) -> Option<Vec<Mark>> {
    let (n, m) = (old.len(), new.len());
    let most = (n + m).min(MOST_EDITS);
    // Diagonal k (old position minus new position) is kept at k + most + 1.
    let middle = most + 1;
    let mut furthest = vec![0usize; 2 * most + 3];
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    for edits in 0..=most {
        rounds.push(furthest[middle - edits..=middle + edits].to_vec());
        for slot in (middle - edits..=middle + edits).step_by(2) {
            let down =
                slot == middle - edits || (slot != middle + edits && furthest[slot - 1] < furthest[slot + 1]);
            let mut x = if down { furthest[slot + 1] } else { furthest[slot - 1] + 1 };
            // A diagonal that has left the texts goes nowhere.
            let Some(mut y) = (x + middle).checked_sub(slot) else { continue };
            while x < n && y < m && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            furthest[slot] = x;
            if x >= n && y >= m {
                return Some(way_back(&rounds, n, m));
            }
        }
    }
    None
}

/// `rounds[d]` holds the furthest points before round d, for the diagonals -d..=d.
fn way_back(rounds: &[Vec<usize>], n: usize, m: usize) -> Vec<Mark> {
    let mut marks = Vec::with_capacity(n + m);
    let (mut x, mut y) = (n, m);
    for (edits, round) in rounds.iter().enumerate().skip(1).rev() {
        // The point where this round's edit started, on the diagonal left or right of ours.
        let slot = x + edits - y;
        let left = slot.checked_sub(1).and_then(|slot| round.get(slot));
        let right = round.get(slot + 1);
        let down = slot == 0 || (slot != 2 * edits && left < right);
        let from = if down { right } else { left }.copied().unwrap_or(0);
        let from_y = if down { from + edits - (slot + 1) } else { from + edits + 1 - slot };
        let after = if down { (from, from_y + 1) } else { (from + 1, from_y) };
        while x > after.0 && y > after.1 {
            marks.push(Mark::Same);
            (x, y) = (x - 1, y - 1);
        }
        marks.push(if down { Mark::Added } else { Mark::Gone });
        (x, y) = (from, from_y);
    }
    marks.extend(std::iter::repeat_n(Mark::Same, x));
    marks.reverse();
    marks
}
