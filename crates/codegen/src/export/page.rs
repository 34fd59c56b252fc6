//! What an agent does with the page: navigation, input, dialogs, downloads, devices, pictures.

use super::step::{Call, Step, braced, with};
use crate::export::literal::literal;

/// What `page.goto` takes; another word is an error there.
const WAIT_UNTIL: [&str; 4] = ["load", "domcontentloaded", "networkidle", "commit"];

impl Call<'_, '_> {
    pub(super) fn page(&mut self, tool: &str) -> Option<Step> {
        let number = self.number;
        let selected = |call: &mut Self, method: &str| {
            Some(Step::from(format!("await page.{method}({});", call.text("selector")?)))
        };
        let line = match tool {
            "playwright_navigate" => {
                let url = self.text("url")?;
                let until = self.word("waitUntil").filter(|word| WAIT_UNTIL.contains(&word.as_str()));
                let until = until.map(|word| format!("waitUntil: {}", literal(&word)));
                format!("await page.goto({url}{});", self.with_timeout(until.into_iter().collect()))
            }
            "playwright_click" => return selected(self, "click"),
            "playwright_hover" => return selected(self, "hover"),
            "playwright_fill" => {
                format!("await page.fill({}, {});", self.text("selector")?, self.text("value")?)
            }
            "playwright_select" => {
                format!("await page.selectOption({}, {});", self.text("selector")?, self.texts("value")?)
            }
            "playwright_upload_file" => {
                format!("await page.setInputFiles({}, {});", self.text("selector")?, self.texts("filePath")?)
            }
            "playwright_press_key" => match self.text("selector") {
                Some(selector) => format!("await page.press({selector}, {});", self.text("key")?),
                None => format!("await page.keyboard.press({});", self.text("key")?),
            },
            "playwright_drag" => {
                let (from, to) = (self.text("sourceSelector")?, self.text("targetSelector")?);
                format!("await page.dragAndDrop({from}, {to});")
            }
            "playwright_drag_to_position" => return self.drag_to_position(),
            "playwright_iframe_click" => format!("await {}.click();", self.framed()?),
            "playwright_iframe_fill" => format!("await {}.fill({});", self.framed()?, self.text("value")?),
            "playwright_click_and_switch_tab" => {
                let selector = self.text("selector")?;
                return Some(Step::Code(vec![
                    format!(
                        "[page] = await Promise.all([page.context().waitForEvent(\"page\"), page.click({selector})]);"
                    ),
                    "await page.waitForLoadState(\"domcontentloaded\");".to_owned(),
                ]));
            }
            "playwright_go_back" => "await page.goBack();".to_owned(),
            "playwright_go_forward" => "await page.goForward();".to_owned(),
            "playwright_evaluate" => format!("await page.evaluate({});", self.text("script")?),
            "playwright_resize" => match (self.number("width"), self.number("height")) {
                (Some(width), Some(height)) => {
                    format!("await page.setViewportSize({{ width: {width}, height: {height} }});")
                }
                _ => return self.resize_to_device().map(Step::Code),
            },
            "playwright_emulate_device" => return self.emulate_device(),
            "playwright_handle_dialog" => {
                format!("page.once(\"dialog\", (dialog) => dialog.{});", self.dialog_answer(None)?)
            }
            "playwright_expect_dialog" => return self.expect_dialog(),
            "playwright_download_file" | "playwright_download_and_extract_pdf" => return self.download(),
            "playwright_copy_to_clipboard" => {
                let text = self.text("text")?;
                return Some(Step::Code(vec![
                    "await page.context().grantPermissions([\"clipboard-read\", \"clipboard-write\"]);"
                        .to_owned(),
                    format!("await page.evaluate((text) => navigator.clipboard.writeText(text), {text});"),
                ]));
            }
            "playwright_screenshot" | "playwright_create_baseline" => {
                let mut options = vec![format!("path: {}", self.own_file("png"))];
                let of = match self.text("selector") {
                    Some(selector) => format!("page.locator({selector}).first()"),
                    None => {
                        options.extend(self.flag("fullPage").map(|full| format!("fullPage: {full}")));
                        "page".to_owned()
                    }
                };
                format!("await {of}.screenshot({});", braced(&options))
            }
            "playwright_save_as_pdf" => {
                let mut options = vec![format!("path: {}", self.own_file("pdf"))];
                options.extend(self.text("format").map(|format| format!("format: {format}")));
                options.extend(self.flag("printBackground").map(|print| format!("printBackground: {print}")));
                format!("await page.pdf({});", braced(&options))
            }
            // The server goes on in a new page of a new context, without the old one's cookies.
            "playwright_start_video_recording" | "playwright_stop_video_recording" => {
                return Some(Step::Code(vec![
                    format!("const address{number} = page.url();"),
                    "await page.close();".to_owned(),
                    "page = await browser.newPage();".to_owned(),
                    format!("await page.goto(address{number}, {{ waitUntil: \"domcontentloaded\" }});"),
                ]));
            }
            _ => return None,
        };
        Some(line.into())
    }

    /// The size that a browser is opened with, if the call names one.
    pub(super) fn viewport(&self) -> Option<String> {
        let (width, height) = (self.number("width"), self.number("height"));
        if width.is_none() && height.is_none() {
            return None;
        }
        // As the servers complete it.
        let (width, height) =
            (width.unwrap_or_else(|| "1280".into()), height.unwrap_or_else(|| "720".into()));
        Some(format!("{{ width: {width}, height: {height} }}"))
    }

    fn framed(&mut self) -> Option<String> {
        let (frame, selector) = (self.text("iframeSelector")?, self.text("selector")?);
        Some(format!("page.frameLocator({frame}).locator({selector})"))
    }

    fn drag_to_position(&mut self) -> Option<Step> {
        let source = self.text("sourceSelector")?;
        let (x, y) = (self.number("targetX")?, self.number("targetY")?);
        let steps = self.number("steps").unwrap_or_else(|| "10".to_owned());
        Some(Step::Code(vec![
            format!("await page.hover({source});"),
            "await page.mouse.down();".to_owned(),
            format!("await page.mouse.move({x}, {y}, {{ steps: {steps} }});"),
            "await page.mouse.up();".to_owned(),
        ]))
    }

    /// `accept("yes")`
    fn dialog_answer(&mut self, otherwise: Option<&str>) -> Option<String> {
        let word = self.word("action");
        Some(match word.as_deref().or(otherwise)? {
            "accept" => format!("accept({})", self.text("promptText").unwrap_or_default()),
            "dismiss" => "dismiss()".to_owned(),
            _ => return None,
        })
    }

    fn expect_dialog(&mut self) -> Option<Step> {
        let answer = self.dialog_answer(Some("accept"))?;
        let message = self.text("expectedMessage")?;
        let name = format!("dialog{}", self.number);
        let matcher = if self.flag("exactMatch") == Some(false) { "toContain" } else { "toBe" };
        let timeout = self.with_timeout(Vec::new());
        Some(Step::Watch {
            begin: format!(
                "const {name} = page.waitForEvent(\"dialog\"{timeout}).then(async (dialog) => {{ await dialog.{answer}; return dialog.message(); }});"
            ),
            end: format!("expect(await {name}).{matcher}({message});"),
        })
    }

    fn download(&mut self) -> Option<Step> {
        let trigger = self.text("triggerSelector")?;
        let name = format!("download{}", self.number);
        let mut lines = vec![
            format!("const {name} = page.waitForEvent(\"download\"{});", self.with_timeout(Vec::new())),
            format!("await page.click({trigger});"),
        ];
        let expected = self.text("expectedFileName");
        lines
            .extend(expected.map(|file| format!("expect((await {name}).suggestedFilename()).toBe({file});")));
        lines.push(format!("await (await {name}).saveAs({});", self.own_file("download")));
        Some(Step::Code(lines))
    }

    fn resize_to_device(&mut self) -> Option<Vec<String>> {
        let (device, name) = (self.text("device")?, format!("device{}", self.number));
        let turned = format!("{{ width: {name}.viewport.height, height: {name}.viewport.width }}");
        let landscape = self.word("orientation").as_deref() == Some("landscape");
        let size = if landscape { turned } else { format!("{name}.viewport") };
        Some(vec![
            format!("const {name} = devices[{device}];"),
            format!("await page.setViewportSize({size});"),
        ])
    }

    /// Headers are the context's as a whole: the server sets those of the language over those of the device.
    fn emulate_device(&mut self) -> Option<Step> {
        let mut lines = self.resize_to_device()?;
        let headers = match self.text("locale") {
            Some(locale) => format!("\"Accept-Language\": {locale}"),
            None => format!("\"User-Agent\": device{}.userAgent", self.number),
        };
        lines.push(format!("await page.context().setExtraHTTPHeaders({{ {headers} }});"));
        let place = [self.args.get("geolocation")].into_iter().flatten().find_map(|place| {
            let of = |name: &str| place.get(name)?.as_number().map(|number| format!("{name}: {number}"));
            let mut members = vec![of("latitude")?, of("longitude")?];
            members.extend(of("accuracy"));
            Some(with(&members))
        });
        if let Some(place) = place {
            lines.push(format!("await page.context().setGeolocation({});", place.trim_start_matches(", ")));
        }
        let permissions = self.texts("permissions").filter(|list| list.starts_with('['));
        lines.extend(permissions.map(|list| format!("await page.context().grantPermissions({list});")));
        Some(Step::Code(lines))
    }
}
