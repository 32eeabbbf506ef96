//! Files of tools whose figures kurabe does not read: their kind, and what to give instead.
//!
//! The model: a tool is recognized by words in one of its lines, by keys of its JSON, or by its first
//! bytes. The table is searched only after every importer has refused the file, so that it never takes
//! a result away from one. The first matching entry names the file.
//!
//! # To add a tool
//!
//! Write an entry with marks that do not occur in files of other tools, and add a line of a real file
//! to the test below. Formats are documented in the manuals and sources of sysstat, bcc, OpenZFS and
//! util-linux.

use super::Input;
use super::json_tree::{Json, documents};
use kurabe_core::mention::Mention;
use kurabe_core::{Text, text};

/// Mark by which the file of a tool is recognized.
enum ToolMark {
    /// A line contains all of these words, with anything between them.
    Line(&'static [&'static str]),
    /// The text contains all of these words.
    Text(&'static [&'static str]),
    /// The file begins with these bytes.
    Bytes(&'static [u8]),
}

/// Content of a tool's file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileContent {
    /// The health of a device, the state of an array, or a list of devices.
    State,
    /// Totals since boot.
    SinceBoot,
    /// Processes.
    Processes,
    /// The CPU, memory or other resources.
    OtherResources,
    /// Caches.
    Caches,
    /// Network file systems.
    NetworkFileSystems,
    /// A distribution of latencies without rates.
    Distribution,
    /// Only slow operations.
    SlowOperations,
    /// A trace in a format that cannot be replayed.
    Trace,
    /// blktrace's own records.
    BinaryTrace,
    /// The totals of a trace.
    TraceTotals,
    /// The results of another benchmark.
    OtherBenchmark,
    /// elbencho's text for people, of which kurabe reads the files for programs.
    TextOfElbencho,
    /// Device counters in the format of another system.
    OtherSystem,
    /// The state of a run that has not ended.
    Progress,
}

/// A command of elbencho that writes a file for programs.
const WITH_FILE: Mention = Mention::Shell("elbencho --csvfile result.csv");

impl FileContent {
    fn what(self) -> Text {
        match self {
            Self::State => {
                text!(
                    "it describes devices and contains no measurements",
                    "デバイスの状態で、測定結果ではありません"
                )
            }
            Self::SinceBoot => {
                text!("it contains totals since boot, but no rates", "起動時からの累計で、速度は含まれません")
            }
            Self::Processes => {
                text!("it describes processes, not devices", "デバイスではなくプロセスごとの値です")
            }
            Self::OtherResources => {
                text!("it contains no figures of individual devices", "デバイスごとの値がありません")
            }
            Self::Caches => text!("it describes a cache, not devices", "デバイスではなくキャッシュの値です"),
            Self::NetworkFileSystems => text!(
                "it describes network file systems, not block devices",
                "ブロックデバイスではなくネットワークファイルシステムの値です"
            ),
            Self::Distribution => text!(
                "it contains a latency distribution, but neither a rate nor the number of operations in flight",
                "レイテンシの分布だけで、速度も同時実行数もありません"
            ),
            Self::SlowOperations => text!(
                "it lists only slow operations, so it has neither a rate nor percentiles",
                "遅い操作だけの一覧なので、速度もパーセンタイルも求められません"
            ),
            Self::Trace => {
                text!(
                    "it is a trace in a format that kurabe does not replay",
                    "kurabe が再生できない形式のトレースです"
                )
            }
            Self::TraceTotals => text!(
                "it contains the totals of a trace, without its operations",
                "トレースの合計だけで、個々の操作がありません"
            ),
            Self::BinaryTrace => text!("it is a trace in binary form", "バイナリ形式のトレースです"),
            Self::OtherBenchmark => {
                text!(
                    "kurabe does not read the results of this tool",
                    "kurabe はこのツールの結果を読めません"
                )
            }
            Self::TextOfElbencho => text!(
                "kurabe reads the CSV and JSON files of elbencho, not its text for people",
                "kurabe が読めるのは elbencho の CSV と JSON のファイルで、画面用のテキストは読めません"
            ),
            Self::Progress => text!(
                "it contains only the progress of a run, not its result",
                "実行中の経過だけで、結果がありません"
            ),
            Self::OtherSystem => text!(
                "kurabe does not read this form of the tool's reports",
                "kurabe が読めない形式の出力です"
            ),
        }
    }

    fn instead(self) -> Text {
        match self {
            Self::State | Self::Caches | Self::OtherResources => text!(
                "give the result of a benchmark, or the output of iostat -x 1 during the load",
                "ベンチマークの結果か、負荷をかけている間の iostat -x 1 の出力を指定してください"
            ),
            Self::SinceBoot | Self::OtherSystem => text!(
                "record the devices under load: iostat -x 1 60",
                "動作中のデバイスを記録してください: iostat -x 1 60"
            ),
            Self::Processes => text!(
                "record the devices over the same period: iostat -x 1",
                "同じ時間のデバイスの値を記録してください: iostat -x 1"
            ),
            Self::NetworkFileSystems => text!(
                "measure the mounted folder with a benchmark such as fio",
                "マウントしたフォルダーを fio などのベンチマークで測ってください"
            ),
            Self::Distribution | Self::SlowOperations => text!(
                "record every operation with biosnoop, or the devices with iostat -x 1",
                "すべての操作を biosnoop で、またはデバイスを iostat -x 1 で記録してください"
            ),
            Self::Trace | Self::TraceTotals => text!(
                "record the trace with blktrace and convert it to text: blkparse -i sda -o trace.txt",
                "blktrace で記録し、テキストに変換してください: blkparse -i sda -o trace.txt"
            ),
            Self::BinaryTrace => text!(
                "convert it to text first: blkparse -i sda -o trace.txt",
                "先にテキストに変換してください: blkparse -i sda -o trace.txt"
            ),
            Self::TextOfElbencho => text!(
                "let elbencho write a file: {WITH_FILE}",
                "elbencho にファイルを書かせてください: {WITH_FILE}"
            ),
            Self::Progress => text!(
                "give the output that the tool prints at the end",
                "ツールが最後に表示する結果を指定してください"
            ),
            Self::OtherBenchmark => text!(
                "give the output of a tool listed in docs/tools.md",
                "docs/tools.md にあるツールの出力を指定してください"
            ),
        }
    }
}

/// Name of a tool's output, its marks, and its content.
type Signature = (&'static str, &'static [ToolMark], FileContent);

use FileContent::*;
use ToolMark::{Bytes, Line, Text as Words};

static SIGNATURES: &[Signature] = &[
    ("blktrace", &[Bytes(&[0x07, 0x74, 0x61, 0x65]), Bytes(&[0x65, 0x61, 0x74, 0x07])], BinaryTrace),
    (
        "smartctl JSON",
        &[
            Words(&["\"smartctl\"", "\"json_format_version\""]),
            Words(&["\"ata_smart_attributes\""]),
            Words(&["\"scsi_grown_defect_list\""]),
            Words(&["\"user_capacity\"", "\"rotation_rate\""]),
            Words(&["\"user_capacity\"", "\"smart_support\""]),
        ],
        State,
    ),
    (
        "smartctl",
        &[
            Line(&["smartctl ", "(local build)"]),
            Line(&["=== START OF ", "SECTION ==="]),
            Line(&["smartctl ", "[x86_64-"]),
        ],
        State,
    ),
    (
        "nvme-cli JSON",
        &[
            Words(&["\"critical_warning\"", "\"percent_used\""]),
            Words(&["\"critical_warning\"", "\"avail_spare\""]),
            Words(&["\"DevicePath\"", "\"ModelNumber\""]),
            Words(&["\"Subsystems\"", "\"NQN\""]),
            Words(&["\"vid\"", "\"ssvid\"", "\"mn\""]),
        ],
        State,
    ),
    (
        "nvme-cli",
        &[Line(&["Smart Log for NVME device:"]), Line(&["Node", "SN", "Model", "Namespace"])],
        State,
    ),
    ("cifsiostat JSON", &[Words(&["\"fs_name\"", "\"rops/s\""])], NetworkFileSystems),
    ("cifsiostat", &[Line(&["Filesystem", "rops/s", "wops/s", "fo/s"])], NetworkFileSystems),
    ("nfsiostat", &[Line(&["ops/s", "rpc bklog"]), Line(&["Filesystem", "rBlk_nor/s"])], NetworkFileSystems),
    (
        "pidstat",
        &[
            Line(&["PID", "kB_rd/s", "kB_wr/s"]),
            Line(&["PID", "%usr", "%system", "CPU", "Command"]),
            Line(&["PID", "minflt/s", "majflt/s"]),
            Line(&["PID", "cswch/s", "nvcswch/s"]),
            Line(&["TGID", "TID"]),
            Line(&["PID", "usr-ms", "system-ms"]),
        ],
        Processes,
    ),
    (
        "iotop",
        &[Line(&["Total DISK READ", "Total DISK WRITE"]), Line(&["TID", "PRIO", "USER", "DISK READ"])],
        Processes,
    ),
    (
        "biotop",
        &[Line(&["PID", "COMM", "D MAJ MIN DISK"]), Line(&["PID", "COMM", "DISK", "I/O", "Kbytes"])],
        Processes,
    ),
    ("vmstat -d", &[Line(&["disk-", "-reads-", "-writes-"])], SinceBoot),
    ("vmstat -D", &[Words(&["merged reads", "read sectors", "milli reading"])], SinceBoot),
    (
        "vmstat",
        &[
            Line(&["procs -", "-memory-", "-io-"]),
            Line(&["r", "b", "swpd", "free", "buff", "cache", "si", "so"]),
        ],
        OtherResources,
    ),
    (
        "mpstat",
        &[
            Line(&["CPU    %usr   %nice    %sys %iowait    %irq"]),
            Line(&["NODE    %usr   %nice"]),
            Words(&["\"sysstat\"", "\"cpu-load\"", "\"irq\""]),
        ],
        OtherResources,
    ),
    (
        "sar",
        &[
            Line(&["tps", "rtps", "wtps", "bread/s"]),
            Line(&["CPU", "%user", "%nice", "%system", "%iowait"]),
            Line(&["CPU", "%usr", "%nice", "%sys", "%iowait"]),
            Line(&["kbmemfree", "kbmemused"]),
            Line(&["pgpgin/s", "pgpgout/s"]),
            Line(&["runq-sz", "plist-sz"]),
            Line(&["IFACE", "rxpck/s"]),
            Line(&["proc/s", "cswch/s"]),
            Line(&["intr/s"]),
            Line(&["%scpu-10"]),
            Line(&["%sio-10"]),
            Line(&["%smem-10"]),
            Line(&["MBfsfree", "MBfsused"]),
            Line(&["dentunusd", "file-nr"]),
            Line(&["  CPU  ", "  MHz"]),
            Words(&["LINUX RESTART"]),
        ],
        OtherResources,
    ),
    (
        "sar JSON",
        &[Words(&["\"sysstat\"", "\"cpu-load\""]), Words(&["\"sysstat\"", "\"sysdata-version\""])],
        OtherResources,
    ),
    ("tapestat", &[Line(&["Tape", "r/s", "w/s"]), Words(&["\"tape\"", "\"sysstat\""])], OtherResources),
    ("dstat", &[Line(&["-dsk/"])], OtherResources),
    ("atop", &[Line(&["ATOP - "]), Line(&["PRC |", "| sys"])], OtherResources),
    ("top", &[Line(&["top - ", "load average:"])], Processes),
    ("free", &[Line(&["total", "used", "free", "buff/cache"])], OtherResources),
    ("lscpu", &[Line(&["CPU op-mode(s):"])], OtherResources),
    ("dmesg", &[Line(&["[    0.000000] Linux version"])], State),
    ("nmon", &[Line(&["AAA,progname,nmon"])], OtherResources),
    (
        "zpool status",
        &[Line(&["NAME", "STATE", "READ", "WRITE", "CKSUM"]), Words(&["  pool:", " state:", "config:"])],
        State,
    ),
    (
        "zpool list",
        &[Line(&["NAME", "SIZE", "ALLOC", "FREE", "FRAG"]), Line(&["NAME", "SIZE", "ALLOC", "FREE", "CAP"])],
        State,
    ),
    ("zfs list", &[Line(&["NAME", "USED", "AVAIL", "REFER", "MOUNTPOINT"])], State),
    ("zfs get, zpool get", &[Line(&["NAME", "PROPERTY", "VALUE", "SOURCE"])], State),
    ("zpool iostat -w", &[Line(&["latency ", " read ", " write ", "scrub"])], Distribution),
    ("zpool iostat -r", &[Line(&["req_size ", " ind ", " agg "])], Distribution),
    ("zpool history", &[Line(&["History for '"])], State),
    ("arcstat", &[Line(&["time", "read", "miss", "miss%"]), Line(&["time", "read", "ddread"])], Caches),
    ("arc_summary", &[Line(&["ZFS Subsystem Report"]), Line(&["ARC size (current):"])], Caches),
    (
        "mdadm -E (examine)",
        &[
            Words(&["Magic :", "Container GUID :"]),
            Words(&["Magic :", "Controller GUID :"]),
            Words(&["Magic :", "Checksum :"]),
            Words(&["Array UUID :", "Device Role :"]),
        ],
        State,
    ),
    (
        "mdadm -D (detail)",
        &[Words(&["Raid Level :", "Raid Devices :"]), Words(&["Raid Level :", "Total Devices :"])],
        State,
    ),
    ("/proc/mdstat", &[Line(&["Personalities :"])], State),
    ("lsblk JSON", &[Words(&["\"blockdevices\""])], State),
    (
        "lsblk",
        &[Line(&["NAME", "MAJ:MIN", "RM", "SIZE"]), Line(&["NAME", "FSTYPE", "UUID", "MOUNTPOINT"])],
        State,
    ),
    ("lsscsi", &[Line(&["[", ":0:0:", "disk", "/dev/sd"])], State),
    ("df", &[Line(&["Filesystem", "Mounted on"])], State),
    (
        "blkid",
        &[Line(&["UUID=\"", "TYPE=\""]), Line(&["ID_FS_UUID="]), Words(&["DEVNAME=", "PART_ENTRY_SCHEME="])],
        State,
    ),
    ("findmnt", &[Line(&["TARGET", "SOURCE", "FSTYPE"])], State),
    ("fdisk -l", &[Line(&["Disk /dev/", "bytes", "sectors"])], State),
    ("hdparm -I", &[Line(&["ATA device, with non-removable media"])], State),
    ("/proc/diskstats", &[Line(&["   8       0 sda "]), Line(&[" 259       0 nvme0n1 "])], SinceBoot),
    (
        "biolatency or another histogram of bcc",
        &[
            Line(&["usecs", ": count", "distribution"]),
            Line(&["msecs", ": count", "distribution"]),
            Line(&["nsecs", ": count", "distribution"]),
        ],
        Distribution,
    ),
    ("bitesize", &[Line(&["Kbytes", ": count", "distribution"])], Distribution),
    ("bpftrace", &[Line(&["Attaching ", " probe"]), Line(&["|@@@"])], Distribution),
    (
        "biolatpcts",
        &[
            Line(&["p1 ", "p5 ", "p10 ", "p99 ", "p100"]),
            Words(&["{\"read\": {\"1\":", "\"discard\": {\"1\":"]),
        ],
        Distribution,
    ),
    (
        "ext4slower or its relative for another file system",
        &[Line(&["Tracing ", " operations slower than"]), Line(&["BYTES", "OFF_KB", "LAT(ms)", "FILENAME"])],
        SlowOperations,
    ),
    (
        "fileslower",
        &[Line(&["Tracing sync read/writes slower than"]), Line(&["TID", "BYTES", "LAT(ms)", "FILENAME"])],
        SlowOperations,
    ),
    ("cachestat", &[Line(&["HITS", "MISSES", "DIRTIES"]), Line(&["HITS", "MISSES", "BUFFERS_MB"])], Caches),
    (
        "a tracing tool of bcc without figures of devices",
        &[
            Line(&["Tracing... Hit Ctrl-C to end."]),
            Line(&["Tracing open", "Hit Ctrl-C"]),
            Line(&["TIME", "COMM", "PID", "AGE(s)", "FILE"]),
            Line(&["PID", "COMM", "FD ERR PATH"]),
            Line(&["TIME(s)", "PID", "COMM", "T FILE"]),
            Line(&["TIME", "PID", "COMM", "mdflush"]),
            Line(&["TIME     PID    COMM             DEVICE"]),
        ],
        Processes,
    ),
    ("cachetop", &[Line(&["HITS", "MISSES", "READ_HIT%"])], Caches),
    ("biopattern", &[Line(&["DISK", "%RND", "%SEQ"])], OtherResources),
    ("filetop", &[Line(&["TID", "COMM", "READS", "WRITES"])], Processes),
    ("vfsstat", &[Line(&["READ/s", "WRITE/s", "FSYNC/s"])], OtherResources),
    ("bcache", &[Line(&["cache_hit_ratio"]), Words(&["cache_bypass_hits"])], Caches),
    (
        "troubleshoot (filesystemPerformance)",
        &[Words(&["\"Average\"", "\"P9995\""]), Words(&["p99.95:", "p99.99:", "Avg:"])],
        Distribution,
    ),
    ("YABS", &[Words(&["Yet-Another-Bench-Script"])], OtherBenchmark),
    (
        "sysbench (not fileio)",
        &[
            Line(&["Prime numbers limit:"]),
            Line(&["Maximum prime number checked"]),
            Line(&["Running memory speed test"]),
            Line(&["Operations performed:", "ops/sec)"]),
            Words(&["SQL statistics:", "transactions:"]),
            Words(&["OLTP test statistics:"]),
            Line(&["Doing CPU performance benchmark"]),
        ],
        OtherBenchmark,
    ),
    (
        "a table of dd runs (ECS, bench.sh)",
        &[Line(&["100MB-4K Block"]), Line(&["I/O Speed(1st run)"])],
        OtherBenchmark,
    ),
    ("iperf3", &[Line(&["iperf3 Network Speed Tests"])], OtherBenchmark),
    ("Geekbench", &[Line(&["Geekbench ", "Benchmark Test"])], OtherBenchmark),
    ("Blackmagic Disk Speed Test", &[Line(&["Blackmagic Disk Speed Test"])], OtherBenchmark),
    ("PassMark", &[Line(&["PassMark PerformanceTest"])], OtherBenchmark),
    ("UnixBench", &[Line(&["BYTE UNIX Benchmarks"])], OtherBenchmark),
    ("gobonniego", &[Line(&["Sequential Write M", "B/s:"])], OtherBenchmark),
    ("pgbench", &[Words(&["transaction type:", "tps = "])], OtherBenchmark),
    (
        "rbd bench",
        &[Line(&["bench ", " io_size ", " io_threads "]), Line(&["elapsed:", "ops:", "ops/sec:"])],
        OtherBenchmark,
    ),
    (
        "ceph osd bench",
        &[Words(&["\"bytes_written\"", "\"blocksize\"", "\"bytes_per_sec\""])],
        OtherBenchmark,
    ),
    ("elbencho's text", &[Line(&["OPERATION", "RESULT TYPE", "FIRST DONE", "LAST DONE"])], TextOfElbencho),
    (
        "vdbench",
        &[
            Line(&["Vdbench distribution"]),
            Line(&["Starting RD="]),
            Line(&["interval", "i/o", "MB/sec", "bytes", "resp", "cpu%"]),
        ],
        OtherBenchmark,
    ),
    ("dbench for Kubernetes", &[Line(&["Random Read/Write IOPS:"])], OtherBenchmark),
    ("Iometer", &[Line(&["'Test Type,Test Description"])], OtherBenchmark),
    ("winsat", &[Line(&["Disk  Sequential "]), Line(&["Windows System Assessment Tool"])], OtherBenchmark),
    (
        "F3",
        &[
            Line(&["Average reading speed:"]),
            Line(&["Average writing speed:"]),
            Line(&["Creating file ", ".h2w"]),
            Line(&["Validating file ", ".h2w"]),
        ],
        OtherBenchmark,
    ),
    (
        "H2testw",
        &[Line(&["Writing speed: ", "MByte/s"]), Line(&["Reading speed: ", "MByte/s"])],
        OtherBenchmark,
    ),
    ("ezFIO", &[Line(&["ezFio test parameters:"])], OtherBenchmark),
    ("Seeker", &[Line(&["seeks/second", "random access time"])], OtherBenchmark),
    ("spew", &[Line(&["WTR:", "Transfer time:", "IOPS:"])], OtherBenchmark),
    ("ATTO Disk Benchmark", &[Line(&["ATTO Disk Benchmark"])], OtherBenchmark),
    ("postmark", &[Line(&["PostMark v"])], OtherBenchmark),
    ("dbench", &[Line(&["Operation", "Count", "AvgLat", "MaxLat"])], OtherBenchmark),
    ("filebench", &[Line(&["IO Summary:", "ops/s"])], OtherBenchmark),
    ("stress-ng", &[Line(&["stress-ng: info:"])], OtherBenchmark),
    (
        "a log of fio (`write_bw_log`, `write_lat_log`, `write_hist_log`)",
        &[Words(&["_clat_hist"])],
        Distribution,
    ),
    (
        "perf trace",
        &[Line(&[" ms): ", "/", "(", ") = "]), Line(&[" ms): ", "/", "(", ")                  = "])],
        Trace,
    ),
    (
        "perf or ftrace",
        &[Line(&["block_rq_issue:"]), Line(&["block_rq_complete:"]), Line(&["block_bio_queue:"])],
        Trace,
    ),
    ("strace", &[Line(&["execve(", ") = 0"]), Line(&["% time", "seconds", "usecs/call", "syscall"])], Trace),
    ("the summary of blkparse", &[Line(&["Reads Queued:", "Writes Queued:"])], TraceTotals),
    (
        "esxtop",
        &[Line(&["(PDH-CSV 4.0)"]), Line(&["\\Physical Disk"]), Line(&["DAVG/cmd", "KAVG/cmd"])],
        OtherSystem,
    ),
    ("fio's progress line", &[Line(&["Jobs: ", "(f=", "[eta "])], Progress),
    ("iostat -r of Solaris", &[Line(&["device,r/s,w/s,kr/s,kw/s,wait,"])], OtherSystem),
    (
        "iostat -I or -o of BSD",
        &[Line(&["KB/t", "xfrs"]), Line(&["sps", "tps", "msps"]), Line(&["device", "r/i", "w/i", "kr/i"])],
        OtherSystem,
    ),
];

/// Number of characters in which marks are searched.
const LOOKED_AT: usize = 1 << 20;

/// A file of a tool that kurabe only identifies.
pub(super) struct Identified {
    pub(super) name: &'static str,
    pub(super) what: Text,
    pub(super) instead: Text,
}

pub(super) fn identify(input: &Input<'_>) -> Option<Identified> {
    let text = input.text().unwrap_or("");
    let text = &text[..text.floor_char_boundary(LOOKED_AT)];
    let has_all = |text: &str, words: &[&str]| words.iter().all(|word| text.contains(word));
    let is_own = |mark: &ToolMark| match mark {
        Bytes(bytes) => input.bytes.starts_with(bytes),
        Words(words) => has_all(text, words),
        Line(words) => has_all(text, words) && text.lines().any(|line| has_all(line, words)),
    };
    let (name, _, content) = SIGNATURES.iter().find(|(_, marks, _)| marks.iter().any(is_own))?;
    let what = match drive(text).filter(|_| *content == State) {
        Some(drive) => {
            let what = content.what();
            text!("{drive}; {what}", "{drive}。{what}"; what)
        }
        None => content.what(),
    };
    Some(Identified { name, what, instead: content.instead() })
}

/// Marks of lines that occur in a text.
pub(super) struct LineMarks(Vec<(&'static str, &'static [&'static str])>);

impl LineMarks {
    /// Returns the tool that a line identifies.
    pub(super) fn tool(&self, line: &str) -> Option<&'static str> {
        self.0.iter().find(|(_, words)| words.iter().all(|word| line.contains(word))).map(|(name, _)| *name)
    }
}

/// Returns the marks whose words all occur in a text, so that its lines need not be searched for others.
pub(super) fn line_marks(text: &str) -> LineMarks {
    let lines = SIGNATURES.iter().flat_map(|(name, marks, _)| {
        marks.iter().filter_map(move |mark| if let Line(words) = mark { Some((*name, *words)) } else { None })
    });
    LineMarks(lines.filter(|(_, words)| words.iter().all(|word| text.contains(word))).collect())
}

/// Returns the drive in a report of smartctl, and its link if that is slower than its maximum.
fn drive(text: &str) -> Option<String> {
    if !text.contains("\"smartctl\"") {
        return None;
    }
    let report = documents(text).next()?.ok()?;
    let names = ["model_name", "scsi_model_name", "product"];
    let model = names.iter().find_map(|name| report.text_of(name))?.trim().to_owned();
    let speed =
        |which: &str| report.get("interface_speed")?.get(which).and_then(|speed| speed.text_of("string"));
    let protocol = report.get("device").and_then(|device: &Json| device.text_of("protocol"));
    let link = match (speed("current"), speed("max")) {
        (Some(current), Some(most)) if current != most => Some(format!("link {current} of {most}")),
        (Some(current), _) => Some(format!("link {current}")),
        _ => None,
    };
    let facts = [Some(model), protocol.map(str::to_owned), link].into_iter().flatten();
    Some(facts.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of real files, with the tool that wrote each.
    const LINES: &[(&str, &str)] = &[
        ("12:53:20      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command", "pidstat"),
        ("12:00:01 AM       tps      rtps      wtps   bread/s   bwrtn/s", "sar"),
        ("12:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle", "sar"),
        ("procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----", "vmstat"),
        ("disk- ------------reads------------ ------------writes----------- -----IO------", "vmstat -d"),
        ("\tNAME        STATE     READ WRITE CKSUM", "zpool status"),
        (
            "NAME    SIZE  ALLOC   FREE  CKPOINT  EXPANDSZ   FRAG    CAP  DEDUP    HEALTH  ALTROOT",
            "zpool list",
        ),
        ("NAME             USED  AVAIL     REFER  MOUNTPOINT", "zfs list"),
        ("     Raid Level : raid1\n   Raid Devices : 2", "mdadm -D (detail)"),
        ("Personalities : [raid1] [raid6]", "/proc/mdstat"),
        ("{\n   \"blockdevices\": [", "lsblk JSON"),
        ("     usecs               : count     distribution", "biolatency or another histogram of bcc"),
        ("nvme0n1    p1    p5   p10   p16   p25   p50   p75   p84   p90   p95   p99  p100", "biolatpcts"),
        (
            "TIME     COMM           PID    T BYTES   OFF_KB   LAT(ms) FILENAME",
            "ext4slower or its relative for another file system",
        ),
        ("    HITS   MISSES  DIRTIES HITRATIO   BUFFERS_MB  CACHED_MB", "cachestat"),
        ("{\"critical_warning\" : 0,\"temperature\" : 310,\"avail_spare\" : 100}", "nvme-cli JSON"),
        ("{\"Min\":1,\"Max\":2,\"Average\":1,\"P9995\":2}", "troubleshoot (filesystemPerformance)"),
        ("     0.000 ( 0.012 ms): cat/1234 openat(dfd: CWD, filename: x) = 3", "perf trace"),
        ("#              Yet-Another-Bench-Script              #", "YABS"),
        ("Prime numbers limit: 10000", "sysbench (not fileio)"),
        ("ATOP - host  2022/01/01  10:00:00", "atop"),
        ("elapsed: 11   ops: 262144   ops/sec: 22958   bytes/sec: 90 MiB/s", "rbd bench"),
        (
            " Reads Queued:       1,234,    9,872KiB\t Writes Queued:   567,    4,536KiB",
            "the summary of blkparse",
        ),
        ("OPERATION RESULT TYPE    FIRST DONE  LAST DONE", "elbencho's text"),
        ("\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\esx01\\Memory\"", "esxtop"),
        ("          Magic : de11de11\nController GUID : 4C69", "mdadm -E (examine)"),
        ("Creating file 816.h2w ... 43.78% -- 124.20 MB/s -- 1:49:32", "F3"),
        ("ezFio test parameters:", "ezFIO"),
        ("Results: 79 seeks/second, 12.56 ms random access time", "Seeker"),
        (
            "Jobs: 1 (f=1): [r(1)][100.0%][r=121MiB/s,w=0KiB/s][r=30.0k,w=0 IOPS][eta 00m:00s]",
            "fio's progress line",
        ),
        (" ADAPTR PATH   NPTH   CMDS/s  READS/s MBREAD/s DAVG/cmd KAVG/cmd GAVG/cmd", "esxtop"),
        ("WTR:      178.09 KiB/s   Transfer time: 00:00:05    IOPS:       44.52", "spew"),
        (
            "device           r/i         w/i         kr/i         kw/i qlen   tsvc_t/i",
            "iostat -I or -o of BSD",
        ),
    ];

    #[test]
    fn a_tool_is_named_by_a_line_of_its_file() {
        for (lines, name) in LINES {
            let identified = identify(&Input::new("a.txt", lines.as_bytes()));
            assert_eq!(identified.map(|tool| tool.name), Some(*name), "{lines}");
        }
        assert!(identify(&Input::new("a", b"nothing of any tool")).is_none());
        assert!(identify(&Input::new("a", &[0x07, 0x74, 0x61, 0x65, 0, 1])).is_some());
    }

    #[test]
    fn the_drive_of_a_smartctl_report_is_named_with_its_link() {
        let text = "{\"json_format_version\": [1, 0], \"smartctl\": {}, \"model_name\": \"ST1\", \
                    \"interface_speed\": {\"max\": {\"string\": \"6.0 Gb/s\"}, \"current\": {\"string\": \"3.0 Gb/s\"}}}";
        let what = identify(&Input::new("a", text.as_bytes())).unwrap().what;
        assert!(what.en.starts_with("ST1, link 3.0 Gb/s of 6.0 Gb/s; "), "{}", what.en);
    }
}
