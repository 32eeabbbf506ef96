//! A stack drawn as boxes, with the host on top.
//!
//! The model: a block consists of lines of equal width and has a stem, the column at which a line
//! from above joins it. The stem of a layer above one block is aligned with the stem of that block.
//! Several blocks are placed side by side, with the layer centred above them. A drawing that is too
//! wide for the page is replaced by a tree.

use kurabe_core::{Lang, Text, shown};
use kurabe_doc::Block;
use kurabe_doc::layout::{display_width, pad_right, wrap};
use kurabe_sim::LayerSpec;

/// Maximum width of the text in a box, in columns.
const WIDEST_TEXT: usize = 30;
/// Columns between blocks placed side by side.
const GAP: usize = 2;

/// Lines of equal width, with the column at which a line from above joins them.
struct LineBlock {
    lines: Vec<String>,
    width: usize,
    stem: usize,
}

/// Draws a stack as boxes, and as a tree for where the boxes don't fit.
pub(super) fn draw(layers: &[LayerSpec]) -> Block {
    let trees = |lang| {
        let mut lines = Vec::new();
        tree(layers, "", "", lang, &mut lines);
        lines.join("\n")
    };
    let boxes = |lang| block(layers, lang).map_or_else(|| trees(lang), |block| block.lines.join("\n"));
    let both = |lines: &dyn Fn(Lang) -> String| Text::of(lines(Lang::En), lines(Lang::Ja));
    Block::Drawing { wide: both(&boxes), narrow: both(&trees) }
}

/// Returns a layer's name and the title of its kind.
fn words(layer: &LayerSpec, lang: Lang) -> (String, &'static str) {
    let (en, ja) = layer.kind.title;
    (shown::line(&layer.name), lang.pick(en, ja))
}

fn block(layers: &[LayerSpec], lang: Lang) -> Option<LineBlock> {
    let (layer, rest) = layers.split_first()?;
    let (name, title) = words(layer, lang);
    let mut texts = wrap(&name, WIDEST_TEXT);
    texts.extend(wrap(title, WIDEST_TEXT));
    let below = layer.below(rest);
    let is_counted = below.iter().any(|(count, _)| *count != 1);
    let below: Vec<LineBlock> = below
        .into_iter()
        .map(|(count, branch)| Some(counted(block(branch, lang)?, is_counted.then_some(count))))
        .collect::<Option<_>>()?;
    if below.is_empty() {
        return Some(boxed(&texts, false));
    }
    Some(over(boxed(&texts, true), beside(below)))
}

/// Draws a frame around texts. If `joined` is set, it has a stem at its lower edge.
fn boxed(texts: &[String], joined: bool) -> LineBlock {
    let inner = texts.iter().map(|text| display_width(text)).max().unwrap_or(0) + 2;
    let stem = inner.div_ceil(2);
    let edge = |left: char, right: char, at_stem: char| {
        let line: String = (1..=inner).map(|column| if column == stem { at_stem } else { '─' }).collect();
        format!("{left}{line}{right}")
    };
    let mut lines = vec![edge('┌', '┐', '─')];
    lines.extend(texts.iter().map(|text| format!("│ {} │", pad_right(text, inner - 2))));
    lines.push(edge('└', '┘', if joined { '┬' } else { '─' }));
    LineBlock { lines, width: inner + 2, stem }
}

/// Joins the upper edge of a block with the line from above, and writes the number of instances
/// there, if any.
fn counted(LineBlock { mut lines, mut width, stem }: LineBlock, count: Option<u64>) -> LineBlock {
    if let Some(first) = lines.first_mut() {
        let joined = |(column, c)| if column == stem && c == '─' { '┴' } else { c };
        *first = first.chars().enumerate().map(joined).collect();
    }
    if let Some(count) = count {
        let times = if count == 1 { String::new() } else { format!(" × {count}") };
        let label = format!("{}│{times}", " ".repeat(stem));
        width = width.max(display_width(&label));
        lines.insert(0, label);
        lines = lines.into_iter().map(|line| pad_right(&line, width)).collect();
    }
    LineBlock { lines, width, stem }
}

/// Places blocks side by side under one line.
fn beside(mut blocks: Vec<LineBlock>) -> LineBlock {
    if blocks.len() == 1 {
        return blocks.remove(0);
    }
    let mut stems = Vec::new();
    let mut width = 0;
    for block in &blocks {
        stems.push(width + block.stem);
        width += block.width + GAP;
    }
    width -= GAP;
    let (first, last) = (stems[0], stems[stems.len() - 1]);
    let stem = first.midpoint(last);
    let rail: String = (0..width)
        .map(|column| match (column == stem, stems.contains(&column)) {
            _ if column < first || column > last => ' ',
            (true, true) => '┼',
            (true, false) => '┴',
            (false, true) if column == first => '┌',
            (false, true) if column == last => '┐',
            (false, true) => '┬',
            (false, false) => '─',
        })
        .collect();
    let height = blocks.iter().map(|block| block.lines.len()).max().unwrap_or(0);
    let mut lines = vec![rail];
    for row in 0..height {
        let part =
            |block: &LineBlock| pad_right(block.lines.get(row).map_or("", String::as_str), block.width);
        lines.push(blocks.iter().map(part).collect::<Vec<_>>().join(&" ".repeat(GAP)));
    }
    LineBlock { lines, width, stem }
}

/// Places a block above another, with aligned stems.
fn over(top: LineBlock, bottom: LineBlock) -> LineBlock {
    let stem = top.stem.max(bottom.stem);
    let shifted = |block: LineBlock| {
        let shift = stem - block.stem;
        (block.width + shift, block.lines.into_iter().map(move |line| format!("{}{line}", " ".repeat(shift))))
    };
    let ((top_width, top), (bottom_width, bottom)) = (shifted(top), shifted(bottom));
    let width = top_width.max(bottom_width);
    let lines = top.chain(bottom).map(|line| pad_right(&line, width)).collect();
    LineBlock { lines, width, stem }
}

/// Draws a tree for where boxes don't fit: one line per layer, with the layers below it indented.
fn tree(layers: &[LayerSpec], lead: &str, count: &str, lang: Lang, lines: &mut Vec<String>) {
    let Some((layer, rest)) = layers.split_first() else { return };
    let (name, title) = words(layer, lang);
    lines.push(format!("{lead}{count}{name}  {title}"));
    let under = lead.replace("├─ ", "│  ").replace("└─ ", "   ");
    let below = layer.below(rest);
    let last = below.len().saturating_sub(1);
    for (index, (count, branch)) in below.into_iter().enumerate() {
        let turn = if index == last { "└─ " } else { "├─ " };
        let count = if count == 1 { String::new() } else { format!("{count} × ") };
        tree(branch, &format!("{under}{turn}"), &count, lang, lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::text;
    use kurabe_doc::Doc;
    use kurabe_doc::Style;
    use kurabe_sim::{Below, Builder, Built, LayerKind, LayerSettings, MemberSpec};

    fn never(builder: &mut Builder<'_>) -> kurabe_core::Result<Built> {
        Err(builder.error("", &text!("not built here", "ここでは作りません")))
    }

    const fn kind(word: &'static str, title: (&'static str, &'static str), below: Below) -> LayerKind {
        LayerKind { word, title, of_host: false, below, parameters: &[], relations: &[], build: never }
    }

    static HOST: LayerKind = kind("host", ("the computer", "コンピューター"), Below::One);
    static BUS: LayerKind = kind("bus", ("a shared bus", "共有バス"), Below::Members);
    static DISK: LayerKind = kind("disk", ("a disk", "ディスク"), Below::Nothing);

    fn layer(kind: &'static LayerKind, name: &str, members: Vec<MemberSpec>) -> LayerSpec {
        LayerSpec { kind, name: name.to_owned(), settings: LayerSettings::default(), members }
    }

    fn box_of_three() -> Vec<LayerSpec> {
        let member = |count, name: &str| MemberSpec { count, layers: vec![layer(&DISK, name, Vec::new())] };
        let members = vec![member(1, "old"), member(2, "new")];
        vec![layer(&HOST, "host", Vec::new()), layer(&BUS, "bus", members)]
    }

    fn drawn(width: usize, lang: Lang) -> Vec<String> {
        let doc: Doc = [draw(&box_of_three())].into_iter().collect();
        // A drawing is indented by two columns.
        let lines = doc.lines(&Style { lang, color: false, width: width + 2 });
        lines.iter().map(|line| line[2..].to_owned()).collect()
    }

    #[test]
    fn members_stand_side_by_side_below_their_bus() {
        let expected = "
   ┌──────────────┐
   │ host         │
   │ the computer │
   └──────┬───────┘
   ┌──────┴───────┐
   │ bus          │
   │ a shared bus │
   └──────┬───────┘
    ┌─────┴─────┐
    │           │ × 2
┌───┴────┐  ┌───┴────┐
│ old    │  │ new    │
│ a disk │  │ a disk │
└────────┘  └────────┘";
        assert_eq!(drawn(80, Lang::En).join("\n"), expected.trim_start_matches('\n'));
    }

    #[test]
    fn a_narrow_page_gets_a_tree() {
        let expected = ["host  the compu…", "└─ bus  a share…", "   ├─ old  a di…", "   └─ 2 × new  …"];
        assert_eq!(drawn(16, Lang::En), expected);
    }

    #[test]
    fn japanese_counts_double() {
        for width in [16, 40, 80] {
            for line in drawn(width, Lang::Ja) {
                assert!(display_width(&line) <= width, "{line}");
            }
        }
        assert!(drawn(80, Lang::Ja).iter().any(|line| line.trim() == "│ コンピューター │"));
    }
}
