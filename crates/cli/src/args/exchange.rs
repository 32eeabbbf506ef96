//! Arguments of `kurabe push` and `kurabe pull`.

use crate::lang::t;
use clap::Args;
use clap::builder::{StringValueParser, TypedValueParser};
use kurabe_store::{AddressFault, SharedAddress};

/// A parsed address, or the reason why it is invalid. The command reports the error itself, because
/// clap would print the argument, which may contain a password.
pub type TypedAddress = Result<SharedAddress, AddressFault>;

#[derive(Debug, Args)]
pub struct ExchangeArgs {
    #[arg(value_name = "ADDRESS", value_parser = StringValueParser::new().map(|words| SharedAddress::parse(&words)), help = t("The database: postgres://USER@HOST/DATABASE?sslmode=verify-full, or \"host=HOST dbname=DATABASE\"; the password is best in ~/.pgpass or PGPASSWORD", "データベース: postgres://USER@HOST/DATABASE?sslmode=verify-full または \"host=HOST dbname=DATABASE\"(パスワードは ~/.pgpass か PGPASSWORD に)"))]
    pub address: TypedAddress,
    #[arg(value_name = "RUN", help = t("Ids, unique beginnings of them, or labels that one run has [default: all]", "測定の ID(先頭の一意な部分や、1 つの測定だけが持つラベルでも可) [既定: すべて]"))]
    pub runs: Vec<String>,
}
