//! Progress of an interleaved measurement on standard error: settled comparisons stay, and the
//! current work is one live line.

use super::forecast::forecast_words;
use super::{Activity, LiveLine, Mentions, Mode};
use kurabe_core::foreseen::LongestTime;
use kurabe_core::mention::{PROFILE, REPETITION, SHOW, TIME};
use kurabe_core::quantity::{NS_PER_S, format_bytes, format_time_setting};
use kurabe_core::record::{Notice, NoticeKind, RunHeader, VersusRecord};
use kurabe_core::{Text, event::Event, number, shown, text, workload::Direction};
use kurabe_doc::Style;
use kurabe_lab::versus::TooShort;
use kurabe_lab::{Envelope, StreamEvent, VersusEvent};
use kurabe_report::verdict_words;
use kurabe_report::words::{self, program_lines};
use kurabe_stats::Blocked;
use std::collections::{BTreeMap, BTreeSet};

/// Shows the progress of an interleaved measurement.
pub struct VersusProgress {
    live: LiveLine,
    /// The remaining part of the time limit, based on the repetitions so far. `None` if no limit
    /// applies to the time on the targets.
    left_ns: Option<u64>,
    /// Display names of the sides, by run id: variants by their differences, targets by their
    /// names.
    names: BTreeMap<String, String>,
    /// Models measured alongside real targets. Their time doesn't count.
    computed: BTreeSet<String>,
    blocks: u32,
    settled: (usize, usize),
    mentions: Mentions,
    /// Number of noise notices that were not shown, and the runs that they concern.
    noise_more: u32,
    noisy: BTreeSet<String>,
}

impl VersusProgress {
    /// Shows progress on standard error. A live line needs a terminal. Otherwise only lines are
    /// written.
    pub fn new(style: Style, mode: Mode) -> Self {
        Self {
            live: LiveLine::new(style, mode),
            left_ns: None,
            names: BTreeMap::new(),
            computed: BTreeSet::new(),
            blocks: 0,
            settled: (0, 0),
            mentions: Mentions::default(),
            noise_more: 0,
            noisy: BTreeSet::new(),
        }
    }

    /// Shows what will be measured: the runs, baseline first, with the text in parentheses behind
    /// their targets. `repetition_ns` is the shortest and the usual time of a repetition, if that is set.
    pub fn start(&mut self, runs: &[(RunHeader, Text)], limit: LongestTime, repetition_ns: Option<[u64; 2]>) {
        self.left_ns = match limit {
            LongestTime::Measuring(time_ns) => Some(time_ns),
            LongestTime::Computing(_) => None,
        };
        let models = runs.iter().filter(|(header, _)| header.model.is_some());
        if runs.iter().any(|(header, _)| header.model.is_none()) {
            self.computed = models.map(|(header, _)| header.id.clone()).collect();
        }
        let targets: BTreeSet<&str> = runs.iter().map(|(header, _)| header.target_name()).collect();
        for (index, (header, headline)) in runs.iter().enumerate() {
            let role = if index == 0 { self.live.style.pick(" · baseline", " · 基準") } else { "" };
            let headline = match self.live.say(headline) {
                words if words.is_empty() => String::new(),
                words => format!(" ({words})"),
            };
            let variant = header.versus.as_ref().and_then(VersusRecord::variant);
            let target = Some(header.target_name()).filter(|_| targets.len() == runs.len());
            if let Some(name) = variant.or(target) {
                self.names.insert(header.id.clone(), shown::line(name));
            }
            let variant = variant.map(|name| format!(" · {}", shown::line(name))).unwrap_or_default();
            let name = shown::line(header.target_name());
            self.live.paragraph(&format!("{} · {name}{variant}{headline}{role}", header.id));
        }
        let Some((header, _)) = runs.first() else { return };
        let profile = header.profile_name();
        let seed = header.versus.as_ref().map_or(0, |versus| versus.order_seed);
        let end = match self.left_ns.map(|time_ns| number::time_words(&number::long_time(time_ns))) {
            Some(most) => text!("at most {most}", "最長 {most}"; most),
            None => text!("as many as needed", "回数は必要なだけ"),
        };
        let once = repetition_ns.map(|range_ns| match range_ns.map(number::planned_time) {
            [shortest, usual] if shortest == usual => {
                text!("{usual} per repetition, ", "1 回 {usual}、"; usual)
            }
            [shortest, usual] => text!(
                "{shortest} to {usual} per repetition, ",
                "1 回 {shortest}〜{usual}、";
                shortest, usual
            ),
        });
        let once = once.unwrap_or_default();
        self.live.paragraph(&self.live.say(&text!(
            "profile {profile}, {once}{end} · order seed {seed}",
            "プロファイル {profile}、{once}{end} · 順番のシード {seed}";
            once, end
        )));
    }

    /// Shows a run that takes part.
    pub(super) fn join(&mut self, header: &RunHeader, headline: &Text) {
        let name = shown::line(header.target_name());
        self.names.insert(header.id.clone(), name.clone());
        let (id, headline) = (&header.id, self.live.say(headline));
        self.live.paragraph(&format!("{id} · {name} ({headline})"));
    }

    /// Shows an event.
    pub fn on_envelope(&mut self, envelope: &Envelope) {
        match &envelope.event {
            StreamEvent::Run(event) => self.on_event(&envelope.run, event),
            StreamEvent::Versus(VersusEvent::VersusSettled { label, direction, other, blocked }) => {
                self.settled(label, *direction, other, blocked);
            }
            StreamEvent::Versus(VersusEvent::VersusBlocks { blocks, settled, comparisons }) => {
                (self.blocks, self.settled) = (*blocks, (*settled, *comparisons));
            }
            StreamEvent::Versus(VersusEvent::VersusForecast { time_ns, margin, cells }) => {
                if let Some(words) = forecast_words(*time_ns, *margin, cells) {
                    self.live.paragraph(&self.live.say(&words));
                }
            }
            StreamEvent::Point(_) => {}
        }
    }

    /// Shows an event of the run with this id.
    fn on_event(&mut self, run: &str, event: &Event) {
        match event {
            Event::RepetitionDone { repetition, .. } => {
                if let Some(left_ns) = self.left_ns.as_mut().filter(|_| !self.computed.contains(run)) {
                    *left_ns = left_ns.saturating_sub(repetition.elapsed_ns);
                }
            }
            Event::Notice { notice } => {
                if let Some(words) = self.notice(run, notice) {
                    self.live.paragraph(&words);
                }
            }
            Event::FillProgress { done_bytes, total_bytes } => {
                let (done, total) = (format_bytes(*done_bytes), format_bytes(*total_bytes));
                self.live.show_words(&self.live.say(&text!(
                    "{run}: writing the test file, {done} of {total}",
                    "{run}: テストファイルを書き込み中 {done} / {total}"
                )));
            }
            Event::Programs { .. } => {
                for words in program_lines(event) {
                    self.live.always(&words.map(|words| format!("{run}: {words}")));
                }
            }
            Event::Preparing { what } => self.live.show_words(&format!("{run}: {}", self.live.say(what))),
            Event::RepetitionStarted { label, direction, .. } => {
                let name = self.live.say(&words::directed(*direction, &shown::line(label).into()));
                let name = name.trim();
                let (block, (settled, all)) = (self.blocks + 1, self.settled);
                let left = self.left_ns.map(number::clock);
                let left = left.map(|left| text!("at most {left} left", "残り最大 {left}"));
                let clear = text!("{settled} of {all} decided", "{all} 項目中 {settled} 項目が確定");
                let facts = (all > 0).then(|| self.live.say(&clear)).into_iter().collect();
                let run = self.called(run);
                let words = text!("from block {block} · {run} {name}", "ブロック {block}〜 · {run} {name}");
                self.live.show(&Activity { facts, left, ..Activity::named(self.live.say(&words)) });
            }
            _ => {}
        }
    }

    /// Shows that the comparison of a cell is settled.
    fn settled(&mut self, label: &str, direction: Option<Direction>, other: &str, blocked: &Blocked) {
        let name = self.live.say(&words::directed(direction, &shown::line(label).into()));
        let blocks = 2 * blocked.course.block_pairs;
        let (_, verdict) = verdict_words(&blocked.compared);
        let other = self.called(other);
        let words = text!(
            "decided after {blocks} blocks: {name} · {other}: {verdict}",
            "{blocks} ブロックで確定: {name} · {other}: {verdict}";
            verdict
        );
        self.live.paragraph(&self.live.say(&words));
    }

    /// Returns the display name of a side, or its id if the target doesn't distinguish it from the
    /// others.
    fn called<'n>(&'n self, run: &'n str) -> &'n str {
        self.names.get(run).map_or(run, String::as_str)
    }

    /// Clears the live line and shows the number of suppressed notices.
    pub fn finish(&mut self) {
        if let Some(words) = self.more_noise() {
            self.live.paragraph(&words);
        }
        self.live.finish();
    }

    /// Returns the text of a notice, or `None` if it is only counted.
    fn notice(&mut self, run: &str, notice: &Notice) -> Option<String> {
        let words = self.live.say(&notice.text);
        // A notice that applies to all targets is shown once.
        if !self.mentions.is_new(&words) {
            return None;
        }
        if !self.mentions.is_first(notice.kind) {
            self.noise_more += 1;
            self.noisy.insert(run.to_owned());
            return None;
        }
        Some(format!("{} ({run}): {words}", self.live.say(&words::notice(notice.kind))))
    }

    /// Returns the number of suppressed noise notices as text, and resets it.
    fn more_noise(&mut self) -> Option<String> {
        let more = std::mem::take(&mut self.noise_more);
        let shown = self.noisy.iter().map(|run| format!("`{SHOW} {run}`")).collect::<Vec<_>>().join(", ");
        let kind = self.live.say(&words::notice(NoticeKind::Noise));
        let words = text!(
            "{kind}: {more} more such notices in {shown}",
            "{kind}: 同様の注意がほかに {more} 件({shown})"
        );
        (more > 0).then(|| self.live.say(&words))
    }
}

/// Warns before a measurement whose time is too short for a verdict.
pub fn too_short(short: &TooShort) -> Text {
    let (blocks, fewest) = (short.blocks, short.fewest);
    let needed = format_time_setting(short.needed_ns.next_multiple_of(NS_PER_S));
    text!(
        "kurabe: the time allows about {blocks} blocks, but a verdict needs {fewest}; use {TIME} {needed}, \
         fewer tests ({PROFILE}), or a shorter {REPETITION}",
        "kurabe: この時間では約 {blocks} ブロックしか測れず、{fewest} ブロックまでは何も判断できません。{TIME} {needed} にするか、\
         項目の少ない {PROFILE}、または短い {REPETITION} を指定してください"
    )
}

impl Drop for VersusProgress {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::Lang;

    #[test]
    fn of_a_busy_machine_one_remark_is_told_and_the_others_are_counted() {
        let style = Style { lang: Lang::En, color: false, width: 80 };
        let mut progress = VersusProgress::new(style, Mode::Quiet);
        let mut lines = Vec::new();
        for (run, kind, words) in [
            ("7kq", NoticeKind::Noise, "others kept 1.9 CPUs busy"),
            ("9mz", NoticeKind::Noise, "others kept 1.7 CPUs busy"),
            ("9mz", NoticeKind::CacheDrop, "not allowed"),
            ("7kq", NoticeKind::CacheDrop, "not allowed"),
            ("9mz", NoticeKind::Noise, "others read 3 MB"),
        ] {
            lines.extend(progress.notice(run, &Notice::new(kind, Text::same(words))));
        }
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(
            lines[0].ends_with("(7kq): others kept 1.9 CPUs busy") && lines[1].contains("(9mz)"),
            "{lines:?}"
        );
        let more = progress.more_noise().unwrap();
        assert!(more.ends_with(": 2 more such notices in `kurabe show 9mz`"), "{more}");
        assert_eq!(progress.more_noise(), None);
    }
}
