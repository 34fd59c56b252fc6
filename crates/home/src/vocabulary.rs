//! Closed vocabularies: enums that are stored and printed as words.

/// Text that is none of the words of a vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is none of: {known}")]
pub struct UnknownWord {
    pub text: String,
    pub known: String,
}

/// An enum whose variants are words: what is printed, stored and read back.
#[macro_export]
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$variant,)+];

            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;
            fn from_str(text: &str) -> Result<Self, $crate::UnknownWord> {
                match text {
                    $($word => Ok($name::$variant),)+
                    _ => Err($crate::UnknownWord { text: text.to_owned(), known: [$($word,)+].join(", ") }),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.pad(self.word()) }
        }
    };
}
