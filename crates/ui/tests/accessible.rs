//! Accessibility of every page. axe-core finds no violation of WCAG 2 A and AA in either language
//! and either theme, on a desktop and on a small phone. No page is wider than that phone or a sheet
//! of paper.

use crate::browsing::Reader;
use crate::only_read::LoopDevice;
use crate::pictures::write;
use crate::served::{read, served};
use kurabe_testkit::needs::{LOOP_DEVICE, skip};
use serde_json::json;
use std::path::{Path, PathBuf};

/// A desktop window.
const DESK: (u32, u32) = (1280, 900);
/// A small phone.
const PHONE: (u32, u32) = (360, 740);
/// A4 at 96 dpi, minus margins of 1 cm.
const PAPER: (u32, u32) = (718, 1047);

/// Returns the script of axe-core, from the folder that `KURABE_AXE` names, or from target/axe,
/// which `.ci/packages` fills.
fn axe() -> Option<String> {
    let usual = || Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("axe");
    let folder = std::env::var_os("KURABE_AXE").map_or_else(usual, PathBuf::from);
    std::fs::read_to_string(folder.join("axe.min.js")).ok()
}

/// Runs the rules on the current page and returns the violations, one line for each element.
fn violations(reader: &Reader, axe: &str) -> Vec<String> {
    let is_in = reader.browser.run("return Boolean(window.axe)");
    if is_in != true {
        reader.browser.run(axe);
    }
    let script = format!(
        "const done = arguments[0];
         axe.run(document, {{ runOnly: {RULES}, resultTypes: ['violations'] }}).then(({{ violations }}) =>
             done(violations.flatMap((rule) => rule.nodes.map((node) =>
                 `${{rule.impact}} ${{rule.id}}: ${{node.html.slice(0, 200)}} (${{node.failureSummary.split('\\n')[1]?.trim()}})`))),
             (error) => done([String(error)]))"
    );
    let lines = reader.browser.run_later(&script);
    lines.as_array().expect("a list").iter().filter_map(|line| line.as_str().map(str::to_owned)).collect()
}

const RULES: &str =
    "{ type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }";

/// Violations found in one language so far.
struct Looked {
    reader: Reader,
    axe: String,
    lang: &'static str,
    wrong: Vec<String>,
}

impl Looked {
    /// Opens a page in the language.
    fn shown(&self, path: &str, selector: &str) {
        self.reader.go(&format!("/choose/lang/{}?back={}", self.lang, path.replace('&', "%26")));
        self.reader.wait_for(selector);
        assert_eq!(self.reader.words("document.documentElement.lang"), self.lang, "{path}");
    }

    /// Saves a screenshot of the current page in target/tmp/pages for inspection.
    fn keep(&self, name: &str, width: u32) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
        write(&self.reader, &folder, &format!("{}-{}-{width}", file_name(name), self.lang));
    }

    /// Checks the current page in both themes and at both widths, and whether it fits the phone and
    /// a sheet of paper.
    fn check(&mut self, name: &str) {
        let browser = &self.reader.browser;
        // Collapsed parts are checked as well.
        browser.run(
            "for (const part of document.querySelectorAll('details')) { part.removeAttribute('name'); \
             part.open = true; }",
        );
        for (media, (width, height)) in [("screen", DESK), ("screen", PHONE), ("print", PAPER)] {
            browser.devtools("Emulation.setEmulatedMedia", &json!({ "media": media }));
            browser.resize(width, height);
            // The screenshots use the last theme.
            let themes = if self.lang == "en" { ["dark", "light"] } else { ["light", "dark"] };
            for theme in themes.into_iter().filter(|_| media == "screen") {
                browser.run(&format!("document.documentElement.dataset.theme = '{theme}'"));
                let lines = violations(&self.reader, &self.axe);
                self.wrong.extend(lines.iter().map(|line| format!("{name}, {width} px, {theme}: {line}")));
            }
            let lines = browser.run(TOO_WIDE);
            let lines = lines.as_array().expect("a list").iter();
            self.wrong.extend(lines.map(|line| format!("{name}, {media}, {width} px: {line}")));
            self.keep(name, width);
        }
        browser.devtools("Emulation.setEmulatedMedia", &json!({ "media": "" }));
        browser.resize(DESK.0, DESK.1);
    }
}

/// Returns a file name derived from a page's address.
pub fn file_name(path: &str) -> String {
    path.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).take(40).collect()
}

/// Returns the elements that extend beyond the window, if they make the page scroll sideways.
const TOO_WIDE: &str = "const most = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= most) return [];
    return [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > most + 1
        && !element.closest('.scroll')).slice(0, 5).map((element) => element.outerHTML.slice(0, 160))
        .concat('the page is ' + document.documentElement.scrollWidth + ' wide')";

/// Returns the pages to check: a path, and a selector that exists when the page is complete.
pub fn pages(runs: &[String]) -> Vec<(String, &'static str)> {
    let [one, other] = runs else { panic!("two runs") };
    let compared = format!("/compare?run={one}&run={other}");
    vec![
        ("/runs".to_owned(), "main table"),
        ("/runs?q=nothing-has-this".to_owned(), ".empty"),
        (format!("/runs/{one}"), ".tabs"),
        (format!("/runs/{one}?tab=charts"), "#part-charts svg"),
        (format!("/runs/{one}?tab=why"), "#part-why"),
        (format!("/runs/{one}?tab=environment"), "#part-environment"),
        (format!("/runs/{one}?tab=card"), "#part-card"),
        (compared.clone(), ".tabs"),
        (format!("{compared}&tab=charts"), "#part-charts svg"),
        (format!("{compared}&figure=p99"), ".chips"),
        (format!("{compared}&model=hdd-nas&entry=cdm-9/samsung-990-pro-2tb"), ".answer"),
        (format!("{compared}&use=swap"), ".sliders"),
        ("/matrix".to_owned(), "main table"),
        ("/history".to_owned(), "main h1"),
        ("/models".to_owned(), "#list:not([data-waits]) table"),
        ("/models/mirror3-usb".to_owned(), "#movers:not([hidden])"),
        ("/models/compare?model=samsung-870-evo&model=hua722020-usb".to_owned(), ".answer"),
        ("/studies".to_owned(), "ul.models"),
        ("/studies/raid-strip".to_owned(), ".verdicts"),
        ("/studies/scsi-emulators".to_owned(), ".verdicts"),
        ("/catalogue".to_owned(), "main table"),
        ("/catalogue?q=nothing-has-this".to_owned(), ".empty"),
        ("/catalogue/cdm-9/samsung-990-pro-2tb".to_owned(), ".entry"),
        ("/served".to_owned(), "#served dl"),
        ("/nowhere".to_owned(), "main h1"),
        ("/runs/zzzz".to_owned(), "main h1"),
        ("/compare".to_owned(), "main h1"),
    ]
}

/// Checks every page in a language.
fn is_for_everybody(lang: &'static str) {
    let Some(reader) = Reader::new() else { return };
    let Some(axe) = axe() else {
        return skip("needs axe-core, which .ci/packages fetches");
    };
    let mut looked = Looked { reader, axe, lang, wrong: Vec::new() };
    // The sign-in page in this language, which a cookie without rights selects.
    looked.reader.go("/assets/");
    let prepared =
        format!("document.cookie = 'kurabe-lang={lang}; path=/'; sessionStorage.setItem('knocked', '1')");
    looked.reader.browser.run(&prepared);
    looked.reader.go("/");
    looked.reader.wait_for("#door");
    looked.check("door");
    looked.reader.browser.open(&looked.reader.page.launch_address);
    looked.reader.wait_for("#measure");
    looked.check("before a run");
    looked.reader.start("default", 9);
    looked.reader.wait_for(".tile.now");
    looked.check("during a run");
    assert_eq!(looked.reader.count("#board .after"), 0, "the run went on meanwhile");
    looked.reader.browser.click("#stop");
    looked.reader.wait_for("#board .after");
    let runs = ["samsung-870-evo", "intel-x25m-g2"].map(|model| looked.reader.measured(model));
    looked.shown("/served", "#served .empty");
    looked.check("nothing served");
    looked.reader.browser.click("[popovertarget=keys]");
    looked.reader.wait_for("#keys:popover-open");
    looked.check("keys");
    let (_server, socket) = served(looked.reader.page.folder(), "samsung-870-evo");
    read(&socket, 40);
    looked.shown("/", "#board .after");
    looked.check("after a run");
    let image = looked.reader.page.folder().join("image");
    std::fs::File::create(&image).and_then(|image| image.set_len(64 << 20)).expect("an image");
    match LoopDevice::over(&image) {
        Some(device) => {
            looked.reader.measured_by(&device.0, "gnome-disks", "1");
            looked.shown(&format!("/drive?target={}", device.0.replace('/', "%2F")), "#past svg");
            looked.check("a drive");
        }
        None => {
            skip(LOOP_DEVICE);
        }
    }
    for (path, selector) in pages(&runs) {
        looked.shown(&path, selector);
        looked.check(&path);
    }
    assert!(looked.wrong.is_empty(), "{} in {lang}:\n{}", looked.wrong.len(), looked.wrong.join("\n"));
}

#[test]
#[ignore = "slow"]
fn every_english_page_is_for_everybody() {
    is_for_everybody("en");
}

#[test]
#[ignore = "slow"]
fn every_japanese_page_is_for_everybody() {
    is_for_everybody("ja");
}
