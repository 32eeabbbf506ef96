//! A memory card as a medium: SD over SPI or four lines, or CompactFlash.
//!
//! The model: one command at a time. A read takes its command, the time to the first byte, and its
//! bytes at the slower of interface and flash. A write takes its command, its bytes, and the time
//! for which the card is busy programming. A request that continues the previous one belongs to the
//! same command, up to the longest transfer of one. The card writes whole units. When a write
//! leaves a unit before its end, the card copies the rest of it; it copies all of a unit that was
//! not started at its beginning.
//!
//! Not modelled: wear, garbage collection of more than one unit, and pauses that end an open
//! transfer.

use crate::account::Cause;
use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::schema::HOUR_NS;
use crate::settings::{Live, Setting};
use crate::timeline::{Timeline, transfer_ns};
use crate::vocabulary::{entry, page};
use crate::world::{JobId, Request, RequestKind, World};
use kurabe_core::{Result, text};

/// Memory card: `card` in device files.
pub const CARD: LayerKind = LayerKind::new(page!("card"), "card", Below::Nothing, PARAMETERS, build);

parameters! {
    struct Values, PARAMETERS from "card" {
        "capacity" capacity_bytes: SOME_SIZE, needed;
        "interface" interface_bytes_per_s: Rate, needed;
        "command" command_ns: Time, usual("0 ms", "assumed: contained in the access time");
        "access" access_ns: Time, needed;
        "read" read_bytes_per_s: Rate, needed;
        "write" write_bytes_per_s: Rate, needed;
        "program" program_ns: Time, usual("0 ms", "assumed: contained in the write rate").live();
        "longest_transfer" longest_transfer_bytes: Bytes(0, 1 << 32),
            usual("0 B", "assumed: every request is a command");
        "write_unit" write_unit_bytes: Bytes(1, 1 << 40),
            usual("512 B", "assumed: single sectors, so that nothing is copied");
        "copy" copy_bytes_per_s: Rate,
            usual("10 MB/s", "assumed: of no account where units are single sectors").live();
        "class" class: Word(&["none", "a1", "a2"]), usual("none", "assumed: none is printed on it");
    }
}

/// Returns the random 4 KiB reads per second that a class guarantees (SD Physical Layer
/// Specification 5.1 and 6.0).
fn promised_reads_per_s(class: &str) -> Option<u64> {
    match class {
        "a1" => Some(1500),
        "a2" => Some(4000),
        _ => None,
    }
}

#[derive(Clone, Default)]
struct Card {
    read_bytes_per_s: f64,
    write_bytes_per_s: f64,
    /// Command in progress; `None` before the first.
    open: Option<OpenCommand>,
    /// End of the last write.
    written_to: u64,
    /// Whether the unit there was written from its beginning.
    from_start: bool,
    line: Timeline,
    values: Values,
    reading: Cause,
    writing: Cause,
    causes: Causes,
}

/// A command that the next request may continue.
#[derive(Clone, Copy, Debug)]
struct OpenCommand {
    kind: RequestKind,
    next_bytes: u64,
    left_bytes: u64,
}

words! {
    struct Causes from "card" {
        waiting: line("waiting");
        access: cause("access");
        programming: cause("programming");
        copying: cause("copying");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let interface = values.interface_bytes_per_s;
    // The bottleneck for data is the slower of interface and flash.
    let reading = match values.read_bytes_per_s <= interface {
        true => entry!("card", "cause", "reading"),
        false => entry!("card", "cause", "reading lines"),
    };
    let writing = match values.write_bytes_per_s <= interface {
        true => entry!("card", "cause", "writing"),
        false => entry!("card", "cause", "writing lines"),
    };
    let card = Card {
        reading: builder.cause("reading", reading),
        writing: builder.cause("writing", writing),
        read_bytes_per_s: values.read_bytes_per_s.min(interface),
        write_bytes_per_s: values.write_bytes_per_s.min(interface),
        from_start: true,
        values,
        causes: Causes::new(builder),
        ..Card::default()
    };
    if let Some(promised) = promised_reads_per_s(card.values.class) {
        let takes_ns =
            card.values.command_ns + card.values.access_ns + transfer_ns(4096, card.read_bytes_per_s);
        if takes_ns > 1_000_000_000 / promised {
            return Err(builder.error(
                "class",
                &text!(
                    "a card of this class does at least {promised} random reads of 4 KiB per second; one \
                     takes {takes_ns} ns here",
                    "このクラスのカードは 4 KiB のランダムリードを毎秒 {promised} 回以上こなしますが、この設定では 1 回 {takes_ns} ns かかります"
                ),
            ));
        }
    }
    let capacity_bytes = card.values.capacity_bytes;
    Ok(Built::new(card, capacity_bytes).in_turn_if(true))
}

impl Card {
    /// Returns the number of commands that a request takes; 0 if it belongs to the previous one.
    fn commands(&mut self, request: Request) -> u64 {
        let length = u64::from(request.length_bytes);
        if self.values.longest_transfer_bytes == 0 {
            return 1;
        }
        let same = |open: &OpenCommand| open.kind == request.kind && open.next_bytes == request.offset_bytes;
        let left = self.open.filter(same).map_or(0, |open| open.left_bytes);
        let commands = length.saturating_sub(left).div_ceil(self.values.longest_transfer_bytes);
        let left_bytes = left + commands.saturating_mul(self.values.longest_transfer_bytes) - length;
        self.open = Some(OpenCommand { kind: request.kind, next_bytes: request.end_bytes(), left_bytes });
        commands
    }

    fn read(&mut self, job: JobId, request: Request, world: &mut World) {
        let access_ns = times(self.commands(request), self.values.command_ns + self.values.access_ns);
        let transfer_ns = transfer_ns(u64::from(request.length_bytes), self.read_bytes_per_s).min(HOUR_NS);
        let (start_ns, end_ns) = self.line.take(world.now_ns(), access_ns + transfer_ns);
        world.charge(job, self.causes.waiting, start_ns);
        world.charge(job, self.causes.access, start_ns.saturating_add(access_ns));
        world.charge(job, self.reading, end_ns);
        world.finish_at(end_ns, job);
    }

    /// Returns the bytes that the card copies because of a write: nothing for units written from
    /// beginning to end; the rest of a unit left before its end; all of a unit that was not started
    /// at its beginning (the switch, partial and full merge of Kim et al., A space-efficient flash
    /// translation layer for CompactFlash systems, 2002).
    fn copied_bytes(&mut self, request: Request) -> u64 {
        let unit = self.values.write_unit_bytes;
        let mut copied_bytes = 0;
        if request.offset_bytes != self.written_to {
            copied_bytes += match self.written_to % unit {
                0 => 0,
                written_bytes if self.from_start => unit - written_bytes,
                _ => unit,
            };
            self.from_start = request.offset_bytes.is_multiple_of(unit);
        }
        if request.end_bytes() / unit > request.offset_bytes / unit {
            copied_bytes += if self.from_start { 0 } else { unit };
            self.from_start = true;
        }
        self.written_to = request.end_bytes();
        copied_bytes
    }

    fn write(&mut self, job: JobId, request: Request, world: &mut World) {
        let copied_bytes = self.copied_bytes(request);
        let copy_ns = transfer_ns(copied_bytes, self.values.copy_bytes_per_s).min(HOUR_NS);
        let transfer_ns = transfer_ns(u64::from(request.length_bytes), self.write_bytes_per_s).min(HOUR_NS);
        let commands = self.commands(request);
        let (command_ns, program_ns) =
            (times(commands, self.values.command_ns), times(commands, self.values.program_ns));
        let length_ns = command_ns + copy_ns + transfer_ns + program_ns;
        let (start_ns, end_ns) = self.line.take(world.now_ns(), length_ns);
        world.charge(job, self.causes.waiting, start_ns);
        world.charge(job, self.causes.access, start_ns.saturating_add(command_ns));
        world.charge(job, self.causes.copying, start_ns.saturating_add(command_ns + copy_ns));
        world.charge(job, self.writing, end_ns - program_ns);
        world.charge(job, self.causes.programming, end_ns);
        world.finish_at(end_ns, job);
    }
}

fn times(count: u64, length_ns: u64) -> u64 {
    count.saturating_mul(length_ns).min(HOUR_NS)
}

impl Layer for Card {
    fn arrive(&mut self, job: JobId, world: &mut World) {
        world.write_as_data(job);
        let request = world.request(job);
        match request.kind {
            RequestKind::Read => self.read(job, request, world),
            RequestKind::Write | RequestKind::WriteZeroes => self.write(job, request, world),
            // A card has no cache that its host could flush: done when the previous command is.
            RequestKind::Flush => {
                let (start_ns, _) = self.line.take(world.now_ns(), 0);
                world.charge(job, self.causes.waiting, start_ns);
                world.finish_at(start_ns, job);
            }
            RequestKind::Trim => world.finish(job),
        }
    }

    fn knows(&self, kind: RequestKind) -> bool {
        kind.is_known_to_all()
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{device, request, run_apart};
    use crate::stack::Stack;
    use crate::world::{Request, RequestKind};

    /// 1 ms to the first byte, 2 ms of programming, 1 µs per kilobyte read, 2 µs per kilobyte
    /// written.
    fn card(extra: &str) -> Result<Stack, String> {
        let rates = "interface=1_GB/s access=1_ms read=5_GB/s write=500_MB/s program=2_ms";
        let spec = device(&[&format!("card capacity=64_MiB {rates} {extra}")]);
        Stack::new(&spec, 1).map_err(|error| error.what().en.clone())
    }

    fn times_ns(stack: &mut Stack, kind: RequestKind, places: &[(u64, u32)]) -> Vec<u64> {
        let requests: Vec<Request> = places.iter().map(|(at, bytes)| request(kind, *at, *bytes)).collect();
        run_apart(stack, &requests)
    }

    #[test]
    fn the_narrowest_of_interface_and_flash_sets_the_rate() {
        let mut stack = card("").unwrap();
        assert_eq!(
            times_ns(&mut stack, RequestKind::Read, &[(0, 4000), (4000, 4000)]),
            [1_004_000, 1_004_000]
        );
        assert_eq!(
            times_ns(&mut stack, RequestKind::Write, &[(0, 4000), (4000, 4000)]),
            [2_008_000, 2_008_000]
        );
    }

    #[test]
    fn what_adjoins_shares_a_command_up_to_its_longest_transfer() {
        let extra = "longest_transfer=8000_B";
        let reads = [(0, 4000), (4000, 4000), (8000, 4000), (4000, 4000), (8000, 16_000)];
        let expected = [1_004_000, 4000, 1_004_000, 1_004_000, 2_016_000];
        assert_eq!(times_ns(&mut card(extra).unwrap(), RequestKind::Read, &reads), expected);
    }

    #[test]
    fn a_part_of_a_block_costs_the_copy_of_the_rest() {
        let extra = "write_unit=1_MiB copy=1_GB/s";
        let write_ns = |copied: u64| copied + 2_008_192;
        let end = (1 << 20) - 4096;
        // In order: nothing. Elsewhere: the rest of the previous unit, which was started at its
        // beginning; then all of a unit that was not, whether left midway or continued to its end.
        let places = [(0, 4096), (4096, 4096), (16_384, 4096), (3 << 20, 4096), (end, 4096), (1 << 20, 4096)];
        let expected = [0, 0, (1 << 20) - 8192, 1 << 20, (1 << 20) - 4096 + (1 << 20), 0].map(write_ns);
        assert_eq!(times_ns(&mut card(extra).unwrap(), RequestKind::Write, &places), expected);
    }

    #[test]
    fn a_card_slower_than_its_class_is_refused() {
        let refused = card("class=a1").err();
        assert!(refused.is_some_and(|what| what.starts_with("card.class")));
        assert!(card("class=none").is_ok());
    }
}
