//! What a request that calls no tool asks for, read strictly from its params.
//!
//! A member that could be mistaken for one that matters, or that is not of the kind that the protocol says, makes the
//! request ambiguous: somebody else would read something else in it.

use std::borrow::Cow;

use callgate_protocol::Cause;
use callgate_protocol::fold::fold;
use callgate_protocol::json::{Kind, Raw};
use callgate_protocol::target::{self, Ref};

/// Why a request is ambiguous, to be read after "the request".
pub(crate) type Ambiguous = String;

/// What `completion/complete` completes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    Prompt(String),
    /// The URI or template, and the values that are known for its open places.
    Resource {
        uri: String,
        values: Vec<(String, String)>,
    },
}

/// The URI of `resources/read`, `resources/subscribe`, `resources/unsubscribe`.
pub(crate) fn uri(params: Option<Raw<'_>>) -> Result<String, Ambiguous> {
    text(member(params, "uri")?, "uri")
}

/// More are watched by nobody in earnest, and each of them takes time to judge.
const MOST_LISTENED: usize = 1000;

/// The URIs that `subscriptions/listen` wants to watch; none is no mistake.
pub(crate) fn listened_uris(params: Option<Raw<'_>>) -> Result<Vec<String>, Ambiguous> {
    let uris = target::listened_uris(params).map_err(|cause| unclear(&cause))?;
    if uris.len() > MOST_LISTENED {
        return Err(format!("names more than {MOST_LISTENED} resources"));
    }
    Ok(uris.into_iter().map(Cow::into_owned).collect())
}

/// The name of the prompt of `prompts/get`.
pub(crate) fn prompt(params: Option<Raw<'_>>) -> Result<String, Ambiguous> {
    text(member(params, "name")?, "name")
}

pub(crate) fn reference(params: Option<Raw<'_>>) -> Result<Reference, Ambiguous> {
    match target::completion_ref(params).map_err(|cause| unclear(&cause))? {
        Ref::Prompt(name) => Ok(Reference::Prompt(name.into_owned())),
        Ref::Resource(uri) => Ok(Reference::Resource { uri: uri.into_owned(), values: values(params)? }),
        Ref::Other => Err("does not say clearly whether it is about a prompt or a resource".to_owned()),
    }
}

/// `argument` with its value so far, and those that were settled before.
fn values(params: Option<Raw<'_>>) -> Result<Vec<(String, String)>, Ambiguous> {
    let mut values = Vec::new();
    if let Some(argument) = member(params, "argument")?.filter(|argument| !argument.is_null()) {
        let name = text(member(Some(argument), "name")?, "name")?;
        values.push((name, text(member(Some(argument), "value")?, "value")?));
    }
    if let Some(context) = member(params, "context")?.filter(|context| !context.is_null())
        && let Some(settled) = member(Some(context), "arguments")?
    {
        for (name, value) in settled.members() {
            let value = text(Some(value), "arguments")?;
            if values.iter().any(|(known, other)| *known == name && *other != value) {
                return Err("gives an argument two values".to_owned());
            }
            values.push((name.into_owned(), value));
        }
    }
    Ok(values)
}

/// Does `sampling/createMessage` offer tools to the model?
pub(crate) fn offers_tools(params: Option<Raw<'_>>) -> Result<bool, Ambiguous> {
    match member(params, "tools")? {
        None => Ok(false),
        Some(tools) if tools.is_null() => Ok(false),
        Some(tools) if tools.kind() == Kind::Array => Ok(tools.items().next().is_some()),
        Some(_) => Err(not("tools", "a list")),
    }
}

/// Does `elicitation/create` send the person to an address?
pub(crate) fn opens_url(params: Option<Raw<'_>>) -> Result<bool, Ambiguous> {
    let url = member(params, "url")?.is_some();
    let Some(mode) = member(params, "mode")? else { return Ok(url) };
    match text(Some(mode), "mode")?.as_str() {
        "url" => Ok(true),
        "form" if !url => Ok(false),
        "form" => Err("is a form and has a url".to_owned()),
        _ => Err("is of a mode that is not known".to_owned()),
    }
}

/// The member of this name, if no other could be taken for it.
fn member<'a>(of: Option<Raw<'a>>, wanted: &str) -> Result<Option<Raw<'a>>, Ambiguous> {
    let Some(of) = of else { return Ok(None) };
    if of.kind() != Kind::Object {
        return Err("has params that are no object".to_owned());
    }
    let mut found = None;
    for (name, value) in of.members() {
        if name == wanted {
            found = Some(value);
        } else if resembles(&name, wanted) {
            return Err(format!("has a member that could be mistaken for {wanted:?}"));
        }
    }
    Ok(found)
}

/// Members are few and short; what is longer than this resembles nothing that is looked for.
const LONGEST: usize = 256;

fn resembles(name: &str, wanted: &str) -> bool {
    let start: Cow<'_, str> = match name.split_once('\0') {
        // Some readers end a name there.
        Some((start, _)) => Cow::Borrowed(start),
        None => Cow::Borrowed(name),
    };
    let same = |name: &str| name.len() <= LONGEST && fold(name).eq_ignore_ascii_case(&fold(wanted));
    same(&start) || same(name)
}

fn text(value: Option<Raw<'_>>, name: &str) -> Result<String, Ambiguous> {
    value.and_then(Raw::as_str).map(Cow::into_owned).ok_or_else(|| not(name, "text"))
}

fn unclear(cause: &Cause) -> Ambiguous {
    format!("cannot be judged: {}", cause.to_string().trim_end_matches('.'))
}

fn not(name: &str, kind: &str) -> Ambiguous {
    format!("has no {name:?} that is {kind}")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn raw(text: &str) -> Option<Raw<'_>> {
        Some(Raw::parse(text).unwrap())
    }

    #[test]
    fn members_that_matter_have_one_reading() {
        assert_eq!(uri(raw(r#"{"uri":"a:b","_meta":{}}"#)), Ok("a:b".to_owned()));
        for params in [
            "{}",
            r#"{"uri":1}"#,
            r#"{"uri":["a"]}"#,
            r#"{"uri":"a","URI":"b"}"#,
            r#"{"Uri":"b"}"#,
            r#"{"uri":"a","uri ":"b"}"#,
            r#"{"uri":"a","u\u200bri":"b"}"#,
            r#"{"uri":"a","uri\u0000x":"b"}"#,
            r#"{"uri":"a\ud800"}"#,
            "[]",
        ] {
            assert!(uri(raw(params)).is_err(), "{params}");
        }
        assert!(uri(None).is_err());
    }

    #[test]
    fn a_subscription_names_a_bounded_number_of_resources() {
        let params = |n: usize| {
            format!("{{\"notifications\":{{\"resourceSubscriptions\":[{}]}}}}", vec!["\"a:1\""; n].join(","))
        };
        assert_eq!(listened_uris(raw(&params(1000))).unwrap().len(), 1000);
        assert!(listened_uris(raw(&params(1001))).is_err());
        assert!(listened_uris(None).unwrap().is_empty());
    }

    #[test]
    fn a_completion_is_about_a_prompt_or_a_resource() {
        let prompt = r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"}}"#;
        assert_eq!(reference(raw(prompt)), Ok(Reference::Prompt("p".to_owned())));
        let resource = r#"{"ref":{"type":"ref/resource","uri":"f:///{a}"},"argument":{"name":"a","value":"v"},"context":{"arguments":{"b":"w"}}}"#;
        let values = vec![("a".to_owned(), "v".to_owned()), ("b".to_owned(), "w".to_owned())];
        assert_eq!(reference(raw(resource)), Ok(Reference::Resource { uri: "f:///{a}".to_owned(), values }));
        for params in [
            "{}",
            r#"{"ref":"p"}"#,
            r#"{"ref":{"type":"ref/prompt"}}"#,
            r#"{"ref":{"type":"ref/other","name":"p"}}"#,
            r#"{"ref":{"type":"ref/prompt","name":"p","uri":"x:"}}"#,
            r#"{"ref":{"type":"ref/prompt","name":"p","Name":"q"}}"#,
            r#"{"ref":{"type":"ref/resource","uri":"x:"},"argument":{"name":"a","value":1}}"#,
            r#"{"ref":{"type":"ref/resource","uri":"x:"},"argument":{"name":"a","value":"1"},"context":{"arguments":{"a":"2"}}}"#,
        ] {
            assert!(reference(raw(params)).is_err(), "{params}");
        }
    }

    #[test]
    fn a_servers_wishes_are_seen_in_any_form() {
        for (params, offers) in
            [("{}", Ok(false)), (r#"{"tools":[]}"#, Ok(false)), (r#"{"tools":[{}]}"#, Ok(true))]
        {
            assert_eq!(offers_tools(raw(params)), offers, "{params}");
        }
        assert!(
            offers_tools(raw(r#"{"tools":{}}"#)).is_err() && offers_tools(raw(r#"{"Tools":[{}]}"#)).is_err()
        );
        for (params, opens) in [
            (r#"{"message":"m"}"#, Ok(false)),
            (r#"{"mode":"form"}"#, Ok(false)),
            (r#"{"mode":"url","url":"u"}"#, Ok(true)),
            (r#"{"url":"u"}"#, Ok(true)),
        ] {
            assert_eq!(opens_url(raw(params)), opens, "{params}");
        }
        for params in
            [r#"{"mode":"URL"}"#, r#"{"mode":1}"#, r#"{"mode":"form","url":"u"}"#, r#"{"Mode":"url"}"#]
        {
            assert!(opens_url(raw(params)).is_err(), "{params}");
        }
    }
}
