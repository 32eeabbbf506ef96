//! Pictures of the pages: `KURABE_WRITE_PICTURES=1` writes those of docs/ anew, `KURABE_WRITE_PICTURES=FOLDER` all pages as wholes, for
//! who changes them to look at.

use crate::accessible;
use crate::browsing::Reader;
use std::path::{Path, PathBuf};

/// A picture above this is too heavy for a repository.
const MOST_BYTES: usize = 150_000;

/// Width, height, theme, and what the name ends in.
const FORMS: [(u32, u32, &str, &str); 2] = [(1280, 860, "light", ""), (400, 860, "dark", "-small")];
/// Longer pages are cut here.
const LONGEST: u64 = 6000;

#[test]
fn pages_are_written_as_pictures() {
    let Some(place) = std::env::var_os("KURABE_WRITE_PICTURES") else {
        eprintln!("skipped: pictures are written with KURABE_WRITE_PICTURES=1");
        return;
    };
    // The list of places has the working directory, which is of no interest to others.
    std::env::set_current_dir("/").expect("the root");
    let Some(reader) = Reader::inside() else { return };
    let runs = ["samsung-870-evo", "intel-x25m-g2"].map(|model| reader.measured(model));
    let folder = PathBuf::from(&place);
    for lang in ["en", "ja"] {
        for (width, height, theme, ending) in FORMS {
            let ending = format!("{lang}{ending}");
            reader.browser.resize(width, height);
            reader.go(&format!("/choose/theme/{theme}"));
            reader.go(&format!("/choose/lang/{lang}"));
            if place == "1" {
                of_the_manual(&reader, &runs, &ending, (width, height));
            } else {
                of_all(&reader, &runs, &folder, &ending, (width, height));
            }
        }
    }
}

fn of_the_manual(reader: &Reader, [one, other]: &[String; 2], ending: &str, size: (u32, u32)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures/ui");
    measuring(reader, &folder, ending, size);
    let pages = [
        ("runs", "/runs".to_owned(), "table.list"),
        ("run", format!("/runs/{one}"), "#card"),
        ("compare", format!("/compare?run={other}&run={one}"), ".answer"),
        ("model", "/models/mirror3-usb".to_owned(), "#figures table"),
    ];
    for (name, path, selector) in &pages {
        reader.go(path);
        reader.wait_for(selector);
        write(reader, &folder, &format!("{name}-{ending}"));
    }
}

/// A run that goes on, some tiles filled.
fn measuring(reader: &Reader, folder: &Path, ending: &str, (width, height): (u32, u32)) {
    let browser = &reader.browser;
    browser.press("input[name=other]", "/tmp");
    for (field, value) in [("profile", "default"), ("size", "256MiB"), ("runs", "3")] {
        browser.run(&format!("document.querySelector('#measure select[name={field}]').value = '{value}'"));
    }
    browser.click("#all");
    browser.wait_until("document.querySelectorAll('.tile.done').length === 5");
    // Loop devices come and go with what else the machine does.
    browser.run(
        "for (const loop of document.querySelectorAll('.place:has([value^=\"/dev/loop\"])')) loop.remove()",
    );
    browser.resize(width, 1500);
    browser.wait_until("document.querySelector('.tile.now .live')?.textContent.length > 1");
    write(reader, folder, &format!("measure-{ending}"));
    browser.resize(width, height);
    browser.click("#stop");
    reader.wait_for("#board .after");
}

fn of_all(reader: &Reader, runs: &[String], folder: &Path, ending: &str, (width, height): (u32, u32)) {
    let first = [("/".to_owned(), "#board .after"), ("/studies/sata-usb".to_owned(), ".verdicts")];
    for (path, selector) in first.into_iter().chain(accessible::pages(runs)) {
        reader.go(&path);
        reader.wait_for(selector);
        let length = reader.browser.run("return document.documentElement.scrollHeight").as_u64().unwrap_or(0);
        reader.browser.resize(width, length.min(LONGEST) as u32);
        let name: String = path
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' })
            .take(40)
            .collect();
        write(reader, folder, &format!("{name}-{ending}"));
        reader.browser.resize(width, height);
    }
}

fn write(reader: &Reader, folder: &Path, name: &str) {
    let picture = reader.browser.picture();
    std::fs::create_dir_all(folder).expect("a folder");
    std::fs::write(folder.join(format!("{name}.png")), &picture).expect("written");
    if picture.len() > MOST_BYTES {
        eprintln!("{name}: {} bytes", picture.len());
    }
}
