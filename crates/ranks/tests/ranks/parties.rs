//! Ranks that work together, and ranks that fail.

use crate::threads::{Thread, ranks};
use kurabe_core::company::Company;
use kurabe_core::event::Event;
use kurabe_core::record::{Cell, Notice, NoticeKind, RanksRecord, Repetition, RunHeader, RunRecord};
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_ranks::{Communicator, Party};
use std::sync::Mutex;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(30);

/// Result of a rank: its recorded events, its outcome, the start of each repetition by its own
/// clock, and the description of all ranks.
type Came = (Vec<Event>, Result<bool>, Vec<u64>, Option<RanksRecord>);

/// Runs a session of a cell with three repetitions; `before` may end it before one of them.
fn session(party: &Party<'_>, thread: &Thread, before: impl Fn(u32) -> Result<()>) -> Came {
    let mut events = Vec::new();
    let mut begins = Vec::new();
    let run = |events: &mut Vec<Event>, begins: &mut Vec<u64>| -> Result<()> {
        let run_started_ns = thread.now_ns();
        for index in 0..3 {
            before(index)?;
            let begin_ns = party.meet(run_started_ns)?;
            begins.push(begin_ns);
            while thread.now_ns() < begin_ns {
                std::thread::yield_now();
            }
            if index == 0 {
                events.extend(party.hear(Event::CellBegun { cell: Box::default() })?);
            }
            let repetition = Repetition {
                index,
                started_ns: begin_ns - run_started_ns,
                elapsed_ns: 1000,
                ..Repetition::default()
            };
            let done = Event::RepetitionDone { cell_index: 0, repetition: Box::new(repetition) };
            events.extend(party.hear(done)?);
        }
        let one = Cell { repetitions: vec![Repetition::default(); 3], ..Cell::default() };
        events.extend(party.hear(Event::CellDone { cell: Box::new(one) })?);
        Ok(())
    };
    let greeted = party.greet(&RunHeader::default(), None, 0);
    let mut record = None;
    let outcome = greeted.and_then(|(ranks, _)| {
        record = ranks;
        run(&mut events, &mut begins)
    });
    let (last, ended) = party.finish(outcome);
    events.extend(last);
    party.dismiss(true);
    (events, ended, begins, record)
}

fn record_of(events: &[Event]) -> RunRecord {
    let mut record = RunRecord::default();
    events.iter().for_each(|event| record.apply(event));
    record
}

fn full() -> Error {
    ErrorKind::NoSpace.error(text!("the disk is full", "空き容量がありません"))
}

fn ranks_of(record: &RunRecord) -> Vec<Vec<u32>> {
    let ranks = |repetition: &Repetition| {
        repetition.ranks.as_ref().unwrap().shares.iter().map(|share| share.rank).collect()
    };
    record.cells[0].repetitions.iter().map(ranks).collect()
}

#[test]
fn all_begin_at_one_time_and_rank_0_keeps_the_record_of_all() {
    let shifts_ns = [0, 5_000_000, 40_000_000, 0];
    let came = ranks(&shifts_ns, LONG, |party, thread| session(party, thread, |_| Ok(())));
    let record = record_of(&came[0].0);
    assert_eq!(ranks_of(&record), vec![vec![0, 1, 2, 3]; 3]);
    assert_eq!(record.cells[0].repetitions.len(), 3);
    let places = &came[0].3.as_ref().unwrap().ranks;
    for (((_, ended, begins, _), shift_ns), place) in came.iter().zip(shifts_ns).zip(places) {
        assert!(ended.is_ok() && begins.len() == 3, "{ended:?}");
        for (own_ns, of_0_ns) in begins.iter().zip(&came[0].2) {
            assert!(
                (own_ns - shift_ns).abs_diff(*of_0_ns) <= place.clock_bound_ns,
                "{own_ns} {of_0_ns} {place:?}"
            );
        }
    }
    assert!(!came[0].1.as_ref().unwrap() && came[1..].iter().all(|rank| *rank.1.as_ref().unwrap()));
}

#[test]
fn a_shifted_clock_is_seen_within_its_bound() {
    let tell = |party: &Party<'_>, _: &Thread| {
        let (record, _) = party.greet(&RunHeader::default(), None, 0).unwrap();
        let _ = party.finish(Ok(()));
        party.dismiss(true);
        record
    };
    let record = ranks(&[0, 5_000_000], LONG, tell).swap_remove(0).unwrap();
    let place = record.ranks[1];
    assert!((place.clock_offset_ns + 5_000_000).unsigned_abs() <= place.clock_bound_ns, "{place:?}");
    assert_eq!(record.hosts.len(), 1);
}

#[test]
fn a_rank_that_fails_is_named_and_the_others_go_on() {
    let came = ranks(&[0; 4], LONG, |party, thread| {
        session(party, thread, |index| if thread.rank() == 2 && index == 1 { Err(full()) } else { Ok(()) })
    });
    let record = record_of(&came[0].0);
    assert_eq!(ranks_of(&record), [vec![0, 1, 2, 3], vec![0, 1, 3], vec![0, 1, 3]]);
    let error = came[0].1.as_ref().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RankLost);
    assert_eq!(error.what().en, "rank 2 on host1: the disk is full");
    assert!(record.notices.iter().any(|notice| notice.text.en.contains("rank 2 on host1: the disk is full")));
    assert!(came[1..].iter().all(|rank| *rank.1.as_ref().unwrap()));
}

#[test]
fn rank_0_leads_the_others_to_their_end_when_its_own_storage_fails() {
    let came = ranks(&[0; 3], LONG, |party, thread| {
        session(party, thread, |index| if thread.rank() == 0 && index == 1 { Err(full()) } else { Ok(()) })
    });
    let record = record_of(&came[0].0);
    assert_eq!(ranks_of(&record), [vec![0, 1, 2], vec![1, 2], vec![1, 2]]);
    assert_eq!(came[0].1.as_ref().unwrap_err().kind(), ErrorKind::NoSpace);
    assert_eq!(record.cells[0].repetitions.len(), 3);
}

#[test]
fn a_rank_without_a_sign_is_lost_and_keeps_what_it_has() {
    let patience = Duration::from_millis(300);
    let came = ranks(&[0; 3], patience, |party, thread| {
        session(party, thread, |index| {
            if thread.rank() == 1 && index == 1 {
                std::thread::sleep(patience * 8);
            }
            Ok(())
        })
    });
    let record = record_of(&came[0].0);
    assert_eq!(ranks_of(&record), [vec![0, 1, 2], vec![0, 2], vec![0, 2]]);
    assert!(came[0].1.as_ref().unwrap_err().what().en.contains("rank 1 on host0: did not respond"));
    assert!(!came[1].1.as_ref().unwrap_or(&false), "no rank has its results");
    assert!(came[2].1.as_ref().unwrap());
}

#[test]
fn a_rank_that_does_something_else_is_left_out() {
    let came = ranks(&[0; 3], LONG, |party, thread| {
        session(party, thread, |index| {
            if thread.rank() == 1 && index == 2 {
                party.hear(Event::CellDone { cell: Box::default() })?;
            }
            Ok(())
        })
    });
    assert_eq!(ranks_of(&record_of(&came[0].0)), [vec![0, 1, 2], vec![0, 1, 2], vec![0, 2]]);
    assert!(came[0].1.as_ref().unwrap_err().what().en.contains("rank 1 on host0: does not do the same work"));
}

#[test]
fn what_all_remark_is_said_once() {
    let heard = Mutex::new(Vec::new());
    let came = ranks(&[0; 3], LONG, |party, thread| {
        session(party, thread, |_| {
            let bound = Notice::new(NoticeKind::GeneratorBound, text!("kurabe was the limit", "上限でした"));
            let own = Notice::new(NoticeKind::Noise, text!("noise {}", "外乱 {}", thread.rank()));
            for notice in [bound, own] {
                let events = party.hear(Event::Notice { notice })?;
                if party.leads() {
                    heard.lock().unwrap().extend(events);
                }
            }
            Ok(())
        })
    });
    let events = [heard.into_inner().unwrap(), came[0].0.clone()].concat();
    let texts: Vec<String> = record_of(&events).notices.into_iter().map(|notice| notice.text.en).collect();
    assert!(texts.len() == 1 && texts[0].ends_with("kurabe was the limit"), "{texts:?}");
}
