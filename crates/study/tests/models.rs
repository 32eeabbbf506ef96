//! Every study can be planned: all models that it names are there, and all parameters that it changes.

use kurabe_study::catalogue::Catalogue;
use kurabe_study::{Options, STUDIES, plan, study_named};

#[test]
fn every_model_and_parameter_of_the_studies_is_there() {
    let catalogue = Catalogue::load().unwrap();
    for (name, _) in STUDIES {
        let study = study_named(name, &catalogue).unwrap();
        let plan = plan(&study, &Options::default())
            .unwrap_or_else(|error| panic!("{name}: {}", error.render(Default::default())));
        assert!(!plan.points.is_empty(), "{name}");
    }
}

#[test]
fn every_model_that_the_catalogue_names_is_there() {
    for entry in Catalogue::load().unwrap().entries() {
        if let Some(model) = &entry.row.model {
            kurabe_sim::load_device(model).unwrap_or_else(|error| panic!("{}: {error:?}", entry.id()));
        }
    }
}
