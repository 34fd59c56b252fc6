//! An entry taken out of the document: what [`Document::add`] put there goes without a trace as long as others stand beside it.

use std::ops::Range;

use super::add::not_odd;
use super::lines::{
    after_break, before_break, blank, comma, has_comment, lead, line_end, line_start, trimmed,
};
use super::{Document, Form, Member, Node, Odd, Splice, Syntax, Value};

impl Document {
    /// The document without the part that is reached by taking these children, one after the other, from the root.
    pub fn cut(&self, path: &[usize]) -> Result<Vec<Splice>, Odd> {
        let gone = || Odd::new("it is not in this file any more");
        let (index, above) = path.split_last().ok_or_else(gone)?;
        let (mut holder, mut whole) = (None::<&Member>, &self.root);
        for step in above {
            (holder, whole) = match &whole.value {
                Value::Map(members) => members.get(*step).map(|m| (Some(m), &m.value)).ok_or_else(gone)?,
                Value::List(items) => (None, items.get(*step).ok_or_else(gone)?),
                Value::Text(_) | Value::Other => return Err(gone()),
            };
        }
        not_odd("what it stands in", whole)?;
        let parts = whole.parts();
        let part = parts.get(*index).ok_or_else(gone)?;
        match (self.syntax, whole.form) {
            (_, Form::Inline) => Ok(self.cut_between(whole, &parts, *index)),
            (Syntax::Toml, _) => self.cut_table(whole, *index, part),
            (_, _) => self.cut_lines(whole, holder, part),
        }
    }

    fn cut_between(&self, whole: &Node, parts: &[Range<usize>], index: usize) -> Vec<Splice> {
        let (open, close) = (whole.span.start + 1, whole.span.end - 1);
        let (start, end) = parts.get(index).map_or((open, close), |part| (part.start, part.end));
        let previous = index.checked_sub(1).and_then(|i| parts.get(i)).map(|part| part.end);
        let next = parts.get(index + 1).map(|part| part.start);
        let comment = |gap: &Range<usize>| has_comment(self.syntax, self.source(gap));
        let before = previous.unwrap_or(open)..start;
        let after = end..next.unwrap_or(close);
        // Where what stands before it ends, comments included.
        let from = before.start + trimmed(self.source(&before)).len();
        let own_comma = comma(self.syntax, self.source(&after)).map(|at| after.start + at + 1);
        match (previous, next) {
            (None, None) if !comment(&before) && !comment(&after) => vec![Splice::remove(open..close)],
            (Some(previous), _) if !comment(&before) => vec![Splice::remove(previous..end)],
            (None, Some(next)) if !comment(&after) => vec![Splice::remove(start..next)],
            // Comments are not ours. Of the commas around, one goes with it: its own, if it has one.
            _ => match own_comma {
                Some(own) if !comment(&(end..own)) => vec![Splice::remove(from..own)],
                Some(own) => vec![Splice::remove(from..end), Splice::remove(own - 1..own)],
                None => {
                    let left = comma(self.syntax, self.source(&before)).map(|at| before.start + at);
                    let left = left.map(|at| Splice::remove(at..at + 1));
                    left.into_iter().chain([Splice::remove(from.max(before.start)..end)]).collect()
                }
            },
        }
    }

    /// Whole lines of YAML.
    fn cut_lines(
        &self,
        whole: &Node,
        holder: Option<&Member>,
        part: &Range<usize>,
    ) -> Result<Vec<Splice>, Odd> {
        let start = match &whole.value {
            Value::List(items) => {
                let item = items.iter().find(|item| item.span.start == part.start);
                self.dash(item.ok_or_else(|| Odd::new("it is not in this file any more"))?)?
            }
            _ => part.start,
        };
        if !blank(lead(&self.text, start)) || line_start(&self.text, start) == 0 {
            return Err(Odd::new("it does not stand in lines of its own"));
        }
        let cut = Splice::remove(before_break(&self.text, start)..line_end(&self.text, part.end));
        if whole.parts().len() > 1 {
            return Ok(vec![cut]);
        }
        // A block cannot be empty.
        let holder = holder.ok_or_else(|| Odd::new("it is all that the file has"))?;
        let empty = if whole.list().is_some() { " []" } else { " {}" };
        Ok(vec![Splice::insert(self.colon(holder)? + 1, empty), cut])
    }

    /// A table with its header, or a line.
    fn cut_table(&self, whole: &Node, index: usize, part: &Range<usize>) -> Result<Vec<Splice>, Odd> {
        let text = &self.text;
        let apart = || Odd::new("its parts stand apart in the file");
        let member = whole.map().and_then(|members| members.get(index)).ok_or_else(apart)?;
        let value = &member.value;
        let end = line_end(text, part.end.max(value.span.end));
        if value.form != Form::Lines {
            let start = line_start(text, member.key_span.start);
            return Ok(vec![Splice::remove(before_break(text, start)..end)]);
        }
        let header = line_start(text, value.span.start);
        if !text[header..].trim_start_matches([' ', '\t']).starts_with('[') {
            return Err(Odd::new("it is written with dotted keys"));
        }
        // The blank line before it, if there is one.
        let before = before_break(text, header);
        let blank_line = before > 0 && blank(&text[line_start(text, before)..before]);
        let from = if blank_line { before_break(text, before) } else { before };
        // In the first line there is no break before it, so the one behind it goes.
        let to = if header == 0 { after_break(text, end) } else { end };
        Ok(vec![Splice::remove(from..to)])
    }
}

impl Node {
    /// Where each part of a list or a map stands, keys included.
    pub(super) fn parts(&self) -> Vec<Range<usize>> {
        match &self.value {
            Value::List(items) => items.iter().map(|item| item.span.clone()).collect(),
            Value::Map(members) => {
                members.iter().map(|m| m.key_span.start..m.value.span.end.max(m.key_span.end)).collect()
            }
            Value::Text(_) | Value::Other => Vec::new(),
        }
    }
}
