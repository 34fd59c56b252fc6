//! Elements put before the first element of a list, and taken away again without a trace.

use super::lines::{before_break, blank, comma, eol, lead, line_start};
use super::{Document, Form, Literal, Member, Node, Odd, Splice, Syntax, quote};

impl Document {
    /// New elements before the first. [`Document::drop_front`] is the exact inverse.
    pub fn put_front(&self, member: &Member, literals: &[Literal<'_>]) -> Result<Vec<Splice>, Odd> {
        let list = &member.value;
        let items = editable(list)?;
        if literals.is_empty() {
            return Ok(Vec::new());
        }
        let Some(first) = items.first() else {
            let inside = list.span.start + 1;
            return Ok(vec![Splice::insert(inside, self.literals(literals, true).join(", "))]);
        };
        if let Some(oddity) = first.oddity() {
            return Err(Odd::new(format!("its first element is written with {}", oddity.words())));
        }
        if list.form == Form::Lines {
            let dash = self.dash(first)?;
            let indent = lead(&self.text, dash);
            let eol = eol(&self.text, dash);
            let front: String =
                self.literals(literals, false).iter().map(|l| format!("- {l}{eol}{indent}")).collect();
            return Ok(vec![Splice::insert(dash, front)]);
        }
        let at = first.span.start;
        let mut front = self.literals(literals, true).join(", ");
        front.push(',');
        let indent = lead(&self.text, at);
        if blank(indent) && line_start(&self.text, at) > list.span.start {
            // One element a line: ours take one line, and the first keeps its own.
            front.push_str(eol(&self.text, before_break(&self.text, at)));
            front.push_str(indent);
        } else {
            front.push(' ');
        }
        Ok(vec![Splice::insert(at, front)])
    }

    /// Whether `source` can be put into this list word for word, and so be moved back word for word.
    pub fn takes_source(&self, list: &Node, source: &str) -> bool {
        self.syntax != Syntax::Yaml || list.form == Form::Lines || quote::stands_in_flow(source)
    }

    /// The list without its first `n` elements.
    pub fn drop_front(&self, member: &Member, n: usize) -> Result<Vec<Splice>, Odd> {
        let list = &member.value;
        let items = editable(list)?;
        let (Some(first), Some(last)) = (items.first(), n.checked_sub(1).and_then(|i| items.get(i))) else {
            return if n == 0 { Ok(Vec::new()) } else { Err(Odd::new("the list is shorter than expected")) };
        };
        match (items.get(n), list.form) {
            (Some(next), Form::Lines) => Ok(vec![Splice::remove(self.dash(first)?..self.dash(next)?)]),
            (Some(next), _) => Ok(vec![Splice::remove(first.span.start..next.span.start)]),
            (None, Form::Lines) => {
                // A block cannot be empty, so the list changes its form.
                let from = before_break(&self.text, self.dash(first)?);
                let colon = self.colon(member)?;
                Ok(vec![Splice::insert(colon + 1, " []"), Splice::remove(from..last.span.end)])
            }
            (None, _) if self.is_bare(list, first, last) => {
                Ok(vec![Splice::remove(list.span.start + 1..list.span.end - 1)])
            }
            (None, _) => {
                let mut splices = vec![Splice::remove(first.span.start..last.span.end)];
                let after = last.span.end..list.span.end;
                if let Some(at) = comma(self.syntax, self.source(&after)) {
                    splices.push(Splice::remove(after.start + at..after.start + at + 1));
                }
                Ok(splices)
            }
        }
    }

    /// Whether these elements are all that a list was ever laid out for. Ours stand right behind the bracket of a list that
    /// was empty; if there is room before the first, somebody wrote the list anew around them, and that room goes with them.
    fn is_bare(&self, list: &Node, first: &Node, last: &Node) -> bool {
        let before = self.source(&(list.span.start + 1..first.span.start));
        let after = self.source(&(last.span.end..list.span.end - 1));
        !before.is_empty() && blank(before) && blank(&after.replacen(',', "", 1))
    }

    /// Where the `-` of a block's element stands, alone at the head of its line.
    pub(super) fn dash(&self, item: &Node) -> Result<usize, Odd> {
        let unclear = || Odd::new("an element of its list does not stand behind a `-` of its own line");
        let lead = lead(&self.text, item.span.start);
        let dash = lead.trim_end_matches([' ', '\t']).strip_suffix('-').ok_or_else(unclear)?;
        if !blank(dash) {
            return Err(unclear());
        }
        Ok(line_start(&self.text, item.span.start) + dash.len())
    }

    /// Where the `:` after a YAML key stands.
    pub(super) fn colon(&self, member: &Member) -> Result<usize, Odd> {
        let rest = &self.text[member.key_span.end..];
        let gap = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let found = rest[gap..].starts_with(':').then_some(member.key_span.end + gap);
        found.ok_or_else(|| Odd::new(format!("`{}` is not followed by a colon", member.key)))
    }
}

fn editable(list: &Node) -> Result<&[Node], Odd> {
    if let Some(oddity) = list.oddity() {
        return Err(Odd::new(format!("its list is written with {}", oddity.words())));
    }
    list.list().ok_or_else(|| Odd::new("it is not a list"))
}
