//! The page trusts nothing that is written into it.

use callgate_app_tests::app::{Around, scene};
use callgate_tests::gate::OPEN_POLICY;

#[test]
fn nothing_written_into_the_page_runs() {
    scene("csp", OPEN_POLICY, Around::Tray, |app| {
        let attempts = [
            // An inline script.
            "const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s);",
            // A handler in an attribute.
            "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 2\">');",
            // A script from somewhere else.
            "const s = document.createElement('script'); s.src = 'data:text/javascript,window.ran=3'; document.body.append(s);",
            // Text as code, from a script of the page's own kind.
            "const s = document.createElement('script'); s.type = 'module'; s.textContent = 'window.ran = 4'; document.body.append(s);",
            // A frame.
            "const f = document.createElement('iframe'); f.srcdoc = '<script>parent.ran = 5</script>'; document.body.append(f);",
        ];
        let listen = "window.denied = new Set(); addEventListener('securitypolicyviolation', (event) => \
                      window.denied.add(event.effectiveDirective)); return 0";
        app.driver.script(listen, &[])?;
        for attempt in attempts {
            app.driver.script(&format!("{attempt} return 0"), &[])?;
        }
        // Whatever was started is over when a frame has been drawn after it.
        let ran = app.driver.wait("two frames", |driver| {
            let script = "window.frames_seen ??= (requestAnimationFrame(() => requestAnimationFrame(() => \
                          (window.frames_seen = 'yes'))), 'no'); return [window.frames_seen, window.ran ?? 0]";
            let seen = driver.script(script, &[])?;
            Ok((seen[0] == "yes").then(|| seen[1].clone()))
        })?;
        anyhow::ensure!(ran == 0, "attempt {ran} ran");
        let denied = app.driver.script("return [...window.denied].join(' ')", &[])?;
        for directive in ["script-src-elem", "script-src-attr"] {
            anyhow::ensure!(denied.as_str().is_some_and(|all| all.contains(directive)), "denied: {denied}");
        }
        let text_as_code = app.driver.script("try { return eval('1') } catch { return 'denied' }", &[])?;
        anyhow::ensure!(text_as_code == "denied", "eval gave {text_as_code}");
        // Nor does the page leave for somewhere else, or open a window.
        let before = app.driver.script("return location.origin", &[])?;
        app.driver.script(
            "window.open('https://example.com'); location.href = 'https://example.com'; return 0",
            &[],
        )?;
        let after =
            app.driver.wait("still here", |driver| driver.script("return location.origin", &[]).map(Some))?;
        anyhow::ensure!(before == after, "went to {after}");
        Ok(())
    });
}
