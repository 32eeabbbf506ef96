//! A USB box or stick: a bridge with drives behind it, by the old protocol (BOT) or the new one (UAS).
//!
//! The model of BOT (Bulk-Only Transport): a command block, its data, its status, and only then the next command,
//! whichever drive of the box it is for. So the times of all commands add up, no drive ever sees two commands to choose
//! from, and drives never work at the same time. Of UAS: `depth` commands in flight for the whole box, whose data share
//! the wire. In both the data of a command flow while its drive works, piece by piece.
//!
//! Not modelled: both directions at once, which USB 3 could; bridges differ in whether they use it.

use crate::account::Cause;
use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Layer, LayerKind};
use crate::link::{CommandSlots, Wire, common_capacity_bytes, targets};
use crate::settings::{Live, Setting};
use crate::world::{Child, JobId, LayerId, World};
use kurabe_core::device::ErrorNumber;
use kurabe_core::{Result, Text, text};
use std::collections::VecDeque;

/// Where the overheads of BOT are from.
const BOT_SOURCE: &str = "derived: electronicdesign.com (2012): about 250 MB/s by BOT, 400 by UAS: 128 KiB take 196 us more, here divided among command, status and gap";

/// The kind.
pub const USB: LayerKind = LayerKind {
    word: "usb",
    title: ("a USB bridge", "USB ブリッジ"),
    of_host: false,
    below: Below::Members,
    parameters: PARAMETERS,
    relations: &[],
    build,
};

parameters! {
    /// Values of its parameters.
    struct Values, PARAMETERS {
        "members": Count(1, 64), usual("1", "assumed: a stick or a box for one drive"),
            ("drives behind the bridge", "ブリッジの先のドライブ数");
        "generation" generation: Word(&["usb-1", "usb-2", "usb-3", "usb-3.1"]), needed,
            ("which USB: 12 Mb/s, 480 Mb/s, 5 Gb/s, 10 Gb/s",
             "USB の世代: 12 Mb/s、480 Mb/s、5 Gb/s、10 Gb/s");
        "protocol" protocol: Word(&["bot", "uas"]), needed,
            ("bot: one command at a time for the whole box; uas: several",
             "bot: 箱全体で一度に 1 コマンド、uas: 複数同時");
        "efficiency" efficiency: Number(0.001, 1.0),
            usual("0.8", "electronicdesign.com (2012): about 400 MB/s by UAS, of 500 MB/s after 8b/10b coding"),
            ("share of the rate that is data", "転送速度のうちデータが占める割合");
        "depth" depth: Count(1, 256), usual("32", "assumed: as many as SATA has tags"),
            ("commands in flight by UAS", "UAS で同時に出せるコマンド数");
        "command" command_ns: Time, usual("100 us", BOT_SOURCE).live(),
            ("from the host's call until the drive has the command", "ドライブにコマンドが届くまでの時間");
        "status" status_ns: Time, usual("50 us", BOT_SOURCE).live(),
            ("from the end of the data until the host knows",
             "データの終わりからホストが完了を知るまでの時間");
        "gap" gap_ns: Time, usual("46 us", BOT_SOURCE).live(),
            ("from a status until the next command, by BOT", "BOT で、完了から次のコマンドまでの間隔");
        "piece" piece_bytes: SIZE, usual("16 KiB", "assumed: the bridge's buffer is passed on at this size"),
            ("data that are passed on at once", "一度に渡すデータの単位");
    }
}

/// Bytes per second of a generation after coding: 8b/10b at 5 Gb/s, 128b/132b at 10 Gb/s.
fn rate_bytes_per_s(generation: &str) -> f64 {
    match generation {
        "usb-1" => 1.5e6,
        "usb-2" => 60e6,
        "usb-3" => 500e6,
        _ => 1212e6,
    }
}

#[derive(Clone)]
struct Usb {
    targets: Vec<(LayerId, u16)>,
    capacity_bytes: u64,
    link: Wire,
    places: CommandSlots,
    /// One command at a time.
    bot: bool,
    /// The drive of the last command that was sent.
    last_unit: u16,
    queue: VecDeque<JobId>,
    waiting: Cause,
    values: Values,
    words: Words,
}

words! {
    struct Words {
        busy: cause("cable-busy",
            ("waiting for the USB cable", "USB ケーブルが空くのを待つ時間"),
            ("data of another command are on the cable", "別のコマンドのデータを転送中です"));
        transfer: cause("transfer",
            ("data on the USB cable", "USB ケーブル上の転送"),
            ("the part of the transfer that does not happen while the drive is still at work",
             "ドライブの動作と重ならない分の転送時間です"));
        command: cause("command",
            ("sending the command over USB", "USB でのコマンド送信"),
            ("the overhead that every command has", "コマンドごとに必ずかかる時間です"));
        status: cause("status",
            ("reporting the end over USB", "USB での完了通知"),
            ("after the data the bridge sends a message that the command is done",
             "データの後に、ブリッジがコマンドの完了を知らせる時間です"));
        other_drive: counter("other-drive",
            ("commands for another drive than the one before", "直前と別のドライブ宛てのコマンド"));
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let values = Values::new(builder);
    let rate = rate_bytes_per_s(values.generation) * values.efficiency;
    let bot = values.protocol == "bot";
    let waiting = if bot {
        builder.cause(
            "one-command",
            ("one command at a time for the whole box", "箱全体で一度に 1 コマンドという制約"),
            (
                "this USB bridge takes the next command only when the one before is done, whichever drive it was for",
                "この USB ブリッジは、どのドライブ宛てでも前のコマンドが終わるまで次を受け付けません"
            ),
        )
    } else {
        builder.line(
            "waiting",
            ("waiting for the bridge to take a command", "ブリッジがコマンドを受け付けるのを待つ時間"),
            (
                "as many commands as the bridge takes are in flight already",
                "受け付けられる数だけのコマンドがすでに実行中です",
            ),
        )
    };
    let words = Words::new(builder);
    Ok(Box::new(Usb {
        targets: targets(builder),
        capacity_bytes: common_capacity_bytes(builder),
        link: Wire::new(rate, values.piece_bytes, words.busy, words.transfer),
        places: CommandSlots::new(if bot { 1 } else { values.depth }),
        bot,
        last_unit: 0,
        queue: VecDeque::new(),
        waiting,
        values,
        words,
    }))
}

impl Usb {
    fn start(&mut self, world: &mut World) {
        while let Some(job) = self.queue.front().copied() {
            let Some(start_ns) = self.places.take(world.now_ns()) else { return };
            self.queue.pop_front();
            self.send(job, start_ns, world);
        }
    }

    fn send(&mut self, job: JobId, start_ns: u64, world: &mut World) {
        let unit = world.request(job).unit;
        if unit != self.last_unit {
            self.last_unit = unit;
            world.count(self.words.other_drive, 1);
        }
        let sent_ns = start_ns.saturating_add(self.values.command_ns);
        world.charge(job, self.waiting, start_ns);
        world.charge(job, self.words.command, sent_ns);
        self.link.send(job, sent_ns, self.targets[usize::from(unit)], world);
    }
}

impl Layer for Usb {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn units(&self) -> u16 {
        self.targets.len() as u16
    }

    fn arrive(&mut self, job: JobId, world: &mut World) {
        if usize::from(world.request(job).unit) >= self.targets.len() {
            return world.fail(job, ErrorNumber::INVALID);
        }
        self.queue.push_back(job);
        self.start(world);
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        let Some(job) = child.parent else { return };
        let data_ns = self.link.returned_ns(job, &child, world);
        let end_ns = data_ns.saturating_add(self.values.status_ns);
        world.charge(job, self.words.status, end_ns);
        let gap_ns = if self.bot { self.values.gap_ns } else { 0 };
        self.places.give(end_ns.saturating_add(gap_ns));
        world.finish_at(end_ns, job);
        self.start(world);
    }

    fn waits_for(&self) -> Option<Text> {
        (!self.queue.is_empty()).then(|| text!("the bridge to end a command", "ブリッジがコマンドを終えるの"))
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}
