//! Reading of files from outside, up to a size limit. A device without an end or a file of the
//! wrong kind must not exhaust the machine's memory.
//!
//! The caller names the file in errors and specifies the limit for files of its kind. A pipe or a
//! device such as `/dev/zero` reports no size, so the limit is enforced while reading. This is the
//! only place in this crate that accesses files, because every crate above it reads some.

use crate::{Error, ErrorKind, Result, Text, quantity::format_bytes, text};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// Limit for a profile, a device file, a study or a use. The largest one that comes with kurabe has
/// 27 KB, so this leaves room for generated files.
pub const MOST_DATA_FILE_BYTES: u64 = 4 << 20;
/// Limit for a result of another tool or an exported run. One day of `iostat 1` with 20 devices has
/// about 150 MiB. Reading takes about ten times the file's size in memory.
pub const MOST_IMPORT_BYTES: u64 = 256 << 20;

/// The kind of a file from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// A TOML file that configures kurabe.
    DataFile,
    /// A file to import into the store.
    Import,
}

impl Outside {
    /// Returns the size limit in bytes.
    pub fn most_bytes(self) -> u64 {
        match self {
            Self::DataFile => MOST_DATA_FILE_BYTES,
            Self::Import => MOST_IMPORT_BYTES,
        }
    }

    /// Returns the error for a larger file. It begins with `what`.
    fn too_large(self, what: &Text) -> Error {
        let most = format_bytes(self.most_bytes());
        let what = text!(
            "{what}: it is larger than {most}, the limit for files of this kind",
            "{what}({most} を超えています。この種類のファイルの上限です)"; what
        );
        match self {
            Self::DataFile => no_data_file(what),
            Self::Import => ErrorKind::Import.error(what).remedy(text!(
                "name the file that the tool wrote; if it really is that large, make the tool write less \
                 often, or split the file",
                "ツールが書いたファイルを指定してください。本当に大きい場合は、記録の間隔を広げるか、ファイルを分けてください"
            )),
        }
    }
}

fn no_data_file(what: Text) -> Error {
    ErrorKind::DataFile
        .error(what)
        .remedy(text!("name the TOML file", "読みたい TOML ファイルを指定してください"))
}

/// Reads the bytes of a file.
///
/// # Errors
/// Fails if the file can't be read or is larger than its kind allows. The message begins with
/// `what`.
pub fn bytes_of_file(name: impl AsRef<Path>, what: Text, outside: Outside) -> Result<Vec<u8>> {
    let path = name.as_ref();
    match open(path) {
        Ok(file) => bytes(file, what, outside),
        Err(_) if path.is_dir() => {
            let what = text!("{what}: it is a folder", "{what}(フォルダーです)"; what);
            Err(ErrorKind::Target
                .error(what)
                .remedy(text!("name the files in it", "フォルダーの中のファイルを指定してください")))
        }
        Err(error) if error.kind() == io::ErrorKind::TimedOut => {
            let what = text!("{what}: no process writes to this pipe", "{what}(パイプに書き込むプロセスがありません)"; what);
            Err(ErrorKind::Target.error(what).remedy(text!(
                "start the process that writes to it first",
                "書き込む側を先に起動してください"
            )))
        }
        Err(error) => Err(Error::os(what, &error)),
    }
}

/// How long to wait for another process to open the other end of a pipe.
const WRITER_LIMIT: Duration = Duration::from_secs(5);

/// Opens a file. Opening a named pipe blocks until its other end is open, so this happens in a
/// thread, which lives until the program ends if no process opens it.
fn open(path: &Path) -> io::Result<File> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if metadata.is_file() {
        return File::open(path);
    }
    let (sender, opened) = mpsc::channel();
    let path = path.to_owned();
    std::thread::Builder::new().spawn(move || sender.send(File::open(path)))?;
    opened.recv_timeout(WRITER_LIMIT).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Reads the bytes of a reader.
///
/// # Errors
/// Fails if the reader fails or provides more bytes than the kind allows. The message begins with
/// `what`.
pub fn bytes(reader: impl Read, what: Text, outside: Outside) -> Result<Vec<u8>> {
    let most = outside.most_bytes();
    let mut bytes = Vec::new();
    match reader.take(most + 1).read_to_end(&mut bytes) {
        Err(error) => Err(Error::os(what, &error)),
        Ok(_) if bytes.len() as u64 > most => Err(outside.too_large(&what)),
        Ok(_) => Ok(bytes),
    }
}

/// Reads the text of a data file.
///
/// # Errors
/// Fails if the file can't be read, is too large, or is not valid UTF-8. The message begins with
/// `what`.
pub fn text_of_file(name: &str, what: &Text) -> Result<String> {
    let bytes = bytes_of_file(name, what.clone(), Outside::DataFile)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        no_data_file(text!(
            "{what}: it is not valid UTF-8 at byte {at}",
            "{what}({at} バイト目が UTF-8 ではありません)"; what
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_testkit::needs::needs;

    fn cannot_read() -> Text {
        text!("cannot read x", "x を読めません")
    }

    #[test]
    fn what_never_ends_is_read_up_to_the_limit() {
        let error = bytes(io::repeat(0), cannot_read(), Outside::DataFile).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DataFile);
        assert!(error.what().en.contains("cannot read x: it is larger than 4 MiB"), "{error}");
        let whole = io::repeat(0).take(MOST_DATA_FILE_BYTES);
        assert_eq!(
            bytes(whole, cannot_read(), Outside::DataFile).unwrap().len() as u64,
            MOST_DATA_FILE_BYTES
        );
    }

    #[test]
    fn a_folder_and_a_pipe_that_nobody_writes_into_are_told() {
        if !needs("mkfifo") {
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        let read = |path: &Path| bytes_of_file(path, cannot_read(), Outside::Import);
        let error = read(directory.path()).unwrap_err();
        assert_eq!(error.what().en, "cannot read x: it is a folder");
        let [silent, pipe] = ["silent", "pipe"].map(|name| directory.path().join(name));
        assert!(std::process::Command::new("mkfifo").args([&silent, &pipe]).status().unwrap().success());
        let error = read(&silent).unwrap_err();
        assert_eq!(error.what().en, "cannot read x: no process writes to this pipe");
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::write(pipe, b"words")
        });
        assert_eq!(read(&pipe).unwrap(), b"words");
        writer.join().unwrap().unwrap();
    }

    #[test]
    fn a_data_file_is_text() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.toml");
        std::fs::write(&file, b"a = \"\xff\"").unwrap();
        let error = text_of_file(file.to_str().unwrap(), &cannot_read()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DataFile);
        assert!(error.what().en.contains("at byte 5"), "{error}");
        let missing = text_of_file("/there/is/none", &cannot_read()).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::Target);
    }
}
