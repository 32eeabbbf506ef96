//! Every page for everybody: axe-core finds nothing against WCAG 2 A and AA in either language and theme, and no page is wider
//! than a small phone.

use crate::browsing::Reader;
use serde_json::Value;

/// The checker, from its package.
const AXE: &str = include_str!("axe/axe.min.js");
/// The width of a small phone.
const PHONE: (u32, u32) = (400, 800);

/// Runs the rules on what is shown: what is wrong, one line for each element.
fn violations(reader: &Reader, rules: &str) -> Vec<String> {
    let is_in = reader.browser.run("return Boolean(window.axe)");
    if is_in != true {
        reader.browser.run(AXE);
    }
    let script = format!(
        "const done = arguments[0];
         axe.run(document, {{ runOnly: {rules}, resultTypes: ['violations'] }}).then(({{ violations }}) =>
             done(violations.flatMap((rule) => rule.nodes.map((node) =>
                 `${{rule.impact}} ${{rule.id}}: ${{node.html.slice(0, 200)}} (${{node.failureSummary.split('\\n')[1]?.trim()}})`))),
             (error) => done([String(error)]))"
    );
    let lines = reader.browser.run_later(&script);
    lines.as_array().expect("a list").iter().filter_map(|line| line.as_str().map(str::to_owned)).collect()
}

const ALL_RULES: &str = "{ type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }";
/// What depends on the theme.
const COLOURS: &str = "{ type: 'rule', values: ['color-contrast', 'link-in-text-block'] }";

/// Checks what is shown in both themes, and at the width of a phone.
fn check(reader: &Reader, name: &str, wrong: &mut Vec<String>) {
    let browser = &reader.browser;
    let mut keep = |when: &str, lines: Vec<String>| {
        wrong.extend(lines.iter().map(|line| format!("{name}, {when}: {line}")))
    };
    // What is closed is looked at, too.
    browser.run("for (const part of document.querySelectorAll('details')) { part.removeAttribute('name'); part.open = true; }");
    browser.run("document.documentElement.dataset.theme = 'light'");
    keep("light", violations(reader, ALL_RULES));
    browser.run("document.documentElement.dataset.theme = 'dark'");
    keep("dark", violations(reader, COLOURS));
    browser.resize(PHONE.0, PHONE.1);
    let too_wide = "const most = document.documentElement.clientWidth;
        if (document.documentElement.scrollWidth <= most) return [];
        return [...document.querySelectorAll('main *')].filter((element) => element.getBoundingClientRect().right > most + 1
            && !element.closest('.scroll')).slice(0, 5).map((element) => `wider than the screen: ${element.outerHTML.slice(0, 160)}`)
            .concat('the page is ' + document.documentElement.scrollWidth + ' wide')";
    let lines = browser.run(too_wide);
    keep("400 px", lines.as_array().expect("a list").iter().map(Value::to_string).collect());
    browser.resize(1280, 900);
}

/// Pages that are looked at: a path, and what is there when it is complete.
pub fn pages(runs: &[String]) -> Vec<(String, &'static str)> {
    let [one, other] = runs else { panic!("two runs") };
    let compared = format!("/compare?run={one}&run={other}");
    vec![
        ("/runs".to_owned(), "table.list"),
        ("/runs?q=nothing-has-this".to_owned(), ".empty"),
        (format!("/runs/{one}"), "#card"),
        (format!("{compared}&use=swap"), ".sliders"),
        ("/matrix".to_owned(), "main table"),
        ("/history".to_owned(), "main h1"),
        ("/models".to_owned(), "ul.models"),
        ("/models/mirror3-usb".to_owned(), "#figures table"),
        ("/studies".to_owned(), "ul.models"),
        ("/studies/raid-strip".to_owned(), ".verdicts"),
        ("/catalogue".to_owned(), "main table"),
        ("/nowhere".to_owned(), "main h1"),
        ("/runs/zzzz".to_owned(), "main h1"),
        ("/compare".to_owned(), "main h1"),
    ]
}

#[test]
fn every_page_is_for_everybody() {
    let Some(reader) = Reader::new() else { return };
    let browser = &reader.browser;
    let mut wrong = Vec::new();
    for lang in ["en", "ja"] {
        // The door in this language, which is chosen by a cookie without rights.
        reader.go("/assets/");
        browser.run(&format!("document.cookie = 'kurabe-lang={lang}; path=/'"));
        reader.go("/");
        browser.run("sessionStorage.setItem('knocked', '1')");
        reader.wait_for("#door");
        check(&reader, &format!("door {lang}"), &mut wrong);
    }
    browser.open(&reader.page.launch_address);
    reader.wait_for("#measure");
    let shown = |lang: &str, path: &str, selector: &str| {
        reader.go(&format!("/choose/lang/{lang}?back={}", path.replace('&', "%26")));
        reader.wait_for(selector);
        assert_eq!(reader.words("document.documentElement.lang"), lang, "{path}");
    };
    let empty = ["en", "ja"].map(|lang| {
        shown(lang, "/", "#measure");
        let mut wrong = Vec::new();
        check(&reader, &format!("measure before {lang}"), &mut wrong);
        wrong
    });
    wrong.extend(empty.concat());
    let runs = ["samsung-870-evo", "intel-x25m-g2"].map(|model| reader.measured(model));
    for lang in ["en", "ja"] {
        shown(lang, "/", "#measure");
        reader.start("default", 9);
        reader.wait_for(".tile.now");
        check(&reader, &format!("measure during {lang}"), &mut wrong);
        assert_eq!(reader.count("#board .after"), 0, "the run went on meanwhile");
        browser.click("#stop");
        reader.wait_for("#board .after");
    }
    for lang in ["en", "ja"] {
        shown(lang, "/", "#board .after");
        check(&reader, &format!("measure after {lang}"), &mut wrong);
        for (path, selector) in pages(&runs) {
            shown(lang, &path, selector);
            check(&reader, &format!("{path} {lang}"), &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{} violations:\n{}", wrong.len(), wrong.join("\n"));
}
