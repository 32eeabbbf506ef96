//! The first page: where, how, and the tiles that fill.

use crate::desk::Wish;
use crate::pages::board::{board_piece, plot_piece};
use crate::pages::drive::{writing, writing_command};
use crate::pages::frame::{encoded, say};
use crate::pages::job;
use crate::pages::turns::{self, Vary};
use crate::pages::{Visit, action, page as framed, piece};
use crate::places::{TargetOffer, directories, drives};
use crate::shared::Site;
use axum::extract::Json;
use axum::response::Response;
use kurabe_core::profile::Profile;
use kurabe_core::profile_library::{PROFILES, profile_named};
use kurabe_core::quantity::{parse_bytes, parse_duration_ns};
use kurabe_core::{ErrorKind, Lang, Result, Text, text};
use kurabe_lab::versus::{PreparedVersus, VersusRequest};
use kurabe_lab::{Overrides, Prepared, Procedure, RunRequest, model_name};
use kurabe_report::{Html, foreseen_doc, foreseen_versus_doc};
use kurabe_sim::{DEVICES, device_named};
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;

/// Sizes of the test file, as CrystalDiskMark offers them.
const SIZES: [&str; 9] = ["16MiB", "64MiB", "256MiB", "512MiB", "1GiB", "2GiB", "4GiB", "8GiB", "16GiB"];
/// Repetitions of a cell.
const RUNS: [&str; 6] = ["1", "2", "3", "5", "7", "9"];
/// More repetitions than these are a slip, as on the command line.
const MOST_RUNS: u32 = 1_000_000;
/// Profiles that stand first, by the tools that people come from.
const FIRST_PROFILES: [&str; 8] =
    ["default", "quick", "cdm-9", "cdm-9-nvme", "kdiskmark-3", "adm-4", "gnome-disks", "stutter"];

/// What the form sends.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Form {
    target: String,
    profile: String,
    size: String,
    runs: String,
    time: String,
    /// A step's name: that one alone is measured.
    only: String,
    /// A job file of fio, instead of the profile.
    job: String,
    /// Other targets, with commas between, that take turns with the first.
    against: String,
    /// What differs between configurations of the target, which take turns.
    vary: Vary,
}

impl Form {
    /// What the lab is asked for: what kurabe makes and takes away itself may be written, and nothing else.
    fn request(&self) -> Result<RunRequest> {
        let target = self.target.trim();
        if target.is_empty() {
            return Err(ErrorKind::Usage
                .error(text!("no place is named", "測定する場所が指定されていません"))
                .remedy(text!(
                    "choose one, or type a folder",
                    "一覧から選ぶか、フォルダーを入力してください"
                )));
        }
        let overrides = Overrides {
            size_bytes: above_zero(&self.size, parse_bytes)?,
            time_ns: above_zero(&self.time, parse_duration_ns)?,
            runs: above_zero(&self.runs, parse_runs)?,
            ..Overrides::default()
        };
        let request = RunRequest { target: own_target(target)?, overrides, ..RunRequest::default() };
        match self.job.trim() {
            "" => Ok(RunRequest { procedure: self.procedure()?, ..request }),
            job => job::ask(request, job),
        }
    }

    /// What is to be measured: one target, or two in turns.
    fn wish(&self) -> Result<Wish> {
        let request = self.request()?;
        let others = self.against.split(',').map(str::trim).filter(|target| !target.is_empty());
        let others = others.map(own_target).collect::<Result<Vec<_>>>()?;
        let variants = self.vary.variants()?;
        if others.is_empty() && variants.is_empty() {
            return Ok(Wish::Run(Box::new(request)));
        }
        if !others.is_empty() && !variants.is_empty() {
            let what = text!(
                "either several targets or configurations of one take turns",
                "交互に測れるのは、複数の対象か、1 つの対象の複数の条件のどちらかです"
            );
            return Err(ErrorKind::Usage.error(what).remedy(text!(
                "leave the other targets or the values empty",
                "交互に測る相手か、条件の値のどちらかを空にしてください"
            )));
        }
        if !self.job.trim().is_empty() || !self.only.is_empty() {
            return Err(ErrorKind::Usage
                .error(text!(
                    "targets in turns are measured by a profile",
                    "交互の測定に使えるのはプロファイルだけです"
                ))
                .remedy(text!("leave the job of fio empty", "fio のジョブを空にしてください")));
        }
        let Overrides { size_bytes, time_ns, .. } = request.overrides;
        Ok(Wish::Turns(Box::new(VersusRequest {
            targets: std::iter::once(request.target).chain(others).collect(),
            variants,
            profile: self.profile_name().to_owned(),
            time_ns,
            size_bytes,
            ..VersusRequest::default()
        })))
    }

    fn command(&self, request: &VersusRequest) -> Result<String> {
        turns::command(request, &self.vary, (&self.size, &self.time))
    }

    fn profile_name(&self) -> &str {
        if self.profile.is_empty() { "default" } else { &self.profile }
    }

    /// The profile, which must be one of kurabe's own: no file is read because a page names it.
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

/// What a form asks for in turns: as one would type it, and as the lab is asked. Both come to the same.
///
/// # Errors
/// When it asks for something else, or what it asks for makes no sense.
pub fn turns_of_form(form: &str) -> Result<(String, VersusRequest)> {
    let cannot =
        || ErrorKind::Usage.error(text!("this is no form for turns", "交互の測定のフォームではありません"));
    let form: Form = serde_json::from_str(form).map_err(|error| cannot().because(&error))?;
    match form.wish()? {
        Wish::Turns(request) => Ok((form.command(&request)?, *request)),
        Wish::Run(_) => Err(cannot()),
    }
}

/// A place, or one of kurabe's own models: no file is read because a page names it.
fn own_target(target: &str) -> Result<PathBuf> {
    if target.contains('\0') {
        return Err(
            ErrorKind::Usage.error(text!("no name holds a zero byte", "名前にゼロのバイトは使えません"))
        );
    }
    if let Some(name) = model_name(target.as_ref()) {
        device_named(name)?;
    }
    Ok(PathBuf::from(target))
}

/// A number of the form, if it is filled in.
fn above_zero<T: PartialOrd + Default>(
    words: &str,
    parse: fn(&str) -> std::result::Result<T, Text>,
) -> Result<Option<T>> {
    let words = words.trim();
    if words.is_empty() {
        return Ok(None);
    }
    let zero = text!("`{words}`: it must be above zero", "`{words}`: 0 より大きい値が必要です");
    let number = parse(words).and_then(|number| if number > T::default() { Ok(number) } else { Err(zero) });
    number.map(Some).map_err(|words| ErrorKind::Usage.error(words))
}

fn parse_runs(words: &str) -> std::result::Result<u32, Text> {
    let number = words.parse().ok().filter(|runs| *runs <= MOST_RUNS);
    number.ok_or_else(|| {
        text!("`{words}` is no number up to {MOST_RUNS}", "`{words}` は {MOST_RUNS} 以下の数ではありません")
    })
}

/// `GET /`
pub(crate) async fn page(visit: Visit) -> Response {
    framed(visit, move |shared, lang| {
        let title = text!("Measure", "測定");
        let mut html = Html::new();
        say(&mut html, "h1", "unseen", &title, lang);
        form(&mut html, lang)?;
        board_section(&mut html, shared, lang)?;
        Ok((title, html))
    })
    .await
}

/// What goes on, or went on last; it is followed from here.
pub(crate) fn board_section(html: &mut Html, shared: &Site, lang: Lang) -> Result<()> {
    let (board, number) = shared.desk.board();
    html.open(
        "section",
        &[
            ("id", "board"),
            ("data-from", &number.to_string()),
            ("aria-label", text!("result", "結果").get(lang)),
        ],
    );
    html.piece(&board_piece(board.as_ref(), lang)?).close("section");
    Ok(())
}

/// `GET /board`
pub(crate) async fn board(visit: Visit) -> Response {
    piece(visit, move |shared, lang| board_piece(shared.desk.board().0.as_ref(), lang)).await
}

/// `GET /board/plot`: the curve over the target, which grows many times a second.
pub(crate) async fn plot(visit: Visit) -> Response {
    piece(visit, move |shared, lang| Ok(plot_piece(shared.desk.board().0.as_ref(), lang))).await
}

/// `POST /plan`: what the form would do, and what it would write.
pub(crate) async fn plan(visit: Visit, Json(form): Json<Form>) -> Response {
    piece(visit, move |_, lang| {
        let mut html = Html::new();
        match form.wish()? {
            Wish::Run(request) => {
                let prepared = Prepared::new(*request)?;
                html.doc(&foreseen_doc(&prepared.foresee()?, prepared.is_modelled()), lang);
                if prepared.target().starts_with("/dev/") {
                    writing(&mut html, form.target.trim(), form.profile_name(), lang);
                }
            }
            Wish::Turns(request) => {
                let command = form.command(&request)?;
                let prepared = PreparedVersus::new(*request)?;
                html.doc(&foreseen_versus_doc(&prepared)?, lang);
                say(
                    &mut html,
                    "p",
                    "quiet",
                    &text!("the same on the command line", "コマンドラインでは"),
                    lang,
                );
                html.raw("<pre>").element("code", &[], &command).raw("</pre>");
            }
        }
        Ok(html)
    })
    .await
}

/// `POST /measure`
pub(crate) async fn start(visit: Visit, Json(form): Json<Form>) -> Response {
    action(visit, move |shared, _| Ok(json!({ "run": shared.desk.start(shared, form.wish()?)? }))).await
}

/// `POST /stop`
pub(crate) async fn stop(visit: Visit) -> Response {
    action(visit, |shared, _| {
        shared.desk.stop();
        Ok(json!({}))
    })
    .await
}

/// Where it is measured, then the rest of the form.
fn form(html: &mut Html, lang: Lang) -> Result<()> {
    html.raw("<form id=\"measure\" class=\"measure\" autocomplete=\"off\">");
    html.raw("<fieldset>");
    say(html, "legend", "", &text!("Where", "場所"), lang);
    let (directories, drives) = (directories(), drives());
    html.raw("<div class=\"places\">");
    let first = directories.iter().position(|place| place.is_usable);
    for (number, place) in directories.iter().enumerate() {
        choice(html, place, first == Some(number), lang);
    }
    drives.iter().for_each(|place| choice(html, place, false, lang));
    html.raw("</div><p class=\"line\">");
    say(html, "label", "", &text!("another folder, or a model:", "ほかのフォルダー、またはモデル:"), lang);
    let hint = text!("/mnt/usb or model:NAME", "/mnt/usb または model:名前");
    let label = text!("another folder, or a model", "ほかのフォルダー、またはモデル");
    html.open(
        "input",
        &[
            ("name", "other"),
            ("list", "models"),
            ("placeholder", hint.get(lang)),
            ("aria-label", label.get(lang)),
            ("spellcheck", "false"),
        ],
    );
    html.raw("</p><datalist id=\"models\">");
    for (name, _) in DEVICES {
        html.element("option", &[("value", &format!("model:{name}"))], device_named(name)?.title.get(lang));
    }
    html.raw("</datalist><p class=\"line\">");
    let label = text!(
        "in turns with (commas between several; empty: alone)",
        "交互に測る相手(複数はコンマ区切り、空なら単独)"
    );
    say(html, "label", "", &label, lang);
    html.open(
        "input",
        &[
            ("name", "against"),
            ("list", "models"),
            ("placeholder", hint.get(lang)),
            ("aria-label", label.get(lang)),
            ("spellcheck", "false"),
        ],
    );
    html.raw("</p>");
    turns::form(html, lang);
    html.raw("</fieldset>");
    procedure_fields(html, FIRST_PROFILES[0], lang)
}

/// How it is measured, what that costs, and the buttons; the end of the form.
pub(crate) fn procedure_fields(html: &mut Html, profile: &str, lang: Lang) -> Result<()> {
    html.raw("<fieldset>");
    say(html, "legend", "", &text!("How", "測り方"), lang);
    html.raw("<p class=\"line\">");
    profiles(html, profile, lang)?;
    let as_it_says = text!("as the profile says", "プロファイルのとおり");
    select(html, ("size", &text!("Size", "サイズ")), &SIZES, &as_it_says, lang);
    select(html, ("runs", &text!("Runs", "回数")), &RUNS, &as_it_says, lang);
    html.raw("</p>");
    job::form(html, lang);
    html.raw("<div id=\"plan\" class=\"plan\" aria-live=\"polite\"></div>");
    html.raw("<p class=\"actions\">");
    html.element(
        "button",
        &[("type", "submit"), ("class", "main"), ("id", "all")],
        text!("All", "すべて測る").get(lang),
    );
    html.element(
        "button",
        &[("type", "button"), ("id", "stop"), ("hidden", "hidden")],
        text!("Stop and keep", "停止して残す").get(lang),
    );
    html.raw("</p><p id=\"wrong\" class=\"notice warn\" role=\"alert\" hidden></p>");
    html.raw("</fieldset></form>\n");
    let words = text!(
        "Measuring needs JavaScript; stored runs can be read without it.",
        "測定には JavaScript が必要です。保存済みの結果は JavaScript なしでも読めます。"
    );
    html.raw("<noscript>").element("p", &[("class", "notice warn")], words.get(lang)).raw("</noscript>");
    Ok(())
}

fn choice(html: &mut Html, place: &TargetOffer, is_first: bool, lang: Lang) {
    html.raw("<label class=\"place\">");
    let attributes = [
        ("type", "radio"),
        ("name", "target"),
        ("value", place.target.as_str()),
        ("checked", if is_first { "checked" } else { "" }),
        ("disabled", if place.is_usable { "" } else { "disabled" }),
    ];
    html.open("input", &attributes).raw("<span><b>").words(&place.target).raw("</b>");
    if let Some(room) = &place.room {
        html.raw(" ").element("i", &[], room.get(lang));
    }
    html.element("small", &[], place.storage.get(lang));
    if let Some(limit) = &place.limit {
        html.element("small", &[("class", "limit")], limit.get(lang));
    }
    if place.is_drive && place.is_usable {
        let words = text!("to write, in a terminal:", "書き込みは端末で:");
        html.raw("<small>").words(words.get(lang)).raw(" ");
        html.element("code", &[], &writing_command(&place.target, FIRST_PROFILES[0])).raw("</small>");
        let address = format!("/drive?target={}", encoded(&place.target));
        html.element(
            "a",
            &[("href", &address)],
            text!("its curve and its past", "曲線とこれまでの測定").get(lang),
        );
    }
    html.raw("</span></label>");
}

fn profiles(html: &mut Html, chosen: &str, lang: Lang) -> Result<()> {
    html.raw("<label>").words(text!("Profile", "プロファイル").get(lang)).raw(" <select name=\"profile\">");
    let others = PROFILES.iter().map(|(name, _)| *name).filter(|name| !FIRST_PROFILES.contains(name));
    for name in FIRST_PROFILES.into_iter().chain(others) {
        let Profile { name, title, .. } = profile_named(name)?;
        let selected = if name == chosen { "selected" } else { "" };
        html.element(
            "option",
            &[("value", &name), ("selected", selected)],
            &format!("{name} — {}", title.get(lang)),
        );
    }
    html.raw("</select></label> ");
    Ok(())
}

fn select(html: &mut Html, (name, label): (&'static str, &Text), values: &[&str], none: &Text, lang: Lang) {
    html.raw("<label>").words(label.get(lang)).raw(" ").open("select", &[("name", name)]);
    html.raw("<option value=\"\">").words(none.get(lang)).raw("</option>");
    for value in values {
        html.element("option", &[("value", value)], value);
    }
    html.raw("</select></label> ");
}
