//! fio's spellings of what `kurabe run` has words of its own for, so that a command line can be carried over. They are not in
//! the help: whoever does not know them does not need them.

use crate::lang::t;
use clap::{Args, builder::BoolishValueParser};
use kurabe_core::issue::{Engine, EngineChoice};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct FioWords {
    #[arg(long, alias = "directory", hide = true, value_name = "PATH", conflicts_with = "target")]
    pub filename: Option<PathBuf>,
    #[arg(long, hide = true, value_name = "ENGINE", value_parser = engine, conflicts_with = "engine")]
    pub ioengine: Option<EngineChoice>,
    /// A time ends a repetition here in any case.
    #[arg(long = "time_based", hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "1", value_parser = BoolishValueParser::new())]
    time_based: Option<bool>,
    /// Threads are one figure here in any case.
    #[arg(long = "group_reporting", hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "1", value_parser = BoolishValueParser::new())]
    group_reporting: Option<bool>,
}

/// kurabe's engine for one of fio's. libaio takes the way of io_uring through the kernel's block layer.
fn engine(word: &str) -> Result<EngineChoice, String> {
    match word {
        "io_uring" | "libaio" => Ok(EngineChoice::Fixed(Engine::Uring)),
        "sync" | "psync" => Ok(EngineChoice::Fixed(Engine::Threads)),
        _ => Err(t(
            "kurabe has no counterpart; io_uring, libaio (done with io_uring), psync and sync are taken",
            "対応するエンジンがありません。使えるのは io_uring、libaio(io_uring で行います)、psync、sync です",
        )
        .to_owned()),
    }
}
