//! A drive's own cable: serial ATA with or without command queueing, and the parallel ATA before it.
//!
//! The model: a command waits for one of `depth` places, takes its overhead, and goes to the drive, which may end
//! several in an order of its own; their data share the wire. A flush is no queued command: it waits until nothing is in
//! flight, and while it runs nothing else begins. (libata `ata_std_qc_defer`; ATA8-ACS, FLUSH CACHE EXT.)
//!
//! Not modelled: the two directions of a wire are one timeline, because only one frame with data is on its way at a
//! time.

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Layer, LayerKind};
use crate::link::{CommandSlots, Wire};
use crate::settings::{Live, Setting};
use crate::world::{Child, JobId, LayerId, RequestKind, World};
use kurabe_core::{Result, Text, text};
use std::collections::VecDeque;

/// The kind.
pub const SATA: LayerKind = LayerKind {
    word: "sata",
    title: ("an ATA or SATA cable", "ATA / SATA ケーブル"),
    of_host: false,
    below: Below::One,
    parameters: PARAMETERS,
    relations: &[],
    build,
};

parameters! {
    /// Values of its parameters.
    struct Values, PARAMETERS {
        "generation" generation: Word(&["ata-33", "ata-66", "ata-100", "ata-133", "sata-1", "sata-2", "sata-3"]), needed,
            ("which ATA: the number of parallel ATA is its MB/s; SATA 1, 2 and 3 have 1.5, 3 and 6 Gb/s",
             "ATA の世代。パラレル ATA は数字が MB/s、SATA 1・2・3 は 1.5・3・6 Gb/s");
        "efficiency" efficiency: Number(0.001, 1.0),
            usual("0.93", "derived: the fastest 6 Gb/s drives are sold with 560 MB/s, of 600 MB/s after 8b/10b coding"),
            ("share of the rate that is data", "転送速度のうちデータが占める割合");
        "depth" depth: Count(1, 32), usual("32", "Serial ATA 2.5: 32 tags; 1 where command queueing is off"),
            ("commands in flight; 1 is without command queueing", "同時に出せるコマンド数(1 は NCQ なし)");
        "command" command_ns: Time, usual("10 us", "assumed").live(),
            ("overhead of a command", "コマンド 1 回の処理時間");
        "piece" piece_bytes: SIZE, usual("8 KiB", "Serial ATA 2.5: a data frame holds at most 8192 bytes"),
            ("data that are passed on at once", "一度に渡すデータの単位");
    }
}

/// Bytes per second of a generation. SATA sends ten bits for eight.
pub(crate) fn rate_bytes_per_s(generation: &str) -> f64 {
    match generation {
        "ata-33" => 33.3e6,
        "ata-66" => 66.7e6,
        "ata-100" => 100e6,
        "ata-133" => 133.3e6,
        "sata-1" => 150e6,
        "sata-2" => 300e6,
        _ => 600e6,
    }
}

#[derive(Clone)]
struct Sata {
    below: LayerId,
    capacity_bytes: u64,
    units: u16,
    link: Wire,
    places: CommandSlots,
    /// A flush is at the drive.
    flushing: bool,
    queue: VecDeque<JobId>,
    values: Values,
    words: Words,
}

words! {
    struct Words {
        busy: cause("cable-busy",
            ("waiting for the cable", "ケーブルが空くのを待つ時間"),
            ("data of another command are on the cable", "別のコマンドのデータを転送中です"));
        transfer: cause("transfer",
            ("data on the cable", "ケーブル上の転送"),
            ("the part of the transfer that does not happen while the drive is still at work",
             "ドライブの動作と重ならない分の転送時間です"));
        waiting: line("waiting",
            ("waiting for the drive to take a command", "ドライブがコマンドを受け付けるのを待つ時間"),
            ("as many commands as the cable allows are at the drive already, or it empties its queue for a flush",
             "出せる数だけのコマンドがすでに実行中か、フラッシュの前に残りのコマンドを終わらせています"));
        behind_flush: cause("behind-flush",
            ("waiting behind a flush", "フラッシュが終わるのを待つ時間"),
            ("while a SATA drive writes out its cache, it takes no other command, not even a read",
             "SATA ドライブはキャッシュを書き出している間、読み出しも含めてほかのコマンドを受け付けません"));
        command: cause("command",
            ("sending the command", "コマンドの送信"),
            ("the overhead that every command has", "コマンドごとに必ずかかる時間です"));
        flushes: counter("flushes", ("flushes that stopped all else", "他を止めたフラッシュ"));
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let (values, words) = (Values::new(builder), Words::new(builder));
    let rate = rate_bytes_per_s(values.generation) * values.efficiency;
    Ok(Box::new(Sata {
        below: builder.only_below(),
        capacity_bytes: builder.below_capacity_bytes(0),
        units: builder.below_units(0),
        link: Wire::new(rate, values.piece_bytes, words.busy, words.transfer),
        places: CommandSlots::new(values.depth),
        flushing: false,
        queue: VecDeque::new(),
        values,
        words,
    }))
}

impl Sata {
    /// Sends what may be sent.
    fn start(&mut self, world: &mut World) {
        while let Some(job) = self.queue.front().copied() {
            let flush = world.request(job).kind == RequestKind::Flush && self.values.depth > 1;
            if self.flushing || (flush && !self.places.all_returned()) {
                return;
            }
            let drained_ns = self.places.ended_ns();
            let Some(free_ns) = self.places.take(world.now_ns()) else { return };
            let start_ns = if flush { free_ns.max(drained_ns) } else { free_ns };
            self.queue.pop_front();
            if flush {
                self.flushing = true;
                world.count(self.words.flushes, 1);
                for waiting in &self.queue {
                    world.charge(*waiting, self.words.waiting, start_ns);
                }
            }
            self.send(job, start_ns, world);
        }
    }

    fn send(&mut self, job: JobId, start_ns: u64, world: &mut World) {
        let sent_ns = start_ns.saturating_add(self.values.command_ns);
        world.charge(job, self.words.waiting, start_ns);
        world.charge(job, self.words.command, sent_ns);
        self.link.send(job, sent_ns, (self.below, world.request(job).unit), world);
    }
}

impl Layer for Sata {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn units(&self) -> u16 {
        self.units
    }

    fn arrive(&mut self, job: JobId, world: &mut World) {
        self.queue.push_back(job);
        self.start(world);
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        let Some(job) = child.parent else { return };
        let end_ns = self.link.returned_ns(job, &child, world);
        if child.request.kind == RequestKind::Flush && self.flushing {
            self.flushing = false;
            for waiting in &self.queue {
                world.charge(*waiting, self.words.behind_flush, end_ns);
            }
        }
        self.places.give(end_ns);
        world.finish_at(end_ns, job);
        self.start(world);
    }

    fn waits_for(&self) -> Option<Text> {
        (!self.queue.is_empty()).then(|| text!("the drive to end a command", "ドライブがコマンドを終えるの"))
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}
