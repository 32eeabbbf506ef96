//! Models measured in virtual time for a ranking, without stored runs.

use crate::model::load_model;
use crate::movers::{in_parallel, movers};
use crate::side_by_side::loadable;
use crate::what_if::what_if;
use kurabe_core::Result;
use kurabe_core::record::RunRecord;
use kurabe_profile::profile_named;
use kurabe_sim::{DeviceSpec, combinations, emulator_price, part_notes};
use kurabe_study::{ModelLimits, Mover, PublishedPrice, RankedModel, known_misses};

/// Profile that has the cells of all uses.
const PROFILE: &str = "uses";

/// Beginning of the source of a value that no document gives.
const ASSUMED: &str = "assumed";

/// Measures the models with these names in virtual time, each combination of parts for a name with `all`.
///
/// # Errors
/// When a model does not exist, or a thread cannot be started.
pub fn ranked_models(names: &[&str]) -> Result<Vec<RankedModel>> {
    let names: Vec<Vec<String>> = names.iter().map(|name| combinations(name)).collect::<Result<_>>()?;
    in_parallel(&names.concat(), |name| ranked_model(name))?.into_iter().collect()
}

fn ranked_model(name: &str) -> Result<RankedModel> {
    let limits = limits(name, &load_model(name, &[], &[])?)?;
    Ok(RankedModel { run: what_if(name, profile_named(PROFILE)?, Vec::new())?, limits })
}

/// Returns the limits of the model of each run. `None` for a run on a real target, and for a model
/// that is not as it was recorded any more.
///
/// # Errors
/// When a built-in study cannot be read.
pub fn limits_of_runs(runs: &[&RunRecord]) -> Result<Vec<Option<ModelLimits>>> {
    let of_run = |run: &&RunRecord| {
        let model = run.header.model.as_ref();
        let Some((name, sets)) = model.and_then(|model| loadable(model, run.header.target_name())) else {
            return Ok(None);
        };
        limits(&name, &load_model(&name, &sets, &[])?).map(Some)
    };
    runs.iter().map(of_run).collect()
}

fn limits(name: &str, spec: &DeviceSpec) -> Result<ModelLimits> {
    let (assumed, parameters) = assumed(spec);
    let price = emulator_price(name)?.map(|(price, source)| PublishedPrice { price, source });
    Ok(ModelLimits {
        notes: part_notes(name)?,
        known_misses: known_misses(spec)?,
        assumed,
        parameters,
        price,
    })
}

/// Returns the parameters that move the figures of a model most and whose value is assumed.
///
/// # Errors
/// When the model does not exist, or a thread cannot be started.
pub fn assumed_movers(name: &str) -> Result<Vec<Mover>> {
    let spec = load_model(name, &[], &[])?;
    let is_assumed = |path: &str| {
        let (layer, key) = path.split_once('.').unwrap_or_default();
        let layers = spec.all_layers();
        let mut settings =
            layers.iter().filter(|spec| spec.name == layer).flat_map(|spec| spec.settings.iter());
        settings.any(|setting| setting.parameter.key == key && setting.source.starts_with(ASSUMED))
    };
    Ok(movers(name, &[])?.into_iter().filter(|mover| is_assumed(&mover.name)).collect())
}

/// Returns how many of the parameters are assumed, and how many there are.
fn assumed(spec: &DeviceSpec) -> (usize, usize) {
    let layers = spec.all_layers();
    let sources: Vec<&str> = layers
        .iter()
        .flat_map(|layer| layer.settings.iter())
        .map(|setting| setting.source.as_str())
        .collect();
    (sources.iter().filter(|source| source.starts_with(ASSUMED)).count(), sources.len())
}

#[cfg(test)]
mod tests {
    use super::{assumed_movers, limits_of_runs, ranked_models};
    use kurabe_compare::{Use, recommend};

    #[test]
    fn every_card_is_measured_with_an_emulator_and_a_slow_card_comes_last() {
        let models = ranked_models(&["zuluscsi-rp2040+all+mac-8100"]).unwrap();
        assert_eq!(models.len(), kurabe_sim::CARDS.len());
        let assumes_some = |limits: &super::ModelLimits| (1..limits.parameters).contains(&limits.assumed);
        assert!(models.iter().all(|model| assumes_some(&model.limits)));
        let of_runs = limits_of_runs(&models.iter().map(|model| &model.run).collect::<Vec<_>>()).unwrap();
        assert!(of_runs.iter().zip(&models).all(|(limits, model)| limits.as_ref() == Some(&model.limits)));
        let runs: Vec<_> = models.iter().map(|model| &model.run).collect();
        let choice = recommend(&runs, &Use::load("retro-computer").unwrap()).unwrap();
        let last = choice.standings.last().unwrap().run;
        assert_eq!(runs[last].header.model.as_ref().unwrap().name, "zuluscsi-rp2040+sd-class2+mac-8100");
        // An assumption of this card decides, and the page says so.
        assert!(models[last].limits.notes.iter().any(|(part, _)| part == "sd-class2"));
    }

    #[test]
    fn what_moves_a_model_most_and_is_assumed_is_named() {
        let movers = assumed_movers("zuluscsi-rp2040+sd-card-a1+mac-8100").unwrap();
        assert!(movers.iter().all(|mover| mover.name != "scsi.target_in"), "{movers:?}");
        assert!(movers.iter().any(|mover| mover.name == "fat-image.fragments"), "{movers:?}");
    }

    #[test]
    fn a_stored_run_of_a_model_names_the_figures_that_it_is_known_to_miss() {
        let run =
            super::what_if("scsi2sd-v6-mac", super::profile_named("quick").unwrap(), Vec::new()).unwrap();
        let limits = limits_of_runs(&[&run]).unwrap().remove(0).unwrap();
        assert!(limits.known_misses.iter().any(|miss| miss.study == "scsi-emulators"), "{limits:?}");
        let mut gone = run.clone();
        gone.header.model.as_mut().unwrap().layers.clear();
        gone.header.target = None;
        assert_eq!(limits_of_runs(&[&gone]).unwrap(), [None]);
    }

    #[test]
    fn an_unknown_computer_is_refused() {
        assert!(ranked_models(&["all+all+mac-9999"]).is_err());
    }
}
