//! Secrets that are known by their looks. Each shape carries a sample that it must find and a near miss that it
//! must leave alone; a test holds it to both.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

use super::search;

/// How a secret goes on after its first characters.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// A prefix, then at least so many characters of this alphabet, a digit among them.
    Prefixed(Alphabet, usize),
    /// A word, then a token of letters and digits.
    Scheme,
    Slack,
    Jwt,
    PrivateKey,
    /// `://user:password@`
    UserInfo,
}

#[derive(Clone, Copy, Debug)]
enum Alphabet {
    /// `A-Z a-z 0-9`
    Plain,
    /// The same with `_` and `-`.
    Url,
    /// The same with `.` as well.
    Dotted,
    /// `A-Z 0-9`
    Upper,
}

#[derive(Debug)]
pub(super) struct Shape {
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader and the test"))]
    pub(super) name: &'static str,
    /// Where it starts, or what is in it; in any case for schemes, exactly for all others.
    pub(super) trigger: &'static str,
    form: Form,
    #[cfg_attr(not(test), expect(dead_code, reason = "held against the shape by a test"))]
    pub(super) sample: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "held against the shape by a test"))]
    pub(super) near_miss: &'static str,
}

macro_rules! shapes {
    ($($name:literal $trigger:literal $form:expr, $sample:expr, $near_miss:expr;)+) => {
        &[$(Shape { name: $name, trigger: $trigger, form: $form, sample: $sample, near_miss: $near_miss },)+]
    };
}

use Alphabet::{Dotted, Plain, Upper, Url};
use Form::{Jwt, Prefixed, PrivateKey, Scheme, Slack, UserInfo};

// Samples are put together from parts so that no scanner takes this file for a leak.
pub(super) const SHAPES: &[Shape] = shapes! {
    "OpenAI, Anthropic" "sk-" Prefixed(Url, 20), concat!("sk-", "ant-api03-AbCdEfGhIj0123456789_x"), "task-list-with-a-very-long-name-01234";
    "Stripe" "sk_live_" Prefixed(Plain, 16), concat!("sk_", "live_4eC39HqLyjWDarjtT1zdp7dc"), "sk_live_mode";
    "Stripe, restricted" "rk_live_" Prefixed(Plain, 16), concat!("rk_", "live_4eC39HqLyjWDarjtT1zdp7dc"), "rk_live_";
    "Stripe, test" "sk_test_" Prefixed(Plain, 16), concat!("sk_", "test_4eC39HqLyjWDarjtT1zdp7dc"), "disk_test_results_20250101_run";
    "Stripe, webhook" "whsec_" Prefixed(Plain, 16), concat!("whsec", "_4eC39HqLyjWDarjtT1zdp7dc"), "whsec_name";
    "GitHub" "ghp_" Prefixed(Plain, 30), concat!("ghp", "_0123456789abcdefghijABCDEFGHIJklmnop"), "ghp_short1";
    "GitHub, OAuth" "gho_" Prefixed(Plain, 30), concat!("gho", "_0123456789abcdefghijABCDEFGHIJklmnop"), "gho_x";
    "GitHub, user" "ghu_" Prefixed(Plain, 30), concat!("ghu", "_0123456789abcdefghijABCDEFGHIJklmnop"), "ghu_x";
    "GitHub, server" "ghs_" Prefixed(Plain, 30), concat!("ghs", "_0123456789abcdefghijABCDEFGHIJklmnop"), "ghs_x";
    "GitHub, refresh" "ghr_" Prefixed(Plain, 30), concat!("ghr", "_0123456789abcdefghijABCDEFGHIJklmnop"), "ghr_x";
    "GitHub, fine-grained" "github_pat_" Prefixed(Url, 30), concat!("github", "_pat_11ABCDEFG0123456789_abcdefghijklmnop"), "github_pat_docs";
    "GitLab" "glpat-" Prefixed(Url, 20), concat!("glpat", "-AbCdEf0123456789wxyz"), "glpat-none";
    "Slack" "xox" Slack, concat!("xoxb", "-123456789012-abcdefABCDEF"), "xoxo-with-love-forever-and-ever";
    "Slack, app" "xapp-" Prefixed(Url, 10), concat!("xapp", "-1-A0123-456-abcdef"), "xapp-one";
    "AWS key" "AKIA" Prefixed(Upper, 16), concat!("AKIA", "IOSFODNN7EXAMPL2"), "AKIAlower0123456789";
    "AWS session key" "ASIA" Prefixed(Upper, 16), concat!("ASIA", "IOSFODNN7EXAMPL2"), "ASIA 2025 CONFERENCE";
    "Google" "AIza" Prefixed(Url, 35), concat!("AIza", "SyA0123456789abcdefghijklmnopqrstuvw"), "AIzaShort1";
    "Google, OAuth" "ya29." Prefixed(Url, 20), concat!("ya29", ".a0AfH6SMBx0123456789abcd"), "ya29.x";
    "npm" "npm_" Prefixed(Plain, 36), concat!("npm", "_0123456789abcdefghijABCDEFGHIJklmnopqr"), "npm_config_cache_0123456789";
    "PyPI" "pypi-" Prefixed(Url, 40), concat!("pypi", "-AgEIcHlwaS5vcmcCJDAxMjM0NTY3ODlhYmNkZWYwMTIz"), "pypi-server-1";
    "Hugging Face" "hf_" Prefixed(Plain, 30), concat!("hf", "_0123456789abcdefghijABCDEFGHIJklmn"), "hf_hub1";
    "DigitalOcean" "dop_v1_" Prefixed(Plain, 40), concat!("dop_v1", "_0123456789abcdef0123456789abcdef0123456789abcdef"), "dop_v1_x";
    "SendGrid" "SG." Prefixed(Dotted, 30), concat!("SG", ".abcdefghij0123456789AB.abcdefghij0123456789"), "SG.50";
    "Shopify" "shpat_" Prefixed(Plain, 30), concat!("shpat", "_0123456789abcdef0123456789abcdef"), "shpat_x";
    "Docker" "dckr_pat_" Prefixed(Url, 20), concat!("dckr_pat", "_abcdefghij0123456789ABCDEF"), "dckr_pat_x";
    "Vault" "hvs." Prefixed(Url, 20), concat!("hvs", ".CAESIJ0123456789abcdefghij"), "hvs.x";
    "Groq" "gsk_" Prefixed(Plain, 30), concat!("gsk", "_0123456789abcdefghijABCDEFGHIJklmn"), "gsk_x";
    "xAI" "xai-" Prefixed(Url, 30), concat!("xai", "-0123456789abcdefghijABCDEFGHIJklmn"), "xai-grok-2";
    "NVIDIA" "nvapi-" Prefixed(Url, 30), concat!("nvapi", "-0123456789abcdefghijABCDEFGHIJklmn"), "nvapi-docs";
    "JWT" "eyJ" Jwt, concat!("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN"), "eyJust.two parts";
    "private key" "-----BEGIN " PrivateKey, concat!("-----BEGIN ", "RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"), "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----";
    "bearer token" "bearer " Scheme, concat!("Bearer ", "abcdef0123456789"), "the bearer of this letter";
    "basic authorization" "basic " Scheme, concat!("Basic ", "dXNlcjpwYXNzd29yZDE="), "basic knowledge of things";
    "password in a URL" "://" UserInfo, concat!("postgres://app:", "s3cr3t@db.local/app"), "https://example.com/a:b@c";
};

/// Where known secrets are in this text. One pass, whatever the number of shapes.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    static STARTS: OnceLock<AhoCorasick> = OnceLock::new();
    let starts = STARTS.get_or_init(|| search(SHAPES.iter().map(|shape| shape.trigger)));
    let mut found: Vec<Range<usize>> = Vec::new();
    for start in starts.find_overlapping_iter(text) {
        let shape = &SHAPES[start.pattern().as_usize()];
        // Only schemes are written in any case.
        let exact = matches!(shape.form, Scheme) || text[start.range()] == *shape.trigger;
        if exact && let Some(secret) = shape.at(text, start.start()) {
            found.push(secret);
        }
    }
    found
}

impl Shape {
    /// What no secret of this shape is without. A URL alone is no reason to look closer.
    pub(super) fn hint(&self) -> &'static str {
        match self.form {
            UserInfo => "@",
            _ => self.trigger,
        }
    }

    /// The secret that starts at this trigger, if it is one.
    fn at(&self, text: &str, at: usize) -> Option<Range<usize>> {
        let bytes = text.as_bytes();
        let start = at + self.trigger.len();
        let inside_a_word = at > 0 && bytes[at - 1].is_ascii_alphanumeric();
        match self.form {
            Prefixed(alphabet, at_least) => {
                let end = run(bytes, start, |byte| alphabet.has(byte));
                let body = &bytes[start..end];
                (!inside_a_word && body.len() >= at_least && body.iter().any(u8::is_ascii_digit))
                    .then_some(at..end)
            }
            Scheme => {
                let end = run(bytes, start, |byte| Dotted.has(byte) || b"~+/=".contains(&byte));
                let body = &bytes[start..end];
                let odd = body.iter().any(|byte| byte.is_ascii_digit() || *byte == b'=') || body.len() >= 24;
                (!inside_a_word && body.len() >= 8 && odd).then_some(start..end)
            }
            Slack => {
                let kind = bytes.get(start).is_some_and(|byte| b"abpres".contains(byte));
                let end = run(bytes, start, |byte| Url.has(byte));
                let dashed = bytes.get(start + 1) == Some(&b'-');
                (!inside_a_word && kind && dashed && end - start >= 12).then_some(at..end)
            }
            Jwt => {
                let first = run(bytes, start, |byte| Url.has(byte));
                let second = run(bytes, first + 1, |byte| Url.has(byte));
                let third = run(bytes, second + 1, |byte| Url.has(byte));
                let dotted = bytes.get(first) == Some(&b'.') && bytes.get(second) == Some(&b'.');
                (!inside_a_word && dotted && first - at >= 10 && second - first > 8).then_some(at..third)
            }
            PrivateKey => {
                let line_end = text[start..].find("-----").map(|end| start + end)?;
                let kind = &text[start..line_end];
                if !kind.ends_with("PRIVATE KEY") && !kind.ends_with("PRIVATE KEY BLOCK") {
                    return None;
                }
                // Without its end it is a key all the same.
                let end = text[line_end + 5..].find("-----END ").map_or(text.len(), |end| {
                    let end = line_end + 5 + end + 9;
                    text[end..].find("-----").map_or(text.len(), |dashes| end + dashes + 5)
                });
                Some(at..end)
            }
            UserInfo => {
                let stop = |byte: u8| byte.is_ascii_whitespace() || b"/@?#\"'<>\\".contains(&byte);
                let end = run(bytes, start, |byte| !stop(byte));
                if bytes.get(end) != Some(&b'@') {
                    return None;
                }
                let colon = text[start..end].find(':')? + start;
                (colon + 1 < end).then_some(colon + 1..end)
            }
        }
    }
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        match self {
            Plain => byte.is_ascii_alphanumeric(),
            Url => byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-',
            Dotted => byte.is_ascii_alphanumeric() || b"_-.".contains(&byte),
            Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        }
    }
}

/// The end of the characters from `start` on that belong.
fn run(bytes: &[u8], start: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let Some(rest) = bytes.get(start..) else { return bytes.len() };
    start + rest.iter().position(|byte| !belongs(*byte)).unwrap_or(rest.len())
}
