//! Rules for the other common kinds of servers: files, code hosting, databases, fetching.

use super::conditions::Condition::{self, Inside, Matches, MatchesNot, Refused};
use super::{Body, Ready, Row, row};

const READ_ONLY: &[Condition] = &[Refused("the user lets this server read only")];
const NO_DELETING: &[Condition] = &[Refused("the user lets nothing be deleted here")];
const NO_MERGING: &[Condition] = &[Refused("the user merges by hand")];
const PATH: &[Condition] = &[Inside("path")];

/// Tools of file servers. Two of them tell one.
const FILES: &[&str] = &[
    "read_file",
    "read_text_file",
    "read_multiple_files",
    "write_file",
    "edit_file",
    "list_directory",
    "directory_tree",
    "search_files",
    "move_file",
];
const CODE_HOSTING: &[&str] = &[
    "create_pull_request",
    "list_pull_requests",
    "merge_pull_request",
    "get_merge_request",
    "create_merge_request",
];
const SQL_TOOLS: &[&str] = &[
    "query",
    "read_query",
    "execute_sql",
    "execute_query",
    "run_query",
    "run_sql",
    "sql_query",
    "mysql_query",
];

pub(super) const RULES: &[Ready] = &[
    Ready {
        id: "files-read-only",
        title: "Files are read and never written",
        words: "Writing, editing, moving and deleting are refused.",
        body: Body::Tools { rows: FILE_WRITERS, of: FILES, at_least: 2 },
    },
    Ready {
        id: "files-inside",
        title: "Files of one folder only",
        words: "Every path has to lead into the folder, links followed, for reading as for writing.",
        body: Body::Tools { rows: FILE_PATHS, of: FILES, at_least: 2 },
    },
    Ready {
        id: "hosting-no-deletes",
        title: "Nothing is deleted",
        words: "Tools that delete or remove something of a repository are refused.",
        body: Body::Tools { rows: DELETERS, of: CODE_HOSTING, at_least: 1 },
    },
    Ready {
        id: "hosting-no-merges",
        title: "Nothing is merged",
        words: "Pull requests are opened and reviewed; merging them stays with you.",
        body: Body::Tools { rows: MERGERS, of: CODE_HOSTING, at_least: 1 },
    },
    Ready {
        id: "sql-select-only",
        title: "SELECT only",
        words: "One statement a call, which begins with SELECT, SHOW or DESCRIBE; tools that only write are refused. A function that a SELECT calls can still do things: an account that may only read is safer.",
        body: Body::Tools { rows: SQL, of: SQL_TOOLS, at_least: 1 },
    },
    Ready {
        id: "fetch-https-only",
        title: "Only https addresses are fetched",
        words: "Everything else, http included, is refused.",
        body: Body::Tools { rows: HTTPS, of: &["fetch", "fetch_url"], at_least: 1 },
    },
    Ready {
        id: "fetch-public-only",
        title: "No addresses of this machine or network",
        words: "localhost, numbers in place of names, and names such as router.lan are refused. A public name can still stand for a private address: only the network can keep that out.",
        body: Body::Tools { rows: PUBLIC, of: &["fetch", "fetch_url"], at_least: 1 },
    },
];

const FILE_WRITERS: &[Row] = &[
    row("write_file", READ_ONLY),
    row("edit_file", READ_ONLY),
    row("create_file", READ_ONLY),
    row("append_file", READ_ONLY),
    row("create_directory", READ_ONLY),
    row("move_file", READ_ONLY),
    row("copy_file", READ_ONLY),
    row("delete_*", READ_ONLY),
    row("remove_*", READ_ONLY),
];

const FILE_PATHS: &[Row] = &[
    Row { tool: "read_multiple_files", takes: "paths", conditions: &[Inside("paths")] },
    Row { tool: "move_file", takes: "source", conditions: &[Inside("source"), Inside("destination")] },
    Row { tool: "copy_file", takes: "source", conditions: &[Inside("source"), Inside("destination")] },
    Row { tool: "read_*", takes: "path", conditions: PATH },
    Row { tool: "write_*", takes: "path", conditions: PATH },
    Row { tool: "edit_*", takes: "path", conditions: PATH },
    Row { tool: "create_*", takes: "path", conditions: PATH },
    Row { tool: "append_*", takes: "path", conditions: PATH },
    Row { tool: "delete_*", takes: "path", conditions: PATH },
    Row { tool: "remove_*", takes: "path", conditions: PATH },
    Row { tool: "list_directory*", takes: "path", conditions: PATH },
    Row { tool: "directory_tree", takes: "path", conditions: PATH },
    Row { tool: "search_files", takes: "path", conditions: PATH },
    Row { tool: "get_file_info", takes: "path", conditions: PATH },
];

const DELETERS: &[Row] = &[row("delete_*", NO_DELETING), row("remove_*", NO_DELETING)];

const MERGERS: &[Row] = &[
    row("merge_*", NO_MERGING),
    row("accept_merge_request", NO_MERGING),
    row("enable_pull_request_auto_merge", NO_MERGING),
];

const SELECT: &str = r"(?is)^\s*(select|show|describe|desc)\b[^;]*;?\s*$";
const ONE_SELECT: &str = "one SELECT statement is asked for";

const SQL: &[Row] = &[
    Row { tool: "*query", takes: "sql", conditions: &[Matches("sql", SELECT, ONE_SELECT)] },
    Row { tool: "*sql", takes: "sql", conditions: &[Matches("sql", SELECT, ONE_SELECT)] },
    row("write_query", READ_ONLY),
    Row { tool: "*query", takes: "query", conditions: &[Matches("query", SELECT, ONE_SELECT)] },
    Row { tool: "*sql", takes: "query", conditions: &[Matches("query", SELECT, ONE_SELECT)] },
    row("create_table", READ_ONLY),
    row("alter_table", READ_ONLY),
    row("drop_*", READ_ONLY),
    row("insert_*", READ_ONLY),
    row("update_*", READ_ONLY),
    row("delete_*", READ_ONLY),
    row("truncate_*", READ_ONLY),
];

const HTTPS: &[Row] = &[
    Row {
        tool: "fetch",
        takes: "url",
        conditions: &[Matches("url", "^(?i:https)://", "only https is fetched")],
    },
    Row {
        tool: "fetch_url",
        takes: "url",
        conditions: &[Matches("url", "^(?i:https)://", "only https is fetched")],
    },
];

/// A name with a dot and letters at its end, without a user before it.
const NAME: &str = r"^(?i:https?)://([A-Za-z0-9_-]+\.)+[A-Za-z][A-Za-z0-9-]+(:[0-9]+)?([/?#]|$)";
const HERE: &str =
    r"^(?i)https?://[^/?#]*\.(local|localhost|internal|intranet|lan|home|corp|arpa|test)(:[0-9]+)?([/?#]|$)";
const PUBLIC_ONLY: &[Condition] = &[
    Matches("url", NAME, "only public names are fetched"),
    MatchesNot("url", HERE, "only public names are fetched"),
];

const PUBLIC: &[Row] = &[
    Row { tool: "fetch", takes: "url", conditions: PUBLIC_ONLY },
    Row { tool: "fetch_url", takes: "url", conditions: PUBLIC_ONLY },
];
