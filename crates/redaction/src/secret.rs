//! A text that nobody gets to see by accident.

use std::fmt;

use zeroize::Zeroizing;

/// A secret text. It has no `Display` and no `Serialize`, its `Debug` says nothing of it, and its memory is overwritten when
/// it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    pub fn new(text: String) -> Secret {
        Secret(Zeroizing::new(text))
    }

    /// For the one place that it is meant for.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// In characters: what a person may be told of it.
    pub fn length(&self) -> usize {
        self.0.chars().count()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_printed() {
        let secret = Secret::new("hunter2-hunter2".to_owned());
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "Secret(…) Some(Secret(…))");
        assert_eq!((secret.expose(), secret.length()), ("hunter2-hunter2", 15));
    }
}
