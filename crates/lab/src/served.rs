//! Targets on a model that kurabe serves as a block device on this machine. A run on one records
//! this, and how well the server kept time.
//!
//! Not here: models served over a socket elsewhere, which look like any other disk.

use kurabe_core::environment::Environment;
use kurabe_core::model::ModelRecord;
use kurabe_core::number::{count, fixed, latency_ns};
use kurabe_core::record::{Notice, NoticeKind, ServedRecord};
use kurabe_core::target_name::MODEL_PREFIX;
use kurabe_core::{Result, Text, shown, text};
use kurabe_host::{ObserveOptions, devices_under, observe};
use kurabe_serve::{
    ControlRequest, ServedFigures, ask_server, attachment_of, attachments_folder, read_answer,
};
use kurabe_stats::percentile_ns;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// A served model, with its figures at the start of the run.
pub(crate) struct ServedModel {
    control: PathBuf,
    /// Kernel name of its device.
    device: String,
    name: String,
    model: ModelRecord,
    before: ServedFigures,
}

/// Returns the served models under a path. Returns none if this user may not query the server.
pub(crate) fn served_under(path: &Path) -> Vec<ServedModel> {
    let mut models: Vec<ServedModel> = Vec::new();
    for model in devices_under(path).into_iter().filter_map(served_as) {
        // Several disks of one stack share a server.
        if models.iter().all(|other| other.control != model.control) {
            models.push(model);
        }
    }
    models
}

/// Returns the served model of a device, if it is one.
fn served_as((major, minor): (u32, u32)) -> Option<ServedModel> {
    // Some machines have no /dev/block.
    let device = std::fs::read_link(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    let device = device.file_name()?.to_string_lossy().into_owned();
    let attached = attachment_of(&attachments_folder().ok()?, &Path::new("/dev").join(&device)).ok()??;
    let before = ask(&attached.control, &ControlRequest::Watch).ok()?;
    let model: ModelRecord = ask(&attached.control, &ControlRequest::Model).ok()?;
    let name = shown::line(&model.name_with_changes());
    Some(ServedModel { control: attached.control, device, name, model, before })
}

/// Returns the environment of a path, with served models marked as such.
pub(crate) fn observed(path: &Path, options: &ObserveOptions<'_>) -> Environment {
    let mut environment = observe(path, options);
    for served in devices_under(path).into_iter().filter_map(served_as) {
        let own = environment.devices.iter_mut().filter(|device| device.name == served.device);
        own.for_each(|device| device.model = Some(format!("{MODEL_PREFIX}{}", served.name)));
    }
    environment
}

fn ask<T: DeserializeOwned>(control: &Path, request: &ControlRequest) -> Result<T> {
    ask_server(control, request).and_then(read_answer)
}

impl ServedModel {
    /// Returns the notice about this model at the end of a run.
    pub(crate) fn notice(&self) -> Notice {
        let name = Text::same(self.name.as_str());
        let now = ask::<ServedFigures>(&self.control, &ControlRequest::Watch).ok();
        let faults = now.as_ref().map(|now| faults_of(&self.before, now)).unwrap_or_default();
        let served = now.map(|now| Box::new(record_of(&self.model, now.since(&self.before))));
        let kept = served.as_deref().map_or_else(
            || {
                text!(
                    "it ended before the run, so its timing is unknown",
                    "測定より先に終了したため、時間どおりだった割合は分かりません"
                )
            },
            kept_time,
        );
        let text = text!(
            "the target is an emulated disk with the model {name}; {kept}{faults}",
            "対象は実機ではなく、モデル {name} を公開したディスクです。{kept}{faults}"; name, kept, faults
        );
        Notice { kind: NoticeKind::ServedModel, text, served }
    }
}

/// Describes the faults that requests met during the run, as a clause.
fn faults_of(before: &ServedFigures, now: &ServedFigures) -> Text {
    let earlier = |fault: &str| {
        let same = before.faults.iter().filter(|old| old.fault == fault);
        same.map(|old| old.requests).sum::<u64>()
    };
    let met = now.faults.iter().filter(|fault| fault.requests > earlier(&fault.fault));
    let met = Text::list(met.map(|fault| Text::same(shown::line(&fault.fault))));
    match met.is_empty() {
        true => Text::default(),
        false => text!("; faults were injected: {met}", "。故障がありました: {met}"; met),
    }
}

/// Returns a server's figures in the form of the record.
fn record_of(model: &ModelRecord, did: ServedFigures) -> ServedRecord {
    ServedRecord {
        model: model.clone(),
        served_ns: did.served_ns,
        in_time_share: did.lateness.in_time_share,
        mean_service_ns: did.lateness.mean_service_ns,
        slowdown: did.lateness.slowdown.map(|slowdown| slowdown.mean),
        late: did.lateness.late,
        busy_share: did.busy_share,
        server_bound_seconds: did.server_bound_seconds,
        steal_share: did.steal_share,
        round_trip_ns: did.round_trip_ns,
    }
}

/// Describes how well a server kept time.
fn kept_time(served: &ServedRecord) -> Text {
    let Some(share) = served.in_time_share else {
        return text!("it received no requests", "要求はありませんでした");
    };
    let share = fixed(share * 100.0, 1);
    let answers = count(served.late.count);
    let p99 = latency_ns(percentile_ns(&served.late, 0.99).unwrap_or(0));
    let in_time = text!(
        "{share} % of its {answers} answers were on time (99 % were late by at most {p99})",
        "応答 {answers} 回のうち {share} % が時間どおりでした(99 % の応答の遅れは {p99} 以内)"
    );
    let in_time = match served.slowdown.map(|slowdown| fixed(slowdown, 2)) {
        None => in_time,
        Some(times) => text!(
            "its answers took {times} × as long as the model computes, and {in_time}",
            "応答時間はモデルの {times} 倍で、{in_time}";
            in_time
        ),
    };
    match served.server_bound_seconds {
        0 => in_time,
        bound => {
            text!("{in_time}; for {bound} s the server was the bottleneck", "{in_time}(うち {bound} 秒はサーバーが上限)"; in_time)
        }
    }
}
