//! One HTML file that needs nothing else, and in which nothing can run.

use callgate_text::harmless;

use super::report::ReportFormat;

pub(super) struct Html;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1b1d21;background:#fff}\
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse;width:100%;font-size:13px}\
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #e3e5e8}\
td{overflow-wrap:break-word;max-width:18rem}td:nth-child(5),td:nth-child(8),td:nth-child(4):last-child{overflow-wrap:anywhere}\
th{font-weight:600;white-space:nowrap}td{font-variant-numeric:tabular-nums}p{color:#555a63}\
@media(prefers-color-scheme:dark){body{color:#e6e7ea;background:#15171a}th,td{border-color:#2c3036}p{color:#a2a7b0}}";

impl ReportFormat for Html {
    fn begin(&self, title: &str) -> String {
        let title = self.text(title);
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\n<style>{STYLE}</style></head>\n\
             <body><h1>{title}</h1>\n"
        )
    }

    fn text(&self, text: &str) -> String {
        let mut out = String::new();
        for c in harmless(text).chars() {
            match c {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '"' => out.push_str("&quot;"),
                '\'' => out.push_str("&#39;"),
                c => out.push(c),
            }
        }
        out
    }

    fn paragraph(&self, text: &str) -> String {
        format!("<p>{}</p>\n", self.text(text))
    }

    fn heading(&self, text: &str) -> String {
        format!("<h2>{}</h2>\n", self.text(text))
    }

    fn table(&self, columns: &[&str]) -> String {
        let heads: String =
            columns.iter().map(|column| format!("<th scope=\"col\">{}</th>", self.text(column))).collect();
        format!("<table><thead><tr>{heads}</tr></thead><tbody>\n")
    }

    fn row(&self, cells: &[String]) -> String {
        let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", self.text(cell))).collect();
        format!("<tr>{cells}</tr>\n")
    }

    fn end_of_table(&self) -> &'static str {
        "</tbody></table>\n"
    }

    fn end(&self) -> &'static str {
        "</body></html>\n"
    }
}
