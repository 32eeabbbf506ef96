//! docs/models.md: the table of kinds matches the code, and the worked example works. There and in
//! docs/ja/models.md the limits of every kind are stated.
//!
//! To update the table: `KURABE_WRITE_DOCS=1 cargo test -p kurabe-sim --test main documentation`

use kurabe_core::Lang;
use kurabe_core::random::Random;
use kurabe_sim::{
    Below, DEVICES, DeviceSpec, KINDS, LayerKind, Parameter, Request, RequestKind, Stack, load_device,
    read_device,
};

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

/// Returns a row of the table, which summarises what `kurabe models show` prints for the named
/// device.
fn row(kind: &LayerKind, devices: &[DeviceSpec]) -> String {
    let below = match kind.below {
        Below::Nothing => "–",
        Below::One => "one stack",
        Below::Members => "members",
    };
    let host = if kind.of_host { " (of the computer)" } else { "" };
    let keys = |is_chosen: fn(&Parameter) -> bool| {
        let chosen = kind.parameters.iter().filter(|parameter| is_chosen(parameter));
        chosen.map(|parameter| format!("`{}`", parameter.key)).collect::<Vec<_>>().join(", ")
    };
    let has_it = |device: &&DeviceSpec| device.all_layers().iter().any(|layer| layer.kind.word == kind.word);
    // Layers that make fakes, and the journal that a run adds, are in no device of the library.
    let device = devices.iter().find(has_it).map_or("–".to_owned(), |device| format!("`{}`", device.name));
    format!(
        "| `{}` | {}{host} | {below} | {} | {device} |\n",
        kind.word,
        kind.title.0,
        keys(|parameter| parameter.default.is_none()),
    )
}

fn table() -> String {
    let devices: Vec<DeviceSpec> =
        DEVICES.iter().map(|(name, _)| load_device(name).expect("a device of the library")).collect();
    let rows: String = KINDS.iter().map(|kind| row(kind, &devices)).collect();
    format!(
        "\n| kind | what it is | below it | must be given | a device with it |\n\
         |---|---|---|---|---|\n{rows}\n"
    )
}

#[test]
fn the_table_of_kinds_is_that_of_the_code() {
    let (page, path) = (page(Lang::En), PAGES[0].1);
    let (head, rest) = page.split_once(BEGIN).expect("a mark before the table");
    let (shown, tail) = rest.split_once(END).expect("a mark behind the table");
    let generated = table();
    if std::env::var_os("KURABE_WRITE_DOCS").is_some() {
        // Atomically, because other tests read it concurrently.
        let new = format!("{path}.new");
        std::fs::write(&new, format!("{head}{BEGIN}{generated}{END}{tail}")).expect("the new page");
        std::fs::rename(&new, path).expect("the page on models");
    } else {
        assert!(
            shown == generated,
            "{path} is behind: KURABE_WRITE_DOCS=1 cargo test -p kurabe-sim --test main documentation"
        );
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

/// Builds the device file of the worked example.
fn example() -> Stack {
    let page = page(Lang::En);
    let (_, after) = page.split_once(EXAMPLE).expect("the example's mark");
    let (_, block) = after.split_once("```toml\n").expect("a block");
    let (file, _) = block.split_once("```").expect("its end");
    Stack::new(&read_device("docs/models.md", file).expect("a device file"), 1).expect("a stack")
}

/// Reads sequentially with one request in flight; returns the time in ns.
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
