//! docs/models.md and docs/ja/models.md: the tables are those of the code, the worked example works, and every kind has its
//! limits told.
//!
//! To write the tables anew: `KURABE_WRITE_DOCS=1 cargo test -p kurabe-sim --test main documentation`

use kurabe_core::random::Random;
use kurabe_core::{Lang, text};
use kurabe_sim::{Below, KINDS, LayerKind, Parameter, Request, RequestKind, Stack, read_device};
use std::fmt::Write;

const PAGES: [(Lang, &str); 2] = [
    (Lang::En, concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models.md")),
    (Lang::Ja, concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ja/models.md")),
];
const BEGIN: &str = "<!-- kinds -->\n";
const END: &str = "<!-- end of kinds -->";
const EXAMPLE: &str = "<!-- worked example";
const LIMITS: [&str; 2] = ["## Where the models stop being true", "## モデルが成り立つ範囲"];

fn page(lang: Lang) -> String {
    let (_, path) = PAGES.iter().find(|(of, _)| *of == lang).expect("a page of that language");
    std::fs::read_to_string(path).expect("the page on models")
}

/// Words in a cell of a Markdown table.
fn cell(words: &str) -> String {
    words.replace('|', "\\|").replace('\n', " ")
}

/// What stands where a parameter is left out. The sources are documents, in the language of the device files.
fn default(parameter: &Parameter, lang: Lang) -> String {
    let Some((value, source)) = parameter.default else {
        return lang.pick("must be given", "必須").to_owned();
    };
    let (value, source) = (cell(value), cell(source));
    let keys = format!("`{}`", parameter.derived_from.join(lang.pick("`, `", "`、`")));
    match (lang, parameter.derived_from.is_empty()) {
        (Lang::En, true) => format!("`{value}` ({source})"),
        (Lang::En, false) => format!("`{value}` ({source}), by {keys}"),
        (Lang::Ja, true) => format!("`{value}`"),
        (Lang::Ja, false) => format!("`{value}`({keys} から計算)"),
    }
}

fn section(kind: &LayerKind, lang: Lang) -> String {
    let below = match kind.below {
        Below::Nothing => text!("a medium: nothing stands below it", "媒体です。下に層はありません"),
        Below::One => text!("one stack below it", "下に 1 つの層の列が付きます"),
        Below::Members => text!("members below it", "下に複数の台が付きます"),
    };
    let below = below.get(lang);
    let host = match kind.of_host {
        true => lang.pick(
            "; part of the computer, left out by `use`",
            "。コンピューターの一部で、`use` では省かれます",
        ),
        false => "",
    };
    let end = lang.pick(".", "。");
    let head = lang.pick(
        "| parameter | value | range | if left out | meaning |",
        "| パラメーター | 書き方 | 範囲 | 省いたとき | 意味 |",
    );
    let title = lang.pick(kind.title.0, kind.title.1);
    let mut out =
        format!("### `{}`: {title}\n\n{below}{host}{end}\n\n{head}\n|---|---|---|---|---|\n", kind.word);
    for parameter in kind.parameters {
        let (key, default) = (parameter.key, default(parameter, lang));
        let meaning = cell(lang.pick(parameter.meaning.0, parameter.meaning.1));
        let example = cell(parameter.kind.example().get(lang));
        let range = parameter.range().map_or(String::new(), |range| range.take(lang));
        let live = if parameter.live { lang.pick(", live", "、変更可") } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| `{key}`{live} | {example} | {range} | {default} | {meaning} |");
    }
    for relation in kind.relations {
        let _ = write!(out, "\n{}{end}\n", relation.sentence().get(lang));
    }
    out.push('\n');
    out
}

#[test]
fn the_tables_of_kinds_are_those_of_the_code() {
    for (lang, path) in PAGES {
        let page = page(lang);
        let (head, rest) = page.split_once(BEGIN).expect("a mark before the tables");
        let (tables, tail) = rest.split_once(END).expect("a mark behind the tables");
        let generated = format!("\n{}", KINDS.iter().map(|kind| section(kind, lang)).collect::<String>());
        if std::env::var_os("KURABE_WRITE_DOCS").is_some() {
            // In one step, because other tests read it meanwhile.
            let new = format!("{path}.new");
            std::fs::write(&new, format!("{head}{BEGIN}{generated}{END}{tail}")).expect("the new page");
            std::fs::rename(&new, path).expect("the page on models");
        } else {
            assert!(
                tables == generated,
                "{path} is behind: KURABE_WRITE_DOCS=1 cargo test -p kurabe-sim --test main documentation"
            );
        }
    }
}

#[test]
fn every_kind_tells_where_it_stops_being_true() {
    for ((lang, path), title) in PAGES.into_iter().zip(LIMITS) {
        let page = page(lang);
        let (_, limits) = page.split_once(title).expect("the section");
        for kind in KINDS {
            assert!(limits.contains(&format!("`{}`", kind.word)), "{path}: nothing about `{}`", kind.word);
        }
    }
}

/// The device file of the worked example.
fn example() -> Stack {
    let page = page(Lang::En);
    let (_, after) = page.split_once(EXAMPLE).expect("the example's mark");
    let (_, block) = after.split_once("```toml\n").expect("a block");
    let (file, _) = block.split_once("```").expect("its end");
    Stack::new(&read_device("docs/models.md", file).expect("a device file"), 1).expect("a stack")
}

/// Reads one after the other; the time in ns.
fn read(stack: &mut Stack, requests: impl Iterator<Item = (u64, u32)>) -> u64 {
    let from_ns = stack.now_ns();
    for (offset_bytes, length_bytes) in requests {
        let request = Request::new(RequestKind::Read, offset_bytes, length_bytes);
        stack.submit(stack.now_ns(), request, 0);
        while stack.take_completion().is_none() {
            let at_ns = stack.next_wake_ns().expect("something to wait for");
            stack.advance(at_ns);
        }
    }
    stack.now_ns() - from_ns
}

#[test]
fn the_worked_example_keeps_to_its_data_sheet() {
    let mut stack = example();
    let in_order = read(&mut stack, (0..256).map(|block| (block * 65_536, 65_536))) as f64 / 1e9;
    assert!((in_order / 2.26 - 0.95).abs() < 0.03, "16.777 MB in {in_order} s");
    let places = stack.capacity_bytes() / 512;
    let mut random = Random::new(3, 0);
    let places: Vec<u64> = (0..4096).map(|_| random.below(places) * 512).collect();
    let each = read(&mut stack, places.into_iter().map(|place| (place, 512))) as f64 / 4096.0 / 1e6;
    assert!((each / 15.63 - 0.95).abs() < 0.02, "{each} ms for a random read");
    assert!(
        page(Lang::En).contains(&format!("in {in_order:.2} s and takes {each:.1} ms for a random read")),
        "{in_order} {each}"
    );
}
