//! Secrets that are known by their looks: one table for the record and for clients' files. Each shape carries a sample
//! that it must find and a near miss that it must leave alone; a test holds it to both.

use std::ops::Range;
use std::sync::OnceLock;

use crate::tokens;
use crate::words::Words;

/// How a secret goes on after its first characters.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// A prefix, then at least so many characters of this alphabet, a digit among them, or small and large letters.
    Prefixed(Alphabet, usize),
    /// The same, and the prefix stays: it names the secret and is none.
    Behind(Alphabet, usize),
    /// A prefix, then exactly so many characters of this alphabet.
    Exactly(Alphabet, usize),
    /// A word, then a token of letters and digits.
    Scheme,
    Slack,
    Jwt,
    PrivateKey,
    /// `://user:password@`
    UserInfo,
    /// The trigger is in the middle.
    Mailchimp,
    Telegram,
    AzureAd,
}

#[derive(Clone, Copy, Debug)]
enum Alphabet {
    /// `A-Z a-z 0-9`
    Plain,
    /// The same with `_` and `-`.
    Url,
    /// The same with `.` as well.
    Dotted,
    /// The same as `Url` with `+`, `/` and `=`.
    Base64,
    /// `A-Z a-z 0-9`, and what is escaped in an address.
    Percent,
    /// `A-Z 0-9`
    Upper,
    /// `0-9 a-f`
    Hex,
}

#[derive(Debug)]
pub(crate) struct Shape {
    #[cfg_attr(not(test), expect(dead_code, reason = "for the reader and the test"))]
    pub(crate) name: &'static str,
    /// Where it starts, or what is in it; in any case for schemes, exactly for all others.
    pub(crate) trigger: &'static str,
    form: Form,
    #[cfg_attr(not(test), expect(dead_code, reason = "held against the shape by a test"))]
    pub(crate) sample: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "held against the shape by a test"))]
    pub(crate) near_miss: &'static str,
}

macro_rules! shapes {
    ($($name:literal $trigger:literal $form:expr, $sample:expr, $near_miss:expr;)+) => {
        &[$(Shape { name: $name, trigger: $trigger, form: $form, sample: $sample, near_miss: $near_miss },)+]
    };
}

use Alphabet::{Base64, Dotted, Hex, Percent, Plain, Upper, Url};
use Form::{
    AzureAd, Behind, Exactly, Jwt, Mailchimp, Prefixed, PrivateKey, Scheme, Slack, Telegram, UserInfo,
};

// Samples are put together from parts so that no scanner takes this file for a leak.
pub(crate) const SHAPES: &[Shape] = shapes! {
    // Models.
    "OpenAI, Anthropic" "sk-" Prefixed(Url, 20), concat!("sk-", "ant-api03-AbCdEfGhIj0123456789_x"), "task-list-with-a-very-long-name-01234";
    "Groq" "gsk_" Prefixed(Plain, 20), concat!("gsk", "_0123456789abcdefghijABCDEFGHIJklmn"), "gsk_x";
    "xAI" "xai-" Prefixed(Url, 20), concat!("xai", "-0123456789abcdefghijABCDEFGHIJklmn"), "xai-grok-2";
    "NVIDIA" "nvapi-" Prefixed(Url, 30), concat!("nvapi", "-0123456789abcdefghijABCDEFGHIJklmn"), "nvapi-docs";
    "Perplexity" "pplx-" Prefixed(Plain, 20), concat!("pplx", "-0123456789abcdefghijABCDEFGHIJklmnopqrstuvwx"), "pplx-70b-online";
    "Replicate" "r8_" Prefixed(Plain, 20), concat!("r8", "_0123456789abcdefghijABCDEFGHIJklmnopq"), "r8_model";
    "Hugging Face" "hf_" Prefixed(Plain, 20), concat!("hf", "_0123456789abcdefghijABCDEFGHIJklmn"), "hf_hub1";
    "Tavily" "tvly-" Prefixed(Url, 16), concat!("tvly", "-dev-0123456789abcdefABCDEF"), "tvly-search";
    "Firecrawl" "fc-" Prefixed(Plain, 24), concat!("fc", "-0123456789abcdef0123456789abcdef"), "fc-barcelona-season-of-2024-review";
    "LangSmith" "lsv2_" Prefixed(Url, 30), concat!("lsv2", "_pt_0123456789abcdef0123456789abcdef_0123456789"), "lsv2_docs";
    "Pinecone" "pcsk_" Prefixed(Url, 30), concat!("pcsk", "_0123456789abcdef0123456789abcdef_0123456789"), "pcsk_x";
    // Code and packages.
    "GitHub" "ghp_" Prefixed(Plain, 20), concat!("ghp", "_0123456789abcdefghijABCDEFGHIJklmnop"), "ghp_short1";
    "GitHub, OAuth" "gho_" Prefixed(Plain, 20), concat!("gho", "_0123456789abcdefghijABCDEFGHIJklmnop"), "gho_x";
    "GitHub, user" "ghu_" Prefixed(Plain, 20), concat!("ghu", "_0123456789abcdefghijABCDEFGHIJklmnop"), "ghu_x";
    "GitHub, server" "ghs_" Prefixed(Plain, 20), concat!("ghs", "_0123456789abcdefghijABCDEFGHIJklmnop"), "ghs_x";
    "GitHub, refresh" "ghr_" Prefixed(Plain, 20), concat!("ghr", "_0123456789abcdefghijABCDEFGHIJklmnop"), "ghr_x";
    "GitHub, fine-grained" "github_pat_" Prefixed(Url, 20), concat!("github", "_pat_11ABCDEFG0123456789_abcdefghijklmnop"), "github_pat_docs";
    "GitLab" "glpat-" Prefixed(Dotted, 16), concat!("glpat", "-AbCdEf0123456789wxyz"), "glpat-none";
    "GitLab, runner" "glrt-" Prefixed(Dotted, 16), concat!("glrt", "-AbCdEf0123456789wxyz"), "glrt-none";
    "GitLab, deploy" "gldt-" Prefixed(Dotted, 16), concat!("gldt", "-AbCdEf0123456789wxyz"), "gldt-none";
    "GitLab, job" "glcbt-" Prefixed(Dotted, 16), concat!("glcbt", "-64_AbCdEf0123456789wxyz"), "glcbt-none";
    "GitLab, trigger" "glptt-" Prefixed(Dotted, 16), concat!("glptt", "-0123456789abcdef0123456789abcdef01234567"), "glptt-none";
    "npm" "npm_" Prefixed(Plain, 20), concat!("npm", "_0123456789abcdefghijABCDEFGHIJklmnopqr"), "npm_config_cache_0123456789";
    "PyPI" "pypi-" Prefixed(Url, 40), concat!("pypi", "-AgEIcHlwaS5vcmcCJDAxMjM0NTY3ODlhYmNkZWYwMTIz"), "pypi-server-1";
    "RubyGems" "rubygems_" Prefixed(Hex, 40), concat!("rubygems", "_0123456789abcdef0123456789abcdef0123456789abcdef"), "rubygems_mirror";
    "Docker" "dckr_pat_" Prefixed(Url, 20), concat!("dckr_pat", "_abcdefghij0123456789ABCDEF"), "dckr_pat_x";
    // Work.
    "Notion" "ntn_" Prefixed(Plain, 20), concat!("ntn", "_01234567890abcdefghijABCDEFGHIJklmnopqrstuvwxyz"), "ntn_x";
    "Notion, before 2024" "secret_" Prefixed(Plain, 30), concat!("secret", "_0123456789abcdefghijABCDEFGHIJklmnopqrstuvw"), "secret_santa_list_2024_of_the_team";
    "Linear" "lin_api_" Prefixed(Plain, 20), concat!("lin_api", "_0123456789abcdefghijABCDEFGHIJklmnopqrst"), "lin_api_docs";
    "Linear, OAuth" "lin_oauth_" Prefixed(Plain, 20), concat!("lin_oauth", "_0123456789abcdef0123456789abcdef"), "lin_oauth_docs";
    "Atlassian" "ATATT" Prefixed(Base64, 20), concat!("ATATT", "3xFfGF0123456789_abcdefghij-ABCDEFGHIJ=0A1B2C3D"), "ATATTACK";
    "Bitbucket" "ATBB" Prefixed(Plain, 28), concat!("ATBB", "0123456789abcdefghijABCDEFGH3C4D5E6F"), "ATBBQ";
    "Figma" "figd_" Prefixed(Url, 16), concat!("figd", "_0123456789abcdefghij-ABCDEFGHIJ_klmnopq"), "figd_x";
    "Slack" "xox" Slack, concat!("xoxb", "-123456789012-abcdefABCDEF"), "xoxo-with-love-forever-and-ever";
    "Slack, app" "xapp-" Prefixed(Url, 10), concat!("xapp", "-1-A0123-456-abcdef"), "xapp-one";
    "Slack, webhook" "hooks.slack.com/services/" Behind(Base64, 20), concat!("https://hooks.slack.com/services/", "T0123ABCD/B0123ABCD/0123456789abcdefABCDEFgh"), "https://hooks.slack.com/services/docs";
    "Discord, webhook" "discord.com/api/webhooks/" Behind(Base64, 40), concat!("https://discord.com/api/webhooks/", "123456789012345678/0123456789abcdefABCDEFgh-_0123456789"), "https://discord.com/api/webhooks/docs";
    "Telegram" ":AA" Telegram, concat!("bot1234567890", ":AAF0123456789abcdefghij-ABCDEFGHIJ_k"), "ratio 12345678:AA rated";
    "Shopify" "shpat_" Prefixed(Plain, 30), concat!("shpat", "_0123456789abcdef0123456789abcdef"), "shpat_x";
    // Services.
    "Stripe" "sk_live_" Prefixed(Plain, 12), concat!("sk_", "live_4eC39HqLyjWDarjtT1zdp7dc"), "sk_live_mode";
    "Stripe, restricted" "rk_live_" Prefixed(Plain, 12), concat!("rk_", "live_4eC39HqLyjWDarjtT1zdp7dc"), "rk_live_";
    "Stripe, test" "sk_test_" Prefixed(Plain, 12), concat!("sk_", "test_4eC39HqLyjWDarjtT1zdp7dc"), "disk_test_results_20250101_run";
    "Stripe, webhook" "whsec_" Prefixed(Base64, 16), concat!("whsec", "_4eC39HqLyjWD/arjtT1z+dp7dc="), "whsec_name";
    "Square" "sq0atp-" Prefixed(Url, 20), concat!("sq0atp", "-0123456789abcdefghij_A"), "sq0atp-docs";
    "Square, OAuth" "sq0csp-" Prefixed(Url, 40), concat!("sq0csp", "-0123456789abcdefghijABCDEFGHIJklmnopqrst_-0"), "sq0csp-docs";
    "Square, access" "EAAA" Prefixed(Url, 56), concat!("EAAA", "0123456789abcdefghijABCDEFGHIJklmnopqrst_-0123456789abcdefghij"), "EAAA-rated";
    "Twilio" "SK" Exactly(Hex, 32), concat!("SK", "0123456789abcdef0123456789abcdef"), "SK01234567";
    "SendGrid" "SG." Prefixed(Dotted, 20), concat!("SG", ".abcdefghij0123456789AB.abcdefghij0123456789"), "SG.50";
    "Mailchimp" "-us" Mailchimp, concat!("0123456789abcdef0123456789abcdef", "-us12"), "0123456789abcdef-us12";
    "Mailgun" "key-" Exactly(Hex, 32), concat!("key", "-0123456789abcdef0123456789abcdef"), "key-0123456789abcdef";
    "Doppler" "dp." Prefixed(Dotted, 30), concat!("dp", ".pt.0123456789abcdefghijABCDEFGHIJklmnopqrstuv"), "dp.metrics.of.the.last.quarter.x";
    "Sentry" "sntrys_" Prefixed(Base64, 30), concat!("sntrys", "_eyJpYXQiOjE2ODczMzY1NDMuNjk4NTksInVybCI6bnVsbH0=_0123456789abc/def+ghi"), "sntrys_docs";
    "Sentry, user" "sntryu_" Prefixed(Plain, 30), concat!("sntryu", "_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), "sntryu_docs";
    "New Relic" "NRAK-" Prefixed(Upper, 20), concat!("NRAK", "-0123456789ABCDEFGHIJKLMNOPQ"), "NRAK-DOCS";
    "Grafana" "glsa_" Prefixed(Url, 30), concat!("glsa", "_0123456789abcdefghijABCDEFGHIJkl_01234567"), "glsa_docs";
    "Postman" "PMAK-" Prefixed(Url, 30), concat!("PMAK", "-0123456789abcdef01234567-0123456789abcdef0123456789abcdef01"), "PMAK-docs";
    "Shopify, shared" "shpss_" Prefixed(Hex, 30), concat!("shpss", "_0123456789abcdef0123456789abcdef"), "shpss_x";
    "Supabase" "sbp_" Prefixed(Plain, 20), concat!("sbp", "_0123456789abcdef0123456789abcdef01234567"), "sbp_x";
    "Supabase, secret" "sb_secret_" Prefixed(Url, 20), concat!("sb_secret", "_0123456789abcdefghij_ABCDEFGH"), "sb_secret_x";
    // Clouds.
    "AWS key" "AKIA" Prefixed(Upper, 16), concat!("AKIA", "IOSFODNN7EXAMPL2"), "AKIAlower0123456789";
    "AWS session key" "ASIA" Prefixed(Upper, 16), concat!("ASIA", "IOSFODNN7EXAMPL2"), "ASIA 2025 CONFERENCE";
    "AWS, signed address" "X-Amz-Signature=" Behind(Hex, 40), concat!("X-Amz-Signature=", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), "X-Amz-Signature=none";
    "AWS, token of a signed address" "X-Amz-Security-Token=" Behind(Percent, 40), concat!("X-Amz-Security-Token=", "IQoJb3JpZ2luX2VjEAAaCXVzLWVhc3QtMSJHMEUCIQD%2B0123456789"), "X-Amz-Security-Tokens";
    "Google, signed address" "X-Goog-Signature=" Behind(Hex, 40), concat!("X-Goog-Signature=", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), "X-Goog-Signature=none";
    "Google" "AIza" Prefixed(Url, 30), concat!("AIza", "SyA0123456789abcdefghijklmnopqrstuvw"), "AIzaShort1";
    "Google, OAuth" "ya29." Prefixed(Url, 20), concat!("ya29", ".a0AfH6SMBx0123456789abcd"), "ya29.x";
    "Google, client" "GOCSPX-" Prefixed(Url, 20), concat!("GOCSPX", "-0123456789abcdefghij-ABCDEFG"), "GOCSPX-docs";
    "Azure, shared access" "sig=" Behind(Percent, 40), concat!("sig=", "0123456789abcdefghijABCDEFGHIJklmnopqrst%2Buvw%3D"), "config=0123456789abcdefghijABCDEFGHIJklmnopqrstuvw";
    "Azure AD" "Q~" AzureAd, concat!("abc8", "Q~0123456789abcdefghijABCDEFGHIJklm"), "FAQ~answers-to-many-questions-of-2024-and-2025";
    "Databricks" "dapi" Prefixed(Hex, 32), concat!("dapi", "0123456789abcdef0123456789abcdef-2"), "dapi0123";
    "DigitalOcean" "dop_v1_" Prefixed(Plain, 20), concat!("dop_v1", "_0123456789abcdef0123456789abcdef0123456789abcdef"), "dop_v1_x";
    "Heroku" "HRKU-" Prefixed(Url, 30), concat!("HRKU", "-01234567-89ab-cdef-0123-456789abcdef"), "HRKU-docs";
    "Vault" "hvs." Prefixed(Url, 20), concat!("hvs", ".CAESIJ0123456789abcdefghij"), "hvs.x";
    "Tailscale" "tskey-" Prefixed(Url, 20), concat!("tskey", "-auth-0123456789ABCDEF-abcdefghij"), "tskey-docs";
    // Kinds.
    "age" "AGE-SECRET-KEY-" Prefixed(Upper, 20), concat!("AGE-SECRET-KEY-", "1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE"), "AGE-SECRET-KEY-FILE";
    "JWT" "eyJ" Jwt, concat!("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN"), "eyJust.two parts";
    "private key" "-----BEGIN " PrivateKey, concat!("-----BEGIN ", "RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"), "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----";
    "bearer token" "bearer " Scheme, concat!("Bearer ", "abcdef0123456789"), "the bearer of this letter";
    "basic authorization" "basic " Scheme, concat!("Basic ", "dXNlcjpwYXNzd29yZDE="), "basic knowledge of things";
    "password in a URL" "://" UserInfo, concat!("postgres://app:", "s3cr3t@db.local/app"), "https://example.com/a:b@c";
};

/// Where known secrets are in this text. One pass, whatever the number of shapes.
pub fn find(text: &str) -> Vec<Range<usize>> {
    static STARTS: OnceLock<Words> = OnceLock::new();
    let starts = STARTS.get_or_init(|| Words::new(SHAPES.iter().map(|shape| shape.trigger)));
    let mut found: Vec<Range<usize>> = Vec::new();
    for (start, shape) in starts.find(text) {
        let shape = &SHAPES[shape];
        // Only schemes are written in any case.
        let exact =
            matches!(shape.form, Scheme) || text.as_bytes()[start..].starts_with(shape.trigger.as_bytes());
        if exact && let Some(secret) = shape.at(text, start) {
            found.push(secret);
        }
    }
    tokens::find(text, &mut found);
    found
}

/// Is all of this text one token that is known by its looks?
pub fn is_token(text: &str) -> bool {
    find(text).contains(&(0..text.len()))
}

impl Shape {
    /// What no secret of this shape is without. A URL alone is no reason to look closer.
    pub(crate) fn hint(&self) -> &'static str {
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
            Prefixed(alphabet, at_least) | Behind(alphabet, at_least) => {
                let end = run(bytes, start, |byte| alphabet.has(byte));
                let body = &bytes[start..end];
                let from = if matches!(self.form, Behind(..)) { start } else { at };
                (!inside_a_word && body.len() >= at_least && alphabet.is_odd(body)).then_some(from..end)
            }
            Exactly(alphabet, length) => {
                let end = run(bytes, start, |byte| Plain.has(byte));
                let body = &bytes[start..end];
                let fits = body.len() == length && body.iter().all(|byte| alphabet.has(*byte));
                (!inside_a_word && fits).then_some(at..end)
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
            Mailchimp => {
                let from = run_before(bytes, at, |byte| Plain.has(byte));
                let end = run(bytes, start, |byte| Plain.has(byte));
                let (key, region) = (&bytes[from..at], &bytes[start..end]);
                let fits = key.len() == 32 && key.iter().all(|byte| Hex.has(*byte));
                let numbered = matches!(region.len(), 1 | 2) && region.iter().all(u8::is_ascii_digit);
                (fits && numbered).then_some(from..end)
            }
            Telegram => {
                let from = run_before(bytes, at, |byte| byte.is_ascii_digit());
                let end = run(bytes, start, |byte| Url.has(byte));
                (matches!(at - from, 8..=11) && matches!(end - at, 34..=40)).then_some(from..end)
            }
            AzureAd => {
                let tilded = |byte: u8| Dotted.has(byte) || byte == b'~';
                let from = at.checked_sub(4)?;
                let end = run(bytes, start, tilded);
                let begins =
                    bytes[at - 1].is_ascii_digit() && bytes[from..at].iter().all(|byte| tilded(*byte));
                let alone = from == 0 || !tilded(bytes[from - 1]);
                (begins && alone && matches!(end - start, 31..=40)).then_some(from..end)
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
            Base64 => byte.is_ascii_alphanumeric() || b"_-+/=".contains(&byte),
            Percent => byte.is_ascii_alphanumeric() || b"%-_.~".contains(&byte),
            Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Hex => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        }
    }

    /// Does it look drawn, and not written? Without separators also by its letters.
    fn is_odd(self, body: &[u8]) -> bool {
        let mixed = || body.iter().any(u8::is_ascii_lowercase) && body.iter().any(u8::is_ascii_uppercase);
        body.iter().any(u8::is_ascii_digit) || (matches!(self, Plain) && mixed())
    }
}

/// The end of the characters from `start` on that belong.
fn run(bytes: &[u8], start: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let Some(rest) = bytes.get(start..) else { return bytes.len() };
    start + rest.iter().position(|byte| !belongs(*byte)).unwrap_or(rest.len())
}

/// The start of the characters before `end` that belong.
fn run_before(bytes: &[u8], end: usize, belongs: impl Fn(u8) -> bool) -> usize {
    bytes[..end].iter().rposition(|byte| !belongs(*byte)).map_or(0, |at| at + 1)
}

#[cfg(test)]
#[path = "shapes_tests.rs"]
mod tests;
