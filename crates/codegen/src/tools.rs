//! The tools of the published browser servers (RunAutomation, playwright-stealth, ExecuteAutomation's), as data: which of
//! them a codegen session records, and what a recorded call becomes in a test. docs/codegen.md shows this table.

/// What becomes of a call while a codegen session is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Recorded, and code in the test.
    Code(&'static str),
    /// Recorded, and a comment in the test: it changes nothing on the page, or nothing that a test could do again.
    Comment(&'static str),
    /// No server records it.
    Unrecorded(&'static str),
}

use Fate::{Code, Comment, Unrecorded};

const LOOKS: Fate = Comment("it only looks");
const FILES: Fate = Comment("it works on files, not on the page");
const ELSEWHERE: Fate = Comment("it opens browsers of its own");
const ACCOUNTS: Fate = Comment("it is about the server, not the page");
const COVERAGE: Fate = Comment("it measures, and changes nothing");
const BROWSERS: Fate = Unrecorded("it keeps the server's browsers");

/// Every known tool but the four of codegen sessions themselves. Tools that are not here are recorded, and comments.
pub const TOOLS: &[(&str, Fate)] = &[
    ("playwright_navigate", Code("`page.goto`; width and height of the first one are the size of the page")),
    ("playwright_click", Code("`page.click`")),
    ("playwright_iframe_click", Code("`frameLocator(…).locator(…).click()`")),
    ("playwright_iframe_fill", Code("`frameLocator(…).locator(…).fill(…)`")),
    ("playwright_fill", Code("`page.fill`")),
    ("playwright_select", Code("`page.selectOption`")),
    ("playwright_hover", Code("`page.hover`")),
    ("playwright_upload_file", Code("`page.setInputFiles`")),
    ("playwright_press_key", Code("`page.press`, or `page.keyboard.press` without a selector")),
    ("playwright_drag", Code("`page.dragAndDrop`")),
    ("playwright_drag_to_position", Code("`page.hover`, then `page.mouse` down, move and up")),
    ("playwright_click_and_switch_tab", Code("`page.click`; the test goes on in the new tab")),
    ("playwright_go_back", Code("`page.goBack`")),
    ("playwright_go_forward", Code("`page.goForward`")),
    ("playwright_evaluate", Code("`page.evaluate`")),
    ("playwright_resize", Code("`page.setViewportSize`")),
    (
        "playwright_emulate_device",
        Code("`page.setViewportSize` and headers from `devices`; place and permissions of the context"),
    ),
    ("playwright_custom_user_agent", Code("`test.use({ userAgent })` for the whole test")),
    ("playwright_handle_dialog", Code("`page.once(\"dialog\")` that accepts or dismisses the next one")),
    ("playwright_expect_dialog", Code("`page.waitForEvent(\"dialog\")`, answered, and its message expected")),
    (
        "playwright_download_file",
        Code(
            "`page.waitForEvent(\"download\")` around the click, its name expected, saved among the test's results",
        ),
    ),
    (
        "playwright_download_and_extract_pdf",
        Code("the same as `playwright_download_file`; the text is not read"),
    ),
    ("playwright_copy_to_clipboard", Code("permission, then `navigator.clipboard.writeText`")),
    ("playwright_screenshot", Code("`screenshot` into the test's results")),
    ("playwright_create_baseline", Code("`screenshot` into the test's results")),
    ("playwright_save_as_pdf", Code("`page.pdf` into the test's results")),
    (
        "playwright_start_video_recording",
        Code("a new page at the same address, as the server opens one; no video"),
    ),
    ("playwright_stop_video_recording", Code("a new page at the same address, as the server opens one")),
    ("playwright_get", Code("`request.get`, and the same success expected")),
    ("playwright_post", Code("`request.post` of JSON, and the same success expected")),
    ("playwright_put", Code("`request.put`, and the same success expected")),
    ("playwright_patch", Code("`request.patch`, and the same success expected")),
    ("playwright_delete", Code("`request.delete`, and the same success expected")),
    ("playwright_expect_response", Code("`page.waitForResponse`, if a later call asserts it")),
    ("playwright_assert_response", Code("the response is awaited, and its JSON or its success expected")),
    ("playwright_assert_element_state", Code("`expect(…).toBeVisible()` and its kin")),
    (
        "playwright_assert_element_count",
        Code("`expect(…).toHaveCount(…)`, or `expect.poll` for more and fewer"),
    ),
    ("playwright_assert_text_content", Code("`expect(…).toContainText(…)`, `toHaveText(…)`")),
    ("playwright_assert_attribute", Code("`expect(…).toHaveAttribute(…)`")),
    ("playwright_assert_css_property", Code("`expect(…).toHaveCSS(…)`")),
    (
        "playwright_assert_request_made",
        Code("`page.waitForRequest`; a comment if it did not wait, because then nothing was asserted"),
    ),
    ("playwright_wait_smart", Code("`expect(…).toBeVisible()`, `toBeEnabled()`, `toContainText(…)`")),
    ("playwright_wait_network_idle", Code("`page.waitForLoadState(\"networkidle\")`")),
    ("playwright_wait_element_count", Code("as `playwright_assert_element_count`")),
    ("playwright_wait_attribute", Code("`expect(…).toHaveAttribute(…)`")),
    ("playwright_wait_element_hidden", Code("`expect(…).toBeHidden()`")),
    ("playwright_wait_url", Code("`page.waitForURL`")),
    ("playwright_get_visible_text", LOOKS),
    ("playwright_get_visible_html", LOOKS),
    ("playwright_console_logs", LOOKS),
    ("playwright_read_clipboard", LOOKS),
    ("playwright_get_element_position", LOOKS),
    ("playwright_list_devices", LOOKS),
    ("playwright_get_aria_snapshot", LOOKS),
    ("playwright_check_accessibility", LOOKS),
    ("playwright_check_contrast", LOOKS),
    ("playwright_check_keyboard_navigation", Comment("it looks where the tab key leads")),
    ("playwright_collect_locators", Comment("it writes down what is on the page")),
    (
        "playwright_visual_compare",
        Comment("its baseline is a file of the server; `toHaveScreenshot` makes one of the test's own"),
    ),
    ("playwright_batch_visual_compare", Comment("as `playwright_visual_compare`")),
    ("playwright_ai_visual_compare", Comment("as `playwright_visual_compare`")),
    ("playwright_batch_ai_visual_compare", Comment("as `playwright_visual_compare`")),
    ("playwright_add_video_annotation", Comment("there is no video")),
    ("playwright_configure_video_settings", Comment("there is no video")),
    ("playwright_get_video_status", LOOKS),
    ("playwright_extract_pdf_text", FILES),
    ("playwright_validate_pdf_content", FILES),
    ("playwright_count_pdf_pages", FILES),
    ("playwright_run_across_browsers", ELSEWHERE),
    ("playwright_cross_browser_screenshot", ELSEWHERE),
    ("playwright_run_tests_parallel", ELSEWHERE),
    ("playwright_run_cross_browser", ELSEWHERE),
    ("playwright_start_coverage", COVERAGE),
    ("playwright_get_coverage", COVERAGE),
    ("playwright_generate_coverage_report", FILES),
    ("playwright_compare_coverage", FILES),
    ("playwright_get_resource_usage", ACCOUNTS),
    ("playwright_update_resource_limits", ACCOUNTS),
    ("playwright_recover_session", ACCOUNTS),
    ("playwright_recover_all_sessions", ACCOUNTS),
    ("playwright_get_persistence_stats", ACCOUNTS),
    ("playwright_close", Unrecorded("it closes the browser")),
    ("create_browser_session", BROWSERS),
    ("list_browser_sessions", BROWSERS),
    ("close_browser_session", BROWSERS),
    ("switch_browser_session", BROWSERS),
    ("get_session_info", BROWSERS),
    ("cleanup_idle_sessions", BROWSERS),
];

/// Tools whose answers say how a request came out; nobody needs the others'.
pub const ANSWERED_WITH_A_STATUS: &[&str] = &[
    "playwright_get",
    "playwright_post",
    "playwright_put",
    "playwright_patch",
    "playwright_delete",
    "playwright_assert_response",
];

/// What becomes of calls of this tool, if it is known.
pub fn fate(tool: &str) -> Option<Fate> {
    TOOLS.iter().find(|(name, _)| *name == tool).map(|(_, fate)| *fate)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn the_table_in_the_documentation_is_this_one() {
        let mut table = "| tool | in the exported test |\n|---|---|\n".to_owned();
        for (name, fate) in TOOLS {
            let _ = match fate {
                Code(words) => writeln!(table, "| `{name}` | {words} |"),
                Comment(words) => writeln!(table, "| `{name}` | a comment: {words} |"),
                Unrecorded(words) => writeln!(table, "| `{name}` | not recorded: {words} |"),
            };
        }
        let docs = include_str!("../../../docs/codegen.md");
        assert!(
            docs.replace("\r\n", "\n").contains(&table),
            "docs/codegen.md has to have this table:\n{table}"
        );
    }

    #[test]
    fn every_tool_of_the_stealth_server_is_followed() {
        let catalogue = include_str!("../../risk/catalogue/playwright-stealth.json");
        let tools = catalogue.split('"').filter(|word| word.starts_with("playwright_"));
        let unknown: Vec<&str> = tools.filter(|tool| fate(tool).is_none()).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn each_tool_is_there_once() {
        let mut names: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(ANSWERED_WITH_A_STATUS.iter().all(|tool| matches!(fate(tool), Some(Code(_)))));
    }
}
