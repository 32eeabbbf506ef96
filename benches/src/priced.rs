//! Programs in Python with a fixed amount of work, priced and run on models.

use crate::{Result, child};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Memory, on which a program takes its own time.
pub(crate) const MEMORY: &str = "ideal-ram-disk";
/// Counts that are equal in each recording of a program that writes from one process.
pub(crate) const COUNTS: [&str; 3] = ["flushes", "writes", "written_bytes"];

/// The programs of a file, whose first argument is the name of one.
pub(crate) struct PricedPrograms {
    kurabe: PathBuf,
    python: String,
    file: PathBuf,
    folder: TempDir,
}

impl PricedPrograms {
    /// Finds the interpreter, and writes a panel of these models.
    pub(crate) fn new(kurabe: &Path, file: &str, models: &[String]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let python = child::run(Command::new("python3").args(["-c", "import sys; print(sys.executable)"]))?;
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(file);
        let programs =
            Self { kurabe: kurabe.to_owned(), python: python.stdout.trim().to_owned(), file, folder };
        let device = |model: &String| format!("[[device]]\nmodel = \"{model}\"\n");
        let panel = format!("schema = 1\n{}", models.iter().map(device).collect::<String>());
        std::fs::write(programs.path("panel.toml"), panel)?;
        Ok(programs)
    }

    /// Returns a path in the folder of the bench.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the names of the programs that can run here.
    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let listed = child::run(Command::new(&self.python).arg(&self.file).arg("list"))?.stdout;
        Ok(listed.split_whitespace().map(str::to_owned).collect())
    }

    /// Returns the bill of a program.
    pub(crate) fn bill(&self, options: &[&str], program: &[&str]) -> Result<Value> {
        let mut command = self.command();
        command.args(["price", "--panel"]).arg(self.path("panel.toml")).args(options);
        command.arg("--").arg(&self.python).arg(&self.file).args(program);
        Ok(serde_json::from_str(&child::run(&mut command)?.stdout)?)
    }

    /// Runs a program in real time on a model, with the writing of what it leaves in memory, and
    /// returns its bill.
    pub(crate) fn on(&self, model: &str, program: &[&str]) -> Result<Value> {
        let line = format!("{} {} {} && sync -f .", self.python, self.file.display(), program.join(" "));
        let mut command = self.command();
        command.args(["on", &format!("model:{model}"), "--", "sh", "-c", &line]);
        let mut ended: Value = serde_json::from_str(&child::run(&mut command)?.stdout)?;
        Ok(ended["bill"].take())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.kurabe);
        command.args(["--json", "-q"]);
        command.env("HOME", self.folder.path()).env("KURABE_RUNTIME_DIR", self.path("run"));
        command
    }
}

/// Returns the price of a bill on a model.
pub(crate) fn price_on<'b>(bill: &'b Value, model: &str) -> Result<&'b Value> {
    let mut prices = bill["prices"].as_array().into_iter().flatten();
    Ok(prices.find(|price| price["model"] == *model).ok_or("no such price")?)
}

/// Returns the values of all recordings.
pub(crate) fn values_of(values: &Value) -> Vec<u64> {
    values.as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
}

/// Returns whether values differ.
pub(crate) fn vary(values: &[u64]) -> bool {
    values.windows(2).any(|pair| pair[0] != pair[1])
}

/// Formats values as a range, or as one if they are equal.
pub(crate) fn shown(values: &[u64]) -> String {
    match (values.iter().min(), values.iter().max()) {
        (Some(least), Some(most)) if least != most => format!("{least}–{most}"),
        (Some(value), _) => value.to_string(),
        _ => String::new(),
    }
}
