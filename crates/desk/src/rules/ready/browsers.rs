//! Rules for browser servers: RunAutomation, playwright-stealth and their kin, and Playwright's own.
//!
//! The rows name each argument that holds an address or a path. A rule for every argument of a kind
//! (`"args": "paths"`, `"args": "urls"`) makes one row of most of them, and sees into lists of objects, which have to be
//! refused here.

use super::conditions::Condition;
use super::conditions::Condition::{Inside, IsNot, NotOutside, Refused, Web, Without};
use super::{Body, Ready, Row, row};

const IN_LISTS: &str = "what it opens and writes stands in lists that no rule looks into";
/// Any of these tells a browser server.
const TELLING: &[&str] = &["playwright_navigate", "browser_navigate"];

pub(super) const RULES: &[Ready] = &[
    Ready {
        id: "output-inside",
        title: "Files are written into one folder only",
        words: "Tests, pictures, PDFs, videos, downloads: each call has to name a place inside the folder, else a server makes and writes any. Page objects (template pom) are refused, because they come with a file in the server's own folder.",
        body: Body::Tools { rows: WRITERS, of: TELLING, at_least: 1 },
    },
    Ready {
        id: "read-inside",
        title: "Files are uploaded and read from one folder only",
        words: "What is uploaded to a page leaves this machine: only files inside the folder are.",
        body: Body::Tools { rows: READERS, of: TELLING, at_least: 1 },
    },
    Ready {
        id: "web-only",
        title: "No local files in the browser",
        words: "Only http and https addresses are opened, by any tool: with file: a page of text, or its picture, is any file of yours.",
        body: Body::Tools { rows: OPENERS, of: TELLING, at_least: 1 },
    },
    Ready {
        id: "one-open-session",
        title: "One open session at a time",
        words: "A second start is refused while a session is open: actions would be recorded in the wrong one.",
        body: Body::Codegen { setting: "one_open_session", tool: "start_codegen_session" },
    },
    Ready {
        id: "own-sessions-only",
        title: "Only own sessions are ended or cleared",
        words: "A client ends and clears the sessions that it started, and no others.",
        body: Body::Codegen { setting: "own_sessions_only", tool: "end_codegen_session" },
    },
    Ready {
        id: "keep-unfinished",
        title: "Recorded actions are not thrown away",
        words: "A session that holds actions is not cleared before it was ended.",
        body: Body::Codegen { setting: "keep_unfinished", tool: "clear_codegen_session" },
    },
];

const WRITERS: &[Row] = &[
    row(
        "start_codegen_session",
        &[
            Inside("options.outputPath"),
            IsNot(
                "options.template",
                "pom",
                "a page object comes with a file outside of the folder; use plain",
            ),
        ],
    ),
    row("playwright_screenshot", &[Inside("downloadsDir"), Condition::plain_name("name")]),
    row("playwright_save_as_pdf", &[Inside("outputPath"), Condition::plain_name("filename")]),
    row("playwright_download_file", &[Inside("savePath")]),
    row("playwright_download_and_extract_pdf", &[Inside("savePath")]),
    row("playwright_extract_pdf_text", &[NotOutside("saveToFile")]),
    row("playwright_create_baseline", &[Inside("outputPath")]),
    // It writes beside the baseline.
    row("playwright_visual_compare", &[Inside("baseline"), NotOutside("diffOutputPath")]),
    row("playwright_ai_visual_compare", &[Inside("baselinePath"), NotOutside("diffPath")]),
    row("playwright_batch_visual_compare", &[Refused(IN_LISTS)]),
    row("playwright_batch_ai_visual_compare", &[Refused(IN_LISTS)]),
    row("playwright_cross_browser_screenshot", &[Inside("outputDir")]),
    row(
        "playwright_run_across_browsers",
        &[IsNot("action", "screenshot", "its pictures go into the server's own folder")],
    ),
    row("playwright_collect_locators", &[Inside("outputDir")]),
    row("playwright_start_video_recording", &[Inside("outputPath")]),
    row("playwright_stop_video_recording", &[NotOutside("customPath")]),
    row("playwright_configure_video_settings", &[NotOutside("outputDir")]),
    row("playwright_get_coverage", &[NotOutside("saveToFile")]),
    row("playwright_generate_coverage_report", &[Inside("outputFile")]),
];

const READERS: &[Row] = &[
    row("playwright_upload_file", &[Inside("filePath")]),
    row("browser_file_upload", &[NotOutside("paths")]),
    row("playwright_visual_compare", &[NotOutside("current")]),
    row("playwright_extract_pdf_text", &[Inside("pdfPath")]),
    row("playwright_validate_pdf_content", &[Inside("pdfPath")]),
    row("playwright_count_pdf_pages", &[Inside("pdfPath")]),
    row("playwright_generate_coverage_report", &[Inside("coverageFile")]),
    row("playwright_compare_coverage", &[Inside("baselinePath"), Inside("currentPath")]),
];

const OPENERS: &[Row] = &[
    row("playwright_navigate", &[Web("url")]),
    row("browser_navigate", &[Web("url")]),
    row("playwright_run_across_browsers", &[Web("url")]),
    row("playwright_cross_browser_screenshot", &[Web("url")]),
    row("playwright_get", &[Web("url")]),
    row("playwright_post", &[Web("url")]),
    row("playwright_put", &[Web("url")]),
    row("playwright_patch", &[Web("url")]),
    row("playwright_delete", &[Web("url")]),
    // It takes a list that its schema does not tell of.
    row(
        "playwright_collect_locators",
        &[Without("urls", "it collects from the page that is open; navigate first")],
    ),
    row("playwright_batch_ai_visual_compare", &[Refused(IN_LISTS)]),
    row("playwright_run_tests_parallel", &[Refused(IN_LISTS)]),
    row("playwright_run_cross_browser", &[Refused(IN_LISTS)]),
];
