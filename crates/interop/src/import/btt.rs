//! btt's averages of a blktrace trace (`btt -A`, the default output).
//!
//! The model: a row names two points in the life of a request, and the time between them in seconds:
//! minimum, mean, maximum, count. Each row for all devices together is a cell. Queued to completed
//! (`Q2C`) is the total time, and issued to completed (`D2C`) the device's share of it. btt also prints
//! the shares of the parts. Source: btt's manual and bt_timeline of blktrace.

use super::kit::*;

/// Rows in order of importance: name and meaning.
const STAGES: [(&str, &str); 10] = [
    ("Q2C", "queued to completed"),
    ("D2C", "in the device"),
    ("Q2D", "queued to issued"),
    ("Q2G", "waiting for a request"),
    ("G2I", "preparing"),
    ("Q2M", "merging"),
    ("I2D", "in the scheduler"),
    ("M2D", "merged to issued"),
    ("Q2Q", "between requests"),
    ("Q2A", "remapping"),
];
const HEADING: &str = "ALL{}MIN{}AVG{}MAX{}N";
const OVERALL: &str = "Overall |{}";
const SHARE_HEADING: &str = "DEV |{}";

pub(super) const IMPORTER: Importer = Importer::of(
    ("btt averages", "btt", &["btt", "Q2C", "D2C"]),
    Recognizer::Lines(|line| match () {
        () if fits(HEADING, line) => LineMark::Begins,
        () if stage(line).is_some() || fits(OVERALL, line) => LineMark::Belongs,
        () => LineMark::None,
    }),
    read,
);

/// Parses a row: its stage, and minimum, mean, maximum and count.
fn stage(line: &str) -> Option<(usize, [&str; 4])> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, low, mean, high, count] = words[..] else { return None };
    let place = STAGES.iter().position(|(own, _)| *own == name)?;
    let are_numbers = [low, mean, high].iter().all(|word| number(word).is_some()) && digits(count);
    are_numbers.then_some((place, [low, mean, high, count]))
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let mut rows: Vec<(usize, [&str; 4])> = Vec::new();
    let (mut names, mut shares): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for (_, line) in input.lines() {
        if let Some(row) = stage(line).filter(|(place, _)| rows.iter().all(|(own, _)| own != place)) {
            rows.push(row);
        } else if let Some([words]) = holes(SHARE_HEADING, line) {
            names = words.split_whitespace().collect();
        } else if let Some([words]) = holes(OVERALL, line) {
            shares = words.split_whitespace().filter_map(|word| word.strip_suffix('%')).collect();
        }
    }
    rows.sort_by_key(|(place, _)| *place);
    if rows.is_empty() {
        return without_line("D2C  0.001751673  0.013116498  0.103759327  7557");
    }
    let share = |name: &str| shares.get(names.iter().position(|own| *own == name)?).copied();
    let cells = rows.iter().map(|(place, row)| stage_cell(STAGES[*place], row, share(STAGES[*place].0)));
    let notices = share("D2C").map(|share| {
        notice(text!(
            "{share} % of the time from queue to completion was spent in the device (D2C of Q2C), the \
             rest in the kernel's queues",
            "キューに入ってから完了までの時間の {share} % はデバイス内(Q2C のうち D2C)で、残りはカーネルのキューです"
        ))
    });
    let (cells, notices) = (cells.collect(), notices.into_iter().collect());
    Ok(vec![ImportedRun { origin: input.origin("btt", "btt"), cells, notices, ..ImportedRun::default() }])
}

fn stage_cell((name, meaning): (&str, &str), row: &[&str; 4], share: Option<&str>) -> Cell {
    let [low, mean, high, count] = row;
    let spread = [(Statistic::Mean, *mean), (Statistic::Lowest, *low), (Statistic::Highest, *high)];
    let named = spread.map(|(statistic, printed)| (statistic, Some(printed)));
    let figures = figures_of(units::SECONDS, name.to_owned().into(), named);
    let count = units::COUNT.figure_of(FigureOf::Operations, Statistic::Sum, *count);
    let share = units::PERCENT.figure_of("share of Q2C".to_owned().into(), Statistic::Mean, share);
    let imported =
        ImportedCell { figures: figures.chain(share).chain(count).collect(), ..ImportedCell::default() };
    cell(format!("{name} ({meaning})"), None, imported)
}
