//! A target that is a model, served by kurabe as a block device here: a run on it says so, and how well the model kept its
//! time meanwhile.
//!
//! Not here: models over a socket elsewhere, which look like any other disk.

use kurabe_core::model::ModelRecord;
use kurabe_core::number::{count, fixed};
use kurabe_core::record::{Notice, NoticeKind};
use kurabe_core::{Result, Text, shown, text};
use kurabe_host::devices_under;
use kurabe_serve::{
    ControlRequest, ServedFigures, ask_server, attachment_of, attachments_folder, read_answer,
};
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// A served model, and how it stood when the run began.
pub(crate) struct ServedModel {
    control: PathBuf,
    name: String,
    before: ServedFigures,
}

/// The served models under a path. Where this user may not ask, there are none to tell of.
pub(crate) fn served_under(path: &Path) -> Vec<ServedModel> {
    let Ok(folder) = attachments_folder() else { return Vec::new() };
    let mut models: Vec<ServedModel> = Vec::new();
    for (major, minor) in devices_under(path) {
        // Not all machines have /dev/block.
        let Ok(name) = std::fs::read_link(format!("/sys/dev/block/{major}:{minor}")) else { continue };
        let device = Path::new("/dev").join(name.file_name().unwrap_or_default());
        let Ok(Some(attached)) = attachment_of(&folder, &device) else { continue };
        // Several disks of one stack have one server.
        if models.iter().any(|model| model.control == attached.control) {
            continue;
        }
        if let (Ok(before), Ok(model)) = (
            ask(&attached.control, &ControlRequest::Stats),
            ask::<ModelRecord>(&attached.control, &ControlRequest::Model),
        ) {
            let changes = model.changes();
            let name = if changes.is_empty() {
                model.name
            } else {
                format!("{} ({})", model.name, changes.join(", "))
            };
            models.push(ServedModel { control: attached.control, name: shown::line(&name), before });
        }
    }
    models
}

fn ask<T: DeserializeOwned>(control: &Path, request: &ControlRequest) -> Result<T> {
    ask_server(control, request).and_then(read_answer)
}

impl ServedModel {
    /// What a run has to say of it, now that it ends.
    pub(crate) fn notice(&self) -> Notice {
        let name = Text::same(self.name.as_str());
        let kept = match ask::<ServedFigures>(&self.control, &ControlRequest::Stats) {
            Ok(now) => kept_time(&self.before, &now),
            Err(_) => text!(
                "it ended before the run, so how well it kept time cannot be told",
                "測定より先に終了したため、時間どおりだった割合は分かりません"
            ),
        };
        Notice {
            kind: NoticeKind::ServedModel,
            text: text!(
                "the target is no device but a model, {name}; {kept}",
                "対象は実物ではなくモデル({name})です。{kept}"; name, kept
            ),
        }
    }
}

/// How well a server kept its time between two askings.
fn kept_time(before: &ServedFigures, now: &ServedFigures) -> Text {
    let in_time = |figures: &ServedFigures| {
        figures.lateness.in_time_share.unwrap_or(0.0) * figures.lateness.answers as f64
    };
    let answers = now.lateness.answers.saturating_sub(before.lateness.answers);
    if answers == 0 {
        return text!("it was not asked for anything", "要求はありませんでした");
    }
    let share = fixed((in_time(now) - in_time(before)) / answers as f64 * 100.0, 1);
    let answers = count(answers);
    let bound = now.server_bound_seconds.saturating_sub(before.server_bound_seconds);
    let in_time = text!(
        "{share} % of its {answers} answers were in time",
        "応答 {answers} 回のうち {share} % が時間どおりでした"
    );
    match bound {
        0 => in_time,
        1 => {
            text!("{in_time}, and for 1 second the server was the limit", "{in_time}(うち 1 秒はサーバーが上限)"; in_time)
        }
        _ => {
            text!("{in_time}, and for {bound} seconds the server was the limit", "{in_time}(うち {bound} 秒はサーバーが上限)"; in_time)
        }
    }
}
