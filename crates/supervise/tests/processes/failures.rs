//! A server that cannot be started: the message says which program, and what is wrong with it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::world::Shim;
use tempfile::TempDir;

/// A file with this content and mode, and what the shim says when it is the server's program.
fn told_of(content: &str, mode: u32) -> (String, String) {
    let directory = TempDir::new().expect("a directory");
    let program = directory.path().join("server");
    fs::write(&program, content).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(mode)).expect("changed");
    let program = program.to_str().expect("plain").to_owned();
    (ending_of(&program), program)
}

fn ending_of(program: &str) -> String {
    let shim = Shim::of(&[program]);
    let ending = shim.hear("ending");
    shim.hear("joined");
    ending
}

#[test]
fn a_name_that_is_nowhere_is_told_with_where_it_was_looked_for() {
    let told = ending_of("callgate-no-such-program");
    assert!(
        told.starts_with(r#"cannot start "callgate-no-such-program": no such program in PATH ("#),
        "{told}"
    );
    let first =
        std::env::var("PATH").expect("set").split(':').next().map(str::to_owned).expect("a directory");
    assert!(told.contains(&first), "{told}");
}

#[test]
fn a_path_that_is_not_there_is_told() {
    assert_eq!(ending_of("/no/such/server"), r#"cannot start "/no/such/server": there is no such file"#);
}

#[test]
fn a_directory_is_told() {
    assert_eq!(ending_of("/tmp"), r#"cannot start "/tmp": it is a directory"#);
}

#[test]
fn a_file_without_the_right_to_run_is_told() {
    let (told, program) = told_of("#!/bin/sh\n", 0o644);
    assert_eq!(
        told,
        format!("cannot start {program:?}: the file is not executable (chmod +x would make it so)")
    );
}

#[test]
fn a_missing_interpreter_is_named() {
    let (told, program) = told_of("#! /no/such/node --flag\n", 0o755);
    assert_eq!(told, format!(r#"cannot start {program:?}: its interpreter "/no/such/node" is missing"#));
}

#[test]
fn windows_line_endings_are_named_as_the_cause() {
    let (told, program) = told_of("#!/bin/sh\r\nexit 0\r\n", 0o755);
    assert_eq!(
        told,
        format!(
            r#"cannot start {program:?}: its interpreter "/bin/sh\r" is missing (the script has Windows line endings)"#
        )
    );
}

#[test]
fn an_interpreter_without_the_right_to_run_is_named() {
    let directory = TempDir::new().expect("a directory");
    let interpreter = directory.path().join("node");
    fs::write(&interpreter, "").expect("written");
    let interpreter = interpreter.to_str().expect("plain");
    let (told, _) = told_of(&format!("#!{interpreter}\n"), 0o755);
    assert_eq!(
        told,
        format!("cannot start {interpreter:?}: the file is not executable (chmod +x would make it so)")
    );
    assert!(Path::new(interpreter).exists());
}

#[test]
fn a_server_that_is_told_late_is_started_with_what_came_late() {
    let shim = Shim::late("--token=x y\n", &["/bin/sh", "-c", "printf '%s;' \"$@\"; echo", "sh", "first"]);
    shim.hear("thread");
    assert_eq!(shim.hear("out"), "first;--token=x y");
    assert_eq!(shim.hear("ending"), "exit code 0");
    shim.hear("joined");
}

#[test]
fn a_server_that_is_withheld_never_runs_and_the_reason_is_told() {
    let mark = TempDir::new().expect("a directory");
    let ran = mark.path().join("ran");
    let shim = Shim::late("!", &["/usr/bin/touch", ran.to_str().expect("plain")]);
    assert_eq!(shim.hear("ending"), "the server was not started: it may not");
    shim.hear("joined");
    assert!(!ran.exists());
}
