//! Parts of pages in docs/ that are generated from the code.

/// Asserts that the part between two marks of a page is this text. `KURABE_WRITE_DOCS=1` rewrites it.
/// `test` is the calling module.
pub fn holds(path: &str, [begin, end]: [&str; 2], generated: &str, test: &str) {
    let page = std::fs::read_to_string(path).expect("the page");
    let (head, rest) = page.split_once(begin).expect("the mark before the part");
    let (_, tail) = rest.split_once(end).expect("the mark behind it");
    let written = format!("{head}{begin}{generated}{end}{tail}");
    if std::env::var_os("KURABE_WRITE_DOCS").is_some() {
        return std::fs::write(path, &written).expect("the page");
    }
    assert!(
        page == written,
        "{path} is behind: KURABE_WRITE_DOCS=1 cargo test -p kurabe-interop --test main {test}"
    );
}
