//! A modelled device: its layers, and the events in them.

use crate::account::{CauseFacts, Words};
use crate::build::{Branch, Builder, Register};
use crate::layer::{Built, Control, Layer, LayerKind, Volatile};
use crate::ranges::AtRisk;
use crate::spec::{DeviceSpec, LayerSpec, changed, split_path};
use crate::world::{CompletedRequest, LayerId, Message, Request, RequestKind, World};
use kurabe_core::device::ErrorNumber;
use kurabe_core::model::{
    CauseClass, CauseRecord, CopyHabits, CounterRecord, LayerCount, LayerRecord, ModelRecord,
    ParameterRecord, TimeAccount, TimeShare, TimeSums,
};
use kurabe_core::random::Random;
use kurabe_core::{ErrorKind, Result, Text, nearest, text};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum number of layers of a stack, counting all instances.
const MOST_LAYERS: usize = 4096;

/// Position of a layer in its stack.
#[derive(Clone)]
struct StackPlace {
    /// Index of its name in the register.
    name: u16,
    /// Number of layers above it.
    depth: u32,
    kind: &'static LayerKind,
    /// Number of units that a request can address.
    units: u16,
    /// Layers directly below it.
    below: Vec<LayerId>,
}

/// A modelled device in virtual time.
///
/// The caller submits requests with their time, which must not decrease, and asks for the time of
/// the next event. Nothing else advances it. A clone is a snapshot that continues independently of
/// the original.
#[derive(Clone)]
pub struct Stack {
    layers: Vec<Box<dyn Layer>>,
    /// By layer.
    places: Vec<StackPlace>,
    /// Capacity of each unit.
    capacity_bytes: u64,
    world: World,
    register: Register,
    seed: u64,
    /// The message of a layer's panic: a bug in the model, after which the stack stops.
    defect: Option<Text>,
}

impl Stack {
    /// Builds the stack of a device. The seed determines everything that is random in it.
    ///
    /// # Errors
    /// Returns an error at one of the parameters if they are inconsistent.
    pub fn new(spec: &DeviceSpec, seed: u64) -> Result<Self> {
        let unexplained = CauseFacts {
            layer: u16::MAX,
            key: "unexplained",
            name: ("not accounted for", "内訳不明"),
            explanation: (
                "time that no layer accounted for: a defect of the model",
                "どの層も内訳を示さなかった時間です。モデルの不具合です",
            ),
            class: CauseClass::Line,
        };
        let register = Register { names: Vec::new(), causes: vec![unexplained], counters: Vec::new() };
        let mut assembly = Assembly { layers: Vec::new(), places: Vec::new(), register, seed };
        let top = assembly.branch(&spec.layers, 0)?;
        let Assembly { layers, places, register, .. } = assembly;
        let world = World::new(register.causes.len(), register.counters.len());
        let layers = layers.into_iter().flatten().collect();
        Ok(Self { layers, places, capacity_bytes: top.unit_bytes, world, register, seed, defect: None })
    }

    /// Returns the addressable bytes of each of its units.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Returns the number of units: more than one if a shared bus is on top.
    pub fn units(&self) -> u16 {
        self.places[0].units
    }

    /// Returns whether requests of this kind reach a medium that has a command for them.
    pub fn knows(&self, kind: RequestKind) -> bool {
        self.layers.iter().all(|layer| layer.knows(kind))
    }

    /// Returns the current time.
    pub fn now_ns(&self) -> u64 {
        self.world.now_ns()
    }

    /// Submits a request at a time; its completion has the same `token`. A request beyond the
    /// capacity fails as on a block device: a write with "no space", any other request as invalid.
    pub fn submit(&mut self, now_ns: u64, request: Request, token: u64) {
        self.advance(now_ns);
        if self.defect.is_some() {
            return self.world.refuse(token, ErrorNumber::IO);
        }
        if request.offset_bytes.saturating_add(u64::from(request.length_bytes)) > self.capacity_bytes() {
            let writes = request.kind.writes();
            return self
                .world
                .refuse(token, if writes { ErrorNumber::NO_SPACE } else { ErrorNumber::INVALID });
        }
        self.world.submit(request, token);
        self.settle(now_ns, false);
    }

    /// Returns the time of the next event; `None` if nothing is in progress.
    pub fn next_wake_ns(&self) -> Option<u64> {
        self.world.next_ns()
    }

    /// Processes all events until a time.
    pub fn advance(&mut self, now_ns: u64) {
        self.settle(now_ns, false);
        self.world.pass(now_ns);
    }

    /// Processes events until a request leaves the stack, or until a time. This is equivalent to
    /// advancing to the next event repeatedly, without the checks in between.
    pub(crate) fn advance_to_completion(&mut self, limit_ns: u64) {
        self.settle(limit_ns, true);
    }

    /// Processes events until a time, or until a request leaves the stack. A layer that panics
    /// stops this stack but not the process, which may serve others: requests in it and later ones
    /// fail, and `check_sound` returns the reason.
    fn settle(&mut self, until_ns: u64, first_completion: bool) {
        // A stack with a defect is not used again, so the inconsistent state after the panic is
        // never observed.
        let panic = match catch_unwind(AssertUnwindSafe(|| self.handle_messages(until_ns, first_completion)))
        {
            Ok(()) => return,
            Err(panic) => panic,
        };
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("?");
        let layer = self.name_of(self.world.current());
        self.defect = Some(text!(
            "the model has a defect: its layer {layer} panicked: {words}",
            "モデルの不具合です。層 {layer} がパニックしました: {words}"
        ));
        self.world.abandon();
    }

    fn handle_messages(&mut self, mut until_ns: u64, first_completion: bool) {
        while let Some(message) = self.world.next(until_ns) {
            match message {
                Message::Arrive(job) => {
                    let layer = self.world.arrived(job);
                    self.world.enter(layer);
                    self.layers[usize::from(layer.0)].arrive(job, &mut self.world);
                }
                Message::Done(job) => {
                    if let Some((layer, child)) = self.world.done(job) {
                        self.world.enter(layer);
                        self.layers[usize::from(layer.0)].returned(child, &mut self.world);
                    }
                }
                Message::Wake(layer, token) => {
                    self.world.enter(layer);
                    self.layers[usize::from(layer.0)].wake(token, &mut self.world);
                }
            }
            if first_completion && !self.world.completions.is_empty() {
                // Other events at this time are processed as well.
                until_ns = self.world.now_ns();
            }
        }
    }

    /// Returns a completed request.
    pub fn take_completion(&mut self) -> Option<CompletedRequest> {
        self.world.completions.pop_front()
    }

    /// Returns the number of requests in the stack.
    pub fn in_flight(&self) -> u64 {
        self.world.in_flight()
    }

    /// Checks that no layer has panicked.
    ///
    /// # Errors
    /// Returns an error with the panic message if one has. All requests fail from then on.
    pub fn check_sound(&self) -> Result<()> {
        self.defect.as_ref().map_or(Ok(()), |defect| Err(ErrorKind::Internal.error(defect.clone())))
    }

    /// Checks that the requests in the stack can complete.
    ///
    /// # Errors
    /// Returns an error that names the layer that holds requests if there is no further event.
    pub fn check_not_blocked(&self) -> Result<()> {
        self.check_sound()?;
        let count = self.in_flight();
        if count == 0 || self.next_wake_ns().is_some() {
            return Ok(());
        }
        if self.world.is_over() {
            return Err(ErrorKind::Internal
                .error(text!(
                    "the model reached the end of its time range, 36 years, with {count} requests in flight",
                    "{count} 個の要求が残ったまま、モデルの時間の上限(36 年)に達しました"
                ))
                .remedy(text!(
                    "look for a time or a rate that is wrong by orders of magnitude",
                    "桁の違う時間や転送速度がないか確かめてください"
                )));
        }
        let holder = self.named_layers().rev().find_map(|(name, layer)| {
            let what = layer.waits_for()?;
            Some(text!("{name} waits for {what}", "{name} が{what}を待っています"; what))
        });
        let holder = holder.unwrap_or_else(|| text!("no layer says why", "理由を示した層はありません"));
        Err(ErrorKind::Internal.error(text!(
            "the model is blocked with {count} requests in flight: {holder}",
            "モデルが {count} 個の要求を抱えたまま止まりました: {holder}";
            holder
        )))
    }

    /// Performs an external intervention on every layer of this name.
    ///
    /// # Errors
    /// Returns an error if there is no such layer, or it does not support the intervention.
    pub fn control(&mut self, layer: &str, control: Control) -> Result<()> {
        for place in self.places_of(layer)? {
            self.world.enter(LayerId(place as u16));
            self.layers[place]
                .control(control, &mut self.world)
                .map_err(|what| ErrorKind::Usage.error(text!("{layer}: {what}", "{layer}: {what}"; what)))?;
        }
        self.settle(self.now_ns(), false);
        Ok(())
    }

    /// Changes a live parameter during operation, such as `sata.command` to `20us`, in every layer
    /// of this name. From now on, every request behaves as in a stack built with the new value.
    ///
    /// # Errors
    /// Returns an error and changes nothing if there is no such layer or live parameter, or the
    /// value is out of range.
    pub fn change(&mut self, path: &str, value: &str) -> Result<()> {
        let (layer, key) = split_path(path)?;
        let mut changes = Vec::new();
        for place in self.places_of(layer)? {
            let live = || self.places[place].kind.parameters.iter().filter(|parameter| parameter.live);
            let Some(parameter) = live().find(|parameter| parameter.key == key) else {
                let keys = live().map(|parameter| parameter.key).collect::<Vec<_>>().join(", ");
                let what = text!(
                    "`{path}` is not a parameter that can change while requests are served",
                    "`{path}` は動作中に変更できるパラメーターではありません"
                );
                return Err(ErrorKind::Usage.error(what).remedy(if keys.is_empty() {
                    text!(
                        "`{layer}` has no live parameter: build the stack with the value",
                        "`{layer}` に動作中に変更できるものはありません。値を指定して作り直してください"
                    )
                } else {
                    text!(
                        "live parameters of `{layer}`: {keys}",
                        "`{layer}` で動作中に変更できるもの: {keys}"
                    )
                }));
            };
            changes.push((place, changed(parameter, &format!("{path}={value}"), value)?));
        }
        changes.iter().for_each(|(place, setting)| self.layers[*place].change(setting));
        Ok(())
    }

    /// Returns the indices of the layers with this name.
    fn places_of(&self, layer: &str) -> Result<Vec<usize>> {
        let names = &self.register.names;
        let Some(name) = names.iter().position(|name| name == layer) else {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let what = text!("the stack has no layer `{layer}`", "スタックに `{layer}` という層はありません");
            return Err(ErrorKind::Usage.error(what).remedy(nearest(layer, &names)));
        };
        let places = self.places.iter().enumerate().filter(|(_, place)| usize::from(place.name) == name);
        Ok(places.map(|(index, _)| index).collect())
    }

    /// Returns the name of a layer.
    fn name_of(&self, layer: usize) -> &str {
        &self.register.names[usize::from(self.places[layer].name)]
    }

    /// Returns every layer with its name.
    fn named_layers(&self) -> impl DoubleEndedIterator<Item = (&str, &dyn Layer)> {
        self.layers.iter().enumerate().map(|(index, layer)| (self.name_of(index), &**layer))
    }

    /// Returns the times by cause of the requests that completed since the last call.
    pub fn take_sums(&mut self) -> TimeSums {
        let (operations, latency_ns) = std::mem::take(&mut self.world.left);
        let take = |order: &[usize], sums: &mut [u64]| -> Vec<u64> {
            order.iter().map(|place| std::mem::take(&mut sums[*place])).collect()
        };
        let (causes, counters) = self.register.order();
        let times_ns = take(&causes, &mut self.world.times_ns);
        TimeSums { operations, latency_ns, times_ns, counts: take(&counters, &mut self.world.counts) }
    }

    /// Starts or stops recording the times of each request.
    pub(crate) fn keep_each(&mut self, keep: bool) {
        self.world.each = keep.then(Vec::new);
    }

    /// Returns the recorded times of each request that completed since the last call, in order of
    /// completion, each in the order of the sums.
    pub(crate) fn take_each(&mut self) -> Vec<Vec<u64>> {
        let (causes, _) = self.register.order();
        let each = self.world.each.as_mut().map(std::mem::take).unwrap_or_default();
        each.iter().map(|times_ns| causes.iter().map(|place| times_ns[*place]).collect()).collect()
    }

    /// Adds names to sums of this stack, and omits those that are 0.
    pub fn account(&self, sums: &TimeSums) -> TimeAccount {
        let register = &self.register;
        let name = |place: u16| register.names.get(usize::from(place)).map_or("?", String::as_str).to_owned();
        let (causes, counters) = register.order();
        let share = |(place, time_ns): (&usize, &u64)| {
            let facts = &register.causes[*place];
            TimeShare { layer: name(facts.layer), cause: facts.key.to_owned(), time_ns: *time_ns }
        };
        let count = |(place, count): (&usize, &u64)| {
            let facts = &register.counters[*place];
            LayerCount { layer: name(facts.layer), counter: facts.key.to_owned(), count: *count }
        };
        let shares = causes.iter().zip(&sums.times_ns).filter(|(_, sum)| **sum > 0).map(share);
        let counts = counters.iter().zip(&sums.counts).filter(|(_, sum)| **sum > 0).map(count);
        TimeAccount {
            operations: sums.operations,
            latency_ns: sums.latency_ns,
            shares: shares.collect(),
            counts: counts.collect(),
        }
    }

    /// Returns the time account of the requests that completed since the last call. The shares sum
    /// exactly to their latencies.
    pub fn take_account(&mut self) -> TimeAccount {
        let sums = self.take_sums();
        self.account(&sums)
    }

    /// Returns what a power cut at this moment would lose or spare, by layer; layers without such
    /// data are omitted.
    pub fn volatile(&self) -> Vec<(&str, Volatile)> {
        let now_ns = self.now_ns();
        let layers = self.named_layers().map(|(name, layer)| {
            let AtRisk { lost, saved } = layer.at_risk(now_ns);
            (name, Volatile { lost_bytes: lost.bytes(), saved_bytes: saved.bytes() })
        });
        layers.filter(|(_, volatile)| *volatile != Volatile::default()).collect()
    }

    /// Returns what a power cut at this moment would lose or spare of the acknowledged writes, at
    /// the addresses of the stack.
    pub fn at_risk(&self) -> AtRisk {
        self.at_risk_by_unit().swap_remove(0)
    }

    /// Returns the same for each unit.
    pub fn at_risk_by_unit(&self) -> Vec<AtRisk> {
        let in_flight = self.world.numbers_in_flight();
        let mut units = self.at_risk_from(LayerId(0));
        for unit in &mut units {
            unit.lost.without(&in_flight);
            unit.saved.without(&in_flight);
        }
        units
    }

    /// Returns the data at risk in a layer and those below it, by unit; includes writes that are
    /// not acknowledged yet.
    fn at_risk_from(&self, layer: LayerId) -> Vec<AtRisk> {
        let (place, layer) = (&self.places[usize::from(layer.0)], &self.layers[usize::from(layer.0)]);
        let mut units = layer.lift(place.below.iter().flat_map(|below| self.at_risk_from(*below)).collect());
        units.resize(usize::from(place.units), AtRisk::default());
        let of_layers_below = std::mem::take(&mut units[0]);
        units[0] = of_layers_below.below(&layer.at_risk(self.now_ns()));
        units
    }

    /// Returns the place that keeps the data of an address, or `None` if they are lost. Two addresses
    /// with the same place overwrite each other. Layers with members are not followed.
    pub fn kept_at(&self, offset_bytes: u64) -> Option<u64> {
        let (mut layer, mut kept_at) = (0, offset_bytes);
        loop {
            kept_at = self.layers[layer].kept_at(kept_at)?;
            match self.places[layer].below[..] {
                [below] => layer = usize::from(below.0),
                _ => return Some(kept_at),
            }
        }
    }

    /// Returns how the host copies files.
    pub fn copy_habits(&self) -> Option<CopyHabits> {
        self.layers.iter().find_map(|layer| layer.copy_habits())
    }

    /// Returns the description for a run's record; `spec` is the device that it was built from.
    pub fn record(&self, spec: &DeviceSpec) -> ModelRecord {
        let mut layers: Vec<LayerRecord> = Vec::new();
        for layer in spec.all_layers() {
            if layers.iter().all(|recorded| recorded.name != layer.name) {
                layers.push(self.layer_record(layer));
            }
        }
        ModelRecord { name: spec.name.clone(), title: spec.title.clone(), seed: self.seed, layers }
    }

    fn layer_record(&self, layer: &LayerSpec) -> LayerRecord {
        let Register { names, causes, counters } = &self.register;
        let name = names.iter().position(|name| *name == layer.name).unwrap_or(names.len()) as u16;
        let mut depths = self.places.iter().filter(|place| place.name == name).map(|place| place.depth);
        let depth = depths.next();
        let text = |(en, ja): Words| Text::of(en, ja);
        LayerRecord {
            name: layer.name.clone(),
            kind: layer.kind.word.to_owned(),
            instances: depth.map_or(0, |_| 1 + depths.count() as u32),
            depth: depth.unwrap_or(0),
            parameters: (layer.settings.iter())
                .map(|setting| ParameterRecord {
                    key: setting.parameter.key.to_owned(),
                    value: setting.written.clone(),
                    source: setting.source.clone(),
                    changed: setting.changed,
                })
                .collect(),
            causes: (causes.iter().filter(|cause| cause.layer == name))
                .map(|cause| CauseRecord {
                    key: cause.key.to_owned(),
                    name: text(cause.name),
                    explanation: text(cause.explanation),
                    in_line: cause.class == CauseClass::Line,
                    class: cause.class,
                })
                .collect(),
            counters: (counters.iter().filter(|counter| counter.layer == name))
                .map(|counter| CounterRecord { key: counter.key.to_owned(), name: text(counter.name) })
                .collect(),
        }
    }
}

struct Assembly {
    layers: Vec<Option<Box<dyn Layer>>>,
    places: Vec<StackPlace>,
    register: Register,
    seed: u64,
}

impl Assembly {
    /// Builds a list of layers, the first on top.
    fn branch(&mut self, list: &[LayerSpec], depth: u32) -> Result<Branch> {
        let misfit = |what: Text| Err(ErrorKind::DataFile.error(what));
        let Some((spec, rest)) = list.split_first() else {
            return misfit(text!("a stack needs a layer", "スタックには層が必要です"));
        };
        if self.layers.len() >= MOST_LAYERS {
            return misfit(text!(
                "the stack has more than {MOST_LAYERS} layers",
                "スタックの層が {MOST_LAYERS} を超えます"
            ));
        }
        let index = self.layers.len();
        let name = self.register.name(&spec.name);
        self.layers.push(None);
        self.places.push(StackPlace { name, depth, kind: spec.kind, units: 1, below: Vec::new() });
        let mut below = Vec::new();
        for (count, layers) in spec.below(rest) {
            for _ in 0..count {
                below.push(self.branch(layers, depth + 1)?);
            }
        }
        for relation in spec.kind.relations {
            relation.check(&spec.name, &spec.settings)?;
        }
        let mut builder = Builder {
            name: &spec.name,
            name_place: name,
            settings: &spec.settings,
            below: &below,
            register: &mut self.register,
            random: Random::new(self.seed, index as u64),
        };
        let Built { layer, unit_bytes, units, in_turn } = (spec.kind.build)(&mut builder)?;
        self.layers[index] = Some(layer);
        self.places[index].units = units;
        self.places[index].below = below.iter().map(|branch| branch.layer).collect();
        Ok(Branch { layer: LayerId(index as u16), unit_bytes, units, in_turn })
    }
}

#[cfg(test)]
mod tests;
