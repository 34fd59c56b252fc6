//! The vocabularies of the record, as the window knows them: the same words as in the log and in `--json`.

use callgate_journal as journal;
use serde::{Deserialize, Serialize};

macro_rules! mirror {
    ($(#[$doc:meta])* $name:ident of $original:path { $($variant:ident,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "bindings", derive(specta::Type))]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($variant,)+ }

        impl From<$original> for $name {
            fn from(word: $original) -> Self {
                use $original as Original;
                match word { $(Original::$variant => $name::$variant,)+ }
            }
        }

        impl From<$name> for $original {
            fn from(word: $name) -> Self {
                use $original as Original;
                match word { $($name::$variant => Original::$variant,)+ }
            }
        }
    };
}

mirror! {
    /// What was decided about a call.
    Decision of journal::Decision {
        Allowed, Denied, Capped, Hidden, Paused, Malformed, Broken, Unrecorded, Unsupported, WouldDeny,
        Stopped, Asked,
    }
}

mirror! {
    /// How a call ended.
    Outcome of journal::Outcome {
        Ok, ToolError, RpcError, Cancelled, NotDelivered, ServerEnded, Unusable, NotSent, Unknown,
        TimedOut, CancelledByUser,
    }
}
