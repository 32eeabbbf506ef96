//! Keyboard shortcuts, which do not apply while the user types into a field.

use crate::browsing::{DOOR, Reader};

#[test]
fn letters_lead_to_pages_but_not_out_of_a_field() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    let path = || reader.words("location.pathname");
    reader.go("/runs");
    browser.type_keys("o");
    browser.wait_until("location.pathname === '/models'");
    // The field receives the typed letters. Escape only closes the list of keys.
    browser.type_keys("/");
    browser.type_keys("rv?");
    assert_eq!(
        (reader.words("document.activeElement.value"), path()),
        ("rv?".to_owned(), "/models".to_owned())
    );
    browser.run("document.activeElement.blur()");
    browser.type_keys("?");
    reader.wait_for("#keys:popover-open");
    assert!(reader.words("document.querySelector('#keys').textContent").contains("Measure"));
    // Switching the shortcuts off is remembered.
    browser.click("#letters");
    browser.run("document.activeElement.blur()");
    reader.go("/models");
    browser.type_keys("r");
    // By then, the page would have changed.
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert_eq!(path(), "/models");
    reader.console_is_clean(&[DOOR]);
}
