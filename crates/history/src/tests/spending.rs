use callgate_controls::allowance::{AllowanceScope, grant, is_spent};

use super::*;

const QUARTER: Duration = Duration::from_secs(15 * 60);

fn one_call() -> AllowanceScope {
    let call = "k3v9qa-1z".parse().unwrap();
    AllowanceScope::Call { tool: "send".to_owned(), digest: [0xab; 32], call }
}

fn intent(spend: Option<&str>) -> Intent<'_> {
    Intent {
        method: "tools/call",
        tool: "send",
        rpc_id: "1",
        args: None,
        client: "c",
        rule: "(allowed once)",
        policy: "v1",
        keep: Keep::Full,
        observing: false,
        would: None,
        spend,
        reason: "",
        asked: None,
    }
}

#[test]
fn an_allowance_of_one_call_is_good_for_one_call_in_all_sessions() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let allowance = grant(&home, &clock.now(), "s", one_call(), QUARTER).unwrap();
    assert!(!is_spent(&home, &clock.now(), &allowance).unwrap());
    let admitted: usize = std::thread::scope(|scope| {
        let shims: Vec<_> = (0..8)
            .map(|_| {
                let (home, clock, id) = (&home, clock.clone(), allowance.id.as_str());
                scope.spawn(move || {
                    let journal = Journal::open(home, &info("s"), clock).unwrap();
                    let mut batch = journal.batch();
                    let admitted = match batch.admit(intent(Some(id)), &[], b"x") {
                        Ok(_) => 1,
                        Err(NotAdmitted::Spent) => 0,
                        Err(error) => panic!("{error:?}"),
                    };
                    assert_eq!(batch.commit().admitted.lines().len(), 2 * admitted);
                    journal.end(EndReason::ClientClosed);
                    admitted
                })
            })
            .collect();
        shims.into_iter().map(|shim| shim.join().unwrap()).sum()
    });
    assert_eq!(admitted, 1);
    assert!(is_spent(&home, &clock.now(), &allowance).unwrap());
}

#[test]
fn a_refused_call_spends_nothing() {
    use callgate_policy::{Kind, Limit, Scope, Taking};
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let allowance = grant(&home, &clock.now(), "s", one_call(), QUARTER).unwrap();
    let journal = Journal::open(&home, &info("s"), clock.clone()).unwrap();
    for (scope, session) in [(Scope::Server, false), (Scope::Session, true)] {
        let total = Limit {
            pointer: String::new(),
            counter: "x".to_owned(),
            kind: Kind::Total,
            max: std::num::NonZeroU32::MIN,
            scope,
            on_deny: None,
            until_ms: None,
        };
        let taking = [Taking { limit: &total, amount: 1 }];
        let mut batch = journal.batch();
        batch.admit(intent(None), &taking, b"x").unwrap();
        let refused = batch.admit(intent(Some(&allowance.id)), &taking, b"x");
        assert!(matches!(refused, Err(NotAdmitted::Capped(_))), "{session}");
        batch.commit();
        assert!(!is_spent(&home, &clock.now(), &allowance).unwrap());
    }
    journal.end(EndReason::ClientClosed);
}

#[test]
fn lost_counters_spend_what_was_granted_before() {
    let (_folder, home) = home();
    let clock = Arc::new(ManualClock::new());
    let before = grant(&home, &clock.now(), "s", one_call(), QUARTER).unwrap();
    for name in ["limits.db", "limits.db-wal", "limits.db-shm"] {
        let _gone = std::fs::remove_file(home.path().join(name));
    }
    let after = grant(&home, &clock.now(), "t", one_call(), QUARTER).unwrap();
    let journal = Journal::open(&home, &info("s"), clock).unwrap();
    let mut batch = journal.batch();
    assert!(matches!(batch.admit(intent(Some(&before.id)), &[], b"x"), Err(NotAdmitted::Spent)));
    assert!(matches!(batch.admit(intent(Some("made up")), &[], b"x"), Err(NotAdmitted::Spent)));
    batch.admit(intent(Some(&after.id)), &[], b"x").unwrap();
    batch.commit();
    journal.end(EndReason::ClientClosed);
}
