//! Lines of a diff that are too long to be looked at: some programs write their whole file as one. What differs is shown with
//! a little around it, and that something is left out is shown, too.

/// In bytes. Longer lines are no longer read.
const WIDE: usize = 2_000;
/// On each side of what differs.
const AROUND: usize = 200;
const LEFT_OUT: &str = "…";

/// The lines of a unified diff, each at most about [`WIDE`].
pub(crate) fn windowed(mut lines: Vec<String>) -> Vec<String> {
    let mut at = 0;
    while at < lines.len() {
        let gone = run(&lines, at, '-');
        let come = run(&lines, at + gone, '+');
        // What comes in the place of what goes, line for line.
        for pair in 0..gone.min(come) {
            let (old, new) = (at + pair, at + gone + pair);
            if lines[old].starts_with('-') && lines[new].starts_with('+') {
                let (one, other) = (lines[old].clone(), lines[new].clone());
                lines[old] = window(&one, &other);
                lines[new] = window(&other, &one);
            }
        }
        at += (gone + come).max(1);
    }
    lines.into_iter().map(|line| cut(&line, 0, line.len())).collect()
}

/// How many lines from here on have this sign. What is said of a last line without an end belongs to it.
fn run(lines: &[String], from: usize, sign: char) -> usize {
    let signed = lines[from..].iter().take_while(|line| line.starts_with(sign)).count();
    let remark = lines.get(from + signed).is_some_and(|line| line.starts_with('\\'));
    if signed > 0 && remark { signed + 1 } else { signed }
}

/// The part of a line in which it differs from the other, behind its sign.
fn window(line: &str, other: &str) -> String {
    if line.len() <= WIDE {
        return line.to_owned();
    }
    let (sign, line) = line.split_at(1);
    let other = other.get(1..).unwrap_or_default();
    let same = |pairs: &mut dyn Iterator<Item = (u8, u8)>| pairs.take_while(|(a, b)| a == b).count();
    let before = same(&mut line.bytes().zip(other.bytes()));
    let after = same(&mut line.bytes().rev().zip(other.bytes().rev())).min(line.len() - before);
    let shown = cut(line, before.saturating_sub(AROUND), (line.len() - after).saturating_add(AROUND));
    format!("{sign}{shown}")
}

/// From here to there, as far as it is not too much.
fn cut(line: &str, from: usize, to: usize) -> String {
    if line.len() <= WIDE {
        return line.to_owned();
    }
    let from = line.floor_char_boundary(from);
    let to = line.floor_char_boundary(to.min(line.len()).min(from + WIDE - 2 * LEFT_OUT.len()));
    let mark = |is_left_out: bool| if is_left_out { LEFT_OUT } else { "" };
    format!("{}{}{}", mark(from > 0), &line[from..to], mark(to < line.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_deep_in_a_file_of_one_line_is_seen_with_marks_where_text_is_left_out() {
        let long = "ä".repeat(20_000);
        let (one, other) = (format!("-{long}OLD{long}"), format!("+{long}NEWER{long}"));
        let head = || ["--- a", "+++ b", "@@ -1 +1 @@"].map(str::to_owned).to_vec();
        let end = || "\\ No newline at end of file".to_owned();
        // With and without an end of the last line.
        for (lines, new) in [
            ([head(), vec![one.clone(), other.clone()]].concat(), 4),
            ([head(), vec![one, end(), other, end()]].concat(), 5),
        ] {
            let shown = windowed(lines);
            assert_eq!(shown[..3], head());
            for (line, sign, word) in [(&shown[3], "-…", "OLD"), (&shown[new], "+…", "NEWER")] {
                assert!(line.starts_with(sign) && line.contains(word) && line.ends_with('…'), "{line}");
                assert!(line.len() < 1_000);
            }
        }
    }

    #[test]
    fn what_is_short_stays_and_what_is_long_without_a_counterpart_is_cut_with_a_mark() {
        let long = "x".repeat(WIDE + 1);
        let lines = vec![" a".to_owned(), format!(" {long}"), format!("+{long}"), "-b".to_owned()];
        let shown = windowed(lines.clone());
        assert_eq!((&shown[0], &shown[3]), (&lines[0], &lines[3]));
        assert!(shown[1].ends_with('…') && shown[2].starts_with("+x") && shown[2].ends_with('…'));
        assert!(shown.iter().all(|line| line.len() <= WIDE));
    }

    #[test]
    fn a_change_that_is_itself_too_long_is_cut_with_a_mark() {
        let (one, other) = ("a".repeat(30_000), "b".repeat(30_000));
        let shown = windowed(vec![format!("-{one}"), format!("+{other}")]);
        assert!(shown.iter().all(|line| line.len() <= WIDE + 1 && line.ends_with('…')), "{shown:?}");
    }
}
