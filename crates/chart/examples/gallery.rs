//! Writes every kind of chart, in both languages and both themes, as SVG and as PNG, for visual
//! inspection.
//!
//! `cargo run -p kurabe-chart --example gallery -- DIR`

use kurabe_chart::{
    Axis, Bar, BarGroup, Bars, Chart, ChartLine, Forest, ForestRow, Heat, LineStyle, Lines, Mark, Plot,
    RatioVerdict, Scale, ShadedBand, ShareRow, Shares, Theme, Unit, png,
};
use std::path::Path;
use std::time::Instant;

/// Selects the language of the texts: Japanese if true.
#[derive(Clone, Copy)]
struct Words(bool);

impl Words {
    fn say(self, en: &str, ja: &str) -> String {
        if self.0 { ja } else { en }.to_owned()
    }
}

fn axis(label: String, unit: Unit, scale: Scale) -> Axis {
    Axis { label, unit, scale }
}

fn rate(w: Words) -> Axis {
    axis(w.say("throughput", "スループット"), Unit::Rate, Scale::Linear)
}

/// Returns pseudo-random noise that is the same in every run.
fn noise(index: usize) -> f64 {
    ((index as f64 * 12.9898).sin() * 43_758.547).fract().abs()
}

fn bars(w: Words) -> Chart {
    let cell = |label: &str, values: [Option<(f64, f64)>; 2]| BarGroup {
        label: label.to_owned(),
        bars: values
            .map(|value| {
                value.map(|(mb, half)| Bar {
                    value: mb * 1e6,
                    interval: Some(((mb - half) * 1e6, (mb + half) * 1e6)),
                })
            })
            .to_vec(),
    };
    let (read, write) = (w.say("read", "読み出し"), w.say("write", "書き込み"));
    Chart {
        title: w.say("Two sticks, cell by cell", "USBメモリー2 本の比較"),
        notes: vec![w.say(
            "Mean of 5 repetitions with its 95 % interval. Longer is faster.",
            "5 回の平均と95 %信頼区間。長いほど速い。",
        )],
        plot: Plot::Bars(Bars {
            series: vec!["7kq  SanDisk Extreme Pro".to_owned(), "9mz  Samsung FIT Plus".to_owned()],
            groups: vec![
                cell(&format!("SEQ1M Q8T1 {read}"), [Some((401.2, 6.0)), Some((312.4, 14.0))]),
                cell(&format!("SEQ1M Q8T1 {write}"), [Some((338.7, 22.0)), Some((108.9, 31.0))]),
                cell(&format!("RND4K Q32T1 {read}"), [Some((61.3, 1.4)), Some((14.2, 0.3))]),
                cell(&format!("RND4K Q32T1 {write}"), [Some((58.2, 9.4)), None]),
            ],
            axis: rate(w),
        }),
    }
}

fn position(w: Words) -> Chart {
    let place = |i: usize| i as f64 * 931.5 * 1_073_741_824.0 / 99.0;
    let curve = |high: f64, low: f64, seed: usize| -> Vec<(f64, f64)> {
        (0..100)
            .map(|i| {
                let part = i as f64 / 99.0;
                (place(i), (high - (high - low) * part.powf(1.6) - noise(i + seed) * 9.0) * 1e6)
            })
            .collect()
    };
    let dots = (0..400)
        .map(|i| (place(i / 4) * 0.999, (4.0 + noise(i) * 9.0 + noise(i + 77) * 4.0) * 1e6))
        .collect();
    let line = |name: String, style, at_right, points| ChartLine { name, style, at_right, points };
    Chart {
        title: w.say("Over the disk: Toshiba MQ01ABD100", "ディスク全体の速度：Toshiba MQ01ABD100"),
        notes: vec![w.say(
            "100 samples of 10 MiB, 400 access times.",
            "10 MiBを 100 か所で測定、アクセス時間は 400 回。",
        )],
        plot: Plot::Lines(Lines {
            x: axis(w.say("position", "位置"), Unit::Bytes, Scale::Linear),
            y: rate(w),
            right: Some(axis(w.say("access time", "アクセス時間"), Unit::Latency, Scale::Linear)),
            lines: vec![
                line(w.say("read", "読み出し"), LineStyle::Joined, false, curve(112.0, 52.0, 0)),
                line(w.say("write", "書き込み"), LineStyle::Joined, false, curve(104.0, 48.0, 300)),
                line(w.say("access time", "アクセス時間"), LineStyle::Dots, true, dots),
            ],
            marks: Vec::new(),
            stretches: Vec::new(),
        }),
    }
}

fn percentiles(w: Words) -> Chart {
    let shares = [0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 1.0];
    let line = |name: &str, base: f64, tail: f64| ChartLine {
        name: name.to_owned(),
        style: LineStyle::Steps,
        at_right: false,
        points: shares
            .iter()
            .map(|p: &f64| (*p, base * (1.0 + 0.3 * p) * (1.0 - p.min(0.999_99)).powf(-tail)))
            .collect(),
    };
    Chart {
        title: w.say("Latency of 4 KiB random writes", "4 KiBランダム書き込みのレイテンシ"),
        notes: vec![
            w.say("All repetitions together. Lower is better.", "すべての繰り返しの合計。低いほど良い。"),
        ],
        plot: Plot::Lines(Lines {
            x: axis(w.say("percentile", "パーセンタイル"), Unit::Share, Scale::Tail),
            y: axis(w.say("latency", "レイテンシ"), Unit::Latency, Scale::Log),
            right: None,
            lines: vec![
                line("7kq", 61_000.0, 0.35),
                line("9mz", 180_000.0, 0.8),
                line("b2x", 92_000.0, 0.55),
            ],
            marks: Vec::new(),
            stretches: Vec::new(),
        }),
    }
}

fn series(w: Words) -> Chart {
    let stalls = [(4_000.0, 4_080.0), (11_200.0, 11_230.0), (23_900.0, 24_400.0), (30_100.0, 30_101.0)];
    let stalled = |s: f64| stalls.iter().any(|(from, to)| (*from..=*to).contains(&s));
    let line = |name: String, high: f64, seed: usize| ChartLine {
        name,
        style: LineStyle::Joined,
        at_right: false,
        points: (0..36_000)
            .map(|i| {
                let s = i as f64;
                let level = if s < 9_000.0 { high } else { high * 0.62 };
                (s * 1e9, if stalled(s) { 0.0 } else { (level + (noise(i + seed) - 0.5) * 40.0) * 1e6 })
            })
            .collect(),
    };
    Chart {
        title: w.say("Ten hours of writing", "10 時間の連続書き込み"),
        notes: vec![
            w.say("One value a second; shaded where nothing moved.", "1 秒ごとの値。色の帯は停滞した区間。"),
        ],
        plot: Plot::Lines(Lines {
            x: axis(w.say("time", "経過時間"), Unit::Moment, Scale::Linear),
            y: rate(w),
            right: None,
            lines: vec![
                line(w.say("read", "読み出し"), 410.0, 0),
                line(w.say("write", "書き込み"), 180.0, 5),
            ],
            marks: vec![Mark { x: 9_000e9, label: w.say("SLC cache full", "SLCキャッシュが満杯") }],
            stretches: stalls
                .map(|(from, to)| ShadedBand {
                    from: from * 1e9,
                    to: to * 1e9,
                    label: w.say("stall", "停滞"),
                })
                .to_vec(),
        }),
    }
}

fn sweep(w: Words) -> Chart {
    let sizes: Vec<f64> = (20..=36).map(|p| f64::from(p).exp2()).collect();
    let line = |name: String, levels: [f64; 4]| ChartLine {
        name,
        style: LineStyle::Marked,
        at_right: false,
        points: sizes
            .iter()
            .map(|size| {
                let ends = [134e6, 268e6, 8.6e9, f64::MAX];
                let level = ends.iter().position(|end| size <= end).unwrap_or(3);
                (*size, levels[level] * 1e6 * (0.97 + noise(*size as usize / 1024) * 0.06))
            })
            .collect(),
    };
    let mark = |x: f64, en: &str, ja: &str| Mark { x, label: w.say(en, ja) };
    Chart {
        title: w.say(
            "Where caches end: working set against throughput",
            "キャッシュの切れ目：作業サイズとスループット",
        ),
        notes: vec![w.say("4 KiB random, one operation at a time.", "4 KiBランダム、同時に 1 操作。")],
        plot: Plot::Lines(Lines {
            x: axis(w.say("working set", "作業サイズ"), Unit::Bytes, Scale::Log),
            y: axis(w.say("throughput", "スループット"), Unit::Rate, Scale::Log),
            right: None,
            lines: vec![
                line(w.say("read", "読み出し"), [1900.0, 610.0, 88.0, 71.0]),
                line(w.say("write", "書き込み"), [880.0, 420.0, 160.0, 31.0]),
            ],
            marks: vec![
                mark(134e6, "controller cache, 128 MiB", "コントローラのキャッシュ 128 MiB"),
                mark(268e6, "drive DRAM, 256 MiB", "ドライブのDRAM 256 MiB"),
                mark(8.6e9, "SLC cache, 8 GiB", "SLCキャッシュ 8 GiB"),
            ],
            stretches: Vec::new(),
        }),
    }
}

fn forest(w: Words) -> Chart {
    let row = |label: &str, ratio, outcome, en: &str, ja: &str| ForestRow {
        label: label.to_owned(),
        ratio,
        outcome,
        words: w.say(en, ja),
    };
    Chart {
        title: w.say("9mz against 7kq", "7kqに対する9mz"),
        notes: vec![w.say(
            "Ratio of means with its 95 % interval. In the shaded band (5 %) differences do not matter.",
            "平均の比と95 %信頼区間。帯の中（5 %以内）の差は問題にしません。",
        )],
        plot: Plot::Forest(Forest {
            axis_label: w.say("speed of 9mz as a multiple of 7kq", "7kqを 1 とした9mzの速さ"),
            rows: vec![
                row(
                    "SEQ1M Q8T1 read",
                    Some((1.31, 1.27, 1.36)),
                    RatioVerdict::Better,
                    "27 % to 36 % faster",
                    "27〜36 %速い",
                ),
                row(
                    "SEQ1M Q8T1 write",
                    Some((0.52, 0.44, 0.63)),
                    RatioVerdict::Worse,
                    "37 % to 56 % slower",
                    "37〜56 %遅い",
                ),
                row(
                    "RND4K Q32T1 read",
                    Some((1.01, 0.98, 1.03)),
                    RatioVerdict::Same,
                    "no measurable difference",
                    "測定できる差なし",
                ),
                row(
                    "RND4K Q32T1 write",
                    Some((1.12, 0.83, 1.52)),
                    RatioVerdict::Open,
                    "not enough runs: about 6 more are likely to settle it",
                    "回数不足：あと 6 回ほどで決まる見込み",
                ),
                row(
                    "RND4K Q1T1 read",
                    None,
                    RatioVerdict::Open,
                    "only one run has it",
                    "一方の測定にしかありません",
                ),
            ],
            margin: 0.05,
        }),
    }
}

fn heat(w: Words) -> Chart {
    let values = (0..7)
        .map(|row| {
            (0..6)
                .map(|column| {
                    let size = 4096.0 * f64::from(row).exp2() * 2.0;
                    let depth = f64::from(column).exp2();
                    let rate = 1.0 / (1.0 / 540e6 + 1.0 / (size / 85e-6 * depth.powf(0.8)));
                    (row + column != 3 || row != 1).then_some(rate)
                })
                .collect()
        })
        .collect();
    Chart {
        title: w.say("Block size and queue depth", "ブロックサイズとキュー深さ"),
        notes: vec![w.say("Random read, mean of 3.", "ランダム読み出し、3 回の平均。")],
        plot: Plot::Heat(Heat {
            x_label: w.say("queue depth", "キュー深さ"),
            columns: [1, 2, 4, 8, 16, 32].map(|d: i32| d.to_string()).to_vec(),
            y_label: w.say("block size", "ブロックサイズ"),
            rows: ["4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB", "128 KiB", "256 KiB"]
                .map(str::to_owned)
                .to_vec(),
            values,
            axis: rate(w),
        }),
    }
}

fn shares(w: Words) -> Chart {
    let row = |label: &str, values: [f64; 5]| ShareRow {
        label: label.to_owned(),
        values: values.map(|s| s * 1e9).to_vec(),
    };
    Chart {
        title: w.say("Where the time went", "時間の内訳"),
        notes: vec![w.say(
            "Model sd-fat-image, 64 MiB of 1 MiB reads.",
            "モデル sd-fat-image、1 MiBの読み出し 64 回。",
        )],
        plot: Plot::Shares(Shares {
            parts: vec![
                w.say("bus transfer", "バス転送"),
                w.say("FAT walk", "FATの探索"),
                w.say("command overhead", "コマンド処理"),
                w.say("flash read", "フラッシュ読み出し"),
                w.say("idle", "待機"),
            ],
            rows: vec![
                row("4 KiB clusters", [9.8, 14.1, 2.2, 3.0, 0.2]),
                row("32 KiB clusters", [9.8, 2.4, 2.2, 3.0, 0.2]),
                row("raw card", [9.8, 0.0, 2.1, 3.0, 0.3]),
            ],
            axis: axis(w.say("time", "時間"), Unit::Moment, Scale::Linear),
        }),
    }
}

/// Builds a chart of one kind.
type Kind = fn(Words) -> Chart;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args().nth(1).ok_or("say the folder to write to: gallery DIR")?;
    let dir = Path::new(&dir);
    std::fs::create_dir_all(dir)?;
    let kinds: [(&str, Kind); 8] = [
        ("bars", bars),
        ("position", position),
        ("percentiles", percentiles),
        ("series", series),
        ("sweep", sweep),
        ("forest", forest),
        ("heat", heat),
        ("shares", shares),
    ];
    let mut report = String::from("name                   SVG bytes  SVG ms  PNG ms\n");
    for (name, make) in kinds {
        for (language, words) in [("en", Words(false)), ("ja", Words(true))] {
            let chart = make(words);
            for (shade, theme) in [("light", Theme::Light), ("dark", Theme::Dark)] {
                let stem = format!("{name}-{language}-{shade}");
                let start = Instant::now();
                let svg = chart.svg(800, theme);
                let drawn = start.elapsed();
                let picture = png(&svg, 2.0)?;
                let packed = start.elapsed() - drawn;
                std::fs::write(dir.join(format!("{stem}.svg")), &svg)?;
                std::fs::write(dir.join(format!("{stem}.png")), picture)?;
                let (drawn, packed) = (drawn.as_secs_f64() * 1e3, packed.as_secs_f64() * 1e3);
                report += &format!("{stem:<22} {:>9}  {drawn:>6.1}  {packed:>6.1}\n", svg.len());
            }
            std::fs::write(dir.join(format!("{name}-{language}-auto.svg")), chart.svg(800, Theme::Auto))?;
        }
    }
    std::fs::write(dir.join("times.txt"), report)?;
    Ok(())
}
