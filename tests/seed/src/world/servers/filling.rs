//! Something to put in the places of what is asked and answered.

use super::super::Dice;

/// Puts something in for each name in braces. Braces of JSON are never right around letters only.
pub(super) fn fill(pattern: &str, dice: &mut Dice) -> String {
    let mut out = String::with_capacity(pattern.len() + 64);
    let mut rest = pattern;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let close = rest
            .find('}')
            .filter(|close| *close > 1 && rest[1..*close].bytes().all(|b| b.is_ascii_lowercase()));
        match close {
            Some(close) => {
                something(&rest[1..close], dice, &mut out);
                rest = &rest[close + 1..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn something(kind: &str, dice: &mut Dice, out: &mut String) {
    let picked: &str = match kind {
        "url" => dice.pick::<&str>(URLS),
        "selector" => dice.pick::<&str>(SELECTORS),
        "file" => dice.pick::<&str>(FILES),
        "word" => dice.pick::<&str>(WORDS),
        "repo" => dice.pick::<&str>(REPOS),
        "branch" => dice.pick::<&str>(BRANCHES),
        "title" => dice.pick::<&str>(TITLES),
        "sql" => dice.pick::<&str>(QUERIES),
        "channel" => dice.pick::<&str>(CHANNELS),
        "page" => {
            let lines = 2 + dice.below(9);
            for _ in 0..lines {
                out.push_str(dice.pick::<&str>(LINES));
            }
            return;
        }
        "n" => return out.push_str(&dice.below(500).to_string()),
        "id" => return out.push_str(&format!("{:08x}", dice.below(u64::from(u32::MAX)))),
        _ => kind,
    };
    out.push_str(picked);
}

const URLS: &[&str] = &[
    "https://app.example.com/login",
    "https://app.example.com/dashboard",
    "https://app.example.com/settings/billing",
    "https://shop.example.org/cart",
    "https://shop.example.org/checkout?step=2",
    "https://docs.example.com/getting-started",
    "https://status.example.net/incidents",
    "http://localhost:5173/",
    "http://localhost:3000/orders/4711",
    "https://en.wikipedia.org/wiki/Sliding_window_protocol",
];
const SELECTORS: &[&str] = &[
    "#go",
    "button[type=submit]",
    "input[name=email]",
    "#password",
    "text=Continue",
    ".cart >> text=Checkout",
    "nav a:has-text('Reports')",
    "[data-testid=save]",
    "table tr:nth-child(3)",
    "role=dialog >> text=Delete",
];
const FILES: &[&str] = &[
    "/home/ada/work/shop/src/cart.ts",
    "/home/ada/work/shop/src/checkout/payment.ts",
    "/home/ada/work/shop/package.json",
    "/home/ada/work/shop/README.md",
    "/home/ada/work/shop/tests/cart.spec.ts",
    "/home/ada/work/shop/migrations/0042_orders.sql",
    "/home/ada/notes/2026-11-meeting.md",
    "/home/ada/work/infra/main.tf",
];
const WORDS: &[&str] = &[
    "checkout",
    "invoice",
    "refund",
    "retry",
    "latency",
    "webhook",
    "session",
    "migration",
    "currency",
    "rounding",
    "pagination",
    "timeout",
    "avatar",
    "onboarding",
    "coupon",
];
const REPOS: &[&str] = &["ada/shop", "ada/infra", "example-org/design-system", "example-org/billing"];
const BRANCHES: &[&str] = &["main", "fix/cart-rounding", "feat/coupons", "chore/deps", "release/2.4"];
const TITLES: &[&str] = &[
    "Totals are off by one cent",
    "Login page jumps on slow networks",
    "Add coupon codes",
    "Bump dependencies",
    "Refund webhook is retried for ever",
    "Flaky test: cart.spec.ts",
];
const QUERIES: &[&str] = &[
    "select count(*) from orders where created_at > now() - interval '1 day'",
    "select id, total, currency from orders order by id desc limit 20",
    "explain analyze select * from customers where email = 'a@example.com'",
    "select status, count(*) from refunds group by status",
];
const CHANNELS: &[&str] = &["#shop", "#infra", "#releases", "#support"];
const LINES: &[&str] = &[
    "- heading \\\"Your cart\\\" [level=1] [ref=e4]\\n",
    "- button \\\"Continue\\\" [ref=e17] [cursor=pointer]\\n",
    "- textbox \\\"E-mail\\\" [ref=e9]: ada@example.com\\n",
    "- link \\\"Reports\\\" [ref=e23]\\n  - /url: /reports\\n",
    "- row \\\"4711 Rounding error 12.99 EUR open\\\" [ref=e41]\\n",
    "- text: Thank you! We have sent you a mail.\\n",
    "export function total(items: Item[]): number {\\n  return items.reduce((sum, item) => sum + item.price, 0);\\n}\\n",
    "- img \\\"Logo\\\" [ref=e2]\\n",
];
