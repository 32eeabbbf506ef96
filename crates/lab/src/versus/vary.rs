//! Variants of one target: each value of an option creates a side, and several options create their
//! product.

use super::Variant;
use kurabe_core::Text;
use kurabe_core::profile::{CommandStep, Overrides, Step};
use kurabe_core::shown::shell_word;

/// An option that varies, with its values as given, the baseline's first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variation {
    /// Name of an option, or parameter of a model.
    pub key: String,
    /// Its values.
    pub values: Vec<String>,
}

/// Options of one side as key and value.
pub type SideWords<'a> = Vec<(&'a str, &'a str)>;

/// Returns the number of sides.
pub fn count_sides(axes: &[Variation]) -> usize {
    axes.iter().fold(1, |sides: usize, axis| sides.saturating_mul(axis.values.len()))
}

/// Returns every combination of the values; the first axis varies slowest.
pub fn sides<'a>(axes: &'a [Variation]) -> Vec<SideWords<'a>> {
    let mut sides: Vec<SideWords<'a>> = vec![Vec::new()];
    for Variation { key, values } in axes {
        sides = sides
            .iter()
            .flat_map(|side| {
                let with =
                    move |value: &'a String| [side.as_slice(), &[(key.as_str(), value.as_str())]].concat();
                values.iter().map(with)
            })
            .collect();
    }
    sides
}

/// Returns the name of a side, such as `bs=4k, iodepth=1`.
pub fn side_name(side: &[(&str, &str)]) -> String {
    side.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ")
}

impl Variant {
    /// Returns the variant that times a command.
    pub fn of_command(command: Vec<String>) -> Self {
        let name = command.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
        Self { name, overrides: Overrides::default(), sets: Vec::new(), command }
    }

    /// Returns the step that times its command, if it has one. Each repetition begins with an empty work
    /// folder.
    pub(super) fn step(&self) -> Option<Step> {
        let command = self.command.clone();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
        let create = words(&["mkdir", "{work}"]);
        (!command.is_empty()).then_some(Step::Command(CommandStep {
            id: None,
            label: Some("command".to_owned()),
            git: None,
            prepare: vec![create.clone()],
            command,
            restore: vec![words(&["rm", "-rf", "{work}"]), create],
            cleanup: Vec::new(),
            shell: false,
            cold: true,
        }))
    }

    /// Returns the variant with these options.
    ///
    /// # Errors
    /// When a value is not valid for its option.
    pub fn of(side: &[(&str, &str)]) -> Result<Self, Text> {
        let mut overrides = Overrides::default();
        for (key, value) in side {
            overrides.set(key, *value)?;
        }
        Ok(Self { name: side_name(side), overrides, sets: Vec::new(), command: Vec::new() })
    }
}
