//! A member with a list, added after another in the style of the file, and taken away again without a trace.

use super::lines::{before_break, blank, eol, has_comment, lead, line_end, line_start};
use super::{Document, Form, Literal, Member, Node, Odd, Splice, Syntax, quote};

impl Document {
    /// `key` with a list, after the member `after`. [`Document::drop_member`] is the exact inverse.
    pub fn add_list_after(
        &self,
        map: &Node,
        after: &str,
        key: &str,
        literals: &[Literal<'_>],
    ) -> Result<Vec<Splice>, Odd> {
        let (index, member) = find(map, after)?;
        if map.member(key).is_some() {
            return Err(Odd::new(format!("`{key}` is there already")));
        }
        let key = self.key_like(member, key);
        if map.form == Form::Lines {
            return self.add_line(member, &key, literals);
        }
        let list = format!("{key}{}[{}]", self.separator(member), self.literals(literals, true).join(", "));
        let end = member.value.span.end;
        // With a comment behind `after`, the new member comes behind the comment, so that the comment stays with its line.
        if let Some(next) = map.map().and_then(|m| m.get(index + 1)) {
            let at = next.key_span.start;
            if has_comment(self.syntax, self.source(&(end..at))) {
                return Ok(vec![Splice::insert(at, format!("{list},{}", self.gap(map, next)))]);
            }
        }
        Ok(vec![Splice::insert(end, format!(",{}{list}", self.gap(map, member)))])
    }

    fn add_line(&self, member: &Member, key: &str, literals: &[Literal<'_>]) -> Result<Vec<Splice>, Odd> {
        let text = &self.text;
        let at = line_end(text, member.value.span.end);
        let rest = text[member.value.span.end..at].trim_start();
        if !rest.is_empty() && !rest.starts_with('#') {
            return Err(Odd::new(format!("something follows `{}` in its line", member.key)));
        }
        let eol = eol(text, at);
        let lead = lead(text, member.key_span.start);
        let added = if self.syntax == Syntax::Toml {
            // The line up to the key: an indentation, or the first parts of a dotted key.
            let list = self.literals(literals, true).join(", ");
            format!("{eol}{lead}{key}{}[{list}]", self.separator(member))
        } else {
            self.colon(member)?;
            if !lead.bytes().all(|b| matches!(b, b' ' | b'-')) {
                return Err(Odd::new(format!("something stands before `{}` in its line", member.key)));
            }
            let indent = " ".repeat(lead.len());
            let list = self.literals(literals, false);
            let list: String = list.iter().map(|l| format!("{eol}{indent}  - {l}")).collect();
            format!("{eol}{indent}{key}:{list}")
        };
        Ok(vec![Splice::insert(at, added)])
    }

    /// The map without the member `key`.
    pub fn drop_member(&self, map: &Node, key: &str) -> Result<Vec<Splice>, Odd> {
        let (index, member) = find(map, key)?;
        let members = map.map().unwrap_or_default();
        let (start, end) = (member.key_span.start, member.value.span.end);
        if map.form == Form::Lines {
            let lead = lead(&self.text, start);
            if self.syntax == Syntax::Toml || blank(lead) {
                return Ok(vec![Splice::remove(before_break(&self.text, start)..end)]);
            }
            // Behind the dash of a list's element: the next member moves up.
            let next = members
                .get(index + 1)
                .ok_or_else(|| Odd::new(format!("`{key}` is all that the entry has")))?;
            return Ok(vec![Splice::remove(start..next.key_span.start)]);
        }
        Ok(self.remove(map, index))
    }

    /// What stands between two members of a map like this one: a line break and the indentation, or a blank.
    fn gap(&self, map: &Node, member: &Member) -> String {
        let at = member.key_span.start;
        let lead = lead(&self.text, at);
        if blank(lead) && line_start(&self.text, at) > map.span.start {
            format!("{}{lead}", eol(&self.text, before_break(&self.text, at)))
        } else {
            " ".to_owned()
        }
    }

    /// What stands between key and value, as this member has it.
    fn separator(&self, member: &Member) -> &str {
        let own = self.source(&(member.key_span.end..member.value.span.start));
        let plain = own.bytes().all(|b| matches!(b, b' ' | b'\t' | b':' | b'='));
        match self.syntax {
            _ if plain && !own.is_empty() => own,
            Syntax::Toml => " = ",
            Syntax::Json | Syntax::Commented | Syntax::Jsonc | Syntax::Yaml => ": ",
        }
    }

    fn key_like(&self, member: &Member, key: &str) -> String {
        let quoted = self.source(&member.key_span).starts_with(['"', '\'']);
        if quoted { quote::quote(key) } else { key.to_owned() }
    }
}

fn find<'a>(map: &'a Node, key: &str) -> Result<(usize, &'a Member), Odd> {
    if let Some(oddity) = map.oddity() {
        return Err(Odd::new(format!("the entry is written with {}", oddity.words())));
    }
    let found = map.map().and_then(|members| members.iter().enumerate().find(|(_, m)| m.key == key));
    found.ok_or_else(|| Odd::new(format!("it has no `{key}`")))
}
