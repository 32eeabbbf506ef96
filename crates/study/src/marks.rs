//! What is known of a figure holds wherever it stands: a figure that one table marks is the same figure in another.
//!
//! The model: a mark belongs to what a device does in a test, not to the row that tells it. So every mark of every study is
//! kept with the device (all its values, not its name), the test and the figure, and a row of any table that asks the same
//! gets it, with a word on where it is from. How often and how long something is measured does not make it another
//! figure; with the size or the steps it would be one.
//!
//! Not here: what a row's own marks are (`study`), and which rows the user changed (`plan`).

use crate::plan::{Devices, product};
use crate::study::{FigureMark, MarkKind, Part, STUDIES, Study, StudyRow, study_named};
use crate::{axis::StudyAxis, catalogue::Catalogue};
use kurabe_core::profile::{Profile, Step};
use kurabe_core::{Result, Text, text};
use kurabe_sim::DeviceSpec;
use std::sync::OnceLock;

/// What a row's figures are figures of.
pub(crate) struct Tested {
    /// The device.
    pub(crate) device: DeviceSpec,
    /// The device below the line, if the figures are ratios.
    pub(crate) over: Option<DeviceSpec>,
    /// The test, without how often and how long it is done.
    test: Profile,
}

/// What a study tells of figures.
pub(crate) struct CarriedMarks {
    study: String,
    part: String,
    tested: Tested,
    /// Figure, what it is, and why.
    marks: Vec<(String, MarkKind, Text)>,
}

impl Tested {
    /// What the figures of a row are figures of, at these values of axes.
    ///
    /// # Errors
    /// When there is no such model or parameter.
    pub(crate) fn of_row(
        part: &Part,
        row: &StudyRow,
        axes: &[(String, String)],
        devices: &mut Devices,
    ) -> Result<Self> {
        let with_axes = |sets: &[(String, String)]| -> Vec<(String, String)> {
            sets.iter().chain(axes).cloned().collect()
        };
        let over =
            row.over.as_ref().map(|(model, sets)| devices.changed(model, &with_axes(sets))).transpose()?;
        Ok(Self::new(
            devices.changed(&row.model, &with_axes(&row.sets))?,
            over,
            row.profile.as_ref().unwrap_or(&part.profile),
        ))
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

    /// Whether both are the same devices.
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

/// All combinations of axes' values, as changes of a device.
pub(crate) fn changes(axes: &[StudyAxis]) -> impl Iterator<Item = Vec<(String, String)>> + '_ {
    product(axes)
        .into_iter()
        .map(|values| axes.iter().map(|axis| axis.parameter.clone()).zip(values).collect())
}

/// What a study tells of figures: all that does not speak of the published one alone.
///
/// # Errors
/// When a model or a parameter is not there.
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
                carried.push(CarriedMarks {
                    study: study.name.clone(),
                    part: part.id.clone(),
                    tested: Tested::of_row(part, row, &axes, devices)?,
                    marks: marks.clone(),
                });
            }
        }
    }
    Ok(carried)
}

fn is_carried(mark: &FigureMark) -> bool {
    mark.kind != MarkKind::Anomaly
}

/// What the studies that come with kurabe tell.
///
/// # Errors
/// When one of them cannot be read.
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

/// Marks of a row's figures: its `own`, and for the other columns what is known of the same figure elsewhere.
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
        // Whether a figure is reached is said of the published one beside it, and here may stand another.
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

/// A reason with the table that it is from.
fn from(carried: &CarriedMarks, reason: &Text, study: &str) -> Text {
    let place = match carried.study == study {
        true => carried.part.clone(),
        false => format!("{}/{}", carried.study, carried.part),
    };
    text!("as in table {place}: {reason}", "表 {place} と同じ: {reason}"; reason)
}
