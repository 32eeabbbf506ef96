//! The parameters of turning media. Most are the same for all of them.

use super::{drive, removable};
use crate::build::parameters;
use crate::layer::{Below, LayerKind};
use crate::schema::{Parameter, ParameterScale, SIZE};

parameters! {
    /// What the moving parts are.
    pub(super) struct Mechanics, MECHANICS {
        "capacity" capacity_bytes: SIZE,
            usual("0 B", "derived: all that the zones hold")
                .derived_from(&["zones", "heads", "cylinders", "sector"]),
            ("bytes that can be addressed; 0 for all that the zones hold", "使える容量(0 はゾーンの合計)");
        "sector" sector_bytes: Bytes(1, 1 << 20), usual("512 B", "assumed: the usual sector"),
            ("bytes of a sector", "セクター長");
        "rotation" rotation: Number(60.0, 1e6), needed.scaled(ParameterScale::Log),
            ("turns per minute (rpm)", "回転数(rpm、1 分あたり)");
        "cylinders" cylinders: Count(1, 10_000_000), needed, ("positions of the arm", "シリンダー数");
        "heads" heads: Count(1, 64), needed, ("surfaces, each with its head", "ヘッド数(記録面の数)");
        "zones" zones: Rows(&["first cylinder", "sectors per track"]), needed,
            ("zones from the start of the addresses on", "ゾーン(アドレスの先頭側から)");
        "zone_skews" zone_skews: Rows(&[
                "track skew in sectors", "cylinder skew in sectors", "angle of the first sector in sectors",
                "unused sectors at the start", "unused sectors at the end",
            ]),
            usual("[]", "derived: as long as the switches take, so that none costs a turn")
                .derived_from(&["head_switch", "cylinder_switch", "write_settle", "read_settle"]),
            ("a row for each zone, where the layout was measured",
             "ゾーンごとのスキューなど(実測がある場合)");
        "slips" slips: Rows(&["zone", "data sector of the zone", "sectors"]),
            usual("[]", "assumed: no bad sectors"),
            ("bad and spare sectors that are left out: before which data sector, and how many; zones counted from 0",
             "読み飛ばす不良・予備セクター(ゾーン番号、その直後のデータセクター、数)");
        "serpentine" serpentine: Flag, usual("false", "assumed: every cylinder begins at the first head"),
            ("whether every other cylinder goes from the last head to the first, so that the next begins at the same head",
             "1 シリンダーおきにヘッドを逆順に使うか(次のシリンダーが同じヘッドから始まる)");
        "serpentine_over_zones" serpentine_over_zones: Flag,
            usual("false", "assumed: every zone begins at its first head"),
            ("with serpentine: whether cylinders are counted over the whole disk, not from the start of each zone",
             "serpentine のとき、シリンダーをゾーンの先頭からでなくディスク全体で数えるか");
        "seek_single" seek_single_ns: Time, usual("0 ns", "assumed: given by seek_table"),
            ("seek to the next cylinder", "隣のシリンダーへのシーク時間");
        "seek_average" seek_average_ns: Time, usual("0 ns", "assumed: given by seek_table"),
            ("seek, average over random moves", "平均シーク時間");
        "seek_full" seek_full_ns: Time, usual("0 ns", "assumed: given by seek_table"),
            ("seek over all cylinders", "全幅のシーク時間");
        "seek_curve" seek_curve: Word(&["root-and-line", "coasting"]),
            usual("root-and-line", "assumed: Lee and Katz 1993, the three-point curve of DiskSim"),
            ("which curve goes through the three times: a root and a line together, or a root until the arm has its top speed and \
              straight from there",
             "3 つの時間を通る曲線。root-and-line は平方根と直線の和、coasting は最高速に達するまで平方根、その先は直線");
        "seek_table" seek_table: Rows(&["cylinders", "ms"]),
            usual("[]", "derived: the curve through the three seek times")
                .derived_from(&["seek_single", "seek_average", "seek_full", "seek_curve"]),
            ("measured seek times, straight lines between them", "シーク時間の実測表(間は直線で補間)");
        "head_switch" head_switch_ns: Time, usual("0 ns", "assumed: one head, or not known"),
            ("time to switch to another head", "ヘッド切り替え時間");
        "cylinder_switch" cylinder_switch_ns: Time,
            usual("0 ns", "derived: a seek to the next cylinder")
                .derived_from(&["seek_single", "seek_table"]),
            ("time to the next cylinder within a transfer; 0 for a seek to it",
             "転送途中に隣のシリンダーへ移る時間(0 はシーク時間と同じ)");
        "write_settle" write_settle_ns: Time, usual("0 ns", "assumed: small, or contained in the seek times"),
            ("what writing adds to every move", "書き込み時に移動ごとに加わる整定時間");
        "read_settle" read_settle_ns: Time, usual("0 ns", "assumed: moves take a write no less than a read"),
            ("what only reads need of every move: a write takes so much less of it",
             "移動時間のうち読み出しだけに要する整定時間(書き込みはその分短い)");
    }
}

parameters! {
    /// How long the drive's own processor and memory take.
    pub(super) struct Handling, HANDLING {
        "read_overhead" read_overhead_ns: Time, needed.live(),
            ("handling of a read before the arm moves", "読み出しコマンドの処理時間");
        "write_overhead" write_overhead_ns: Time, needed.live(),
            ("handling of a write or a flush", "書き込み・フラッシュの処理時間");
        "buffer_rate" buffer_bytes_per_s: Rate,
            usual("1 GB/s", "assumed: faster than the bus, whose time its own layer tells").live(),
            ("rate of the drive's memory", "ドライブ内メモリーの速度");
    }
}

parameters! {
    /// The memory for reading.
    pub(super) struct Memory, MEMORY {
        "segment" segment_bytes: SIZE, usual("64 KiB", "assumed"),
            ("bytes of a segment of the memory for reading", "読み出しキャッシュの 1 セグメントの長さ");
        "look_ahead" look_ahead_bytes: SIZE, usual("1 GiB", "assumed: until the segment is full"),
            ("most bytes read ahead after a request", "先読みの最大長");
        "look_ahead_of_runs_only" look_ahead_of_runs_only: Flag, usual("false", "assumed: after every read"),
            ("whether only a read that goes on where the one before ended is read ahead of",
             "直前の読み出しに続く場合だけ先読みするか");
    }
}

parameters! {
    /// What only a hard disk has.
    pub(super) struct Values, OF_DISK {
        "read_hit_overhead" read_hit_overhead_ns: Time, usual("0 ns", "assumed: small").live(),
            ("handling of a read that the memory has", "キャッシュにある読み出しの処理時間");
        "overheads" overheads: Rows(&["read hit ms", "read ms", "write to the cache ms", "write ms"]),
            usual("[]", "derived: the single overheads")
                .derived_from(&["read_hit_overhead", "read_overhead", "write_overhead"]),
            ("measured overheads instead of the single ones: a row after a read, a row after a write",
             "処理時間の実測表(読み出しの直後と書き込みの直後の 2 行。個別の値より優先)");
        "hit_overheads_by_run" hit_overheads_by_run: Flag,
            usual("false", "assumed: the kind of the command before decides alone, as in DiskSim"),
            ("with overheads, for what the memory serves: whether the row after its own kind holds only where the command \
              goes on where the one before ended, and the other row else",
             "overheads のうちメモリーで済むコマンドについて、同じ種類の直後の行を、直前のコマンドの続きの場合だけに使うか(それ以外はもう一方の行)");
        "segments" segments: Count(0, 65_536), usual("1", "assumed"),
            ("segments of the memory for reading; 0 for none", "読み出しキャッシュのセグメント数(0 はなし)");
        "read_start" read_start: Number(0.0, 1.0), usual("0", "assumed: sector by sector").live(),
            ("share of a read that is in the memory before the bus takes it (SCSI's buffer full ratio)",
             "バスへの転送を始める前にメモリーに溜める読み出しの割合(SCSI の buffer full ratio)");
        "write_start" write_start: Number(0.0, 1.0), usual("0", "assumed: at once, sector by sector").live(),
            ("share of a write that is in the memory before the medium takes it, while the arm moves",
             "媒体への書き込みを始める前にメモリーに溜める書き込みの割合(シークと並行)");
        "write_cache" write_cache: Flag, usual("false", "assumed: as SCSI drives were sold"),
            ("whether writes are acknowledged before they are on the disk", "書き込みキャッシュを使うか");
        "write_cache_size" write_cache_size_bytes: SIZE, usual("0 B", "assumed: no write cache"),
            ("bytes of the write cache", "書き込みキャッシュの容量");
        "writes_empty_segments" writes_empty_segments: Flag,
            usual("false", "assumed: the write cache has memory of its own"),
            ("whether a write to the cache takes the memory of what was read",
             "書き込みをキャッシュするとき、読み出しキャッシュのメモリーを明け渡すか");
        "write_back" write_back_bytes: SIZE, usual("1 MiB", "assumed").live(),
            ("most bytes of the write cache that are written before a read may go first",
             "書き出し 1 回の最大長(終わると読み出しが先に行ける)");
        "queue_depth" queue_depth: Count(1, 256), usual("1", "assumed: no command queueing"),
            ("commands from which the drive chooses the next; 1 for order of arrival",
             "次に実行するものを選べるコマンド数(1 は到着順)");
        "age_limit" age_limit_ns: Time, usual("500 ms", "assumed").live(),
            ("a command that has waited so long goes first", "これ以上待ったコマンドを優先する時間");
    }
}

/// What drives for removable disks have.
pub(super) const WRITE_PIECE: Parameter = Parameter::needed(
    "write_piece",
    SIZE,
    ("bytes that the drive gathers before it writes them", "書き込みのためにドライブが一度に溜める量"),
);

parameters! {
    /// The passes of a write to a magneto-optical disk, beside that which writes.
    pub(super) struct Passes, PASSES {
        "erase" erase: Flag,
            usual("true", "http://moca.ncl.ac.uk/floppys/20109.htm: erase, write, check in three passes"),
            ("whether the old data are erased in a pass of their own", "書き込み前に消去の周回があるか");
        "verify" verify: Flag,
            usual("true", "http://moca.ncl.ac.uk/floppys/20109.htm: erase, write, check in three passes"),
            ("whether what was written is read back in a pass of its own", "書き込み後に照合の周回があるか");
    }
}

/// Parts of tables as one table.
const fn joined<const COUNT: usize>(parts: &[&[Parameter]]) -> [Parameter; COUNT] {
    let mut all = [WRITE_PIECE; COUNT];
    let (mut part, mut count) = (0, 0);
    while part < parts.len() {
        let mut index = 0;
        while index < parts[part].len() {
            all[count] = parts[part][index];
            (index, count) = (index + 1, count + 1);
        }
        part += 1;
    }
    assert!(count == COUNT);
    all
}

/// The overheads of reads and of writes, and the rate of the memory.
const OVERHEADS: (&[Parameter], &[Parameter]) = HANDLING.split_at(2);

/// A hard disk.
pub const DISK: LayerKind = LayerKind {
    word: "disk",
    title: ("a hard disk", "ハードディスク"),
    of_host: false,
    below: Below::Nothing,
    parameters: &{
        let (read_hit, others) = OF_DISK.split_at(1);
        let (before_memory, after_memory) = others.split_at(3);
        let (read, write) = OVERHEADS.0.split_at(1);
        joined::<37>(&[MECHANICS, read, read_hit, write, before_memory, MEMORY, OVERHEADS.1, after_memory])
    },
    relations: &[],
    build: drive::build,
};

/// A magneto-optical drive with its disk.
pub const MAGNETO_OPTICAL: LayerKind = LayerKind {
    word: "magneto-optical",
    title: ("a magneto-optical drive with its disk", "光磁気ディスク(MO)ドライブ"),
    parameters: &joined::<28>(&[REMOVABLE.parameters, PASSES]),
    build: removable::build_magneto_optical,
    ..REMOVABLE
};

/// A drive for removable magnetic disks.
pub const REMOVABLE: LayerKind = LayerKind {
    word: "removable",
    title: ("a drive for removable magnetic disks", "リムーバブル磁気ディスクのドライブ"),
    of_host: false,
    below: Below::Nothing,
    parameters: &joined::<26>(&[MECHANICS, OVERHEADS.0, MEMORY, OVERHEADS.1, &[WRITE_PIECE]]),
    relations: &[],
    build: removable::build_plain,
};
