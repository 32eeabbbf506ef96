//! The computer: it divides requests into commands, sends several at once, and has its own way of
//! copying files.
//!
//! The model: requests are served in order of arrival. Each is widened to whole sectors and divided
//! into commands of at most the largest size. The commands go down in order, up to the limit in
//! flight, each after its processor time. A write of partial sectors reads these sectors first. The
//! way of copying files is only reported to the caller. Other work of the processor (`noise`)
//! delays when completions are noticed, and nothing else.
//!
//! Every submitting thread has its own processor, shared by all of its requests. A request takes
//! processor time for the program and the system between call and completion, by direction and
//! number of pages. An idle thread sleeps and must be woken by a completion; a busy thread sees it
//! immediately.
//!
//! Not modelled: a page cache between requests; more threads than processors.

mod noise;

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::schema::{LONGEST_BYTES, Relation};
use crate::settings::{Live, Setting};
use crate::timeline::Timeline;
use crate::vocabulary::page;
use crate::world::{Child, JobId, LayerId, Request, RequestKind, World};
use kurabe_core::Result;
use kurabe_core::model::CopyHabits;
use noise::OtherWork;
use std::collections::VecDeque;

const RELATIONS: &[Relation] =
    &[Relation::MultipleOf("largest_command", "sector"), Relation::NotBelow("copy_turn", "copy_piece")];

/// Computer: `host` in device files.
pub const HOST: LayerKind =
    LayerKind::new(page!("host"), "host", Below::One, PARAMETERS, build).of_host().related(RELATIONS);

parameters! {
    struct Values, PARAMETERS from "host" {
        "largest_command" largest_command_bytes: Bytes(1, LONGEST_BYTES),
            usual("1 MiB", "assumed: 256 pages of 4 KiB, the usual limit of a request on Linux");
        "in_flight" in_flight: Count(1, 65_536),
            usual("256", "assumed: more than any device here takes").live();
        "command_time" command_ns: Time, usual("0 ns", "assumed: small beside the device").live();
        "read_time" read_ns: Time, usual("0 ns", "assumed: small beside the device").live();
        "write_time" write_ns: Time, usual("0 ns", "assumed: small beside the device").live();
        "page_time" page_ns: Time, usual("0 ns", "assumed: small beside the device").live();
        "wake_time" wake_ns: Time, usual("0 ns", "assumed: small beside the device").live();
        "noise_gap" noise_gap_ns: Time, usual("0 ns", "assumed: nothing else runs");
        "noise_time" noise_ns: Time, usual("0 ns", "assumed: nothing else runs");
        "sector" sector_bytes: Bytes(1, LONGEST_BYTES),
            usual("512 B", "assumed: the sector of every device here");
        "copy_piece" copy_piece_bytes: Bytes(1, LONGEST_BYTES),
            usual("64 KiB", "assumed: the read-ahead of a buffered copy");
        "copy_depth" copy_depth: Count(1, 256), usual("1", "assumed: a copy waits for each operation");
        "copy_read_gap" copy_read_gap_ns: Time, usual("0 ns", "assumed: small beside the device");
        "copy_write_gap" copy_write_gap_ns: Time,
            usual("0 ns", "assumed: writes are gathered in memory and sent on without a pause");
        "copy_turn" copy_turn_bytes: SOME_SIZE,
            usual("768 KiB", "calibrated: on the copy within the Hitachi HDS721616PLAT80, 199.94 s for 4 \
                GiB, less what its reading and writing take apart: 5445 turns of 14.3 ms, 770 KiB each \
                (Toshiba SSD HG2 Series & HG3 Series Benchmarks)");
        "memory_read" memory_read_bytes_per_s: Rate,
            usual("5237.8 MB/s", "derived: 4,194,304 KB in 0.82 s (Toshiba SSD HG2 Series & HG3 Series Benchmarks)");
        "memory_write" memory_write_bytes_per_s: Rate,
            usual("3158.1 MB/s", "derived: 4,194,304 KB in 1.36 s (Toshiba SSD HG2 Series & HG3 Series Benchmarks)");
    }
}

/// Tag of the read of partially written sectors.
const SECTOR_READ: u64 = 1 << 32;

/// A request being served.
#[derive(Clone)]
struct Active {
    job: JobId,
    /// Remaining processor time of its thread for it, excluding its commands.
    own_ns: u64,
    /// Range that is still to be sent.
    next_bytes: u64,
    end_bytes: u64,
    /// Number of its commands below, or on their way there.
    out: u32,
    /// Arrival times below of the commands that the processor is still preparing, in order.
    coming: VecDeque<u64>,
    /// Whether sectors must be read before anything is written.
    read_first: bool,
}

/// A thread of a program, with its own processor.
#[derive(Clone, Copy, Default)]
struct Thread {
    processor: Timeline,
    /// Time at which it is awake after the last completion that woke it.
    awake_ns: u64,
}

impl Thread {
    /// Returns the time at which it notices a completion that arrives now.
    fn seen_ns(&mut self, now_ns: u64, wake_ns: u64) -> u64 {
        if self.processor.free_ns().max(self.awake_ns) <= now_ns {
            self.awake_ns = now_ns.saturating_add(wake_ns);
        }
        self.awake_ns.max(now_ns)
    }
}

#[derive(Clone, Default)]
struct Host {
    below: LayerId,
    capacity_bytes: u64,
    /// One per thread that has submitted a request.
    threads: Vec<Thread>,
    in_flight: u64,
    actives: Vec<Option<Active>>,
    free: Vec<usize>,
    /// Requests with commands that are still to be sent.
    queue: VecDeque<usize>,
    noise: Option<OtherWork>,
    values: Values,
    words: Words,
}

words! {
    struct Words from "host" {
        waiting: line("queue");
        busy: cause("processor-busy");
        command: cause("command");
        waking: cause("waking");
        other_work: cause("other-work");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let capacity_bytes = builder.below_bytes();
    let host = Host {
        below: builder.only_below(),
        capacity_bytes,
        noise: OtherWork::new(values.noise_gap_ns, values.noise_ns, builder.random()),
        values,
        words: Words::new(builder),
        ..Host::default()
    };
    Ok(Built::new(host, capacity_bytes))
}

/// Unit in which memory is passed to a device.
const PAGE_BYTES: u64 = 4096;

impl Host {
    /// Returns the thread's processor time for a request, excluding its commands.
    fn request_ns(&self, request: &Request) -> u64 {
        let Values { read_ns, write_ns, page_ns, .. } = self.values;
        let by_kind_ns = if request.kind == RequestKind::Read { read_ns } else { write_ns };
        let pages = u64::from(request.length_bytes).div_ceil(PAGE_BYTES);
        by_kind_ns.saturating_add(page_ns.saturating_mul(pages))
    }

    /// Sends commands, up to the limit in flight.
    fn pump(&mut self, world: &mut World) {
        while self.in_flight < self.values.in_flight {
            let Some(slot) = self.queue.front().copied() else { return };
            let Some(active) = &mut self.actives[slot] else { return };
            let request = world.request(active.job);
            let now_ns = world.now_ns();
            let length_ns = self.values.command_ns.saturating_add(std::mem::take(&mut active.own_ns));
            let processor = &mut self.threads[usize::from(request.thread)].processor;
            let (start_ns, end_ns) = processor.take(now_ns, length_ns);
            if active.out == 0 {
                world.charge(active.job, self.words.waiting, now_ns);
                world.charge(active.job, self.words.busy, start_ns);
                world.charge(active.job, self.words.command, end_ns);
            }
            let (command, tag) = if active.read_first {
                active.read_first = false;
                let head = Request { kind: RequestKind::Read, identical: false, ..request };
                let length = (active.end_bytes - active.next_bytes).min(self.values.largest_command_bytes);
                (head.at(active.next_bytes, length as u32), slot as u64 | SECTOR_READ)
            } else {
                let length = (active.end_bytes - active.next_bytes).min(self.values.largest_command_bytes);
                let command = request.at(active.next_bytes, length as u32);
                active.next_bytes += length;
                (command, slot as u64)
            };
            active.out += 1;
            if end_ns > now_ns {
                active.coming.push_back(end_ns);
            }
            self.in_flight += 1;
            let (job, waits) = (active.job, tag & SECTOR_READ != 0);
            if waits || active.next_bytes >= active.end_bytes {
                self.queue.pop_front();
            }
            world.send_at(end_ns, Some(job), self.below, command, tag);
        }
    }
}

impl Layer for Host {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        let (mut start, mut end) = (request.offset_bytes, request.end_bytes());
        if !matches!(request.kind, RequestKind::Flush | RequestKind::Trim) {
            start -= start % self.values.sector_bytes;
            end = end.next_multiple_of(self.values.sector_bytes).min(self.capacity_bytes);
        }
        let whole = start == request.offset_bytes && end == request.end_bytes();
        let threads = self.threads.len().max(usize::from(request.thread) + 1);
        self.threads.resize(threads, Thread::default());
        let active = Active {
            job,
            own_ns: self.request_ns(&request),
            next_bytes: start,
            end_bytes: end,
            out: 0,
            coming: VecDeque::new(),
            read_first: request.kind.writes() && !whole,
        };
        let slot = self.free.pop().unwrap_or(self.actives.len());
        if slot == self.actives.len() {
            self.actives.push(None);
        }
        self.actives[slot] = Some(active);
        self.queue.push_back(slot);
        self.pump(world);
    }

    fn returned(&mut self, child: Child, world: &mut World) {
        self.in_flight -= 1;
        let slot = (child.tag & (SECTOR_READ - 1)) as usize;
        if let Some(active) = &mut self.actives[slot] {
            active.out -= 1;
            while active.coming.front().is_some_and(|at_ns| *at_ns <= world.now_ns()) {
                active.coming.pop_front();
            }
            if let (true, Some(at_ns)) = (active.coming.len() == active.out as usize, active.coming.front()) {
                // None of its commands are below until the processor has prepared the next one.
                world.charge(active.job, self.words.command, *at_ns);
            }
            if child.tag & SECTOR_READ != 0 {
                self.queue.push_front(slot);
            } else if active.out == 0 && active.next_bytes >= active.end_bytes {
                let (job, now_ns) = (active.job, world.now_ns());
                let thread = usize::from(world.request(job).thread);
                let seen_ns = self.threads[thread].seen_ns(now_ns, self.values.wake_ns);
                let noticed_ns = self.noise.as_mut().map_or(now_ns, |noise| noise.noticed_ns(now_ns));
                let end_ns = seen_ns.max(noticed_ns);
                world.charge(job, self.words.waking, seen_ns);
                world.charge(job, self.words.other_work, end_ns);
                world.finish_at(end_ns, job);
                self.actives[slot] = None;
                self.free.push(slot);
            }
        }
        self.pump(world);
    }

    fn copy_habits(&self) -> Option<CopyHabits> {
        Some(CopyHabits {
            piece_bytes: self.values.copy_piece_bytes as u32,
            iodepth: self.values.copy_depth as u32,
            read_gap_ns: self.values.copy_read_gap_ns,
            write_gap_ns: self.values.copy_write_gap_ns,
            turn_bytes: self.values.copy_turn_bytes,
            memory_read_bytes_per_s: self.values.memory_read_bytes_per_s,
            memory_write_bytes_per_s: self.values.memory_write_bytes_per_s,
        })
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}

#[cfg(test)]
mod tests {
    use super::Thread;
    use crate::fixture::{account, device, request, run};
    use crate::spec::DeviceSpec;
    use crate::stack::Stack;
    use crate::world::{Request, RequestKind};

    /// A medium of 1 ms and 1 MB/s, behind a host with two commands of at most 64 KiB in flight and
    /// 10 µs each.
    fn spec() -> DeviceSpec {
        let host = "host largest_command=64_KiB in_flight=2 command_time=10_us";
        device(&[host, "constant capacity=1_MiB access=1_ms rate=1_MB/s"])
    }

    fn stack() -> Stack {
        Stack::new(&spec(), 1).unwrap()
    }

    fn time_of(kind: RequestKind, offset_bytes: u64, length_bytes: u32) -> u64 {
        time_on(stack(), kind, offset_bytes, length_bytes)
    }

    fn time_on(mut stack: Stack, kind: RequestKind, offset_bytes: u64, length_bytes: u32) -> u64 {
        let end_ns = run(&mut stack, &[request(kind, offset_bytes, length_bytes)], 1)[0];
        account(&mut stack);
        end_ns
    }

    #[test]
    fn a_long_request_is_cut_into_commands() {
        // Three commands: the processor's 10 µs once, then the medium without a gap.
        assert_eq!(time_of(RequestKind::Read, 0, 160 << 10), 10_000 + 3_000_000 + (160 << 10) * 1000);
    }

    #[test]
    fn parts_of_sectors_are_widened_and_read_before_they_are_written() {
        assert_eq!(time_of(RequestKind::Read, 100, 600), 10_000 + 1_000_000 + 1024 * 1000);
        assert_eq!(time_of(RequestKind::Write, 0, 1024), 10_000 + 1_000_000 + 1024 * 1000);
        assert_eq!(time_of(RequestKind::Write, 100, 600), 2 * (10_000 + 1_000_000 + 1024 * 1000));
    }

    /// The medium finishes a command before the processor has prepared the next.
    #[test]
    fn a_processor_slower_than_the_medium_is_told_as_such() {
        let mut spec = spec();
        spec.set("host.command_time", "100 ms").unwrap();
        let slow = Stack::new(&spec, 1).unwrap();
        assert_eq!(
            time_on(slow, RequestKind::Read, 0, 192 << 10),
            3 * 100_000_000 + 1_000_000 + (64 << 10) * 1000
        );
    }

    /// Runs two concurrent requests of these threads on a medium that serves both in parallel in 1
    /// ms. Returns when each ends, in µs.
    fn ends_us(threads: [u16; 2]) -> [u64; 2] {
        let host = "host read_time=10_us page_time=1_us wake_time=5_us";
        let spec = device(&[host, "constant capacity=1_MiB access=1_ms rate=1_TB/s parallel=2"]);
        let requests = threads.map(|thread| Request { thread, ..request(RequestKind::Read, 0, 8192) });
        let mut stack = Stack::new(&spec, 1).unwrap();
        let ends_ns = run(&mut stack, &requests, 2);
        account(&mut stack);
        [ends_ns[0] / 1000, ends_ns[1] / 1000]
    }

    #[test]
    fn a_thread_has_a_processor_and_sleeps_while_it_has_nothing_to_do() {
        // 12 µs of its processor for each. A completion wakes the thread, and one that comes 12 µs
        // later wakes it again.
        assert_eq!(ends_us([0, 0]), [1017, 1029]);
        assert_eq!(ends_us([0, 1]), [1017, 1017]);
    }

    #[test]
    fn a_thread_at_work_sees_a_completion_at_once() {
        let mut thread = Thread::default();
        thread.processor.take(0, 100);
        assert_eq!([50, 100, 103, 120].map(|now_ns| thread.seen_ns(now_ns, 7)), [50, 107, 107, 127]);
    }

    #[test]
    fn a_flush_is_one_command_without_bytes() {
        assert_eq!(time_of(RequestKind::Flush, 0, 0), 10_000 + 1_000_000);
    }
}
