//! Facts about a model that are shown next to its figures.

use crate::marks::KnownMiss;
use kurabe_core::Text;
use kurabe_core::record::RunRecord;
use serde::Serialize;

/// A model next to others.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelSide {
    /// Name of the model.
    pub name: String,
    /// Title of the model.
    pub title: Text,
    /// Capacity in bytes.
    pub capacity_bytes: u64,
    /// Number of drives.
    pub members: u64,
    /// Number of drives that may fail in any combination.
    pub may_fail: u64,
    /// Number of drives that may fail in the best case.
    pub may_fail_at_best: u64,
    /// Assumed failures per drive and year. `None` if the model does not specify it.
    pub failures_per_year: Option<f64>,
    /// Fraction of bits that cannot be read (unrecoverable read errors).
    pub unreadable: Option<f64>,
    /// Hours to rebuild a replaced drive without other load.
    pub rebuild_hours: Option<f64>,
    /// Probability of data loss within a year.
    pub loss_per_year: Option<f64>,
    /// Sequential reads of 1 MiB at queue depth 8.
    pub read_bytes_per_s: Option<f64>,
    /// Sequential writes of 1 MiB at queue depth 8, with a flush at the end.
    pub write_bytes_per_s: Option<f64>,
    /// Random reads of 4 KiB per second at queue depth 1.
    pub reads_per_s_alone: Option<f64>,
    /// Random reads of 4 KiB per second at queue depth 32.
    pub reads_per_s_deep: Option<f64>,
    /// Random writes of 4 KiB per second at queue depth 32, with a flush at the end.
    pub writes_per_s: Option<f64>,
    /// Writes of 4 KiB per second, each followed by a flush.
    pub safe_writes_per_s: Option<f64>,
    /// Published figures that the model is known not to reach.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub known_misses: Vec<KnownMiss>,
}

/// Price of an emulator, as published.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedPrice {
    /// Range and currency.
    pub price: String,
    /// Publication, its year, and what is included.
    pub source: Text,
}

/// Limits of the figures of a model, and what it costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelLimits {
    /// Limits of the model, by the part that has them.
    pub notes: Vec<(String, Text)>,
    /// Published figures that the model does not reach.
    pub known_misses: Vec<KnownMiss>,
    /// Number of parameters whose value is assumed.
    pub assumed: usize,
    /// Number of parameters.
    pub parameters: usize,
    /// Price of its emulator. Null if there is none, or its price is not known.
    pub price: Option<PublishedPrice>,
}

/// A model measured for a ranking, with what limits its figures.
#[derive(Clone, Debug)]
pub struct RankedModel {
    /// The run of the profile `uses`.
    pub run: RunRecord,
    /// The limits of its figures.
    pub limits: ModelLimits,
}

/// A parameter with an effect on a figure.
#[derive(Clone, Debug)]
pub struct Mover {
    /// `LAYER.PARAMETER`
    pub name: String,
    /// Current value with its unit.
    pub value: String,
    /// Whether the value was doubled rather than halved.
    pub is_doubled: bool,
    /// Index of the figure among the three.
    pub figure: usize,
    /// Ratio of the changed figure to the original one.
    pub ratio: f64,
}
