//! Records inside the page of a report: embedding of JSON into HTML so that nothing in it can become
//! markup, and its extraction.
//!
//! The model: a page contains one `<script type="application/json" id="kurabe-record">`. A browser does
//! not execute it. In JSON, the characters that are special in HTML (`<`, `>`, `&`) and the line ends
//! that exist only in Unicode occur only in strings, so they can be written as `\u` with four digits,
//! which has the same meaning in JSON. All other text of a page has its `<` escaped, so the first
//! script with this name is the right one.
//!
//! Not a goal: parsing HTML.

use kurabe_core::{Error, ErrorKind, Result, shown, text};

/// Id of the block.
const ID: &str = "kurabe-record";

/// Returns the block for a JSON text.
pub fn embed_in_page(json: &str) -> String {
    let mut out = format!("<script type=\"application/json\" id=\"{ID}\">");
    out.reserve(json.len() + json.len() / 64);
    for c in shown::json(json).chars() {
        match c {
            '<' | '>' | '&' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push_str("</script>\n");
    out
}

/// Returns the JSON text in a page. `None` if the bytes are not a page of kurabe.
///
/// # Errors
/// If the page is cut off within the block.
pub fn embedded_in_page(page: &[u8]) -> Option<Result<&[u8]>> {
    let name = format!("id=\"{ID}\"");
    let mut rest = page;
    loop {
        rest = &rest[find(rest, b"<script")?..];
        let end = find(rest, b">")?;
        let (tag, body) = rest.split_at(end + 1);
        if find(tag, name.as_bytes()).is_some() {
            return Some(find(body, b"</script").map(|length| &body[..length]).ok_or_else(cut_off));
        }
        rest = body;
    }
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

fn cut_off() -> Error {
    ErrorKind::Import
        .error(text!(
            "the report is cut off in the middle of its records",
            "レポートが測定記録の途中で切れています"
        ))
        .remedy(text!("save or download the complete file again", "ファイル全体を保存し直してください"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(page: &str) -> serde_json::Value {
        serde_json::from_slice(embedded_in_page(page.as_bytes()).unwrap().unwrap()).unwrap()
    }

    #[test]
    fn nothing_in_a_record_ends_the_block() {
        let hostile = "</script><script>alert(1)</script> <!-- <script> ]]> & &lt; \u{2028}\u{2029} \\u003c";
        let json = serde_json::json!({ "label": hostile }).to_string();
        let block = embed_in_page(&json);
        assert_eq!(block.matches('<').count(), 2, "{block}");
        assert!(!block.contains('\u{2028}') && !block.contains("<!--"), "{block}");
        assert_eq!(read(&block)["label"], hostile);
    }

    #[test]
    fn the_block_is_found_among_others_and_missed_where_it_is_not() {
        let page = format!(
            "<!doctype html><script>let a = 'id=\"kurabe-record\"';</script><p>id=\"kurabe-record\"</p>{}",
            embed_in_page("{\"a\":1}")
        );
        assert_eq!(read(&page)["a"], 1);
        assert!(embedded_in_page(b"<html><script>x</script></html>").is_none());
        assert!(embedded_in_page(b"").is_none());
        let cut = &page[..page.len() - 12];
        assert!(embedded_in_page(cut.as_bytes()).unwrap().is_err());
        assert!(embedded_in_page(b"<script type=\"application/json\" id=\"kurabe").is_none());
    }

    proptest! {
        #[test]
        fn any_words_come_back(words in ".*", before in "[^<]*") {
            let json = serde_json::json!({ "words": words }).to_string();
            let page = format!("{before}{}after", embed_in_page(&json));
            let record = read(&page);
            prop_assert_eq!(record["words"].as_str(), Some(words.as_str()));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = embedded_in_page(&bytes);
            let page = [b"<script id=\"kurabe-record\">".as_slice(), &bytes].concat();
            let _ = embedded_in_page(&page);
        }
    }
}
