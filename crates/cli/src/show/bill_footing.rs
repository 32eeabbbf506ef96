//! How a bill was recorded: the conditions, whether its counts are exact, and the pace of flushes.

use super::price::{has_fewer_flushes, shown_time};
use kurabe_core::quantity::format_bytes;
use kurabe_core::{Text, shown, text};
use kurabe_price::{Bill, Count, RepeatedValue};

/// Counts that are the same in each recording of a program that writes from one process.
const EXACT: [Count; 3] = [Count::Flushes, Count::Writes, Count::WrittenBytes];

/// Whether counts are exact, by their values in the recordings.
fn exactness_words(bill: &Bill) -> Text {
    let is_same = |count: &Count| bill.count(*count).is_none_or(RepeatedValue::is_exact);
    match (bill.recordings, EXACT.iter().all(is_same)) {
        (1, _) => text!(
            "Counts are exact if one process writes; more recordings show whether they vary.",
            "書き込むプロセスが 1 つなら、回数と量は正確です。変動するかどうかは、複数回記録すると分かります。"
        ),
        (_, true) => text!(
            "Flushes, writes and bytes are exact: they are the same in each recording.",
            "フラッシュ、書き込みの回数と量は、どの記録でも同じで、正確な値です。"
        ),
        (_, false) => text!(
            "Counts vary between the recordings, as they do if several processes write: they have \
             intervals.",
            "回数と量は記録ごとに変動します(複数のプロセスが書く場合など)。そのため区間を付けています。"
        ),
    }
}

/// How system calls were counted, if they were.
fn calls_words(bill: &Bill) -> Text {
    match bill.syscalls.is_empty() {
        true => Text::default(),
        false => text!(
            " Each system call was stopped to count it, which makes the program slower.",
            " システムコールは、呼び出しのたびに止めて数えたため、プログラムは遅くなっています。"
        ),
    }
}

/// Why counts are exact, and why fast devices may have fewer flushes.
fn pace_words(bill: &Bill) -> Text {
    let Some(tick) = bill.facts.tick_ns.map(|tick_ns| shown_time(tick_ns as f64)) else {
        return Text::default();
    };
    let pace = text!(
        " A flush was answered at the next tick of the kernel ({tick}) at the earliest, as by a \
         slow device: recording takes up to that long for each flush, and the load on this \
         machine does not change the counts.",
        " フラッシュには、遅いデバイスと同じように、早くてもカーネルの次のティック({tick} 間隔)に応答しました。記録にはフラッシュごとに最大でその時間がかかりますが、このマシンの負荷で回数は変わりません。"
    );
    let faster = bill.prices.iter().filter(|price| has_fewer_flushes(bill, price));
    let faster = Text::list(faster.map(|price| price.title.clone()));
    if faster.is_empty() {
        return pace;
    }
    let fewer = text!(
        " On {faster}, several flushes fit into a tick. File times change once per tick, and \
         commits that would change nothing else are left out there.",
        " {faster}では、1 ティックに複数のフラッシュが収まります。ファイルの時刻はティックごとにしか変わらないため、時刻だけを記録するコミットは除いて計算しています。";
        faster
    );
    text!("{pace}{fewer}", "{pace}{fewer}"; pace, fewer)
}

/// Describes the recording that the figures are based on.
pub(super) fn footing(bill: &Bill) -> Text {
    let (facts, recordings) = (&bill.facts, bill.recordings);
    let (file_system, size) = (shown::line(&facts.file_system), format_bytes(facts.size_bytes));
    let kernel = shown::line(&facts.kernel);
    let counted = match recordings {
        1 => text!("One recording", "記録は 1 回"),
        _ => text!("{recordings} recordings", "{recordings} 回記録"),
    };
    let pauses = match facts.keeps_pauses {
        true => text!("pauses without requests are included", "プログラムが I/O をしていない時間を含みます"),
        false => {
            text!("pauses without requests are not included", "プログラムが I/O をしていない時間は含みません")
        }
    };
    let (least, most) =
        (shown_time(bill.elapsed_ns.least() as f64), shown_time(bill.elapsed_ns.most() as f64));
    let here = if recordings == 1 { least } else { format!("{least}–{most}") };
    if let Some(model) = &facts.recorded_on {
        let model = shown::line(model);
        let faults = facts.faults.iter().map(|fault| Text::same(shown::line(fault)));
        let faults = Text::list(faults);
        let faulty = match facts.faults.is_empty() {
            true => Text::default(),
            false => text!(
                " Faults were injected during the run ({faults}); the time above does not include them, \
                 and failed requests are not counted.",
                " 実行中のデバイスには故障がありました({faults})。上の時間に故障による時間は含まれず、失敗した要求は数えていません。";
                faults
            ),
        };
        return text!(
            "Recorded on a fresh {file_system} of {size} on {model}, served in real time (Linux \
             {kernel}): the program took {here}. The time above is what the model takes for the same \
             requests in virtual time; {pauses}.{faulty}",
            "{model} を実時間で公開し、新しい {file_system}({size}、Linux {kernel})で記録。実行時間は {here} でした。上の時間は、同じ要求にモデルが仮想時間でかける時間です。\
             {pauses}。{faulty}";
            pauses, faulty
        );
    }
    let (pace, exactness, calls) = (pace_words(bill), exactness_words(bill), calls_words(bill));
    text!(
        "{counted} on a fresh {file_system} of {size}, in memory (Linux {kernel}), recorded at the \
         device. {exactness} Times are computed by models; {pauses}. The program took {here} \
         here.{calls}{pace}",
        "新しい {file_system}({size}、メモリー上、Linux {kernel})を使い、{counted}。要求はデバイスの位置で観測しています。{exactness}\
         時間はモデルによる計算です。{pauses}。ここでの実行時間は {here} でした。{calls}{pace}";
        counted, pauses, pace, exactness, calls
    )
}
