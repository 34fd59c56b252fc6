//! How much one call adds to a sum: a number from its arguments, in millionths.
//!
//! A text that spells a number is no number here: what a server makes of `"1.000"` or `"9e-9"`, nobody else can tell.

use callgate_protocol::json::{Kind, Raw};

use crate::evaluate::resolve;
use crate::file::Path;
use crate::number::Decimal;

/// The amount, or why there is none, as the end of a sentence.
pub(crate) fn of(args: Option<Raw<'_>>, from: &Path) -> Result<u64, String> {
    let path = &from.text;
    let Some(found) = args.and_then(|args| resolve(args, from)) else {
        return Err(format!("{path} is missing, and it is added up"));
    };
    let kind = match found.kind() {
        Kind::Number => {
            let number = Decimal::parse(found.text());
            let too_large = || format!("{path} is a number out of reach, and it is added up");
            let number = number.ok_or_else(too_large)?;
            if number.is_negative() {
                return Err(format!("{path} is negative, and it is added up"));
            }
            return number.millionths().ok_or_else(too_large);
        }
        Kind::Null => "null",
        Kind::Bool => "true or false",
        Kind::String => "text",
        Kind::Array => "a list",
        Kind::Object => "an object",
    };
    Err(format!("{path} is {kind} and no number, and it is added up"))
}
