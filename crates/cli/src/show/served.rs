//! Text about a served model: at its start, while a device is in use, and at its end.

use super::ScriptLine;
use kurabe_core::mention::{CONTROL, DETACH, Mention, ROUND_TRIP, RUN};
use kurabe_core::number::{count, fixed, latency_ns, moment, whole};
use kurabe_core::quantity::{format_bytes, format_bytes_decimal};
use kurabe_core::{Text, shown, text};
use kurabe_lab::{Detached, KeptServer, front_word};
use kurabe_report::{fixed_if, served_lines};
use kurabe_serve::{
    Address, AttachBy, FrontKind, Grants, KeepingUp, MOST_WAY_NS, ServeRequest, ServedFacts, ServedFigures,
    ServedFront,
};
use std::path::Path;

/// Duration of a trim of the whole device from which a remark is shown.
const LONG_TRIM_NS: u64 = 1_000_000_000;

/// Describes a served model at its start.
pub fn serving_lines(
    facts: &ServedFacts,
    request: &ServeRequest,
    first: Option<&ServedFigures>,
) -> Vec<Text> {
    let spec = &request.spec;
    let (name, size) = (&spec.name, format_bytes_decimal(facts.size_bytes));
    let uri = shown::line(facts.uri.as_deref().unwrap_or_default());
    let mut lines = vec![match facts.exports {
        1 => text!("serving {name}, {size}, at {uri}", "{name}({size})を公開中: {uri}"),
        exports => text!(
            "serving {exports} disks of {name}, {size} each, at {uri} (exports 0 to {})",
            "{name} のディスク {exports} 台(各 {size})を公開中: {uri}(エクスポート 0〜{})",
            exports - 1
        ),
    }];
    if let Some(control) = &facts.control {
        let control = shown::path(control);
        lines.push(text!("  control   {CONTROL} {control} stats", "  制御      {CONTROL} {control} stats"));
    }
    lines.extend(common_lines(facts, request, first));
    lines.push(text!("Ctrl-C ends it", "Ctrl-C で終了します"));
    lines
}

/// Describes the attached devices.
pub fn attached_lines(
    facts: &ServedFacts,
    request: &ServeRequest,
    first: Option<&ServedFigures>,
    log: Option<&Path>,
) -> Vec<Text> {
    let (name, size) = (&request.spec.name, format_bytes_decimal(facts.size_bytes));
    let devices: Vec<String> = facts.devices.iter().map(shown::path).collect();
    let (list, device) = (devices.join(", "), devices.first().cloned().unwrap_or_default());
    let mut lines = vec![
        match facts.exports {
            1 => text!("{name}, {size}, is attached as {list}", "{name}({size})を {list} として接続しました"),
            exports => text!(
                "{exports} disks of {name}, {size} each, are attached as {list}",
                "{name} のディスク {exports} 台(各 {size})を {list} として接続しました"
            ),
        },
        text!("  control   {CONTROL} {device} stats", "  制御      {CONTROL} {device} stats"),
    ];
    lines.extend(facts.front.map(|served| front_line(served, request)));
    lines.extend(facts.trim_ns.filter(|trim_ns| *trim_ns > LONG_TRIM_NS).map(|trim_ns| {
        let (time, without) = (moment(trim_ns), Mention::Shell("mkfs.ext4 -E nodiscard"));
        text!(
            "  trim      takes about {time} for the whole device; `{without}` removes it",
            "  TRIM      全域で {time} ほどかかります。`{without}` なら省けます"
        )
    }));
    lines.extend(common_lines(facts, request, first));
    lines.push(match log.map(shown::path) {
        Some(log) => text!("  log       {log}", "  ログ      {log}"),
        None => text!("Ctrl-C also ends it", "Ctrl-C でも終了します"),
    });
    lines.push(text!("`{DETACH} {device}` ends it", "`{DETACH} {device}` で終了します"));
    lines
}

/// Names the driver that provides the devices, and the reason for the choice.
fn front_line(served: ServedFront, request: &ServeRequest) -> Text {
    let was_asked = !matches!(&request.address, Address::Devices { by: AttachBy::Auto, .. });
    match (served.front, served.free_nbd_devices) {
        (FrontKind::Nbd, _) => {
            text!("  by        the kernel's nbd driver", "  方式      カーネルの nbd ドライバー")
        }
        (FrontKind::Fuse, _) if was_asked => {
            text!("  by        FUSE and a loop device", "  方式      FUSE とループデバイス")
        }
        (FrontKind::Files, _) => text!("  by        files of FUSE", "  方式      FUSE のファイル"),
        (FrontKind::Fuse, None) => text!(
            "  by        FUSE and a loop device: no nbd driver is loaded (`modprobe nbd`)",
            "  方式      FUSE とループデバイス。nbd ドライバーが読み込まれていないため(`modprobe nbd`)"
        ),
        (FrontKind::Fuse, Some(free)) => text!(
            "  by        FUSE and a loop device: {free} nbd devices are free",
            "  方式      FUSE とループデバイス。nbd デバイスの空きが {free} 台のため"
        ),
    }
}

/// Says where the data is stored, and how time is kept.
fn common_lines(facts: &ServedFacts, request: &ServeRequest, first: Option<&ServedFigures>) -> Vec<Text> {
    let way = match facts.devices.is_empty() {
        true => text!("socket", "ソケット"),
        false => text!("device", "デバイス"),
    };
    let mut lines = Vec::new();
    if let Some(most) = facts.most_memory_bytes {
        let most = format_bytes(most);
        lines.push(text!(
            "  data      in memory, lost at the end; at most {most}, then writes fail because no space \
             is left",
            "  データ    メモリー上(終了すると消えます)。上限 {most} に達すると、書き込みは空き不足で失敗します"
        ));
    }
    if let Some(first) = first {
        let round_trip = latency_ns(first.round_trip_ns);
        let is_busy = first.round_trip_ns >= MOST_WAY_NS;
        lines.push(match request.settings.round_trip_ns {
            None if is_busy => text!(
                "  time      other programs keep this machine busy: {round_trip} are assumed as the \
                 round trip, and clients see any excess",
                "  時間      ほかのプログラムで混んでいるため、往復は {round_trip} とみなします(残りはクライアントの時間に入ります)"
            ),
            None => text!(
                "  time      a round trip of the {way} takes {round_trip}, which is subtracted",
                "  時間      {way}の往復は {round_trip}(クライアントの時間には含めません)";
                way
            ),
            Some(_) => text!(
                "  time      arrivals are dated back by {round_trip} ({ROUND_TRIP})",
                "  時間      {ROUND_TRIP} により、要求は {round_trip} 早く届いたものとみなします"
            ),
        });
        lines.push(wait_line(&first.grants, request.settings.spin_ns));
    }
    lines.extend(facts.keeping_up.as_ref().map(keeping_up_line));
    lines
}

/// Describes up to which depth this machine keeps up with a model that is faster.
fn keeping_up_line(keeping_up: &KeepingUp) -> Text {
    let KeepingUp { depth, rate_per_s, model_rate_per_s } = keeping_up;
    let [rate, model] = [*rate_per_s, *model_rate_per_s].map(whole);
    if *depth == 0 {
        return text!(
            "  too slow  this machine, at any queue depth: it serves {rate} random 4 KiB reads per \
             second one at a time; the model reaches {model} at depth 32",
            "  速度不足  このマシンはどの深さでも追いつけません(4 KiB ランダムリードは深さ 1 で毎秒 {rate} 件)。モデルは深さ 32 で毎秒 {model} 件"
        );
    }
    text!(
        "  too slow  this machine, beyond queue depth {depth} of random 4 KiB reads ({rate} per \
         second); the model reaches {model} at depth 32",
        "  速度不足  このマシンが追いつけるのは 4 KiB ランダムリードの深さ {depth}(毎秒 {rate} 件)まで。モデルは深さ 32 で毎秒 {model} 件"
    )
}

/// Describes how the server waits, and which privileges the operating system denied.
fn wait_line(grants: &Grants, spin_ns: u64) -> Text {
    let spin = latency_ns(spin_ns);
    let how = match spin_ns {
        0 => text!("asleep", "常に眠る"),
        _ => text!("sleeping, and spinning for the last {spin}", "眠り、直前の {spin} は眠らない"),
    };
    let wishes = [
        (grants.before_others, text!("real-time priority", "リアルタイム優先度")),
        (grants.locked_memory, text!("locked memory", "メモリーの固定")),
        (grants.exact_timers, text!("exact timers", "正確なタイマー")),
        (grants.awake_processors, text!("processors kept out of deep sleep", "CPU を休眠させないこと")),
    ];
    let refused = Text::list(wishes.into_iter().filter(|(granted, _)| !granted).map(|(_, wish)| wish));
    if refused.is_empty() {
        return text!(
            "  waits     {how}; everything that exact timing needs was granted",
            "  待ち方    {how}。正確さのための設定はすべて許可されました"; how
        );
    }
    text!(
        "  waits     {how}; not granted: {refused} (available to root; without them, answers are later)",
        "  待ち方    {how}。許可されなかったもの: {refused}(root なら使えます。ないと応答が遅れます)";
        how, refused
    )
}

/// Returns the script line for the start of a server.
pub fn serving_script<'a>(facts: &'a ServedFacts, first: Option<&ServedFigures>) -> ScriptLine<'a> {
    ScriptLine::Serving {
        uri: facts.uri.as_deref(),
        control: facts.control.as_deref().map(shown::name),
        size_bytes: facts.size_bytes,
        exports: facts.exports,
        round_trip_ns: first.map(|figures| figures.round_trip_ns),
        grants: first.map(|figures| figures.grants.clone()),
    }
}

/// Returns the script line for attached devices, which the process `process` serves.
pub fn attached_script(facts: &ServedFacts, process: u32) -> ScriptLine<'_> {
    ScriptLine::Attached {
        devices: facts.devices.iter().map(shown::path).collect(),
        by: facts.front.map(|served| front_word(served.front)),
        control: facts.control.as_deref().map(shown::name),
        size_bytes: facts.size_bytes,
        process,
    }
}

/// Says that a device can't be detached yet, and lists its users.
pub fn waiting_line(device: &Path, users: &[Text]) -> Text {
    let (device, users) = (shown::path(device), Text::list(users.iter().cloned()));
    text!(
        "kurabe: {device} is in use ({users}): waiting until it is not (a second signal ends at once, \
         and its users get errors)",
        "kurabe: {device} は使用中です({users})。使われなくなるまで待ちます(もう一度シグナルを送ると即時終了し、使用中のプログラムはエラーになります)";
        users
    )
}

/// Describes detached devices.
pub fn detached_lines(detached: &Detached) -> Vec<Text> {
    let list = detached.devices.iter().map(shown::path).collect::<Vec<_>>().join(", ");
    if detached.was_left {
        return vec![text!(
            "{list} was left by a killed kurabe process: removed (if it is still mounted, once it is \
             unmounted)",
            "{list} は強制終了した kurabe が残したものでした。片付けました(マウント中なら、外したときに消えます)"
        )];
    }
    let mut lines = vec![text!("detached {list}", "切り離しました: {list}")];
    lines.extend(detached.figures.iter().flat_map(served_lines));
    lines
}

/// Lists the stored records of servers, one line each.
pub fn kept_server_lines(kept: &[KeptServer]) -> Vec<Text> {
    if kept.is_empty() {
        return vec![text!(
            "No served models are recorded. Their records need a store, which `{RUN}` creates.",
            "公開したモデルの記録はありません(保存先がなければ残りません。保存先は `{RUN}` で作られます)。"
        )];
    }
    kept.iter().map(kept_server_line).collect()
}

fn kept_server_line(kept: &KeptServer) -> Text {
    let kept_at = &kept.kept_at;
    let Some(record) = kept.server() else {
        return text!(
            "{kept_at}  by another version of kurabe",
            "{kept_at}  別バージョンの kurabe による記録"
        );
    };
    let name = shown::line(&record.model.name_with_changes());
    let figures = &record.figures;
    let (time, answers) = (moment(figures.served_ns), count(figures.lateness.answers));
    let Some(share) = figures.lateness.in_time_share else {
        return text!("{kept_at}  {name}  {time}, no request", "{kept_at}  {name}  {time}、要求なし");
    };
    let (share, p99) = (fixed(share * 100.0, 1), latency_ns(figures.lateness.p99_ns));
    let times = fixed_if(figures.lateness.slowdown.map(|slowdown| slowdown.mean), 2);
    text!(
        "{kept_at}  {name}  {time}, {answers} answers, × {times}, {share} % in time, p99 late by {p99}",
        "{kept_at}  {name}  {time}、応答 {answers} 回、応答時間 {times} 倍、{share} % が時間どおり、遅れ p99 {p99}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_is_too_slow_is_told_to_what_depth_it_is_not() {
        let line = keeping_up_line(&KeepingUp { depth: 4, rate_per_s: 48_823.4, model_rate_per_s: 97_210.0 });
        assert!(
            line.en.contains("beyond queue depth 4 of random 4 KiB reads (48,823 per second)"),
            "{line:?}"
        );
        assert!(line.en.contains("the model reaches 97,210"), "{line:?}");
        assert!(
            line.ja.contains("深さ 4(毎秒 48,823 件)まで") && line.ja.contains("毎秒 97,210 件"),
            "{line:?}"
        );
    }
}
