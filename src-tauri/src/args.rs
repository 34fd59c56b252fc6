//! The words that the app is started with.

use callgate_desk::view::Place;

use crate::route;

pub(crate) const HELP: &str = "\
Usage: callgate-app [--hidden] [--open PLACE]

  --hidden      start in the tray without a window (as at login)
  --open PLACE  show the window at: activity, servers, settings, rules:SERVER or call:ID
  --version     print the version

A second start shows the window of the first.";

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Args {
    /// No window until somebody asks for it.
    pub hidden: bool,
    pub open: Option<Place>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Parsed {
    Start(Args),
    Help,
    Version,
    Wrong(String),
}

pub(crate) fn parse(words: impl IntoIterator<Item = String>) -> Parsed {
    let mut args = Args::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--hidden" => args.hidden = true,
            "--open" => match words.next().as_deref().map(route::named) {
                Some(Some(place)) => args.open = Some(place),
                Some(None) => return Parsed::Wrong("--open does not know this place".to_owned()),
                None => return Parsed::Wrong("--open needs a place".to_owned()),
            },
            "--help" | "-h" => return Parsed::Help,
            "--version" | "-V" => return Parsed::Version,
            other => return Parsed::Wrong(format!("{other:?} is not an option")),
        }
    }
    Parsed::Start(args)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Parsed {
        parse(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_start_says_whether_and_what_to_show() {
        let call = Place::Call { id: "abcde-1".to_owned() };
        let cases = [
            ("", Parsed::Start(Args::default())),
            ("--hidden", Parsed::Start(Args { hidden: true, open: None })),
            ("--open call:abcde-1", Parsed::Start(Args { hidden: false, open: Some(call) })),
            ("--open settings", Parsed::Start(Args { hidden: false, open: Some(Place::Settings) })),
            ("-h", Parsed::Help),
            ("--version", Parsed::Version),
        ];
        for (words, expected) in cases {
            assert_eq!(read(words), expected, "{words}");
        }
        for wrong in ["--open", "--open nowhere", "--open call:", "--frob", "x"] {
            assert!(matches!(read(wrong), Parsed::Wrong(_)), "{wrong}");
        }
    }
}
