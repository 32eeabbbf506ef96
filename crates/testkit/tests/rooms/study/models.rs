//! Every study can be planned: all models that it names exist, and all parameters that it changes.

use kurabe_sim::LayerSpec;
use kurabe_study::catalogue::Catalogue;
use kurabe_study::{MarkKind, STUDIES, StudyOptions, plan, study_named};

#[test]
fn every_model_and_parameter_of_the_studies_is_there() {
    let catalogue = Catalogue::load().unwrap();
    for (name, _) in STUDIES {
        let study = study_named(name, &catalogue).unwrap();
        let plan = plan(&study, &StudyOptions::default())
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

/// Collects the sources of the parameters of all layers. A figure that one of them names was
/// considered when the parameter was chosen, whatever the source calls it.
fn of_layers(layers: &[LayerSpec], sources: &mut Vec<String>) {
    for layer in layers {
        sources.extend(layer.settings.iter().map(|setting| setting.source.clone()));
        for member in &layer.members {
            of_layers(&member.layers, sources);
        }
    }
}

/// Time in seconds that the copies of the DelayRatio test spend on the in-memory disk and that
/// sources subtract: none, reading it, or writing it.
const MEMORY_S: [f64; 3] = [0.0, 0.82, 1.36];

/// Returns whether a source names a figure: the same number except for the last digit, with at
/// least three digits to exclude coincidence.
fn names(source: &str, figure: f64) -> bool {
    source
        .split(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .map(|word| word.trim_matches('.'))
        .filter(|word| word.chars().filter(char::is_ascii_digit).count() >= 3)
        .filter_map(|word| word.parse::<f64>().ok())
        .any(|number| (number - figure).abs() < 0.015)
}

#[test]
fn no_figure_that_the_source_of_a_parameter_names_is_called_predicted() {
    let catalogue = Catalogue::load().unwrap();
    let mut checked = 0;
    for (name, _) in STUDIES {
        for part in study_named(name, &catalogue).unwrap().parts {
            for (row, model) in part.rows.iter().filter_map(|row| Some((row, row.model.as_ref()?))) {
                let mut sources = Vec::new();
                of_layers(&kurabe_sim::load_device(model).unwrap().layers, &mut sources);
                for (column, published) in part.columns.iter().zip(&row.published) {
                    // Ranges and round numbers are the same for many rows.
                    let Some(published) =
                        published.filter(|figure| !figure.about && figure.high == Some(figure.low))
                    else {
                        continue;
                    };
                    let off = if part.profile.name == "delay-ratio" { &MEMORY_S[..] } else { &[0.0] };
                    let figures = off.iter().map(|off| published.low - off);
                    if !figures.into_iter().any(|figure| sources.iter().any(|source| names(source, figure))) {
                        continue;
                    }
                    checked += 1;
                    let marked = row.marks.iter().any(|mark| {
                        mark.column == column.head.key
                            && matches!(
                                mark.kind,
                                MarkKind::Calibrated | MarkKind::Source | MarkKind::Assumed
                            )
                    });
                    assert!(marked, "{name}, {}, {}, {}", part.id, model, column.head.key);
                }
            }
        }
    }
    assert!(checked > 30, "only {checked}");
}
