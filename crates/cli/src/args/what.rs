//! Arguments of `kurabe what`.

use super::paths::TargetPath;
use super::shared::{ForceArgs, WritingArgs, bytes};
use crate::lang::{below, t};
use clap::{Args, ValueHint};
use kurabe_core::Result;
use kurabe_core::output_path::OutputPath;
use kurabe_lab::{IdentityRequest, InferenceRequest, RunRequest, assignments};

#[derive(Debug, Args)]
#[command(after_help = below!("what"))]
pub struct WhatArgs {
    #[arg(
        value_name = "TARGET", value_hint = ValueHint::AnyPath,
        help = t(
            "The device: a block device, a directory or file on it, or model:NAME",
            "調べる対象: ブロックデバイス、その上のディレクトリやファイル、model:名前"
        )
    )]
    pub target: TargetPath,
    #[arg(
        long,
        help = t("Also examine what only writes can show", "書き込みでしか分からないことも調べる")
    )]
    pub write: bool,
    #[arg(
        long, value_name = "LAYER.PARAMETER=VALUE",
        help = t(
            "Change a parameter of a model, as in raid.strip=256KiB (may be repeated)",
            "モデルのパラメーターを変える。例: raid.strip=256KiB(繰り返し可)"
        )
    )]
    pub set: Vec<String>,
    #[arg(
        long, value_name = "LAYER,…", value_delimiter = ',',
        help = t("Leave layers of a model out", "モデルの層を省く")
    )]
    pub without: Vec<String>,
    #[command(flatten)]
    pub writing: WritingArgs,
    #[arg(
        long, value_name = "SIZE", value_parser = bytes,
        help = t(
            "Size of the test file in a directory, at most 1 GiB [default: 1 GiB]",
            "ディレクトリに作るテストファイルのサイズ(最大 1 GiB) [既定: 1 GiB]"
        )
    )]
    pub size: Option<u64>,
    #[arg(
        short, long, value_name = "FILE", value_hint = ValueHint::FilePath,
        help = t(
            "Also infer the mechanism and its parameters, and write them as a device file",
            "仕組みとパラメーターも推定し、デバイスファイルとして書き出す"
        )
    )]
    pub output: Option<OutputPath>,
    #[arg(
        long, value_name = "PROFILE",
        help = t(
            "Predict a profile on the device from its inferred parameters",
            "推定したパラメーターから、プロファイルの結果を予測する"
        )
    )]
    pub predict: Option<String>,
    #[command(flatten)]
    pub force: ForceArgs,
    #[arg(
        long,
        help = t("Show what would be written; examine nothing", "書き込む量を示すだけで、調べない")
    )]
    pub dry_run: bool,
}

impl WhatArgs {
    /// Returns the request of these arguments.
    ///
    /// # Errors
    /// When a change of a model is malformed.
    pub fn request(&self) -> Result<IdentityRequest> {
        let run = RunRequest {
            target: self.target.name(),
            sets: assignments("--set", &self.set, "raid.strip=256KiB")?,
            without: self.without.clone(),
            writing: self.writing.writing(),
            ..RunRequest::default()
        };
        let is_inferred = self.output.is_some() || self.predict.is_some();
        let inference = is_inferred.then(|| InferenceRequest { predict: self.predict.clone() });
        Ok(IdentityRequest { run, writes: self.write, file_bytes: self.size, inference })
    }
}
