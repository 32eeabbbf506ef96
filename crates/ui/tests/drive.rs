//! The page of a drive: its curve grows during the read, and runs of two dates can be overlaid.

use crate::attacks::Attacked;
use crate::browsing::{DOOR, Reader};
use crate::client::wait_until;
use crate::only_read::LoopDevice;
use kurabe_testkit::browser::keys;
use kurabe_testkit::needs::{LOOP_DEVICE, skip};
use std::fs::File;

/// Reading a device of this size as GNOME Disks does takes several seconds.
const DEVICE_BYTES: u64 = 1 << 30;

#[test]
fn a_model_has_its_curve_on_the_board() {
    let attacked = Attacked::new();
    let form = r#"{"target":"model:samsung-870-evo","profile":"gnome-disks"}"#;
    assert_eq!(attacked.page.send(&attacked.post("/measure", form)).status, 200);
    let body = |path: &str| attacked.page.send(&attacked.get(path)).body;
    wait_until("the run is over", || body("/board").contains("class=\"after\""));
    assert!(body("/board").contains("id=\"plot\""));
    let plot = body("/board/plot");
    // Rates on the left, access times on the right, over the whole drive.
    for words in ["<svg", "Throughput", "Access time", "GiB"] {
        assert!(plot.contains(words), "{words}: {plot}");
    }
}

#[test]
fn a_drive_that_is_not_in_the_list_has_no_page() {
    let attacked = Attacked::new();
    for target in ["", "/etc/passwd", "/dev/nothing", "/dev/..%2Fetc%2Fpasswd", "/dev/zero"] {
        let answer = attacked.page.send(&attacked.get(&format!("/drive?target={target}")));
        assert_eq!(answer.status, 400, "{target}: {answer:?}");
        assert!(answer.body.contains("this drive does not exist"), "{target}: {answer:?}");
    }
}

#[test]
#[ignore = "slow"]
fn the_curve_of_a_drive_grows_and_two_dates_are_laid_over_each_other() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    let image = reader.page.folder().join("image");
    File::create(&image).and_then(|image| image.set_len(DEVICE_BYTES)).expect("an image");
    let Some(device) = LoopDevice::over(&image) else {
        skip(LOOP_DEVICE);
        return;
    };
    // The list of drives links to the drive's page, which shows the command for a write test.
    reader.go("/");
    let address = format!("/drive?target={}", device.0.replace('/', "%2F"));
    reader.wait_for(&format!(".place a[href='{address}']"));
    reader.go(&address);
    reader.wait_for("#past .empty");
    browser.wait_until("document.querySelector('#plan code')?.textContent.includes('--destroy-data-on')");
    assert_eq!(reader.words("document.querySelector('#measure select[name=profile]').value"), "gnome-disks");
    // With many repetitions, the first cell takes long enough that a curve is shown before it ends.
    browser.run(
        "document.querySelector('#measure select[name=runs]').value = '9';
         new MutationObserver(() => {
             const [goes, drawn, done] = ['[data-goes-on]', '#plot svg', '.tile.done'].map((part) => document.querySelector(part));
             if (goes && drawn && !done) window.early = true;
         }).observe(document.querySelector('#board'), { childList: true, subtree: true });",
    );
    browser.click("#all");
    browser.wait_until("window.early");
    browser.click("#stop");
    reader.wait_for("#board .after");
    // A completed run is listed below as soon as it ends.
    browser.run("document.querySelector('#measure select[name=runs]').value = '1'");
    let dates = || reader.count("#past input[name=run]");
    let before = dates();
    browser.click("#all");
    browser
        .wait_until(&format!("document.querySelectorAll('#past input[name=run]').length === {}", before + 1));
    let other = reader.measured_by(&device.0, "gnome-disks", "1");
    reader.go(&address);
    assert_eq!((dates(), reader.count("#past input:checked")), (before + 2, 1));
    let named = || reader.words("document.querySelector('#past svg').textContent").matches("20").count();
    let alone = named();
    // The second one is the previous run.
    browser.run("document.querySelectorAll('#past input[name=run]')[1].id = 'second'");
    browser.tab_to("#second");
    browser.type_keys(" ");
    browser.tab_to("#past button");
    browser.type_keys(keys::ENTER);
    // Two boxes are checked even before the response arrives, so the address must have changed as
    // well.
    browser.wait_until(&format!(
        "location.search.includes('{other}') && document.querySelectorAll('#past input:checked').length === 2"
    ));
    assert!(named() >= alone + 4, "lines are named by their dates");
    reader.console_is_clean(&[DOOR]);
}
