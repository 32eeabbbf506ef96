//! Progress on an in-memory terminal and in a pipe.

use super::terminal::Terminal;
use super::{LiveLine, Mode, Progress, StudyProgress};
use indicatif::{ProgressDrawTarget, TermLike};
use kurabe_core::event::Event;
use kurabe_core::record::{FillRecord, Interval, Notice, NoticeKind, RunRecord, RunStatus};
use kurabe_core::{Lang, text};
use kurabe_doc::Style;
use kurabe_testkit::{kinds, ssd};
use std::io::Write;
use std::sync::{Arc, Mutex};

/// Returns the events of a run's first cell up to its last interval, and the events after that.
fn events(record: &RunRecord) -> (Vec<Event>, Vec<Event>) {
    let cell = record.cells[0].clone();
    let mut before = vec![
        Event::RunStarted {
            header: Box::new(record.header.clone()),
            cell_count: 8,
            planned_write_bytes: Some(2_000_000_000),
            planned_write_ns: Some(80_000_000_000),
            planned_ns: Some(120_000_000_000),
        },
        Event::FillProgress { done_bytes: 1 << 29, total_bytes: 1 << 30 },
        Event::FillDone {
            fill: FillRecord { asked_bytes: 1 << 30, written_bytes: 1 << 30, elapsed_ns: 1_000_000_000 },
        },
        Event::Notice { notice: record.notices[0].clone() },
        Event::RepetitionStarted {
            cell_index: 0,
            label: cell.label.clone(),
            direction: cell.direction,
            repetition_index: 1,
            repetition_count: 3,
            discarded: false,
        },
    ];
    for number in 0..20u64 {
        before.push(Event::Progress {
            elapsed_ns: (number + 1) * 100_000_000,
            interval: Interval { read_bytes: 691_120_000, ..Interval::default() },
            interval_ns: 100_000_000,
        });
    }
    let after = vec![
        Event::RepetitionDone { cell_index: 0, repetition: Box::new(cell.repetitions[0].clone()) },
        Event::CellDone { cell: Box::new(cell) },
        Event::RunDone {
            status: RunStatus::Interrupted,
            ended_at: "2026-02-03T12:40:00Z".into(),
            error: None,
        },
    ];
    (before, after)
}

fn style(lang: Lang, width: usize) -> Style {
    Style { lang, color: false, width }
}

#[derive(Clone, Default)]
struct Pipe(Arc<Mutex<Vec<u8>>>);

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn snapshot(name: &str, text: &str) {
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn a_pipe_gets_lines_without_control_characters() {
    for (lang, name) in [(Lang::En, "plain_en"), (Lang::Ja, "plain_ja")] {
        let pipe = Pipe::default();
        let mut progress =
            Progress::on(LiveLine::in_lines(style(lang, 100), Mode::Plain, Box::new(pipe.clone())))
                .with_headline(|_| ssd::headline());
        let (before, after) = events(&ssd::run());
        before.iter().chain(&after).for_each(|event| progress.on_event(event));
        drop(progress);
        let text = String::from_utf8(pipe.0.lock().unwrap().clone()).unwrap();
        assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
        snapshot(name, &text);
    }
}

#[test]
fn a_terminal_shows_a_live_line_and_is_left_clean() {
    for (lang, name) in [(Lang::En, "terminal_en"), (Lang::Ja, "terminal_ja")] {
        let terminal = Terminal::new(20, 100);
        let style = Style { lang, color: false, width: usize::from(terminal.width()) };
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 255);
        let mut progress =
            Progress::on(LiveLine::on_terminal(style, target)).with_headline(|_| ssd::headline());
        let (before, after) = events(&ssd::run());
        before[..2].iter().for_each(|event| progress.on_event(event));
        assert!(terminal.contents().contains("512.00 MiB / 1.00 GiB"), "{}", terminal.contents());
        for event in &before[2..] {
            // The live line is redrawn at a limited rate.
            std::thread::sleep(std::time::Duration::from_millis(10));
            progress.on_event(event);
        }
        snapshot(&format!("{name}_live"), &terminal.contents());
        after.iter().for_each(|event| progress.on_event(event));
        drop(progress);
        snapshot(&format!("{name}_end"), &terminal.contents());
    }
}

#[test]
fn the_time_left_is_seen_in_any_width() {
    for (lang, left) in [(Lang::En, "1:58 left"), (Lang::Ja, "残り 1:58")] {
        for width in [40, 60, 80] {
            let terminal = Terminal::new(30, width);
            let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 255);
            let mut progress = Progress::on(LiveLine::on_terminal(style(lang, usize::from(width)), target));
            let (mut before, _) = events(&ssd::run());
            for event in &mut before {
                if let Event::RepetitionStarted { label, discarded, .. } = event {
                    *label = "SEQ 1 MiB Q8 T1 in the last GiB".to_owned();
                    *discarded = true;
                }
            }
            for event in &before {
                std::thread::sleep(std::time::Duration::from_millis(10));
                progress.on_event(event);
            }
            let live = terminal.contents().lines().last().unwrap_or_default().to_owned();
            assert!(live.starts_with("[1/8]") && live.ends_with(left), "{width}: {live}");
        }
    }
}

#[test]
fn dropped_in_the_middle_it_clears_its_line() {
    let terminal = Terminal::new(20, 100);
    let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 255);
    let mut progress = Progress::on(LiveLine::on_terminal(style(Lang::En, 100), target));
    let (before, _) = events(&ssd::run());
    before.iter().for_each(|event| progress.on_event(event));
    assert!(terminal.contents().contains("[1/8]"));
    drop(progress);
    assert!(!terminal.contents().contains("[1/8]"), "{}", terminal.contents());
}

#[test]
fn rounds_and_preparations_are_told_line_by_line() {
    let record = kinds::run_steady();
    let what = text!("writing the whole target twice", "対象全体に 2 回書き込んでいます");
    let round = |round_index: u32, window: Option<(f64, f64)>| Event::RoundDone {
        round_index,
        round_count: 10,
        steady: round_index == 7,
        excursion_percent: window.map(|window| window.0),
        slope_percent: window.map(|window| window.1),
    };
    let events = [
        Event::RunStarted {
            header: Box::new(record.header.clone()),
            cell_count: 6,
            planned_write_bytes: Some(34_000_000_000),
            planned_write_ns: None,
            planned_ns: None,
        },
        Event::Preparing { what: what.clone() },
        // A repeated event is not shown again.
        Event::Preparing { what },
        Event::CellBegun { cell: Box::new(record.cells[5].clone()) },
        round(0, None),
        round(6, Some((41.2, 23.9))),
        round(7, Some((9.6, 8.1))),
        Event::CellDone { cell: Box::new(record.cells[5].clone()) },
    ];
    for (lang, name) in [(Lang::En, "rounds_en"), (Lang::Ja, "rounds_ja")] {
        let pipe = Pipe::default();
        let mut progress =
            Progress::on(LiveLine::in_lines(style(lang, 80), Mode::Plain, Box::new(pipe.clone())));
        events.iter().for_each(|event| progress.on_event(event));
        drop(progress);
        snapshot(name, &String::from_utf8(pipe.0.lock().unwrap().clone()).unwrap());
    }
}

#[test]
fn quiet_shows_the_programs_that_are_going_to_run_and_nothing_else() {
    let record = ssd::run();
    let (before, after) = events(&record);
    let programs = Event::Programs {
        prepare: vec!["git init --quiet /t/work".into(), "sleep 1\u{1b}[31m".into()],
        command: "git -C /t/work pull".into(),
        restore: vec!["git -C /t/work reset".into()],
        cleanup: Vec::new(),
    };
    let shown = |lang| {
        let pipe = Pipe::default();
        let mut progress =
            Progress::on(LiveLine::in_lines(style(lang, 80), Mode::Quiet, Box::new(pipe.clone())));
        before.iter().chain([&programs]).chain(&after).for_each(|event| progress.on_event(event));
        drop(progress);
        String::from_utf8(pipe.0.lock().unwrap().clone()).unwrap()
    };
    let lines = "kurabe: programs that prepare: git init --quiet /t/work; sleep 1\\x1b[31m\n\
                 kurabe: timed program: git -C /t/work pull\n\
                 kurabe: programs after each repetition: git -C /t/work reset\n";
    assert_eq!(shown(Lang::En), lines);
    assert!(shown(Lang::Ja).contains("kurabe: 計時するプログラム: git -C /t/work pull\n"));
}

#[test]
fn only_quiet_prints_nothing() {
    for (mode, is_silent) in [(Mode::Quiet, true), (Mode::Plain, false)] {
        let pipe = Pipe::default();
        let live = LiveLine::in_lines(style(Lang::En, 80), mode, Box::new(pipe.clone()));
        let mut progress = Progress::on(live);
        let (before, after) = events(&ssd::run());
        before.iter().chain(&after).for_each(|event| progress.on_event(event));
        drop(progress);
        assert_eq!(pipe.0.lock().unwrap().is_empty(), is_silent);
    }
}

#[test]
fn a_study_tells_how_many_of_its_models_are_computed_and_leaves_nothing() {
    let terminal = Terminal::new(10, 80);
    let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 255);
    let live = LiveLine::on_terminal(Style::default(), target);
    let mut progress = StudyProgress::on("scsi-emulators", 48, live);
    progress.begin("henkan-bancho");
    progress.done();
    progress.begin(&"a very long name of a model ".repeat(8));
    progress.done();
    std::thread::sleep(std::time::Duration::from_millis(20));
    progress.done();
    let line = terminal.contents();
    assert!(line.starts_with("scsi-emulators 3/48 ") && line.contains("a very long"), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    drop(progress);
    assert_eq!(terminal.contents(), "");
    let mut quiet = StudyProgress::on("scsi-emulators", 48, LiveLine::new(Style::default(), Mode::Plain));
    quiet.begin("henkan-bancho");
    quiet.done();
}

#[test]
fn progress_tells_noise_once_and_not_at_all_above_the_result() {
    for (is_above, count) in [(false, 1), (true, 0)] {
        let pipe = Pipe::default();
        let mut progress =
            Progress::on(LiveLine::in_lines(style(Lang::En, 100), Mode::Plain, Box::new(pipe.clone())))
                .above_result(is_above);
        for place in 0..3 {
            let text =
                text!("others wrote a little during test {place}", "項目 {place} の間に書き込みがありました");
            progress.on_event(&Event::Notice { notice: Notice::new(NoticeKind::Noise, text) });
        }
        drop(progress);
        let text = String::from_utf8(pipe.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.matches("noise: ").count(), count, "{text}");
    }
}
