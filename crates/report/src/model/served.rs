//! Figures of a served model: during operation, at its end, and later from its record.

use kurabe_core::number::{NONE, count, fixed, latency, latency_ns, moment, percent, rate, whole};
use kurabe_core::quantity::format_bytes;
use kurabe_core::{Text, shown, text};
use kurabe_doc::layout::pad_right;
use kurabe_doc::{Doc, Fields};
use kurabe_serve::{ClientFigures, CutReport, FaultFigures, Lateness, ServedFigures, ServedLimit, Slowdown};

/// Describes the last second, with the totals so far in parentheses, in one line.
pub fn serving_line(figures: &ServedFigures, last: &ServedFigures) -> Text {
    Text::join(serving_facts(figures, last), ["  "; 2])
}

/// Formats a figure with the given decimals, or returns the placeholder.
pub fn fixed_if(value: Option<f64>, digits: usize) -> String {
    value.map_or(NONE.to_owned(), |value| fixed(value, digits))
}

/// Returns the current figures, each with the total so far in parentheses.
fn serving_facts(figures: &ServedFigures, last: &ServedFigures) -> Vec<Text> {
    let per_s = |amount: f64| amount * 1e9 / last.served_ns.max(1) as f64;
    let answers = last.lateness.answers as f64;
    let (requests, clients) = (whole(per_s(answers)), figures.clients);
    let bytes = rate(per_s((last.read_bytes + last.written_bytes) as f64));
    let depth = fixed(answers * last.lateness.mean_real_ns / last.served_ns.max(1) as f64, 1);
    let shown = |lateness: &Lateness| {
        let times = fixed_if(lateness.slowdown.map(|slowdown| slowdown.mean), 2);
        let share = fixed_if(lateness.in_time_share.map(|share| share * 100.0), 1);
        (times, share, latency_ns(lateness.p99_ns))
    };
    let ((times, share, p99), (all_times, all_share, all_p99)) =
        (shown(&last.lateness), shown(&figures.lateness));
    vec![
        text!("{clients} clients", "接続 {clients}"),
        text!("depth {depth}", "深さ {depth}"),
        text!("{requests}/s", "毎秒 {requests} 件"),
        Text::from(bytes),
        text!("took × {times} ({all_times})", "応答時間 {times} 倍({all_times} 倍)"),
        text!("in time {share} % ({all_share} %)", "時間どおり {share} %({all_share} %)"),
        text!("p99 late by {p99} ({all_p99})", "遅れ p99 {p99}({all_p99})"),
    ]
}

/// Returns the state of a server for a page, beginning with the figures since the last update.
pub fn served_doc(figures: &ServedFigures, last: &ServedFigures) -> Doc {
    let time = moment(last.served_ns);
    let key = text!("last {time} (all so far)", "直近 {time}(開始から)");
    let (mut fields, mut others) = (vec![(key, serving_facts(figures, last))], Vec::new());
    for (key, words) in served_facts(figures) {
        match key.is_empty() {
            true => others.push(words),
            false => fields.push((key, vec![words])),
        }
    }
    Doc::of(Fields::from(fields)).say_all(others).done()
}

/// Describes the result of a server, one line per fact.
pub fn served_lines(figures: &ServedFigures) -> Vec<Text> {
    let facts = served_facts(figures).into_iter().enumerate();
    facts.map(|(place, fact)| if place == 0 { fact.1 } else { fact_line(fact) }).collect()
}

/// A fact about a server: its key and text. A sentence has no key.
type ServedFact = (Text, Text);

/// Formats a fact below the first line. Facts with a key are aligned in columns.
fn fact_line((key, words): ServedFact) -> Text {
    let column = key.map(|key| match key {
        "" => String::new(),
        key => pad_right(&format!("{key}  "), 10),
    });
    text!("  {column}{words}", "  {column}{words}"; column, words)
}

/// Returns the facts about a server's operation, the totals first.
fn served_facts(figures: &ServedFigures) -> Vec<ServedFact> {
    let time = moment(figures.served_ns);
    let [reads, writes, flushes, trims] =
        [figures.reads, figures.writes, figures.flushes, figures.trims].map(count);
    let [read, written] = [figures.read_bytes, figures.written_bytes].map(format_bytes);
    let sum = text!(
        "served {time}: {reads} reads ({read}), {writes} writes ({written}), {flushes} flushes, {trims} trims",
        "公開時間 {time}: 読み出し {reads} 回({read})、書き込み {writes} 回({written})、フラッシュ {flushes} 回、TRIM {trims} 回"
    );
    let mut facts = vec![(Text::default(), sum)];
    let lateness = &figures.lateness;
    if let Some(Slowdown { mean, p50, p99 }) = lateness.slowdown {
        let mean = fixed(mean, 2);
        let [p50, p99] = [p50, p99].map(|times| fixed_if(times, 2));
        let words = text!(
            "took {mean} times as long as in the model (p50 {p50}, p99 {p99})",
            "モデルの {mean} 倍(p50 {p50} 倍、p99 {p99} 倍)"
        );
        facts.push((text!("answers", "応答時間"), words));
    }
    if let Some(share) = lateness.in_time_share {
        let share = fixed(share * 100.0, 1);
        let mean = latency(lateness.mean_service_ns);
        let words = text!(
            "{share} % of answers (late by at most 2 % of the model's time, whose mean is {mean})",
            "{share} %(遅れがモデルの時間の 2 % 以内。モデルの平均は {mean})"
        );
        facts.push((text!("in time", "時間どおり"), words));
        let [p50, p90, p99, p999, most] =
            [lateness.p50_ns, lateness.p90_ns, lateness.p99_ns, lateness.p999_ns, lateness.max_ns]
                .map(latency_ns);
        let words = text!(
            "p50 {p50}, p90 {p90}, p99 {p99}, p99.9 {p999}, at most {most}",
            "p50 {p50}、p90 {p90}、p99 {p99}、p99.9 {p999}、最大 {most}"
        );
        facts.push((text!("late by", "遅れ"), words));
    }
    facts.extend(blame(figures));
    facts.extend(figures.faults.iter().map(|fault| (text!("fault", "故障"), fault_words(fault))));
    facts.extend(figures.cuts.iter().map(|cut| (Text::default(), power_cut(cut))));
    facts
}

/// Returns the facts that show what limited the requests.
fn blame(figures: &ServedFigures) -> Vec<ServedFact> {
    let mut facts = Vec::new();
    if let Some(client) = figures.client {
        let ClientFigures { answers, depth, rate_per_s, model_rate_per_s, limit } = client;
        let (answers, depth) = (count(answers), fixed(depth, 1));
        let [rate, model] = [rate_per_s, model_rate_per_s].map(whole);
        let words = text!(
            "kept {depth} in flight and reached {rate} per second; the model reaches {model} (last \
             {answers} answers)",
            "平均 {depth} で毎秒 {rate} 件。モデルなら毎秒 {model} 件(直近 {answers} 件)"
        );
        facts.push((text!("client", "深さ"), words));
        facts.push((text!("limit", "上限"), limit_words(limit, figures)));
    }
    let (busy, busiest) = (percent(figures.busy_share), percent(figures.busiest_second_share));
    let bound = count(figures.server_bound_seconds);
    let words = text!(
        "busy {busy} of the time, {busiest} in the busiest second; it was the bottleneck for {bound} s",
        "稼働率 {busy}、最も忙しい 1 秒では {busiest}。サーバーが上限だったのは {bound} 秒"
    );
    facts.push((text!("server", "サーバー"), words));
    if figures.refused_connections + figures.slow_connections + figures.errors > 0 {
        let [refused, slow, errors] =
            [figures.refused_connections, figures.slow_connections, figures.errors].map(count);
        let words = text!(
            "{errors} requests refused, {refused} clients too many, {slow} too slow",
            "拒否した要求 {errors} 件、上限超過の接続 {refused} 件、時間切れの接続 {slow} 件"
        );
        facts.push((text!("clients", "接続"), words));
    }
    facts.extend(figures.defect.iter().map(|defect| (Text::default(), defect.clone())));
    facts
}

/// Names the client's bottleneck.
fn limit_words(limit: ServedLimit, figures: &ServedFigures) -> Text {
    let way = latency_ns(figures.round_trip_ns);
    let steal = figures.steal_share.map_or(NONE.to_owned(), percent);
    match limit {
        // The delay caused by a fault counts as device time, although it isn't part of the model.
        ServedLimit::Model if figures.faults.iter().any(|fault| fault.requests > 0) => {
            text!("the model, with its faults", "モデル(故障を含む)")
        }
        ServedLimit::Model => text!("the model", "モデル"),
        ServedLimit::Client => {
            text!("the client, which at times had nothing in flight", "クライアント(要求のない時間あり)")
        }
        ServedLimit::Server => {
            text!("the server, for which requests waited", "サーバー(要求は kurabe の処理待ち)")
        }
        ServedLimit::Way => text!("the round trip ({way})", "サーバーとの往復({way})"),
        ServedLimit::Others => text!(
            "other work on these processors (the hypervisor took {steal})",
            "同じ CPU を使うほかのプログラム(仮想マシンのホストは {steal})"
        ),
    }
}

/// Describes a fault, and how many requests it affected.
fn fault_words(figures: &FaultFigures) -> Text {
    let (fault, requests) = (shown::line(&figures.fault), count(figures.requests));
    let end = if figures.is_lifted { text!(", and was lifted", "(解消済み)") } else { Text::default() };
    text!("{fault}: met {requests} requests{end}", "{fault}: 要求 {requests} 件に影響{end}"; end)
}

/// Describes a power cut, on a separate line.
pub fn power_cut_line(cut: &CutReport) -> Text {
    fact_line((Text::default(), power_cut(cut)))
}

fn power_cut(cut: &CutReport) -> Text {
    let [writes, at_stake, sectors, lost] =
        [cut.acknowledged_writes, cut.writes_at_stake, cut.sectors_at_stake, cut.sectors_lost].map(count);
    text!(
        "power cut after {writes} writes: {at_stake} of them not on the medium yet; {lost} of their \
         {sectors} sectors are lost",
        "{writes} 回の書き込み後に電源断: うち {at_stake} 回が媒体に届いておらず、その {sectors} セクターのうち {lost} を失いました"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(served_ns: u64, answers: u64, mean_real_ns: f64) -> ServedFigures {
        let lateness = Lateness {
            answers,
            in_time_share: Some(0.75),
            p99_ns: 31_000,
            mean_service_ns: 100_000.0,
            mean_real_ns,
            slowdown: Some(Slowdown { mean: mean_real_ns / 1e5, p50: Some(1.01), p99: Some(2.5) }),
            ..Lateness::default()
        };
        ServedFigures { served_ns, lateness, clients: 2, round_trip_ns: 27_400, ..ServedFigures::default() }
    }

    fn assert_says(lines: &[Text], words: &[(&str, &str)]) {
        for (en, ja) in words {
            assert!(lines.iter().any(|line| line.en.contains(en) && line.ja.contains(ja)), "{en}: {lines:?}");
        }
    }

    #[test]
    fn the_first_figure_is_how_long_answers_took_beside_the_model() {
        let mut served = figures(4_000_000_000, 2_000, 125_000.0);
        let lines = served_lines(&served);
        assert!(
            lines[1]
                .en
                .starts_with("  answers   took 1.25 times as long as in the model (p50 1.01, p99 2.50)")
        );
        assert!(lines[1].ja.starts_with("  応答時間  モデルの 1.25 倍(p50 1.01 倍、p99 2.50 倍)"));
        assert_says(&lines, &[("in time   75.0 %", "時間どおり  75.0 %")]);
        assert!(!lines.iter().any(|line| line.en.contains("limit")), "nothing is known of a client");
        let (rate_per_s, model_rate_per_s) = (14_500.0, 99_008.0);
        for (limit, words) in [
            (ServedLimit::Model, ("limit     the model", "上限      モデル")),
            (ServedLimit::Client, ("the client", "クライアント")),
            (ServedLimit::Server, ("the server", "サーバー(")),
            (ServedLimit::Way, ("the round trip (27.4 µs)", "往復(27.4 µs)")),
            (ServedLimit::Others, ("other work on these processors", "ほかのプログラム")),
        ] {
            served.client =
                Some(ClientFigures { answers: 1_023, depth: 31.84, rate_per_s, model_rate_per_s, limit });
            assert_says(&served_lines(&served), &[words]);
        }
        let words = [(
            "kept 31.8 in flight and reached 14,500 per second; the model reaches 99,008",
            "平均 31.8 で毎秒 14,500 件。モデルなら毎秒 99,008 件",
        )];
        assert_says(&served_lines(&served), &words);
    }

    #[test]
    fn the_last_second_stands_beside_the_whole() {
        let line =
            serving_line(&figures(9_000_000_000, 9_000, 110_000.0), &figures(500_000_000, 1_000, 150_000.0));
        assert_says(
            &[line],
            &[
                ("2 clients  depth 0.3  2,000/s", "接続 2  深さ 0.3  毎秒 2,000 件"),
                ("took × 1.50 (1.10)", "1.50 倍(1.10 倍)"),
            ],
        );
    }
}
