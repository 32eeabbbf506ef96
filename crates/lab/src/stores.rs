//! Location of the user's store, and opening it.

use crate::recover::{owner_is_elsewhere, owner_lives};
use crate::served;
use kurabe_compare::DIGESTER;
use kurabe_core::environment::Environment;
use kurabe_core::mention::{DB, FORCE, LIST, PUSH, RM};
use kurabe_core::process::ProcessIdentity;
use kurabe_core::record::RunRecord;
use kurabe_core::{ErrorKind, Result, shown, text};
use kurabe_host::ObserveOptions;
use kurabe_store::{
    Archive, Runs, SharedAccess, SharedAddress, SqliteStore, Store, StoreName, default_store, open_shared,
};
use std::cell::Cell;
use std::path::{Path, PathBuf};

/// A store that was named, or the user's default store. A shared database is only read.
#[derive(Clone, Debug, Default)]
pub struct StorePlace(pub Option<StoreName>);

impl From<PathBuf> for StorePlace {
    fn from(path: PathBuf) -> Self {
        Self(Some(StoreName::File(path)))
    }
}

/// Returns the environment of a path, in the form in which the runs of a store record it. Returns
/// `None` if the word is not an existing path.
///
/// # Errors
/// When the store cannot be read.
pub fn observed(store: &dyn Runs, word: &str) -> Result<Option<Environment>> {
    let path = Path::new(word);
    if !(word.contains('/') || word.starts_with('.')) || !path.exists() {
        return Ok(None);
    }
    Ok(Some(served::observed(path, &ObserveOptions { with_serial: false, salt: &store.salt()? })))
}

impl StorePlace {
    /// Returns the path of the store.
    ///
    /// # Errors
    /// When its folder does not exist, no environment variable determines the default store, or it
    /// is a shared database.
    pub fn path(&self) -> Result<PathBuf> {
        match self.name()? {
            StoreName::Shared(_) => Err(ErrorKind::Usage
                .error(text!(
                    "a shared database is read-only: kurabe does not measure into it or change it",
                    "共有データベースは読み出し専用です(測定や変更はできません)"
                ))
                .remedy(text!(
                    "use the store of this machine, and send its runs there afterwards with `{PUSH}`",
                    "このマシンの保存先を使い、あとから `{PUSH}` で送ってください"
                ))),
            StoreName::File(path) if self.0.is_some() => check_folder(&path).map(|()| path),
            StoreName::File(path) => Ok(path),
        }
    }

    /// Returns the name of the store. A shared one has a valid address.
    fn name(&self) -> Result<StoreName> {
        match self.0.clone().map_or_else(|| default_store(|name| std::env::var_os(name)), Ok)? {
            StoreName::Shared(Err(fault)) => Err(fault.into()),
            name => Ok(name),
        }
    }

    /// Returns the address if the store is a shared database.
    fn shared(&self) -> Result<Option<SharedAddress>> {
        match self.name()? {
            StoreName::Shared(address) => Ok(address.ok()),
            StoreName::File(_) => Ok(None),
        }
    }

    /// Opens the shared database for reading, if the store is one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn shared_runs(&self) -> Result<Option<Box<dyn Runs>>> {
        let address = self.shared()?;
        address
            .map(|address| shared(&address, SharedAccess::Read).map(|runs| runs as Box<dyn Runs>))
            .transpose()
    }

    /// Opens the runs: those of a shared database, or those of this machine's store, which is
    /// created if necessary.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn runs(&self) -> Result<Box<dyn Runs>> {
        match self.shared_runs()? {
            Some(runs) => Ok(runs),
            // A read-only store exists, and must not be created.
            None => match self.existing()? {
                Some(store) => Ok(store),
                None => Ok(self.open()?),
            },
        }
    }

    /// Returns the absolute path of the store, if there is a place for one.
    ///
    /// # Errors
    /// When the store was named, and its folder does not exist.
    pub fn lasting_path(&self) -> Result<Option<PathBuf>> {
        match self.path() {
            Ok(path) => Ok(Some(std::path::absolute(&path).unwrap_or(path))),
            Err(error) if self.0.is_some() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Opens the store, creating it if necessary.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn open(&self) -> Result<Box<dyn Store>> {
        Ok(Box::new(SqliteStore::open(&self.path()?, DIGESTER)?))
    }

    /// Opens the store if it exists.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn existing(&self) -> Result<Option<Box<dyn Store>>> {
        let store = SqliteStore::open_existing(&self.path()?, DIGESTER)?;
        Ok(store.map(|store| Box::new(store) as Box<dyn Store>))
    }
}

/// Opens the shared database at an address.
///
/// # Errors
/// When it cannot be used.
pub fn shared(address: &SharedAddress, access: SharedAccess) -> Result<Box<dyn Archive>> {
    open_shared(address, access, DIGESTER, &|name| std::env::var_os(name))
}

/// Refuses a store in a folder that does not exist, which is more likely a mistake than intended.
/// The folder of a default store is created.
fn check_folder(store: &Path) -> Result<()> {
    let Some(folder) = store.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists())
    else {
        return Ok(());
    };
    let folder = shown::path(folder);
    Err(ErrorKind::Store
        .error(text!("{DB}: the folder {folder} does not exist", "{DB}: フォルダー {folder} がありません"))
        .remedy(text!(
            "correct the path, or create the folder first: mkdir -p {folder}",
            "パスを直すか、先にフォルダーを作ってください: mkdir -p {folder}"
        )))
}

/// Loads the runs with these names, which must be distinct.
///
/// # Errors
/// When a run does not exist, or is named twice.
pub fn distinct_runs<'n>(
    store: &dyn Runs,
    names: impl IntoIterator<Item = &'n String>,
) -> Result<Vec<RunRecord>> {
    let ids = names.into_iter().map(|name| store.resolve(name)).collect::<Result<Vec<_>>>()?;
    if let Some(twice) =
        ids.iter().enumerate().find_map(|(place, id)| ids[..place].contains(id).then_some(id))
    {
        return Err(ErrorKind::Usage
            .error(text!(
                "{twice} is named twice; both refer to the same run",
                "{twice} が 2 回指定されています(同じ測定です)"
            ))
            .remedy(text!("choose a run from `{LIST}`", "`{LIST}` ですべての測定を確認できます")));
    }
    ids.iter().map(|id| store.load(id)).collect()
}

/// Removes a run from a store. With `force`, also one that another machine or container may still
/// be measuring.
///
/// # Errors
/// When the run does not exist, it is being measured, or the store cannot be written.
pub fn remove_run(store: &dyn Store, id: &str, force: bool) -> Result<()> {
    let is_elsewhere = Cell::new(false);
    let is_kept = |owner: &ProcessIdentity| {
        is_elsewhere.set(owner_is_elsewhere(owner));
        owner_lives(owner) && !(force && is_elsewhere.get())
    };
    store.remove(id, &is_kept).map_err(|error| match is_elsewhere.get() {
        true => error.remedy(text!(
            "it belongs to another machine or a container; if that no longer exists: {RM} {FORCE} {id}",
            "別のマシンかコンテナーの測定です。それがもうなければ: {RM} {FORCE} {id}"
        )),
        false => error,
    })
}
