//! Summary of IO500 (`result_summary.txt`, also printed).
//!
//! The model: a line for each phase with its score and its time. The score is in GiB/s if the name
//! begins with an `i`, otherwise in thousands of operations per second. Then follows the total score,
//! whose parts are geometric means over the phases. Results that IO500 marks as invalid are reported.
//! Phases have the names of kurabe's profiles, with the part of the step for mdtest:
//! `mdtest-easy-write` creates files. The transfer sizes are in other files of IO500. Source: main.c of
//! IO500/io500.

use super::kit::*;
use kurabe_core::profile::MetadataPart;
use kurabe_core::record::Measure;
use kurabe_core::words::Keyword;

const HEADING: &str = "IO500 version {} ({})";
/// `[RESULT]       ior-easy-write        2.105432 GiB/s  : time 310.400 seconds`.
const PHASE: &str = "[{}]{} {} : time {} seconds{}";
/// `[SCORE ] Bandwidth 1.20 GiB/s : IOPS 20.3 kiops : TOTAL 4.93 [INVALID]`. Older versions print
/// `[SCORE INVALID]` and GB/s.
const SCORE: &str = "[SCORE{}] Bandwidth {} {}B/s : IOPS {} kiops : TOTAL {}";
const DETAILS: [DetailLine; 1] = [(&[HEADING], &[Detail::Fact("version"), Detail::Procedure])];
const GIB_PER_S: ToolUnit = units::unit("GiB/s", Quantity::Rate, 1_073_741_824.0);
const KIOPS: ToolUnit = units::unit("kIOPS", Quantity::Iops, 1e3);
const SCORE_UNIT: ToolUnit = units::unit("", Quantity::Score, 1.0);
const INVALID: &str = "INVALID";

pub(super) const IMPORTER: Importer = Importer::of(
    ("IO500 summary", "IO500", &["IO500 version", "[RESULT]"]),
    Recognizer::Shapes(LineShapes { begins: &[HEADING], belongs: &[PHASE, SCORE] }),
    read,
);

fn read(input: &Input<'_>) -> ImportedRuns {
    let details = RunDetails::of(input, ("IO500", "io500-text"), &DETAILS, input.lines());
    let (mut cells, mut invalid) = (Vec::new(), Vec::new());
    for (_, line) in input.lines() {
        let cell = match (holes(PHASE, line), holes(SCORE, line)) {
            (Some(phase), _) => phase_cell(phase, &details.setting),
            (_, Some(score)) => score_cell(score),
            _ => None,
        };
        let Some(cell) = cell else { continue };
        if line.contains(INVALID) {
            invalid.push(cell.label.clone());
        }
        cells.push(cell);
    }
    let names = invalid.join(", ");
    let what = text!(
        "not a valid IO500 result, according to IO500: {names}",
        "有効な IO500 の結果ではないと IO500 が示しています: {names}"
    );
    let notices = (!invalid.is_empty()).then(|| notice(what)).into_iter().collect();
    Ok(vec![ImportedRun { origin: details.origin, cells, notices, ..ImportedRun::default() }])
}

/// Returns the cell of a phase: `ior-easy-write`, `2.105432 GiB/s`. A phase without a score has 0.
fn phase_cell([_, name, score, time, _]: [&str; 5], setting: &ImportedCell) -> Option<Cell> {
    let (score, unit) = score.split_once(' ').filter(|(score, _)| number(score) != Some(0.0))?;
    let unit = [GIB_PER_S, KIOPS].into_iter().find(|tool_unit| tool_unit.name == unit)?;
    let figures = [unit.figure(Statistic::Mean, score), units::RUN_SECONDS.figure(Statistic::Mean, time)];
    let imported =
        ImportedCell { runs: Some(1), figures: figures.into_iter().flatten().collect(), ..setting.clone() };
    let (step, word) = name.rsplit_once('-').unwrap_or((name, ""));
    let direction =
        [Direction::Write, Direction::Read].into_iter().find(|direction| direction.word() == word);
    Some(match (unit.quantity, part(word).filter(|_| step.starts_with("mdtest"))) {
        (_, None) if name == MetadataPart::Find.word() => Cell {
            part: name.to_owned(),
            measure: Measure::Operations,
            ..cell(repeated(name), Some(Direction::Read), imported)
        },
        (Quantity::Rate, _) => cell(repeated(step), direction, imported),
        (_, Some(part)) => Cell {
            part: part.word().to_owned(),
            measure: Measure::Operations,
            ..cell(repeated(&format!("{step} {}", part.word())), Some(part.direction()), imported)
        },
        _ => Cell { measure: Measure::Operations, ..cell(repeated(name), None, imported) },
    })
}

/// Returns mdtest's operation in a phase.
fn part(word: &str) -> Option<MetadataPart> {
    Some(match word {
        "write" => MetadataPart::Create,
        "stat" => MetadataPart::Stat,
        "read" => MetadataPart::Read,
        "delete" => MetadataPart::Unlink,
        _ => return None,
    })
}

fn score_cell([mode, bandwidth, _, iops, total]: [&str; 5]) -> Option<Cell> {
    let total = SCORE_UNIT.figure(Statistic::Mean, total.split_whitespace().next());
    let figures = [total, GIB_PER_S.figure(Statistic::Mean, bandwidth), KIOPS.figure(Statistic::Mean, iops)];
    let imported =
        ImportedCell { figures: figures.into_iter().flatten().collect(), ..ImportedCell::default() };
    let label = if mode.starts_with('X') { "IO500 extended score" } else { "IO500 score" };
    Some(cell(label, None, imported))
}

#[cfg(test)]
mod tests {
    use super::super::units::test::*;
    use super::*;
    use kurabe_core::profile::{FormulaUnit, Name, Profile, Step};
    use kurabe_profile::profile_named;

    #[test]
    fn phases_have_the_names_of_profiles_and_what_is_invalid_is_told() {
        let run = &imported("lab/io500.txt")[0];
        assert_eq!(
            (run.origin.tool_name().as_str(), run.origin.facts["version"].as_str()),
            ("IO500", "io500-sc24_v1-2-g02091cf")
        );
        let labels: Vec<_> = run.cells.iter().map(|cell| (cell.label.as_str(), cell.part.as_str())).collect();
        assert_eq!(
            labels[..5],
            [
                ("ior-easy", "write"),
                ("mdtest-easy create", "create"),
                ("ior-hard", "write"),
                ("mdtest-hard create", "create"),
                ("find", "find"),
            ]
        );
        assert_figure(&of(&run.cells[0]).figures[0], "2.105432", "GiB/s", 2.105432 * 1_073_741_824.0);
        assert_figure(&of(&run.cells[0]).figures[1], "310.400", "s", 310.4e9);
        let stat = find(run, "mdtest-easy stat");
        assert_eq!((stat.measure, stat.direction), (Measure::Operations, Some(Direction::Read)));
        assert_figure(&of(stat).figures[0], "35.812345", "kIOPS", 35_812.345);
        let score = of(find(run, "IO500 score"));
        assert_figure(&score.figures[0], "4.960119", "", 4.960119);
        assert_figure(&score.figures[2], "21.453122", "kIOPS", 21_453.122);
        assert_eq!(run.cells.len(), 13);
        assert!(run.notices[0].text.en.ends_with(": mdtest-hard unlink, IO500 score"), "{:?}", run.notices);
    }
    #[test]
    fn the_score_is_that_of_the_profile_s_formula() {
        let run = &imported("lab/io500.txt")[0];
        let profile = profile_named("io500").unwrap();
        let figure = |name: &Name| {
            // IO500's only find covers all files.
            let label = if name.part == "find" { "find".to_owned() } else { profile_label(&profile, name) };
            let cell = run.cells.iter().find(|cell| cell.label == label && cell.part == name.part)?;
            let value = of(cell).figures[0].value;
            Some(if name.unit == FormulaUnit::Iops { value } else { value / 1_048_576.0 })
        };
        let score = of(find(run, "IO500 score"));
        let printed = [&score.figures[1].printed, &score.figures[2].printed, &score.figures[0].printed];
        for (derived, printed) in profile.derived.iter().zip(printed) {
            assert_eq!(format!("{:.6}", derived.formula.value(&figure).unwrap()), *printed);
            assert_eq!(
                derived.formula.value(&|name| figure(name).filter(|_| name.part != "create")).is_none(),
                derived.formula.names().iter().any(|name| name.part == "create")
            );
        }
    }

    /// Returns the label of a cell whose step has its id as the label.
    fn profile_label(profile: &Profile, name: &Name) -> String {
        let step = profile.steps.iter().find(|step| step.id() == Some(&name.step)).unwrap();
        match step {
            Step::Metadata(_) => format!("{} {}", step.label(), name.part),
            _ => step.label(),
        }
    }
}
