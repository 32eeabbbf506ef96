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

/// Something that reads a temperature.
struct Sensor {
    celsius: Box<dyn Fn() -> Option<i32> + Send + Sync>,
    source: &'static str,
    /// Whether it may be read during a repetition.
    is_free: bool,
    /// Whether it runs a program.
    is_slow: bool,
}

impl Sensor {
    fn of(thermometer: Thermometer) -> Option<Self> {
        (!thermometer.is_empty()).then(|| Self {
            source: thermometer.source(),
            is_free: thermometer.is_free(),
            is_slow: thermometer.is_slow(),
            celsius: Box::new(move || thermometer.celsius()),
        })
    }
}

/// Reads the temperature of the devices below a target while a run lasts.
#[derive(Default)]
pub(crate) struct Warmth {
    sensor: Option<Sensor>,
    begun: Option<Instant>,
    read: Option<Instant>,
    samples: Vec<TemperatureSample>,
}

impl Warmth {
    /// Reads the temperature if the event is a suitable moment.
    pub(crate) fn hear(&mut self, event: &Event) {
        if let Event::RunStarted { header, .. } = event {
            let devices = Some(&header.environment.devices).filter(|_| header.model.is_none());
            return self.begin(devices.and_then(|devices| Sensor::of(Thermometer::of(devices))));
        }
        let Some(sensor) = &self.sensor else { return };
        let wait = match event {
            Event::RepetitionDone { .. } if sensor.is_slow => SHORTEST_OF_PROGRAM,
            Event::RepetitionDone { .. } => SHORTEST,
            Event::Progress { .. } | Event::FillProgress { .. } if sensor.is_free => DURING,
            _ => return,
        };
        if self.read.is_some_and(|read| read.elapsed() >= wait) {
            self.take();
        }
    }

    fn begin(&mut self, sensor: Option<Sensor>) {
        (self.sensor, self.begun) = (sensor, Some(Instant::now()));
        self.take();
    }

    fn take(&mut self) {
        let (Some(begun), Some(sensor)) = (self.begun, &self.sensor) else { return };
        self.read = Some(Instant::now());
        let Some(celsius) = (sensor.celsius)() else { return };
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
        self.with_temperatures(health(&header.environment.devices))
    }

    /// Adds the temperatures to the health that the devices report.
    fn with_temperatures(&mut self, reported: Option<DeviceHealth>) -> Option<DeviceHealth> {
        let temperatures = std::mem::take(&mut self.samples);
        let (Some(last), Some(sensor)) = (temperatures.last(), &self.sensor) else { return reported };
        let own = DeviceHealth {
            source: sensor.source.to_owned(),
            temperature_celsius: Some(last.celsius),
            ..DeviceHealth::default()
        };
        Some(DeviceHealth { temperatures, ..reported.unwrap_or(own) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::record::Interval;
    use std::sync::atomic::{AtomicI32, Ordering};

    /// Returns the warmth of a device that becomes one degree warmer with each reading.
    fn warmth(is_free: bool) -> Warmth {
        let degrees = AtomicI32::new(40);
        let celsius = Box::new(move || Some(degrees.fetch_add(1, Ordering::Relaxed)));
        let mut warmth = Warmth::default();
        warmth.begin(Some(Sensor { celsius, source: "hwmon", is_free, is_slow: false }));
        warmth
    }

    fn repetition() -> Event {
        Event::RepetitionDone { cell_index: 0, repetition: Box::default() }
    }

    fn later(warmth: &mut Warmth, wait: Duration) {
        warmth.read = warmth.read.and_then(|read| read.checked_sub(wait));
    }

    #[test]
    fn the_temperature_is_read_at_the_beginning_between_repetitions_and_at_the_end() {
        let mut warmth = warmth(false);
        warmth.hear(&repetition());
        later(&mut warmth, SHORTEST);
        warmth.hear(&repetition());
        warmth.take();
        let health = warmth.with_temperatures(None).unwrap();
        let celsius: Vec<i32> = health.temperatures.iter().map(|sample| sample.celsius).collect();
        assert_eq!(celsius, [40, 41, 42], "not twice within a second");
        assert_eq!((health.source.as_str(), health.temperature_celsius), ("hwmon", Some(42)));
    }

    #[test]
    fn only_a_sensor_that_delays_nothing_is_read_during_a_repetition() {
        let progress = Event::Progress { elapsed_ns: 1, interval: Interval::default(), interval_ns: 1 };
        let count = |is_free: bool| {
            let mut warmth = warmth(is_free);
            later(&mut warmth, DURING);
            warmth.hear(&progress);
            warmth.samples.len()
        };
        assert_eq!((count(true), count(false)), (2, 1));
    }

    #[test]
    fn a_long_run_keeps_a_limited_number_of_samples_in_order() {
        let mut warmth = warmth(true);
        (0..3 * MOST_SAMPLES).for_each(|_| warmth.take());
        assert!(warmth.samples.len() <= MOST_SAMPLES);
        assert!(warmth.samples.windows(2).all(|pair| pair[0].celsius < pair[1].celsius));
        assert_eq!(warmth.samples[0].celsius, 40);
    }

    #[test]
    fn without_a_sensor_the_health_is_what_the_device_reports() {
        let reported = DeviceHealth { wear_percent: Some(3), ..DeviceHealth::default() };
        let mut warmth = Warmth::default();
        warmth.begin(None);
        warmth.hear(&repetition());
        assert_eq!(warmth.with_temperatures(Some(reported.clone())), Some(reported));
        assert_eq!(warmth.with_temperatures(None), None);
    }
}
