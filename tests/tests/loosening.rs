//! Who may loosen at the command line: a person at a terminal of their own, and not what a client started beside its gates.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use callgate_controls::approval::{Approval, Approvals, State};
use callgate_controls::decider::Presence;
use callgate_home::Home;
use callgate_home::clock::{Clock as _, SystemClock};
use callgate_tests::gate::{Bench, Gate, callgate_binary};
use callgate_tests::processes::eventually;
use callgate_tests::session::{Session, result_text};
use callgate_tests::terminal::{at_terminal, at_terminal_of_client};

const SOON: Duration = Duration::from_secs(20);
const ASKED: &str = r#"{ "version": "1", "default": "allow", "tools": { "danger": { "action": "ask" } } }"#;
/// A client that is no shell and does not name the gate: what it starts is in a file.
const CLIENT: &str =
    "import json, subprocess, sys\nsys.exit(subprocess.call(json.load(open(sys.argv[1]))))\n";

/// A client whose call waits, and a person who may decide.
struct World {
    bench: Bench,
    session: Session,
    home: Home,
    _presence: Presence,
}

impl World {
    /// `start` is given what starts the gate, and says what the client starts.
    fn new(start: impl FnOnce(&Bench, Command) -> Command) -> World {
        let bench = Bench::new(ASKED).unwrap();
        let server = bench.fake_server("", &[]).unwrap();
        let gate = bench.command(Gate::Callgate, &server).unwrap();
        let session = Session::start(start(&bench, gate)).unwrap();
        let home = Home::at(bench.home());
        callgate_controls::prepare_home(&home).unwrap();
        let presence = Presence::announce(&home).unwrap();
        let mut world = World { bench, session, home, _presence: presence };
        world.session.call("1", "danger", "{}").unwrap();
        world
    }

    fn card(&self) -> Approval {
        card(&self.home)
    }

    fn state(&self, card: &Approval) -> State {
        let now = SystemClock::default().now();
        Approvals::new(&self.home).get(&now, card.id).unwrap().unwrap().state
    }

    fn events(&self) -> String {
        let output = self.bench.callgate(["events", "--json"]).unwrap().output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn ran(&self) -> bool {
        let answer = self.session.answer_within("1", SOON).unwrap();
        result_text(&answer).is_some_and(|text| text.contains("danger ran"))
    }
}

fn card(home: &Home) -> Approval {
    let now = SystemClock::default().now();
    eventually("a card", SOON, || Approvals::new(home).open(&now).unwrap().pop())
}

fn shell_words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let quoted = words.map(|word| format!("'{}'", word.to_str().unwrap()));
    quoted.collect::<Vec<_>>().join(" ")
}

fn with_env_of(mut command: Command, other: &Command) -> Command {
    for (name, value) in other.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Behind a program that starts what a file says.
fn behind_program(bench: &Bench, gate: &Command) -> Command {
    let words: Vec<&str> = std::iter::once(gate.get_program())
        .chain(gate.get_args())
        .map(|word| word.to_str().unwrap())
        .collect();
    std::fs::write(bench.path("client.py"), CLIENT).unwrap();
    std::fs::write(bench.path("start.json"), serde_json::to_string(&words).unwrap()).unwrap();
    let mut client = Command::new("python3");
    client.arg(bench.path("client.py")).arg(bench.path("start.json"));
    with_env_of(client, gate)
}

/// Behind a shell that only starts the gate.
fn behind_shell(gate: &Command) -> Command {
    let mut wrapper = Command::new("sh");
    wrapper.args(["-c", &format!("{}; exit $?", shell_words(gate))]);
    with_env_of(wrapper, gate)
}

#[test]
fn a_clients_own_shell_cannot_approve_though_it_has_a_terminal_and_types_the_word() {
    let starts: [fn(&Bench, Command) -> Command; 2] = [|_, gate| gate, |_, gate| behind_shell(&gate)];
    for start in starts {
        let world = World::new(start);
        let card = world.card();
        let id = card.id.to_string();
        let approve = || world.bench.callgate(["approve", &id]).unwrap();
        let mut script = Command::new("script");
        script.args(["-qec", &shell_words(&approve()), "/dev/null"]);
        let mut detached = Command::new("setsid");
        detached.args(["-w", "script", "-qec", &shell_words(&approve()), "/dev/null"]);
        for attempt in [approve(), with_env_of(script, &approve()), with_env_of(detached, &approve())] {
            let (status, screen) = at_terminal_of_client(attempt, "approve").unwrap();
            assert!(!status.success(), "{screen}");
            assert!(screen.contains("what a client starts is taken for its agent's"), "{screen}");
        }
        let piped = approve().output().unwrap();
        assert!(!piped.status.success());
        assert_eq!(world.state(&card), State::Open);
        let events = world.events();
        let told: Vec<&str> =
            events.lines().filter(|line| line.contains(r#""kind":"loosening_refused""#)).collect();
        assert_eq!(told.len(), 4, "{events}");
        let says =
            |line: &&str| line.contains(&format!("let the call {id} through")) && line.contains(r#""cli""#);
        assert!(told.iter().all(says), "{events}");
        // A person at a terminal of their own can.
        let (status, screen) = at_terminal(approve(), "approve").unwrap();
        assert!(status.success(), "{screen}");
        assert!(world.ran());
    }
}

#[test]
fn nothing_that_loosens_is_done_from_a_clients_own_shell() {
    let world = World::new(|_, gate| gate);
    world.card();
    let looser = world.bench.path("looser.json");
    std::fs::write(&looser, r#"{ "version": "1", "default": "allow" }"#).unwrap();
    let looser = looser.to_str().unwrap();
    assert!(world.bench.callgate(["pause"]).unwrap().output().unwrap().status.success());
    let policy = std::fs::read_to_string(world.bench.policy_file()).unwrap();
    let attempts: [(&[&str], &str); 6] = [
        (&["allow", "corpus", "danger", "--new"], "allow"),
        (&["observe", "corpus", "--new", "--for", "1h"], "observe"),
        (&["resume"], "resume"),
        (&["policy", "apply", "corpus", looser, "--replace"], "apply"),
        (&["forget", "--server", "corpus"], "forget"),
        (&["settings", "set", "history.days", "1"], "settings"),
    ];
    for (words, word) in attempts {
        let (status, screen) = at_terminal_of_client(world.bench.callgate(words).unwrap(), word).unwrap();
        assert!(!status.success(), "{words:?}: {screen}");
        assert!(screen.contains("what a client starts is taken for its agent's"), "{words:?}: {screen}");
    }
    assert_eq!(std::fs::read_to_string(world.bench.policy_file()).unwrap(), policy);
    assert!(world.home.paused().exists());
    // To restrict is for anybody.
    assert!(
        world
            .bench
            .callgate(["block", "corpus", "danger", "--new"])
            .unwrap()
            .output()
            .unwrap()
            .status
            .success()
    );
}

#[test]
fn the_terminal_inside_an_editor_that_has_gates_is_a_persons() {
    // The test is the editor: it has a process for its servers, and opens the terminal itself.
    let world = World::new(|bench, gate| behind_program(bench, &gate));
    let id = world.card().id.to_string();
    let approve = world.bench.callgate(["approve", &id]).unwrap();
    let (status, screen) = at_terminal_of_client(approve, "approve").unwrap();
    assert!(status.success(), "{screen}");
    assert!(world.ran());
}

#[test]
fn a_person_may_approve_in_the_terminal_that_the_client_was_started_from() {
    let bench = Bench::new(ASKED).unwrap();
    let home = Home::at(bench.home());
    callgate_controls::prepare_home(&home).unwrap();
    let _presence = Presence::announce(&home).unwrap();
    let server = bench.fake_server("", &[]).unwrap();
    let gate = bench.command(Gate::Callgate, &server).unwrap();
    let client = behind_program(&bench, &gate);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"danger","arguments":{}}}"#;
    std::fs::write(bench.path("call"), format!("{call}\n")).unwrap();
    for fifo in ["held", "id"] {
        assert!(Command::new("mkfifo").arg(bench.path(fifo)).status().unwrap().success());
    }
    let path = |name: &str| bench.path(name).display().to_string();
    let callgate = callgate_binary().unwrap().display().to_string();
    // The client reads from a pipe that the shell holds open, in the background of the same shell.
    let lines = [
        format!("exec 9<>'{}'", path("held")),
        format!("cat '{}' >&9", path("call")),
        format!("{} <&9 >'{}' &", shell_words(&client), path("out")),
        format!("read -r id <'{}'", path("id")),
        format!("'{callgate}' approve \"$id\""),
        "approve".to_owned(),
        "exit".to_owned(),
    ];
    let mut shell = Command::new("script");
    shell.args(["-qec", "exec bash --norc --noprofile --noediting", "/dev/null"]);
    let shell = with_env_of(shell, &gate);
    let screen = std::thread::scope(|scope| {
        let typed = lines.join("\n");
        let terminal = scope.spawn(move || at_terminal(shell, &typed).unwrap().1);
        let id = card(&home).id.to_string();
        std::fs::write(Path::new(&path("id")), format!("{id}\n")).unwrap();
        terminal.join().unwrap()
    });
    let out = eventually("the call runs", SOON, || {
        std::fs::read_to_string(bench.path("out")).ok().filter(|out| out.contains("\"id\":1"))
    });
    assert!(out.contains("danger ran"), "{out}\n{screen}");
}
