//! What there is to say of a served model, in words: when it begins, while it goes on, at its end and long after.

use kurabe_core::mention::{CONTROL, DETACH, ROUND_TRIP, RUN};
use kurabe_core::number::{count, fixed, latency, latency_ns, moment, percent, rate, whole};
use kurabe_core::quantity::{format_bytes, format_bytes_decimal};
use kurabe_core::{Text, shown, text};
use kurabe_lab::{Detached, KeptServer, front_word};
use kurabe_serve::{
    Address, AttachBy, CutReport, FrontKind, Grants, MOST_WAY_NS, ServeRequest, ServedFacts, ServedFigures,
    ServedFront,
};
use serde_json::{Value, json};
use std::path::Path;

/// Share of the processors' time that the host may take before it is worth a word.
const STEAL_SHARE: f64 = 0.005;
/// A share of answers in time that needs no remark: what Memulator held.
const GOOD_SHARE: f64 = 0.99;

/// What is said when it begins.
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

/// What is said when its devices are there.
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
    lines.extend(common_lines(facts, request, first));
    lines.push(match log.map(shown::path) {
        Some(log) => text!("  log       {log}", "  ログ      {log}"),
        None => text!("Ctrl-C ends it, too", "Ctrl-C でも終了します"),
    });
    lines.push(text!("`{DETACH} {device}` ends it", "`{DETACH} {device}` で終了します"));
    lines
}

/// What makes the devices, and why.
fn front_line(served: ServedFront, request: &ServeRequest) -> Text {
    let was_asked = !matches!(&request.address, Address::Devices { by: AttachBy::Auto, .. });
    match (served.front, served.free_nbd_devices) {
        (FrontKind::Nbd, _) => {
            text!("  by        the kernel's nbd driver", "  方式      カーネルの nbd ドライバー")
        }
        (FrontKind::Fuse, _) if was_asked => {
            text!("  by        FUSE and a loop device", "  方式      FUSE とループデバイス")
        }
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

/// Where the bytes are, and how time is kept.
fn common_lines(facts: &ServedFacts, request: &ServeRequest, first: Option<&ServedFigures>) -> Vec<Text> {
    let way = match facts.devices.is_empty() {
        true => text!("socket", "ソケット"),
        false => text!("device", "デバイス"),
    };
    let mut lines = Vec::new();
    if let Some(most) = facts.most_memory_bytes {
        let most = format_bytes(most);
        lines.push(text!(
            "  data      in memory, gone at the end; {most} at most, then writes fail for want of space",
            "  データ    メモリー上(終了すると消えます)。上限 {most} に達すると、書き込みは空き不足で失敗します"
        ));
    }
    if let Some(first) = first {
        let round_trip = latency_ns(first.round_trip_ns);
        let is_busy = first.round_trip_ns >= MOST_WAY_NS;
        lines.push(match request.round_trip_ns {
            None if is_busy => text!(
                "  time      other programs keep this machine busy: {round_trip} are taken for a round trip, and clients see the rest",
                "  時間      ほかのプログラムで混んでいるため、往復は {round_trip} とみなします(残りはクライアントの時間に入ります)"
            ),
            None => text!(
                "  time      a round trip of the {way} takes {round_trip}, which clients are not charged with",
                "  時間      {way}の往復は {round_trip}(クライアントの時間には含めません)";
                way
            ),
            Some(_) => text!(
                "  time      arrivals count from {round_trip} earlier, as {ROUND_TRIP} says",
                "  時間      {ROUND_TRIP} により、要求は {round_trip} 早く届いたものとみなします"
            ),
        });
        lines.push(wait_line(&first.grants, request.spin_ns));
    }
    lines
}

/// How it waits, and what the operating system did not grant.
fn wait_line(grants: &Grants, spin_ns: u64) -> Text {
    let spin = latency_ns(spin_ns);
    let how = match spin_ns {
        0 => text!("asleep", "常に眠る"),
        _ => text!("asleep, and awake for the last {spin}", "眠り、直前の {spin} は眠らない"),
    };
    let wishes = [
        (grants.before_others, text!("real-time priority", "リアルタイム優先度")),
        (grants.locked_memory, text!("locked memory", "メモリーの固定")),
        (grants.exact_timers, text!("exact timers", "正確なタイマー")),
        (grants.awake_processors, text!("processors that do not doze", "CPU を休眠させないこと")),
    ];
    let refused = Text::list(wishes.into_iter().filter(|(granted, _)| !granted).map(|(_, wish)| wish));
    if refused.is_empty() {
        return text!("  waits     {how}; all that keeps time exact was granted", "  待ち方    {how}。正確さのための設定はすべて許可されました"; how);
    }
    text!(
        "  waits     {how}; not granted: {refused} (root has them; answers are later without)",
        "  待ち方    {how}。許可されなかったもの: {refused}(root なら使えます。ないと応答が遅れます)";
        how, refused
    )
}

/// One line a second.
pub fn serving_line(figures: &ServedFigures, before: Option<&ServedFigures>) -> Text {
    let from = |pick: fn(&ServedFigures) -> u64| before.map_or(0, pick);
    let seconds = (figures.served_ns - from(|figures| figures.served_ns)) as f64 / 1e9;
    let rise = |pick: fn(&ServedFigures) -> u64| (pick(figures) - from(pick)) as f64 / seconds.max(1e-3);
    let requests = whole(rise(|figures| figures.lateness.answers));
    let bytes = rate(rise(|figures| figures.read_bytes + figures.written_bytes));
    let clients = figures.clients;
    let in_time = fixed(figures.lateness.in_time_share.unwrap_or(1.0) * 100.0, 1);
    let p99 = latency_ns(figures.lateness.p99_ns);
    text!(
        "{clients} clients  {requests}/s  {bytes}  in time {in_time} %  p99 late by {p99}",
        "接続 {clients}  毎秒 {requests} 件  {bytes}  間に合った割合 {in_time} %  遅れ p99 {p99}"
    )
}

/// How it went.
pub fn served_lines(figures: &ServedFigures) -> Vec<Text> {
    let time = moment(figures.served_ns);
    let [reads, writes, flushes, trims] =
        [figures.reads, figures.writes, figures.flushes, figures.trims].map(count);
    let [read, written] = [figures.read_bytes, figures.written_bytes].map(format_bytes);
    let mut lines = vec![text!(
        "served {time}: {reads} reads ({read}), {writes} writes ({written}), {flushes} flushes, {trims} trims",
        "公開時間 {time}: 読み出し {reads} 回({read})、書き込み {writes} 回({written})、フラッシュ {flushes} 回、TRIM {trims} 回"
    )];
    let lateness = &figures.lateness;
    if let Some(share) = lateness.in_time_share {
        let share = fixed(share * 100.0, 1);
        let mean = latency(lateness.mean_service_ns);
        lines.push(text!(
            "  in time   {share} % of answers (late by at most 2 % or 20 µs; the model's mean is {mean})",
            "  時間どおり {share} %(遅れが 2 % または 20 µs 以内。モデルの平均は {mean})"
        ));
        let [p50, p90, p99, p999, most] =
            [lateness.p50_ns, lateness.p90_ns, lateness.p99_ns, lateness.p999_ns, lateness.max_ns]
                .map(latency_ns);
        lines.push(text!(
            "  late by   p50 {p50}, p90 {p90}, p99 {p99}, p99.9 {p999}, at most {most}",
            "  遅れ      p50 {p50}、p90 {p90}、p99 {p99}、p99.9 {p999}、最大 {most}"
        ));
    }
    lines.extend(blame_lines(figures));
    lines.extend(figures.cuts.iter().map(power_cut_line));
    lines
}

/// What a script reads when a server begins.
pub fn serving_json(facts: &ServedFacts, first: Option<&ServedFigures>) -> Value {
    json!({
        "event": "serving",
        "uri": facts.uri,
        "control": facts.control.as_deref().map(shown::name),
        "size_bytes": facts.size_bytes,
        "exports": facts.exports,
        "round_trip_ns": first.map(|figures| figures.round_trip_ns),
        "grants": first.map(|figures| &figures.grants),
    })
}

/// What a script reads when the devices are attached; `process` serves them.
pub fn attached_json(facts: &ServedFacts, process: u32) -> Value {
    json!({
        "event": "attached",
        "devices": facts.devices.iter().map(shown::path).collect::<Vec<_>>(),
        "by": facts.front.map(|served| front_word(served.front)),
        "control": facts.control.as_deref().map(shown::name),
        "size_bytes": facts.size_bytes,
        "process": process,
    })
}

/// Who was to blame.
fn blame_lines(figures: &ServedFigures) -> Vec<Text> {
    let (busy, busiest) = (percent(figures.busy_share), percent(figures.busiest_second_share));
    let mut lines = vec![text!(
        "  server    worked {busy} of the time, {busiest} of the busiest second",
        "  サーバー  稼働率 {busy}、最も忙しい 1 秒では {busiest}"
    )];
    if figures.server_bound_seconds > 0 {
        let seconds = count(figures.server_bound_seconds);
        lines.push(text!(
            "  server-bound in {seconds} s: requests waited for kurabe, not for the model; a slower model or fewer of them are in time",
            "  {seconds} 秒間はサーバー側が限界でした。要求はモデルでなく kurabe を待っています。遅いモデルか、少ない要求なら間に合います"
        ));
    }
    if let Some(steal) = figures.steal_share.filter(|steal| *steal >= STEAL_SHARE) {
        let steal = percent(steal);
        lines.push(text!(
            "  the host of this virtual machine took {steal} of the processors' time: answers are late for that",
            "  この仮想マシンのホストに CPU 時間の {steal} を取られました。その分、応答が遅れています"
        ));
    } else if figures.lateness.in_time_share.is_some_and(|share| share < GOOD_SHARE) {
        lines.push(text!(
            "  other programs on these processors make answers late; a model that takes longer bears more of it",
            "  同じ CPU を使うほかのプログラムがあると応答が遅れます。時間のかかるモデルほど影響は小さくなります"
        ));
    }
    if figures.refused_connections + figures.slow_connections + figures.errors > 0 {
        let [refused, slow, errors] =
            [figures.refused_connections, figures.slow_connections, figures.errors].map(count);
        lines.push(text!(
            "  clients   {errors} requests refused, {refused} clients too many, {slow} too slow",
            "  接続      拒否した要求 {errors} 件、上限超過の接続 {refused} 件、時間切れの接続 {slow} 件"
        ));
    }
    if let Some(defect) = &figures.defect {
        lines.push(text!("  {defect}", "  {defect}"; defect));
    }
    lines
}

/// What a power cut did.
pub fn power_cut_line(cut: &CutReport) -> Text {
    let [writes, at_stake, sectors, lost] =
        [cut.acknowledged_writes, cut.writes_at_stake, cut.sectors_at_stake, cut.sectors_lost].map(count);
    text!(
        "  power cut after {writes} writes: {at_stake} of them not on the medium yet; {lost} of their {sectors} sectors are lost",
        "  {writes} 回の書き込み後に電源断: うち {at_stake} 回が媒体に届いておらず、その {sectors} セクターのうち {lost} を失いました"
    )
}

/// A device that cannot be taken away yet, and who uses it.
pub fn waiting_line(device: &Path, users: &[Text]) -> Text {
    let (device, users) = (shown::path(device), Text::list(users.iter().cloned()));
    text!(
        "kurabe: {device} is in use ({users}): waiting until it is not (a second signal ends at once, and its users get errors)",
        "kurabe: {device} は使用中です({users})。使われなくなるまで待ちます(もう一度シグナルを送ると即時終了し、使用中のプログラムはエラーになります)";
        users
    )
}

/// What is said of devices that were taken away.
pub fn detached_lines(detached: &Detached) -> Vec<Text> {
    let list = detached.devices.iter().map(shown::path).collect::<Vec<_>>().join(", ");
    if detached.was_left {
        return vec![text!(
            "{list} was left by a kurabe that was killed: removed (if it is still mounted, when that ends)",
            "{list} は強制終了した kurabe が残したものでした。片付けました(マウント中なら、外したときに消えます)"
        )];
    }
    let mut lines = vec![text!("detached {list}", "切り離しました: {list}")];
    lines.extend(detached.figures.iter().flat_map(served_lines));
    lines
}

/// Servers of models that were kept, a line each.
pub fn kept_server_lines(kept: &[KeptServer]) -> Vec<Text> {
    if kept.is_empty() {
        return vec![text!(
            "No model was served so far, or there was no store to keep it in (`{RUN}` makes one).",
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
    text!(
        "{kept_at}  {name}  {time}, {answers} answers, {share} % in time, p99 late by {p99}",
        "{kept_at}  {name}  {time}、応答 {answers} 回、{share} % が時間どおり、遅れ p99 {p99}"
    )
}
