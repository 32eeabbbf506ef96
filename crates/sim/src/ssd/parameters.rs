//! The parameters of an SSD.

use super::refresh::MOST_DAYS;
use super::scatter::MOST_SPREAD;
use crate::build::parameters;

parameters! {
    /// Values of all of them. Where a time may be 0, that stands for the usual time of the cell type.
    pub(super) struct Values, PARAMETERS {
        "capacity" capacity_bytes: SOME_SIZE, needed, ("bytes that the host sees", "ホストから見える容量");
        "channels" channels: Count(1, 64), needed,
            ("sets of wires between controller and flash", "コントローラーとフラッシュを結ぶ配線の組数");
        "dies" dies: Count(1, 64), needed, ("flash dies on each channel", "チャネルごとのフラッシュダイ数");
        "serial_dies" serial_dies: Count(1, 64), usual("1", "assumed: all dies work side by side"),
            ("dies of a channel that take turns, because the firmware keeps one of them busy at a time",
             "ファームウェアが一度に 1 つしか動かさないダイの数");
        "planes" planes: Count(1, 16), usual("1", "assumed"),
            ("planes of a die, programmed together", "ダイのプレーン数(同時に書き込む)");
        "page" page_bytes: SOME_SIZE, usual("16 KiB", "assumed: usual since about 2013"),
            ("page of a plane", "プレーンのページ長");
        "pages_per_block" pages_per_block: Count(1, 65_536), usual("256", "MQSim ssdconfig.xml"),
            ("pages of a block", "ブロックあたりのページ数");
        "mapping_unit" mapping_unit_bytes: Bytes(512, 1 << 30),
            usual("4 KiB", "assumed: usual for page-mapped drives"),
            ("data that one entry of the mapping table points to", "マッピング表の 1 項目が指すデータ長");
        "over_provisioning" over_provisioning: Number(0.0, 100.0),
            usual("0.07", "derived: 2^30 / 10^9 - 1, flash in GiB sold as GB"),
            ("flash beyond the capacity, as a share of it", "容量に対する予備領域の割合");
        "cell" cell: Word(&["slc", "mlc", "tlc", "qlc"]), needed,
            ("bits of a cell: 1, 2, 3 or 4; sets the times that are not given",
             "セルあたりのビット数(1〜4)。指定のない時間を決める");
        "read_time" read_ns: Time, usual("0 ns", "that of the cell type").derived_from(&["cell"]),
            ("time to read a page; 0 for that of the cell type",
             "ページの読み出し時間(0 はセル種別の標準値)");
        "page_read_times" page_read_times: Rows(&["microseconds"]),
            usual("[]", "assumed: all alike").derived_from(&["read_time"]),
            ("read times of the kinds of pages in turn, in place of read_time",
             "ページの種類ごとの読み出し時間(read_time の代わり)");
        "read_spread" read_spread: Number(0.0, MOST_SPREAD),
            usual("0", "assumed: rows of one kind of page are alike"),
            ("standard deviation of the read times of rows of one kind of page, as a share of their mean",
             "同じ種類のページの読み出し時間が行ごとにばらつく標準偏差 (平均に対する割合)");
        "program_spread" program_spread: Number(0.0, MOST_SPREAD),
            usual("0", "assumed: rows of pages are alike"),
            ("standard deviation of the program times of rows of pages, as a share of their mean",
             "ページの書き込み時間が行ごとにばらつく標準偏差 (平均に対する割合)");
        "program_time" program_ns: Time, usual("0 ns", "that of the cell type").derived_from(&["cell"]),
            ("time to program a page; 0 for that of the cell type",
             "ページの書き込み時間(0 はセル種別の標準値)");
        "page_program_times" page_program_times: Rows(&["microseconds"]),
            usual("[]", "assumed: all alike, as flash that programs the bits of its cells in one go")
                .derived_from(&["program_time"]),
            ("program times of the kinds of pages in turn, in place of program_time",
             "ページの種類ごとの書き込み時間(program_time の代わり)");
        "erase_time" erase_ns: Time, usual("0 ns", "that of the cell type").derived_from(&["cell"]),
            ("time to erase a block; 0 for that of the cell type",
             "ブロックの消去時間(0 はセル種別の標準値)");
        "channel_rate" channel_bytes_per_s: Rate, usual("333 MB/s", "MQSim ssdconfig.xml: 333 MT/s"),
            ("rate of a channel", "チャネルの転送速度");
        "data_first" data_first: Flag, usual("false", "assumed: commands are short and go between"),
            ("a read command waits until no data are on its channel, nor wait for it",
             "読み出しコマンドが、チャネル上のデータ転送とその待ちがなくなるまで待つか");
        "controller_rate" controller_bytes_per_s: Rate, usual("8 GB/s", "assumed: beyond the rest").live(),
            ("rate at which data pass the controller", "コントローラー内のデータ転送速度");
        "write_rate" write_bytes_per_s: Rate, usual("1 TB/s", "assumed: as controller_rate"),
            ("rate at which written data get into the buffer, if below controller_rate",
             "書き込みデータがバッファーに入る速度(controller_rate より遅い場合)");
        "command_time" command_ns: Time, usual("1 us", "assumed").live(),
            ("time of the processor for a command, one after the other",
             "コマンドごとのプロセッサー時間(逐次)");
        "command_latency" command_latency_ns: Time, usual("5 us", "assumed").live(),
            ("further time of a command, at which others are served as well",
             "コマンドごとの追加の遅延(並行)");
        "hit_time" hit_ns: Time, usual("1 us", "assumed").live(),
            ("time of the processor for a read of data that were read ahead, in place of command_time",
             "先読み済みデータの読み出しにかかるプロセッサー時間(command_time の代わり)");
        "write_latency" write_latency_ns: Time, usual("0 ns", "assumed: as reads").live(),
            ("further time of a write beyond that of every command", "書き込みコマンドだけの追加の遅延");
        "write_command_time" write_command_ns: Time,
            usual("0 ns", "assumed: as reads").derived_from(&["command_time"]),
            ("time of the processor for a write, one after the other; 0 for command_time",
             "書き込みコマンドごとのプロセッサー時間(逐次、0 は command_time)");
        "buffer" buffer_bytes: SIZE, usual("1 MiB", "assumed"),
            ("memory for data to be written; 0 if none", "書き込みバッファーの容量(0 はなし)");
        "read_ahead" read_ahead_bytes: Bytes(0, 64 << 20), usual("128 KiB", "assumed"),
            ("data read ahead of a run of reads; 0 if none", "連続読み出しのときに先読みする量(0 はなし)");
        "flush_waits" flush_waits: Flag, usual("true", "assumed: as the standards ask").live(),
            ("a flush waits until the buffer is in flash",
             "フラッシュ命令がバッファーの書き込み完了を待つか");
        "power_loss_protection" power_loss_protection: Flag, usual("false", "assumed: a client drive"),
            ("capacitors save the buffer at a power cut", "停電時にコンデンサーでバッファーを守るか");
        "suspend" suspend: Word(&["none", "program", "program-and-erase"]), usual("none", "assumed"),
            ("what a read interrupts", "読み出しが中断させられる動作");
        "suspend_time" suspend_ns: Time, usual("20 us", "assumed").live(),
            ("time to interrupt", "中断にかかる時間");
        "mapping" mapping: Word(&["full", "cached"]), usual("full", "assumed: a drive with DRAM"),
            ("whether the whole mapping table is in memory", "マッピング表をすべてメモリーに置くか");
        "mapping_cache" mapping_cache_bytes: SIZE, usual("2 MiB", "MQSim ssdconfig.xml"),
            ("memory for the mapping table if it is cached", "マッピング表用のキャッシュ容量");
        "slc_static" slc_static_bytes: SIZE, usual("0 B", "assumed: none"),
            ("data that flash set aside for it holds with one bit per cell",
             "専用領域に 1 ビット/セルで置けるデータ量");
        "slc_dynamic" slc_dynamic_bytes: SIZE, usual("0 B", "assumed: none"),
            ("data that free flash may hold with one bit per cell",
             "空き領域に 1 ビット/セルで置けるデータ量");
        "slc_read_time" slc_read_ns: Time,
            usual("0 ns", "assumed: as with all bits").derived_from(&["read_time"]),
            ("time to read a page with one bit per cell; 0 for read_time",
             "1 ビット/セルのページの読み出し時間(0 は read_time)");
        "slc_program_time" slc_program_ns: Time,
            usual("0 ns", "assumed: as with all bits").derived_from(&["program_time"]),
            ("time to program a page with one bit per cell; 0 for program_time",
             "1 ビット/セルのページの書き込み時間(0 は program_time)");
        "slc_keep" slc_keep_bytes: SIZE,
            usual("0 B", "assumed: everything is moved as soon as there is time"),
            ("data that stay in flash with one bit per cell when there is time to move them",
             "余裕があっても 1 ビット/セルのまま残すデータ量");
        "fold_time" fold_ns: Time,
            usual("0 ns", "assumed: as data of the host").derived_from(&["program_time"]),
            ("time to program a page with data moved out of flash with one bit per cell; 0 for program_time",
             "1 ビット/セルから移すデータのページ書き込み時間(0 は program_time)");
        "slc_full" slc_full: Word(&["direct", "fold"]), usual("direct", "assumed"),
            ("with a full SLC cache, write past it or empty it first",
             "SLC キャッシュが満杯のとき、直接書くか先に掃き出すか");
        "gc" gc: Word(&["greedy", "cost-benefit"]), usual("greedy", "MQSim ssdconfig.xml"),
            ("which block is collected: the emptiest, or by age as well",
             "回収するブロックの選び方(有効データ最少、または古さも考慮)");
        "gc_free_blocks" gc_free_blocks: Count(1, 1024), usual("2", "assumed"),
            ("free blocks of each die that are kept", "ダイごとに確保する空きブロック数");
        "idle_free_blocks" idle_free_blocks: Count(1, 65_536), usual("8", "assumed"),
            ("free blocks of each die wanted when there is time", "余裕のあるときに用意する空きブロック数");
        "idle_after" idle_after_ns: Time, usual("100 ms", "assumed").live(),
            ("a die rests this long before it works in the background", "背景処理を始めるまでの休止時間");
        "refresh_days" refresh_days: Number(0.0, MOST_DAYS),
            usual("0", "assumed: never in the time of a test"),
            ("days in which each die rewrites all that it can hold, before charge is lost; 0 for never",
             "電荷が失われる前に、ダイの全データを書き直す周期の日数(0 は書き直さない)");
        "fill" fill: Number(0.0, 1.0), usual("0", "assumed: new"),
            ("share of the capacity that holds data at the start, from its beginning",
             "開始時にデータがある割合(先頭から)");
        "age" age: Word(&["new", "worn"]), usual("new", "assumed: new"),
            ("data of the start were written in order, or at random for long",
             "開始時のデータが順に書かれたか、長くランダムに書かれたか");
        "unwritten_as_data" unwritten_as_data: Flag,
            usual("true", "assumed: whoever reads has written before").live(),
            ("reads of what was never written take as long as reads of data",
             "未書き込み領域の読み出しをデータと同じ時間にするか");
    }
}
