//! Plans a study: the points to measure, each once, and the table cells that use them.
//!
//! A row becomes one point for each combination of its axes' values, or two if it is a ratio.
//! Points with the same device, profile and seed are merged, however their parameters were set.
//! Every model is loaded and every change is applied here, so that mistakes are reported before
//! anything is measured.

use crate::axis::StudyAxis;
use crate::marks::{CarriedMarks, Tested, carried_marks, changes, library, marks};
use crate::study::{FigureMark, Part, Study, StudyRow};
use kurabe_core::mention::{AXIS, MODELS_SHOW, Mention, ON, PROFILE, RUN, SET, STUDY_SHOW};
use kurabe_core::{Error, ErrorKind, Result, nearest, profile::Profile, text};
use kurabe_sim::{DeviceSpec, load_device};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Changes that the user makes to a study.
#[derive(Clone, Debug, Default)]
pub struct StudyOptions {
    /// Parts to measure; all if empty.
    pub parts: Vec<String>,
    /// Axes that replace the study's, or are added to them.
    pub axes: Vec<StudyAxis>,
    /// Parameters to change in every model that has them.
    pub sets: Vec<(String, String)>,
    /// Real targets that replace models, by the name that rows give them.
    pub on: Vec<(String, PathBuf)>,
    /// Seed that replaces the default.
    pub seed: Option<u64>,
}

/// Where a point is measured.
#[derive(Clone, Debug, PartialEq)]
pub enum PointTarget {
    /// A model with changed parameters.
    Model {
        /// Its name, or the path of its file.
        name: String,
        /// Changed parameters: `layer.parameter` and value, in the order in which they are set.
        sets: Vec<(String, String)>,
    },
    /// A directory, a file or a block device of the user.
    Path(PathBuf),
}

/// One measurement of a study.
#[derive(Clone, Debug)]
pub struct Point {
    /// Target to measure.
    pub target: PointTarget,
    /// The modelled device with its changes, if the target is a model.
    pub device: Option<DeviceSpec>,
    /// Profile to run; every step has a name.
    pub profile: Profile,
    /// Seed of the model.
    pub seed: u64,
}

/// A row of the plan, with the points it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRow {
    /// Index of the row in its part.
    pub row: usize,
    /// Values on the part's axes.
    pub values: Vec<String>,
    /// Target, as the row names it.
    pub target: PointTarget,
    /// Index of its point.
    pub point: usize,
    /// Index of the point in the denominator, if the figures are ratios.
    pub over: Option<usize>,
    /// Indices of the points at the other possible values of unknown parameters.
    pub others: Vec<usize>,
    /// Whether the user changed the model, so that it no longer matches the published device.
    pub changed: bool,
    /// Marks of its figures: the row's own, and those of the same figures in other tables.
    pub marks: Vec<FigureMark>,
}

/// A part of the plan, with its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedPart {
    /// The part, with the axes in effect.
    pub part: Part,
    /// Rows in order; all axis values of one row are adjacent, the last axis fastest.
    pub rows: Vec<PlannedRow>,
}

/// A study with everything that is to be measured.
#[derive(Clone, Debug)]
pub struct StudyPlan {
    /// The study, as read from its file.
    pub study: Study,
    /// Parts to measure.
    pub parts: Vec<PlannedPart>,
    /// Points to measure, in the order in which rows first need them.
    pub points: Vec<Point>,
    /// Parameters that the user changed in every model that has them.
    pub sets: Vec<(String, String)>,
    /// The seed.
    pub seed: u64,
}

/// Default seed of models.
const USUAL_SEED: u64 = 1;

/// Expands a study into the points to measure.
///
/// # Errors
/// If a part, a model, a parameter or a target name does not exist.
pub fn plan(study: &Study, options: &StudyOptions) -> Result<StudyPlan> {
    let mut devices = Devices::default();
    let mut parts = chosen_parts(study, &options.parts)?;
    check_bindings(&parts, options)?;
    apply_axes(&mut parts, &options.axes, &study.name, &mut devices)?;
    check_sets(&parts, &options.sets, &study.name, &mut devices)?;
    let mut planner = Planner {
        options,
        study,
        carried: carried_marks(study, &mut devices)?,
        of_library: library()?,
        points: Vec::new(),
        devices,
        seed: options.seed.unwrap_or(USUAL_SEED),
    };
    let parts = parts.into_iter().map(|part| planner.part(part)).collect::<Result<Vec<_>>>()?;
    Ok(StudyPlan {
        study: study.clone(),
        parts,
        points: planner.points,
        sets: options.sets.clone(),
        seed: planner.seed,
    })
}

fn chosen_parts(study: &Study, names: &[String]) -> Result<Vec<Part>> {
    for name in names {
        if !study.parts.iter().any(|part| part.id == *name) {
            let ids: Vec<&str> = study.parts.iter().map(|part| part.id.as_str()).collect();
            let study = &study.name;
            return Err(ErrorKind::Usage
                .error(text!("{study} has no table `{name}`", "{study} に `{name}` という表はありません"))
                .remedy(nearest(name, &ids)));
        }
    }
    Ok(study.parts.iter().filter(|part| names.is_empty() || names.contains(&part.id)).cloned().collect())
}

fn check_bindings(parts: &[Part], options: &StudyOptions) -> Result<()> {
    let mut names: Vec<&str> =
        parts.iter().flat_map(|part| &part.rows).filter_map(|row| row.on.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    for (name, _) in &options.on {
        if names.contains(&name.as_str()) {
            continue;
        }
        let what = text!("the study has no row `{name}`", "`{name}` という名前の行はありません");
        return Err(match names.is_empty() {
            true => ErrorKind::Usage.error(what).remedy(text!(
                "this study supports only models; measure a device with `{RUN} {PROFILE} …`",
                "このスタディはモデル専用です。実機は `{RUN} {PROFILE} …` で測れます"
            )),
            false => ErrorKind::Usage.error(what).remedy(nearest(name, &names)),
        });
    }
    Ok(())
}

/// Applies the user's axes.
///
/// An axis replaces the study's axis of the same parameter, or is added where a model has the
/// parameter. Parts that it does not apply to are left out.
fn apply_axes(parts: &mut Vec<Part>, axes: &[StudyAxis], study: &str, devices: &mut Devices) -> Result<()> {
    for axis in axes {
        let mut applied = false;
        let mut kept = Vec::new();
        for mut part in std::mem::take(parts) {
            if let Some(own) = part.head.axes.iter_mut().find(|own| own.parameter == axis.parameter) {
                *own = axis.clone();
            } else {
                let mut fitting = Vec::new();
                for row in part.rows {
                    if devices.has(&row, &axis.parameter)? {
                        fitting.push(row);
                    }
                }
                part.rows = fitting;
                part.head.axes.push(axis.clone());
            }
            if !part.rows.is_empty() {
                applied = true;
                kept.push(part);
            }
        }
        *parts = kept;
        if !applied {
            return Err(no_parameter(AXIS, &axis.parameter, study));
        }
    }
    Ok(())
}

fn check_sets(parts: &[Part], sets: &[(String, String)], study: &str, devices: &mut Devices) -> Result<()> {
    for (parameter, value) in sets {
        // The axis sets the parameter itself, so the change would be recorded without any effect.
        if parts.iter().all(|part| part.axes.iter().any(|axis| axis.parameter == *parameter)) {
            return Err(ErrorKind::Usage
                .error(text!(
                    "{SET} {parameter}={value} has no effect: {parameter} is an axis of this study",
                    "{SET} {parameter}={value} は効きません。{parameter} はこのスタディの軸です"
                ))
                .remedy(text!(
                    "set the axis to this value: {AXIS} {parameter}={value}",
                    "軸の値として指定してください: {AXIS} {parameter}={value}"
                )));
        }
        let mut has_any = false;
        for row in parts.iter().flat_map(|part| &part.rows) {
            has_any = has_any || devices.has(row, parameter)?;
        }
        if !has_any {
            return Err(no_parameter(SET, parameter, study));
        }
    }
    Ok(())
}

fn no_parameter(flag: Mention, parameter: &str, study: &str) -> Error {
    ErrorKind::Usage.error(text!(
        "{flag} {parameter}: no model of {study} has this parameter",
        "{flag} {parameter}: {study} のどのモデルにもこのパラメーターはありません"
    ))
    .remedy(text!(
        "list the parameters of a model with `{MODELS_SHOW} NAME`, and the models of the study with \
         `{STUDY_SHOW} {study}`",
        "モデルのパラメーターは `{MODELS_SHOW} 名前`、スタディのモデルは `{STUDY_SHOW} {study}` で見られます"
    ))
}

/// Device descriptions of models, each read once.
#[derive(Default)]
pub(crate) struct Devices(BTreeMap<String, DeviceSpec>);

impl Devices {
    /// Returns the device as its file describes it.
    fn named(&mut self, name: &str) -> Result<&DeviceSpec> {
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), load_device(name)?);
        }
        Ok(&self.0[name])
    }

    /// Returns whether the model of a row has a parameter.
    fn has(&mut self, row: &StudyRow, parameter: &str) -> Result<bool> {
        row.model.as_ref().map_or(Ok(false), |model| Ok(self.named(model)?.get(parameter).is_some()))
    }

    /// Returns the device with changed parameters.
    pub(crate) fn changed(&mut self, name: &str, sets: &[(String, String)]) -> Result<DeviceSpec> {
        let mut spec = self.named(name)?.clone();
        for (parameter, value) in sets {
            spec.set(parameter, value)?;
        }
        Ok(spec)
    }
}

struct Planner<'a> {
    options: &'a StudyOptions,
    study: &'a Study,
    /// Marks of figures in this study and in the other studies.
    carried: Vec<CarriedMarks>,
    of_library: &'static [CarriedMarks],
    points: Vec<Point>,
    devices: Devices,
    seed: u64,
}

impl Planner<'_> {
    fn part(&mut self, part: Part) -> Result<PlannedPart> {
        let mut rows = Vec::new();
        for (index, row) in part.rows.iter().enumerate() {
            let own = self.own_subjects(&part.id, row)?;
            for axes in changes(&part.axes) {
                rows.push(self.row(&part, (index, row), &axes, own.as_deref())?);
            }
        }
        Ok(PlannedPart { part, rows })
    }

    /// Returns the devices and the test of a row without the user's flags, at each value of the
    /// study's own axes. Returns `None` without such flags.
    fn own_subjects(&mut self, part: &str, row: &StudyRow) -> Result<Option<Vec<Tested>>> {
        let own = self.study.parts.iter().find(|own| own.id == part);
        let Some(own) = own.filter(|_| !self.options.sets.is_empty() || !self.options.axes.is_empty()) else {
            return Ok(None);
        };
        let devices = &mut self.devices;
        changes(&own.axes).map(|axes| Tested::of_row(own, row, &axes, devices)).collect::<Result<Option<_>>>()
    }

    fn row(
        &mut self,
        part: &Part,
        (index, row): (usize, &StudyRow),
        axes: &[(String, String)],
        own: Option<&[Tested]>,
    ) -> Result<PlannedRow> {
        let profile = row.profile.as_ref().unwrap_or(&part.profile);
        let (target, spec) = self.target(row, axes)?;
        let below = match &row.over {
            Some((model, sets)) => Some(self.model(model, sets, axes)?),
            None => None,
        };
        let point = self.point(profile, target.clone(), spec.clone());
        let mut others = Vec::new();
        for unknown in changes(&row.unknown).filter(|unknown| !unknown.is_empty() && spec.is_some()) {
            let Some(model) = &row.model else { break };
            let sets = [row.sets.clone(), unknown].concat();
            let (target, spec) = self.model(model, &sets, axes)?;
            others.push(self.point(profile, target, Some(spec)));
        }
        let over = below.clone().map(|(target, spec)| self.point(profile, target, Some(spec)));
        let mut planned = PlannedRow {
            row: index,
            values: axes.iter().map(|(_, value)| value.clone()).collect(),
            target,
            point,
            over,
            others,
            changed: false,
            marks: Vec::new(),
        };
        if let Some(spec) = spec {
            let tested = Tested::new(spec, below.map(|(_, spec)| spec), profile);
            planned.changed = own.is_some_and(|own| !own.iter().any(|own| own.has_same_devices(&tested)));
            let of_row = if planned.changed { Vec::new() } else { row.marks.clone() };
            let carried = self.carried.iter().chain(self.of_library);
            planned.marks = marks(of_row, (&self.study.name, part, row), &tested, carried);
        }
        Ok(planned)
    }

    /// Returns the target of a row, and its device if the target is a model.
    fn target(
        &mut self,
        row: &StudyRow,
        axes: &[(String, String)],
    ) -> Result<(PointTarget, Option<DeviceSpec>)> {
        let bound = self.options.on.iter().rfind(|(name, _)| row.on.as_deref() == Some(name.as_str()));
        if let Some(path) = bound.map(|(_, path)| path).or(row.target.as_ref()) {
            return Ok((PointTarget::Path(path.clone()), None));
        }
        let Some(model) = &row.model else { return Err(self.no_device(row)) };
        self.model(model, &row.sets, axes).map(|(target, spec)| (target, Some(spec)))
    }

    /// Returns the error for a row without a model whose device the user has not named.
    fn no_device(&self, row: &StudyRow) -> Error {
        let (name, study) = (row.on.as_deref().unwrap_or_default(), &self.study.name);
        ErrorKind::Usage
            .error(text!(
                "{study}: the row `{name}` has no model, and no device was named for it",
                "{study}: 行 `{name}` にはモデルがなく、測る機器も指定されていません"
            ))
            .remedy(text!(
                "name a folder on the device: {ON} {name}=PATH",
                "機器の上のフォルダーを指定してください: {ON} {name}=パス"
            ))
    }

    /// Returns a model with the changes of the row, then the user's, then the axes'. Applies each
    /// to check that it is valid.
    fn model(
        &mut self,
        name: &str,
        sets: &[(String, String)],
        axes: &[(String, String)],
    ) -> Result<(PointTarget, DeviceSpec)> {
        let spec = self.devices.named(name)?;
        let own = self.options.sets.iter().filter(|(parameter, _)| spec.get(parameter).is_some());
        let sets: Vec<(String, String)> = sets.iter().chain(own).chain(axes).cloned().collect();
        let spec = self.devices.changed(name, &sets)?;
        Ok((PointTarget::Model { name: name.to_owned(), sets }, spec))
    }

    /// Returns the index of a point, and adds the point if no equal one exists.
    fn point(&mut self, profile: &Profile, target: PointTarget, spec: Option<DeviceSpec>) -> usize {
        let mut profile = profile.clone();
        if let Some(seed) = self.options.seed {
            profile.rules.seed = seed;
        }
        let alike = |point: &Point| {
            let same_target = match (&point.device, &spec) {
                (Some(one), Some(other)) => one.is_same_stack(other),
                _ => point.target == target,
            };
            same_target && point.profile == profile
        };
        match self.points.iter().position(alike) {
            Some(place) => place,
            None => {
                self.points.push(Point { target, device: spec, profile, seed: self.seed });
                self.points.len() - 1
            }
        }
    }
}

/// Returns all combinations of the axes' values, the last axis fastest. Without axes this is one
/// empty combination.
pub(crate) fn product(axes: &[StudyAxis]) -> Vec<Vec<String>> {
    axes.iter().fold(vec![Vec::new()], |lists, axis| {
        lists
            .iter()
            .flat_map(|list| {
                axis.values.iter().map(move |value| [list.clone(), vec![value.clone()]].concat())
            })
            .collect()
    })
}
