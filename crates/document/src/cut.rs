//! An entry taken out of the document by its path: what [`Document::add`] put there goes without a trace as long as others stand beside it.

use std::ops::Range;

use super::blocks::not_odd;
use super::lines::{after_break, before_break, blank, lead, line_end, line_start};
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
                _ => return Err(gone()),
            };
        }
        not_odd("what it stands in", whole)?;
        let parts = whole.parts();
        let part = parts.get(*index).ok_or_else(gone)?;
        match (self.syntax, whole.form) {
            (_, Form::Inline) => Ok(self.remove(whole, *index)),
            (Syntax::Toml, _) => self.cut_table(whole, *index, part),
            (_, _) => self.cut_lines(whole, holder, part),
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
