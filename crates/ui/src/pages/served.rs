//! Served models: how well each keeps its timing, its power state, and the parameters that can be
//! changed while it is served.
//!
//! The model: the page is rendered anew for each request. The script requests it every second and
//! replaces the parts that changed. The figures cover the time between two requests, which is shown
//! with them.

use super::kit::*;
use kurabe_core::mention::{ATTACH, SERVE};
use kurabe_core::model::ModelRecord;
use kurabe_lab::{ServedNote, ServedNow, served_notes, served_now};
use kurabe_report::served_doc;
use kurabe_serve::{ControlRequest, ServedFigures, ask_server};
use kurabe_sim::KINDS;
use std::collections::BTreeMap;

/// The last figures of each server.
static SEEN: Mutex<BTreeMap<String, ServedFigures>> = Mutex::new(BTreeMap::new());

/// Handles `GET /served`.
pub(crate) fn page(shared: &App, lang: Lang, (): ()) -> Result<Made> {
    // Computing the client figures would disturb a measurement of real storage.
    let may_compute = shared.desk.refuse_beside_real().is_ok();
    let request = if may_compute { ControlRequest::Stats } else { ControlRequest::Watch };
    let notes = shared.served.as_deref().map_or_else(Vec::new, served_notes);
    let answers = served_now(&notes, &request);
    let nothing = text!(
        "No model is being served. To serve one as a block device of this machine (root), or as an NBD \
         export:",
        "提供中のモデルはありません。このマシンのブロックデバイス(root)または NBD エクスポートとして提供できます:"
    );
    let page = html! {
        div #served {
            @for (note, answer) in notes.iter().zip(&answers) { (server(note, answer, lang)) }
            @if notes.is_empty() {
                div.empty {
                    p { (nothing.get(lang)) }
                    pre { code { (format!("{ATTACH:#} model:hua722020-usb\n{SERVE:#} model:hua722020-usb --socket disk.sock")) } }
                }
            }
        }
    };
    Ok(Made::Page(text!("Served models", "提供中のモデル"), page))
}

fn server(note: &ServedNote, answer: &ServedNow, lang: Lang) -> Markup {
    let model = answer.as_ref().map_or(&note.model, |(_, model)| model);
    let since = number::date_minute(&note.since);
    html! {
        section #(note.id) {
            h2 { (shown::line(model.title.get(lang))) }
            p.quiet {
                @for address in &note.addresses { code { (shown::line(address)) } " · " }
                (shown::line(&model.name_with_changes())) " · " (text!("since {since}", "開始 {since}").get(lang))
            }
            @match answer {
                Ok((figures, model)) => {
                    @let before = locked(&SEEN).insert(note.id.clone(), figures.clone());
                    div { (written(&served_doc(figures, &figures.since(&before.unwrap_or_default())), lang)) }
                    (controls(&note.id, model, lang))
                }
                Err(error) => p.notice.warn { (Message::of(error).line(lang)) },
            }
        }
    }
}

/// Renders the controls of a served model. The button that cuts the power is behind an explanation
/// of the consequences.
fn controls(id: &str, model: &ModelRecord, lang: Lang) -> Markup {
    let loss = text!(
        "A power cut loses data that were not flushed, as on the modelled device. Clients are \
         disconnected, and an attached device fails every request until the power is back on.",
        "電源断では、フラッシュされていないデータが実機と同じように失われます。接続は切れ、接続したデバイスは電源を入れるまですべての要求がエラーになります。"
    );
    let live = live_parameters(model);
    let parameters = live.iter().map(|(name, words)| (name.as_str(), words.clone()));
    let button = |word: &str, name: Text| html! { button name="do" value=(word) { (name.get(lang)) } " " };
    html! {
        details {
            summary { (text!("Power and parameters", "電源とパラメーター").get(lang)) }
            form.line data-post={ "/served/" (id) } {
                (choice(("parameter", text!("Parameter", "パラメーター")), parameters, None, lang))
                label { (text!("new value", "新しい値").get(lang)) " " input name="value" spellcheck="false"; }
                (button("set", text!("change", "変更")))
                output {}
            }
            form.line data-post={ "/served/" (id) } {
                p { (loss.get(lang)) }
                (button("cut", text!("cut the power", "電源を切る")))
                (button("power-on", text!("power on", "電源を入れる")))
                output {}
            }
            (without_script(&text!("This needs the page's script, which is off.", "この操作には JavaScript が必要です。"), lang))
        }
    }
}

/// Returns the parameters that can be changed, with their values.
fn live_parameters(model: &ModelRecord) -> Vec<(String, Text)> {
    let mut live = Vec::new();
    for layer in &model.layers {
        let kind = KINDS.iter().find(|kind| kind.word == layer.kind);
        for parameter in kind.into_iter().flat_map(|kind| kind.parameters).filter(|parameter| parameter.live)
        {
            let name = format!("{}.{}", layer.name, parameter.key);
            let value = layer.value(parameter.key).unwrap_or(number::NONE);
            let (en, ja) = parameter.meaning;
            let words = text!("{name} = {value} ({en})", "{name} = {value}({ja})");
            live.push((name, words));
        }
    }
    live
}

/// Handles `POST /served/NOTE`: executes a request of `kurabe control`.
pub(crate) fn control(
    shared: &App,
    _: Lang,
    (Path(id), Json(request)): (Path<String>, Json<ControlRequest>),
) -> Result<Made> {
    let notes = shared.served.as_deref().map_or_else(Vec::new, served_notes);
    let ended = || ErrorKind::Target.error(text!("this server has ended", "このサーバーは終了しました"));
    let note = notes.iter().find(|note| note.id == id).ok_or_else(ended)?;
    ask_server(&note.control, &request).map(Made::Data)
}
