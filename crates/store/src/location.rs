//! Where the store lies unless the user says otherwise.

use kurabe_core::{ErrorKind, Result, mention::DB, text};
use std::ffi::OsString;
use std::path::PathBuf;

/// The path of the store: `$KURABE_DB`, else `$XDG_DATA_HOME/kurabe/kurabe.db`, else
/// `$HOME/.local/share/kurabe/kurabe.db`. An empty variable counts as unset; `XDG_DATA_HOME` must be absolute, as
/// its specification says, or is passed over.
///
/// # Errors
/// When none of the variables is set.
pub fn default_path(env: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    let path = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = path("KURABE_DB") {
        return Ok(path);
    }
    let data = path("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let data = data.or_else(|| path("HOME").map(|home| home.join(".local/share")));
    data.map(|data| data.join("kurabe").join("kurabe.db")).ok_or_else(|| {
        ErrorKind::Store
            .error(text!(
                "cannot tell where the store is: KURABE_DB, XDG_DATA_HOME and HOME are all unset",
                "保存先を決められません: KURABE_DB、XDG_DATA_HOME、HOME のいずれも設定されていません"
            ))
            .remedy(text!(
                "name the store with {DB} FILE or the variable KURABE_DB",
                "{DB} FILE または環境変数 KURABE_DB で保存先を指定してください"
            ))
    })
}

/// Where a user's programs keep what is no data of theirs: `$XDG_STATE_HOME/kurabe`, else `$HOME/.local/state/kurabe`.
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

    fn path(variables: &[(&str, &str)]) -> Result<PathBuf> {
        default_path(|name| {
            variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| OsString::from(value))
        })
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
