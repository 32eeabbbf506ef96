//! Opens data, and decides whether a file may be written to.
//!
//! A file that kurabe created for data has a mark (an extended attribute) and is reused without
//! confirmation. Any other existing file is written to only with the user's permission. A file is
//! inspected through a read-only descriptor and then reopened through this descriptor, so that it
//! cannot be replaced in between. It is locked while it is served.

use super::image::OverImage;
use super::sparse::Sparse;
use super::{DataStorage, DiskData};
use kurabe_core::mention::{DATA, EXPORTS, MODELS_SHOW, SET, WRITE_EXISTING};
use kurabe_core::{Error, ErrorKind, Result, shown, text};
use kurabe_host::available_memory_bytes;
use rustix::fs::XattrFlags;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Extended attribute of a file that kurabe created for data.
const ATTRIBUTE: &str = "user.kurabe.data";
/// Available memory that is assumed if the kernel does not report it.
const USUAL_MEMORY_BYTES: u64 = 1 << 30;

/// The user's choice of the place for data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataPlace {
    /// In memory.
    Memory,
    /// In a file.
    File(PathBuf),
    /// On top of an image.
    Over(PathBuf),
    /// Computed from the offset; nothing is stored.
    Pattern,
}

/// Data of every export.
#[derive(Debug)]
pub struct OpenedData {
    /// Data by export.
    pub disks: Vec<DiskData>,
    /// Memory that the data may take, if it is stored there.
    pub most_bytes: Option<u64>,
}

impl DataPlace {
    /// Parses `memory`, `pattern`, `file:PATH` or `over:IMAGE`.
    ///
    /// # Errors
    /// If the text is none of these.
    pub fn parse(text: &str) -> Result<Self> {
        match text.split_once(':') {
            None if text == "memory" => Ok(Self::Memory),
            None if text == "pattern" => Ok(Self::Pattern),
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(path.into())),
            Some(("over", path)) if !path.is_empty() => Ok(Self::Over(path.into())),
            _ => Err(ErrorKind::Usage
                .error(text!(
                    "`{text}` is not a place for data",
                    "`{text}` はデータの置き場所として読めません"
                ))
                .remedy(text!(
                    "write memory, file:PATH, over:IMAGE or pattern",
                    "memory、file:パス、over:イメージ、pattern のいずれかを書いてください"
                ))),
        }
    }

    /// Opens the data of exports of one size. `write_existing` permits writing to an existing file
    /// that kurabe did not create.
    ///
    /// # Errors
    /// If it cannot be opened, or must not be written to.
    pub fn open(&self, size_bytes: u64, exports: usize, write_existing: bool) -> Result<OpenedData> {
        let most_bytes = available_memory_bytes().unwrap_or(USUAL_MEMORY_BYTES) / 2;
        let no_memory = |error: io::Error| {
            Error::os(text!("cannot get memory for data", "データ用のメモリーを確保できません"), &error)
        };
        let for_each =
            |open: &dyn Fn() -> Result<DiskData>| (0..exports).map(|_| open()).collect::<Result<Vec<_>>>();
        let share = most_bytes / exports.max(1) as u64;
        let disks: Vec<DiskData> = match self {
            Self::Memory => for_each(&|| DiskData::memory(size_bytes, share).map_err(no_memory))?,
            Self::Pattern => for_each(&|| Ok(DiskData { size_bytes, storage: DataStorage::Pattern }))?,
            Self::File(path) => {
                one_only(exports, path)?;
                let file = open_file(path, size_bytes, write_existing)?;
                vec![DiskData { size_bytes, storage: DataStorage::File(Sparse::in_file(file)) }]
            }
            Self::Over(path) => {
                let over = || {
                    let (image, image_bytes) = open_image(path, size_bytes)?;
                    let over = OverImage::new(image, image_bytes, size_bytes, share).map_err(no_memory)?;
                    Ok(DiskData { size_bytes, storage: DataStorage::Over(over) })
                };
                for_each(&over)?
            }
        };
        let in_memory = matches!(self, Self::Memory | Self::Over(_));
        Ok(OpenedData { disks, most_bytes: in_memory.then_some(most_bytes) })
    }
}

fn one_only(exports: usize, path: &Path) -> Result<()> {
    if exports == 1 {
        return Ok(());
    }
    let shown = shown::path(path);
    Err(ErrorKind::Usage
        .error(text!(
            "{exports} exports cannot share one file, {shown}",
            "{exports} 個のエクスポートで {shown} は共有できません"
        ))
        .remedy(text!("use {DATA} memory with {EXPORTS}", "{EXPORTS} には {DATA} memory を使ってください")))
}

/// Creates a file with the mark, or opens an existing one that may be used.
fn open_file(path: &Path, size_bytes: u64, write_existing: bool) -> Result<File> {
    let shown = shown::path(path);
    let cannot = |error: &io::Error| cannot_use(&shown, error);
    let made = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path);
    match made {
        Ok(file) => {
            lock(&file, &shown)?;
            // Without support for extended attributes the file has no mark, and the next start asks
            // for permission.
            let _ = rustix::fs::fsetxattr(&file, ATTRIBUTE, b"1", XattrFlags::empty());
            file.set_len(size_bytes).map_err(|error| cannot(&error))?;
            Ok(file)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            open_existing(path, size_bytes, write_existing)
        }
        Err(error) => Err(cannot(&error)),
    }
}

fn open_existing(path: &Path, size_bytes: u64, write_existing: bool) -> Result<File> {
    let shown = shown::path(path);
    let cannot = |error: &io::Error| cannot_use(&shown, error);
    // Without `O_NONBLOCK`, opening a pipe would block.
    let looked = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path);
    let looked = looked.map_err(|error| cannot(&error))?;
    let facts = looked.metadata().map_err(|error| cannot(&error))?;
    if !facts.is_file() {
        return Err(ErrorKind::Refused
            .error(text!("{shown} is not a regular file", "{shown} は通常のファイルではありません"))
            .remedy(text!(
                "name a file that does not exist yet",
                "まだないファイルの名前を指定してください"
            )));
    }
    let mut mark = [0u8; 8];
    let is_ours = rustix::fs::fgetxattr(&looked, ATTRIBUTE, &mut mark).is_ok();
    if !is_ours && !write_existing {
        return Err(ErrorKind::Refused.error(text!("{shown} already exists, and kurabe did not create it \
            as a data file", "{shown} はすでにあり、kurabe が作ったデータファイルではありません"))
        .remedy(text!(
            "choose another name, use over:{shown} to read the file without changing it, or add \
             {WRITE_EXISTING} to let clients write to it",
            "別の名前を指定してください。over:{shown} なら読むだけで書き込みません。{WRITE_EXISTING} を付けるとクライアントが書き込めます"
        )));
    }
    if let Some(claim) = kurabe_host::claims(&looked, path)?.first() {
        let by = &claim.by;
        return Err(
            ErrorKind::Refused.error(text!("{shown} is in use: {by}", "{shown} は使用中です: {by}"; by))
        );
    }
    let length = facts.len();
    if length > size_bytes || (is_ours && length != size_bytes) {
        return Err(ErrorKind::Target
            .error(text!(
                "the size of {shown} is {length} bytes, but the model has {size_bytes}",
                "{shown} は {length} バイトで、モデルの {size_bytes} バイトと合いません"
            ))
            .remedy(text!(
                "serve the model it was made for, or name another file",
                "このファイルを作ったときのモデルを指定するか、別のファイルを指定してください"
            )));
    }
    let again = format!("/proc/self/fd/{}", looked.as_raw_fd());
    let file = OpenOptions::new().read(true).write(true).open(again).map_err(|error| cannot(&error))?;
    lock(&file, &shown)?;
    file.set_len(size_bytes).map_err(|error| cannot(&error))?;
    Ok(file)
}

fn cannot_use(shown: &str, error: &io::Error) -> Error {
    Error::os(text!("cannot use {shown} for data", "{shown} をデータに使えません"), error)
}

fn lock(file: &File, shown: &str) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(ErrorKind::Refused
            .error(text!("another server already uses {shown}", "{shown} はすでに使用中です"))
            .remedy(text!("stop the other server first", "先にもう一方のサーバーを終了してください"))),
        // The file system does not support locks.
        Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Opens an image read-only, and returns its size in bytes.
fn open_image(path: &Path, size_bytes: u64) -> Result<(File, u64)> {
    let shown = shown::path(path);
    let cannot = |error: &io::Error| Error::os(text!("cannot read {shown}", "{shown} を読めません"), error);
    let image = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path);
    let image = image.map_err(|error| cannot(&error))?;
    let kind = image.metadata().map_err(|error| cannot(&error))?.file_type();
    if !kind.is_file() && !kind.is_block_device() {
        return Err(ErrorKind::Target.error(text!(
            "{shown} is neither a file nor a block device",
            "{shown} はファイルでもブロックデバイスでもありません"
        )));
    }
    // Seeking also works for a block device, whose metadata has no length.
    let bytes =
        rustix::fs::seek(&image, rustix::fs::SeekFrom::End(0)).map_err(|error| cannot(&error.into()))?;
    if bytes > size_bytes {
        return Err(ErrorKind::Target.error(text!(
            "the size of {shown} is {bytes} bytes, more than the model's {size_bytes}",
            "{shown} は {bytes} バイトで、モデルの {size_bytes} バイトより大きいです"
        ))
        .remedy(text!(
            "serve a larger model, or change its capacity with {SET} (`{MODELS_SHOW}` names the parameter)",
            "より大きなモデルを指定するか、{SET} で容量を変えてください(パラメーター名は `{MODELS_SHOW}` で分かります)"
        )));
    }
    Ok((image, bytes))
}
