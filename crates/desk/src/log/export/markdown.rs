//! Markdown in which no text can become a link, a picture, a heading or HTML.

use callgate_text::harmless;

use super::report::ReportFormat;

pub(super) struct Markdown;

impl ReportFormat for Markdown {
    fn begin(&self, title: &str) -> String {
        format!("# {}\n\n", self.text(title))
    }

    fn text(&self, text: &str) -> String {
        let mut out = String::new();
        for c in harmless(text).chars() {
            match c {
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '&' => out.push_str("&amp;"),
                // An address becomes a link by itself, unless its colon is no colon.
                ':' => out.push_str("&#58;"),
                '@' => out.push_str("&#64;"),
                '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '+' | '-' | '!' | '|'
                | '~' | '.' | '=' | '$' | '^' => {
                    out.push('\\');
                    out.push(c);
                }
                c => out.push(c),
            }
        }
        out
    }

    fn paragraph(&self, text: &str) -> String {
        format!("{}\n\n", self.text(text))
    }

    fn heading(&self, text: &str) -> String {
        format!("## {}\n\n", self.text(text))
    }

    fn table(&self, columns: &[&str]) -> String {
        format!("| {} |\n|{}\n", columns.join(" | "), " --- |".repeat(columns.len()))
    }

    fn row(&self, cells: &[String]) -> String {
        let cells: Vec<String> = cells.iter().map(|cell| self.text(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    }

    fn end_of_table(&self) -> &'static str {
        "\n"
    }

    fn end(&self) -> &'static str {
        ""
    }
}
