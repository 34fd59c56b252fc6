//! What is in the process between a client and its server: everything that the gate is linked with, and nothing may creep in.
//!
//! A new line here is more code that every client loads for every server, and more that stands where calls are judged. What only
//! another command needs belongs to the partner.

use std::collections::BTreeSet;
use std::process::Command;

/// Ours, and what they are made with, on Linux. Macros and build scripts do not count: they are not in the program.
const ALLOWED: &[&str] = &[
    "aho_corasick",
    "bitflags",
    "block_buffer",
    "callgate_codegen",
    "callgate_codegen_history",
    "callgate_controls",
    "callgate_document",
    "callgate_gate",
    "callgate_home",
    "callgate_journal",
    "callgate_logging",
    "callgate_policy",
    "callgate_programs",
    "callgate_protocol",
    "callgate_redaction",
    "callgate_risk",
    "callgate_secrets",
    "callgate_shim",
    "callgate_supervise",
    "callgate_text",
    "callgate_trees",
    "cfg_if",
    "cobs",
    "const_oid",
    "cpufeatures",
    "crc32fast",
    "crypto_common",
    "digest",
    "equivalent",
    "errno",
    "fallible_iterator",
    "fallible_streaming_iterator",
    "foldhash",
    "getrandom",
    "hashbrown",
    "hashlink",
    "hybrid_array",
    "indexmap",
    "inotify",
    "inotify_sys",
    "itoa",
    "jiff",
    "jiff_core",
    "jsonc_parser",
    "libc",
    "libsqlite3_sys",
    "linux_raw_sys",
    "log",
    "memchr",
    "mio",
    "notify",
    "notify_types",
    "once_cell",
    "pin_project_lite",
    "postcard",
    "regex",
    "regex_automata",
    "regex_syntax",
    "rusqlite",
    "rustc_hash",
    "rustix",
    "same_file",
    "serde",
    "serde_core",
    "serde_json",
    "sha2",
    "signal_hook",
    "signal_hook_registry",
    "smallvec",
    "thiserror",
    "tinyvec",
    "tracing",
    "tracing_core",
    "typenum",
    "unicode_normalization",
    "walkdir",
    "zeroize",
    "zmij",
];

#[test]
fn the_gate_is_linked_with_nothing_but_what_it_needs() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let told = Command::new(cargo)
        .args([
            "tree",
            "--package",
            "callgate",
            "--edges",
            "normal,no-proc-macro",
            "--prefix",
            "none",
            "--format",
            "{lib}",
        ])
        .args(["--target", "x86_64-unknown-linux-gnu", "--locked", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be asked");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let text = String::from_utf8(told.stdout).expect("names are text");
    let linked: BTreeSet<&str> = text
        .lines()
        .map(|line| line.trim_end_matches("(*)").trim())
        .filter(|name| !name.is_empty())
        .collect();
    let allowed: BTreeSet<&str> = ALLOWED.iter().copied().collect();
    let crept_in: Vec<_> = linked.difference(&allowed).collect();
    let gone: Vec<_> = allowed.difference(&linked).collect();
    assert!(crept_in.is_empty(), "not on the list: {crept_in:?}");
    assert!(gone.is_empty(), "on the list and not needed any more: {gone:?}");
}
