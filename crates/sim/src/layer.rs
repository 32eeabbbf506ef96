//! What a layer is.
//!
//! The model: a layer gets requests from above (`arrive`), does what it does by sending requests below, waiting and
//! charging time, and ends them (`finish`). It is a state machine that is called when something happens to it and never
//! asks for the time in between. A medium is a layer with nothing below it.

use crate::build::Builder;
use crate::ranges::AtRisk;
use crate::schema::{Parameter, Relation};
use crate::settings::Setting;
use crate::vocabulary::texts;
use crate::world::{Child, JobId, RequestKind, World};
use kurabe_core::model::CopyHabits;
use kurabe_core::{Result, Text, text};

/// How much a power cut would take, or spare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volatile {
    /// Bytes that were acknowledged and would be gone.
    pub lost_bytes: u64,
    /// Bytes that were acknowledged, are not on the medium, and would be saved by a battery or a capacitor.
    pub saved_bytes: u64,
}

/// What is done to a layer from outside in the midst of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// A member fails, by its place from 0. What is with it already comes back; nothing else goes there.
    FailMember(usize),
    /// An empty member of its kind takes the place of one, by its place from 0, and is filled from this byte of it on.
    RebuildMember(usize, u64),
    /// Random writes have gone over all data that flash holds until nothing changes any more, in no time.
    Wear,
}

impl Control {
    /// Why a layer that has nothing of its kind refuses it.
    pub(crate) fn refused(self) -> Text {
        match self {
            Self::FailMember(_) => text!("it has no members", "メンバーを持たない層です"),
            Self::RebuildMember(..) => text!("it rebuilds no members", "メンバーを再構築しない層です"),
            Self::Wear => text!("it does not wear", "摩耗のない層です"),
        }
    }
}

/// Copies a layer behind its trait; every layer that is `Clone` can be copied so.
pub trait CloneLayer {
    /// The copy, with the same state.
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
    /// A request has come.
    fn arrive(&mut self, job: JobId, world: &mut World);

    /// A request that was sent below is done. Its time is already in its parent's account.
    fn returned(&mut self, _child: Child, _world: &mut World) {}

    /// The time has come that was given to `wake_at` with this token.
    fn wake(&mut self, _token: u64, _world: &mut World) {}

    /// What it waits for, if requests are held here: told when a stack is blocked.
    fn waits_for(&self) -> Option<Text> {
        None
    }

    /// Whether requests of this kind are a command of its own here. Without one, a trim changes nothing and zeroes are written
    /// as data.
    fn knows(&self, _kind: RequestKind) -> bool {
        true
    }

    /// What a power cut now would take from its own memory, or spare, at its own addresses.
    fn at_risk(&self, _now_ns: u64) -> AtRisk {
        AtRisk::default()
    }

    /// What is at risk below, by what can be addressed there in order, at the addresses of each of its own units.
    fn lift(&self, below: Vec<AtRisk>) -> Vec<AtRisk> {
        below
    }

    /// Does to it what is asked from outside.
    ///
    /// # Errors
    /// When it has nothing to which that could be done.
    fn control(&mut self, control: Control, _world: &mut World) -> Result<(), Text> {
        Err(control.refused())
    }

    /// A live parameter of its kind has another value from now on; what is under way may still go by the old one.
    fn change(&mut self, setting: &Setting) {
        setting.refused();
    }

    /// How files are copied here, if this is a host.
    fn copy_habits(&self) -> Option<CopyHabits> {
        None
    }
}

/// What stands below a kind of layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// Nothing: it is a medium.
    Nothing,
    /// One stack.
    One,
    /// As many stacks as its parameter `members` says, or as its list of members has.
    Members,
}

/// A kind of layer: its word in device files, its parameters, and how one is built.
pub struct LayerKind {
    /// Word in device files.
    pub word: &'static str,
    /// What it is, in English and Japanese.
    pub title: (&'static str, &'static str),
    /// Whether it belongs to the computer: left out when a device is used as part of another.
    pub of_host: bool,
    /// What stands below it.
    pub below: Below,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What must hold between them.
    pub relations: &'static [Relation],
    /// Builds one.
    pub build: Build,
}

/// Builds a layer of a kind.
pub type Build = fn(&mut Builder<'_>) -> Result<Built>;

/// A layer that was built.
pub struct Built {
    pub(crate) layer: Box<dyn Layer>,
    /// Bytes of each of its units that can be addressed.
    pub(crate) unit_bytes: u64,
    /// How many things a request can address here; more than one on a shared bus.
    pub(crate) units: u16,
    /// Whether one request is served after another in the order in which they come, so that it makes no difference to a rate
    /// whether requests wait here or above.
    pub(crate) in_turn: bool,
}

impl Built {
    /// A layer of so many bytes.
    pub(crate) fn new(layer: impl Layer + 'static, bytes: u64) -> Self {
        Self { layer: Box::new(layer), unit_bytes: bytes, units: 1, in_turn: false }
    }

    /// One that serves requests in turn if this holds.
    pub(crate) fn in_turn_if(self, in_turn: bool) -> Self {
        Self { in_turn, ..self }
    }
}

impl LayerKind {
    /// The kind of this word, whose title `page` has.
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

    /// A kind that belongs to the computer.
    pub(crate) const fn of_host(self) -> Self {
        Self { of_host: true, ..self }
    }

    /// One between whose parameters these relations hold.
    pub(crate) const fn related(self, relations: &'static [Relation]) -> Self {
        Self { relations, ..self }
    }
}
