//! Every shape of result that is read, with some of its figures: direction, statistic, unit as
//! printed, and value in base units. A figure in a wrong unit or direction is worse than none.

use kurabe_core::imported::Quantity::{
    self, Bytes, Count, Duration, Iops, Latency, QueueLength, Rate, Score, Share,
};
use kurabe_core::imported::{PrintedStatistic as Statistic, PrintedStatistic::*};
use kurabe_core::workload::Direction;
use kurabe_interop::{ImportedRun, import};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const READ: Option<Direction> = Some(Direction::Read);
const WRITE: Option<Direction> = Some(Direction::Write);
const MIX: Option<Direction> = Some(Direction::Mix);

/// Cell, direction, quantity, statistic, characters, unit, value.
type Figure = (usize, Option<Direction>, Quantity, Statistic, &'static str, &'static str, f64);

#[rustfmt::skip]
const TABLE: &[(&str, &[Figure])] = &[
    ("consumer/amorphousdiskmark-2.5.4.txt", &[
        (0, READ, Rate, Median, "471.25", "MB/s", 471_250_000.0),
        (0, READ, Iops, Median, "449.4", "IOPS", 449.4),
        (1, WRITE, Rate, Median, "424.36", "MB/s", 424_360_000.0),
        (1, WRITE, Iops, Median, "404.7", "IOPS", 404.7),
    ]),
    ("consumer/amorphousdiskmark-4.0.2.txt", &[
        (0, READ, Rate, Median, "6832.04", "MB/s", 6_832_040_000.0),
        (0, READ, Iops, Median, "6515.5", "IOPS", 6515.5),
        (1, WRITE, Rate, Median, "5120.77", "MB/s", 5_120_770_000.0),
        (1, WRITE, Iops, Median, "4883.5", "IOPS", 4883.5),
    ]),
    ("consumer/as-ssd-iops-german.txt", &[
        (0, READ, Iops, Mean, "178,98", "iops", 178.98),
        (1, WRITE, Iops, Mean, "132,98", "iops", 132.98),
        (8, READ, Score, Unknown, "1126", "", 1126.0),
        (9, WRITE, Score, Unknown, "1368", "", 1368.0),
    ]),
    ("consumer/as-ssd-mb.txt", &[
        (0, READ, Rate, Mean, "2863.65", "MB/s", 3_002_754_662.4),
        (1, WRITE, Rate, Mean, "2127.69", "MB/s", 2_231_044_669.44),
        (6, READ, Latency, Mean, "0.090", "ms", 90_000.0),
        (7, WRITE, Latency, Mean, "0.046", "ms", 46_000.0),
    ]),
    ("consumer/cdm-3.0.1.txt", &[
        (0, READ, Rate, Highest, "211.347", "MB/s", 211_347_000.0),
        (1, WRITE, Rate, Highest, "98.206", "MB/s", 98_206_000.0),
        (4, READ, Iops, Highest, "3631.6", "IOPS", 3631.6),
        (5, WRITE, Iops, Highest, "8117.7", "IOPS", 8117.7),
    ]),
    ("consumer/cdm-5.2.0.txt", &[
        (0, READ, Rate, Highest, "551.204", "MB/s", 551_204_000.0),
        (1, WRITE, Rate, Highest, "519.873", "MB/s", 519_873_000.000_000_06),
        (2, READ, Iops, Highest, "98173.3", "IOPS", 98_173.3),
        (3, WRITE, Iops, Highest, "85451.4", "IOPS", 85_451.4),
    ]),
    ("consumer/cdm-7.0.0h-mix.txt", &[
        (0, READ, Rate, Highest, "3470.302", "MB/s", 3_470_302_000.0),
        (0, READ, Iops, Highest, "3309.5", "IOPS", 3309.5),
        (0, READ, Latency, Lowest, "2412.06", "us", 2_412_060.0),
        (4, WRITE, Rate, Highest, "2950.031", "MB/s", 2_950_031_000.0),
    ]),
    ("consumer/cdm-8.0.4-real-utf16.txt", &[
        (0, READ, Rate, Highest, "112.518", "MB/s", 112_518_000.0),
        (0, READ, Iops, Highest, "107.3", "IOPS", 107.3),
        (0, READ, Latency, Lowest, "9311.44", "us", 9_311_440.0),
        (2, WRITE, Rate, Highest, "108.902", "MB/s", 108_902_000.0),
    ]),
    ("consumer/cdm-9.0.1-nvme.txt", &[
        (0, READ, Rate, Highest, "12415.338", "MB/s", 12_415_338_000.0),
        (0, READ, Iops, Highest, "11840.2", "IOPS", 11_840.2),
        (0, READ, Latency, Lowest, "675.28", "us", 675_280.0),
        (4, WRITE, Rate, Highest, "11790.250", "MB/s", 11_790_250_000.0),
    ]),
    ("consumer/dd-busybox.txt", &[
        (0, None, Rate, Mean, "1.0", "GB/s", 1_073_741_824.0),
        (0, None, Duration, Sum, "0.003766", "seconds", 3_766_000.0),
        (0, None, Bytes, Sum, "4194304", "bytes", 4_194_304.0),
    ]),
    ("consumer/dd-gnu-japanese.txt", &[
        (0, WRITE, Rate, Mean, "73.0", "MB/秒", 73_000_000.0),
        (0, WRITE, Duration, Sum, "7.35077", "秒", 7_350_770_000.0),
        (0, WRITE, Bytes, Sum, "536870912", "bytes", 536_870_912.0),
        (1, READ, Rate, Mean, "149", "MB/秒", 149_000_000.0),
    ]),
    ("consumer/dd-gnu.txt", &[
        (0, WRITE, Rate, Mean, "1.6", "GB/s", 1_600_000_000.0),
        (0, WRITE, Duration, Sum, "0.0212325", "s", 21_232_500.0),
        (0, WRITE, Bytes, Sum, "33554432", "bytes", 33_554_432.0),
        (2, None, Rate, Mean, "848", "kB/s", 848_000.0),
    ]),
    ("consumer/dd-macos.txt", &[
        (0, None, Rate, Mean, "10656444", "bytes/sec", 10_656_444.0),
        (0, None, Duration, Sum, "1.967966", "secs", 1_967_966_000.0),
        (0, None, Bytes, Sum, "20971520", "bytes", 20_971_520.0),
    ]),
    ("consumer/gnome-disks-little-endian.gnome-disks-benchmark", &[
        (0, READ, Rate, Mean, "491.2", "MB/s", 491_250_000.0),
        (1, WRITE, Rate, Mean, "475.6", "MB/s", 475_625_000.0),
        (2, READ, Latency, Mean, "0.06", "msec", 62_000.0),
    ]),
    ("consumer/hdparm.txt", &[
        (0, READ, Rate, Mean, "19264.76", "MB/sec", 20_200_564_981.76),
        (0, READ, Duration, Sum, "1.99", "seconds", 1_990_000_000.0),
        (0, READ, Bytes, Sum, "38330", "MB", 40_191_918_080.0),
    ]),
    ("consumer/hdtune.txt", &[
        (0, READ, Rate, Mean, "471.2", "MB/sec", 471_200_000.0),
        (0, READ, Rate, Lowest, "312.4", "MB/sec", 312_400_000.0),
        (0, READ, Rate, Highest, "498.7", "MB/sec", 498_700_000.0),
        (1, READ, Latency, Mean, "0.1", "ms", 100_000.0),
    ]),
    ("consumer/ioping-quiet-write.txt", &[
        (0, WRITE, Latency, Mean, "658.3", "us", 658_300.0),
        (0, WRITE, Latency, Lowest, "336.9", "us", 336_900.0),
        (0, WRITE, Latency, Highest, "1.53", "ms", 1_530_000.0),
        (0, WRITE, Latency, StandardDeviation, "502.7", "us", 502_700.0),
    ]),
    ("consumer/ioping-raw.txt", &[
        (0, None, Latency, Mean, "145255", "ns", 145_255.0),
        (0, None, Latency, Lowest, "138595", "ns", 138_595.0),
        (0, None, Latency, Highest, "151915", "ns", 151_915.0),
        (0, None, Latency, StandardDeviation, "6660", "ns", 6660.0),
    ]),
    ("consumer/ioping.json", &[
        (0, READ, Latency, Mean, "221251", "ns", 221_251.0),
        (0, READ, Latency, Lowest, "216670", "ns", 216_670.0),
        (0, READ, Latency, Highest, "223832", "ns", 223_832.0),
        (0, READ, Latency, StandardDeviation, "3248", "ns", 3248.0),
    ]),
    ("consumer/kdiskmark-2.3.0-peak.txt", &[
        (0, READ, Rate, Highest, "3300.125", "MB/s", 3_379_328_000.0),
        (0, READ, Iops, Highest, "3222.8", "IOPS", 3222.8),
        (0, READ, Latency, Lowest, "2480.33", "us", 2_480_330.0),
        (2, WRITE, Rate, Highest, "2980.250", "MB/s", 3_051_776_000.0),
    ]),
    ("consumer/kdiskmark-3.3.0.txt", &[
        (0, READ, Rate, Mean, "508.897", "MB/s", 521_110_528.0),
        (0, READ, Iops, Mean, "497.0", "IOPS", 497.0),
        (0, READ, Latency, Mean, "13840.05", "us", 13_840_050.0),
        (4, WRITE, Rate, Mean, "460.312", "MB/s", 471_359_488.0),
    ]),
    ("lab/bonnie-1.03.csv", &[
        (1, WRITE, Rate, Mean, "61699", "K/s", 61_699.0 * 1024.0),
        (4, READ, Rate, Mean, "81455", "K/s", 81_455.0 * 1024.0),
        (5, MIX, Iops, Mean, "186.7", "seeks/s", 186.7),
        (4, READ, Share, Mean, "21", "%", 0.21),
    ]),
    ("lab/bonnie-table-2.00.txt", &[
        (1, WRITE, Rate, Mean, "210m", "B/s", 210.0 * 1_048_576.0),
        (4, READ, Latency, Highest, "48120", "us", 48_120_000.0),
        (5, MIX, Iops, Mean, "812.4", "seeks/s", 812.4),
        (6, None, Iops, Mean, "16384", "files/s", 16_384.0),
    ]),
    ("lab/fio3-groups.txt", &[
        (0, READ, Rate, Mean, "35.0", "MiB/s", 35.0 * 1_048_576.0),
        (0, READ, Bytes, Sum, "350", "MiB", 350.0 * 1_048_576.0),
        (0, READ, Duration, Sum, "10001", "ms", 10_001_000_000.0),
    ]),
    ("lab/fio3-impossible-lat.json", &[
        (0, READ, Rate, Mean, "40960000", "B/s", 40_960_000.0),
        (0, READ, Iops, Mean, "10000.0", "IOPS", 10_000.0),
        (0, READ, Latency, Mean, "399000.25", "ns", 399_000.25),
    ]),
    ("lab/yabs.txt", &[
        (0, READ, Rate, Mean, "210.40", "MB/s", 210.40 * 1_024_000.0),
        (0, READ, Iops, Mean, "52.6k", "IOPS", 52_600.0),
        (1, READ, Rate, Mean, "1.02", "GB/s", 1.02 * 1_024_000_000.0),
        (2, WRITE, Iops, Mean, "52.8k", "IOPS", 52_800.0),
    ]),
    ("lab/bonnie-1.96.csv", &[
        (0, WRITE, Rate, Mean, "473", "K/s", 484_352.0),
        (0, WRITE, Latency, Highest, "24250", "us", 24_250_000.0),
        (0, WRITE, Share, Mean, "97", "%", 0.97),
        (2, MIX, Rate, Mean, "52750", "K/s", 54_016_000.0),
    ]),
    ("lab/bonnie-1.97.csv", &[
        (0, WRITE, Rate, Mean, "151250", "K/s", 154_880_000.0),
        (0, WRITE, Latency, Highest, "432", "ms", 432_000_000.0),
        (0, WRITE, Share, Mean, "31", "%", 0.31),
        (1, MIX, Rate, Mean, "61250", "K/s", 62_720_000.0),
    ]),
    ("lab/bonnie-fast.csv", &[
        (0, WRITE, Rate, Mean, "364339", "K/s", 373_083_136.0),
        (0, WRITE, Latency, Highest, "26313", "us", 26_313_000.0),
        (0, WRITE, Share, Mean, "91", "%", 0.91),
        (1, MIX, Rate, Mean, "3005605", "K/s", 3_077_739_520.0),
    ]),
    ("lab/diskspd-2.0.17-two-targets.txt", &[
        (0, READ, Rate, Mean, "300.00", "MB/s", 314_572_800.0),
        (0, READ, Iops, Mean, "4800.00", "I/O per s", 4800.0),
        (0, READ, Bytes, Sum, "3145728000", "B", 3_145_728_000.0),
        (0, READ, Count, Sum, "48000", "", 48_000.0),
    ]),
    ("lab/diskspd.txt", &[
        (0, READ, Rate, Mean, "105.00", "MiB/s", 110_100_480.0),
        (0, READ, Iops, Mean, "1680.00", "I/O per s", 1680.0),
        (0, READ, Latency, Mean, "4.125", "ms", 4_125_000.0),
        (0, READ, Latency, StandardDeviation, "1.500", "ms", 1_500_000.0),
    ]),
    ("lab/diskspd.xml", &[
        (0, READ, Rate, Mean, "10.00", "s for 1101004800 bytes", 110_100_480.0),
        (0, READ, Iops, Mean, "10.00", "s for 16800 operations", 1680.0),
        (0, READ, Latency, Mean, "4.125", "ms", 4_125_000.0),
        (0, READ, Latency, StandardDeviation, "1.500", "ms", 1_500_000.0),
    ]),
    ("lab/elbencho-live.csv", &[
        (0, WRITE, Rate, Median, "1350", "MiB/s", 1_415_577_600.0),
        (0, WRITE, Rate, Highest, "1425", "MiB/s", 1_494_220_800.0),
        (0, WRITE, Rate, Lowest, "1236", "MiB/s", 1_296_039_936.0),
        (0, WRITE, Iops, Median, "345773", "IOPS", 345_773.0),
    ]),
    ("lab/elbencho.csv", &[
        (0, WRITE, Rate, Mean, "2006", "MiB/s", 2_103_443_456.0),
        (0, WRITE, Iops, Mean, "16054", "IOPS", 16_054.0),
        (0, WRITE, Latency, Mean, "111", "us", 111_000.0),
        (0, WRITE, Latency, Lowest, "81", "us", 81_000.0),
    ]),
    ("lab/elbencho.json", &[
        (0, WRITE, Rate, Mean, "2104253856", "B/s", 2_104_253_856.0),
        (0, WRITE, Iops, Mean, "16054", "IOPS", 16_054.0),
        (0, WRITE, Latency, Mean, "111", "us", 111_000.0),
        (0, WRITE, Latency, Lowest, "81", "us", 81_000.0),
    ]),
    ("lab/fio2.json", &[
        (0, READ, Rate, Mean, "82666", "KiB/s", 84_649_984.0),
        (0, READ, Iops, Mean, "10333.333333", "IOPS", 10_333.333_333),
        (0, READ, Latency, Mean, "79.565982", "us", 79_565.982),
        (0, READ, Latency, Lowest, "48", "us", 48_000.0),
    ]),
    ("lab/fio3-json-plus.json", &[
        (0, READ, Rate, Mean, "93710584", "B/s", 93_710_584.0),
        (0, READ, Iops, Mean, "22878.560720", "IOPS", 22_878.560_72),
        (0, READ, Latency, Mean, "172611.733683", "ns", 172_611.733_683),
        (0, READ, Latency, Lowest, "1593", "ns", 1593.0),
    ]),
    ("lab/fio3-mixed.json", &[
        (0, MIX, Rate, Mean, "333559347", "B/s", 333_559_347.0),
        (0, MIX, Iops, Mean, "20358.846918", "IOPS", 20_358.846_918),
        (0, MIX, Latency, Mean, "42373.615107", "ns", 42_373.615_107),
        (0, MIX, Latency, Lowest, "4127", "ns", 4127.0),
    ]),
    ("lab/fio3-trim.json", &[
        (0, None, Rate, Mean, "433789527464", "B/s", 433_789_527_464.0),
        (0, None, Iops, Mean, "6619102.897103", "IOPS", 6_619_102.897_103),
        (0, None, Latency, Mean, "16.912820", "ns", 16.91282),
        (0, None, Latency, Lowest, "10", "ns", 10.0),
    ]),
    ("lab/ior-3.0.txt", &[
        (0, WRITE, Rate, Highest, "512.50", "MiB/s", 537_395_200.0),
        (0, WRITE, Rate, Mean, "512.50", "MiB/s", 537_395_200.0),
        (0, WRITE, Rate, Lowest, "512.50", "MiB/s", 537_395_200.0),
        (0, WRITE, Duration, Mean, "0.49951", "s", 499_510_000.0),
    ]),
    ("lab/ior.csv", &[
        (0, WRITE, Rate, Highest, "3983.1947", "MiB/s", 4_176_682_365.747_2),
        (1, READ, Rate, Highest, "18724.5714", "MiB/s", 19_634_136_180.326_4),
    ]),
    ("lab/ior.json", &[
        (0, WRITE, Rate, Highest, "3943.8684", "MiB/s", 4_135_445_751.398_4),
        (0, WRITE, Rate, Mean, "3667.7477", "MiB/s", 3_845_912_212.275_2),
        (0, WRITE, Rate, Lowest, "3220.1950", "MiB/s", 3_376_619_192.32),
        (0, WRITE, Rate, StandardDeviation, "319.3405", "MiB/s", 334_852_784.128),
    ]),
    ("lab/ior.txt", &[
        (0, WRITE, Rate, Highest, "3758.34", "MiB/s", 3_940_905_123.84),
        (0, WRITE, Rate, Mean, "3542.91", "MiB/s", 3_715_010_396.16),
        (0, WRITE, Rate, Lowest, "3327.49", "MiB/s", 3_489_126_154.24),
        (0, WRITE, Rate, StandardDeviation, "215.42", "MiB/s", 225_884_241.92),
    ]),
    ("lab/iostat-10-single.txt", &[
        (0, READ, Rate, Mean, "44.50", "kB/s", 45_568.0),
        (0, READ, Iops, Mean, "0.25", "1/s", 0.25),
        (0, READ, Latency, Mean, "1.50", "ms", 1_500_000.0),
        (1, WRITE, Rate, Mean, "121.25", "kB/s", 124_160.0),
    ]),
    ("lab/iostat-x.txt", &[
        (0, READ, Rate, Highest, "4.00", "kB/s", 4096.0),
        (0, READ, Iops, Highest, "1.00", "1/s", 1.0),
        (1, WRITE, Rate, Highest, "65548.00", "kB/s", 67_121_152.0),
        (1, WRITE, Iops, Highest, "20.00", "1/s", 20.0),
    ]),
    ("lab/iostat-xt.txt", &[
        (0, READ, Rate, Median, "12.00", "kB/s", 12_288.0),
        (0, READ, Rate, Highest, "356.44", "kB/s", 364_994.56),
        (0, READ, Rate, Lowest, "12.00", "kB/s", 12_288.0),
        (0, READ, Iops, Median, "3.00", "1/s", 3.0),
    ]),
    ("lab/iostat.json", &[
        (1, WRITE, Rate, Highest, "620.00", "kB/s", 634_880.0),
        (1, WRITE, Iops, Highest, "88.00", "1/s", 88.0),
        (2, None, QueueLength, Highest, "0.03", "", 0.03),
    ]),
    ("lab/iozone-ops.txt", &[
        (0, WRITE, Iops, Mean, "52625", "ops/s", 52_625.0),
        (1, WRITE, Iops, Mean, "180777", "ops/s", 180_777.0),
        (2, READ, Iops, Mean, "262942", "ops/s", 262_942.0),
    ]),
    ("lab/iozone-throughput.txt", &[
        (0, WRITE, Rate, Sum, "3048658.50", "kB/sec", 3_121_826_304.0),
        (0, WRITE, Rate, Lowest, "3048658.50", "kB/sec", 3_121_826_304.0),
        (0, WRITE, Rate, Highest, "3048658.50", "kB/sec", 3_121_826_304.0),
        (0, WRITE, Rate, Mean, "1524329.25", "kB/sec", 1_560_913_152.0),
    ]),
    ("lab/iozone.txt", &[
        (0, WRITE, Rate, Mean, "998622", "kBytes/sec", 1_022_588_928.0),
        (1, WRITE, Rate, Mean, "3541098", "kBytes/sec", 3_626_084_352.0),
        (2, READ, Rate, Mean, "7100397", "kBytes/sec", 7_270_806_528.0),
    ]),
    ("lab/io500.txt", &[
        (0, WRITE, Rate, Mean, "2.105432", "GiB/s", 2_260_690_395.987_968),
        (1, WRITE, Iops, Mean, "12.345678", "kIOPS", 12_345.678),
        (4, READ, Iops, Mean, "512.500000", "kIOPS", 512_500.0),
    ]),
    ("lab/mdtest.txt", &[
        (0, None, Iops, Mean, "7031.553", "ops/s", 7031.553),
        (0, None, Iops, Highest, "7210.418", "ops/s", 7210.418),
        (0, None, Iops, Lowest, "6882.094", "ops/s", 6882.094),
        (0, None, Iops, StandardDeviation, "134.221", "ops/s", 134.221),
    ]),
    ("lab/sysbench-rndrw.txt", &[
        (0, READ, Rate, Mean, "7.31", "MiB/s", 7_665_090.56),
        (0, READ, Iops, Mean, "467.84", "reads/s", 467.84),
        (1, WRITE, Rate, Mean, "4.87", "MiB/s", 5_106_565.12),
        (1, WRITE, Iops, Mean, "311.89", "writes/s", 311.89),
    ]),
    ("lab/zpool-iostat-Hl.tsv", &[
        (1, WRITE, Rate, Mean, "48.0M", "B/s", 50_331_648.0),
        (1, WRITE, Iops, Mean, "384", "1/s", 384.0),
        (1, WRITE, Latency, Mean, "2ms", "", 2_000_000.0),
        (2, None, Bytes, Mean, "1.25T", "B", 1_374_389_534_720.0),
    ]),
    ("lab/zpool-iostat-p.txt", &[
        (0, READ, Rate, Mean, "262144", "B/s", 262_144.0),
        (0, READ, Iops, Mean, "4", "1/s", 4.0),
        (1, WRITE, Rate, Mean, "2820669", "B/s", 2_820_669.0),
        (1, WRITE, Iops, Mean, "55", "1/s", 55.0),
    ]),
    ("lab/zpool-iostat-vl.txt", &[
        (0, READ, Rate, Median, "24.4M", "B/s", 25_585_254.4),
        (0, READ, Rate, Highest, "49.0M", "B/s", 51_380_224.0),
        (0, READ, Rate, Lowest, "24.4M", "B/s", 25_585_254.4),
        (0, READ, Iops, Median, "196", "1/s", 196.0),
    ]),
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn runs(name: &str) -> Option<Vec<ImportedRun>> {
    import(name, &std::fs::read(fixtures().join(name)).unwrap()).ok()
}

#[test]
fn every_shape_keeps_its_figures() {
    for (name, figures) in TABLE {
        let run = runs(name).unwrap_or_else(|| panic!("{name} is not read")).remove(0);
        let imported = run.cells.iter().filter_map(|cell| cell.imported.as_ref());
        let count: usize = imported.map(|cell| cell.figures.len()).sum();
        assert!(figures.len() >= count.min(3), "{name}");
        for &(at, direction, quantity, statistic, printed, unit, value) in *figures {
            let cell = &run.cells[at];
            assert_eq!(cell.direction, direction, "{name}, cell {at}");
            let all = &cell.imported.as_ref().unwrap().figures;
            let figure = all.iter().find(|one| (one.quantity, one.statistic) == (quantity, statistic));
            let figure =
                figure.unwrap_or_else(|| panic!("{name}: no {quantity:?} {statistic:?} in {all:#?}"));
            let shown = (figure.printed.as_str(), figure.unit_printed.as_str());
            assert_eq!(shown, (printed, unit), "{name}, cell {at}");
            assert!((figure.value - value).abs() <= value * 1e-12, "{name}: {} is not {value}", figure.value);
        }
    }
}

#[test]
fn no_shape_is_missing_from_the_table() {
    let format = |name: &str| runs(name).map(|runs| runs[0].origin.format.clone());
    let listed: BTreeSet<String> = TABLE.iter().filter_map(|(name, _)| format(name)).collect();
    for folder in ["consumer", "lab"] {
        for file in std::fs::read_dir(fixtures().join(folder)).unwrap() {
            let name = format!("{folder}/{}", file.unwrap().file_name().to_string_lossy());
            // What is refused has no shape.
            let Some(format) = format(&name) else { continue };
            assert!(listed.contains(&format), "{name}: no figures of `{format}` in the table");
        }
    }
}
