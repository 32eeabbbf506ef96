//! Runs a profile in the same way as the binary and collects its events.

use kurabe_core::Result;
use kurabe_core::company::Company;
use kurabe_core::environment::Environment;
use kurabe_core::event::Event;
use kurabe_core::record::Cell;
use kurabe_engine::{
    CachePolicy, EngineChoice, Pages, Session, Settings, Stop, Target, TargetOptions, WaitMode,
};
use kurabe_host::NoiseWatch;
use std::path::Path;

/// The outcome of a run.
pub struct Ran {
    pub result: Result<()>,
    pub events: Vec<Event>,
}

impl Ran {
    /// Returns the complete cells.
    pub fn cells(&self) -> Vec<&Cell> {
        let cells = self.events.iter().filter_map(|event| match event {
            Event::CellDone { cell } => Some(cell.as_ref()),
            _ => None,
        });
        cells.collect()
    }

    /// Returns the texts shown for preparations and programs.
    pub fn shown(&self) -> Vec<&str> {
        let shown = self.events.iter().filter_map(|event| match event {
            Event::Preparing { what } => Some(what.en.as_str()),
            _ => None,
        });
        shown.collect()
    }
}

/// Runs a profile on a target. `hear` receives each event and may request a stop.
pub fn run(given: &Path, options: &TargetOptions, profile: &str, hear: &dyn Fn(&Event, &Stop)) -> Ran {
    run_among(None, given, options, profile, hear)
}

/// Runs a profile together with other processes.
pub fn run_among(
    company: Option<&dyn Company>,
    given: &Path,
    options: &TargetOptions,
    profile: &str,
    hear: &dyn Fn(&Event, &Stop),
) -> Ran {
    let profile =
        kurabe_profile::parse_profile("test.toml", profile).unwrap_or_else(|error| panic!("{error:?}"));
    let mut target = Target::open(given, options).unwrap();
    let settings = Settings {
        engine: EngineChoice::Auto,
        wait: WaitMode::Sleep,
        pages: Pages::Small,
        cache: CachePolicy::Drop,
    };
    let noise = NoiseWatch::new(&Environment::default());
    let (stop, mut events) = (Stop::default(), Vec::new());
    let mut emit = |event: Event| {
        hear(&event, &stop);
        events.push(event);
        Ok(())
    };
    let result =
        Session::new(&mut target, &profile, settings, &noise, &stop, &mut emit).with_company(company).run();
    Ran { result, events }
}
