//! What the card calls the things that time goes to, and what it counts.

use crate::build::words;

words! {
    /// Causes and counters of the card.
    pub(super) struct Words {
        processor_busy: cause("processor-busy",
            ("waiting for the card's processor", "カードのプロセッサー待ち"),
            ("the card's processor is still busy with other requests",
             "カードのプロセッサーが別の要求を処理しています"));
        request: cause("request",
            ("the card's work per request", "要求ごとのカードの処理"),
            ("the card's processor accepts the request and hands it to the drives; this takes the same time however short the request is",
             "カードのプロセッサーが要求を受け取ってドライブへ振り分ける時間です。要求の長さによらずかかります"));
        strips: cause("strips",
            ("the card's work per strip", "ストリップごとのカードの処理"),
            ("the request is cut at every strip boundary, and each strip costs the processor the same: small strips cost more",
             "要求はストリップの境目ごとに分割され、1 個ごとに一定の処理時間がかかります。ストリップが小さいほど増えます"));
        latency: cause("latency",
            ("the way through driver and card", "ドライバーとカードの往復"),
            ("the driver, the card's queue and the interrupt at the end take their time for every request",
             "ドライバー、カードの待ち行列、完了の割り込みに要求ごとにかかる時間です"));
        memory_busy: cause("memory-busy",
            ("waiting for the card's memory", "カードのメモリー待ち"),
            ("other data are on their way through the card's memory",
             "カードのメモリーが別のデータの転送に使われています"));
        memory: cause("memory",
            ("moving bytes to or from the card's memory", "カードのメモリーとの転送"),
            ("data move between the host and the card's own memory",
             "ホストとカード上のメモリーの間でデータを移す時間です"));
        copy: cause("copy",
            ("the additional copy of cached I/O", "Cached I/O による余分なコピー"),
            ("under cached I/O, data from the drives are put into the card's memory first and copied from there",
             "Cached I/O では、ドライブから読んだデータをいったんカードのメモリーに入れてから渡します"));
        full: cause("cache-full",
            ("waiting for room in the cache", "キャッシュが空くのを待つ時間"),
            ("the card's memory is full of data that the drives have not written yet",
             "カードのメモリーが、まだドライブに書かれていないデータで一杯です"));
        draining: cause("draining",
            ("emptying the cache", "キャッシュの書き出し"),
            ("without a battery, a flush waits until the drives have everything that is in the card's memory",
             "バッテリーがないので、メモリー上のデータがすべてドライブに書かれるまでフラッシュが終わりません"));
        ahead: cause("read-ahead",
            ("waiting for data being read ahead", "先読み中のデータを待つ時間"),
            ("the card is reading these data already", "カードがすでに読み始めているデータの到着を待っています"));
        row_busy: cause("row-busy",
            ("waiting for another write to the same stripe", "同じストライプへの書き込み待ち"),
            ("two writes to one stripe would spoil its parity, so one follows the other",
             "同じストライプへの書き込みはパリティーが壊れないよう 1 件ずつ行われます"));
        parity_busy: cause("parity-busy",
            ("waiting for the parity computation", "パリティー計算待ち"),
            ("parity of other requests is being computed", "別の要求のパリティーを計算しています"));
        parity: cause("parity",
            ("computing parity", "パリティーの計算"),
            ("from the data, the card computes what makes up for a drive that fails",
             "ドライブの故障に備えるためのデータを計算する時間です"));
        most_bytes: counter("most-bytes",
            ("bytes of the drive with the most of a request", "要求を最も多く受け持つドライブのバイト数"));
        even_bytes: counter("even-bytes",
            ("bytes of each drive, if all had the same", "均等に分けた場合の 1 台あたりのバイト数"));
        member_reads: counter("member-reads", ("reads from drives", "ドライブからの読み出し回数"));
        member_writes: counter("member-writes", ("writes to drives", "ドライブへの書き込み回数"));
        hit_bytes: counter("hit-bytes", ("bytes read from the cache", "キャッシュから読めたバイト数"));
        missed_bytes: counter("missed-bytes", ("bytes not found in the cache", "キャッシュになかったバイト数"));
        ahead_bytes: counter("ahead-bytes", ("bytes read ahead", "先読みしたバイト数"));
        destaged_bytes: counter("destaged-bytes",
            ("bytes written back from the cache", "キャッシュから書き戻したバイト数"));
        whole_rows: counter("whole-rows",
            ("stripes written without reading first", "読み出しなしで書けたストライプ数"));
        partial_rows: counter("partial-rows",
            ("stripes that had to be read first to compute parity",
             "パリティー計算のため先に読み出したストライプ数"));
    }
}
