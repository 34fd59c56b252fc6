//! A verb with the things it is done to, wherever the two stand.

use crate::lexicon::{Act, Verb, has_any, refined};
use crate::money;

/// What such a phrase does.
pub(crate) fn act(verb: &str, known: Verb, objects: &[&str], context: &[&str]) -> Act {
    if known.act == Act::Pay && money::is_meant_otherwise(verb, objects) {
        return Act::Write;
    }
    let plain = refined(verb, objects).unwrap_or(known.act);
    // "transfer" is of anything; of value it is a payment.
    if verb == "transfer" && is_value(objects) {
        return Act::Pay;
    }
    if money::is_financial(verb, plain, objects, context) { Act::Pay } else { plain }
}

fn is_value(objects: &[&str]) -> bool {
    has_any(
        objects.iter().copied(),
        "funds money token coin balance asset eth sol usdc btc cash payment stock amount",
    )
}
