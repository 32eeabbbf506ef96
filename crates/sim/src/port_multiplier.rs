//! A port multiplier: one SATA port for several drives.
//!
//! The model: by FIS-based switching every frame says which drive it is for, so all drives may have commands, each its
//! own queue; only the data share the port. By command-based switching the host has commands outstanding at one drive
//! at a time: a command for another drive waits until that one has ended all of its own, and the drive that is asked
//! for next is not asked again before the switch. (libata `sata_pmp_qc_defer_cmd_switch`.) Commands are served in the
//! order of arrival, because a drive that waits claims the port.
//!
//! Not modelled: the host's limit of tags for all drives together, which differs among controllers.

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Layer, LayerKind};
use crate::link::{Wire, common_capacity_bytes, targets};
use crate::sata::rate_bytes_per_s;
use crate::settings::{Live, Setting};
use crate::world::{Child, JobId, LayerId, World};
use kurabe_core::device::ErrorNumber;
use kurabe_core::{Result, Text, text};
use std::collections::VecDeque;

/// The kind.
pub const PORT_MULTIPLIER: LayerKind = LayerKind {
    word: "port-multiplier",
    title: ("a SATA port multiplier", "SATA ポートマルチプライヤー"),
    of_host: false,
    below: Below::Members,
    parameters: PARAMETERS,
    relations: &[],
    build,
};

parameters! {
    /// Values of its parameters.
    struct Values, PARAMETERS {
        "members": Count(1, 15), needed, ("drives at the port", "ポートにつながるドライブ数");
        "switching" switching: Word(&["fbs", "cbs"]), needed,
            ("fbs: commands at all drives at once (FIS-based); cbs: at one drive at a time (command-based)",
             "fbs: 全ドライブに同時にコマンドを出せる(FIS-based)、cbs: 一度に 1 台だけ(command-based)");
        "generation" generation: Word(&["sata-1", "sata-2", "sata-3"]), needed,
            ("the port's SATA: 1.5, 3 or 6 Gb/s", "ポートの SATA の世代: 1.5、3、6 Gb/s");
        "efficiency" efficiency: Number(0.001, 1.0),
            usual("0.93", "derived: the fastest 6 Gb/s drives are sold with 560 MB/s, of 600 MB/s after 8b/10b coding"),
            ("share of the rate that is data", "転送速度のうちデータが占める割合");
        "switch" switch_ns: Time,
            usual("20 us", "assumed: the host writes the port number and starts its engine again").live(),
            ("turning to another drive, by cbs", "cbs で別のドライブに切り替える時間");
        "piece" piece_bytes: SIZE, usual("8 KiB", "Serial ATA 2.5: a data frame holds at most 8192 bytes"),
            ("data that are passed on at once", "一度に渡すデータの単位");
    }
}

#[derive(Clone)]
struct PortMultiplier {
    targets: Vec<(LayerId, u16)>,
    capacity_bytes: u64,
    link: Wire,
    one_drive: bool,
    /// By command-based switching: the drive that has the port, since when, and how many commands it has.
    unit: u16,
    ready_ns: u64,
    outstanding: u64,
    /// When the last command ended of those that came back.
    ended_ns: u64,
    queue: VecDeque<JobId>,
    values: Values,
    words: Words,
}

words! {
    struct Words {
        busy: cause("port-busy",
            ("waiting for the shared port", "共有ポートが空くのを待つ時間"),
            ("data of another command are on the port's cable", "別のコマンドのデータを転送中です"));
        transfer: cause("transfer",
            ("data on the shared port", "共有ポートの転送"),
            ("the part of the transfer that does not happen while the drive is still at work",
             "ドライブの動作と重ならない分の転送時間です"));
        other_drive: cause("other-drive",
            ("waiting for another drive at the port", "同じポートの別ドライブを待つ時間"),
            ("this port lets only one drive have commands at a time, so the others wait until it is done",
             "このポートでは一度に 1 台のドライブしかコマンドを持てないため、ほかのドライブは終わるのを待ちます"));
        switching: cause("switch",
            ("turning to another drive", "ドライブの切り替え"),
            ("the host sets the port to another drive", "ポートの接続先を別のドライブに切り替える時間です"));
        switches: counter("switches", ("switches to another drive", "ドライブの切り替え"));
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let (values, words) = (Values::new(builder), Words::new(builder));
    let rate = rate_bytes_per_s(values.generation) * values.efficiency;
    Ok(Box::new(PortMultiplier {
        targets: targets(builder),
        capacity_bytes: common_capacity_bytes(builder),
        link: Wire::new(rate, values.piece_bytes, words.busy, words.transfer),
        one_drive: values.switching == "cbs",
        unit: 0,
        ready_ns: 0,
        outstanding: 0,
        ended_ns: 0,
        queue: VecDeque::new(),
        values,
        words,
    }))
}

impl PortMultiplier {
    fn start(&mut self, world: &mut World) {
        while let Some(job) = self.queue.front().copied() {
            let now_ns = world.now_ns();
            let unit = world.request(job).unit;
            if self.one_drive && unit != self.unit {
                if self.outstanding > 0 {
                    return;
                }
                let drained_ns = now_ns.max(self.ended_ns);
                world.charge(job, self.words.other_drive, drained_ns);
                world.count(self.words.switches, 1);
                (self.unit, self.ready_ns) = (unit, drained_ns.saturating_add(self.values.switch_ns));
            }
            world.charge(job, self.words.other_drive, now_ns);
            let start_ns = now_ns.max(self.ready_ns);
            world.charge(job, self.words.switching, start_ns);
            self.queue.pop_front();
            self.outstanding += 1;
            self.link.send(job, start_ns, self.targets[usize::from(unit)], world);
        }
    }
}

impl Layer for PortMultiplier {
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
        let end_ns = self.link.returned_ns(job, &child, world);
        self.outstanding -= 1;
        self.ended_ns = self.ended_ns.max(end_ns);
        world.finish_at(end_ns, job);
        self.start(world);
    }

    fn waits_for(&self) -> Option<Text> {
        (!self.queue.is_empty())
            .then(|| text!("another drive at the port to be done", "同じポートの別ドライブが終わるの"))
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}
