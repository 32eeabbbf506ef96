//! Options of all commands.

use super::help_table::help;
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use kurabe_lab::StorePlace;
use kurabe_store::StoreName;

#[derive(Debug, Args)]
pub struct Global {
    /// Where runs are stored.
    #[arg(
        long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath,
        value_parser = OsStringValueParser::new().map(StoreName::from),
        help = help("global.db")
    )]
    pub db: Option<StoreName>,
    #[arg(long, global = true, help = help("global.json"))]
    pub json: bool,
    #[arg(long, short, global = true, help = help("global.quiet"))]
    pub quiet: bool,
    #[arg(
        long, global = true, value_name = "LANG", value_parser = PossibleValuesParser::new(["en", "ja"]),
        help = help("global.lang")
    )]
    pub lang: Option<String>,
}

impl Global {
    /// Where runs are stored.
    pub fn store(&self) -> StorePlace {
        StorePlace(self.db.clone())
    }
}
