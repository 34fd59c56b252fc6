use callgate_policy::Policy;

use super::*;

struct Session {
    policy: Policy,
    tracker: LoopTracker,
    calls: u64,
}

impl Session {
    fn under(loops: &str) -> Session {
        let text = format!(r#"{{"version":"1","default":"allow","loop":{loops}}}"#);
        Session { policy: Policy::parse(&text).unwrap(), tracker: LoopTracker::default(), calls: 0 }
    }

    fn rules(&self) -> Vec<&LoopRule> {
        self.policy.loops("c", "t", 0)
    }

    fn refused(&self, args: &str) -> Option<String> {
        let args = Raw::parse(args).unwrap();
        self.tracker.objection(("t", Some(args)), self.rules()).map(|(_, refusal)| refusal.reason)
    }

    fn send(&mut self, args: &str) -> u64 {
        self.calls += 1;
        let args = Raw::parse(args).unwrap();
        self.tracker.sent(self.calls, ("t", Some(args)), &self.rules());
        self.calls
    }

    fn answer(&self, seq: u64, result: &str) {
        self.tracker.answered(seq, Reply::Result(Raw::parse(result).unwrap()));
    }

    fn call(&mut self, args: &str, result: &str) {
        let seq = self.send(args);
        self.answer(seq, result);
    }
}

const THREE: &str = r#"{"same_result":3,"action":"deny"}"#;

#[test]
fn the_same_call_with_the_same_result_is_a_loop_and_with_others_it_is_none() {
    let mut session = Session::under(THREE);
    for _ in 0..3 {
        assert_eq!(session.refused("{}"), None);
        session.call("{}", r#"{"content":[]}"#);
    }
    assert!(
        session
            .refused("{}")
            .unwrap()
            .ends_with("called 3 times with these arguments, and had the same result each time")
    );
    assert_eq!(session.refused(r#"{"a":1}"#), None, "other arguments");
    assert!(session.refused(" { } ").is_some(), "the same in other clothes");
}

#[test]
fn a_result_that_changes_breaks_the_loop() {
    let mut session = Session::under(THREE);
    for round in 0..20 {
        assert_eq!(session.refused("{}"), None);
        session.call("{}", &format!(r#"{{"snapshot":{}}}"#, round / 2));
    }
}

#[test]
fn what_a_model_does_not_see_of_a_result_makes_no_difference() {
    let mut session = Session::under(THREE);
    for round in 0..3 {
        session.call("{}", &format!(r#"{{"content":[],"_meta":{{"at":{round}}}}}"#));
    }
    assert!(session.refused("{}").is_some());
}

#[test]
fn an_error_again_and_again_is_a_loop_too() {
    let mut session = Session::under(THREE);
    for _ in 0..3 {
        let seq = session.send("{}");
        session.tracker.answered(seq, Reply::Error(Raw::parse(r#"{"code":1,"message":"no"}"#).unwrap()));
    }
    assert!(session.refused("{}").is_some());
}

#[test]
fn a_result_too_long_to_compare_is_equal_to_nothing() {
    let mut session = Session::under(THREE);
    let long = format!("\"{}\"", "x".repeat(MOST_BYTES));
    for _ in 0..5 {
        session.call("{}", &long);
    }
    assert_eq!(session.refused("{}"), None);
}

#[test]
fn calls_are_counted_whatever_comes_of_them_where_the_rule_says_so() {
    let mut session = Session::under(r#"{"same_call":2,"action":"deny"}"#);
    session.call("{}", "1");
    assert_eq!(session.refused("{}"), None);
    session.send("{}");
    assert!(session.refused("{}").unwrap().ends_with("called 2 times with these arguments"));
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut session = Session::under(THREE);
    for number in 0..3 * MOST_CALLS {
        let args = format!(r#"{{"n":{number}}}"#);
        session.send(&args);
        session.call("{}", "1");
    }
    let followed = session.tracker.followed();
    assert!(followed.calls.len() <= MOST_CALLS && followed.under_way.len() <= MOST_CALLS);
    assert!(followed.calls.values().all(|run| run.made.len() <= 3 && run.same.len() <= 3));
    drop(followed);
    assert!(session.refused("{}").is_some(), "what is in use stays");
}

#[test]
fn without_a_rule_nothing_is_followed() {
    let mut session = Session::under(r#"{"action":"allow"}"#);
    session.call("{}", "1");
    assert!(session.tracker.followed().calls.is_empty());
}
