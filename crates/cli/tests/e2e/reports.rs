//! Reports: their contents, their re-import, and their display in a browser.

use crate::lab::{Lab, list_of, text};
use kurabe_testkit::browser::Browser;
use kurabe_testkit::needs::skip;
use serde_json::{Value, json};

/// Runs a model with each access time, and returns the ids of the runs.
fn runs(lab: &Lab, accesses: &[&str]) -> Vec<String> {
    accesses.iter().map(|access| lab.model_run(access)).collect()
}

/// Text that acts as markup if it is not escaped. It then changes the title of the page.
const HOSTILE: &str =
    "</script><img src=x onerror=\"document.title='fooled'\"><script>document.title='fooled'</script>";

/// Imports a run in which every free text is hostile, and returns its id.
fn hostile(lab: &Lab, run: &str) -> String {
    let mut file: Value = serde_json::from_str(&lab.kurabe(&["export", run]).ok().out).expect("JSON");
    let header = &mut file["run"]["header"];
    header["id"] = json!("h4x");
    // A new run; a changed copy of an existing run would be refused.
    header["identity"] = json!("");
    header["command"] = json!(["kurabe", "run", HOSTILE]);
    header["target"]["given"] = json!(HOSTILE);
    header["model"]["title"] = json!({ "en": HOSTILE, "ja": HOSTILE });
    header["environment"]["machine"]["cpu_model"] = json!(HOSTILE);
    header["environment"]["machine"]["kernel"] = json!(HOSTILE);
    file["run"]["labels"] = json!({ "note": HOSTILE });
    file["run"]["notices"] = json!([{ "kind": "noise", "text": { "en": HOSTILE, "ja": HOSTILE } }]);
    for cell in file["run"]["cells"].as_array_mut().expect("cells") {
        cell["label"] = json!(format!("{} {HOSTILE}", cell["label"].as_str().unwrap_or_default()));
    }
    let path = lab.write("hostile.json", file.to_string());
    lab.kurabe(&["import", text(&path)]).ok();
    "h4x".to_owned()
}

#[test]
#[ignore = "slow"]
fn a_page_holds_the_answer_and_its_records_come_back() {
    let (lab, elsewhere) = (Lab::new(), Lab::new());
    let ids = runs(&lab, &["2us", "1us"]);
    let (page, json) = (lab.beside("report.html"), lab.beside("report.json"));
    let message = lab.kurabe(&["report", &ids[0], &ids[1], "-o", text(&page)]).ok().out;
    assert!(message.starts_with("written: ") && message.contains("kB"), "{message}");
    let words = std::fs::read_to_string(&page).expect("a page");
    assert!(words.contains("56 % faster") && words.contains("memory.access"), "{words}");
    for _ in 0..2 {
        elsewhere.kurabe(&["import", text(&page)]).ok();
        assert_eq!(elsewhere.list().len(), 2, "the same runs are stored once");
    }
    for id in &ids {
        assert_eq!(elsewhere.record(id), lab.record(id));
    }
    lab.kurabe(&["report", &ids[1], "-o", text(&json)]).ok();
    let third = Lab::new();
    third.kurabe(&["import", text(&json)]).ok();
    assert_eq!(third.record(&ids[1]), lab.record(&ids[1]));
    let cut = &words.as_bytes()[..words.find("kurabe_record").expect("records") + 40];
    let cut = lab.write("cut.html", cut);
    third.kurabe(&["import", text(&cut)]).is_refusal(11, &["is cut off in the middle"]);
    assert_eq!(third.list().len(), 1);
}

#[test]
fn the_ending_of_the_name_tells_the_format() {
    let lab = Lab::new();
    let ids = runs(&lab, &["2us", "1us"]);
    let both = [ids[0].as_str(), ids[1].as_str()];
    let write = |name: &str, words: &[&str]| {
        let path = lab.beside(name);
        lab.kurabe(&[&["report", "-o", text(&path)], words, &both].concat()).ok();
        std::fs::read_to_string(&path).expect("a file")
    };
    let markdown = write("a.md", &["--title", "Two disks"]);
    assert!(markdown.starts_with("## Two disks\n") && markdown.contains("| Test"));
    assert_eq!(lab.kurabe(&["report", both[0], both[1], "--title", "Two disks"]).ok().out, markdown);
    let csv = write("a.csv", &[]);
    assert_eq!(csv.lines().count(), 1 + 2 * 6, "{csv}");
    assert_eq!(csv.lines().filter(|line| line.contains(",faster,")).count(), 4, "{csv}");
    let swapped = write("b.csv", &["--baseline", both[1]]);
    assert_eq!(swapped.lines().filter(|line| line.contains(",slower,")).count(), 4, "{swapped}");
    let reported: Value = serde_json::from_str(&write("a.txt", &["--format", "json"])).expect("JSON");
    assert_eq!(list_of(&reported["runs"]).len(), 2);
    assert_eq!(list_of(&reported["comparisons"][0]["cells"]).len(), 6);
    let on_output: Value =
        serde_json::from_str(&lab.kurabe(&["report", both[0], "--json"]).ok().out).expect("JSON");
    assert_eq!(on_output["kurabe_report"], 1);
    let table = lab.beside("told.csv");
    let event = lab.kurabe(&["report", both[0], "--json", "-o", text(&table)]).ok().json_lines().remove(0);
    assert_eq!((event["event"].as_str(), event["format"].as_str()), (Some("report"), Some("csv")));
}

#[test]
fn a_chart_of_ones_choice_is_the_picture_of_a_report() {
    let lab = Lab::new();
    let sweep = ["sweep", "model:samsung-980", "--over", "size", "--direction", "read", "--time", "20ms"];
    lab.kurabe(&[&sweep[..], &["--set", "ssd.mapping_cache=16KiB", "--runs=2"]].concat()).ok();
    let path = lab.beside("sweep.svg");
    lab.kurabe(&["report", "--chart", "sweep", "-o", text(&path)]).ok();
    let svg = std::fs::read_to_string(&path).expect("a picture");
    assert!(svg.starts_with("<svg") && svg.contains("read: mapping cache"), "{svg}");
    let other = lab.beside("other.svg");
    lab.kurabe(&["report", "--chart", "heat", "-o", text(&other)])
        .is_refusal(2, &["no data for the chart `heat`", "sweep"]);
    lab.kurabe(&["report", "--chart", "sweeep", "-o", text(&other)]).is_refusal(2, &["`sweep`"]);
    lab.kurabe(&["report", "--chart", "sweep", "-o", text(&lab.beside("a.html"))])
        .is_refusal(2, &["--chart is for svg and png"]);
    assert!(!other.exists());
}

#[test]
fn nothing_is_overwritten_and_a_wrong_name_is_explained() {
    let lab = Lab::new();
    lab.kurabe(&["report"]).is_refusal(12, &["measure something first"]);
    let ids = runs(&lab, &["2us"]);
    let page = lab.write("mine.html", "precious");
    lab.kurabe(&["report", &ids[0], "-o", text(&page)]).is_refusal(6, &["--force"]);
    assert_eq!(std::fs::read_to_string(&page).expect("a file"), "precious");
    lab.kurabe(&["report", &ids[0], "-o", text(&page), "--force"]).ok();
    assert!(std::fs::read_to_string(&page).expect("a file").starts_with("<!doctype html>"));
    let names = |name: &str| lab.kurabe(&["report", &ids[0], "-o", text(&lab.beside(name))]);
    names("report.htmk").is_refusal(2, &["does not determine a format", "html"]);
    names("report").is_refusal(2, &["--format"]);
    names("none/report.html").is_refusal(4, &["cannot write", "create the folder"]);
    lab.kurabe(&["report", &ids[0], &ids[0]]).is_refusal(2, &["the same run"]);
    lab.kurabe(&["report", &ids[0], "--about", "kernle"]).is_refusal(2, &["`kernel`"]);
}

#[test]
#[ignore = "slow"]
fn a_browser_shows_a_page_sorts_it_and_asks_nobody_for_anything() {
    let lab = Lab::new();
    let browser = match Browser::start() {
        Ok(browser) => browser,
        Err(why) => {
            skip(why);
            return;
        }
    };
    let mut ids = runs(&lab, &["2us", "1us", "4us"]);
    ids.push(hostile(&lab, &ids[0]));
    let page = |lang: &str, runs: &[&str]| {
        let path = lab.beside(&format!("{lang}-{}.html", runs.len()));
        lab.kurabe(&[&["report", "--lang", lang, "-o", text(&path), "--title", "Disks & co"], runs].concat())
            .ok();
        path
    };
    let all: Vec<&str> = ids.iter().map(String::as_str).collect();
    let title = || browser.run("return document.title");
    for (lang, section) in [("en", "Stutter"), ("ja", "停滞")] {
        for count in [1, 2, all.len()] {
            browser.open_file(&page(lang, &all[all.len() - count..]));
            assert_eq!(title(), "Disks & co");
            assert_eq!(browser.run("return document.documentElement.lang"), lang);
            let headings =
                browser.run("return [...document.querySelectorAll('h2')].map((h) => h.textContent)");
            assert!(list_of(&headings).contains(&json!(section)), "{headings}");
            // Hostile text is displayed as text.
            assert!(browser.run("return document.body.textContent").to_string().contains("onerror="));
            assert_eq!(browser.run("return document.images.length"), 0);
            assert_eq!(browser.run("return document.scripts.length"), 2);
        }
    }
    let outside = |url: &String| url.starts_with("http") || url.starts_with("ws") || url.starts_with("ftp");
    let requests = browser.requests();
    assert!(
        requests.iter().any(|url| url.ends_with("ja-4.html")) && !requests.iter().any(outside),
        "{requests:?}"
    );
    hovers(&browser);
    sorts(&browser);
    policy_holds(&browser);
    looks_right(&browser);
    assert_eq!(title(), "Disks & co", "no word of a record was run");
}

/// Returns the values of a column of the main table, from the top.
fn column(browser: &Browser, place: usize) -> Vec<f64> {
    let script = format!(
        "return [...document.querySelector('#results table').tBodies[0].rows].map((row) => \
         Number(row.cells[{place}].dataset.v))"
    );
    list_of(&browser.run(&script)).iter().map(|value| value.as_f64().expect("a number")).collect()
}

/// Checks that hovering over a mark of a chart shows its value once.
fn hovers(browser: &Browser) {
    let mark = "#charts svg [data-value]";
    let value = browser.run(&format!("return document.querySelector('{mark}').dataset.value"));
    assert!(value.as_str().is_some_and(|value| value.contains("MB/s")), "{value}");
    browser.point_at(mark);
    let shown =
        browser.run("const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.textContent");
    assert!(
        shown.as_str().is_some_and(|words| words.contains(value.as_str().unwrap_or("?"))),
        "{shown} {value}"
    );
    let native = format!("return document.querySelector('{mark}').querySelector(':scope > title')");
    assert_eq!(browser.run(&native), Value::Null, "the browser does not show it a second time");
}

/// Checks that a click or a key sorts the table, and that the third one restores the order of
/// measurement.
fn sorts(browser: &Browser) {
    let button = "#results thead th:nth-child(2) button";
    let sort =
        || browser.run("return document.querySelector('#results th:nth-child(2)').getAttribute('aria-sort')");
    let before = column(browser, 1);
    browser.click(button);
    assert_eq!(sort(), "descending");
    assert!(column(browser, 1).is_sorted_by(|a, b| a >= b) && column(browser, 1) != before);
    browser.press(button, "\u{e007}");
    assert_eq!(sort(), "ascending");
    assert!(column(browser, 1).is_sorted());
    browser.press(button, " ");
    assert_eq!(sort(), Value::Null);
    assert_eq!(column(browser, 1), before);
}

/// Checks that the console is clean, and that the page's policy blocks requests to other hosts.
fn policy_holds(browser: &Browser) {
    let errors = browser.console();
    assert_eq!(errors, [] as [String; 0], "the console is clean");
    let stopped = browser.run_later(
        "const done = arguments[0]; let seen = [];
         document.addEventListener('securitypolicyviolation', (event) => {
             seen.push(event.effectiveDirective);
             if (seen.length === 3) done(seen.sort().join(' '));
         });
         const image = document.createElement('img'); image.src = 'http://127.0.0.1:9/x.png';
         const script = document.createElement('script'); script.textContent = 'document.title = \"fooled\"';
         document.body.append(image, script);
         fetch('http://127.0.0.1:9/').catch(() => {});",
    );
    assert_eq!(stopped, "connect-src img-src script-src-elem");
}

/// Checks dark mode with the system setting, no content wider than a phone, and sufficient contrast
/// of all text.
fn looks_right(browser: &Browser) {
    let ground = || browser.run("return getComputedStyle(document.body).backgroundColor");
    browser.prefer("light");
    let light = ground();
    browser.prefer("dark");
    assert_ne!(light, ground());
    let wide = browser.run("return document.documentElement.scrollWidth <= window.innerWidth");
    assert_eq!(wide, true, "the page itself does not scroll sideways");
}
