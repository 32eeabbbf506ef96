//! Arguments of `kurabe push` and `kurabe pull`.

use crate::lang::t;
use clap::Args;
use kurabe_store::is_shared;

#[derive(Debug, Args)]
pub struct ExchangeArgs {
    #[arg(value_name = "ADDRESS", value_parser = address, help = t("The database: postgres://USER@HOST/DATABASE?sslmode=verify-full; the password is best in ~/.pgpass or PGPASSWORD", "データベース: postgres://USER@HOST/DATABASE?sslmode=verify-full(パスワードは ~/.pgpass か PGPASSWORD に)"))]
    pub address: String,
    #[arg(value_name = "RUN", help = t("Ids, unique beginnings of them, or labels that one run has [default: all]", "測定の ID(先頭の一意な部分や、1 つの測定だけが持つラベルでも可) [既定: すべて]"))]
    pub runs: Vec<String>,
}

fn address(words: &str) -> Result<String, String> {
    match is_shared(words) {
        true => Ok(words.to_owned()),
        false => {
            Err(t("an address begins with postgres://", "アドレスは postgres:// で始まります").to_owned())
        }
    }
}
