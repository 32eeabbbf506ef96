//! Parser of the benches' flags.

use crate::Result;
use std::collections::BTreeMap;
use std::str::FromStr;

/// Flags of the form `--name value`, and switches of the form `--name`.
#[derive(Debug, Default)]
pub struct Flags {
    values: BTreeMap<String, String>,
    switches: Vec<String>,
}

impl Flags {
    /// Reads the command line of this process. Ignores `--bench`, which cargo adds; `--help` prints
    /// `help` as an error does.
    ///
    /// # Errors
    /// Returns an error for a flag that is in neither list, or one without its value.
    pub fn from_environment(valued: &[&str], switches: &[&str], help: &str) -> Result<Self> {
        Self::read(std::env::args().skip(1), valued, switches)
            .map_err(|error| format!("{error}\n\n{help}").into())
    }

    fn read(arguments: impl Iterator<Item = String>, valued: &[&str], switches: &[&str]) -> Result<Self> {
        let mut flags = Self::default();
        let mut arguments = arguments.filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            let name = argument.trim_start_matches("--");
            if valued.contains(&name) {
                let value = arguments.next().ok_or_else(|| format!("--{name} needs a value"))?;
                flags.values.insert(name.to_owned(), value);
            } else if switches.contains(&name) {
                flags.switches.push(name.to_owned());
            } else {
                return Err(format!("there is no flag {argument} here").into());
            }
        }
        Ok(flags)
    }

    /// Returns whether a switch is given.
    pub fn has(&self, name: &str) -> bool {
        self.switches.iter().any(|switch| switch == name)
    }

    /// Stores a flag's value in `place`, if it is given.
    ///
    /// # Errors
    /// Returns an error if the value cannot be parsed.
    pub fn set<T: FromStr>(&self, name: &str, place: &mut T) -> Result<()> {
        if let Some(given) = self.values.get(name) {
            *place =
                given.parse().map_err(|_| format!("--{name} {given}: this is not a value of its kind"))?;
        }
        Ok(())
    }

    /// Stores a size given in MiB in `place_bytes`, if it is given.
    ///
    /// # Errors
    /// Returns an error if it is not a number.
    pub fn set_mib(&self, name: &str, place_bytes: &mut u64) -> Result<()> {
        let mut mib = *place_bytes >> 20;
        self.set(name, &mut mib)?;
        *place_bytes = mib << 20;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Flags> {
        Flags::read(line.split_whitespace().map(str::to_owned), &["rounds", "size-mib"], &["json"])
    }

    #[test]
    fn flags_are_read_and_cargos_own_is_passed_over() {
        let flags = read("--rounds 3 --json --bench").unwrap();
        let mut rounds = 7;
        flags.set("rounds", &mut rounds).unwrap();
        assert_eq!((rounds, flags.has("json")), (3, true));
    }

    #[test]
    fn an_unknown_flag_is_an_error() {
        assert!(read("--round 3").is_err());
        assert!(read("--rounds").is_err());
        assert!(read("--rounds three").unwrap().set("rounds", &mut 1u32).is_err());
    }
}
