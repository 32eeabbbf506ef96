//! How many instances of a use a model serves: clients of a NAS, cameras, machines.
//!
//! The count is doubled until a limit is not met, then bisected to a tenth. Nothing is stored. This is
//! for models only, whose time costs nothing: on a drive each count takes a measurement of its own.

use crate::what_if::what_if;
use kurabe_compare::{Fit, FitGround, FitVerdict, Use, fit_profile};
use kurabe_core::Result;
use kurabe_core::profile::MOST_THREADS;

/// Returns the largest count for which a model that is fit for one instance is still fit.
///
/// # Errors
/// When the model or a parameter does not exist.
pub fn largest_count(
    model: &str,
    sets: &[(String, String)],
    purpose: &Use,
    ground: FitGround,
) -> Result<u32> {
    let is_fit = |count: u32| -> Result<bool> {
        let record = what_if(model, fit_profile(purpose, count, ground), sets.to_vec())?;
        Ok(Fit::of(&record.cells, purpose, count).verdict == FitVerdict::Fit)
    };
    let (mut met, mut broken) = (1, 2);
    while broken <= MOST_THREADS && is_fit(broken)? {
        (met, broken) = (broken, broken.saturating_mul(2));
    }
    broken = broken.min(MOST_THREADS.saturating_add(1));
    while broken - met > (met / 10).max(1) {
        let middle = met + (broken - met) / 2;
        if is_fit(middle)? {
            met = middle;
        } else {
            broken = middle;
        }
    }
    Ok(met)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::model_record;
    use kurabe_compare::WriteCaches;

    #[test]
    fn a_disk_serves_fewer_clients_than_a_solid_state_drive() {
        let purpose = Use::load("nas").unwrap();
        let clients = |model: &str| {
            let caches = WriteCaches::of(&model_record(model, &[], &[]).unwrap());
            let size_bytes = Some(1 << 30);
            largest_count(model, &[], &purpose, FitGround { model: Some(caches), size_bytes }).unwrap()
        };
        let (disk, flash) = (clients("hdd-nas"), clients("ssd-sata"));
        assert!((1..=9).contains(&disk), "16 MB/s each of 140 MB/s: {disk}");
        assert!(flash > disk && flash <= 36, "16 MB/s each of 560 MB/s: {flash}");
    }
}
