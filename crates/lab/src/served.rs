//! A target that is a model, served by kurabe as a block device here: a run on it says so, and how well the model kept its
//! time meanwhile.
//!
//! Not here: models over a socket elsewhere, which look like any other disk.

use kurabe_core::environment::{Environment, SERVED_MODEL};
use kurabe_core::model::ModelRecord;
use kurabe_core::number::{count, fixed, latency_ns};
use kurabe_core::record::{Notice, NoticeKind, ServedRecord};
use kurabe_core::{Result, Text, shown, text};
use kurabe_host::{ObserveOptions, devices_under, observe};
use kurabe_serve::{
    ControlRequest, Lateness, ServedFigures, ask_server, attachment_of, attachments_folder, read_answer,
};
use kurabe_stats::{percentile_ns, since};
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// A served model, and how it stood when the run began.
pub(crate) struct ServedModel {
    control: PathBuf,
    /// What the kernel calls its device.
    device: String,
    name: String,
    model: ModelRecord,
    before: ServedFigures,
}

/// The served models under a path. Where this user may not ask, there are none to tell of.
pub(crate) fn served_under(path: &Path) -> Vec<ServedModel> {
    let mut models: Vec<ServedModel> = Vec::new();
    for model in devices_under(path).into_iter().filter_map(served_as) {
        // Several disks of one stack have one server.
        if models.iter().all(|other| other.control != model.control) {
            models.push(model);
        }
    }
    models
}

/// The model that a device is, if it is one.
fn served_as((major, minor): (u32, u32)) -> Option<ServedModel> {
    // Not all machines have /dev/block.
    let device = std::fs::read_link(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    let device = device.file_name()?.to_string_lossy().into_owned();
    let attached = attachment_of(&attachments_folder().ok()?, &Path::new("/dev").join(&device)).ok()??;
    let before = ask(&attached.control, &ControlRequest::Stats).ok()?;
    let model: ModelRecord = ask(&attached.control, &ControlRequest::Model).ok()?;
    let name = shown::line(&model.name_with_changes());
    Some(ServedModel { control: attached.control, device, name, model, before })
}

/// What a path stands on, where devices that are served models are called so.
pub(crate) fn observed(path: &Path, options: &ObserveOptions<'_>) -> Environment {
    let mut environment = observe(path, options);
    for served in devices_under(path).into_iter().filter_map(served_as) {
        let own = environment.devices.iter_mut().filter(|device| device.name == served.device);
        own.for_each(|device| device.model = Some(format!("{SERVED_MODEL}{}", served.name)));
    }
    environment
}

fn ask<T: DeserializeOwned>(control: &Path, request: &ControlRequest) -> Result<T> {
    ask_server(control, request).and_then(read_answer)
}

impl ServedModel {
    /// What a run has to say of it, now that it ends.
    pub(crate) fn notice(&self) -> Notice {
        let name = Text::same(self.name.as_str());
        let now = ask::<ServedFigures>(&self.control, &ControlRequest::Stats).ok();
        let served = now.map(|now| Box::new(served_between(&self.model, &self.before, &now)));
        let kept = served.as_deref().map_or_else(
            || {
                text!(
                    "it ended before the run, so how well it kept time cannot be told",
                    "測定より先に終了したため、時間どおりだった割合は分かりません"
                )
            },
            kept_time,
        );
        let text = text!(
            "the target is no device but a model, {name}; {kept}",
            "対象は実物ではなくモデル({name})です。{kept}"; name, kept
        );
        Notice { kind: NoticeKind::ServedModel, text, served }
    }
}

/// What a server did between two askings.
fn served_between(model: &ModelRecord, before: &ServedFigures, now: &ServedFigures) -> ServedRecord {
    // Shares and means are of all that was until then.
    let rest = |of_now: f64, weight_now: u64, of_before: f64, weight_before: u64| {
        let weight = weight_now.saturating_sub(weight_before).max(1) as f64;
        ((of_now * weight_now as f64 - of_before * weight_before as f64) / weight).max(0.0)
    };
    let of_time = |pick: fn(&ServedFigures) -> f64| {
        rest(pick(now), now.served_ns, pick(before), before.served_ns).min(1.0)
    };
    let of_answers = |pick: fn(&Lateness) -> f64| {
        let (now, before) = (&now.lateness, &before.lateness);
        rest(pick(now), now.answers, pick(before), before.answers)
    };
    let late = since(&before.lateness.late, &now.lateness.late);
    let in_time = of_answers(|lateness| lateness.in_time_share.unwrap_or(0.0)).min(1.0);
    let has_steal = before.steal_share.is_some() && now.steal_share.is_some();
    ServedRecord {
        model: model.clone(),
        served_ns: now.served_ns.saturating_sub(before.served_ns),
        in_time_share: (late.count > 0).then_some(in_time),
        late,
        mean_service_ns: of_answers(|lateness| lateness.mean_service_ns),
        busy_share: of_time(|figures| figures.busy_share),
        server_bound_seconds: now.server_bound_seconds.saturating_sub(before.server_bound_seconds),
        steal_share: has_steal.then(|| of_time(|figures| figures.steal_share.unwrap_or(0.0))),
        round_trip_ns: now.round_trip_ns,
    }
}

/// How well a server kept its time.
fn kept_time(served: &ServedRecord) -> Text {
    let Some(share) = served.in_time_share else {
        return text!("it was not asked for anything", "要求はありませんでした");
    };
    let share = fixed(share * 100.0, 1);
    let answers = count(served.late.count);
    let p99 = latency_ns(percentile_ns(&served.late, 0.99).unwrap_or(0));
    let in_time = text!(
        "{share} % of its {answers} answers were in time (99 % of them late by at most {p99})",
        "応答 {answers} 回のうち {share} % が時間どおりでした(99 % の応答の遅れは {p99} 以内)"
    );
    match served.server_bound_seconds {
        0 => in_time,
        1 => {
            text!("{in_time}, and for 1 second the server was the limit", "{in_time}(うち 1 秒はサーバーが上限)"; in_time)
        }
        bound => {
            text!("{in_time}, and for {bound} seconds the server was the limit", "{in_time}(うち {bound} 秒はサーバーが上限)"; in_time)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_serve::Grants;
    use kurabe_stats::Histogram;

    /// A server after some answers, each of so many ns late and all of so many ns in the model.
    fn figures(served_ns: u64, late_ns: &[u64], mean_service_ns: f64, shares: [f64; 3]) -> ServedFigures {
        let mut histogram = Histogram::default();
        late_ns.iter().for_each(|late_ns| histogram.record(*late_ns));
        let late = histogram.to_record();
        let [in_time, busy_share, steal] = shares;
        ServedFigures {
            served_ns,
            reads: 0,
            writes: 0,
            flushes: 0,
            trims: 0,
            read_bytes: 0,
            written_bytes: 0,
            errors: 0,
            clients: 0,
            connections: 0,
            refused_connections: 0,
            slow_connections: 0,
            lateness: Lateness {
                answers: late.count,
                in_time_share: (late.count > 0).then_some(in_time),
                p50_ns: 0,
                p90_ns: 0,
                p99_ns: 0,
                p999_ns: 0,
                max_ns: late.max_ns,
                mean_service_ns,
                late,
            },
            busy_share,
            busiest_second_share: 0.0,
            server_bound_seconds: 0,
            steal_share: Some(steal),
            round_trip_ns: 20,
            grants: Grants::default(),
            data_bytes: 0,
            defect: None,
            cuts: Vec::new(),
        }
    }

    #[test]
    fn what_was_before_the_run_is_not_the_run_s() {
        let model = kurabe_sim::load_device("ideal-ram-disk")
            .map(|spec| kurabe_sim::Stack::new(&spec, 1).map(|stack| stack.record(&spec)))
            .unwrap()
            .unwrap();
        // Four late answers before; in the run three of four in time, twice as long, half of the time busy.
        let before = figures(1_000, &[90_000; 4], 100.0, [0.0, 1.0, 0.0]);
        let now = figures(
            3_000,
            &[90_000, 90_000, 90_000, 90_000, 100, 100, 200, 50_000],
            150.0,
            [0.375, 2.0 / 3.0, 0.2],
        );
        let served = served_between(&model, &before, &now);
        assert_eq!((served.served_ns, served.late.count, served.in_time_share), (2_000, 4, Some(0.75)));
        assert_eq!(served.late.sum_ns, 50_400);
        assert_eq!(percentile_ns(&served.late, 0.5), Some(100));
        assert!((served.mean_service_ns - 200.0).abs() < 1e-6 && (served.busy_share - 0.5).abs() < 1e-6);
        assert!(served.steal_share.is_some_and(|share| (share - 0.3).abs() < 1e-6));
        let nothing = served_between(&model, &before, &before);
        assert_eq!((nothing.in_time_share, nothing.late.count), (None, 0));
    }
}
