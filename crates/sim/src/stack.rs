//! A modelled device: its layers, and time going on in it.

use crate::account::{CauseFacts, CounterFacts};
use crate::build::{Builder, Register};
use crate::layer::{Layer, Volatile};
use crate::spec::{DeviceSpec, LayerSpec};
use crate::world::{Completion, LayerId, Message, Request, World};
use kurabe_core::model::{
    CauseRecord, CopyHabits, CounterRecord, LayerCount, LayerRecord, ModelRecord, ParameterRecord,
    TimeAccount, TimeShare,
};
use kurabe_core::random::Random;
use kurabe_core::{Error, ErrorKind, Result, Text, text};

/// Layers of a stack, all instances counted.
const MOST_LAYERS: usize = 4096;

/// A modelled device in virtual time.
///
/// Its user hands over requests with their time, which never goes back, and asks for the next time at which something
/// happens. Nothing else moves it. A clone is a snapshot: it goes on as the original does, and apart from it.
#[derive(Clone)]
pub struct Stack {
    layers: Vec<Box<dyn Layer>>,
    names: Vec<String>,
    world: World,
    causes: Vec<CauseFacts>,
    counters: Vec<CounterFacts>,
    record: ModelRecord,
}

impl Stack {
    /// Builds the stack of a device. The seed sets all that is random in it.
    ///
    /// # Errors
    /// When parameters do not fit together, with the place of one of them.
    pub fn new(spec: &DeviceSpec, seed: u64) -> Result<Self> {
        let unexplained = CauseFacts {
            layer: "?".to_owned(),
            key: "unexplained",
            name: text!("not accounted for", "内訳不明"),
            explanation: text!(
                "time that no layer accounted for: a defect of the model",
                "どの層も内訳を示さなかった時間です。モデルの不具合です"
            ),
            in_line: false,
        };
        let register = Register { causes: vec![unexplained], counters: Vec::new() };
        let mut assembly =
            Assembly { layers: Vec::new(), names: Vec::new(), depths: Vec::new(), register, seed };
        assembly.branch(&spec.layers, 0)?;
        let Assembly { layers, names, depths, register, .. } = assembly;
        let layers: Vec<Box<dyn Layer>> = layers.into_iter().flatten().collect();
        let record = record(spec, seed, &names, &depths, &register);
        let world = World::new(register.causes.len(), register.counters.len());
        Ok(Self { layers, names, world, causes: register.causes, counters: register.counters, record })
    }

    /// Bytes that can be addressed.
    pub fn capacity_bytes(&self) -> u64 {
        self.layers.first().map_or(0, |layer| layer.capacity_bytes())
    }

    /// The time to which it has got.
    pub fn now_ns(&self) -> u64 {
        self.world.now_ns()
    }

    /// Takes a request at a time. `token` comes back with its completion. A request beyond the capacity fails.
    pub fn submit(&mut self, now_ns: u64, request: Request, token: u64) {
        self.advance(now_ns);
        if request.offset_bytes.saturating_add(u64::from(request.length_bytes)) > self.capacity_bytes() {
            return self.world.refuse(token);
        }
        self.world.submit(request, token);
        self.settle(now_ns);
    }

    /// When something happens next by itself; none if nothing is under way.
    pub fn next_wake_ns(&self) -> Option<u64> {
        self.world.next_ns()
    }

    /// Lets everything happen that is due until a time.
    pub fn advance(&mut self, now_ns: u64) {
        self.settle(now_ns);
        self.world.pass(now_ns);
    }

    fn settle(&mut self, until_ns: u64) {
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
        }
    }

    /// A request that left the stack.
    pub fn take_completion(&mut self) -> Option<Completion> {
        self.world.completions.pop_front()
    }

    /// Requests in the stack.
    pub fn in_flight(&self) -> u64 {
        self.world.in_flight()
    }

    /// Checks that requests in the stack will leave it.
    ///
    /// # Errors
    /// When some are there and nothing will ever happen; names the layer that holds them.
    pub fn check_not_blocked(&self) -> Result<()> {
        let count = self.in_flight();
        if count == 0 || self.next_wake_ns().is_some() {
            return Ok(());
        }
        if self.world.is_over() {
            return Err(Error::new(
                ErrorKind::Internal,
                text!(
                    "the model has got to the end of its time, 36 years, with {count} requests in it",
                    "{count} 個の要求が残ったまま、モデルの時間の上限(36 年)に達しました"
                ),
            )
            .remedy(text!(
                "look for a time or a rate that is too large or too small by far",
                "桁の違う時間や転送速度がないか確かめてください"
            )));
        }
        let holder = self.names.iter().zip(&self.layers).rev().find_map(|(name, layer)| {
            let what = layer.waits_for()?;
            Some(Text {
                en: format!("{name} waits for {}", what.en),
                ja: format!("{name} が{}を待っています", what.ja),
            })
        });
        let holder = holder.unwrap_or_else(|| text!("no layer says why", "理由を示した層はありません"));
        let (en, ja) = (&holder.en, &holder.ja);
        Err(Error::new(
            ErrorKind::Internal,
            Text {
                en: format!("the model is blocked with {count} requests in it: {en}"),
                ja: format!("モデルが {count} 個の要求を抱えたまま止まりました: {ja}"),
            },
        ))
    }

    /// Where the time of the requests went that left since this was last asked. The shares sum to their latencies
    /// exactly.
    pub fn take_account(&mut self) -> TimeAccount {
        let (operations, latency_ns) = std::mem::take(&mut self.world.left);
        let take = |sums: &mut Vec<u64>| -> Vec<(usize, u64)> {
            let there = sums.iter_mut().map(std::mem::take).enumerate();
            there.filter(|(_, sum)| *sum > 0).collect()
        };
        let mut shares = take(&mut self.world.times_ns);
        shares.sort_by_key(|(cause, _)| self.depth(&self.causes[*cause].layer));
        let mut counts = take(&mut self.world.counts);
        counts.sort_by_key(|(counter, _)| self.depth(&self.counters[*counter].layer));
        TimeAccount {
            operations,
            latency_ns,
            shares: shares
                .into_iter()
                .map(|(cause, time_ns)| {
                    let facts = &self.causes[cause];
                    TimeShare { layer: facts.layer.clone(), cause: facts.key.to_owned(), time_ns }
                })
                .collect(),
            counts: counts
                .into_iter()
                .map(|(counter, count)| {
                    let facts = &self.counters[counter];
                    LayerCount { layer: facts.layer.clone(), counter: facts.key.to_owned(), count }
                })
                .collect(),
        }
    }

    fn depth(&self, layer: &str) -> usize {
        self.record.layers.iter().position(|known| known.name == layer).unwrap_or(0)
    }

    /// What a power cut at this moment would take, and spare, by layer; layers with nothing to tell are left out.
    pub fn volatile(&self) -> Vec<(&str, Volatile)> {
        let now_ns = self.now_ns();
        let layers = self.names.iter().zip(&self.layers);
        let told = layers.map(|(name, layer)| (name.as_str(), layer.volatile(now_ns)));
        told.filter(|(_, volatile)| *volatile != Volatile::default()).collect()
    }

    /// How files are copied here, as the host does it.
    pub fn copy_habits(&self) -> Option<CopyHabits> {
        self.layers.iter().find_map(|layer| layer.copy_habits())
    }

    /// What a record keeps of it.
    pub fn record(&self) -> &ModelRecord {
        &self.record
    }
}

struct Assembly {
    layers: Vec<Option<Box<dyn Layer>>>,
    names: Vec<String>,
    depths: Vec<u32>,
    register: Register,
    seed: u64,
}

impl Assembly {
    /// Builds a list of layers, the first on top; the id of the topmost, the bytes of each of its units, and their number.
    fn branch(&mut self, list: &[LayerSpec], depth: u32) -> Result<(LayerId, u64, u16)> {
        let Some((spec, rest)) = list.split_first() else {
            return Err(Error::new(
                ErrorKind::DataFile,
                text!("a stack needs a layer", "スタックには層が必要です"),
            ));
        };
        if self.layers.len() >= MOST_LAYERS {
            return Err(Error::new(
                ErrorKind::DataFile,
                text!(
                    "the stack has more than {MOST_LAYERS} layers",
                    "スタックの層が {MOST_LAYERS} を超えます"
                ),
            ));
        }
        let index = self.layers.len();
        self.layers.push(None);
        self.names.push(spec.name.clone());
        self.depths.push(depth);
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
            settings: &spec.settings,
            below: &below,
            register: &mut self.register,
            random: Random::new(self.seed, index as u64),
        };
        let layer = (spec.kind.build)(&mut builder)?;
        let built = (LayerId(index as u16), layer.capacity_bytes(), layer.units());
        self.layers[index] = Some(layer);
        Ok(built)
    }
}

fn record(
    spec: &DeviceSpec,
    seed: u64,
    names: &[String],
    depths: &[u32],
    register: &Register,
) -> ModelRecord {
    let mut layers: Vec<LayerRecord> = Vec::new();
    for layer in spec.all_layers() {
        if layers.iter().any(|known| known.name == layer.name) {
            continue;
        }
        let instances = names.iter().filter(|name| **name == layer.name).count() as u32;
        let depth = names.iter().position(|name| *name == layer.name).map_or(0, |index| depths[index]);
        layers.push(LayerRecord {
            name: layer.name.clone(),
            kind: layer.kind.word.to_owned(),
            instances,
            depth,
            parameters: layer
                .settings
                .iter()
                .map(|setting| ParameterRecord {
                    key: setting.parameter.key.to_owned(),
                    value: setting.written.clone(),
                    source: setting.source.clone(),
                    changed: setting.changed,
                })
                .collect(),
            causes: register
                .causes
                .iter()
                .filter(|cause| cause.layer == layer.name)
                .map(|cause| CauseRecord {
                    key: cause.key.to_owned(),
                    name: cause.name.clone(),
                    explanation: cause.explanation.clone(),
                    in_line: cause.in_line,
                })
                .collect(),
            counters: register
                .counters
                .iter()
                .filter(|counter| counter.layer == layer.name)
                .map(|counter| CounterRecord { key: counter.key.to_owned(), name: counter.name.clone() })
                .collect(),
        });
    }
    ModelRecord { name: spec.name.clone(), title: spec.title.clone(), seed, layers }
}

#[cfg(test)]
mod tests;
