//! Arguments of `kurabe push` and `kurabe pull`.

use super::help_table::help;
use clap::Args;
use clap::builder::{StringValueParser, TypedValueParser};
use kurabe_store::{AddressFault, SharedAddress};

/// A parsed address, or the reason why it is invalid. The command reports the error itself, because
/// clap would print the argument, which may contain a password.
pub type TypedAddress = Result<SharedAddress, AddressFault>;

#[derive(Debug, Args)]
pub struct ExchangeArgs {
    #[arg(
        value_name = "ADDRESS",
        value_parser = StringValueParser::new().map(|words| SharedAddress::parse(&words)),
        help = help("exchange.address")
    )]
    pub address: TypedAddress,
    #[arg(value_name = "RUN", help = help("exchange.runs"))]
    pub runs: Vec<String>,
}
