//! Test environment of a run, as a block of `key  value` lines.

use crate::machine::seen::seen;
use crate::words::{self, present};
use kurabe_core::environment::{BlockDevice, DeviceHealth, FileSystem, Link, Machine};
use kurabe_core::quantity::{format_bytes, format_bytes_decimal};
use kurabe_core::{Text, number, record::RunRecord, shown, text};
use kurabe_doc::{Doc, Field, Fields, filled};

/// Returns the environment of a run as a document.
pub(crate) fn doc(record: &RunRecord) -> Doc {
    Doc::new().heading(3, text!("environment", "環境")).push(Fields::from(fields(record))).done()
}

/// Returns the environment of a run as fields.
pub(crate) fn fields(record: &RunRecord) -> Vec<Field> {
    let environment = &record.header.environment;
    let mut fields: Vec<Field> = record.header.model.as_ref().map(crate::model::fields).unwrap_or_default();
    let mut put = |key: Text, items: Vec<Text>| fields.push((key, items));
    put(text!("machine", "マシン"), machine(&environment.machine));
    put(text!("system", "システム"), system(&environment.machine));
    let file_system = environment.file_system.as_ref().map(file_system);
    put(text!("file system", "ファイルシステム"), file_system.unwrap_or_default());
    put(text!("layers", "間にある層"), environment.layers.iter().map(|layer| seen(layer)).collect());
    for device in &environment.devices {
        put(text!("device", "デバイス"), identity(device));
        put(text!("queue", "キュー"), queue(device));
        put(text!("link", "接続"), device.link.iter().flat_map(link).collect());
        let after = record.health_after.as_ref().filter(|_| environment.devices.len() == 1);
        put(text!("health", "健康状態"), health(device.health.as_ref(), after));
    }
    if environment.devices.len() != 1 {
        put(text!("health", "健康状態"), health(None, record.health_after.as_ref()));
    }
    for missing in &environment.missing {
        put(text!("not known", "不明"), vec![seen(missing)]);
    }
    // A model has its own clock.
    if let Some(instrument) = record.header.instrument.as_ref().filter(|_| record.header.model.is_none()) {
        let resolution = number::latency_ns(instrument.clock_resolution_ns);
        let cost = number::latency(instrument.clock_cost_ns);
        let steps = text!("steps of {resolution}", "分解能 {resolution}");
        put(text!("clock", "時計"), vec![steps, text!("reading it costs {cost}", "1 回の読み出しに {cost}")]);
    }
    for (word, value) in record.header.origin.iter().flat_map(|origin| &origin.facts) {
        put(shown::line(word).into(), vec![shown::line(value).into()]);
    }
    let (version, command) = (record.header.kurabe_version.clone(), record.header.command.join(" "));
    put(Text::same("kurabe"), vec![version.into(), command.into()]);
    let mut times = vec![record.header.started_at.clone()];
    times.extend(record.ended_at.iter().map(|end| format!("→ {end}")));
    let key = match record.header.origin {
        Some(_) => text!("imported", "取り込み"),
        None => text!("time", "日時"),
    };
    put(key, vec![times.join(" ").into()]);
    filled(fields)
}

fn machine(machine: &Machine) -> Vec<Text> {
    present([
        machine.model.as_ref().map(Text::same),
        machine.cpu_model.as_ref().map(Text::same),
        machine.cpu_count.map(|count| match count {
            1 => text!("1 CPU", "CPU 1 個"),
            _ => text!("{count} CPUs", "CPU {count} 個"),
        }),
        machine.cpu_governor.as_ref().map(|governor| text!("governor {governor}", "ガバナー {governor}")),
        machine.memory_bytes.map(format_bytes).map(|size| text!("{size} of memory", "メモリー {size}")),
    ])
}

fn system(machine: &Machine) -> Vec<Text> {
    let system = machine.os.iter().chain(&machine.kernel).map(Text::same);
    system.chain(words::virtualisation(machine)).collect()
}

fn file_system(file_system: &FileSystem) -> Vec<Text> {
    let text = |words: &Option<String>| words.as_ref().map(Text::same);
    let mut items = Vec::new();
    let kind = file_system.kind.clone().map_or_else(|| text!("unknown type", "種類不明"), Text::from);
    items.push(match (text(&file_system.source), text(&file_system.mount_point)) {
        (Some(source), Some(point)) => {
            text!("{kind} on {source} at {point}", "{kind} ({source} を {point} にマウント)"; kind, source, point)
        }
        (Some(source), None) => text!("{kind} on {source}", "{kind} ({source})"; kind, source),
        (None, Some(point)) => text!("{kind} at {point}", "{kind} ({point})"; kind, point),
        (None, None) => kind,
    });
    items.extend(text(&file_system.options));
    items.extend(file_system.block_size_bytes.map(|bytes| {
        let size = format_bytes(bytes);
        text!("blocks of {size}", "ブロック {size}")
    }));
    items.extend(file_system.journal.as_ref().map(|journal| {
        let journal = words::journal(journal);
        text!("journal: {journal}", "ジャーナル: {journal}"; journal)
    }));
    items.extend(file_system.size_bytes.map(|bytes| {
        let size = format_bytes(bytes);
        match file_system.free_bytes.map(format_bytes) {
            Some(free) => text!("{size}, {free} free", "{size} (空き {free})"),
            None => size.into(),
        }
    }));
    items
}

fn identity(device: &BlockDevice) -> Vec<Text> {
    let name = match &device.partition {
        Some(partition) => {
            text!("{} (partition {partition})", "{} (パーティション {partition})", device.name)
        }
        None => device.name.clone().into(),
    };
    present([
        Some(name),
        device.model.as_ref().map(Text::same),
        device.firmware.as_ref().map(|firmware| text!("firmware {firmware}", "ファームウェア {firmware}")),
        // The record has a keyed hash, by which the same drive is recognized again.
        device.serial.as_ref().map(|serial| text!("serial (hash) {serial}", "シリアル(ハッシュ値){serial}")),
        device.size_bytes.map(|bytes| format_bytes_decimal(bytes).into()),
        device.rotational.map(|turns| match turns {
            true => text!("rotating", "回転式"),
            false => text!("not rotating", "非回転式"),
        }),
        device.removable.filter(|removable| *removable).map(|_| text!("removable", "リムーバブル")),
    ])
}

fn queue(device: &BlockDevice) -> Vec<Text> {
    let sectors = match (device.logical_sector_bytes, device.physical_sector_bytes) {
        (Some(logical), Some(physical)) => {
            Some(text!("sectors {logical}/{physical} B", "セクター {logical}/{physical} B"))
        }
        (one, other) => one.or(other).map(|one| text!("sectors {one} B", "セクター {one} B")),
    };
    present([
        device.scheduler.as_ref().map(|name| text!("scheduler {name}", "スケジューラー {name}")),
        device.queue_requests.map(|count| text!("{count} requests queued", "カーネルのキュー {count} 件")),
        device
            .queue_depth
            .map(|count| text!("device takes {count} at once", "デバイスの同時処理 {count} 件")),
        device.write_cache.as_ref().map(|cache| text!("write cache: {cache}", "書き込みキャッシュ: {cache}")),
        sectors,
        device
            .largest_request_bytes
            .map(format_bytes)
            .map(|size| text!("requests up to {size}", "要求は最大 {size}")),
        device.read_ahead_bytes.map(format_bytes).map(|size| text!("read-ahead {size}", "先読み {size}")),
    ])
}

/// Returns the PCI Express generation and the number of lanes, such as `4.0 x4`. The transfer rates
/// are from the base specifications 1.0 to 6.0.
pub(super) fn pcie(speed_gt_per_s: Option<f64>, width: Option<u32>) -> Option<String> {
    const GENERATIONS: [(f64, &str); 6] =
        [(2.5, "1.0"), (5.0, "2.0"), (8.0, "3.0"), (16.0, "4.0"), (32.0, "5.0"), (64.0, "6.0")];
    let speed = speed_gt_per_s.map(|speed| {
        let generation = GENERATIONS.iter().find(|(rate, _)| (rate - speed).abs() < 0.1);
        generation.map_or_else(|| format!("{speed} GT/s"), |(_, name)| (*name).to_owned())
    });
    let words: Vec<String> = speed.into_iter().chain(width.map(|width| format!("x{width}"))).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Describes the current link, and the best link that the device supports.
pub(crate) fn link(link: &Link) -> Vec<Text> {
    let possible = |now: &Option<String>, most: Option<String>| {
        most.map(|most| {
            if now.as_ref() == Some(&most) {
                text!("the device's maximum", "デバイスの上限どおり")
            } else {
                text!("the device can {most}", "デバイスの上限は {most}")
            }
        })
    };
    let mut items = Vec::new();
    match link {
        Link::Pcie { speed_gt_per_s, width, speed_max_gt_per_s, width_max } => {
            let words = |speed, width| pcie(speed, width).map(|words| format!("PCIe {words}"));
            let now = words(*speed_gt_per_s, *width);
            let most = possible(&now, words(*speed_max_gt_per_s, *width_max));
            items.push(now.unwrap_or_else(|| "PCIe".to_owned()).into());
            items.extend(most);
        }
        Link::Sata { speed_gbit_per_s, speed_max_gbit_per_s, ncq_depth } => {
            let sata = |speed: f64| format!("SATA {speed:.1} Gbit/s");
            let now = speed_gbit_per_s.map(sata);
            let most = possible(&now, speed_max_gbit_per_s.map(sata));
            items.push(now.unwrap_or_else(|| "SATA".to_owned()).into());
            items.extend(most);
            items.extend(ncq_depth.map(|depth| format!("NCQ {depth}").into()));
        }
        Link::Usb { speed_mbit_per_s, protocol, version } => {
            let speed = speed_mbit_per_s.map(|speed| format!("USB {speed} Mbit/s"));
            items.push(speed.unwrap_or_else(|| "USB".to_owned()).into());
            items.extend(protocol.as_ref().map(|protocol| protocol.to_uppercase().into()));
            let claim = |version| text!("the device claims USB {version}", "デバイスの申告は USB {version}");
            items.extend(version.as_ref().map(claim));
        }
        Link::CardLines { timing, rate_bytes_per_s } => {
            items.push(text!("memory card", "メモリーカード"));
            items.extend(timing.clone().map(Text::from));
            items.extend(rate_bytes_per_s.map(|rate| Text::same(number::rate(rate).to_string())));
        }
        Link::RaidCard { driver, slot } => {
            items.push(text!("RAID card ({driver})", "RAID カード({driver})"));
            items.extend(self::link(slot));
        }
        Link::Virtio => items.push(Text::same("virtio")),
        Link::Loop { backing, direct } => {
            items.push(text!("loop device", "ループデバイス"));
            items.extend(backing.clone().map(Text::from));
            items.extend(direct.map(words::access));
        }
        Link::Memory => items.push(text!("memory", "メモリー")),
        Link::Other { subsystem } => items.push(subsystem.clone().into()),
    }
    items
}

/// Returns the temperatures at the beginning and at the end of the run, and the highest if it is
/// neither.
pub(crate) fn course(health: &DeviceHealth) -> Option<Text> {
    let celsius = || health.temperatures.iter().map(|sample| sample.celsius);
    let (first, last, most) = (celsius().next()?, celsius().next_back()?, celsius().max()?);
    if health.temperatures.len() < 2 {
        return None;
    }
    Some(match most > first.max(last) {
        true => text!(
            "{first} → {last} °C during the run, highest {most} °C",
            "測定中の温度 {first} → {last} °C (最高 {most} °C)"
        ),
        false => text!("{first} → {last} °C during the run", "測定中の温度 {first} → {last} °C"),
    })
}

/// Returns the health before and after. A figure that didn't change is shown once.
fn health(before: Option<&DeviceHealth>, after: Option<&DeviceHealth>) -> Vec<Text> {
    let Some(source) = before.or(after).map(|health| health.source.clone()) else { return Vec::new() };
    let pair = |value: &dyn Fn(&DeviceHealth) -> Option<String>| match [before, after].map(|one| value(one?))
    {
        [Some(before), Some(after)] if before != after => Some(format!("{before} → {after}")),
        [before, after] => before.or(after),
    };
    present([
        after.and_then(course).or_else(|| {
            pair(&|health| health.temperature_celsius.map(|degrees| format!("{degrees} °C"))).map(Text::from)
        }),
        pair(&|health| health.wear_percent.map(|wear| format!("{wear} %")))
            .map(|wear| text!("{wear} of rated life used", "定格寿命の {wear} を消費")),
        pair(&|health| health.power_on_hours.map(|hours| format!("{} h", number::count(hours))))
            .map(|hours| text!("on for {hours}", "通電 {hours}")),
        pair(&|health| health.written_bytes.map(format_bytes_decimal))
            .map(|bytes| text!("{bytes} written over its life", "累計書き込み {bytes}")),
        Some(text!("reported by {source}", "情報源 {source}")),
    ])
}
