//! Calls as lines of a table that fits the terminal: one layout for `log`, `demo` and `watch`.
//!
//! A column gives way before a line breaks. The tool's name is cut in the middle, so that names which begin alike stay
//! apart; what was decided is the last to go.

use anstyle::Style;

use crate::screen::{self, Screen, clip};

/// One call, a text for each column; all of them harmless already.
#[derive(Clone, Debug)]
pub(crate) struct Cells {
    pub(crate) time: String,
    /// Empty where nobody needs it.
    pub(crate) id: String,
    pub(crate) client: String,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) status: (String, Style),
    pub(crate) took: String,
    pub(crate) gist: String,
}

/// How wide each column is; one of no width is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) time: usize,
    pub(crate) id: usize,
    pub(crate) client: usize,
    pub(crate) server: usize,
    pub(crate) tool: usize,
    pub(crate) status: usize,
    pub(crate) took: usize,
    pub(crate) gist: usize,
    /// Blanks between two of them.
    pub(crate) gap: usize,
}

/// The widest that columns get in a terminal, however much there is to show.
const WIDEST: Columns =
    Columns { time: 25, id: 12, client: 18, server: 18, tool: 44, status: 18, took: 8, gist: 0, gap: 0 };
/// What a gist should have before the other columns get all that they want.
const GIST: usize = 40;
/// From this width on there is room for two blanks between columns.
const ROOMY: usize = 120;

type Column = fn(&mut Columns) -> &mut usize;

/// Who gives way, in this order, down to this; a column of 0 goes.
const GIVING_WAY: [(Column, usize); 16] = [
    (|all| &mut all.gist, 24),
    (|all| &mut all.tool, 30),
    (|all| &mut all.client, 10),
    (|all| &mut all.server, 10),
    (|all| &mut all.gist, 12),
    (|all| &mut all.tool, 24),
    (|all| &mut all.took, 0),
    (|all| &mut all.client, 8),
    (|all| &mut all.server, 8),
    (|all| &mut all.gist, 0),
    (|all| &mut all.tool, 20),
    (|all| &mut all.client, 0),
    (|all| &mut all.id, 0),
    (|all| &mut all.server, 0),
    (|all| &mut all.tool, 12),
    (|all| &mut all.time, 0),
];

impl Columns {
    pub(crate) const NONE: Columns =
        Columns { time: 0, id: 0, client: 0, server: 0, tool: 0, status: 0, took: 0, gist: 0, gap: 0 };

    /// As wide as these need; in a terminal no wider than it is.
    pub(crate) fn of<'c>(cells: impl IntoIterator<Item = &'c Cells>, width: usize) -> Columns {
        let mut needed = Columns::default();
        for cell in cells {
            let texts = [
                (&mut needed.time, &cell.time),
                (&mut needed.id, &cell.id),
                (&mut needed.client, &cell.client),
                (&mut needed.server, &cell.server),
                (&mut needed.tool, &cell.tool),
                (&mut needed.status, &cell.status.0),
                (&mut needed.took, &cell.took),
            ];
            for (column, text) in texts {
                *column = (*column).max(shown_width(text));
            }
        }
        needed.fitted(width)
    }

    /// The same for columns that want to be so wide.
    pub(crate) fn fitted(mut self, width: usize) -> Columns {
        if width == usize::MAX {
            // A pipe: nothing is cut, and columns stand below each other as far as is known.
            return Columns { gist: usize::MAX, gap: 2, ..self };
        }
        let wanted = self;
        self.gap = if width >= ROOMY { 2 } else { 1 };
        self.gist = GIST;
        for column in [
            (|all| &mut all.time) as Column,
            |all| &mut all.id,
            |all| &mut all.client,
            |all| &mut all.server,
            |all| &mut all.tool,
            |all| &mut all.status,
            |all| &mut all.took,
        ] {
            let widest = *column(&mut { WIDEST });
            let column = column(&mut self);
            *column = (*column).min(widest);
        }
        for (column, floor) in GIVING_WAY {
            let excess = self.total().saturating_sub(width);
            if excess == 0 {
                break;
            }
            let column = column(&mut self);
            *column = match floor {
                0 if *column <= excess + 4 => 0,
                floor => (*column).saturating_sub(excess).max(floor.min(*column)),
            };
        }
        // What a column that went has left behind: for the name first, then for the gist.
        let slack = width.saturating_sub(self.total());
        let more = slack.min(wanted.tool.min(WIDEST.tool).saturating_sub(self.tool));
        self.tool += more;
        self.gist += slack - more;
        self
    }

    fn total(&self) -> usize {
        let all =
            [self.time, self.id, self.client, self.server, self.tool, self.status, self.took, self.gist];
        let shown = all.iter().filter(|width| **width > 0);
        shown.clone().sum::<usize>() + self.gap * shown.count().saturating_sub(1)
    }

    /// The same with room for all of these, if they go into a pipe: rows that come later may be longer than those that the
    /// columns were measured by.
    fn with_room_for(self, cells: &Cells) -> Columns {
        if self.gist != usize::MAX {
            return self;
        }
        let own = Columns::of([cells], usize::MAX);
        Columns {
            time: self.time.max(own.time),
            id: self.id.max(own.id),
            client: self.client.max(own.client),
            server: self.server.max(own.server),
            tool: self.tool.max(own.tool),
            status: self.status.max(own.status),
            took: self.took.max(own.took),
            ..self
        }
    }

    /// The line, with colours if the screen has them.
    pub(crate) fn line(&self, screen: &Screen, cells: &Cells) -> String {
        let all = self.with_room_for(cells);
        let (status, style) = &cells.status;
        let plain = Style::new();
        let parts = [
            (all.time, screen::DIM, clip_to(&cells.time, all.time)),
            (all.id, screen::DIM, clip_to(&cells.id, all.id)),
            (all.client, plain, clip_to(&cells.client, all.client)),
            (all.server, plain, clip_to(&cells.server, all.server)),
            (all.tool, plain, middle(&cells.tool, all.tool)),
            (all.status, *style, clip_to(status, all.status)),
            (all.took, plain, format!("{:>width$}", cells.took, width = all.took)),
        ];
        let mut line = String::new();
        for (width, style, text) in parts.into_iter().filter(|(width, ..)| *width > 0) {
            let blanks = width.saturating_sub(shown_width(&text)) + self.gap;
            line.push_str(&if style == plain { text } else { screen.paint(style, &text) });
            line.extend(std::iter::repeat_n(' ', blanks));
        }
        line.push_str(&clip_to(&cells.gist, self.gist));
        line.trim_end().to_owned()
    }
}

/// At most so wide, with a mark in the middle where something was left out: both ends tell names apart.
pub(crate) fn middle(text: &str, width: usize) -> String {
    if shown_width(text) <= width {
        return text.to_owned();
    }
    if width < 3 {
        return clip(text, width);
    }
    // Much more of the end: names of one server begin alike.
    let head = (width - 1) / 5;
    let begin = fitting(text.chars(), head);
    let end: Vec<char> = fitting(text.chars().rev(), width - 1 - head).chars().collect();
    format!("{begin}…{}", end.iter().rev().collect::<String>())
}

/// At most so wide, with a mark at the end.
fn clip_to(text: &str, width: usize) -> String {
    if shown_width(text) <= width {
        return text.to_owned();
    }
    match width {
        0 => String::new(),
        width => format!("{}…", fitting(text.chars(), width - 1)),
    }
}

fn fitting(chars: impl Iterator<Item = char>, width: usize) -> String {
    let mut left = width;
    chars
        .take_while(|c| {
            let room = columns_of(*c) <= left;
            left = left.saturating_sub(columns_of(*c));
            room
        })
        .collect()
}

/// How many columns of a terminal a text takes.
pub(crate) fn shown_width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// Letters of East Asia, and signs that are pictures by themselves, take two.
fn columns_of(c: char) -> usize {
    match c {
        '\u{1100}'..='\u{115f}'
        | '\u{231a}' | '\u{231b}'
        | '\u{2329}' | '\u{232a}'
        | '\u{23e9}'..='\u{23ec}'
        | '\u{23f0}' | '\u{23f3}'
        | '\u{25fd}' | '\u{25fe}'
        | '\u{2614}' | '\u{2615}'
        | '\u{2630}'..='\u{2637}'
        | '\u{2648}'..='\u{2653}'
        | '\u{267f}'
        | '\u{268a}'..='\u{268f}'
        | '\u{2693}'
        | '\u{26a1}'
        | '\u{26aa}' | '\u{26ab}'
        | '\u{26bd}' | '\u{26be}'
        | '\u{26c4}' | '\u{26c5}'
        | '\u{26ce}'
        | '\u{26d4}'
        | '\u{26ea}'
        | '\u{26f2}' | '\u{26f3}'
        | '\u{26f5}'
        | '\u{26fa}'
        | '\u{26fd}'
        | '\u{2705}'
        | '\u{270a}' | '\u{270b}'
        | '\u{2728}'
        | '\u{274c}'
        | '\u{274e}'
        | '\u{2753}'..='\u{2755}'
        | '\u{2757}'
        | '\u{2795}'..='\u{2797}'
        | '\u{27b0}'
        | '\u{27bf}'
        | '\u{2b1b}' | '\u{2b1c}'
        | '\u{2b50}'
        | '\u{2b55}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{a960}'..='\u{a97c}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe10}'..='\u{fe19}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{16fe0}'..='\u{18dff}'
        | '\u{1aff0}'..='\u{1b2ff}'
        // Some of these take one; a line that is a little short does not wrap.
        | '\u{1f000}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(tool: &str) -> Cells {
        Cells {
            time: "07:48:00".to_owned(),
            id: "qj8sgt-1z".to_owned(),
            client: "claude-desktop".to_owned(),
            server: "run-automation".to_owned(),
            tool: tool.to_owned(),
            status: ("capped × 35".to_owned(), screen::BAD),
            took: "1.2 s".to_owned(),
            gist: "url: https://example.org/a/very/long/address/that/goes/on/and/on, timeout: 30000"
                .to_owned(),
        }
    }

    /// Pairs and triples of one server's names that only their ends, or their middles, tell apart.
    const ALIKE: [&str; 12] = [
        "playwright_get_visible_text",
        "playwright_get_visible_html",
        "playwright_assert_element_state",
        "playwright_assert_element_count",
        "playwright_wait_element_visible",
        "playwright_wait_element_hidden",
        "playwright_wait_element_enabled",
        "playwright_click_and_switch_tab",
        "playwright_create_browser_session",
        "playwright_close_browser_session",
        "playwright_expect_response",
        "playwright_assert_response",
    ];

    #[test]
    fn no_line_is_wider_than_its_terminal() {
        let rows: Vec<Cells> = ALIKE.iter().map(|tool| cells(tool)).collect();
        for width in [24, 40, 60, 80, 100, 120, 200] {
            let columns = Columns::of(&rows, width);
            for row in &rows {
                let line = columns.line(&Screen::plain(), row);
                assert!(shown_width(&line) <= width, "{width}: {line}");
                assert!(line.contains("capp"), "what was decided is the last to go: {line}");
            }
        }
    }

    #[test]
    fn names_that_begin_alike_stay_apart_and_the_client_is_there_at_80_columns() {
        let rows: Vec<Cells> = ALIKE.iter().map(|tool| cells(tool)).collect();
        for width in [80, 100, 120, 200] {
            let columns = Columns::of(&rows, width);
            let mut lines: Vec<String> = rows.iter().map(|row| columns.line(&Screen::plain(), row)).collect();
            assert!(lines.iter().all(|line| line.contains("claude")), "{lines:#?}");
            lines.sort();
            lines.dedup();
            assert_eq!(lines.len(), ALIKE.len(), "{width}: {lines:#?}");
        }
    }

    #[test]
    fn in_a_pipe_nothing_is_cut_and_a_long_name_does_not_break_the_columns() {
        let rows = [cells(&"long_".repeat(20)), cells("short")];
        let columns = Columns::of(&rows, usize::MAX);
        let lines = rows.each_ref().map(|row| columns.line(&Screen::plain(), row));
        assert!(lines[0].contains(&"long_".repeat(20)) && lines[0].ends_with("30000"), "{lines:#?}");
        assert_eq!(lines[0].find("capped"), lines[1].find("capped"));
    }

    #[test]
    fn a_line_with_signs_that_are_pictures_does_not_wrap() {
        for sign in [
            "✅", "❌", "⚡", "⭐", "⌚", "⏰", "☕", "⛔", "✨", "❓", "➕", "⬛", "⭕", "🀄", "🃏", "🆗",
            "🈁", "🚀",
        ] {
            assert_eq!(shown_width(sign), 2, "{sign}");
        }
        for sign in ["✓", "✗", "→", "…", "×", "é", "█", "☆"] {
            assert_eq!(shown_width(sign), 1, "{sign}");
        }
        assert_eq!(clip_to("✅✅✅", 4), "✅…");
    }

    #[test]
    fn a_longer_name_that_comes_later_is_not_cut_in_a_pipe() {
        let short =
            Cells { client: "c".to_owned(), server: "s".to_owned(), took: String::new(), ..cells("t") };
        let columns = Columns::of([&short], usize::MAX);
        let late = columns.line(&Screen::plain(), &cells("playwright_click_and_switch_tab"));
        for whole in ["claude-desktop", "run-automation", "playwright_click_and_switch_tab", "1.2 s", "30000"]
        {
            assert!(late.contains(whole), "{whole}: {late}");
        }
        assert!(!late.contains('…'), "{late}");
    }

    #[test]
    fn wide_letters_count_as_two() {
        assert_eq!(shown_width("日本語"), 6);
        assert!(shown_width(&middle("日本語の道具の名前", 9)) <= 9);
        assert_eq!(clip_to("日本語", 4), "日…");
    }
}
