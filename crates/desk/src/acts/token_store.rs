//! Things that wait for a person: each under a name that nobody can guess, for a while, and once.

use std::collections::VecDeque;
use std::time::Duration;

use callgate_home::clock::Moment;

use crate::DeskError;

/// More at once are nobody's; the oldest makes room.
const MOST: usize = 64;

#[derive(Debug)]
pub(super) struct TokenStore<T> {
    kept: VecDeque<Token<T>>,
}

#[derive(Debug)]
pub(super) struct Token<T> {
    token: String,
    /// Since boot, so that no set clock makes it last longer.
    until_ms: u64,
    pub(super) value: T,
}

impl<T> Default for TokenStore<T> {
    fn default() -> Self {
        TokenStore { kept: VecDeque::new() }
    }
}

impl<T> TokenStore<T> {
    /// Keeps it for a while; the name is what takes it back.
    pub(super) fn put(&mut self, now: &Moment, lasts: Duration, value: T) -> Result<String, DeskError> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|_| DeskError::NoRandomness)?;
        let token = callgate_text::hex(&random);
        let until_ms = now.uptime_ms.saturating_add(u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX));
        self.put_back(Token { token: token.clone(), until_ms, value });
        Ok(token)
    }

    /// Takes it away, if its time is not over.
    pub(super) fn take(&mut self, token: &str, now: &Moment) -> Option<Token<T>> {
        self.kept.retain(|kept| now.uptime_ms < kept.until_ms);
        let place = self.kept.iter().position(|kept| kept.token == token)?;
        self.kept.remove(place)
    }

    /// As before, for the rest of its time.
    pub(super) fn put_back(&mut self, kept: Token<T>) {
        if self.kept.len() >= MOST {
            self.kept.pop_front();
        }
        self.kept.push_back(kept);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use callgate_home::clock::{Clock, ManualClock};

    use super::*;

    #[test]
    fn what_is_kept_can_be_taken_once_and_in_time() {
        let clock = ManualClock::new();
        let mut token_store = TokenStore::default();
        let first = token_store.put(&clock.now(), Duration::from_secs(10), 1).unwrap();
        let second = token_store.put(&clock.now(), Duration::from_secs(10), 2).unwrap();
        assert!(first != second && first.len() == 32);
        assert!(token_store.take("", &clock.now()).is_none());
        assert_eq!(token_store.take(&first, &clock.now()).unwrap().value, 1);
        assert!(token_store.take(&first, &clock.now()).is_none());
        clock.advance(Duration::from_millis(9_999));
        let kept = token_store.take(&second, &clock.now()).unwrap();
        token_store.put_back(kept);
        clock.advance(Duration::from_millis(1));
        assert!(token_store.take(&second, &clock.now()).is_none());
    }

    #[test]
    fn the_oldest_of_too_many_is_dropped() {
        let clock = ManualClock::new();
        let mut token_store = TokenStore::default();
        let tokens: Vec<String> =
            (0..=MOST).map(|n| token_store.put(&clock.now(), Duration::from_secs(10), n).unwrap()).collect();
        assert!(token_store.take(&tokens[0], &clock.now()).is_none());
        assert_eq!(token_store.take(&tokens[1], &clock.now()).unwrap().value, 1);
        assert_eq!(token_store.take(&tokens[MOST], &clock.now()).unwrap().value, MOST);
    }
}
