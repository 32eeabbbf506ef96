//! The rows of the table of options, and the values that they give to a procedure.

use super::OptionKind::{
    self, Block, Bytes, Choice, Count, Flag, Number, Order, Pause, Percentile, Rate, Sizes, Switch, Time,
    Zones,
};
use super::values::OptionValue;
use super::{
    FioForm, MOST_IODEPTH, MOST_THREADS, OptionInput, OptionNeed, OptionPart, PLAIN, WorkloadOption, option,
};
use crate::issue::{CachePolicy, EngineChoice, Pages, WaitMode};
use crate::profile::IoStep;
use crate::quantity::format_bytes;
use crate::words::{Keyword, all_words};
use crate::workload::{
    AccessPattern, AccessZone, Arrival, BlockSize, BlocksInOrder, Data, Direction, End, EndSync, Flow,
    LatencyTarget, OpenLoop, Pattern, Processors, Thinking, ThreadShare, Trims, WriteHint,
};
use crate::{error::Result, number, text, text::Text};
use serde::{Deserialize, Serialize};

/// Creates the table of options, and a struct with one field for each value.
///
/// After the help of an option of a workload follow: how its value is applied to a step (with the other values), how
/// a step with it is described, and how its value is read from an access pattern.
macro_rules! options {
    ($($name:literal $field:ident: $type:ty, $part:ident, $kind:expr, $value_name:literal
        $(, $column:ident: $value:expr)*; ($en:literal, $ja:literal);
        $(apply $apply:expr;)? $(says $says:expr;)? $(value $of:expr;)?)+) => {
        /// All options, with those of a workload first.
        pub const OPTIONS: &[WorkloadOption] = &[$(WorkloadOption {
            name: $name,
            help: ($en, $ja),
            part: OptionPart::$part,
            kind: $kind,
            value_name: $value_name,
            $($column: $value,)*
            $(apply: |overrides, step| {
                let apply: fn(&mut IoStep, $type, &Overrides) = $apply;
                if let Some(value) = overrides.$field.clone() {
                    apply(step, value, overrides);
                }
            },)?
            $(says: $says,)?
            $(value: |access| {
                let value: fn(&AccessPattern) -> Option<$type> = $of;
                value(access).and_then(OptionValue::input)
            },)?
            ..PLAIN
        },)+];

        /// Values of options that change a procedure. An absent value changes nothing.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(default, deny_unknown_fields)]
        pub struct Overrides {
            $(#[doc = $en] pub $field: Option<$type>,)+
        }

        impl Overrides {
            /// Sets an option to a value. The default value clears the option.
            ///
            /// # Errors
            /// Fails if the value is invalid or no such option exists.
            pub fn set<'a>(&mut self, name: &str, input: impl Into<OptionInput<'a>>) -> Result<(), Text> {
                let unknown = || text!("the option `{name}` does not exist", "`{name}` というオプションはありません");
                let option = option(name).ok_or_else(unknown)?;
                let input = input.into();
                let is_given = option.usual.map(OptionInput::Words).as_ref() != Some(&input);
                match name {
                    $($name => self.$field = <$type>::read(option.kind, input)?.filter(|_| is_given),)+
                    _ => {}
                }
                Ok(())
            }

            /// Returns the options that are set, in the order of the table.
            pub fn given(&self) -> impl Iterator<Item = &'static WorkloadOption> {
                let is_given = [$(self.$field.is_some(),)+];
                OPTIONS.iter().zip(is_given).filter(|(_, is_given)| *is_given).map(|(option, _)| option)
            }
        }
    };
}

fn mixes(step: &IoStep) -> bool {
    step.directions.contains(&Direction::Mix)
}

const A_MIX: OptionNeed = (mixes, "`directions = [\"mix\"]`");
const RANDOM: OptionNeed = (|step| !step.pattern.is_sequential(), "`pattern = \"random\"`");
const THINKS: OptionNeed = (|step| step.thinking.is_some(), "`think_time`");
const SHARES: OptionNeed = (|step| step.flow.is_some(), "`flow`");
const SEEKS: OptionNeed = (|step| step.latency_target.is_some(), "`latency_target`");

/// Describes a time, unless it is 0.
fn time_if(ns: u64) -> Option<Text> {
    (ns > 0).then(|| number::planned_time(ns))
}

options! {
    "rw" rw: (Direction, Pattern), Workload, Choice(all_words::<(Direction, Pattern)>), "PATTERN", fio: &["rw"];
        ("Reads or writes, in ascending or random order", "読み書きと順序");
        apply |step, (direction, pattern), _| {
            (step.directions, step.pattern) = (vec![direction], pattern);
            if direction == Direction::Mix {
                step.read_percent = 50;
            }
        };
    "bs" block_bytes: u32, Workload, Block, "SIZE", fio: &["bs"];
        ("Block size [default: 4k]", "ブロックサイズ [既定: 4k]");
        apply |step, size_bytes, _| step.block_sizes = vec![BlockSize { size_bytes, weight: 1 }];
    "iodepth" iodepth: u32, Workload, Count(1, MOST_IODEPTH), "N", fio: &["iodepth"], key: Some("iodepth");
        ("Operations in flight per thread [default: 1]", "スレッドごとの同時発行数 [既定: 1]");
        apply |step, iodepth, _| step.iodepth = iodepth;
    "threads" threads: u32, Workload, Count(1, MOST_THREADS), "N", fio: &["numjobs"], key: Some("threads");
        ("Threads [default: 1]", "スレッド数 [既定: 1]");
        apply |step, threads, _| step.threads = threads;
    "rwmixread" read_percent: u32, Workload, Count(0, 100), "PERCENT", fio: &["rwmixread"], key: Some("read_percent"),
        needs: Some(A_MIX);
        ("Percentage of reads for rw and randrw [default: 50]", "rw と randrw の読み出しの割合 [既定: 50]");
        apply |step, percent, _| {
            if mixes(step) {
                step.read_percent = percent as u8;
            }
        };
        says |step| {
            let percent = step.read_percent;
            (mixes(step) && step.rewrite_every_reads.is_none())
                .then(|| text!("mix: {percent} % reads", "混合: 読み出し {percent} %"))
        };
    "rewrite-every" rewrite_every_reads: u32, Workload, Count(1, u32::MAX), "N", key: Some("rewrite_every_reads"),
        needs: Some(A_MIX);
        ("Mix of reads only; after every N of them, write back the block just read",
         "混合の書き込みを、N 回読むごとに同じブロックへの書き戻しだけにする");
        apply |step, every, _| step.rewrite_every_reads = Some(every);
        says |step| step.rewrite_every_reads.map(|every| text!(
            "after every {every} reads the block is written back",
            "読み出し {every} 回ごとに同じ場所へ書き戻し"
        ));
    "order" order: Pattern, Workload, Order, "ORDER";
        ("Order of offsets: interleaved, permutation, zipf or zipf:EXPONENT",
         "オフセットの順序: interleaved、permutation、zipf、zipf:指数");
        apply |step, pattern, _| step.pattern = pattern;
    "offset" offset_bytes: u64, Workload, Bytes, "SIZE", fio: &["offset"];
        ("First byte of the span", "範囲の先頭");
        apply |step, offset_bytes, _| step.offset_bytes = offset_bytes;
    "bytes" end_bytes: u64, Workload, Bytes, "SIZE", key: Some("bytes");
        ("End a repetition after this many bytes", "このバイト数で 1 回を終える");
        apply |step, bytes, _| step.end = End { bytes: Some(bytes), ..End::default() };
    "passes" passes: u32, Workload, Count(1, u32::MAX), "N", fio: &["loops"], key: Some("passes");
        ("End a repetition after this many passes over the span", "範囲をこの回数まわったら 1 回を終える");
        apply |step, passes, others| {
            step.end = End { bytes: others.end_bytes, passes: Some(passes), ..End::default() };
        };
    "trims" trims: Trims, Workload, Choice(all_words::<Trims>), "WHICH", key: Some("trims"),
        needs: Some((|step| step.directions == [Direction::Write], "`directions = [\"write\"]`"));
        ("Discard blocks instead of writing them (only), or before each write (before_writes)",
         "書き込む代わりにブロックを破棄(only)、または書き込む前に破棄(before_writes)");
        apply |step, trims, _| step.trims = Some(trims);
        says |step| step.trims.map(|trims| match trims {
            Trims::Only => text!(
                "each block is discarded, after the span was written",
                "範囲に書き込んでから、各ブロックを破棄(TRIM)"
            ),
            Trims::BeforeWrites => text!(
                "each block is discarded before it is written",
                "各ブロックを破棄(TRIM)してから書き込み"
            ),
        });
    "rate" rate_iops: f64, Workload, Rate, "IOPS", fio: &["rate_iops"], key: Some("rate_iops");
        ("Open loop: operations per second; latency counts from the due time of each operation",
         "オープンループ: 毎秒の I/O 数(レイテンシは予定時刻から数える)");
        apply |step, rate_iops, _| step.open_loop = Some(OpenLoop { rate_iops, arrival: Arrival::Even });
        says |step| step.open_loop.map(|open| {
            let rate = number::iops(open.rate_iops);
            let (en, ja) = match open.arrival {
                Arrival::Even => ("even", "等間隔"),
                Arrival::Poisson => ("Poisson", "ポアソン"),
            };
            text!("{rate} offered, {en} arrivals", "{rate} で投入、到着は{ja}")
        });
    "poisson" poisson: bool, Workload, Switch, "", requires: Some("rate");
        ("Make the arrivals of the open loop a Poisson process", "オープンループの到着をポアソン過程にする");
        apply |step, _, _| {
            if let Some(open_loop) = &mut step.open_loop {
                open_loop.arrival = Arrival::Poisson;
            }
        };
    "warm-up" warm_up_ns: u64, Workload, Pause, "TIME", fio: &["ramp_time"], key: Some("warm_up"),
        fio_form: FioForm::Seconds;
        ("Time before recording starts", "記録を始める前のウォームアップ時間");
        apply |step, warm_up_ns, _| step.warm_up_ns = warm_up_ns;
        says |step| time_if(step.warm_up_ns).map(|time| text!("{time} of warm-up", "ウォームアップ {time}"; time));
        value |access| Some(access.warm_up_ns).filter(|ns| *ns > 0);
    "start-delay" start_delay_ns: u64, Workload, Time, "TIME", fio: &["startdelay"], key: Some("start_delay"),
        fio_form: FioForm::Seconds;
        ("Delay before it starts", "始めるまでの待ち時間");
        apply |step, start_delay_ns, _| step.start_delay_ns = start_delay_ns;
        says |step| time_if(step.start_delay_ns)
            .map(|time| text!("begins {time} after the start", "開始から {time} 後に始める"; time));
        value |access| Some(access.start_delay_ns).filter(|ns| *ns > 0);
    "think-time" think_time_ns: u64, Workload, Time, "TIME", fio: &["thinktime"], key: Some("think_time"),
        fio_form: FioForm::Micros;
        ("Pause of a thread after each operation", "操作ごとに各スレッドが休む時間");
        apply |step, time_ns, _| step.thinking = Some(Thinking { time_ns, every_operations: 1 });
        says |step| step.thinking.map(|Thinking { time_ns, every_operations }| {
            let pause = number::latency_ns(time_ns);
            match every_operations {
                1 => text!("pauses {pause} after each operation", "1 操作ごとに {pause} 休む"),
                _ => text!(
                    "pauses {pause} after {every_operations} operations",
                    "{every_operations} 操作ごとに {pause} 休む"
                ),
            }
        });
        value |access| access.thinking.map(|thinking| thinking.time_ns);
    "think-operations" think_operations: u32, Workload, Count(1, u32::MAX), "N", fio: &["thinktime_blocks"],
        key: Some("think_operations"), requires: Some("think-time"), needs: Some(THINKS), fio_form: FioForm::Number;
        ("Operations between two pauses [default: 1]", "休みと休みの間の操作数 [既定: 1]");
        apply |step, every_operations, _| {
            if let Some(thinking) = &mut step.thinking {
                thinking.every_operations = every_operations;
            }
        };
        value |access| access.thinking.map(|thinking| thinking.every_operations);
    "processors" processors: Vec<u32>, Workload, OptionKind::Processors, "LIST", fio: &["cpus_allowed"],
        key: Some("processors"), idle_on_models: true, may_differ: false;
        ("Processors on which the threads may run, such as 0,4-7", "スレッドを動かす CPU(例: 0,4-7)");
        apply |step, numbers, _| step.processors = Some(Processors { numbers, one_each: false });
        says |step| step.processors.as_ref().map(|Processors { numbers, one_each }| match one_each {
            true => text!("each thread on one of the processors {numbers:?}", "CPU {numbers:?} の 1 つずつで"),
            false => text!("on processors {numbers:?}", "CPU {numbers:?} で"),
        });
    "processor-each" processor_each: bool, Workload, Switch, "", key: Some("processor_each"),
        requires: Some("processors"), needs: Some((|step| step.processors.is_some(), "`processors`")),
        idle_on_models: true;
        ("Pin each thread to one of the processors", "スレッドごとに 1 つの CPU に固定する");
        apply |step, one_each, _| {
            if let Some(processors) = &mut step.processors {
                processors.one_each = one_each;
            }
        };
    "write-bs" write_block_sizes: Vec<BlockSize>, Workload, Sizes, "SIZES", key: Some("write_block_size"),
        needs: Some(A_MIX), may_differ: false;
        ("Block sizes of the writes in a mix, such as 8k or 4k/90:64k/10",
         "混合での書き込みのブロックサイズ(例: 8k、4k/90:64k/10)");
        apply |step, sizes, _| step.write_block_sizes = sizes;
        says |step| (!step.write_block_sizes.is_empty()).then(|| {
            let sizes = step.write_block_sizes.iter().map(|block| format_bytes(u64::from(block.size_bytes)));
            let sizes = sizes.collect::<Vec<_>>().join("/");
            text!("writes of {sizes}", "書き込みは {sizes}")
        });
    "zones" zones: Vec<AccessZone>, Workload, Zones, "ZONES", key: Some("zones"), may_differ: false,
        needs: Some((|step| matches!(step.pattern, Pattern::Random), "`pattern = \"random\"`"));
        ("Zones of the span, each with its percentage of the operations and of the span: 60/10:40/90",
         "範囲を領域に分け、それぞれの操作の割合と範囲の割合(%)を指定する: 60/10:40/90");
        apply |step, zones, _| step.zones = zones;
        says |step| (!step.zones.is_empty()).then(|| {
            let zone = |zone: &AccessZone| format!("{}/{}", zone.access_percent, zone.span_percent);
            let zones = step.zones.iter().map(zone).collect::<Vec<_>>().join(":");
            text!("zones {zones} (% of operations / % of the span)", "領域 {zones}(操作の % / 範囲の %)")
        });
    "blocks-in-order" blocks_in_order: u32, Workload, Count(2, u32::MAX), "N", key: Some("blocks_in_order"),
        needs: Some(RANDOM);
        ("Blocks in ascending order from each random offset", "ランダムな位置ごとに続けて処理するブロック数");
        apply |step, blocks, _| step.in_order = Some(BlocksInOrder::Blocks(blocks));
        says |step| step.in_order.map(|in_order| match in_order {
            BlocksInOrder::Blocks(blocks) => {
                text!("{blocks} blocks in order from each place", "位置ごとに {blocks} ブロックを順に")
            }
            BlocksInOrder::Percent(percent) => {
                text!("{percent} % follow the block before", "{percent} % は前のブロックの続き")
            }
        });
    "in-order-percent" in_order_percent: u32, Workload, Count(1, 99), "PERCENT", key: Some("in_order_percent"),
        needs: Some(RANDOM);
        ("Percentage of operations that follow the block before", "前のブロックの続きを処理する操作の割合");
        apply |step, percent, _| step.in_order = Some(BlocksInOrder::Percent(percent as u8));
    "flow" flow: u32, Workload, Count(1, 1000), "WEIGHT", key: Some("flow"), may_differ: false;
        ("Share of the operations that concurrent steps of a profile issue together",
         "同時に動くステップの操作のうち、このステップの割合");
        apply |step, weight, _| step.flow = Some(Flow { weight, group: 0 });
        says |step| step.flow.map(|Flow { weight, .. }| {
            text!("share {weight} of the operations at once", "同時に行う操作のうち {weight} の割合")
        });
    "flow-group" flow_group: u32, Workload, Count(0, u32::MAX), "N", key: Some("flow_group"), requires: Some("flow"),
        needs: Some(SHARES), may_differ: false;
        ("Group of the steps that share operations [default: 0]", "操作を分け合うステップのグループ [既定: 0]");
        apply |step, group, _| {
            if let Some(flow) = &mut step.flow {
                flow.group = group;
            }
        };
    "latency-target" latency_target_ns: u64, Workload, Time, "TIME", fio: &["latency_target"],
        key: Some("latency_target"), needs: Some((|step| !step.beside, "a step of its own")),
        fio_form: FioForm::Micros;
        ("Find the greatest queue depth, up to the one given, whose latency stays within this",
         "レイテンシがこの時間に収まる最大の深さを探す(指定した深さまで)");
        apply |step, latency_ns, _| step.latency_target = Some(LatencyTarget {
            latency_ns,
            percentile: LatencyTarget::PERCENTILE,
            window_ns: LatencyTarget::WINDOW_NS,
        });
        says |step| step.latency_target.map(|target| {
            let (latency, percentile) = (number::latency_ns(target.latency_ns), target.percentile);
            text!(
                "the greatest depth up to that within {latency} for {percentile} %",
                "その深さまでで {percentile} % が {latency} に収まる最大の深さ"
            )
        });
        value |access| access.latency_target.map(|target| target.latency_ns);
    "latency-percentile" latency_percentile: f64, Workload, Percentile, "PERCENT", fio: &["latency_percentile"],
        key: Some("latency_percentile"), requires: Some("latency-target"), needs: Some(SEEKS), fio_form: FioForm::Real;
        ("Percentage of operations that must stay within the latency target [default: 100]",
         "目標のレイテンシに収まるべき操作の割合 [既定: 100]");
        apply |step, percentile, _| {
            if let Some(target) = &mut step.latency_target {
                target.percentile = percentile;
            }
        };
        value |access| access.latency_target.map(|target| target.percentile);
    "latency-window" latency_window_ns: u64, Workload, Time, "TIME", fio: &["latency_window"],
        key: Some("latency_window"), requires: Some("latency-target"), needs: Some(SEEKS), fio_form: FioForm::Micros;
        ("How long each depth is tried for the latency target [default: 1s]",
         "目標のレイテンシを探すとき、1 つの深さを試す時間 [既定: 1s]");
        apply |step, window_ns, _| {
            if let Some(target) = &mut step.latency_target {
                target.window_ns = window_ns;
            }
        };
        value |access| access.latency_target.map(|target| target.window_ns);
    "ends-all" ends_all: bool, Workload, Switch, "", key: Some("ends_all"), fio: &["exitall"],
        fio_form: FioForm::Flag;
        ("End all concurrent steps of a profile when this one ends", "これが終わったら、同時に動くステップもすべて終える");
        apply |step, ends_all, _| step.ends_all = ends_all;
        says |step| step.ends_all.then(|| text!("all end with it", "これが終わればすべて終わる"));
        value |access| Some(access.ends_all).filter(|ends_all| *ends_all);
    "align" alignment_bytes: u32, Workload, Block, "SIZE", fio: &["blockalign"], key: Some("alignment");
        ("Alignment of offsets [default: the smallest block size]", "オフセットの位置合わせ [既定: 最小のブロックサイズ]");
        apply |step, bytes, _| step.alignment_bytes = Some(bytes);
        says |step| step.alignment_bytes.map(|bytes| {
            let unit = format_bytes(u64::from(bytes));
            text!("places are multiples of {unit}", "位置は {unit} の倍数")
        });
    "thread-share" thread_share: ThreadShare, Workload, Choice(all_words::<ThreadShare>), "PART",
        key: Some("thread_share"), usual: Some("usual");
        ("Part of the span for each thread: an equal part, or the whole", "スレッドごとの範囲: 等分した一部、または全体");
        apply |step, share, _| step.thread_share = share;
        says |step| match step.thread_share {
            ThreadShare::Usual => None,
            ThreadShare::Parts => Some(text!("a part for each thread", "スレッドごとに別の範囲")),
            ThreadShare::Whole => Some(text!("all of it by each thread", "各スレッドが全範囲")),
        };
    "o-sync" o_sync: bool, Workload, Switch, "", key: Some("o_sync");
        ("Open with O_SYNC", "O_SYNC で開く");
        apply |step, o_sync, _| step.sync.o_sync = o_sync;
        says |step| step.sync.o_sync.then(|| Text::same(if step.sync.data_only { "O_DSYNC" } else { "O_SYNC" }));
    "fsync" sync_every_writes: u32, Workload, Count(1, u32::MAX), "N", fio: &["fsync"], key: Some("sync_every_writes");
        ("fsync after every N writes", "N 回の書き込みごとに fsync");
        apply |step, every, _| step.sync.every_writes = Some(every);
        says |step| {
            let flush = if step.sync.data_only { "fdatasync" } else { "fsync" };
            step.sync.every_writes.map(|every| match every {
                1 => text!("{flush} after every write", "書き込みごとに {flush}"),
                _ => text!("{flush} every {every} writes", "書き込み {every} 回ごとに {flush}"),
            })
        };
    "data-only" data_only: bool, Workload, Switch, "", key: Some("data_only");
        ("fdatasync and O_DSYNC instead of fsync and O_SYNC", "fsync と O_SYNC の代わりに fdatasync と O_DSYNC を使う");
        apply |step, data_only, _| step.sync.data_only = data_only;
    "end-fsync" end_sync: EndSync, Workload, Choice(all_words::<EndSync>), "WHEN", key: Some("sync_at_end");
        ("fsync at the end of a repetition, inside or outside the measured time [default: none]",
         "1 回の終わりに fsync(時間に含める、含めない)[既定: none]");
        apply |step, at_end, _| step.sync.at_end = at_end;
        says |step| match step.sync.at_end {
            EndSync::None => None,
            EndSync::Timed => Some(text!("fsync at the end, timed", "最後に fsync (計時に含む)")),
            EndSync::Untimed => Some(text!("fsync at the end, not timed", "最後に fsync (計時に含まない)")),
        };
    "write-hint" write_hint: WriteHint, Workload, Choice(all_words::<WriteHint>), "LIFETIME", fio: &["write_hint"],
        key: Some("write_hint"), fio_form: FioForm::Word, idle_on_models: true;
        ("Expected lifetime of written data, for drives that place data by it", "書き込むデータの寿命のヒント(対応ドライブ用)");
        apply |step, hint, _| step.write_hint = Some(hint);
        says |step| step.write_hint.map(|hint| {
            let word = hint.word();
            text!("lifetime of the data: {word}", "データの寿命: {word}")
        });
        value |access| access.write_hint;
    "size" size_bytes: u64, Rules, Bytes, "SIZE", fio: &["size"];
        ("Size of the test file, or number of bytes of the target to use", "テストファイルの大きさ、または対象のうち使う範囲");
    "runs" runs: u32, Rules, Count(1, 1_000_000), "N", may_differ: false;
        ("Repetitions per test", "各項目の回数");
    "time" time_ns: u64, Rules, Time, "TIME", fio: &["runtime"], may_differ: false;
        ("Time per repetition", "1 回の時間");
    "interval" interval_ns: u64, Rules, Pause, "TIME";
        ("Pause between tests", "項目の間の休み");
    "data" data: Data, Rules, OptionKind::Data, "KIND";
        ("Data to write: random, zero, repeat, or compressible:PERCENT of zeros",
         "書く内容: random、zero、repeat、compressible:ゼロの割合(%)");
    "seed" seed: u64, Rules, Number, "N";
        ("Seed of offsets and data", "オフセットとデータの乱数のシード");
    "engine" engine: EngineChoice, Issue, Choice(all_words::<EngineChoice>), "ENGINE",
        usual: Some("auto"), idle_on_models: true;
        ("Engine: io_uring, pread/pwrite in threads, mmap (through the page cache), or automatically \
            whichever of the first two does not slow the storage down",
         "エンジン: io_uring、スレッドでの pread/pwrite、mmap(ページキャッシュ経由)、または自動(前の 2 つのうちストレージの性能を引き出せるほう)");
    "wait" wait: WaitMode, Issue, Choice(all_words::<WaitMode>), "MODE", usual: Some("sleep"), idle_on_models: true;
        ("Waiting for completions: sleep, spin, or poll in the kernel (io_uring)",
         "完了の待ち方: スリープ、スピン、カーネルでのポーリング(io_uring)");
    "pages" pages: Pages, Issue, Choice(all_words::<Pages>), "PAGES", usual: Some("4k"), idle_on_models: true;
        ("Page size of the I/O buffers", "I/O バッファーのページ");
    "direct" direct: bool, Issue, Flag, "0|1", fio: &["direct"], idle_on_models: true;
        ("Bypass the page cache, overriding the profile", "ページキャッシュを使わない(プロファイルより優先)");
    "buffered" buffered: bool, Issue, Flag, "0|1", fio: &["buffered"], idle_on_models: true;
        ("Use the page cache; also works where direct I/O is refused",
         "ページキャッシュ経由で測る(ダイレクト I/O が使えない場合にも)");
    "cache" cache: CachePolicy, Issue, Choice(all_words::<CachePolicy>), "POLICY",
        usual: Some("drop"), idle_on_models: true;
        ("Drop or keep the page cache before each buffered repetition",
         "バッファー経由の各回の前にページキャッシュを破棄するか残すか");
    "chunk" chunk_bytes: u32, OtherSteps, Block, "SIZE", idle_on_models: true;
        ("Copies: bytes read before each write", "コピー: 一度に読んで書くバイト数");
    "files" files: u32, OtherSteps, Count(1, 10_000_000), "N";
        ("git-pull: files in the repository, of which a tenth changes. mdtest: files per thread",
         "git-pull: リポジトリのファイル数(その 1 割が変わる)。mdtest: スレッドごとのファイル数");
}
