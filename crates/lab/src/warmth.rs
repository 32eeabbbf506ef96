//! The temperature of the devices over a run.
//!
//! Sensors whose answer delays the measured operations are read between repetitions only.

use kurabe_core::environment::{DeviceHealth, TemperatureSample};
use kurabe_core::event::Event;
use kurabe_core::record::RunHeader;
use kurabe_host::{Thermometer, health};
use std::time::{Duration, Instant};

/// Shortest time between two readings of the kernel's sensors, and of a program.
const SHORTEST: Duration = Duration::from_secs(1);
const SHORTEST_OF_PROGRAM: Duration = Duration::from_secs(20);
/// Time between two readings during a repetition.
const DURING: Duration = Duration::from_secs(5);
/// Maximum number of samples in a record. Of more, every second one is kept.
const MOST_SAMPLES: usize = 1000;

/// Reads the temperature of the devices below a target while a run lasts.
#[derive(Default)]
pub(crate) struct Warmth {
    thermometer: Thermometer,
    begun: Option<Instant>,
    read: Option<Instant>,
    samples: Vec<TemperatureSample>,
}

impl Warmth {
    /// Reads the temperature if the event is a suitable moment.
    pub(crate) fn hear(&mut self, event: &Event) {
        let wait = match event {
            Event::RunStarted { header, .. } => return self.begin(header),
            Event::RepetitionDone { .. } if self.thermometer.is_slow() => SHORTEST_OF_PROGRAM,
            Event::RepetitionDone { .. } => SHORTEST,
            Event::Progress { .. } | Event::FillProgress { .. } if self.thermometer.is_free() => DURING,
            _ => return,
        };
        if self.read.is_some_and(|read| read.elapsed() >= wait) {
            self.take();
        }
    }

    fn begin(&mut self, header: &RunHeader) {
        if header.model.is_some() {
            return;
        }
        self.thermometer = Thermometer::of(&header.environment.devices);
        self.begun = Some(Instant::now());
        self.take();
    }

    fn take(&mut self) {
        let Some(begun) = self.begun.filter(|_| !self.thermometer.is_empty()) else { return };
        self.read = Some(Instant::now());
        let Some(celsius) = self.thermometer.celsius() else { return };
        let at_ns = begun.elapsed().as_nanos() as u64;
        self.samples.push(TemperatureSample { at_ns, celsius });
        if self.samples.len() > MOST_SAMPLES {
            let mut number = 0;
            self.samples.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
    }

    /// Returns the health of the run's devices at its end, with the temperatures.
    pub(crate) fn end(&mut self, header: &RunHeader) -> Option<DeviceHealth> {
        self.take();
        let reported = health(&header.environment.devices);
        let samples = std::mem::take(&mut self.samples);
        let Some(last) = samples.last() else { return reported };
        let own = || DeviceHealth {
            source: self.thermometer.source().to_owned(),
            temperature_celsius: Some(last.celsius),
            ..DeviceHealth::default()
        };
        Some(DeviceHealth { temperatures: samples.clone(), ..reported.unwrap_or_else(own) })
    }
}
