//! The interface of a layer.
//!
//! The model: a layer receives requests from above (`arrive`), processes them by sending requests
//! below, waiting and charging time, and ends them (`finish`). It is a state machine that is called
//! on events and never polls the time in between. A medium is a layer with nothing below it.

use crate::build::Builder;
use crate::ranges::AtRisk;
use crate::schema::{Parameter, Relation};
use crate::settings::Setting;
use crate::vocabulary::texts;
use crate::world::{Child, JobId, RequestKind, World};
use kurabe_core::model::CopyHabits;
use kurabe_core::{Result, Text, text};

/// Data that a power cut would lose or spare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volatile {
    /// Acknowledged bytes that would be lost.
    pub lost_bytes: u64,
    /// Acknowledged bytes that are not on the medium, but would be saved by a battery or a
    /// capacitor.
    pub saved_bytes: u64,
}

/// An external intervention in a running layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Fails the member with this index, from 0. Requests that it already has still return; no
    /// others are sent to it.
    FailMember(usize),
    /// Replaces the member with this index, from 0, by an empty one of its kind, and rebuilds it
    /// from this byte on.
    RebuildMember(usize, u64),
    /// Brings flash to its steady state under random writes over all data, in no virtual time.
    Wear,
}

impl Control {
    /// Returns the error of a layer that cannot perform it.
    pub(crate) fn refused(self) -> Text {
        match self {
            Self::FailMember(_) => text!("it has no members", "メンバーを持たない層です"),
            Self::RebuildMember(..) => text!("it rebuilds no members", "メンバーを再構築しない層です"),
            Self::Wear => text!("it does not wear", "摩耗のない層です"),
        }
    }
}

/// Clones a boxed layer; implemented for every layer that is `Clone`.
pub trait CloneLayer {
    /// Returns a copy with the same state.
    fn clone_box(&self) -> Box<dyn Layer>;
}

impl<L: Layer + Clone + 'static> CloneLayer for L {
    fn clone_box(&self) -> Box<dyn Layer> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Layer> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

/// A part of a modelled stack.
pub trait Layer: CloneLayer + Send {
    /// Handles a new request.
    fn arrive(&mut self, job: JobId, world: &mut World);

    /// Handles the return of a request sent below. Its time is already in its parent's account.
    fn returned(&mut self, _child: Child, _world: &mut World) {}

    /// Handles a wake-up requested by `wake_at` with this token.
    fn wake(&mut self, _token: u64, _world: &mut World) {}

    /// Returns what held requests wait for, for the message about a blocked stack.
    fn waits_for(&self) -> Option<Text> {
        None
    }

    /// Returns whether requests of this kind are a command of their own here. If not, a trim has no
    /// effect and zeroes are written as data.
    fn knows(&self, _kind: RequestKind) -> bool {
        true
    }

    /// Returns what a power cut now would lose or spare in this layer's own memory, at its own
    /// addresses.
    fn at_risk(&self, _now_ns: u64) -> AtRisk {
        AtRisk::default()
    }

    /// Maps ranges at risk below, one set per addressable target in order, to the addresses of each
    /// of this layer's units.
    fn lift(&self, below: Vec<AtRisk>) -> Vec<AtRisk> {
        below
    }

    /// Returns the address below that keeps the data of an address, or `None` if its data are lost.
    fn kept_at(&self, offset_bytes: u64) -> Option<u64> {
        Some(offset_bytes)
    }

    /// Performs an external intervention.
    ///
    /// # Errors
    /// Returns an error if the layer does not support it.
    fn control(&mut self, control: Control, _world: &mut World) -> Result<(), Text> {
        Err(control.refused())
    }

    /// Changes a live parameter from now on; requests in progress may still use the old value.
    fn change(&mut self, setting: &Setting) {
        setting.refused();
    }

    /// Returns how files are copied, if this is a host.
    fn copy_habits(&self) -> Option<CopyHabits> {
        None
    }
}

/// Number of layers below a kind of layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// None: it is a medium.
    Nothing,
    /// One stack.
    One,
    /// As many stacks as its parameter `members` or its list of members specifies.
    Members,
}

/// A kind of layer: its word in device files, its parameters, and its constructor.
pub struct LayerKind {
    /// Word in device files.
    pub word: &'static str,
    /// Title in English and Japanese.
    pub title: (&'static str, &'static str),
    /// Whether it belongs to the computer, and is omitted when a device is used as part of another.
    pub of_host: bool,
    /// Number of layers below it.
    pub below: Below,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Constraints between parameters.
    pub relations: &'static [Relation],
    /// Constructor.
    pub build: Build,
}

/// Constructor of a kind of layer.
pub type Build = fn(&mut Builder<'_>) -> Result<Built>;

/// A constructed layer with its address space.
pub struct Built {
    pub(crate) layer: Box<dyn Layer>,
    /// Addressable bytes of each of its units.
    pub(crate) unit_bytes: u64,
    /// Number of units that a request can address; more than one on a shared bus.
    pub(crate) units: u16,
    /// Whether requests are served one at a time in order of arrival, so that the rate does not
    /// depend on whether they wait here or above.
    pub(crate) in_turn: bool,
}

impl Built {
    /// Returns a layer with one unit of this size.
    pub(crate) fn new(layer: impl Layer + 'static, bytes: u64) -> Self {
        Self { layer: Box::new(layer), unit_bytes: bytes, units: 1, in_turn: false }
    }

    /// Sets whether it serves requests in order of arrival.
    pub(crate) fn in_turn_if(self, in_turn: bool) -> Self {
        Self { in_turn, ..self }
    }
}

impl LayerKind {
    /// Returns the kind of this word; `page` has its title.
    pub(crate) const fn new(
        page: &'static str,
        word: &'static str,
        below: Below,
        parameters: &'static [Parameter],
        build: Build,
    ) -> Self {
        let [en, ja] = texts(page, "kind", word);
        Self { word, title: (en, ja), of_host: false, below, parameters, relations: &[], build }
    }

    /// Marks the kind as part of the computer.
    pub(crate) const fn of_host(self) -> Self {
        Self { of_host: true, ..self }
    }

    /// Adds constraints between parameters.
    pub(crate) const fn related(self, relations: &'static [Relation]) -> Self {
        Self { relations, ..self }
    }
}
