//! Configurations of one target: several values of an option make a side each, several options the product.

use super::Variant;
use kurabe_core::Text;
use kurabe_core::profile::Overrides;

/// What differs, and its values as they are written, the baseline's first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variation {
    /// An option's name, or a parameter of a model.
    pub key: String,
    /// Its values.
    pub values: Vec<String>,
}

/// What differs on one side: key and value.
pub type SideWords<'a> = Vec<(&'a str, &'a str)>;

/// How many sides there are.
pub fn count_sides(axes: &[Variation]) -> usize {
    axes.iter().fold(1, |sides: usize, axis| sides.saturating_mul(axis.values.len()))
}

/// Every combination of the values, the first axis slowest.
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

/// What a side is called: `bs=4k, iodepth=1`.
pub fn side_name(side: &[(&str, &str)]) -> String {
    side.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ")
}

impl Variant {
    /// The side on which these options are set.
    ///
    /// # Errors
    /// When a value is none of its option.
    pub fn of(side: &[(&str, &str)]) -> Result<Self, Text> {
        let mut overrides = Overrides::default();
        for (key, value) in side {
            overrides.set(key, value)?;
        }
        Ok(Self { name: side_name(side), overrides, sets: Vec::new() })
    }
}
