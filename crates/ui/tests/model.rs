//! The page of a model and its sliders.

use crate::browsing::{DOOR, Reader};
use kurabe_testkit::browser::keys;
use serde_json::json;

#[test]
fn a_slider_moved_by_keys_changes_the_figures() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    reader.go("/models/samsung-870-evo");
    let figures = || reader.words("document.querySelector('#figures').textContent");
    let computed = "document.querySelector('#figures table') \
                    && !document.querySelector('#figures').hasAttribute('aria-busy')";
    browser.wait_until(computed);
    let before = figures();
    // The parameters with the largest effect come first.
    reader.wait_for("#movers:not([hidden])");
    let slider = "document.querySelector('#movers input[type=range]')";
    let movers = browser.run("return document.querySelectorAll('#movers input[type=range]').length");
    assert!((3..=5).contains(&movers.as_u64().unwrap_or(0)), "{movers}");
    let field = browser.run(&format!("return {slider}.dataset.for"));
    let field = format!("document.getElementById({field})");
    let was = reader.words(&format!("{field}.value"));
    browser.tab_to("#movers input[type=range]");
    browser.type_keys(&keys::RIGHT.repeat(40));
    browser.wait_until(&format!(
        "{field}.value !== {was:?} && {field}.closest('.parameter').classList.contains('changed')"
    ));
    browser
        .wait_until(&format!("{computed} && document.querySelector('#figures').textContent !== {before:?}"));
    // The unchanged and the changed figures have the same scale, and both times are shown.
    let drawn = browser.run(
        "return ['#figures td.drawn', '#figures figure'].map((one) => document.querySelectorAll(one).length)",
    );
    assert_eq!(drawn, json!([6, 2]));
    // The saved device file contains the change.
    let file = browser.run_later(
        "const done = arguments[0]; \
         fetch(document.querySelector('#device').href).then((answer) => answer.text()).then(done)",
    );
    assert!(file.as_str().is_some_and(|file| file.contains("my-samsung-870-evo")), "{file}");
    // Resetting restores the original figures.
    browser.click("#reset");
    browser
        .wait_until(&format!("{computed} && document.querySelector('#figures').textContent === {before:?}"));
    assert_eq!(reader.words(&format!("{field}.value")), was);
    reader.console_is_clean(&[DOOR]);
}
