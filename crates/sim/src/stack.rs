//! A modelled device: its layers, and time going on in it.

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

/// Layers of a stack, all instances counted.
const MOST_LAYERS: usize = 4096;

/// Where a layer stands in its stack.
#[derive(Clone)]
struct StackPlace {
    /// Place of its name in the register.
    name: u16,
    /// How many layers are above it.
    depth: u32,
    kind: &'static LayerKind,
    /// How many things a request can address here.
    units: u16,
    /// Those right below it.
    below: Vec<LayerId>,
}

/// A modelled device in virtual time.
///
/// Its user hands over requests with their time, which never goes back, and asks for the next time at which something
/// happens. Nothing else moves it. A clone is a snapshot: it goes on as the original does, and apart from it.
#[derive(Clone)]
pub struct Stack {
    layers: Vec<Box<dyn Layer>>,
    /// By layer.
    places: Vec<StackPlace>,
    /// Of each of its units.
    capacity_bytes: u64,
    world: World,
    register: Register,
    seed: u64,
    /// What a layer panicked with: a defect of the model, after which nothing goes on.
    defect: Option<Text>,
}

impl Stack {
    /// Builds the stack of a device. The seed sets all that is random in it.
    ///
    /// # Errors
    /// When parameters do not fit together, with the place of one of them.
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

    /// Bytes that can be addressed, of each of its units.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// How many things a request can address: more than one where a shared bus is on top.
    pub fn units(&self) -> u16 {
        self.places[0].units
    }

    /// Whether requests of this kind reach a medium that has a command for them.
    pub fn knows(&self, kind: RequestKind) -> bool {
        self.layers.iter().all(|layer| layer.knows(kind))
    }

    /// The time to which it has got.
    pub fn now_ns(&self) -> u64 {
        self.world.now_ns()
    }

    /// Takes a request at a time. `token` comes back with its completion. A request beyond the capacity fails as block
    /// devices have it: what writes finds no space, all else is invalid.
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

    /// When something happens next by itself; none if nothing is under way.
    pub fn next_wake_ns(&self) -> Option<u64> {
        self.world.next_ns()
    }

    /// Lets everything happen that is due until a time.
    pub fn advance(&mut self, now_ns: u64) {
        self.settle(now_ns, false);
        self.world.pass(now_ns);
    }

    /// Lets everything happen that is due until a request leaves the stack, or until a time: as to advance to the next time
    /// again and again, without asking in between.
    pub(crate) fn advance_to_completion(&mut self, limit_ns: u64) {
        self.settle(limit_ns, true);
    }

    /// Lets everything happen until a time, or what is due when a request leaves the stack. A layer that panics ends this stack, not the process, which may serve others:
    /// requests in it and later ones fail, and `check_sound` says why.
    fn settle(&mut self, until_ns: u64, first_completion: bool) {
        // A stack with a defect is not looked at again, so nobody sees what the panic left half done.
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
                // What else is due at this time happens as well.
                until_ns = self.world.now_ns();
            }
        }
    }

    /// A request that left the stack.
    pub fn take_completion(&mut self) -> Option<CompletedRequest> {
        self.world.completions.pop_front()
    }

    /// Requests in the stack.
    pub fn in_flight(&self) -> u64 {
        self.world.in_flight()
    }

    /// Checks that no layer has panicked.
    ///
    /// # Errors
    /// When one has, with what it said. All requests fail from then on.
    pub fn check_sound(&self) -> Result<()> {
        self.defect.as_ref().map_or(Ok(()), |defect| Err(ErrorKind::Internal.error(defect.clone())))
    }

    /// Checks that requests in the stack will leave it.
    ///
    /// # Errors
    /// When some are there and nothing will ever happen; names the layer that holds them.
    pub fn check_not_blocked(&self) -> Result<()> {
        self.check_sound()?;
        let count = self.in_flight();
        if count == 0 || self.next_wake_ns().is_some() {
            return Ok(());
        }
        if self.world.is_over() {
            return Err(ErrorKind::Internal
                .error(text!(
                    "the model has got to the end of its time, 36 years, with {count} requests in it",
                    "{count} 個の要求が残ったまま、モデルの時間の上限(36 年)に達しました"
                ))
                .remedy(text!(
                    "look for a time or a rate that is too large or too small by far",
                    "桁の違う時間や転送速度がないか確かめてください"
                )));
        }
        let holder = self.named_layers().rev().find_map(|(name, layer)| {
            let what = layer.waits_for()?;
            Some(text!("{name} waits for {what}", "{name} が{what}を待っています"; what))
        });
        let holder = holder.unwrap_or_else(|| text!("no layer says why", "理由を示した層はありません"));
        Err(ErrorKind::Internal.error(text!(
            "the model is blocked with {count} requests in it: {holder}",
            "モデルが {count} 個の要求を抱えたまま止まりました: {holder}";
            holder
        )))
    }

    /// Does something to a layer, to each of this name.
    ///
    /// # Errors
    /// When there is no such layer, or it has nothing to which that could be done.
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

    /// Changes a live parameter in the midst of work: `sata.command` to `20us`, in each layer of this name. Its new value
    /// is that of a stack that was built with it for every request from now on.
    ///
    /// # Errors
    /// When there is no such layer or live parameter, or the value is not one of its range; nothing is changed then.
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
                        "no parameter of `{layer}` can: build the stack with the value",
                        "`{layer}` に動作中に変更できるものはありません。値を指定して作り直してください"
                    )
                } else {
                    text!("of `{layer}` these can: {keys}", "`{layer}` で動作中に変更できるもの: {keys}")
                }));
            };
            changes.push((place, changed(parameter, &format!("{path}={value}"), value)?));
        }
        changes.iter().for_each(|(place, setting)| self.layers[*place].change(setting));
        Ok(())
    }

    /// The layers of a name.
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

    /// The name of a layer.
    fn name_of(&self, layer: usize) -> &str {
        &self.register.names[usize::from(self.places[layer].name)]
    }

    /// Every layer with its name.
    fn named_layers(&self) -> impl DoubleEndedIterator<Item = (&str, &dyn Layer)> {
        self.layers.iter().enumerate().map(|(index, layer)| (self.name_of(index), &**layer))
    }

    /// Where the time of the requests went that left since this was last asked.
    pub fn take_sums(&mut self) -> TimeSums {
        let (operations, latency_ns) = std::mem::take(&mut self.world.left);
        let take = |order: &[usize], sums: &mut [u64]| -> Vec<u64> {
            order.iter().map(|place| std::mem::take(&mut sums[*place])).collect()
        };
        let (causes, counters) = self.register.order();
        let times_ns = take(&causes, &mut self.world.times_ns);
        TimeSums { operations, latency_ns, times_ns, counts: take(&counters, &mut self.world.counts) }
    }

    /// Has the time of each request kept, or no longer.
    pub(crate) fn keep_each(&mut self, keep: bool) {
        self.world.each = keep.then(Vec::new);
    }

    /// Where the time of each request went that left since this was last asked, if that is kept: in the order in which they
    /// left, and each in the order of the sums.
    pub(crate) fn take_each(&mut self) -> Vec<Vec<u64>> {
        let (causes, _) = self.register.order();
        let each = self.world.each.as_mut().map(std::mem::take).unwrap_or_default();
        each.iter().map(|times_ns| causes.iter().map(|place| times_ns[*place]).collect()).collect()
    }

    /// Sums of this stack with the names of what they are of; what is nothing is left out.
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

    /// Where the time of the requests went that left since this was last asked, in words. The shares sum to their
    /// latencies exactly.
    pub fn take_account(&mut self) -> TimeAccount {
        let sums = self.take_sums();
        self.account(&sums)
    }

    /// How much a power cut at this moment would take, and spare, by layer; layers with nothing to tell are left out.
    pub fn volatile(&self) -> Vec<(&str, Volatile)> {
        let now_ns = self.now_ns();
        let layers = self.named_layers().map(|(name, layer)| {
            let AtRisk { lost, saved } = layer.at_risk(now_ns);
            (name, Volatile { lost_bytes: lost.bytes(), saved_bytes: saved.bytes() })
        });
        layers.filter(|(_, volatile)| *volatile != Volatile::default()).collect()
    }

    /// What a power cut at this moment would take, and spare, of the writes that were acknowledged, at the addresses of the
    /// stack.
    pub fn at_risk(&self) -> AtRisk {
        self.at_risk_by_unit().swap_remove(0)
    }

    /// The same of each of its units.
    pub fn at_risk_by_unit(&self) -> Vec<AtRisk> {
        let in_flight = self.world.numbers_in_flight();
        let mut units = self.at_risk_from(LayerId(0));
        for unit in &mut units {
            unit.lost.without(&in_flight);
            unit.saved.without(&in_flight);
        }
        units
    }

    /// The same of a layer and those below it, by unit; what was not acknowledged yet is in it.
    fn at_risk_from(&self, layer: LayerId) -> Vec<AtRisk> {
        let (place, layer) = (&self.places[usize::from(layer.0)], &self.layers[usize::from(layer.0)]);
        let mut units = layer.lift(place.below.iter().flat_map(|below| self.at_risk_from(*below)).collect());
        units.resize(usize::from(place.units), AtRisk::default());
        let of_layers_below = std::mem::take(&mut units[0]);
        units[0] = of_layers_below.below(&layer.at_risk(self.now_ns()));
        units
    }

    /// How files are copied here, as the host does it.
    pub fn copy_habits(&self) -> Option<CopyHabits> {
        self.layers.iter().find_map(|layer| layer.copy_habits())
    }

    /// What a record keeps of it; `spec` is what it was built from.
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
