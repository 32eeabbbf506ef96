//! Location of the store: as specified by the user, or the default.

use crate::address::{AddressFault, SharedAddress};
use kurabe_core::{ErrorKind, Result, mention::DB, text};
use std::ffi::OsString;
use std::path::PathBuf;

/// A store as specified by the user. `Debug` shows no password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreName {
    /// File on this machine.
    File(PathBuf),
    /// Shared database, or the reason why its address is not valid.
    Shared(Result<SharedAddress, AddressFault>),
}

impl From<OsString> for StoreName {
    fn from(word: OsString) -> Self {
        SharedAddress::named(&word).map_or_else(|| Self::File(word.into()), Self::Shared)
    }
}

/// Returns the store that is used if none is specified: `$KURABE_DB`, else
/// `$XDG_DATA_HOME/kurabe/kurabe.db`, else `$HOME/.local/share/kurabe/kurabe.db`.
///
/// An empty variable counts as unset. `XDG_DATA_HOME` must be absolute, as its specification
/// requires, or is ignored.
///
/// # Errors
/// If none of the variables is set.
pub fn default_store(env: impl Fn(&str) -> Option<OsString>) -> Result<StoreName> {
    let word = |name: &str| env(name).filter(|value| !value.is_empty());
    if let Some(word) = word("KURABE_DB") {
        return Ok(word.into());
    }
    let path = |name: &str| word(name).map(PathBuf::from);
    let data = path("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let data = data.or_else(|| path("HOME").map(|home| home.join(".local/share")));
    data.map(|data| StoreName::File(data.join("kurabe").join("kurabe.db"))).ok_or_else(|| {
        ErrorKind::Store
            .error(text!(
                "cannot locate the store: KURABE_DB, XDG_DATA_HOME and HOME are all unset",
                "保存先を決められません: KURABE_DB、XDG_DATA_HOME、HOME のいずれも設定されていません"
            ))
            .remedy(text!(
                "set the store with {DB} FILE or the environment variable KURABE_DB",
                "{DB} FILE または環境変数 KURABE_DB で保存先を指定してください"
            ))
    })
}

/// Returns the directory for state that is not user data: `$XDG_STATE_HOME/kurabe`, else
/// `$HOME/.local/state/kurabe`.
pub(crate) fn state_directory(env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = path("XDG_STATE_HOME").or_else(|| path("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("kurabe"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::ErrorKind;
    use std::path::Path;

    fn named(variables: &[(&str, &str)]) -> Result<StoreName> {
        default_store(|name| {
            variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| OsString::from(value))
        })
    }

    fn path(variables: &[(&str, &str)]) -> Result<PathBuf> {
        match named(variables)? {
            StoreName::File(path) => Ok(path),
            StoreName::Shared(address) => panic!("{address:?}"),
        }
    }

    #[test]
    fn an_address_is_recognized_in_both_forms() {
        for words in ["postgres://aki:s3cret@db/lab", "host=db user=aki password=s3cret dbname=lab"] {
            let name = named(&[("KURABE_DB", words)]).unwrap();
            assert!(matches!(name, StoreName::Shared(Ok(_))), "{name:?}");
            assert!(!format!("{name:?}").contains("s3cret"), "{name:?}");
        }
        let name = named(&[("KURABE_DB", "host=db pasword=s3cret")]).unwrap();
        assert!(matches!(name, StoreName::Shared(Err(_))), "{name:?}");
    }

    #[test]
    fn the_nearest_variable_wins() {
        let all = [("KURABE_DB", "/x/runs.db"), ("XDG_DATA_HOME", "/data"), ("HOME", "/home/u")];
        assert_eq!(path(&all).unwrap(), Path::new("/x/runs.db"));
        assert_eq!(path(&all[1..]).unwrap(), Path::new("/data/kurabe/kurabe.db"));
        assert_eq!(path(&all[2..]).unwrap(), Path::new("/home/u/.local/share/kurabe/kurabe.db"));
    }

    #[test]
    fn empty_and_relative_variables_are_passed_over() {
        let odd = [("KURABE_DB", ""), ("XDG_DATA_HOME", "data"), ("HOME", "/home/u")];
        assert_eq!(path(&odd).unwrap(), Path::new("/home/u/.local/share/kurabe/kurabe.db"));
    }

    #[test]
    fn no_variable_at_all_is_an_error_with_a_remedy() {
        let error = path(&[("HOME", "")]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Store);
        assert!(error.remedy_text().unwrap().en.contains("--db"));
    }
}
