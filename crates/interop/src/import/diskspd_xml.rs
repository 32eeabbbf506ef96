//! DiskSpd's XML results (`-Rxml`).
//!
//! The model: the profile lists the time spans and their targets, then each time span has its results:
//! bytes and operations per thread and target, and latencies over all of them. The file contains no
//! rate. DiskSpd's own text output divides the bytes by the test's time, and so does kurabe: the
//! printed characters of such a figure are those of the time, and the unit names the amount. A cell is
//! all reads or all writes of a time span. With several targets, each target has a cell as well.
//! Source: XmlResultParser.cpp of microsoft/diskspd.

use super::kit::*;
use roxmltree::{Document, Node};
use std::collections::{HashMap, HashSet};

/// The directions, and their words in element names.
const DIRECTIONS: [(Direction, &str); 2] = [(Direction::Read, "Read"), (Direction::Write, "Write")];

/// Maximum length of a tag with the text after it. The time of the XML reader grows with the square of
/// the attributes of a tag and of the name spaces around it. DiskSpd writes few attributes and no name
/// spaces.
const TAG_LONGEST: usize = 1 << 14;

/// Number of tags that the shortest file may have, and bytes of the file per additional tag. The XML
/// reader uses 72 bytes per tag.
const TAGS_LEAST: usize = 400_000;
const BYTES_PER_TAG: usize = 30;

pub(super) const IMPORTER: Importer =
    Importer::of(("DiskSpd XML", "DiskSpd", &["<Results>"]), Recognizer::File, read);

fn read(input: &Input<'_>) -> ImportedRuns {
    let whole = input.text().unwrap_or("");
    if !(whole.contains("<Results>") && whole.contains("<TimeSpan>")) {
        return not_mine(text!(
            "it has no elements `Results` and `TimeSpan`",
            "`Results` と `TimeSpan` という要素がありません"
        ));
    }
    // Text around the document, such as a message of the shell, is ignored.
    let start = whole.find("<Results>").unwrap_or(0);
    let end = whole.rfind("</Results>").map_or(whole.len(), |at| at + "</Results>".len());
    let text = whole.get(start..end).unwrap_or("");
    if text.contains("xmlns") || text.split('<').any(|tag| tag.len() > TAG_LONGEST) {
        let what =
            text!("this XML does not have the format of DiskSpd", "DiskSpd が書く形の XML ではありません");
        return parts::broken_at(input, 1, what);
    }
    let tags = text.matches('<').count();
    if tags > TAGS_LEAST + text.len() / BYTES_PER_TAG {
        let what = text!(
            "this XML has {tags} tags, more than kurabe accepts in a file of this length",
            "この XML にはタグが {tags} 個あり、この大きさのファイルとして読める数を超えています"
        );
        return parts::broken_at(input, 1, what);
    }
    let document = Document::parse(text).map_err(|error| {
        let before = whole[..start].matches('\n').count();
        let line = before + usize::try_from(error.pos().row).unwrap_or(1);
        let what = text!(
            "the XML of DiskSpd is cut off or damaged here",
            "DiskSpd の XML がここで途切れるか壊れています"
        );
        broken_line(input, line, what).because(error)
    })?;
    let root = document.root_element();
    let profiles: Vec<Node<'_, '_>> = path(root, &["Profile", "TimeSpans"])
        .map(|spans| children(spans, "TimeSpan").collect())
        .unwrap_or_default();
    let mut cells = Vec::new();
    let several = children(root, "TimeSpan").count() > 1;
    for (number, span) in children(root, "TimeSpan").enumerate() {
        let prefix = if several { format!("time span {} ", number + 1) } else { String::new() };
        if super::room::is_spent() {
            break;
        }
        cells.extend(span_cells(span, profiles.get(number).copied(), &prefix));
    }
    let notices = vec![notice(text!(
        "DiskSpd's XML contains bytes and time but no rate; the rates are their quotient, limited by the \
         two decimals of the time",
        "DiskSpd の XML には速度がなく、バイト数と時間だけがあります。速度はその商で、精度は時間の小数 2 桁までです"
    ))];
    Ok(vec![ImportedRun { origin: origin(input, root), cells, notices, ..ImportedRun::default() }])
}

fn children<'a, 'b>(node: Node<'a, 'b>, name: &str) -> impl Iterator<Item = Node<'a, 'b>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

fn path<'a, 'b>(node: Node<'a, 'b>, names: &[&'static str]) -> Option<Node<'a, 'b>> {
    names.iter().try_fold(node, |node, name| children(node, name).next())
}

/// Returns the text of a child, without surrounding spaces.
fn text_of<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    children(node, name).next()?.text().map(str::trim).filter(|words| !words.is_empty())
}

fn origin(input: &Input<'_>, root: Node<'_, '_>) -> Origin {
    let system = path(root, &["System"]);
    let tool = path(root, &["System", "Tool"]);
    let targets = root.descendants().filter(|node| node.has_tag_name("Path")).filter_map(|node| node.text());
    let mut seen = HashSet::new();
    let names: Vec<&str> = targets.filter(|name| seen.insert(*name)).collect();
    let span = path(root, &["Profile", "TimeSpans", "TimeSpan"]);
    let fact = |key: &'static str| Some((key.to_owned(), text_of(span?, key)?.to_owned()));
    Origin {
        version: tool.and_then(|tool| text_of(tool, "Version")).map(str::to_owned),
        measured_at: system.and_then(|system| text_of(system, "RunTime")).and_then(dates::from_year_first),
        target: (!names.is_empty()).then(|| names.join(", ")),
        facts: ["Duration", "Warmup", "Cooldown"].into_iter().filter_map(fact).collect(),
        ..input.origin("DiskSpd", "diskspd-xml")
    }
}

/// Returns the cells of a time span: for all targets together, and for each if there are several.
fn span_cells(span: Node<'_, '_>, profile: Option<Node<'_, '_>>, prefix: &str) -> Vec<Cell> {
    let Some(time) = text_of(span, "TestTimeSeconds").filter(|time| units::positive(time)) else {
        return Vec::new();
    };
    let nodes = children(span, "Thread").flat_map(|thread| children(thread, "Target"));
    let targets = parts::grouped(nodes.map(|target| (text_of(target, "Path").unwrap_or(""), target)));
    let threads = text_of(span, "ThreadCount").and_then(|words| words.parse().ok());
    let mut cells = Vec::new();
    let all: Vec<Node<'_, '_>> = targets.iter().flat_map(|(_, nodes)| nodes.iter().copied()).collect();
    let all_targets: Vec<Node<'_, '_>> = profile
        .and_then(|profile| path(profile, &["Targets"]))
        .map(|targets| children(targets, "Target").collect())
        .unwrap_or_default();
    let mut of_path: HashMap<Option<&str>, Vec<Node<'_, '_>>> = HashMap::new();
    for target in &all_targets {
        of_path.entry(text_of(*target, "Path")).or_default().push(*target);
    }
    for (direction, word) in DIRECTIONS {
        let mut figures = rates(&all, word, time);
        if figures.is_empty() {
            continue;
        }
        figures.extend(latencies(span, word));
        figures.extend(units::RUN_SECONDS.figure_of(FigureOf::TestTime, Statistic::Sum, time));
        let mut imported = ImportedCell { threads, runs: Some(1), figures, ..ImportedCell::default() };
        imported.series.extend(buckets(span, word));
        describe(&all_targets, &mut imported);
        cells.push(cell(format!("{prefix}total"), Some(direction), imported));
    }
    for (name, nodes) in targets.iter().filter(|_| targets.len() > 1) {
        for (direction, word) in DIRECTIONS {
            let mut imported =
                ImportedCell { runs: Some(1), figures: rates(nodes, word, time), ..ImportedCell::default() };
            let of_path = of_path.get(&Some(*name)).map_or(&[][..], Vec::as_slice);
            describe(of_path, &mut imported);
            imported.threads = common(of_path, "ThreadsPerFile").and_then(|words| words.parse().ok());
            cells.push(cell(format!("{prefix}{name}"), Some(direction), imported));
        }
    }
    cells
}

/// Returns rate and operations per second over the results of several threads; none if they have no
/// such operations.
fn rates(targets: &[Node<'_, '_>], word: &str, time: &str) -> Vec<PrintedFigure> {
    let sum = |name: &str| {
        let name = format!("{word}{name}");
        let counts = targets.iter().filter_map(|target| text_of(*target, &name)?.parse::<u64>().ok());
        counts.fold(0_u64, u64::saturating_add)
    };
    let (bytes, operations) = (sum("Bytes"), sum("Count"));
    if operations == 0 {
        return Vec::new();
    }
    let quotient = |quantity: Quantity, amount: u64, what: &str| {
        let value = amount as f64 / number(time)?;
        figure_of_value(quantity, Statistic::Mean, value, time, &format!("s for {amount} {what}"))
    };
    let rate = quotient(Quantity::Rate, bytes, "bytes");
    rate.into_iter().chain(quotient(Quantity::Iops, operations, "operations")).collect()
}

/// Returns the latencies of a direction over all targets, with the minimum as percentile 0 and the
/// maximum as 100.
fn latencies(span: Node<'_, '_>, word: &str) -> Vec<PrintedFigure> {
    let Some(latency) = path(span, &["Latency"]) else { return Vec::new() };
    let column = format!("{word}Milliseconds");
    let whole = [
        (Statistic::Mean, text_of(latency, &format!("Average{column}"))),
        (Statistic::StandardDeviation, text_of(latency, &format!("{word}LatencyStdev"))),
    ];
    let buckets = children(latency, "Bucket").filter_map(|bucket| {
        let statistic = match text_of(bucket, "Percentile").and_then(number)? {
            0.0 => Statistic::Lowest,
            100.0 => Statistic::Highest,
            inner if inner < 100.0 => Statistic::Percentile(inner),
            _ => return None,
        };
        Some((statistic, text_of(bucket, &column)))
    });
    let named = whole.into_iter().chain(buckets);
    named.filter_map(|(statistic, printed)| units::MILLISECONDS.figure(statistic, printed)).collect()
}

/// Returns operations per interval over all targets as operations per second, if DiskSpd recorded them
/// (`-D`).
fn buckets(span: Node<'_, '_>, word: &str) -> Option<PrintedSeries> {
    let iops = path(span, &["Iops"])?;
    let mut ends_ms = Vec::new();
    let mut counts = Vec::new();
    for bucket in children(iops, "Bucket") {
        ends_ms.push(bucket.attribute("SampleMillisecond").and_then(number)?);
        counts.push(bucket.attribute(word).and_then(number)?);
    }
    // DiskSpd names a bucket after its end.
    let length_ms = *ends_ms.first().filter(|length| **length > 0.0)?;
    let points = ends_ms
        .iter()
        .zip(&counts)
        .map(|(end, count)| ((end - length_ms).max(0.0) * 1e6, count * 1e3 / length_ms));
    let points = points.filter(|(at, value)| at.is_finite() && value.is_finite()).collect();
    let unit = format!("operations in {length_ms} ms");
    units::series(Quantity::Iops, word, &unit, SeriesAxis::Time, points)
}

/// Returns a value of the profile that all these targets share.
fn common<'a>(targets: &[Node<'a, '_>], key: &'static str) -> Option<&'a str> {
    let value = text_of(*targets.first()?, key)?;
    targets.iter().all(|target| text_of(*target, key) == Some(value)).then_some(value)
}

/// Settings in the procedure of a cell.
const SETTINGS: [&str; 8] = [
    "BlockSize",
    "Random",
    "StrideSize",
    "RequestCount",
    "WriteRatio",
    "ThreadsPerFile",
    "DisableOSCache",
    "WriteThrough",
];

fn describe(targets: &[Node<'_, '_>], cell: &mut ImportedCell) {
    let common = |key: &'static str| common(targets, key);
    cell.block_bytes = common("BlockSize").and_then(|words| words.parse().ok());
    cell.iodepth = common("RequestCount").and_then(|words| words.parse().ok()).filter(|depth| *depth > 0);
    cell.sequential = match (common("RandomRatio").and_then(number), common("Random"), common("StrideSize")) {
        (Some(ratio), ..) if ratio < 100.0 => None,
        (_, Some(_), _) => Some(false),
        (_, None, Some(_)) => Some(true),
        _ => None,
    };
    let written = common("WriteRatio").and_then(number).filter(|share| *share > 0.0 && *share < 100.0);
    cell.read_percent = written.map(|written| 100.0 - written);
    let words: Vec<String> =
        SETTINGS.iter().filter_map(|key| Some(format!("{key}={}", common(key)?))).collect();
    cell.procedure = (!words.is_empty()).then(|| words.join(" "));
}

#[cfg(test)]
mod tests {
    use super::super::units::test::*;
    use super::*;

    #[test]
    fn rates_are_bytes_through_time() {
        let run = &imported("lab/diskspd.xml")[0];
        assert_eq!(run.origin.tool_name(), "DiskSpd 2.2.0");
        assert_eq!(run.origin.measured_at.as_deref(), Some("2024-06-14T13:49:12Z"));
        assert_eq!(run.origin.target.as_deref(), Some("testfile.dat"));
        let [read, write] = run.cells.as_slice() else { panic!() };
        let of_path = of(read);
        assert_eq!((of_path.block_bytes, of_path.iodepth, of_path.threads), (Some(65_536), Some(8), Some(2)));
        assert_eq!((of_path.sequential, of_path.read_percent), (Some(false), Some(70.0)));
        // Two threads with 734003200 and 367001600 bytes in 10.00 s.
        assert_figure(&of_path.figures[0], "10.00", "s for 1101004800 bytes", 110_100_480.0);
        assert_figure(&of_path.figures[1], "10.00", "s for 16800 operations", 1680.0);
        let latency = |cell, statistic| figure(cell, Quantity::Latency, statistic, None);
        assert_figure(latency(read, Statistic::Mean), "4.125", "ms", 4_125_000.0);
        assert_figure(latency(read, Statistic::Percentile(99.9)), "12.500", "ms", 12_500_000.0);
        assert_figure(latency(write, Statistic::Highest), "48.250", "ms", 48_250_000.0);
        assert_figure(latency(write, Statistic::Lowest), "0.250", "ms", 250_000.0);
        assert_eq!(of_path.series[0].points, [(0.0, 1600.0), (1e9, 1760.0)]);
    }

    #[test]
    fn what_is_not_xml_any_more_is_told() {
        let bytes = fixture("lab/diskspd.xml");
        let error = super::super::import("a.xml", &bytes[..3000]).unwrap_err();
        assert!(error.what().en.contains("damaged here") && error.place().is_some());
    }
}
