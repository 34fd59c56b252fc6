//! A month of somebody's work with agents, made up from a number: the same number, the same month.

mod servers;

use std::io;

use callgate_home::{Home, SessionId, StoreError, atomic};
use callgate_journal::{Decision, EndReason, EventKind, Origin, Outcome};
use callgate_policy::Policy;

use self::servers::{SERVERS, Server, Tool};
use super::{SeedCall, SeedSession, Seeder};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const CLIENTS: [(&str, u64); 3] = [("claude-ai", 45), ("Claude Code", 35), ("Cursor", 20)];
/// Calls of a session on average.
const OF_A_SESSION: u64 = 120;
const DAYS: i64 = 30;
/// Sessions that are under way at the end.
const RECENT: usize = 7;

/// Numbers that look random and are not.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// The splitmix generator.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    pub(super) fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        &from[self.below(from.len() as u64) as usize]
    }

    fn weighed<'t, T>(&mut self, from: &'t [T], weight: impl Fn(&T) -> u64) -> &'t T {
        let total = from.iter().map(&weight).sum();
        let mut left = self.below(total);
        for each in from {
            if left < weight(each) {
                return each;
            }
            left -= weight(each);
        }
        &from[0]
    }

    /// Mostly near the low end, sometimes far above it.
    fn skewed(&mut self, low: u64, high: u64) -> u64 {
        let share = (self.below(1_000) as f64 / 1_000.0).powi(4);
        low + ((high - low) as f64 * share) as u64
    }
}

/// One session that is to be played.
struct Play {
    server: &'static Server,
    client: &'static str,
    name: SessionId,
    started_ms: i64,
    ended_ms: i64,
}

/// A call that is to be made: when, in which session, and the number that everything else follows from.
struct Cue {
    at_ms: i64,
    play: u32,
    seq: u32,
    run: u32,
    dice: u64,
    /// Part of a loop that its cap stopped.
    in_loop: bool,
}

/// Makes up `calls` calls that end about `now_ms`, with sessions, policies, changes of rules and events.
pub fn make(home: &Home, calls: u64, seed: u64, now_ms: i64) -> Result<(), StoreError> {
    let mut dice = Dice::new(seed);
    let days = if calls < 20_000 { 3 } else { DAYS };
    let (plays, mut cues) = plan(&mut dice, calls, days, now_ms);
    cues.sort_by_key(|cue| (cue.at_ms, cue.play, cue.seq));
    let mut seeder = Seeder::open(home)?;
    let mut story = policies(home, days, now_ms)?;
    let mut keys = vec![None; plays.len()];
    let last = cues.len();
    for (at, cue) in cues.iter().enumerate() {
        while story.front().is_some_and(|happening| happening.at_ms <= cue.at_ms) {
            if let Some(happening) = story.pop_front() {
                happening.tell(&mut seeder)?;
            }
        }
        let play = &plays[cue.play as usize];
        let key = match keys[cue.play as usize] {
            Some(key) => key,
            None => *keys[cue.play as usize].insert(begin(&mut seeder, play, now_ms)?),
        };
        // The very last ones may still run.
        tell(&mut seeder, play, key, cue, last - at <= 2 && now_ms - cue.at_ms < 60_000)?;
    }
    for happening in story {
        happening.tell(&mut seeder)?;
    }
    seeder.keep()
}

fn plan(dice: &mut Dice, calls: u64, days: i64, now_ms: i64) -> (Vec<Play>, Vec<Cue>) {
    let mut plays: Vec<Play> = Vec::new();
    let mut cues: Vec<Cue> = Vec::with_capacity(calls as usize);
    // A short history should show one too.
    let (rare, longest) = if calls < 20_000 { (300, OF_A_SESSION * 3) } else { (1_500, OF_A_SESSION * 8) };
    while (cues.len() as u64) < calls {
        let left = calls - cues.len() as u64;
        let of_session = dice.skewed(4, longest).min(left);
        let server = dice.weighed(SERVERS, |server| server.weight);
        let client = dice.weighed(&CLIENTS, |client| client.1).0;
        // Work is done by day, more of it lately; a few things run at night.
        let day = dice.below(days as u64) as i64;
        let hour = if dice.below(10) == 0 { dice.below(24) } else { 8 + dice.below(11) } as i64;
        let midnight = now_ms - now_ms.rem_euclid(DAY_MS) - day * DAY_MS;
        let mut at_ms = midnight + hour * 3_600_000 + dice.below(3_600_000) as i64;
        let first = cues.len();
        let play = plays.len() as u32;
        plays.push(Play { server, client, name: name(dice), started_ms: at_ms - 900, ended_ms: at_ms });
        let (mut run, mut seq) = (1, 0);
        while u64::from(seq) < of_session {
            let looped = server.loops && dice.below(rare) == 0;
            let times = if looped { dice.skewed(12, 420) } else { 1 };
            for _ in 0..times.min(of_session - u64::from(seq)) {
                seq += 1;
                at_ms += if looped { 120 + dice.below(200) as i64 } else { dice.skewed(700, 40_000) as i64 };
                cues.push(Cue { at_ms, play, seq, run, dice: dice.next(), in_loop: looped });
            }
            if dice.below(60) == 0 && plays.len() > RECENT {
                at_ms += 360_000 + dice.below(2_400_000) as i64;
                run += 1;
            }
        }
        // Some are under way right now; none is ahead of its time.
        let late = match plays.len() <= RECENT {
            true => at_ms - (now_ms - 400 - dice.below(25_000) as i64),
            false => ((at_ms - (now_ms - 60_000)).max(0) + DAY_MS - 1) / DAY_MS * DAY_MS,
        };
        cues[first..].iter_mut().for_each(|cue| cue.at_ms -= late);
        let done = &mut plays[play as usize];
        (done.started_ms, done.ended_ms) = (done.started_ms - late, at_ms - late);
    }
    (plays, cues)
}

fn name(dice: &mut Dice) -> SessionId {
    const LETTERS: &[u8] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let text: String = (0..6).map(|_| char::from(*dice.pick(LETTERS))).collect();
    text.parse().unwrap_or_else(|_| SessionId::random())
}

fn begin(seeder: &mut Seeder, play: &Play, now_ms: i64) -> Result<i64, StoreError> {
    let over = now_ms - play.ended_ms > 20 * 60_000;
    seeder.session(&SeedSession {
        name: play.name,
        server: play.server.name,
        client: Some(play.client),
        command: play.server.command,
        started_ms: play.started_ms,
        // Nobody runs any more in a history that was made up; what looks open was left by a client that closed.
        end: Some((if over { play.ended_ms + 4_000 } else { now_ms }, EndReason::ClientClosed)),
        demo: false,
    })
}

fn tell(seeder: &mut Seeder, play: &Play, session: i64, cue: &Cue, running: bool) -> Result<(), StoreError> {
    let mut dice = Dice::new(cue.dice);
    let looped = play.server.tools.iter().find(|tool| cue.in_loop && tool.capped.is_some());
    let tool: &Tool = match looped {
        Some(tool) => tool,
        None => dice.weighed(play.server.tools, |tool| tool.weight),
    };
    let (args, spoiled) = tool.arguments(&mut dice);
    let version = play.server.version();
    let base = SeedCall {
        session,
        seq: u64::from(cue.seq),
        run: cue.run,
        at_ms: cue.at_ms,
        client: play.client,
        policy: &version,
        tool: tool.name,
        args: Some(&args),
        digest: None,
        ..SeedCall::default()
    };
    let refused = |decision, rule: &str, reason: &str, seeder: &mut Seeder| {
        let digest = Some([(cue.dice & 0xff) as u8; 32]);
        let outcome = Some(Outcome::NotSent);
        seeder.call(&SeedCall { decision, rule, reason, outcome, digest, ..base }).map(drop)
    };
    if let Some(reason) = tool.denied {
        return refused(Decision::Denied, &format!("/tools/{}", tool.name), reason, seeder);
    }
    if let (true, Some((_, reason))) = (spoiled, tool.spoiled) {
        return refused(Decision::Denied, &format!("/tools/{}/deny_if/0", tool.name), reason, seeder);
    }
    if let Some(words) = tool.capped.filter(|_| cue.in_loop && dice.below(20) > 0) {
        let reason = format!("{:?} has reached its cap of {words}", tool.name);
        return refused(Decision::Capped, &format!("/tools/{}/limits/0", tool.name), &reason, seeder);
    }
    let result = tool.result(&mut dice);
    let failed = dice.below(100) < tool.fails;
    let outcome = match (running, failed) {
        (true, _) => None,
        (_, true) if dice.below(6) == 0 => Some(Outcome::RpcError),
        (_, true) => Some(Outcome::ToolError),
        _ => Some(Outcome::Ok),
    };
    let rule = if tool.listed { format!("/tools/{}", tool.name) } else { "/default".to_owned() };
    seeder
        .call(&SeedCall {
            outcome,
            rule: &rule,
            duration_us: (!running).then(|| dice.skewed(tool.micros.0, tool.micros.1)),
            result: (!running).then_some(if failed { TROUBLE } else { result.as_str() }),
            ..base
        })
        .map(drop)
}

const TROUBLE: &str = r#"{"content":[{"type":"text","text":"Error: Timeout 30000ms exceeded.\nCall log:\n  - waiting for locator"}],"isError":true}"#;

/// Something that happened beside the calls.
struct Happening {
    at_ms: i64,
    what: What,
}

enum What {
    Policy {
        server: &'static str,
        version: String,
        text: String,
        previous: Option<String>,
        origin: Origin,
        summary: String,
    },
    Event {
        kind: EventKind,
        server: Option<&'static str>,
        text: String,
    },
}

impl Happening {
    fn tell(self, seeder: &mut Seeder) -> Result<(), StoreError> {
        let at_ms = self.at_ms;
        match self.what {
            What::Policy { server, version, text, previous, origin, summary } => seeder
                .change(at_ms, server, (&version, &text), previous.as_deref(), origin, &summary)
                .map(drop),
            What::Event { kind, server, text } => seeder.event(at_ms, kind, server, None, &text).map(drop),
        }
    }
}

/// Writes the policies that the calls were judged by, and says when each came.
fn policies(
    home: &Home,
    days: i64,
    now_ms: i64,
) -> Result<std::collections::VecDeque<Happening>, StoreError> {
    let mut story: Vec<Happening> = Vec::new();
    let begin = now_ms - days * DAY_MS - 3_600_000;
    for (at, server) in SERVERS.iter().enumerate() {
        let mut previous: Option<String> = None;
        let versions = server.policies;
        for (step, (text, summary, origin)) in versions.iter().enumerate() {
            let version = version_of(text);
            // The newest change was made not long ago, so that a log shows it.
            let at_ms = match (step, versions.len() - step) {
                (0, _) => begin + at as i64 * 60_000,
                (_, 1) => now_ms - 2_700_000 * (at as i64 + 1),
                _ => begin + days * DAY_MS / 2 + at as i64 * 7_200_000,
            };
            let summary = if step == 0 { "first seen".to_owned() } else { (*summary).to_owned() };
            let what = What::Policy {
                server: server.name,
                version: version.clone(),
                text: (*text).to_owned(),
                previous: previous.replace(version),
                origin: *origin,
                summary,
            };
            story.push(Happening { at_ms, what });
        }
        if let Some((text, ..)) = versions.last() {
            let path = home.policy(server.name);
            atomic::replace(&path, text.as_bytes())
                .map_err(|error: io::Error| StoreError::io("write", &path, &error))?;
        }
    }
    let event = |ago: i64, kind, server, text: &str| Happening {
        at_ms: now_ms - ago,
        what: What::Event { kind, server, text: text.to_owned() },
    };
    story.extend([
        event(
            26 * 3_600_000,
            EventKind::Paused,
            None,
            "every server was paused: looking at what the agent is doing",
        ),
        event(26 * 3_600_000 - 540_000, EventKind::Resumed, None, "every server was resumed"),
        event(
            5 * 3_600_000,
            EventKind::Swept,
            Some("playwright"),
            "3 processes of an earlier session were still running and were ended",
        ),
        event(
            3 * 3_600_000,
            EventKind::PolicyBroken,
            Some("slack"),
            "policies/slack.json: line 7: a comma is missing; the last good policy stays in force",
        ),
    ]);
    story.sort_by_key(|happening| happening.at_ms);
    Ok(story.into())
}

pub(super) fn version_of(text: &str) -> String {
    Policy::parse(text).map(|policy| policy.version().to_owned()).unwrap_or_default()
}

impl Server {
    /// The version that calls name, so that their rule can be shown: the last one.
    fn version(&self) -> String {
        static KNOWN: std::sync::OnceLock<Vec<(&'static str, String)>> = std::sync::OnceLock::new();
        let known = KNOWN.get_or_init(|| {
            let last = |server: &'static Server| {
                server.policies.last().map(|(text, ..)| version_of(text)).unwrap_or_default()
            };
            SERVERS.iter().map(|server| (server.name, last(server))).collect()
        });
        known
            .iter()
            .find(|(name, _)| *name == self.name)
            .map(|(_, version)| version.clone())
            .unwrap_or_default()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use callgate_history::{CallFilter, History};

    use super::*;

    #[test]
    fn a_made_up_month_is_the_same_each_time_and_its_policies_are_policies() {
        for server in SERVERS {
            for (text, ..) in server.policies {
                Policy::parse(text).unwrap_or_else(|report| panic!("{}: {}", server.name, report.headline()));
            }
        }
        let made = || {
            let folder = tempfile::tempdir().unwrap();
            let home = Home::at(folder.path().join("home"));
            callgate_controls::prepare_home(&home).unwrap();
            make(&home, 2_000, 7, 1_800_000_000_000).unwrap();
            let history = History::open_reader(&home).unwrap();
            let calls = history.calls(&CallFilter::default(), usize::MAX).unwrap();
            assert!(!history.timeline("playwright").unwrap().is_empty());
            calls
        };
        let (one, other) = (made(), made());
        assert_eq!(one.len(), 2_000);
        assert_eq!(one, other);
        let of = |decision: Decision| one.iter().filter(|call| call.decision == decision).count();
        assert!(of(Decision::Denied) > 5 && of(Decision::Capped) > 20 && of(Decision::Allowed) > 1_500);
        for call in &one {
            let args = call.args.as_ref().unwrap();
            serde_json::from_str::<serde_json::Value>(&args.text).unwrap();
            if let Some(result) = &call.result {
                serde_json::from_str::<serde_json::Value>(&result.text).unwrap();
            }
        }
        assert!(one.windows(2).all(|two| two[0].at_ms <= two[1].at_ms));
        assert!(one.last().unwrap().at_ms <= 1_800_000_000_000);
    }
}
