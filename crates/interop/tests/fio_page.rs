//! Check of docs/fio.md against the table of fio's options.
//!
//! To rewrite its tables: `KURABE_WRITE_DOCS=1 cargo test -p kurabe-interop --test main fio_page`

use crate::generated_page;
use kurabe_core::Lang;
use kurabe_fio::{FioOptionKind, fio_options};

const PAGES: [(Lang, &str); 2] = [
    (Lang::En, concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fio.md")),
    (Lang::Ja, concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ja/fio.md")),
];
const BEGIN: &str = "<!-- options -->\n";
const END: &str = "<!-- end of options -->";

fn table(lang: Lang) -> String {
    let mut table = match lang {
        Lang::En => String::from("| options | here | why |\n|---|---|---|\n"),
        Lang::Ja => String::from("| オプション | 扱い | 理由 |\n|---|---|---|\n"),
    };
    for group in fio_options() {
        let dashes = if group.of_line { "--" } else { "" };
        let names: Vec<String> = group.names.iter().map(|name| format!("`{dashes}{name}`")).collect();
        let kind = match (group.kind, lang) {
            (FioOptionKind::Done, Lang::En) => "done",
            (FioOptionKind::Idle, Lang::En) => "idle",
            (FioOptionKind::Refused, Lang::En) => "refused",
            (FioOptionKind::Done, Lang::Ja) => "対応",
            (FioOptionKind::Idle, Lang::Ja) => "効果なし",
            (FioOptionKind::Refused, Lang::Ja) => "非対応",
        };
        let why = group.why.as_ref().map_or("", |why| why.get(lang));
        table += &format!("| {} | {kind} | {why} |\n", names.join(" "));
    }
    table
}

#[test]
fn the_page_has_every_option_as_the_table_has_it() {
    for (lang, path) in PAGES {
        generated_page::holds(path, [BEGIN, END], &table(lang), "fio_page");
    }
}
