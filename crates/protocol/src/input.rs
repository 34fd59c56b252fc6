//! Requests that a server makes of the client inside of an answer.
//!
//! Since revision 2026-07-28 a server does not send requests: it answers with `inputRequests`, a map of them, and the
//! client asks again with their answers (`resultType` is then "input_required"). A task that waits for input has the same
//! member in the result of `tasks/get`, and in the params of a `notifications/tasks`. Revision 2025-11-25 has a narrower
//! way: an error with the URLs that a person should visit.
//!
//! Owns where such requests can stand. What cannot be read beyond doubt is an error, since the caller has to refuse what
//! it cannot judge. Knows nothing of what the requests may do.

use std::borrow::Cow;

use crate::{
    cause::Cause,
    envelope, fold,
    json::{Kind, Raw},
    method::{self, MethodStatus},
};

/// One request of the server.
#[derive(Clone, Debug)]
pub struct InputRequest<'a> {
    /// The server's name for it, under which it expects the answer.
    pub key: Cow<'a, str>,
    pub method: Cow<'a, str>,
    /// An object. `null` counts as absent.
    pub params: Option<Raw<'a>>,
}

const REQUESTS: &str = "inputRequests";
const RESULT_TYPE: &str = "resultType";
/// Members of a task that hold a result in turn, or the task itself: who reads it looks for requests there too.
const INNER: [&str; 2] = ["result", "task"];
const WATCHED: [&str; 4] = [REQUESTS, RESULT_TYPE, INNER[0], INNER[1]];

/// All requests in a result, or in the params of a notification, whatever it says of its own type. Costs one look at the
/// members when there are none.
pub fn input_requests(result: Raw<'_>) -> Result<Vec<InputRequest<'_>>, Cause> {
    let mut requests = Vec::new();
    for inner in gather(result, &mut requests)? {
        gather(inner, &mut requests)?;
    }
    Ok(requests)
}

/// Adds the requests of one object, and gives the members in which there may be more.
fn gather<'a>(object: Raw<'a>, requests: &mut Vec<InputRequest<'a>>) -> Result<Vec<Raw<'a>>, Cause> {
    let mut inner = Vec::new();
    let mut found = None;
    let mut doubtful_type = None;
    for (key, value) in object.members() {
        let exact = WATCHED.contains(&key.as_ref());
        match fold::resembles(&key, &WATCHED) {
            None => {}
            Some(REQUESTS) if exact => found = Some(value),
            Some(REQUESTS) => return Err(Cause::ResultLookAlike(REQUESTS)),
            Some(RESULT_TYPE) if !exact => doubtful_type = Some(Cause::ResultLookAlike(RESULT_TYPE)),
            Some(RESULT_TYPE) if value.is_null() || value.as_str().is_some() => {}
            Some(RESULT_TYPE) => doubtful_type = Some(Cause::ResultTypeKind),
            // Another spelling of these is looked into as well: that can only find more.
            Some(_) => inner.push(value),
        }
    }
    let Some(found) = found.filter(|found| !found.is_null()) else { return Ok(inner) };
    // Without requests it is no matter what the type says; there is nothing that a reader could do.
    if let Some(cause) = doubtful_type {
        return Err(cause);
    }
    if found.kind() != Kind::Object {
        return Err(Cause::InputRequestsKind);
    }
    let mut members = found.members();
    while let Some(name) = members.next_name() {
        let key = name.as_str().ok_or(Cause::InputRequestKey)?;
        requests.push(read(key, members.take_value())?);
    }
    Ok(inner)
}

fn read<'a>(key: Cow<'a, str>, request: Raw<'a>) -> Result<InputRequest<'a>, Cause> {
    if request.kind() != Kind::Object {
        return Err(Cause::InputRequestsKind);
    }
    let mut method = None;
    let mut params = None;
    for (name, value) in request.members() {
        match name.as_ref() {
            "method" => method = value.as_str(),
            "params" => params = Some(value),
            _ => {
                if let Some(reserved) = fold::resembles(&name, &["method", "params"]) {
                    return Err(Cause::InputRequestLookAlike(reserved));
                }
            }
        }
    }
    let method = method.ok_or(Cause::MethodKind)?;
    let params = match params.map(Raw::kind) {
        None | Some(Kind::Null) => None,
        Some(Kind::Object) => params,
        Some(_) => return Err(Cause::ParamsKind),
    };
    match method::status(&method) {
        MethodStatus::NearMiss(known) => return Err(Cause::NearMiss(known)),
        MethodStatus::Exact => unambiguous(params)?,
        MethodStatus::Other => {}
    }
    Ok(InputRequest { key, method, params })
}

/// As strict as with the params of a request that comes as a message of its own.
fn unambiguous(params: Option<Raw<'_>>) -> Result<(), Cause> {
    let mut names = params.iter().flat_map(|params| params.members()).map(|(name, _)| name);
    names
        .find_map(|name| envelope::param_look_alike(&name))
        .map_or(Ok(()), |name| Err(Cause::ParamLookAlike(name)))
}

/// The params of the elicitations that an error asks for (revision 2025-11-25: `data.elicitations` of code −32042),
/// whatever its code.
pub fn required_elicitations(error: Raw<'_>) -> Result<Vec<Raw<'_>>, Cause> {
    const DATA: &str = "data";
    const ELICITATIONS: &str = "elicitations";
    let mut elicitations = None;
    for (key, data) in error.members() {
        // Other spellings of `data` are looked into as well.
        if fold::resembles(&key, &[DATA]).is_none() {
            continue;
        }
        for (key, value) in data.members() {
            if key == ELICITATIONS && elicitations.is_none() {
                elicitations = Some(value);
            } else if fold::resembles(&key, &[ELICITATIONS]).is_some() {
                return Err(Cause::ElicitationsKind);
            }
        }
    }
    let Some(elicitations) = elicitations.filter(|found| !found.is_null()) else { return Ok(Vec::new()) };
    if elicitations.kind() != Kind::Array {
        return Err(Cause::ElicitationsKind);
    }
    elicitations
        .items()
        .map(|params| {
            if params.kind() != Kind::Object {
                return Err(Cause::ElicitationsKind);
            }
            unambiguous(Some(params)).map(|()| params)
        })
        .collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn requests(result: &str) -> Result<Vec<String>, Cause> {
        let requests = input_requests(Raw::parse(result).unwrap())?;
        Ok(requests
            .iter()
            .map(|request| {
                format!("{} {} {}", request.key, request.method, request.params.map_or("-", Raw::text))
            })
            .collect())
    }

    #[test]
    fn a_result_without_requests_has_none() {
        for result in [
            r#"{"content":[{"type":"text","text":"\"inputRequests\":{}"}],"isError":false}"#,
            r#"{"resultType":"complete","structuredContent":{"inputRequests":{"a":7},"Method":1}}"#,
            r#"{"resultType":"input_required","requestState":"later"}"#,
            r#"{"resultType":"input_required","inputRequests":{}}"#,
            r#"{"resultType":"complete","inputRequests":null}"#,
            r#"{"result":"x","task":{"taskId":"1","status":"working"}}"#,
            // Nobody can act on a strange type alone.
            r#"{"result_type":"json"}"#,
            r#"{"resultType":7}"#,
            "{}",
            "null",
            r#""inputRequests""#,
            r#"[{"inputRequests":{"a":7}}]"#,
        ] {
            assert_eq!(requests(result).unwrap(), Vec::<String>::new(), "{result}");
        }
    }

    #[test]
    fn requests_are_found_wherever_a_client_looks_for_them() {
        let map = r#"{"lo\u0067in":{"method":"elicitation/create","params":{"mode":"url"}},"r":{"method":"roots/list"}}"#;
        let expected = [r#"login elicitation/create {"mode":"url"}"#, "r roots/list -"];
        for result in [
            format!(r#"{{"resultType":"input_required","inputRequests":{map},"requestState":"s"}}"#),
            format!(
                r#"{{"resultType":"complete","taskId":"1","status":"input_required","inputRequests":{map}}}"#
            ),
            format!(r#"{{"resultType":"complete","input\u0052equests":{map}}}"#),
            format!(r#"{{"resultType":null,"inputRequests":{map}}}"#),
            format!(r#"{{"inputRequests":{map}}}"#),
            format!(r#"{{"status":"completed","result":{{"inputRequests":{map}}}}}"#),
            format!(r#"{{"status":"completed","Result":{{"inputRequests":{map}}}}}"#),
            format!(r#"{{"task":{{"status":"input_required","inputRequests":{map}}}}}"#),
        ] {
            assert_eq!(requests(&result).unwrap(), expected, "{result}");
        }
        let both = r#"{"inputRequests":{"a":{"method":"x/y","params":null}},"result":{"inputRequests":{"b":{"method":"ping"}}}}"#;
        assert_eq!(requests(both).unwrap(), ["a x/y -", "b ping -"]);
    }

    #[test]
    fn requests_that_readers_may_see_differently_are_refused() {
        for (result, cause) in [
            (r#"{"inputRequests":[{"method":"ping"}]}"#, Cause::InputRequestsKind),
            (r#"{"inputRequests":"x"}"#, Cause::InputRequestsKind),
            (r#"{"inputRequests":{"a":[]}}"#, Cause::InputRequestsKind),
            (r#"{"inputRequests":{"a":null}}"#, Cause::InputRequestsKind),
            (r#"{"inputRequests":{"\ud800":{"method":"ping"}}}"#, Cause::InputRequestKey),
            (r#"{"InputRequests":{}}"#, Cause::ResultLookAlike("inputRequests")),
            (r#"{"inputRequests":{},"input_requests":{}}"#, Cause::ResultLookAlike("inputRequests")),
            (r#"{"input_requests":null}"#, Cause::ResultLookAlike("inputRequests")),
            (r#"{"result":{"inputrequests":{}}}"#, Cause::ResultLookAlike("inputRequests")),
            (r#"{"result_type":"input_required","inputRequests":{}}"#, Cause::ResultLookAlike("resultType")),
            (r#"{"inputRequests":{},"resultType":["complete"]}"#, Cause::ResultTypeKind),
            (r#"{"inputRequests":{"a":{}}}"#, Cause::MethodKind),
            (r#"{"inputRequests":{"a":{"method":7}}}"#, Cause::MethodKind),
            (r#"{"inputRequests":{"a":{"method":"ping\udc00"}}}"#, Cause::MethodKind),
            (
                r#"{"inputRequests":{"a":{"method":"roots/list","Method":"sampling/createMessage"}}}"#,
                Cause::InputRequestLookAlike("method"),
            ),
            (
                r#"{"inputRequests":{"a":{"method":"roots/list","params\u0000":{}}}}"#,
                Cause::InputRequestLookAlike("params"),
            ),
            (r#"{"inputRequests":{"a":{"method":"elicitation/create","params":[]}}}"#, Cause::ParamsKind),
            (
                r#"{"inputRequests":{"ok":{"method":"ping"},"a":{"method":"Sampling/createMessage"}}}"#,
                Cause::NearMiss("sampling/createMessage"),
            ),
            (
                r#"{"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form","Mode":"url"}}}}"#,
                Cause::ParamLookAlike("mode"),
            ),
            (
                r#"{"inputRequests":{"a":{"method":"sampling/createMessage","params":{"tool_choice":{}}}}}"#,
                Cause::ParamLookAlike("toolChoice"),
            ),
        ] {
            assert_eq!(requests(result).unwrap_err(), cause, "{result}");
        }
    }

    #[test]
    fn elicitations_of_an_error_are_found() {
        let find = |error| {
            let found = required_elicitations(Raw::parse(error).unwrap())?;
            Ok(found.into_iter().map(Raw::text).collect::<Vec<_>>())
        };
        for (error, expected) in [
            (r#"{"code":-32603,"message":"no","data":"x"}"#, &[][..]),
            (r#"{"code":-32042,"message":"no"}"#, &[]),
            (r#"{"code":-32042,"message":"","data":{"elicitations":null}}"#, &[]),
            (
                r#"{"code":-32042,"message":"","data":{"elicitations":[{"url":"a"},{}]}}"#,
                &[r#"{"url":"a"}"#, "{}"],
            ),
            (r#"{"code":1,"message":"","Data":{"elicitations":[{"url":"a"}]}}"#, &[r#"{"url":"a"}"#]),
        ] {
            assert_eq!(find(error), Ok(expected.to_vec()), "{error}");
        }
        for (error, cause) in [
            (r#"{"data":{"elicitations":{}}}"#, Cause::ElicitationsKind),
            (r#"{"data":{"elicitations":["a"]}}"#, Cause::ElicitationsKind),
            (r#"{"data":{"Elicitations":[]}}"#, Cause::ElicitationsKind),
            (r#"{"data":{"elicitations":[]},"DATA":{"elicitations":[]}}"#, Cause::ElicitationsKind),
            (r#"{"data":{"elicitations":[{"url":"a","URL":"b"}]}}"#, Cause::ParamLookAlike("url")),
        ] {
            assert_eq!(find(error), Err(cause), "{error}");
        }
    }
}
