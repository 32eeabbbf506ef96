//! A reader with Chromium: the pressed keys and the resulting pages. Every flow works with the
//! keyboard alone.

use crate::client::Served;
use crate::line::Line;
use kurabe_testkit::browser::{Browser, keys};
use kurabe_testkit::needs::skip;
use serde_json::{Value, json};

/// A reader with a separate page and browser.
pub struct Reader {
    pub page: Served,
    pub browser: Browser,
}

impl Reader {
    /// Returns `None`, with a printed reason, if there is no browser.
    pub fn new() -> Option<Self> {
        match Browser::start() {
            Ok(browser) => Some(Self { page: Served::new(), browser }),
            Err(why) => {
                skip(why);
                None
            }
        }
    }

    /// Returns a reader who has signed in with the launch address.
    pub fn inside() -> Option<Self> {
        let reader = Self::new()?;
        reader.browser.open(&reader.page.launch_address);
        reader.browser.wait_until("document.querySelector('#measure')");
        Some(reader)
    }

    /// Opens a path of the page.
    pub fn go(&self, path: &str) {
        self.browser.open(&format!("http://{}{path}", self.page.host()));
    }

    pub fn words(&self, expression: &str) -> String {
        self.browser.run(&format!("return {expression}")).as_str().unwrap_or_default().to_owned()
    }

    pub fn count(&self, selector: &str) -> u64 {
        self.browser
            .run(&format!("return document.querySelectorAll({selector:?}).length"))
            .as_u64()
            .unwrap_or(0)
    }

    pub fn wait_for(&self, selector: &str) {
        self.browser.wait_until(&format!("document.querySelector({selector:?})"));
    }

    /// Measures a model to its end in the background and returns the run's id.
    pub fn measured(&self, model: &str) -> String {
        self.measured_by(&format!("model:{model}"), "quick", "2")
    }

    /// Measures any target to its end with a profile and returns the run's id.
    pub fn measured_by(&self, target: &str, profile: &str, runs: &str) -> String {
        let script = format!(
            "const done = arguments[0];
             fetch('/measure', {{ method: 'POST', headers: {{ 'Content-Type': 'application/json' }},
                 body: JSON.stringify({{ target: '{target}', profile: '{profile}', size: '16MiB', runs: '{runs}' }}) }})
                 .then((answer) => answer.json()).then(async ({{ run }}) => {{
                     let board = '';
                     while (!board.includes('class=\"after\"')) board = await (await fetch('/board')).text();
                     done(run);
                 }});"
        );
        self.browser.run_later(&script).as_str().expect("an id").to_owned()
    }

    /// Starts a run on a real file system with the form, which must be visible.
    pub fn start(&self, profile: &str, runs: u32) {
        let folder = self.page.folder().join("work");
        std::fs::create_dir_all(&folder).expect("a folder");
        let fields = [("profile", profile), ("size", "16MiB"), ("runs", &runs.to_string())];
        for (name, value) in fields {
            self.browser
                .run(&format!("document.querySelector('#measure').elements['{name}'].value = '{value}'"));
        }
        self.browser.run(&format!("document.querySelector('#measure').elements.target.value = {folder:?}"));
        self.browser.click("#all");
        self.wait_for("#board [data-goes-on]");
    }

    /// Checks that the console has only the expected messages: no exceptions, no violations of the
    /// content security policy.
    pub fn console_is_clean(&self, expected: &[&str]) {
        let lines = self.browser.console();
        let strange: Vec<&String> =
            lines.iter().filter(|line| !expected.iter().any(|expected| line.contains(expected))).collect();
        assert!(strange.is_empty(), "{strange:#?}");
    }
}

/// Console message about the sign-in page, which has an error status.
pub const DOOR: &str = "401 (Unauthorized)";

/// Creates a folder on a real file system.
fn folder(reader: &Reader) -> String {
    let folder = reader.page.folder().join("measured");
    std::fs::create_dir(&folder).expect("a folder");
    folder.to_str().expect("a path").to_owned()
}

/// Fills the form with the keyboard alone, up to the start button.
fn fill_form(reader: &Reader, target: &str, profile: &str, runs: &str) {
    let browser = &reader.browser;
    browser.tab_to("#measure input[name=target]");
    browser.type_keys(target);
    // A list selects the entry that begins with the typed letters: of the profile, its name for
    // readers.
    let words = if profile == "default" { "Standard" } else { profile };
    for (name, words, value) in [("profile", words, profile), ("size", "16M", "16M"), ("runs", runs, runs)] {
        if name == "size" {
            browser.tab_to("#options summary");
            browser.type_keys(keys::ENTER);
        }
        browser.tab_to(&format!("#measure select[name={name}]"));
        browser.type_keys(words);
        browser.wait_until(&format!("document.activeElement.value.startsWith('{value}')"));
    }
    browser.wait_until("/About .* Writes|Only reads/.test(document.querySelector('#plan').textContent)");
    browser.tab_to("#all");
}

#[test]
#[ignore = "slow"]
fn a_run_is_started_by_keys_and_its_tiles_fill() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    assert_eq!(reader.words("location.hash + location.search"), "", "the word is gone from the address");
    assert_eq!(reader.words("document.cookie"), "", "no script reads the cookie");
    fill_form(&reader, &folder(&reader), "quick", "1");
    browser.run("window.lines = []; new MutationObserver(() => lines.push(document.querySelector('#say').textContent))
         .observe(document.querySelector('#say'), { childList: true, characterData: true, subtree: true })");
    browser.type_keys(keys::ENTER);
    // Selects another unit by key. The button keeps the focus while the tiles fill.
    reader.wait_for("#board .units");
    browser.tab_to("#board [data-unit=iops]");
    browser.type_keys(" ");
    reader.wait_for("#board .tile.done");
    reader.wait_for("#board .after");
    assert_eq!(reader.words("document.activeElement.dataset.unit"), "iops");
    assert_eq!(reader.words("document.querySelector('#board .status').textContent"), "complete");
    assert_eq!(reader.count("#board .tile.done"), 6);
    let figures = browser.run(
        "return [...document.querySelectorAll('.tile.done .u-rate b')]\
         .map((b) => Number(b.textContent.replace(',', '')))",
    );
    assert!(
        figures
            .as_array()
            .is_some_and(|all| all.len() == 6 && all.iter().all(|figure| figure.as_f64() > Some(0.0))),
        "{figures}"
    );
    browser.wait_until(
        "lines.some((line) => line.includes('the run is complete')) \
         && lines.some((line) => /MB|GB/.test(line))",
    );
    assert_eq!(
        reader.words("getComputedStyle(document.querySelector('.tile.done .u-iops')).display"),
        "inline"
    );
    assert_eq!(
        reader.words("getComputedStyle(document.querySelector('.tile.done .u-rate')).display"),
        "none"
    );
    let left: Vec<_> =
        std::fs::read_dir(reader.page.folder().join("measured")).expect("the folder").collect();
    assert!(left.is_empty(), "{left:?}");
    card_loads(&reader);
    reader.console_is_clean(&[DOOR]);
}

/// A key press while the tiles fill is not lost when the board replaces the button.
#[test]
#[ignore = "slow"]
fn what_is_held_down_while_tiles_fill_is_pressed() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    fill_form(&reader, &folder(&reader), "quick", "1");
    browser.type_keys(keys::ENTER);
    reader.wait_for("#board .units");
    browser.tab_to("#board [data-unit=iops]");
    let space = |kind: &str| json!({ "type": kind, "key": " ", "code": "Space", "text": " ", "windowsVirtualKeyCode": 32 });
    browser.devtools("Input.dispatchKeyEvent", &space("keyDown"));
    let over = "const done = arguments[0]; const look = async () => {
            const board = await (await fetch('/board')).text();
            setTimeout(board.includes('class=\"after\"') ? done : look, 500);
        }; look()";
    browser.run_later(over);
    browser.devtools("Input.dispatchKeyEvent", &space("keyUp"));
    browser.wait_until("document.body.dataset.unit === 'iops'");
    reader.wait_for("#board .after");
    assert_eq!(reader.words("document.activeElement.dataset.unit"), "iops");
}

/// Follows the link from the tiles to the run, and checks that its card is a picture.
fn card_loads(reader: &Reader) {
    reader.browser.tab_to("#board .ways a[href^='/runs/']");
    reader.browser.type_keys(keys::ENTER);
    reader.wait_for(".tabs");
    reader.browser.tab_to(".tabs #card");
    reader.browser.type_keys(keys::ENTER);
    reader.wait_for("#part-card img");
    reader.browser.wait_until(
        "[...document.querySelectorAll('#part-card img')]\
         .every((card) => card.complete && card.naturalWidth === 1200)",
    );
    assert_eq!(reader.count("#part-card img"), 4);
}

#[test]
fn a_run_is_stopped_and_kept() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    fill_form(&reader, &folder(&reader), "default", "3");
    browser.type_keys(keys::ENTER);
    // One cell is complete. Seven more take several seconds each.
    reader.wait_for("#board .tile.done");
    browser.tab_to("#stop");
    browser.type_keys(keys::ENTER);
    reader.wait_for("#board .after");
    let status = reader.words("document.querySelector('#board .status').textContent");
    assert_eq!(status, "stopped; the results so far are saved");
    let kept = reader.count("#board .tile.done");
    assert!((1..8).contains(&kept), "{kept}");
    assert_eq!(
        browser
            .run("return document.querySelector('#stop').hidden && !document.querySelector('#all').disabled"),
        true
    );
    let left: Vec<_> =
        std::fs::read_dir(reader.page.folder().join("measured")).expect("the folder").collect();
    assert!(left.is_empty(), "the test file is taken away: {left:?}");
    // The stored run equals the one on the tiles.
    browser.tab_to("#board .ways a[href^='/runs/']");
    browser.type_keys(keys::ENTER);
    reader.wait_for(".tabs");
    let script = "const done = arguments[0]; \
                  fetch(location.pathname + '/record.json').then((answer) => answer.json()).then(done)";
    let record = &browser.run_later(script)["run"];
    assert_eq!(record["status"], "interrupted");
    assert_eq!(record["cells"].as_array().map(|cells| cells.len() as u64), Some(kept));
    reader.console_is_clean(&[DOOR]);
}

#[test]
#[ignore = "slow"]
fn what_was_unfolded_stays_so_while_tiles_fill() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    // A remark at the beginning says that nothing is written to an existing file.
    let file = reader.page.folder().join("precious");
    std::fs::write(&file, vec![7; 16 << 20]).expect("a file");
    fill_form(&reader, file.to_str().expect("a path"), "quick", "3");
    browser.type_keys(keys::ENTER);
    reader.wait_for("#remarks");
    browser.tab_to("#remarks");
    browser.type_keys(keys::ENTER);
    browser.wait_until("document.querySelector('#remarks').parentElement.open");
    reader.wait_for("#board .after");
    assert_eq!(browser.run("return document.querySelector('#remarks').parentElement.open"), true);
    assert_eq!(reader.words("document.activeElement.id"), "remarks");
    reader.console_is_clean(&[DOOR]);
}

#[test]
#[ignore = "slow"]
fn configurations_of_a_target_take_turns() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    // A RAM model would process a million requests per second.
    browser.press("#measure input[name=target]", "model:samsung-fit-plus-exfat");
    browser.run("document.querySelector('#measure select[name=profile]').value = 'quick'");
    browser.tab_to("#vary summary");
    browser.type_keys(keys::ENTER);
    browser.tab_to("#vary [data-vary=bs]");
    browser.type_keys("4k");
    // A single value is nothing to compare.
    browser.wait_until("document.querySelector('#plan').textContent.includes('cannot be compared')");
    browser.type_keys(",16k");
    let command = "document.querySelector('#plan code')?.textContent";
    browser.wait_until(&format!(
        "{command} === 'kurabe versus --profile quick --vary bs=4k,16k model:samsung-fit-plus-exfat'"
    ));
    browser.click("#all");
    reader.wait_for("#board .after .next");
    // By script, because the board is rendered again when the other run ends.
    browser.run("document.querySelector('#board .after .next').click()");
    reader.wait_for(".answer");
    let words = reader.words("document.querySelector('main').textContent");
    assert!(words.contains("bs=4k") && words.contains("bs=16k"), "{words}");
    reader.console_is_clean(&[DOOR, "400 (Bad Request)"]);
}

#[test]
fn the_answer_is_on_the_first_screen() {
    let Some(reader) = Reader::inside() else { return };
    let ids = ["samsung-870-evo", "intel-x25m-g2"].map(|model| reader.measured(model));
    let views = [
        ("/".to_owned(), "#board .summary"),
        ("/".to_owned(), "#board .row:last-child .figure"),
        (format!("/runs/{}", ids[0]), ".answer"),
        (format!("/runs/{}", ids[0]), ".row:last-child .figure"),
        (format!("/runs/{}", ids[0]), ".tabs"),
        (format!("/compare?run={}&run={}", ids[0], ids[1]), ".answer"),
        ("/studies/raid-strip".to_owned(), ".verdicts details:last-child"),
        ("/studies/scsi-emulators".to_owned(), ".verdicts details:last-child"),
        ("/catalogue".to_owned(), "tbody tr:nth-child(5)"),
    ];
    reader.browser.resize(1280, 800);
    for (path, selector) in views {
        reader.go(&path);
        reader.wait_for(selector);
        let bottom = format!("return document.querySelector({selector:?}).getBoundingClientRect().bottom");
        let bottom = reader.browser.run(&bottom).as_f64().expect("a place");
        assert!(bottom <= 800.0, "{path}, {selector}: {bottom}");
    }
}

/// Follows the link from a verdict to its evidence and its table.
#[test]
fn a_verdict_unfolds_and_leads_to_its_table() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    reader.go("/studies");
    let card = || reader.words("document.querySelector('a[href=\"/studies/sata-usb\"] p').textContent");
    assert!(card().contains("Which link"), "{}", card());
    reader.go("/studies/sata-usb");
    let verdict = ".verdicts details:nth-child(2)";
    assert_eq!(reader.words(&format!("document.querySelector('{verdict} em').textContent")), "✓ agrees");
    browser.tab_to(&format!("{verdict} summary"));
    browser.type_keys(keys::ENTER);
    browser.wait_until(&format!("document.querySelector('{verdict}').open"));
    let words = reader.words(&format!("document.querySelector('{verdict}').textContent"));
    assert!(words.contains("SATA wherever it can be had") && words.contains("The figures agree."), "{words}");
    browser.tab_to(&format!("{verdict} .ways a"));
    browser.type_keys(keys::ENTER);
    browser.wait_until("document.querySelector('#table-git-pull:target')");
    // A sign shows the closeness of a figure, not only a colour.
    for (class, sign) in [("good", "✓"), ("open", "≈"), ("bad", "✗")] {
        let cells = format!("[...document.querySelectorAll('.evidence td.{class} small')]");
        let signs = format!("return {cells}.filter((line) => line.textContent.startsWith('{sign} ')).length");
        assert_eq!(
            browser.run(&signs).as_u64(),
            Some(reader.count(&format!(".evidence td.{class}"))),
            "{class}"
        );
    }
    // The same figures with the devices as columns.
    let table = "#table-git-pull table";
    let figures =
        format!("[...document.querySelectorAll('{table} tbody td')].map((td) => td.firstChild.textContent)");
    let figures = || reader.words(&format!("{figures}.sort().join(' ')"));
    let (rows, before) = (reader.count(&format!("{table} tbody tr")), figures());
    browser.click(".evidence .chips a:nth-child(2)");
    browser.wait_until("location.search == '?devices=columns'");
    let columns = reader.count(&format!("{table} thead :is(th, td)"));
    assert_eq!(columns, rows + 1, "a column for each device, and the figures' names");
    assert_eq!(figures(), before);
    reader.go("/studies");
    assert!(card().starts_with("Of the article's conclusions (6): ✓ agrees"), "{}", card());
    reader.console_is_clean(&[DOOR]);
}

#[test]
fn two_runs_are_ticked_and_compared() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    let ids = ["samsung-870-evo", "intel-x25m-g2"].map(|model| reader.measured(model));
    reader.go("/runs");
    let button = || {
        let words = reader.words("document.querySelector('#compare button.main').textContent");
        (browser.run("return document.querySelector('#compare button.main').disabled") == true, words)
    };
    assert_eq!(button(), (true, "tick two or more to compare".to_owned()));
    for id in &ids {
        browser.tab_to(&format!("input[name=run][value='{id}']"));
        browser.type_keys(" ");
    }
    assert_eq!(button(), (false, "Compare the ticked ones (2)".to_owned()));
    browser.tab_to("#compare button.main");
    browser.type_keys(keys::ENTER);
    reader.wait_for(".answer");
    assert_eq!(reader.words("location.pathname"), "/compare");
    for id in &ids {
        assert!(reader.words("location.search").contains(id.as_str()));
    }
    let answer = reader.words("document.querySelector('.answer').textContent");
    // The first tick is the baseline.
    assert!(answer.contains("slower than Samsung 870 EVO"), "{answer}");
    // Comparison for a use with weight sliders.
    browser.tab_to(".tabs #use");
    browser.type_keys(keys::ENTER);
    reader.wait_for("#part-use select");
    browser.tab_to("#part-use select");
    browser.type_keys("swap");
    let chosen = reader.words("document.querySelector('#part-use select').value");
    assert_eq!(chosen, "swap");
    browser.tab_to("#part-use button");
    browser.type_keys(keys::ENTER);
    reader.wait_for(".sliders output");
    assert_eq!(reader.words("document.querySelector('#part-use select').value"), chosen);
    let shares = browser
        .run("return [...document.querySelectorAll('.sliders input')].map((part) => Number(part.value))");
    assert_eq!(shares, json!([81, 0.5, 18, 0.6]), "as uses/swap.toml says");
    assert_eq!(reader.words("document.querySelector('.sliders output').textContent"), "81 %");
    browser.tab_to(".sliders input");
    browser.type_keys(keys::RIGHT);
    assert_eq!(reader.words("document.querySelector('.sliders output').textContent"), "82 %");
    browser.tab_to(".sliders input[name=share1]");
    browser.type_keys(keys::RIGHT);
    let small =
        reader.words("document.querySelector('.sliders input[name=share1]').nextElementSibling.textContent");
    assert_eq!(small, "0.6 %");
    // A use whose shares are all zero is invalid.
    let none: String = (0..4).map(|part| format!("&share{part}=0")).collect();
    let nothing = format!("/compare?run={}&run={}&use=swap&of=swap{none}", ids[0], ids[1]);
    reader.go(&nothing);
    reader.wait_for("#part-use .notice.warn");
    reader.console_is_clean(&[DOOR]);
}

#[test]
fn language_and_theme_are_chosen_and_stay() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    let ground = || reader.words("getComputedStyle(document.body).backgroundColor");
    browser.prefer("light");
    reader.go("/runs?q=a%26b");
    browser.tab_to(".choices a[hreflang=ja]");
    browser.type_keys(keys::ENTER);
    browser.wait_until("document.documentElement.lang === 'ja'");
    assert_eq!(reader.words("location.pathname + location.search"), "/runs?q=a%26b", "on the same page");
    assert_eq!(reader.words("document.querySelector('h1').textContent"), "結果");
    let light = ground();
    browser.click(".choices a[href^='/choose/theme/dark']");
    browser.wait_until("document.documentElement.dataset.theme === 'dark'");
    assert_ne!(ground(), light);
    for path in ["/", "/models", "/nowhere"] {
        reader.go(path);
        assert_eq!(
            reader.words("document.documentElement.lang + document.documentElement.dataset.theme"),
            "jadark",
            "{path}"
        );
    }
    browser.click(".choices a[href^='/choose/theme/light']");
    browser.wait_until("document.documentElement.dataset.theme === 'light'");
    assert_eq!(ground(), light);
    // Light although the system setting is dark.
    browser.prefer("dark");
    assert_eq!(ground(), light);
    browser.click(".choices a[href^='/choose/theme/auto']");
    browser.wait_until("!document.documentElement.dataset.theme");
    assert_ne!(ground(), light);
    browser.click(".choices a[hreflang=en]");
    browser.wait_until("document.documentElement.lang === 'en'");
    reader.console_is_clean(&[DOOR, "404 (Not Found)"]);
}

#[test]
#[ignore = "slow"]
fn events_go_on_where_they_were_cut() {
    let Some(reader) = Reader::new() else { return };
    let browser = &reader.browser;
    let line = Line::to(reader.page.port);
    browser.open(&reader.page.launch_address.replace(&reader.page.host(), &line.host()));
    reader.wait_for("#measure");
    // A second event listener, which records what it receives. The time left is that of the moment
    // at which a message is sent, so it is not the same when the message is sent again.
    let listen = r#"const events = new EventSource('/events?from=0');
         events.onmessage = ({ lastEventId, data }) =>
             ids.push(lastEventId + ' ' + data.replace(/"left":(null|"[^"]*"),/, ''));"#;
    browser.run(&format!("window.ids = []; {listen}"));
    fill_form(&reader, &folder(&reader), "quick", "5");
    browser.type_keys(keys::ENTER);
    reader.wait_for("#board .tile.done");
    line.cut();
    browser.wait_until("document.body.classList.contains('lost')");
    let heard = browser.run("return ids.length");
    line.mend();
    browser.wait_until("!document.body.classList.contains('lost')");
    reader.wait_for("#board .after");
    assert_eq!(reader.count("#board .tile.done"), 6);
    browser.wait_until("ids.some((line) => line.includes('\"over\":true'))");
    // A listener that starts from the beginning receives the same events in the same order.
    let cut = browser.run("return ids");
    let whole = browser.run_later(&format!(
        "const done = arguments[0]; const ids = []; {listen}
         events.addEventListener('message', () => {{ if (ids.at(-1).includes('\"over\":true')) {{ events.close(); done(ids); }} }});"
    ));
    let numbered = |all: &Value| -> Vec<Value> {
        let all = all.as_array().expect("a list").iter();
        let mut numbered: Vec<Value> = all
            .take_while(|line| !line.as_str().is_some_and(|line| line.contains("\"over\":true")))
            .cloned()
            .collect();
        // A change without an envelope has no number, and is delivered with the number of the
        // previous event.
        let number = |line: &Value| line.as_str().and_then(|line| line.split(' ').next().map(str::to_owned));
        numbered.dedup_by_key(|line| number(line));
        numbered
    };
    assert!(
        heard.as_u64() > Some(0) && numbered(&cut).len() as u64 > heard.as_u64().unwrap_or(0),
        "{heard} before, {cut}"
    );
    assert_eq!(numbered(&cut), numbered(&whole));
    reader.console_is_clean(&[DOOR, "ERR_"]);
}

#[test]
#[ignore = "slow"]
fn two_windows_show_the_same_run() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    let first = browser.window();
    let second = browser.new_window();
    browser.look_at(&second);
    reader.go("/");
    reader.wait_for("#measure");
    browser.look_at(&first);
    fill_form(&reader, &folder(&reader), "quick", "1");
    browser.type_keys(keys::ENTER);
    let tiles = || {
        reader.wait_for("#board .after");
        assert_eq!(reader.count("#board .tile.done"), 6);
        reader.words("document.querySelector('#board .tiles').innerText")
    };
    let seen = tiles();
    browser.look_at(&second);
    assert_eq!(tiles(), seen);
    // A third window is opened late.
    let third = browser.new_window();
    browser.look_at(&third);
    reader.go("/");
    assert_eq!(tiles(), seen);
    reader.console_is_clean(&[DOOR]);
}

#[test]
fn without_scripts_the_door_opens_and_runs_are_read() {
    let Some(reader) = Reader::new() else { return };
    let browser = &reader.browser;
    browser.devtools("Emulation.setScriptExecutionDisabled", &serde_json::json!({ "value": true }));
    reader.go("/");
    browser.press("#word", reader.page.word());
    browser.press("#word", keys::ENTER);
    reader.wait_for("#measure");
    reader.go("/runs");
    reader.wait_for("main .empty");
    assert!(reader.words("document.body.innerText").contains("No run is stored yet"));
}

#[test]
fn an_address_opens_the_door_that_is_shown_already_once() {
    let Some(reader) = Reader::new() else { return };
    let browser = &reader.browser;
    reader.go("/");
    reader.wait_for("#door");
    // Only the fragment changes, so nothing is loaded.
    browser.open(&reader.page.launch_address);
    reader.wait_for("#measure");
    // Another browser uses the address again.
    browser.devtools("Network.clearBrowserCookies", &serde_json::json!({}));
    browser.open("about:blank");
    browser.open(&reader.page.launch_address);
    browser.wait_until("document.querySelector('#door')?.textContent.includes('was already used')");
    assert_eq!(reader.words("location.hash"), "");
    reader.console_is_clean(&[DOOR, "409 (Conflict)"]);
}
