//! Pictures of the pages for docs/, and for who changes them to look at: `KURABE_WRITE_PICTURES=1` writes them anew.

use crate::browsing::Reader;
use std::path::Path;

/// A picture above this is too heavy for a repository.
const MOST_BYTES: usize = 150_000;

/// Width, height, theme, and what the name ends in.
const FORMS: [(u32, u32, &str, &str); 2] = [(1280, 900, "light", ""), (400, 860, "dark", "-small")];

#[test]
fn pages_are_written_as_pictures() {
    if std::env::var_os("KURABE_WRITE_PICTURES").is_none() {
        eprintln!("skipped: pictures are written with KURABE_WRITE_PICTURES=1");
        return;
    }
    // The list of places has the working directory, which is of no interest to others.
    std::env::set_current_dir("/").expect("the root");
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    let runs = ["samsung-870-evo", "intel-x25m-g2"].map(|model| reader.measured(model));
    let [one, other] = &runs;
    let pages = [
        ("runs", "/runs".to_owned(), "table.list"),
        ("run", format!("/runs/{one}"), "#card"),
        ("compare", format!("/compare?run={other}&run={one}"), ".answer"),
        ("model", "/models/mirror3-usb".to_owned(), "#figures table"),
    ];
    for lang in ["en", "ja"] {
        for (width, height, theme, ending) in FORMS {
            browser.resize(width, height);
            reader.go(&format!("/choose/theme/{theme}"));
            reader.go(&format!("/choose/lang/{lang}"));
            measuring(&reader, &format!("measure-{lang}{ending}"));
            for (name, path, selector) in &pages {
                reader.go(path);
                reader.wait_for(selector);
                write(&reader, &format!("{name}-{lang}{ending}"));
            }
        }
    }
}

/// A run that goes on, some tiles filled.
fn measuring(reader: &Reader, name: &str) {
    let browser = &reader.browser;
    browser.press("input[name=other]", "/tmp");
    for (field, value) in [("profile", "default"), ("size", "256MiB"), ("runs", "2")] {
        browser.run(&format!("document.querySelector('#measure select[name={field}]').value = '{value}'"));
    }
    browser.click("#all");
    browser.wait_until("document.querySelectorAll('.tile.done').length === 4 && document.querySelector('.tile.now .live')?.textContent !== '–'");
    browser.run("document.querySelector('#board').scrollIntoView()");
    write(reader, name);
    browser.run("scrollTo(0, 0)");
    write(reader, &format!("{name}-top"));
    browser.click("#stop");
    reader.wait_for("#board .after");
}

fn write(reader: &Reader, name: &str) {
    let picture = reader.browser.picture();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures/ui");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join(format!("{name}.png")), &picture).expect("written");
    if picture.len() > MOST_BYTES {
        eprintln!("{name}: {} bytes", picture.len());
    }
}
