//! The five states of the tray, and each in words that begin with what is wrong.

use callgate_text::{clip, count};

use crate::view::{Alarm, Fix, IconState, Need};

/// The longest cause in a headline.
const CAUSE: usize = 70;

/// The worst that is so. What lets calls pass unjudged is worse than what refuses them.
pub(super) fn icon(needs: &[Need], unprotected: u32, alarms: &[Alarm], refused_lately: bool) -> IconState {
    if unprotected > 0 || needs.iter().any(lets_pass) {
        IconState::NotProtecting
    } else if needs.iter().any(is_pause) {
        IconState::Paused
    } else if !needs.is_empty() || !alarms.is_empty() {
        IconState::NeedsYou
    } else if refused_lately {
        IconState::BlockedLately
    } else {
        IconState::Quiet
    }
}

/// Do calls pass that no rule holds while this lasts?
fn lets_pass(need: &Need) -> bool {
    let about = match need.fix {
        Some(Fix::EndAllowance { .. } | Fix::OpenClients) => true,
        Some(
            Fix::Resume { .. }
            | Fix::OpenRules { .. }
            | Fix::OpenSettings
            | Fix::OpenApprovals
            | Fix::OpenDefinitions { .. }
            | Fix::PauseServer { .. }
            | Fix::RestoreDefault,
        )
        | None => false,
    };
    need.serious && about
}

fn is_pause(need: &Need) -> bool {
    matches!(need.fix, Some(Fix::Resume { .. }))
}

pub(super) fn headline(
    icon: IconState,
    needs: &[Need],
    paused_all: bool,
    unprotected: u32,
    alarms: &[Alarm],
) -> String {
    let cause =
        |is: fn(&Need) -> bool| needs.iter().find(|need| is(need)).map(|need| clip(&need.words, CAUSE));
    match icon {
        IconState::Quiet => "All quiet".to_owned(),
        IconState::BlockedLately => "Refused something lately".to_owned(),
        IconState::Paused if paused_all => "Paused: every call is refused".to_owned(),
        IconState::Paused => format!("Paused: {}", cause(is_pause).unwrap_or_default()),
        IconState::NotProtecting => {
            let run = if unprotected == 1 { "runs" } else { "run" };
            let servers = count(u64::from(unprotected), "server");
            let cause = cause(lets_pass).unwrap_or_else(|| format!("{servers} {run} without the gate"));
            format!("Not protecting: {cause}")
        }
        IconState::NeedsYou => {
            let alarm = || alarms.first().map(|alarm| clip(&alarm.words, CAUSE));
            let cause = cause(|_| true).or_else(alarm).unwrap_or_default();
            match needs.len() + alarms.len() {
                0 | 1 => format!("Needs you: {cause}"),
                all => format!("Needs you: {cause} (and {} more)", all - 1),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(words: &str, fix: Option<Fix>, serious: bool) -> Need {
        Need { words: words.to_owned(), fix, server: None, serious }
    }

    #[test]
    fn opposite_things_never_share_an_icon_and_the_words_begin_with_the_need() {
        let paused =
            need("All calls are paused: lunch", Some(Fix::Resume { server: None, client: None }), true);
        let one = Need {
            server: Some("files".to_owned()),
            ..need("Calls to files are paused", paused.fix.clone(), true)
        };
        let lost = need("4 servers of Claude Desktop lost their gate", Some(Fix::OpenClients), true);
        let new = need("Cursor: files is new and not protected", Some(Fix::OpenClients), false);
        let broken =
            need("The policy of files is broken", Some(Fix::OpenRules { server: "files".to_owned() }), true);
        let watched = need("files is only watched", Some(Fix::EndAllowance { id: "a".to_owned() }), true);
        let cases: [(&[&Need], u32, bool, IconState, &str); 10] = [
            (&[], 0, false, IconState::Quiet, "All quiet"),
            (&[], 0, true, IconState::BlockedLately, "Refused something lately"),
            (&[], 8, true, IconState::NotProtecting, "Not protecting: 8 servers run without the gate"),
            (&[], 1, false, IconState::NotProtecting, "Not protecting: 1 server runs without the gate"),
            (&[&paused], 0, true, IconState::Paused, "Paused: every call is refused"),
            (&[&one], 0, false, IconState::Paused, "Paused: Calls to files are paused"),
            (
                &[&paused, &lost],
                0,
                true,
                IconState::NotProtecting,
                "Not protecting: 4 servers of Claude Desktop lost their gate",
            ),
            (
                &[&broken, &new],
                0,
                true,
                IconState::NeedsYou,
                "Needs you: The policy of files is broken (and 1 more)",
            ),
            (&[&watched], 0, false, IconState::NotProtecting, "Not protecting: files is only watched"),
            (&[&new], 0, false, IconState::NeedsYou, "Needs you: Cursor: files is new and not protected"),
        ];
        for (needs, unprotected, lately, state, words) in cases {
            let needs: Vec<Need> = needs.iter().map(|need| (*need).clone()).collect();
            let found = icon(&needs, unprotected, &[], lately);
            assert_eq!(found, state, "{words}");
            let all = needs.contains(&paused);
            assert_eq!(headline(found, &needs, all, unprotected, &[]), words);
        }
    }
}
