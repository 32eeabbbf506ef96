//! docs/models.md: its tables are those of the code, its worked example works, and every kind has its limits told.
//!
//! To write the tables anew: `KURABE_WRITE_DOCS=1 cargo test -p kurabe-sim --test main documentation`

use kurabe_core::random::Random;
use kurabe_sim::{Below, KINDS, Kind, LayerKind, Request, Stack, read_device};
use std::fmt::Write;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models.md");
const BEGIN: &str = "<!-- kinds -->\n";
const END: &str = "<!-- end of kinds -->";
const EXAMPLE: &str = "<!-- worked example";

fn page() -> String {
    std::fs::read_to_string(PAGE).expect("docs/models.md")
}

/// Words in a cell of a Markdown table.
fn cell(words: &str) -> String {
    words.replace('|', "\\|").replace('\n', " ")
}

fn section(kind: &LayerKind) -> String {
    let below = match kind.below {
        Below::Nothing => "a medium: nothing stands below it",
        Below::One => "one stack below it",
        Below::Members => "members below it",
    };
    let host = if kind.of_host { "; part of the computer, left out by `use`" } else { "" };
    let mut out = format!("### `{}`: {}\n\n{below}{host}.\n\n", kind.word, kind.title.0);
    out.push_str("| parameter | value | range | if left out | meaning |\n|---|---|---|---|---|\n");
    for parameter in kind.parameters {
        let default = match parameter.default {
            Some((value, source)) => format!("`{}` ({})", cell(value), cell(source)),
            None => "must be given".to_owned(),
        };
        let default = match parameter.derived_from {
            [] => default,
            keys => format!("{default}, by `{}`", keys.join("`, `")),
        };
        let (key, example, meaning) = (parameter.key, parameter.kind.example().en, parameter.meaning.0);
        // Writing to a string cannot fail.
        let range = parameter.range().map_or(String::new(), |range| range.en);
        let live = if parameter.live { ", live" } else { "" };
        let (example, meaning) = (cell(&example), cell(meaning));
        let _ = writeln!(out, "| `{key}`{live} | {example} | {range} | {default} | {meaning} |");
    }
    for relation in kind.relations {
        let _ = write!(out, "\n{}.\n", relation.sentence().en);
    }
    out.push('\n');
    out
}

#[test]
fn the_tables_of_kinds_are_those_of_the_code() {
    let page = page();
    let (head, rest) = page.split_once(BEGIN).expect("a mark before the tables");
    let (tables, tail) = rest.split_once(END).expect("a mark behind the tables");
    let wanted = format!("\n{}", KINDS.iter().map(|kind| section(kind)).collect::<String>());
    if std::env::var_os("KURABE_WRITE_DOCS").is_some() {
        // In one step, because other tests read it meanwhile.
        let new = format!("{PAGE}.new");
        std::fs::write(&new, format!("{head}{BEGIN}{wanted}{END}{tail}")).expect("docs/models.md.new");
        std::fs::rename(&new, PAGE).expect("docs/models.md");
    } else {
        assert!(
            tables == wanted,
            "docs/models.md is behind: KURABE_WRITE_DOCS=1 cargo test -p kurabe-sim --test main documentation"
        );
    }
}

#[test]
fn every_kind_tells_where_it_stops_being_true() {
    let page = page();
    let (_, limits) = page.split_once("## Where the models stop being true").expect("the section");
    for kind in KINDS {
        assert!(limits.contains(&format!("`{}`", kind.word)), "nothing about `{}`", kind.word);
    }
}

/// The device file of the worked example.
fn example() -> Stack {
    let page = page();
    let (_, after) = page.split_once(EXAMPLE).expect("the example's mark");
    let (_, block) = after.split_once("```toml\n").expect("a block");
    let (file, _) = block.split_once("```").expect("its end");
    Stack::new(&read_device("docs/models.md", file).expect("a device file"), 1).expect("a stack")
}

/// Reads one after the other; the time in ns.
fn read(stack: &mut Stack, requests: impl Iterator<Item = (u64, u32)>) -> u64 {
    let from_ns = stack.now_ns();
    for (offset_bytes, length_bytes) in requests {
        let request = Request::new(Kind::Read, offset_bytes, length_bytes);
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
        page().contains(&format!("in {in_order:.2} s and takes {each:.1} ms for a random read")),
        "{in_order} {each}"
    );
}
