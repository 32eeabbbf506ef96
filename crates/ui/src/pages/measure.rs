//! The first page: where and how to measure, and the last run. Before the first run, it shows the
//! drives of this machine instead.

use super::board::{board_piece, plot_piece};
use super::drive::writing;
use super::drives::drive_list;
use super::job;
use super::kit::*;
use super::run::load;
use super::versus::{self, Vary};
use crate::desk::Wish;
use crate::places::{DriveCard, drive_cards};
use kurabe_core::target_name::{MODEL_PREFIX, TargetName};
use kurabe_lab::versus::{PreparedVersus, VersusRequest};
use kurabe_lab::{Overrides, Prepared, Procedure, RunRequest};
use kurabe_profile::PROFILES;
use kurabe_report::{foreseen_sentence, foreseen_versus_doc};
use kurabe_sim::{DEVICES, device_named};

/// Sizes of the test file, as in CrystalDiskMark.
const SIZES: [&str; 9] = ["16MiB", "64MiB", "256MiB", "512MiB", "1GiB", "2GiB", "4GiB", "8GiB", "16GiB"];
/// Choices for the number of repetitions of a cell.
const RUNS: [&str; 6] = ["1", "2", "3", "5", "7", "9"];
/// Initial profile.
const FIRST_PROFILE: &str = "default";

/// The fields of the form.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Form {
    target: String,
    profile: String,
    size: String,
    runs: String,
    time: String,
    /// Label of a step. If set, only this step is measured.
    only: String,
    /// A fio job file, used instead of the profile.
    job: String,
    /// Other targets, separated by commas, that are interleaved with the first.
    against: String,
    /// Settings that differ between interleaved configurations of the target.
    vary: Vary,
}

impl Form {
    /// Returns the request to the lab. It allows writing only to files that kurabe itself creates
    /// and removes.
    fn request(&self) -> Result<RunRequest> {
        let target = self.target.trim();
        if target.is_empty() {
            return Err(usage(
                text!("no target was given", "測定する場所が指定されていません"),
                text!("choose one, or type a folder", "一覧から選ぶか、フォルダーを入力してください"),
            ));
        }
        let mut overrides = Overrides::default();
        for (option, words) in [("size", &self.size), ("time", &self.time), ("runs", &self.runs)] {
            let words = words.trim();
            let wrong = |why: Text| text!("`{words}`: {why}", "`{words}`: {why}"; why);
            if !words.is_empty() {
                overrides.set(option, words).map_err(|why| ErrorKind::Usage.error(wrong(why)))?;
            }
        }
        let request = RunRequest { target: own_target(target)?, overrides, ..RunRequest::default() };
        match self.job.trim() {
            "" => Ok(RunRequest { procedure: self.procedure()?, ..request }),
            job => job::ask(request, job),
        }
    }

    /// Returns the requested measurement: one target, or several interleaved ones.
    fn wish(&self) -> Result<Wish> {
        let request = self.request()?;
        let others = self.against.split(',').map(str::trim).filter(|target| !target.is_empty());
        let others = others.map(own_target).collect::<Result<Vec<_>>>()?;
        let variants = versus::variants(&self.vary)?;
        if others.is_empty() && variants.is_empty() {
            return Ok(Wish::Run(Box::new(request)));
        }
        if !self.job.trim().is_empty() || !self.only.is_empty() {
            return Err(usage(
                text!(
                    "interleaved targets are measured with a profile",
                    "交互の測定に使えるのはプロファイルだけです"
                ),
                text!("leave the fio job empty", "fio のジョブを空にしてください"),
            ));
        }
        let Overrides { size_bytes, time_ns, .. } = request.overrides;
        let overrides = Overrides { size_bytes, ..Overrides::default() };
        Ok(Wish::Versus(Box::new(VersusRequest {
            targets: std::iter::once(request.target).chain(others).collect(),
            variants,
            profile: self.profile_name().to_owned(),
            time_ns,
            overrides,
            ..VersusRequest::default()
        })))
    }

    fn profile_name(&self) -> &str {
        if self.profile.is_empty() { "default" } else { &self.profile }
    }

    /// Returns the profile. Only built-in profiles are allowed: a page must not make kurabe read a
    /// file.
    fn procedure(&self) -> Result<Procedure> {
        let mut profile = profile_named(self.profile_name())?;
        if !self.only.is_empty() {
            profile.steps.retain(|step| step.label() == self.only);
            if profile.steps.is_empty() {
                let (only, name) = (&self.only, &profile.name);
                return Err(ErrorKind::Usage.error(text!(
                    "{name} has no step {only}",
                    "{name} に {only} というステップはありません"
                )));
            }
        }
        Ok(Procedure::Given(Box::new(profile)))
    }
}

/// Returns a form's interleaved measurement as a command line and as a request to the lab. Both are
/// equivalent.
///
/// # Errors
///
/// Returns an error if the form requests another measurement, or is invalid.
pub fn versus_of_form(form: &str) -> Result<(String, VersusRequest)> {
    let cannot = || {
        ErrorKind::Usage.error(text!(
            "this form does not describe an interleaved measurement",
            "交互の測定のフォームではありません"
        ))
    };
    let form: Form = serde_json::from_str(form).map_err(|error| cannot().because(&error))?;
    match form.wish()? {
        Wish::Versus(request) => {
            Ok((versus::command(&request, &form.vary, (&form.size, &form.time))?, *request))
        }
        Wish::Run(_) => Err(cannot()),
    }
}

/// Returns a path or a built-in model. A page must not make kurabe read a model file.
fn own_target(target: &str) -> Result<TargetName> {
    if target.contains('\0') {
        return Err(ErrorKind::Usage
            .error(text!("a name cannot contain a zero byte", "名前にゼロのバイトは使えません")));
    }
    let target = TargetName::from(target);
    if let Some(name) = target.model() {
        device_named(name)?;
    }
    Ok(target)
}

/// Handles `GET /`.
pub(crate) fn page(shared: &App, lang: Lang, (): ()) -> Result<Made> {
    let last = last_run(shared);
    let cards = drive_cards();
    let is_first = last.is_none() && shared.desk.board().0.is_none();
    let title = match is_first {
        true => text!("Measure a drive", "ドライブを測定"),
        false => text!("Measure", "測定"),
    };
    let label =
        if is_first { text!("Where", "場所") } else { text!("Measure again", "もう一度測定") };
    let target = first_target(last.as_ref(), &cards).filter(|_| !is_first);
    let own = last.as_ref().map(|run| run.header.profile_name());
    let own = own.as_deref().filter(|own| PROFILES.iter().any(|(name, _)| name == own));
    let place = place_field(&label, target.as_deref(), &cards, lang)?;
    let drives = drive_list(&cards, is_first, lang);
    let page = html! {
        h1 class=[(!is_first).then_some("unseen")] { (title.get(lang)) }
        (measure_form(&place, &drives, own.unwrap_or(FIRST_PROFILE), lang)?)
        (board_section(shared, last.as_ref(), lang))
    };
    Ok(Made::Headed(title, page))
}

/// Returns the last stored run, if it measured anything.
fn last_run(shared: &Site) -> Option<RunRecord> {
    load(shared, "last").ok().filter(|run| !run.cells.is_empty())
}

/// Returns the target of the last run, otherwise the first place that can be measured.
fn first_target(last: Option<&RunRecord>, cards: &[DriveCard]) -> Option<String> {
    let last = last.and_then(|run| run.header.target.as_ref()).map(|target| shown::line(target.place()));
    last.or_else(|| cards.iter().find_map(DriveCard::target).map(|place| place.target.clone()))
}

/// Renders the current run or the last one, with the number from which the page follows it.
pub(crate) fn board_section(shared: &Site, last: Option<&RunRecord>, lang: Lang) -> Markup {
    let (board, number) = shared.desk.board();
    html! {
        section #board data-from=(number) aria-label=(text!("result", "結果").get(lang)) {
            (board_piece(board.as_ref(), last, lang))
        }
    }
}

/// Handles `GET /board`.
pub(crate) fn board(shared: &App, lang: Lang, (): ()) -> Result<Made> {
    let board = shared.desk.board().0;
    let last = if board.is_none() { last_run(shared) } else { None };
    Ok(Made::Piece(board_piece(board.as_ref(), last.as_ref(), lang)))
}

/// Handles `GET /board/plot`: the curve over the target, which grows many times a second.
pub(crate) fn plot(shared: &App, lang: Lang, (): ()) -> Result<Made> {
    Ok(Made::Piece(plot_piece(shared.desk.board().0.as_ref(), lang)))
}

/// Handles `POST /plan`: what the form would measure and write.
pub(crate) fn plan(_: &App, lang: Lang, Json(form): Json<Form>) -> Result<Made> {
    Ok(Made::Piece(match form.wish()? {
        Wish::Run(request) => {
            let prepared = Prepared::new(*request)?;
            html! {
                p { (foreseen_sentence(&prepared.foresee()?).get(lang)) }
                @if prepared.target().path().is_some_and(|path| path.starts_with("/dev/")) {
                    (writing(form.target.trim(), form.profile_name(), lang))
                }
            }
        }
        Wish::Versus(request) => {
            let command = versus::command(&request, &form.vary, (&form.size, &form.time))?;
            html! {
                (written(&foreseen_versus_doc(&PreparedVersus::new(*request)?.foresee()?), lang))
                p.quiet { (text!("the same on the command line", "コマンドラインでは").get(lang)) }
                pre { code { (command) } }
            }
        }
    }))
}

/// Handles `POST /measure`.
pub(crate) fn start(shared: &App, _: Lang, Json(form): Json<Form>) -> Result<Made> {
    Ok(Made::Data(json!({ "run": shared.desk.start(shared, form.wish()?)? })))
}

/// Handles `POST /stop`.
pub(crate) fn stop(shared: &App, _: Lang, (): ()) -> Result<Made> {
    shared.desk.stop();
    Ok(Made::Data(json!({})))
}

/// Renders the field of the place to measure, which completes places of this machine and models.
fn place_field(label: &Text, target: Option<&str>, cards: &[DriveCard], lang: Lang) -> Result<Markup> {
    let hint = text!("a folder, a device, or model:NAME", "フォルダー、デバイス、または model:名前");
    Ok(html! {
        label.where {
            (label.get(lang))
            input name="target" list="places" value=[target] placeholder=(hint.get(lang)) required spellcheck="false";
        }
        datalist #places {
            @for place in cards.iter().flat_map(|card| card.directories.iter().chain(&card.whole)) {
                @if place.is_usable { option value=(place.target) { (place.line(lang)) } }
            }
            @for (name, _) in DEVICES {
                option value={ (MODEL_PREFIX) (name) } { (device_named(name)?.title.get(lang)) }
            }
        }
    })
}

/// Renders the form: a row with place, profile and the start button, then the cost, then everything
/// that few users change. `drives` is the list of drives, if the form has one.
pub(crate) fn measure_form(place: &Markup, drives: &Markup, profile: &str, lang: Lang) -> Result<Markup> {
    let words = text!(
        "Measuring needs JavaScript; stored runs can be read without it.",
        "測定には JavaScript が必要です。保存済みの結果は JavaScript なしでも読めます。"
    );
    let against = text!("another target (separate several with commas)", "ほかの場所(複数はカンマ区切り)");
    let nothing = text!("Choose a drive, or type a target.", "ドライブを選ぶか、場所を入力してください。");
    Ok(html! {
        form.measure #measure autocomplete="off" {
            div.ask {
                (place)
                (profiles(profile, lang)?)
                button.main #all type="submit" { (text!("Start", "測定開始").get(lang)) }
                button.main #stop type="button" hidden { (text!("Stop and save", "停止して残す").get(lang)) }
            }
            p.notice.warn #wrong role="alert" hidden {}
            div.plan #plan aria-live="polite" data-nothing=(nothing.get(lang)) {}
            div.more-ways {
                (drives)
                details #options {
                    summary { (text!("Options", "オプション").get(lang)) }
                    p.line {
                        (choice(("size", text!("Size", "サイズ")), or_as_said(&SIZES), None, lang))
                        (choice(("runs", text!("Repetitions", "回数")), or_as_said(&RUNS), None, lang))
                    }
                }
                details #vary {
                    summary { (text!("Compare with another target or setting", "ほかの場所や条件と比べる").get(lang)) }
                    p.line {
                        label {
                            (against.get(lang)) " " input name="against" list="places" spellcheck="false";
                        }
                    }
                    (versus::form(lang))
                }
                (job::form(lang))
            }
        }
        (without_script(&words, lang))
    })
}

/// Returns the choices, preceded by the profile's own setting.
fn or_as_said<'a>(values: &'a [&'a str]) -> impl Iterator<Item = (&'a str, Text)> {
    let as_said = ("", text!("the profile's", "プロファイルのとおり"));
    std::iter::once(as_said).chain(values.iter().map(|value| (*value, Text::same(*value))))
}
