//! The parameters of turning media. Most are the same for all of them.

use super::{drive, removable};
use crate::layer::{Below, LayerKind};
use crate::schema::ParameterType::{Bytes, Count, Flag, Number, Rate, Rows, Time, Word};
use crate::schema::{Parameter, SIZE, Scale};

const CAPACITY: Parameter = Parameter::usual(
    "capacity",
    SIZE,
    "0 B",
    "derived: all that the zones hold",
    ("bytes that can be addressed; 0 for all that the zones hold", "使える容量(0 はゾーンの合計)"),
)
.derived_from(&["zones", "heads", "cylinders", "sector"]);
const SECTOR: Parameter = Parameter::usual(
    "sector",
    Bytes(1, 1 << 20),
    "512 B",
    "assumed: the usual sector",
    ("bytes of a sector", "セクター長"),
);
const ROTATION: Parameter =
    Parameter::needed("rotation", Number(60.0, 1e6), ("turns per minute (rpm)", "回転数(rpm、1 分あたり)"))
        .scaled(Scale::Log);
const CYLINDERS: Parameter =
    Parameter::needed("cylinders", Count(1, 10_000_000), ("positions of the arm", "シリンダー数"));
const HEADS: Parameter =
    Parameter::needed("heads", Count(1, 64), ("surfaces, each with its head", "ヘッド数(記録面の数)"));
const ZONES: Parameter = Parameter::needed(
    "zones",
    Rows(&["first cylinder", "sectors per track"]),
    ("zones from the start of the addresses on", "ゾーン(アドレスの先頭側から)"),
);
const ZONE_SKEWS: Parameter = Parameter::usual(
    "zone_skews",
    Rows(&[
        "track skew in sectors",
        "cylinder skew in sectors",
        "angle of the first sector in sectors",
        "unused sectors at the start",
        "unused sectors at the end",
    ]),
    "[]",
    "derived: as long as the switches take, so that none costs a turn",
    ("a row for each zone, where the layout was measured", "ゾーンごとのスキューなど(実測がある場合)"),
)
.derived_from(&["head_switch", "cylinder_switch", "write_settle", "read_settle"]);
const SLIPS: Parameter = Parameter::usual(
    "slips",
    Rows(&["zone", "data sector of the zone", "sectors"]),
    "[]",
    "assumed: no bad sectors",
    (
        "bad and spare sectors that are left out: before which data sector, and how many; zones counted from 0",
        "読み飛ばす不良・予備セクター(ゾーン番号、その直後のデータセクター、数)",
    ),
);
const SERPENTINE: Parameter = Parameter::usual(
    "serpentine",
    Flag,
    "false",
    "assumed: every cylinder begins at the first head",
    (
        "whether every other cylinder goes from the last head to the first, so that the next begins at the same head",
        "1 シリンダーおきにヘッドを逆順に使うか(次のシリンダーが同じヘッドから始まる)",
    ),
);
const SERPENTINE_OVER_ZONES: Parameter = Parameter::usual(
    "serpentine_over_zones",
    Flag,
    "false",
    "assumed: every zone begins at its first head",
    (
        "with serpentine: whether cylinders are counted over the whole disk, not from the start of each zone",
        "serpentine のとき、シリンダーをゾーンの先頭からでなくディスク全体で数えるか",
    ),
);
const SEEK_SINGLE: Parameter = Parameter::usual(
    "seek_single",
    Time,
    "0 ns",
    "assumed: given by seek_table",
    ("seek to the next cylinder", "隣のシリンダーへのシーク時間"),
);
const SEEK_AVERAGE: Parameter = Parameter::usual(
    "seek_average",
    Time,
    "0 ns",
    "assumed: given by seek_table",
    ("seek, average over random moves", "平均シーク時間"),
);
const SEEK_FULL: Parameter = Parameter::usual(
    "seek_full",
    Time,
    "0 ns",
    "assumed: given by seek_table",
    ("seek over all cylinders", "全幅のシーク時間"),
);
const SEEK_CURVE: Parameter = Parameter::usual(
    "seek_curve",
    Word(&["root-and-line", "coasting"]),
    "root-and-line",
    "assumed: Lee and Katz 1993, the three-point curve of DiskSim",
    (
        "which curve goes through the three times: a root and a line together, or a root until the arm has its top speed and \
         straight from there",
        "3 つの時間を通る曲線。root-and-line は平方根と直線の和、coasting は最高速に達するまで平方根、その先は直線",
    ),
);
const SEEK_TABLE: Parameter = Parameter::usual(
    "seek_table",
    Rows(&["cylinders", "ms"]),
    "[]",
    "derived: the curve through the three seek times",
    ("measured seek times, straight lines between them", "シーク時間の実測表(間は直線で補間)"),
)
.derived_from(&["seek_single", "seek_average", "seek_full", "seek_curve"]);
const HEAD_SWITCH: Parameter = Parameter::usual(
    "head_switch",
    Time,
    "0 ns",
    "assumed: one head, or not known",
    ("time to switch to another head", "ヘッド切り替え時間"),
);
const CYLINDER_SWITCH: Parameter = Parameter::usual(
    "cylinder_switch",
    Time,
    "0 ns",
    "derived: a seek to the next cylinder",
    (
        "time to the next cylinder within a transfer; 0 for a seek to it",
        "転送途中に隣のシリンダーへ移る時間(0 はシーク時間と同じ)",
    ),
)
.derived_from(&["seek_single", "seek_table"]);
const WRITE_SETTLE: Parameter = Parameter::usual(
    "write_settle",
    Time,
    "0 ns",
    "assumed: small, or contained in the seek times",
    ("what writing adds to every move", "書き込み時に移動ごとに加わる整定時間"),
);
const READ_SETTLE: Parameter = Parameter::usual(
    "read_settle",
    Time,
    "0 ns",
    "assumed: moves take a write no less than a read",
    (
        "what only reads need of every move: a write takes so much less of it",
        "移動時間のうち読み出しだけに要する整定時間(書き込みはその分短い)",
    ),
);
const READ_OVERHEAD: Parameter = Parameter::needed(
    "read_overhead",
    Time,
    ("handling of a read before the arm moves", "読み出しコマンドの処理時間"),
)
.live();
const WRITE_OVERHEAD: Parameter = Parameter::needed(
    "write_overhead",
    Time,
    ("handling of a write or a flush", "書き込み・フラッシュの処理時間"),
)
.live();
const SEGMENT: Parameter = Parameter::usual(
    "segment",
    SIZE,
    "64 KiB",
    "assumed",
    ("bytes of a segment of the memory for reading", "読み出しキャッシュの 1 セグメントの長さ"),
);
const LOOK_AHEAD: Parameter = Parameter::usual(
    "look_ahead",
    SIZE,
    "1 GiB",
    "assumed: until the segment is full",
    ("most bytes read ahead after a request", "先読みの最大長"),
);
const LOOK_AHEAD_OF_RUNS_ONLY: Parameter = Parameter::usual(
    "look_ahead_of_runs_only",
    Flag,
    "false",
    "assumed: after every read",
    (
        "whether only a read that goes on where the one before ended is read ahead of",
        "直前の読み出しに続く場合だけ先読みするか",
    ),
);
const BUFFER_RATE: Parameter = Parameter::usual(
    "buffer_rate",
    Rate,
    "1 GB/s",
    "assumed: faster than the bus, whose time its own layer tells",
    ("rate of the drive's memory", "ドライブ内メモリーの速度"),
)
.live();

/// A hard disk.
pub const DISK: LayerKind = LayerKind {
    word: "disk",
    title: ("a hard disk", "ハードディスク"),
    of_host: false,
    below: Below::Nothing,
    parameters: &[
        CAPACITY,
        SECTOR,
        ROTATION,
        CYLINDERS,
        HEADS,
        ZONES,
        ZONE_SKEWS,
        SLIPS,
        SERPENTINE,
        SERPENTINE_OVER_ZONES,
        SEEK_SINGLE,
        SEEK_AVERAGE,
        SEEK_FULL,
        SEEK_CURVE,
        SEEK_TABLE,
        HEAD_SWITCH,
        CYLINDER_SWITCH,
        WRITE_SETTLE,
        READ_SETTLE,
        READ_OVERHEAD,
        Parameter::usual(
            "read_hit_overhead",
            Time,
            "0 ns",
            "assumed: small",
            ("handling of a read that the memory has", "キャッシュにある読み出しの処理時間"),
        )
        .live(),
        WRITE_OVERHEAD,
        Parameter::usual(
            "overheads",
            Rows(&["read hit ms", "read ms", "write to the cache ms", "write ms"]),
            "[]",
            "derived: the single overheads",
            (
                "measured overheads instead of the single ones: a row after a read, a row after a write",
                "処理時間の実測表(読み出しの直後と書き込みの直後の 2 行。個別の値より優先)",
            ),
        )
        .derived_from(&["read_hit_overhead", "read_overhead", "write_overhead"]),
        Parameter::usual(
            "hit_overheads_by_run",
            Flag,
            "false",
            "assumed: the kind of the command before decides alone, as in DiskSim",
            (
                "with overheads, for what the memory serves: whether the row after its own kind holds only where the command \
                 goes on where the one before ended, and the other row else",
                "overheads のうちメモリーで済むコマンドについて、同じ種類の直後の行を、直前のコマンドの続きの場合だけに使うか(それ以外はもう一方の行)",
            ),
        ),
        Parameter::usual(
            "segments",
            Count(0, 65_536),
            "1",
            "assumed",
            ("segments of the memory for reading; 0 for none", "読み出しキャッシュのセグメント数(0 はなし)"),
        ),
        SEGMENT,
        LOOK_AHEAD,
        LOOK_AHEAD_OF_RUNS_ONLY,
        BUFFER_RATE,
        Parameter::usual(
            "read_start",
            Number(0.0, 1.0),
            "0",
            "assumed: sector by sector",
            (
                "share of a read that is in the memory before the bus takes it (SCSI's buffer full ratio)",
                "バスへの転送を始める前にメモリーに溜める読み出しの割合(SCSI の buffer full ratio)",
            ),
        )
        .live(),
        Parameter::usual(
            "write_start",
            Number(0.0, 1.0),
            "0",
            "assumed: at once, sector by sector",
            (
                "share of a write that is in the memory before the medium takes it, while the arm moves",
                "媒体への書き込みを始める前にメモリーに溜める書き込みの割合(シークと並行)",
            ),
        )
        .live(),
        Parameter::usual(
            "write_cache",
            Flag,
            "false",
            "assumed: as SCSI drives were sold",
            ("whether writes are acknowledged before they are on the disk", "書き込みキャッシュを使うか"),
        ),
        Parameter::usual(
            "write_cache_size",
            SIZE,
            "0 B",
            "assumed: no write cache",
            ("bytes of the write cache", "書き込みキャッシュの容量"),
        ),
        Parameter::usual(
            "writes_empty_segments",
            Flag,
            "false",
            "assumed: the write cache has memory of its own",
            (
                "whether a write to the cache takes the memory of what was read",
                "書き込みをキャッシュするとき、読み出しキャッシュのメモリーを明け渡すか",
            ),
        ),
        Parameter::usual(
            "write_back",
            SIZE,
            "1 MiB",
            "assumed",
            (
                "most bytes of the write cache that are written before a read may go first",
                "書き出し 1 回の最大長(終わると読み出しが先に行ける)",
            ),
        )
        .live(),
        Parameter::usual(
            "queue_depth",
            Count(1, 256),
            "1",
            "assumed: no command queueing",
            (
                "commands from which the drive chooses the next; 1 for order of arrival",
                "次に実行するものを選べるコマンド数(1 は到着順)",
            ),
        ),
        Parameter::usual(
            "age_limit",
            Time,
            "500 ms",
            "assumed",
            ("a command that has waited so long goes first", "これ以上待ったコマンドを優先する時間"),
        )
        .live(),
    ],
    relations: &[],
    build: drive::build,
};

const WRITE_PIECE: Parameter = Parameter::needed(
    "write_piece",
    SIZE,
    ("bytes that the drive gathers before it writes them", "書き込みのためにドライブが一度に溜める量"),
);

/// A magneto-optical drive with its disk.
pub const MAGNETO_OPTICAL: LayerKind = LayerKind {
    word: "magneto-optical",
    title: ("a magneto-optical drive with its disk", "光磁気ディスク(MO)ドライブ"),
    of_host: false,
    below: Below::Nothing,
    parameters: &[
        CAPACITY,
        SECTOR,
        ROTATION,
        CYLINDERS,
        HEADS,
        ZONES,
        ZONE_SKEWS,
        SLIPS,
        SERPENTINE,
        SERPENTINE_OVER_ZONES,
        SEEK_SINGLE,
        SEEK_AVERAGE,
        SEEK_FULL,
        SEEK_CURVE,
        SEEK_TABLE,
        HEAD_SWITCH,
        CYLINDER_SWITCH,
        WRITE_SETTLE,
        READ_SETTLE,
        READ_OVERHEAD,
        WRITE_OVERHEAD,
        SEGMENT,
        LOOK_AHEAD,
        LOOK_AHEAD_OF_RUNS_ONLY,
        BUFFER_RATE,
        WRITE_PIECE,
        Parameter::usual(
            "erase",
            Flag,
            "true",
            "http://moca.ncl.ac.uk/floppys/20109.htm: erase, write, check in three passes",
            ("whether the old data are erased in a pass of their own", "書き込み前に消去の周回があるか"),
        ),
        Parameter::usual(
            "verify",
            Flag,
            "true",
            "http://moca.ncl.ac.uk/floppys/20109.htm: erase, write, check in three passes",
            ("whether what was written is read back in a pass of its own", "書き込み後に照合の周回があるか"),
        ),
    ],
    relations: &[],
    build: removable::build_magneto_optical,
};

/// A drive for removable magnetic disks.
pub const REMOVABLE: LayerKind = LayerKind {
    word: "removable",
    title: ("a drive for removable magnetic disks", "リムーバブル磁気ディスクのドライブ"),
    of_host: false,
    below: Below::Nothing,
    parameters: &[
        CAPACITY,
        SECTOR,
        ROTATION,
        CYLINDERS,
        HEADS,
        ZONES,
        ZONE_SKEWS,
        SLIPS,
        SERPENTINE,
        SERPENTINE_OVER_ZONES,
        SEEK_SINGLE,
        SEEK_AVERAGE,
        SEEK_FULL,
        SEEK_CURVE,
        SEEK_TABLE,
        HEAD_SWITCH,
        CYLINDER_SWITCH,
        WRITE_SETTLE,
        READ_SETTLE,
        READ_OVERHEAD,
        WRITE_OVERHEAD,
        SEGMENT,
        LOOK_AHEAD,
        LOOK_AHEAD_OF_RUNS_ONLY,
        BUFFER_RATE,
        WRITE_PIECE,
    ],
    relations: &[],
    build: removable::build_plain,
};
