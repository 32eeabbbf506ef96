//! What an SSD tells people: where time goes, and what it counts.

use crate::build::words;

words! {
    /// Where time goes.
    pub(super) struct Causes {
        behind_reads: cause("behind-reads",
            ("waiting for a chip that reads", "読み出し中のチップを待つ時間"),
            ("the flash chip with the data is reading for an earlier request",
             "目的のデータを持つフラッシュチップが、前の要求のために読み出し中です"));
        behind_programs: cause("behind-writes",
            ("waiting for a chip that writes", "書き込み中のチップを待つ時間"),
            ("the flash chip with the data is still writing, which takes about ten times as long as reading",
             "目的のデータを持つフラッシュチップが書き込み中です。書き込みには読み出しの 10 倍ほどの時間がかかります"));
        behind_erase: cause("behind-erase",
            ("waiting for a chip that erases", "消去中のチップを待つ時間"),
            ("the flash chip with the data is erasing a block, which takes milliseconds",
             "目的のデータを持つフラッシュチップがブロックを消去中で、数ミリ秒かかります"));
        collecting: cause("garbage-collection",
            ("garbage collection", "ガベージコレクション"),
            ("the drive has too few empty blocks, so it moves the data that are still needed out of old blocks to erase them",
             "空きブロックが足りないので、古いブロックの有効なデータを移して消去できるようにしています"));
        folding: cause("folding",
            ("emptying the SLC cache", "SLC キャッシュの掃き出し"),
            ("data that were written quickly, one bit per cell, are rewritten with all bits per cell to make room",
             "1 セル 1 ビットで高速に書いたデータを、本来のビット数で書き直して空きを作っています"));
        refreshing: cause("refresh",
            ("waiting for a chip that rewrites old data", "古いデータを書き直すチップを待つ時間"),
            ("the flash chip with the data is rewriting some that have lain long, before their charge is lost",
             "目的のデータを持つフラッシュチップが、長く置かれたデータを電荷が失われる前に書き直しています"));
        buffer_full: cause("buffer-full",
            ("waiting for room in the write buffer", "書き込みバッファーの空きを待つ時間"),
            ("data come in faster than the flash chips write them, and the memory between is full",
             "フラッシュチップが書くより速くデータが届き、間のメモリーがいっぱいです"));
        sense: cause("flash-read",
            ("reading flash", "フラッシュの読み出し"),
            ("a flash chip finds out what its cells hold", "フラッシュチップがセルの内容を読み取る時間です"));
        channel_wait: cause("channel-wait",
            ("waiting for the wires to the chip", "チップとの配線が空くのを待つ時間"),
            ("several chips share their wires to the controller, and another one is using them",
             "複数のチップがコントローラーとの配線を共有しており、ほかのチップが使用中です"));
        channel: cause("channel",
            ("moving data from the chip", "チップからのデータ転送"),
            ("data go over the wires between the flash chip and the controller",
             "フラッシュチップとコントローラーの間でデータを移す時間です"));
        program: cause("flash-write",
            ("writing flash", "フラッシュへの書き込み"),
            ("data must be in the flash chips before the request is done, as after a flush",
             "フラッシュ(キャッシュの書き出し)のように、チップに書き終わるまで要求が完了しません"));
        controller_wait: cause("controller-wait",
            ("waiting for the controller", "コントローラーが空くのを待つ時間"),
            ("the drive's processor works on earlier commands",
             "ドライブのプロセッサーが前のコマンドを処理しています"));
        controller: cause("controller",
            ("work of the controller", "コントローラーの処理"),
            ("the firmware takes the command, finds out what to do and answers",
             "ファームウェアがコマンドを受け取り、処理を決め、応答する時間です"));
        data_path: cause("data-path",
            ("moving data through the controller", "コントローラー内のデータ転送"),
            ("the data pass the drive's memory, which serves one transfer at a time",
             "データがドライブのメモリーを通る時間です。同時に一つしか通れません"));
        mapping: cause("mapping",
            ("looking up where the data are", "データの位置を調べる時間"),
            ("the table that says where data are does not fit into the drive's memory, so a part of it is read from flash first",
             "データの位置を示す表がメモリーに収まらず、先に表の一部をフラッシュから読んでいます"));
        read_ahead: cause("read-ahead",
            ("waiting for data read ahead", "先読み中のデータを待つ時間"),
            ("reads come one after the other, so the drive had begun to read these data before they were asked for",
             "連続した読み出しなので、要求される前に読み始めており、その完了を待っています"));
        partial: cause("partial-write",
            ("reading the rest of a unit", "書き換え単位の残りを読む時間"),
            ("a write covers only a part of the smallest unit of the drive, so the rest of it is read first",
             "ドライブの最小単位の一部だけを書くので、残りの部分を先に読み出しています"));
    }
}

words! {
    /// What is counted.
    pub(super) struct Counters {
        written: counter("units-written", ("units written by the host", "ホストが書いた単位数"));
        moved: counter("units-moved", ("units moved by garbage collection", "ガベージコレクションが移した単位数"));
        folded: counter("units-folded", ("units moved out of the SLC cache", "SLC キャッシュから移した単位数"));
        erases: counter("erases", ("blocks erased", "消去したブロック数"));
        refreshed: counter("rows-refreshed",
            ("rows of pages rewritten because of their age", "古くなって書き直したページの行数"));
        misses: counter("mapping-misses",
            ("pages of the mapping table read from flash", "フラッシュから読んだマッピング表のページ数"));
        buffer_hits: counter("buffer-hits",
            ("reads served from the write buffer", "書き込みバッファーから返した読み出し数"));
    }
}
