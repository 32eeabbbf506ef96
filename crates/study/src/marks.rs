//! Carries the marks of a figure to every table that contains the same figure.
//!
//! A mark belongs to the behaviour of a device in a test, not to the row that shows it. So every
//! mark of every study is stored with the device (all its values, not its name), the test and the
//! figure. A row of another table with the same three gets the mark, with a note on its origin. The
//! number and duration of repetitions do not make another figure; the size and the steps do.
//!
//! Not here: a row's own marks (`study`), and which rows the user changed (`plan`).

use crate::plan::{Devices, product};
use crate::study::{FigureMark, MarkKind, Part, STUDIES, Study, StudyRow, study_named};
use crate::{axis::StudyAxis, catalogue::Catalogue};
use kurabe_core::profile::{Profile, Step};
use kurabe_core::{Result, Text, text};
use kurabe_sim::DeviceSpec;
use serde::Serialize;
use std::sync::OnceLock;

/// Device and test that a row's figures belong to.
pub(crate) struct Tested {
    /// The device.
    pub(crate) device: DeviceSpec,
    /// Device in the denominator, if the figures are ratios.
    pub(crate) over: Option<DeviceSpec>,
    /// The test, without the number and duration of its repetitions.
    test: Profile,
}

/// Marks of one row of a study, with the device and the test they belong to.
pub(crate) struct CarriedMarks {
    study: String,
    part: String,
    tested: Tested,
    /// Figure, kind of mark, and reason.
    marks: Vec<(String, MarkKind, Text)>,
}

impl Tested {
    /// Returns the device and the test of a row at these axis values, or `None` without a model.
    ///
    /// # Errors
    /// If a model or a parameter does not exist.
    pub(crate) fn of_row(
        part: &Part,
        row: &StudyRow,
        axes: &[(String, String)],
        devices: &mut Devices,
    ) -> Result<Option<Self>> {
        let Some(model) = &row.model else { return Ok(None) };
        let with_axes = |sets: &[(String, String)]| -> Vec<(String, String)> {
            sets.iter().chain(axes).cloned().collect()
        };
        let over =
            row.over.as_ref().map(|(model, sets)| devices.changed(model, &with_axes(sets))).transpose()?;
        Ok(Some(Self::new(
            devices.changed(model, &with_axes(&row.sets))?,
            over,
            row.profile.as_ref().unwrap_or(&part.profile),
        )))
    }

    pub(crate) fn new(device: DeviceSpec, over: Option<DeviceSpec>, profile: &Profile) -> Self {
        let mut test = profile.clone();
        let rules = &mut test.rules;
        (rules.runs, rules.discarded_runs, rules.time_ns, rules.seed) = (1, 0, 0, 0);
        for step in &mut test.steps {
            if let Step::Io(step) = step {
                step.end.time_ns = step.end.time_ns.map(|_| 0);
            }
        }
        Self { device, over, test }
    }

    /// Returns whether both have the same devices.
    pub(crate) fn has_same_devices(&self, other: &Self) -> bool {
        let same_over = match (&self.over, &other.over) {
            (None, None) => true,
            (Some(one), Some(other)) => one.is_same_stack(other),
            _ => false,
        };
        same_over && self.device.is_same_stack(&other.device)
    }

    fn is_same(&self, other: &Self) -> bool {
        self.test == other.test && self.has_same_devices(other)
    }
}

/// Returns all combinations of the axes' values, as parameter changes of a device.
pub(crate) fn changes(axes: &[StudyAxis]) -> impl Iterator<Item = Vec<(String, String)>> + '_ {
    product(axes)
        .into_iter()
        .map(|values| axes.iter().map(|axis| axis.parameter.clone()).zip(values).collect())
}

/// Returns the marks of a study that do not only concern the published figure.
///
/// # Errors
/// If a model or a parameter does not exist.
pub(crate) fn carried_marks(study: &Study, devices: &mut Devices) -> Result<Vec<CarriedMarks>> {
    let mut carried = Vec::new();
    for part in &study.parts {
        for row in part.rows.iter().filter(|row| row.marks.iter().any(is_carried)) {
            let profile = row.profile.as_ref().unwrap_or(&part.profile);
            let of_column = |key: &str| part.columns.iter().find(|column| column.head.key == key);
            let named = |mark: &FigureMark| {
                let figure = of_column(&mark.column)?.figure.words(row.step.as_deref(), profile)?;
                Some((figure, mark.kind, mark.reason.clone()))
            };
            let marks: Vec<_> = row.marks.iter().filter(|mark| is_carried(mark)).filter_map(named).collect();
            for axes in changes(&part.axes) {
                let Some(tested) = Tested::of_row(part, row, &axes, devices)? else { continue };
                let (study, part) = (study.name.clone(), part.id.clone());
                carried.push(CarriedMarks { study, part, tested, marks: marks.clone() });
            }
        }
    }
    Ok(carried)
}

fn is_carried(mark: &FigureMark) -> bool {
    mark.kind != MarkKind::Anomaly
}

/// Returns the marks of all built-in studies.
///
/// # Errors
/// If one of them cannot be read.
pub(crate) fn library() -> Result<&'static [CarriedMarks]> {
    static LIBRARY: OnceLock<Vec<CarriedMarks>> = OnceLock::new();
    if let Some(carried) = LIBRARY.get() {
        return Ok(carried);
    }
    let catalogue = Catalogue::built_in();
    let (mut carried, mut devices) = (Vec::new(), Devices::default());
    for (name, _) in STUDIES {
        carried.extend(carried_marks(&study_named(name, catalogue)?, &mut devices)?);
    }
    Ok(LIBRARY.get_or_init(|| carried))
}

/// A published figure that a model does not reach.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KnownMiss {
    /// The study whose table has the figure.
    pub study: String,
    /// The reason, as far as it is known.
    pub reason: Text,
}

/// Returns the published figures that a device is known not to reach, each reason once.
///
/// # Errors
/// If a built-in study cannot be read.
pub fn known_misses(device: &DeviceSpec) -> Result<Vec<KnownMiss>> {
    let mut misses: Vec<KnownMiss> = Vec::new();
    let is_of_device = |carried: &&CarriedMarks| {
        carried.tested.over.is_none() && carried.tested.device.is_same_stack(device)
    };
    for carried in library()?.iter().filter(is_of_device) {
        for (_, _, reason) in carried.marks.iter().filter(|(_, kind, _)| *kind == MarkKind::Unreachable) {
            let miss = KnownMiss { study: carried.study.clone(), reason: reason.clone() };
            if !misses.contains(&miss) {
                misses.push(miss);
            }
        }
    }
    Ok(misses)
}

/// Returns the marks of a row: its `own`, and for the other columns those of the same figure
/// elsewhere.
pub(crate) fn marks<'k>(
    own: Vec<FigureMark>,
    (study, part, row): (&str, &Part, &StudyRow),
    tested: &Tested,
    carried: impl Iterator<Item = &'k CarriedMarks>,
) -> Vec<FigureMark> {
    let mut marks = own;
    let alike: Vec<&CarriedMarks> = carried.filter(|carried| carried.tested.is_same(tested)).collect();
    if alike.is_empty() {
        return marks;
    }
    let profile = row.profile.as_ref().unwrap_or(&part.profile);
    for (column, published) in part.columns.iter().zip(&row.published) {
        if marks.iter().any(|mark| mark.column == column.head.key && is_carried(mark)) {
            continue;
        }
        let Some(figure) = column.figure.words(row.step.as_deref(), profile) else { continue };
        let of_figure = |carried: &&&CarriedMarks| carried.marks.iter().any(|(words, ..)| *words == figure);
        let Some(carried) = alike.iter().find(of_figure) else { continue };
        // "Unreachable" refers to the published figure next to it, which may be another one here.
        let speaks = |kind: MarkKind| kind != MarkKind::Unreachable || published.is_none();
        let of_elsewhere = carried.marks.iter().filter(|(words, kind, _)| *words == figure && speaks(*kind));
        marks.extend(of_elsewhere.map(|(_, kind, reason)| FigureMark {
            column: column.head.key.clone(),
            kind: *kind,
            reason: from(carried, reason, study),
        }));
    }
    marks
}

/// Adds the table of origin to a reason.
fn from(carried: &CarriedMarks, reason: &Text, study: &str) -> Text {
    let place = match carried.study == study {
        true => carried.part.clone(),
        false => format!("{}/{}", carried.study, carried.part),
    };
    text!("as in table {place}: {reason}", "表 {place} と同じ: {reason}"; reason)
}
