//! A change of a text as places and what comes there. The rest is copied.

use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    pub span: Range<usize>,
    pub text: String,
}

impl Splice {
    pub fn replace(span: Range<usize>, text: impl Into<String>) -> Splice {
        Splice { span, text: text.into() }
    }

    pub fn insert(at: usize, text: impl Into<String>) -> Splice {
        Splice { span: at..at, text: text.into() }
    }

    pub fn remove(span: Range<usize>) -> Splice {
        Splice { span, text: String::new() }
    }
}

/// Splices that do not fit together or do not fit the text: a mistake of ours, and nothing is written.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("two edits meet at byte {at}; nothing was changed")]
pub struct Crossed {
    pub at: usize,
}

/// The text with every splice made. Their order does not matter, except between insertions at one place.
pub fn apply(text: &str, splices: &[Splice]) -> Result<String, Crossed> {
    let mut sorted: Vec<&Splice> = splices.iter().collect();
    sorted.sort_by_key(|s| (s.span.start, s.span.end));
    let mut out = String::with_capacity(text.len() + sorted.iter().map(|s| s.text.len()).sum::<usize>());
    let mut copied = 0;
    for Splice { span, text: new } in sorted {
        let kept = (span.start <= span.end).then(|| text.get(copied..span.start)).flatten();
        let fits = text.is_char_boundary(span.end);
        let kept = kept.filter(|_| fits).ok_or(Crossed { at: span.start })?;
        out.push_str(kept);
        out.push_str(new);
        copied = span.end;
    }
    out.push_str(&text[copied..]);
    Ok(out)
}
