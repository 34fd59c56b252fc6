//! Money: which things are, and which only sound like it.

use crate::lexicon::{Act, has_any};

/// Whoever makes, changes or ends one of these moves money, or commits somebody to pay.
const MONEY: &str = "invoice payment refund charge payout dispute subscription paymentintent paymentlink \
    transaction funds money cash chargeback remittance payroll salary loan mortgage donation withdrawal deposit \
    paylink billing usdc usdt eth btc sol crypto escrow airtime topup recharge giftcard bet wager \
    expense reimbursement credits credit checkout";

/// Of these only with a verb that commits to them.
const ORDERED: &str = "order orders trade trades position positions stock stocks shares share option future futures bid \
    flight hotel room ticket tickets ride booking reservation cart checkout plan token tokens coin coins nft";

const COMMITTING: &str =
    "place submit buy sell book order reserve capture checkout trade purchase execute swap send transfer";

/// A subscription, a charge or a transaction of these is none of money.
const NO_MONEY: &str = "notification notifications webhook webhooks topic topics event events push email newsletter azure pubsub \
    channel feed calendar graph mqtt repository thread alert alerts resource resources sns database sql db cypher \
    kafka queue stream streams mailing rss websocket graphql battery load trace apm span mail podcast youtube slack \
    template templates reminder reminders redis transactional isolation category categories report reports method tag comment comments";

/// These are of money only where nothing near them says otherwise.
const AMBIGUOUS: &str = "subscription transaction charge credits expense";

/// A transfer is one of money where these are named beside it.
const OF_BANKS: &str = "bank iban sepa ach wire debit funds payout";

/// Who begins or commits a transaction means that of a database.
const OF_DATABASES: &str = "begin commit rollback start run abort";

/// Whether an act on these things is one of money. `context`: what else is said around them.
pub(crate) fn is_financial(verb: &str, act: Act, objects: &[&str], context: &[&str]) -> bool {
    let things = || objects.iter().copied();
    if act == Act::Read || has_any(things(), NO_MONEY) {
        return false;
    }
    if has_any(things(), AMBIGUOUS)
        && (has_any(context.iter().copied(), NO_MONEY) || has_any([verb], OF_DATABASES))
    {
        return false;
    }
    has_any(things(), MONEY)
        || (has_any(things(), "transfer") && has_any(context.iter().copied(), OF_BANKS))
        || (has_any([verb], COMMITTING) && has_any(things(), ORDERED) && is_bought(verb, objects))
        || (matches!(verb, "create" | "cancel" | "modify" | "amend" | "close")
            && is_market_order(verb, objects))
        || (verb == "top" && objects.first() == Some(&"up"))
}

/// Sending or sharing a file is not selling shares.
fn is_bought(verb: &str, objects: &[&str]) -> bool {
    match verb {
        "send" | "transfer" | "execute" | "submit" | "swap" => {
            has_any(objects.iter().copied(), "order trade token coin nft stock position bid booking")
                && !has_any(objects.iter().copied(), "access device auth api sort work")
        }
        "book" => has_any(objects.iter().copied(), "flight hotel ride ticket trip room"),
        _ => true,
    }
}

/// An order as exchanges and shops have them; not a work order, not a sort order.
fn is_market_order(verb: &str, objects: &[&str]) -> bool {
    let things = || objects.iter().copied();
    !has_any(things(), "work sort draft")
        && (has_any(things(), "order")
            || (verb != "create" && has_any(things(), "trade position"))
            || (verb == "create" && has_any(things(), "trade")))
}

/// Words that make an inherently financial verb mean something else: a purchase of none, a swap of memory.
pub(crate) fn is_meant_otherwise(verb: &str, objects: &[&str]) -> bool {
    let things = || objects.iter().copied();
    match verb {
        "charge" => has_any(things(), "battery device car vehicle phone"),
        "checkout" => has_any(things(), "branch commit ref file git revision repository"),
        "swap" => has_any(things(), "slot slots node nodes memory face faces layer deployment cells"),
        "trade" | "order" | "buy" | "sell" if has_any(things(), "paper play demo simulated virtual") => true,
        "trade" | "tip" | "wire" => has_any(things(), "history data list node nodes frame"),
        "deposit" => has_any(things(), "file files"),
        "withdraw" => has_any(things(), "release version package application offer request consent"),
        "stake" => has_any(things(), "claim"),
        _ => false,
    }
}
