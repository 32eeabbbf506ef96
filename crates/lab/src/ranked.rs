//! Runs of several processes: each opens its part, and rank 0 stores the combined record.
//!
//! Every rank has a store, so that files are listed before they exist, and results survive the loss
//! of rank 0. The store of another rank is empty once rank 0 has everything.

use crate::journal::{Journal, Lab};
use crate::open::{Done, Open, OpenTarget};
use crate::prepared::Prepared;
use crate::stores::StorePlace;
use kurabe_core::event::Event;
use kurabe_core::record::{RankLayout, TargetKind};
use kurabe_core::{ErrorKind, Result, text};
use kurabe_engine::OthersFile;
use kurabe_ranks::{Party, check_parts};
use std::path::Path;
use std::path::PathBuf;

impl StorePlace {
    /// Returns the place of the store of a rank other than 0, next to that of rank 0.
    ///
    /// # Errors
    /// When no environment variable determines the default store.
    pub fn of_rank(&self, rank: u32) -> Result<Self> {
        let path = self.path()?;
        if let (None, Some(folder)) = (&self.0, path.parent()) {
            // Creates the folder of a default store. If this fails, opening the store reports it.
            let _ = std::fs::create_dir_all(folder);
        }
        let mut name = path.into_os_string();
        name.push(format!(".rank{rank}"));
        Ok(PathBuf::from(name).into())
    }

    /// Removes the store of a rank if it contains no runs.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn remove_if_empty(&self) -> Result<()> {
        let Some(store) = self.existing()? else { return Ok(()) };
        if !store.made_files()?.is_empty() || !store.list()?.is_empty() {
            return Ok(());
        }
        drop(store);
        let path = self.path()?;
        for end in ["", "-journal"] {
            let mut name = path.clone().into_os_string();
            name.push(end);
            // The remains of an empty store only occupy space.
            let _ = std::fs::remove_file(name);
        }
        Ok(())
    }
}

impl Prepared {
    /// Opens this rank's part of a run, and waits for the others.
    ///
    /// # Errors
    /// As [`Prepared::open`]; when the run does not support several ranks; `RankLost` when rank 0
    /// does not respond.
    pub fn open_among<'a>(mut self, lab: &Lab<'a>, party: &'a Party<'a>) -> Result<Open<'a>> {
        self.check_among(party)?;
        let is_common =
            party.plan().layout != RankLayout::Own && self.target().path().is_some_and(Path::is_dir);
        if is_common {
            let others = match party.leads() {
                true => None,
                false => Some(party.common_file(None)?)
                    .map(|(path, inode)| OthersFile { path: path.into(), inode }),
            };
            self.parts = (party.size(), others);
        }
        let mut open = self.open(lab)?;
        open.party = Some(party);
        match open.greet(party, is_common) {
            Ok(()) => Ok(open),
            Err(error) => {
                let Open { mut journal, ground, .. } = open;
                journal.left(ground.close())?;
                journal.discard()?;
                Err(error)
            }
        }
    }

    /// Refuses what several processes cannot do together, and removes the limits that could end the
    /// writing of one rank's test file early.
    fn check_among(&mut self, party: &Party<'_>) -> Result<()> {
        let request = &self.request;
        if self.is_modelled() || request.verify || request.reads_back || request.kernel_trace {
            return Err(ErrorKind::Unsupported.error(text!(
                "several ranks can measure only real targets, and cannot verify writes or trace the kernel",
                "複数ランクで測れるのは実際の対象だけで、書き込みの検証やカーネルのトレースはできません"
            )));
        }
        check_parts(&self.plan.profile, party.plan().layout)?;
        let rules = &mut self.plan.profile.rules;
        (rules.fill_time_limit_ns, rules.size_at_least_bytes) = (None, None);
        Ok(())
    }
}

impl Open<'_> {
    fn greet(&mut self, party: &Party<'_>, is_common: bool) -> Result<()> {
        let OpenTarget::Real(target) = &mut self.ground else { return Ok(()) };
        let own = target.for_others()?.map(|OthersFile { path, inode }| (path.display().to_string(), inode));
        if is_common && party.leads() {
            party.common_file(own.clone())?;
        }
        if party.plan().layout != RankLayout::Own && target.facts().kind != TargetKind::Directory {
            // An existing file or device is divided among the ranks.
            let span_bytes = target.facts().span_bytes / u64::from(party.size().max(1));
            target.narrow(span_bytes - span_bytes % u64::from(target.facts().alignment_bytes.max(1)));
        }
        let (record, others) = party.greet(&self.journal.record.header, own, target.facts().span_bytes)?;
        if let Some((path, inode)) = others {
            target.read_from(&OthersFile { path: path.into(), inode })?;
        }
        self.journal.record.header.target = Some(target.facts().clone());
        self.journal.record.header.ranks = record.map(Box::new);
        self.journal.describe(&[])
    }
}

impl Journal<'_> {
    /// Stores and reports an event. With other ranks, stores and reports the combined events that
    /// result from it.
    pub(crate) fn tell_among(&mut self, party: Option<&Party<'_>>, event: Event) -> Result<()> {
        match party {
            None => self.tell(event),
            Some(party) => party.hear(event)?.into_iter().try_for_each(|event| self.tell(event)),
        }
    }

    /// Waits for the other ranks, if any. Returns how the combined run ended, and whether this is a
    /// part whose record rank 0 stores.
    pub(crate) fn end_among(&mut self, party: Option<&Party<'_>>, outcome: Result<()>) -> (Result<()>, bool) {
        let Some(party) = party else { return (outcome, false) };
        let (events, ended) = party.finish(outcome);
        let noted = events.into_iter().try_for_each(|event| self.tell(event));
        match ended {
            Ok(is_part) => (noted, is_part),
            Err(error) => (Err(error), false),
        }
    }

    /// Closes a part whose record rank 0 stores, after its files were removed.
    pub(crate) fn end_as_part(self, left: Result<()>) -> Done {
        let discarded = self.discard();
        let (id, outcome) = (self.id().to_owned(), left.and(discarded));
        Done { id, record: None, rescued: None, writes: None, read_back: None, outcome }
    }
}
