//! Targets of requests: what their params aim at, where they do not simply name it.
//!
//! Strict for the same reason as a tools/call is: a policy that judges one resource must not let through a request that
//! the server reads as one for another.

use std::borrow::Cow;

use crate::{
    cause::Cause,
    fold,
    json::{Kind, Raw},
};

/// The resources that a subscriptions/listen subscribes to.
pub fn listened_uris(params: Option<Raw<'_>>) -> Result<Vec<Cow<'_, str>>, Cause> {
    const FILTER: &str = "notifications";
    const URIS: &str = "resourceSubscriptions";
    let Some(params) = params else { return Ok(Vec::new()) };
    if params.kind() != Kind::Object {
        return Err(Cause::ParamsKind);
    }
    // Of the two names each has one place; a server that looks for it in another must not find it there.
    let filter = only(params, FILTER, &[FILTER, URIS])?;
    let Some(filter) = filter else { return Ok(Vec::new()) };
    if filter.kind() != Kind::Object {
        return Err(Cause::SubscriptionsKind);
    }
    match only(filter, URIS, &[FILTER, URIS])? {
        None => Ok(Vec::new()),
        Some(uris) if uris.kind() == Kind::Array => {
            uris.items().map(|uri| uri.as_str().ok_or(Cause::SubscriptionsKind)).collect()
        }
        Some(_) => Err(Cause::SubscriptionsKind),
    }
}

/// The member called `name`, if there is none that could be taken for one of `reserved`. `null` counts as absent.
fn only<'a>(object: Raw<'a>, name: &str, reserved: &[&'static str]) -> Result<Option<Raw<'a>>, Cause> {
    let mut found = None;
    for (key, value) in object.members() {
        if key == name {
            found = Some(value);
        } else if let Some(reserved) = fold::resembles(&key, reserved) {
            return Err(Cause::ParamLookAlike(reserved));
        }
    }
    Ok(found.filter(|found| !found.is_null()))
}

/// What a completion/complete completes an argument of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ref<'a> {
    /// By name.
    Prompt(Cow<'a, str>),
    /// By URI or URI template.
    Resource(Cow<'a, str>),
    /// Of a type that no revision knows yet: it may be anything.
    Other,
}

const PROMPT: &str = "ref/prompt";
const RESOURCE: &str = "ref/resource";

/// Reads the `ref` of a completion/complete.
pub fn completion_ref(params: Option<Raw<'_>>) -> Result<Ref<'_>, Cause> {
    let params = params.ok_or(Cause::NoParams)?;
    if params.kind() != Kind::Object {
        return Err(Cause::ParamsKind);
    }
    let reference = only(params, "ref", &["ref"])?.filter(|found| found.kind() == Kind::Object);
    let reference = reference.ok_or(Cause::RefKind)?;
    let (mut of_type, mut name, mut uri) = (None, None, None);
    for (key, value) in reference.members() {
        match key.as_ref() {
            "type" => of_type = Some(value),
            "name" => name = Some(value).filter(|name| !name.is_null()),
            "uri" => uri = Some(value).filter(|uri| !uri.is_null()),
            _ => {
                if let Some(reserved) = fold::resembles(&key, &["type", "name", "uri"]) {
                    return Err(Cause::ParamLookAlike(reserved));
                }
            }
        }
    }
    let of_type = of_type.and_then(Raw::as_str).ok_or(Cause::RefKind)?;
    // Who tells the two apart by their members must come to the same end as who goes by the type.
    match (of_type.as_ref(), name, uri) {
        (PROMPT, Some(name), None) => name.as_str().map(Ref::Prompt).ok_or(Cause::RefKind),
        (RESOURCE, None, Some(uri)) => uri.as_str().map(Ref::Resource).ok_or(Cause::RefKind),
        (PROMPT | RESOURCE, ..) => Err(Cause::RefKind),
        (other, ..) => match fold::resembles(other, &[PROMPT, RESOURCE]) {
            Some(known) => Err(Cause::RefNearMiss(known)),
            None => Ok(Ref::Other),
        },
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn uris(params: &str) -> Result<Vec<Cow<'_, str>>, Cause> {
        listened_uris(Some(Raw::parse(params).unwrap()))
    }

    fn completes(params: &str) -> Result<Ref<'_>, Cause> {
        completion_ref(Some(Raw::parse(params).unwrap()))
    }

    #[test]
    fn a_subscription_names_its_resources() {
        for (params, expected) in [
            (r#"{"_meta":{},"notifications":{"toolsListChanged":true}}"#, &[][..]),
            (r#"{"notifications":{"resourceSubscriptions":[]}}"#, &[]),
            (r#"{"notifications":{"resourceSubscriptions":null}}"#, &[]),
            (r#"{"notifications":null}"#, &[]),
            ("{}", &[]),
            (
                r#"{"notifications":{"resourceSubscriptions":["file:\/\/\/a", "db:\u002f/x","db://x"],"taskIds":["1"]}}"#,
                &["file:///a", "db://x", "db://x"],
            ),
        ] {
            assert_eq!(uris(params).unwrap(), expected, "{params}");
        }
        assert!(listened_uris(None).unwrap().is_empty());
    }

    #[test]
    fn a_subscription_that_readers_may_see_elsewhere_is_refused() {
        for (params, cause) in [
            ("[]", Cause::ParamsKind),
            (r#"{"notifications":["file:///a"]}"#, Cause::SubscriptionsKind),
            (r#"{"notifications":{"resourceSubscriptions":"file:///a"}}"#, Cause::SubscriptionsKind),
            (r#"{"notifications":{"resourceSubscriptions":{"0":"file:///a"}}}"#, Cause::SubscriptionsKind),
            (r#"{"notifications":{"resourceSubscriptions":[["file:///a"]]}}"#, Cause::SubscriptionsKind),
            (
                r#"{"notifications":{"resourceSubscriptions":[{"uri":"file:///a"}]}}"#,
                Cause::SubscriptionsKind,
            ),
            (r#"{"notifications":{"resourceSubscriptions":["\udc00"]}}"#, Cause::SubscriptionsKind),
            (
                r#"{"notifications":{"resource_subscriptions":["file:///a"]}}"#,
                Cause::ParamLookAlike("resourceSubscriptions"),
            ),
            (
                r#"{"notifications":{"resourceSubscriptions":[],"ResourceSubscriptions":["file:///a"]}}"#,
                Cause::ParamLookAlike("resourceSubscriptions"),
            ),
            (
                r#"{"resourceSubscriptions":["file:///a"],"notifications":{}}"#,
                Cause::ParamLookAlike("resourceSubscriptions"),
            ),
            (r#"{"Notifications":{"resourceSubscriptions":["a"]}}"#, Cause::ParamLookAlike("notifications")),
            (r#"{"notifications":{},"notifications\u0000":{}}"#, Cause::ParamLookAlike("notifications")),
        ] {
            assert_eq!(uris(params).unwrap_err(), cause, "{params}");
        }
    }

    #[test]
    fn a_completion_names_a_prompt_or_a_resource() {
        for (reference, expected) in [
            (r#"{"type":"ref/prompt","name":"\u0061","title":"A"}"#, Ref::Prompt("a".into())),
            (r#"{"type":"ref\/resource","uri":"file:///{path}"}"#, Ref::Resource("file:///{path}".into())),
            (r#"{"type":"ref/resource","uri":"db://x","name":null}"#, Ref::Resource("db://x".into())),
            (r#"{"type":"ref/tool","name":"x"}"#, Ref::Other),
            (r#"{"type":"","uri":"x"}"#, Ref::Other),
        ] {
            let params = format!(r#"{{"argument":{{"name":"n","value":"v"}},"ref":{reference}}}"#);
            assert_eq!(completes(&params).unwrap(), expected, "{reference}");
        }
    }

    #[test]
    fn a_completion_that_names_two_things_is_refused() {
        for (params, cause) in [
            ("7", Cause::ParamsKind),
            ("{}", Cause::RefKind),
            (r#"{"ref":null}"#, Cause::RefKind),
            (r#"{"ref":"ref/prompt"}"#, Cause::RefKind),
            (r#"{"ref":{}}"#, Cause::RefKind),
            (r#"{"ref":{"type":1,"name":"a"}}"#, Cause::RefKind),
            (r#"{"ref":{"type":"ref/prompt"}}"#, Cause::RefKind),
            (r#"{"ref":{"type":"ref/prompt","name":["a"]}}"#, Cause::RefKind),
            (r#"{"ref":{"type":"ref/prompt","name":"\ud800"}}"#, Cause::RefKind),
            (r#"{"ref":{"type":"ref/prompt","name":"a","uri":"file:///a"}}"#, Cause::RefKind),
            (r#"{"ref":{"type":"ref/resource","name":"a"}}"#, Cause::RefKind),
            (r#"{"ref":{"type":"ref/resource","uri":"file:///a","name":"a"}}"#, Cause::RefKind),
            (r#"{"ref":{"type":"ref/resource","uri":"a","URI":"file:///a"}}"#, Cause::ParamLookAlike("uri")),
            (r#"{"ref":{"type":"ref/tool","Type":"ref/prompt","name":"a"}}"#, Cause::ParamLookAlike("type")),
            (r#"{"ref":{"type":"ref/tool","uri":"a"},"Ref":{}}"#, Cause::ParamLookAlike("ref")),
            (r#"{"ref":{"type":"Ref/Resource","uri":"a"}}"#, Cause::RefNearMiss("ref/resource")),
            (r#"{"ref":{"type":"ref/prompt\u0000","name":"a"}}"#, Cause::RefNearMiss("ref/prompt")),
            (r#"{"ref":{"type":"ref//prompt","name":"a"}}"#, Cause::RefNearMiss("ref/prompt")),
        ] {
            assert_eq!(completes(params).unwrap_err(), cause, "{params}");
        }
        assert_eq!(completion_ref(None).unwrap_err(), Cause::NoParams);
    }
}
