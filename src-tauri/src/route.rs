//! Places in the window as addresses: what the tray, notifications and other starts lead to.

use callgate_desk::view::{CallFilter, Place};
use serde::Serialize;

/// The address of a place (`#/rules/files`); none for the window as it was left.
pub(crate) fn address(place: &Place) -> Option<String> {
    let address = match place {
        Place::Window => return None,
        Place::Call { id } => format!("#/activity?call={}", encoded(id)),
        Place::Log { filter } => logged(filter),
        // Each of its calls offers them.
        Place::Caps { target } => logged(&CallFilter {
            server: Some(target.server.clone()),
            client: target.client.clone(),
            tool: target.tool.clone(),
            ..CallFilter::default()
        }),
        Place::Servers => "#/servers".to_owned(),
        Place::Server { server } => format!("#/servers/{}", encoded(server)),
        Place::Rules { server } => format!("#/rules/{}", encoded(server)),
        Place::Settings => "#/settings".to_owned(),
        Place::Approvals => "#/approvals".to_owned(),
        Place::Clients => "#/clients".to_owned(),
        Place::Question { loosening } => format!("#/activity?ask={}", encoded(&json(loosening))),
    };
    Some(address)
}

/// The place that a word names. Nothing that asks, let alone loosens, can be named from outside.
pub(crate) fn named(word: &str) -> Option<Place> {
    let (kind, rest) = word.split_once(':').unwrap_or((word, ""));
    match (kind, rest) {
        ("window", "") => Some(Place::Window),
        ("activity", "") => Some(Place::Log { filter: CallFilter::default() }),
        ("servers", "") => Some(Place::Servers),
        ("settings", "") => Some(Place::Settings),
        ("approvals", "") => Some(Place::Approvals),
        ("clients", "") => Some(Place::Clients),
        ("servers", server) if !server.is_empty() => Some(Place::Server { server: server.to_owned() }),
        ("rules", server) if !server.is_empty() => Some(Place::Rules { server: server.to_owned() }),
        ("call", id) if !id.is_empty() => Some(Place::Call { id: id.to_owned() }),
        _ => None,
    }
}

/// The word that names a place, for another start; none for those that have none.
pub(crate) fn name(place: &Place) -> Option<String> {
    match place {
        Place::Window => Some("window".to_owned()),
        Place::Log { filter } if *filter == CallFilter::default() => Some("activity".to_owned()),
        Place::Servers => Some("servers".to_owned()),
        Place::Settings => Some("settings".to_owned()),
        Place::Approvals => Some("approvals".to_owned()),
        Place::Clients => Some("clients".to_owned()),
        Place::Server { server } => Some(format!("servers:{server}")),
        Place::Rules { server } => Some(format!("rules:{server}")),
        Place::Call { id } => Some(format!("call:{id}")),
        Place::Log { .. } | Place::Caps { .. } | Place::Question { .. } => None,
    }
}

/// The log with the filters that the tray and notifications use; the others are the window's own.
fn logged(filter: &CallFilter) -> String {
    let named = [
        ("server", &filter.server),
        ("client", &filter.client),
        ("tool", &filter.tool),
        ("session", &filter.session),
    ];
    let parts: Vec<String> = named
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", encoded(value.as_deref()?))))
        .collect();
    let mark = if parts.is_empty() { "" } else { "?" };
    format!("#/activity{mark}{}", parts.join("&"))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// For an address: letters, digits and `-_.` stay, every other byte becomes `%XX`.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use callgate_desk::view::Loosening;

    use super::*;

    #[test]
    fn names_of_servers_cannot_leave_their_place_in_an_address() {
        let place = Place::Rules { server: "a b/#?&\"ü".to_owned() };
        assert_eq!(address(&place).as_deref(), Some("#/rules/a%20b%2F%23%3F%26%22%C3%BC"));
    }

    #[test]
    fn an_alarm_leads_to_the_calls_that_it_is_about() {
        let filter = CallFilter {
            server: Some("files".to_owned()),
            tool: Some("a&b".to_owned()),
            ..CallFilter::default()
        };
        assert_eq!(address(&Place::Log { filter }).as_deref(), Some("#/activity?server=files&tool=a%26b"));
        let all = Place::Log { filter: CallFilter::default() };
        assert_eq!(address(&all).as_deref(), Some("#/activity"));
    }

    #[test]
    fn a_question_travels_as_what_it_asks() {
        let place = Place::Question { loosening: Loosening::Resume { server: None, client: None } };
        let expected =
            "#/activity?ask=%7B%22kind%22%3A%22resume%22%2C%22server%22%3Anull%2C%22client%22%3Anull%7D";
        assert_eq!(address(&place).as_deref(), Some(expected));
    }

    #[test]
    fn what_another_start_may_open_comes_back_as_itself_and_questions_do_not() {
        for word in ["window", "activity", "servers", "settings", "rules:files", "rules:a:b", "call:abcde-1"]
        {
            assert_eq!(named(word).and_then(|place| name(&place)).as_deref(), Some(word));
        }
        for word in ["", "ask", "question:resume", "rules:", "call:", "settings:x"] {
            assert_eq!(named(word), None, "{word}");
        }
        assert_eq!(
            name(&Place::Question { loosening: Loosening::Resume { server: None, client: None } }),
            None
        );
    }
}
