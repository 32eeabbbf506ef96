//! Executes commands from outside: figures, changes of the stack, power cuts, and the end.

use super::connection::Peer;
use super::orders::{HubCommand, ServedFigures};
use super::pending::{PendingRequest, Stage};
use super::{Hub, HubParts};
use crate::fault::DeviceFault;
use crate::power::CutReport;
use crate::rehearsal::Rehearsal;
use crate::request::ServeRequest;
use kurabe_core::mention::{LAYER, MODELS_SHOW, POWER_CUTS};
use kurabe_core::{Error, ErrorKind, Result, text};
use kurabe_sim::{Control, Stack};

/// Size of the journals above which entries that a power cut can no longer affect are removed.
pub(super) const JOURNAL_BYTES: u64 = 32 << 20;

impl Hub {
    pub(super) fn obey(&mut self, command: HubCommand) {
        // The sender of a command may no longer wait for the answer.
        match command {
            HubCommand::Measure(socket) => self.welcome_own(socket),
            HubCommand::Kernel(socket, export) => self.welcome_kernel(socket, export),
            HubCommand::Measured(round_trip_ns, answer) => {
                let now_ns = self.now_ns();
                self.parts.request.settings.faults.drain(..).for_each(|fault| self.faults.set(fault, now_ns));
                self.accounts.counts.round_trip_ns =
                    self.parts.request.settings.round_trip_ns.unwrap_or(round_trip_ns);
                self.accounts.counts.request_ns =
                    self.accounts.account.work().0 / self.accounts.own_requests.max(1);
                self.announced = true;
                let _ = answer.send(self.accept_clients());
            }
            HubCommand::Figures(answer) => drop(answer.send((self.figures(), self.rehearsal()))),
            HubCommand::Set(path, value, answer) => {
                let HubParts { request: ServeRequest { spec, .. }, stack, .. } = &mut self.parts;
                // The description is changed as well, for stacks that are built from it later.
                let changed = stack.change(&path, &value).and_then(|()| spec.set(&path, &value));
                drop(answer.send(changed.map(|()| stack.record(spec))));
            }
            HubCommand::Layer(layer, control, answer) => {
                drop(answer.send(self.control_layer(layer.as_deref(), control)));
            }
            HubCommand::Cut(answer) => {
                self.drive_stack();
                drop(answer.send(self.cut_power()));
            }
            HubCommand::CutAfter(writes, answer) => {
                let rules = self.parts.request.settings.power.as_mut().ok_or_else(no_power_cuts);
                let after_writes = self.requests.acknowledged_writes + writes;
                drop(answer.send(rules.map(|rules| rules.after_writes = Some(after_writes))));
            }
            HubCommand::AtCut(work) => self.at_cut = Some(work),
            HubCommand::PowerOn(answer) => {
                self.is_off = false;
                drop(answer.send(Ok(())));
            }
            HubCommand::Fault(fault, answer) => drop(answer.send(self.change_faults(fault))),
            HubCommand::Request(request) => self.take_front_request(request),
            HubCommand::End => self.ended = true,
        }
    }

    /// Controls the layer of this name, or the first layer that supports it.
    fn control_layer(&mut self, layer: Option<&str>, control: Control) -> Result<()> {
        if let Some(layer) = layer {
            return self.parts.stack.control(layer, control);
        }
        let mut names: Vec<String> =
            self.parts.request.spec.all_layers().iter().map(|layer| layer.name.clone()).collect();
        names.dedup();
        if names.iter().any(|name| self.parts.stack.control(name, control).is_ok()) {
            return Ok(());
        }
        let message = match control {
            Control::FailMember(member) | Control::RebuildMember(member, _) => {
                text!("no layer has member {member}", "メンバー {member} を持つ層はありません")
            }
            Control::Wear => text!("no layer models wear", "摩耗する層はありません"),
        };
        Err(ErrorKind::Usage.error(message).remedy(text!(
            "see the layers with `{MODELS_SHOW}`, and select one with {LAYER} NAME",
            "層は `{MODELS_SHOW}` で確認でき、{LAYER} 名前 で指定できます"
        )))
    }

    /// Sets a fault, or lifts all of them and answers the requests that they delayed.
    fn change_faults(&mut self, fault: Option<DeviceFault>) -> Result<()> {
        let now_ns = self.now_ns();
        if let Some(fault) = fault {
            let exports = &self.parts.exports;
            fault.check(exports.len(), exports[0].size_bytes)?;
            self.faults.set(fault, now_ns);
            return Ok(());
        }
        self.faults.lift();
        for (_, operation) in std::mem::take(&mut self.requests.timed) {
            if let Some(PendingRequest { stage: Stage::Held(completion, _), .. }) =
                self.requests.pending.get_mut(&operation)
            {
                completion.due_ns = completion.due_ns.min(now_ns);
            }
            self.held_is_due(operation);
        }
        Ok(())
    }

    pub(crate) fn figures(&self) -> ServedFigures {
        let served_ns = self.now_ns();
        let (busy_ns, busiest_second_share, server_bound_seconds) = self.accounts.account.work();
        ServedFigures {
            served_ns,
            clients: self.clients() as u64,
            lateness: self.accounts.account.lateness(),
            busy_share: busy_ns as f64 / served_ns.max(1) as f64,
            busiest_second_share,
            server_bound_seconds,
            defect: self.parts.stack.check_sound().err().map(|error| error.what().clone()),
            grants: self.clock.grants().clone(),
            data_bytes: self.parts.disks.iter().map(|disk| disk.data.room_bytes()).sum(),
            faults: self.faults.figures(),
            // The figures of clients and of the host are added by a thread with time for it.
            ..self.accounts.counts.clone()
        }
    }

    pub(crate) fn rehearsal(&self) -> Option<Rehearsal> {
        self.accounts.account.rehearsal(
            &self.parts.request.spec,
            self.parts.request.settings.seed,
            self.accounts.counts.round_trip_ns,
        )
    }

    /// Cuts power: stops programs, loses cached writes according to the rules, drops clients, and
    /// restarts the stack.
    pub(super) fn cut_power(&mut self) -> Result<CutReport> {
        let rules = self.parts.request.settings.power.clone().ok_or_else(no_power_cuts)?;
        // Programs stop with the power, before any of their requests fails.
        self.at_cut.iter().for_each(|work| work());
        let clients = self.connections.all.iter().filter(|(_, connection)| connection.peer != Peer::Kernel);
        let clients: Vec<u64> = clients.map(|(id, _)| *id).collect();
        clients.into_iter().for_each(|id| self.drop_connection(id));
        // Jobs of workers are not acknowledged yet, but must not finish after the cut.
        let settled = self.workers.settle();
        let in_flight = self.requests.writes_in_flight();
        let mut report =
            CutReport { acknowledged_writes: self.requests.acknowledged_writes, ..CutReport::default() };
        let at_risk = self.parts.stack.at_risk_by_unit();
        for (disk, at_risk) in self.parts.disks.iter().zip(&at_risk) {
            let cut = disk.with_journal(|journal, data| journal.cut(data, &at_risk.lost, &in_flight, &rules));
            let cut = cut
                .transpose()
                .map_err(|error| Error::os(text!("cannot restore data", "データを戻せません"), &error))?;
            let cut = cut.unwrap_or_default();
            report.writes_at_stake += cut.writes_at_stake;
            report.sectors_at_stake += cut.sectors_at_stake;
            report.sectors_lost += cut.sectors_lost;
        }
        self.drop_front_requests();
        self.requests.clear();
        self.is_off = true;
        // The kernel's connections continue.
        settled.into_iter().for_each(|returned| self.job_returned(returned));
        self.parts.stack = Stack::new(&self.parts.request.spec, self.parts.request.settings.seed)?;
        self.accounts.counts.cuts.push(report);
        Ok(report)
    }

    /// Removes journal entries that a power cut can no longer affect, if the journal is larger than
    /// `most_bytes`.
    pub(super) fn trim_journals(&self, most_bytes: u64) {
        let is_large = |disk: &crate::disk::Disk| {
            disk.with_journal(|journal, _| journal.noted_bytes() > most_bytes).unwrap_or(false)
        };
        if !self.parts.disks.iter().any(|disk| is_large(disk)) {
            return;
        }
        let (at_risk, in_flight) = (self.parts.stack.at_risk_by_unit(), self.requests.writes_in_flight());
        for (disk, at_risk) in self.parts.disks.iter().zip(&at_risk) {
            disk.with_journal(|journal, _| journal.forget(&at_risk.lost, &in_flight));
        }
    }
}

fn no_power_cuts() -> Error {
    ErrorKind::Usage
        .error(text!(
            "this server does not keep the data that a power cut needs",
            "このサーバーは電源断に備えた記録をしていません"
        ))
        .remedy(text!("start it with {POWER_CUTS}", "{POWER_CUTS} を付けて起動してください"))
}
