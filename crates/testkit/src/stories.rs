//! Runs of models with the time accounts that the four stories of the articles have: a FAT that is walked, requests that
//! do not divide by the strips, a bridge that takes one command, and reads and writes that take turns.

use crate::{cause, counter, kinds, parameter, ssd};
use kurabe_core::environment::Environment;
use kurabe_core::model::*;
use kurabe_core::record::*;
use kurabe_core::{Text, text};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

fn layer(name: &str, kind: &str, instances: u32, causes: Vec<CauseRecord>) -> LayerRecord {
    LayerRecord {
        name: name.to_owned(),
        kind: kind.to_owned(),
        instances,
        depth: 0,
        parameters: vec![parameter("capacity", "4 GiB", "https://example.org/data-sheet, page 3", false)],
        causes,
        counters: Vec::new(),
    }
}

/// The mean of an operation: layer, cause, time.
type Share<'a> = (&'a str, &'a str, u64);
/// How often in a hundred operations.
type Count<'a> = (&'a str, &'a str, u64);

fn account(operations: u64, shares: &[Share<'_>], counts: &[Count<'_>]) -> TimeAccount {
    let share = |(layer, cause, each_ns): &Share<'_>| TimeShare {
        layer: (*layer).to_owned(),
        cause: (*cause).to_owned(),
        time_ns: each_ns * operations,
    };
    let count = |(layer, counter, hundredth): &Count<'_>| LayerCount {
        layer: (*layer).to_owned(),
        counter: (*counter).to_owned(),
        count: hundredth * operations / 100,
    };
    TimeAccount {
        operations,
        latency_ns: operations * shares.iter().map(|(.., each_ns)| each_ns).sum::<u64>(),
        shares: shares.iter().map(share).collect(),
        counts: counts.iter().map(count).collect(),
    }
}

/// The run as one of a model.
fn on_model(mut record: RunRecord, name: &str, title: Text, layers: Vec<LayerRecord>) -> RunRecord {
    let target = record.header.target.as_mut().unwrap();
    (target.given, target.path) = (format!("model:{name}"), format!("model:{name}"));
    target.kind = TargetKind::Model;
    record.header.environment = Environment::default();
    record.header.model = Some(ModelRecord { name: name.to_owned(), title, seed: 1, layers });
    (record.fill, record.health_after) = (None, None);
    record.notices.clear();
    for cell in &mut record.cells {
        cell.engine = None;
        for repetition in &mut cell.repetitions {
            repetition.generator_bound = false;
            repetition.noise = Noise::default();
            repetition.stalls.clear();
            repetition.stall_count = 0;
        }
    }
    record
}

/// The bus, the image file and the card under it.
fn fat_walk_layers() -> Vec<LayerRecord> {
    let scsi = layer(
        "scsi",
        "scsi-bus",
        1,
        vec![
            cause(
                "command",
                text!("sending the command", "コマンドの送信"),
                text!(
                    "selection and the bytes of the command",
                    "相手の選択とコマンドのバイトの転送にかかる時間です"
                ),
            ),
            cause(
                "transfer",
                text!("moving the bytes over the bus", "バスでのデータ転送"),
                text!("each byte waits for its own acknowledgement", "1 バイトごとに応答を待って転送します"),
            ),
        ],
    );
    let mut image = layer(
        "image",
        "fat-image",
        1,
        vec![cause(
            "walk",
            text!("walking the FAT chain", "FAT チェーンをたどる時間"),
            text!(
                "to find a place in the image file, the firmware follows the list of its clusters from the first one, and reads every sector of that list from the card",
                "イメージファイル内の位置を知るために、ファームウェアがクラスターの一覧を先頭からたどり、その一覧の全セクターをカードから読みます"
            ),
        )],
    );
    image.parameters.push(parameter("cluster", "64 KiB", "calibrated: on the 1 GB row", false));
    image.parameters.push(parameter("image", "4 GiB", "set for this run", true));
    image.counters = vec![counter("fat-sectors", text!("sectors of the FAT read", "読んだ FAT セクター"))];
    let card = layer(
        "card",
        "sd-card",
        1,
        vec![
            cause(
                "access",
                text!("waiting for the card", "カードの応答待ち"),
                text!(
                    "the card needs this before the first byte of a read",
                    "読み出しの最初のバイトが出るまでの時間です"
                ),
            ),
            cause(
                "transfer",
                text!("reading from the card", "カードからの読み出し"),
                text!("bytes at the rate of the card", "カードの速度でデータを移す時間です"),
            ),
        ],
    );
    vec![scsi, image, card]
}

/// GNOME Disks on an emulator whose image is a file on FAT: access time is a walk through the chain.
pub fn fat_walk() -> RunRecord {
    let mut record = on_model(
        kinds::run_samples(),
        "henkan-bancho-pro",
        text!(
            "a SCSI disk emulator, image on an SD card",
            "SCSI ディスクエミュレーター(SD カード上のイメージ)"
        ),
        fat_walk_layers(),
    );
    for cell in &mut record.cells {
        let access = cell.measure == Measure::AccessTime;
        for repetition in &mut cell.repetitions {
            let samples = repetition.samples.len() as u64;
            let (shares, counts) = if access {
                (
                    [
                        ("scsi", "command", 60 * US),
                        ("scsi", "transfer", 1300 * US),
                        ("image", "walk", 251 * MS),
                        ("card", "access", 900 * US),
                        ("card", "transfer", 400 * US),
                    ],
                    [("image", "fat-sectors", 25_890)],
                )
            } else {
                (
                    [
                        ("scsi", "command", 3 * MS),
                        ("scsi", "transfer", 2600 * MS),
                        ("image", "walk", 500 * MS),
                        ("card", "access", 20 * MS),
                        ("card", "transfer", 500 * MS),
                    ],
                    [("image", "fat-sectors", 51_200)],
                )
            };
            repetition.account = Some(account(samples, &shares, &counts));
        }
    }
    record
}

/// Large reads from striped members, one of which has more to do than the others.
pub fn strip_remainder() -> RunRecord {
    let raid = layer(
        "raid",
        "raid",
        1,
        vec![
            cause(
                "strips",
                text!("work of the controller for each strip", "ストリップごとのコントローラーの処理"),
                text!(
                    "every strip that a request touches costs the controller the same time",
                    "要求がまたぐストリップ 1 本ごとに一定の処理時間がかかります"
                ),
            ),
            cause(
                "last",
                text!("waiting for the drive with one strip more", "ストリップが 1 本多いドライブを待つ時間"),
                text!(
                    "the request does not divide evenly by the drives, so some deliver a second strip while the others stand idle",
                    "要求の長さがドライブ台数で割り切れず、2 本目を読むドライブをほかのドライブが待ちます"
                ),
            ),
        ],
    );
    let mut raid = raid;
    raid.counters = vec![
        counter(
            "most-bytes",
            text!(
                "bytes of the drive with the most of a request",
                "要求を最も多く受け持つドライブのバイト数"
            ),
        ),
        counter(
            "even-bytes",
            text!("bytes of each drive, if all had the same", "均等に分けた場合の 1 台あたりのバイト数"),
        ),
    ];
    let drive = layer(
        "x25m",
        "ssd",
        6,
        vec![cause(
            "flash",
            text!("reading the flash", "フラッシュの読み出し"),
            text!(
                "the pages are read and sent over the drive's channels",
                "ページを読み、チャネルで送り出す時間です"
            ),
        )],
    );
    let mut record = on_model(
        ssd::run(),
        "raid-9260",
        text!("a RAID card with SSDs", "SSD を並べた RAID カード"),
        vec![raid, drive],
    );
    record.cells.truncate(2);
    for repetition in record.cells.iter_mut().flat_map(|cell| &mut cell.repetitions) {
        let shares = [("raid", "strips", 140 * US), ("raid", "last", 900 * US), ("x25m", "flash", 1000 * US)];
        let operations = repetition.elapsed_ns / (2040 * US);
        repetition.account = Some(account(
            operations,
            &shares,
            &[("raid", "most-bytes", 19_660_800), ("raid", "even-bytes", 17_476_300)],
        ));
    }
    record
}

/// Many requests at once to drives behind a bridge that takes one command at a time.
pub fn one_command() -> RunRecord {
    let usb = layer(
        "usb",
        "usb",
        1,
        vec![
            cause(
                "turn",
                text!("waiting for the bridge", "ブリッジの空き待ち"),
                text!(
                    "the bridge takes one command at a time for all its drives, and the next one only when the last is done",
                    "ブリッジは全ドライブを合わせて一度に 1 コマンドしか受け付けず、前のコマンドが終わるまで次は待たされます"
                ),
            ),
            cause(
                "transfer",
                text!("moving the bytes over USB", "USB でのデータ転送"),
                text!("bytes at the rate of the link", "接続の速度でデータを移す時間です"),
            ),
        ],
    );
    let disk = layer(
        "disk",
        "disk",
        3,
        vec![
            cause(
                "seek",
                text!("moving the head", "ヘッドの移動"),
                text!("the arm moves to the track", "アームが目的のトラックへ動く時間です"),
            ),
            cause(
                "rotation",
                text!("waiting for the rotation", "回転待ち"),
                text!(
                    "the sector has to come round under the head",
                    "目的のセクターがヘッドの下に来るまで待ちます"
                ),
            ),
            cause(
                "media",
                text!("reading the platter", "円盤の読み取り"),
                text!("the bytes pass under the head", "データがヘッドの下を通る時間です"),
            ),
        ],
    );
    let mut record = on_model(
        ssd::run(),
        "mirror3-usb",
        text!("a mirror of three disks in a USB box", "USB ケースの 3 台ミラー"),
        vec![usb, disk],
    );
    let random = record.cells[2].clone();
    record.cells = vec![random];
    for repetition in record.cells.iter_mut().flat_map(|cell| &mut cell.repetitions) {
        let shares = [
            ("usb", "turn", 390 * MS),
            ("usb", "transfer", 120 * US),
            ("disk", "seek", 8100 * US),
            ("disk", "rotation", 4200 * US),
            ("disk", "media", 30 * US),
        ];
        let operations = repetition.elapsed_ns * 32 / (402 * MS);
        repetition.account = Some(account(operations, &shares, &[]));
    }
    record
}

/// A file copied within a disk: reads and writes take turns.
pub fn turnaround() -> RunRecord {
    let mut disk = layer(
        "disk",
        "disk",
        1,
        vec![
            cause(
                "turn",
                text!("going back and forth between reading and writing", "読み書きの位置の往復"),
                text!(
                    "source and copy lie apart, so the head travels at every change from reading to writing and back",
                    "コピー元とコピー先が離れているため、読みと書きが入れ替わるたびにヘッドが往復します"
                ),
            ),
            cause(
                "media",
                text!("moving the bytes on the platter", "円盤での読み書き"),
                text!("the bytes pass under the head", "データがヘッドの下を通る時間です"),
            ),
        ],
    );
    disk.counters =
        vec![counter("turns", text!("changes between reading and writing", "読み書きの切り替え"))];
    let mut record = on_model(
        kinds::run_copy(),
        "hitachi-7k160",
        text!("a 7200 rpm disk", "7200 rpm のディスク"),
        vec![disk],
    );
    for cell in &mut record.cells {
        let within = cell.part == "within";
        let in_memory = cell.part.starts_with("memory");
        for repetition in &mut cell.repetitions {
            let both = if within { repetition.elapsed_ns / 100 } else { 0 };
            let media = repetition.elapsed_ns / 100 * if within { 60 } else { 97 } / 65_536;
            let turn = both * 38 / 65_536;
            let counts: &[Count<'_>] = if within { &[("disk", "turns", 8)] } else { &[] };
            let account = account(65_536, &[("disk", "turn", turn), ("disk", "media", media)], counts);
            repetition.account = Some(if in_memory { TimeAccount::default() } else { account });
        }
    }
    record
}

/// The stories by name.
pub fn all() -> [(&'static str, RunRecord); 4] {
    [
        ("fat_walk", fat_walk()),
        ("strip_remainder", strip_remainder()),
        ("one_command", one_command()),
        ("turnaround", turnaround()),
    ]
}
