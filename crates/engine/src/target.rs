//! Where I/O goes: what the user named, checked and opened so that nobody's data is at risk.
//!
//! The model: `Target::open` decides once what the target is, whether it may be written, whether direct I/O works
//! there and at which alignment. A block device is written only with the user's consent for that very device, when
//! nothing holds it, and while it is held exclusively here.

use crate::buffer::{Arena, Pages};
use crate::in_use::{in_use, refuse_if_in_use};
use crate::platform::{self, OpenHow};
use crate::test_file::TestFile;
use kurabe_core::device::Buffer;
use kurabe_core::quantity::{MIB, format_bytes};
use kurabe_core::record::{TargetKind, TargetRecord};
use kurabe_core::{Error, ErrorKind, Result, text};
use std::fs::{File, Metadata};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What the user allows and wants.
#[derive(Clone, Debug, Default)]
pub struct TargetOptions {
    /// Go around the page cache.
    pub direct: bool,
    /// An existing file may be written.
    pub write_existing: bool,
    /// The block device whose data may be destroyed.
    pub destroy_data_on: Option<PathBuf>,
    /// Bytes to cover.
    pub size_bytes: u64,
    /// Whether the user asked for this size, so that less is an error.
    pub size_is_asked: bool,
    /// All of a block device or an existing file is covered, unless the user asked for a size.
    pub whole_device: bool,
    /// Name of the test file, if the target is a directory.
    pub test_file_name: String,
    /// Make no test file: the profile's programs make their own, in a folder of that name.
    pub no_test_file: bool,
}

/// A target, ready.
#[derive(Debug)]
pub struct Target {
    given: String,
    path: PathBuf,
    kind: TargetKind,
    span_bytes: u64,
    direct: bool,
    alignment_bytes: u32,
    writable: bool,
    /// Holds a block device for as long as the target lives.
    _exclusive: Option<File>,
    test_file: Option<TestFile>,
    /// Where programs may work, if the target is a directory and has no test file.
    work_folder: Option<PathBuf>,
}

impl Target {
    /// Resolves, checks and opens what the user named. For a directory the test file is made and its room reserved,
    /// but nothing is written yet.
    ///
    /// # Errors
    /// When it cannot be measured, or must not be.
    pub fn open(given: &Path, options: &TargetOptions) -> Result<Self> {
        let shown = given.display();
        let cannot = |error: &std::io::Error| {
            let made =
                Error::os(text!("cannot use {shown} as a target", "{shown} を測定対象にできません"), error);
            if error.kind() == std::io::ErrorKind::NotFound {
                return made.remedy(text!(
                    "name a directory, a file or a block device that exists",
                    "実在するディレクトリ、ファイル、ブロックデバイスを指定してください"
                ));
            }
            made
        };
        let path = given.canonicalize().map_err(|error| cannot(&error))?;
        let facts = path.metadata().map_err(|error| cannot(&error))?;
        let kind = kind_of(given, &facts)?;
        let mut target = Self {
            given: given.display().to_string(),
            path,
            kind,
            span_bytes: options.size_bytes,
            direct: options.direct && kind != TargetKind::CharacterDevice,
            alignment_bytes: 1,
            writable: false,
            _exclusive: None,
            test_file: None,
            work_folder: None,
        };
        match kind {
            TargetKind::Directory if options.no_test_file => {
                target.work_folder = Some(target.path.join(&options.test_file_name));
                (target.direct, target.writable) = (false, true);
                return Ok(target);
            }
            TargetKind::Directory => target.make_test_file(options)?,
            TargetKind::BlockDevice => target.take_device(&facts, options)?,
            TargetKind::File => {
                if options.write_existing {
                    let looked_at =
                        platform::open(&target.path, OpenHow::default()).map_err(|error| cannot(&error))?;
                    refuse_if_in_use(kind, &looked_at, &target.path)?;
                }
                target.writable = options.write_existing;
                target.fit_span(facts.len(), options)?;
            }
            TargetKind::CharacterDevice | TargetKind::Model => {}
        }
        target.find_alignment()?;
        if kind == TargetKind::Directory {
            // The test file is written in whole units.
            target.span_bytes -= target.span_bytes % u64::from(target.alignment_bytes);
        }
        Ok(target)
    }

    /// The same once more, to be measured against itself: on the same test file, which this one goes on owning. Not for
    /// programs and copies, which make files of their own.
    ///
    /// # Errors
    /// When the hold on a device cannot be shared.
    pub fn again(&self) -> Result<Self> {
        let held = self._exclusive.as_ref().map(File::try_clone).transpose();
        let held = held.map_err(|error| {
            let path = self.path.display();
            Error::os(text!("cannot open {path} twice", "{path} を二重に開けません"), &error)
        })?;
        Ok(Self {
            given: self.given.clone(),
            path: self.path.clone(),
            kind: self.kind,
            span_bytes: self.span_bytes,
            direct: self.direct,
            alignment_bytes: self.alignment_bytes,
            writable: self.writable,
            _exclusive: held,
            test_file: None,
            work_folder: None,
        })
    }

    fn make_test_file(&mut self, options: &TargetOptions) -> Result<()> {
        let directory = self.path.display();
        let free = platform::free_bytes(&self.path).map_err(|error| {
            Error::os(
                text!("cannot ask for free space on {directory}", "{directory} の空き容量がわかりません"),
                &error,
            )
        })?;
        if free.is_some_and(|free| free < options.size_bytes) {
            return Err(no_space(&self.path, options.size_bytes, free));
        }
        let path = self.path.join(&options.test_file_name);
        let (test_file, file) = TestFile::create(&path)?;
        platform::preallocate(&file, options.size_bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                no_space(&self.path, options.size_bytes, platform::free_bytes(&self.path).ok().flatten())
            }
            _ => Error::os(
                text!("cannot reserve room on {directory}", "{directory} に領域を確保できません"),
                &error,
            ),
        })?;
        self.path = path;
        self.writable = true;
        self.test_file = Some(test_file);
        Ok(())
    }

    /// A block device: read-only, unless the user gave up its data.
    fn take_device(&mut self, facts: &Metadata, options: &TargetOptions) -> Result<()> {
        let device = self.path.display().to_string();
        let cannot_open =
            |error: &std::io::Error| Error::os(text!("cannot open {device}", "{device} を開けません"), error);
        if let Some(consent) = &options.destroy_data_on {
            let same = consent
                .metadata()
                .is_ok_and(|named| named.file_type().is_block_device() && named.rdev() == facts.rdev());
            if !same {
                return Err(Error::new(
                    ErrorKind::Refused,
                    text!(
                        "--destroy-data-on names {}, but the target is {device}",
                        "--destroy-data-on は {} ですが、測定対象は {device} です",
                        consent.display()
                    ),
                )
                .remedy(text!(
                    "to destroy all data on the target, name the same device twice",
                    "対象のデータをすべて失ってよい場合は、同じデバイスを両方に指定してください"
                )));
            }
            let looked_at =
                platform::open(&self.path, OpenHow::default()).map_err(|error| cannot_open(&error))?;
            refuse_if_in_use(self.kind, &looked_at, &self.path)?;
            drop(looked_at);
            if platform::is_write_protected(facts.rdev()) {
                return Err(Error::new(
                    ErrorKind::Permission,
                    text!("{device} is write-protected", "{device} は書き込み禁止です"),
                )
                .remedy(text!(
                    "take the protection off (its switch, or blockdev --setrw {device}), or measure reads alone",
                    "保護を解除する(本体のスイッチ、または blockdev --setrw {device})か、読み出しだけを測ってください"
                )));
            }
            let how = OpenHow { write: true, exclusive: true, ..OpenHow::default() };
            let held = platform::open(&self.path, how).map_err(|error| {
                if error.raw_os_error() == Some(rustix::io::Errno::BUSY.raw_os_error()) {
                    return in_use(
                        self.kind,
                        &self.path,
                        &text!("the kernel says that it is busy", "カーネルが使用中と報告"),
                    );
                }
                cannot_open(&error)
            })?;
            self._exclusive = Some(held);
            self.writable = true;
        }
        let mut file = platform::open(&self.path, OpenHow::default()).map_err(|error| cannot_open(&error))?;
        let size = file.seek(SeekFrom::End(0)).map_err(|error| cannot_open(&error))?;
        self.fit_span(size, options)
    }

    fn fit_span(&mut self, size_bytes: u64, options: &TargetOptions) -> Result<()> {
        let (path, size) = (self.path.display(), format_bytes(size_bytes));
        if size_bytes == 0 {
            return Err(Error::new(
                ErrorKind::Target,
                text!("{path} is empty: there is nothing to read", "{path} は空なので、読むものがありません"),
            )
            .remedy(text!(
                "name a directory, and a test file is made in it",
                "ディレクトリを指定すれば、その中にテストファイルを作ります"
            )));
        }
        if options.size_is_asked && options.size_bytes > size_bytes {
            return Err(Error::new(
                ErrorKind::Target,
                text!(
                    "{} were asked for, but {path} has only {size}",
                    "{} を指定されましたが、{path} は {size} しかありません",
                    format_bytes(options.size_bytes)
                ),
            )
            .remedy(text!("ask for at most {size} with --size", "--size を {size} 以下にしてください")));
        }
        let all = options.whole_device && !options.size_is_asked;
        self.span_bytes = if all { size_bytes } else { options.size_bytes.min(size_bytes) };
        Ok(())
    }

    /// Finds the smallest unit that direct I/O takes here, by trying.
    fn find_alignment(&mut self) -> Result<()> {
        if !self.direct {
            return Ok(());
        }
        let unit = self.open_file(false, false).and_then(|file| smallest_direct_unit(&file));
        match unit {
            Ok(Some(unit)) => self.alignment_bytes = unit,
            Err(error) if error.kind() != ErrorKind::Unsupported => return Err(error),
            Ok(None) | Err(_) => {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    text!(
                        "{} refuses direct I/O, so the page cache cannot be left out",
                        "{} はダイレクト I/O を受け付けないため、ページキャッシュを避けられません",
                        self.given
                    ),
                )
                .remedy(text!(
                    "--buffered measures through the page cache, and says so in the result",
                    "--buffered を付けるとページキャッシュ経由で測り、結果にそう記録します"
                )));
            }
        }
        Ok(())
    }

    /// Opens the target once more, as a thread of a repetition needs it.
    ///
    /// # Errors
    /// The operating system's; `Unsupported` where direct I/O is refused at opening.
    pub fn open_file(&self, write: bool, o_sync: bool) -> Result<File> {
        let how = OpenHow { write, o_sync, direct: self.direct, ..OpenHow::default() };
        platform::open(&self.path, how).map_err(|error| {
            let what = text!("cannot open {}", "{} を開けません", self.path.display());
            if self.direct && error.kind() == std::io::ErrorKind::InvalidInput {
                return Error::new(ErrorKind::Unsupported, what).because(error);
            }
            Error::os(what, &error)
        })
    }

    /// Cuts the test file to what was written.
    ///
    /// # Errors
    /// The operating system's.
    pub fn cut(&mut self, size_bytes: u64) -> Result<()> {
        let what = || text!("cannot shorten the test file", "テストファイルを縮められません");
        let how = OpenHow { write: true, ..OpenHow::default() };
        let file = platform::open(&self.path, how).map_err(|error| Error::os(what(), &error))?;
        file.set_len(size_bytes).map_err(|error| Error::os(what(), &error))?;
        self.span_bytes = size_bytes;
        Ok(())
    }

    /// Makes do with fewer bytes; what is there stays as it is.
    pub fn narrow(&mut self, span_bytes: u64) {
        self.span_bytes = self.span_bytes.min(span_bytes);
    }

    /// Where it is; for a directory, the test file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that offsets may cover.
    pub fn span_bytes(&self) -> u64 {
        self.span_bytes
    }

    /// Whether it may be written.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Whether I/O goes around the page cache.
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// Where programs may work: a folder that does not exist yet, and that a later run removes if this one dies.
    pub fn work_folder(&self) -> Option<&Path> {
        self.work_folder.as_deref()
    }

    /// Whether a test file was made in a directory.
    pub fn has_test_file(&self) -> bool {
        self.test_file.is_some()
    }

    /// Its kind.
    pub fn kind(&self) -> TargetKind {
        self.kind
    }

    /// Smallest unit of I/O in bytes.
    pub fn alignment_bytes(&self) -> u32 {
        self.alignment_bytes
    }

    /// What the record keeps.
    pub fn record(&self) -> TargetRecord {
        TargetRecord {
            given: self.given.clone(),
            path: self.path.display().to_string(),
            kind: self.kind,
            span_bytes: self.span_bytes,
            direct: self.direct,
            alignment_bytes: self.alignment_bytes,
            writable: self.writable,
        }
    }
}

fn kind_of(given: &Path, facts: &Metadata) -> Result<TargetKind> {
    /// Major number of the memory devices, and those among them that give bytes without end.
    const MEMORY_MAJOR: u32 = 1;
    const ENDLESS_MINORS: [u32; 3] = [5, 8, 9];
    let kind = facts.file_type();
    if kind.is_dir() {
        return Ok(TargetKind::Directory);
    }
    if kind.is_file() {
        return Ok(TargetKind::File);
    }
    if kind.is_block_device() {
        return Ok(TargetKind::BlockDevice);
    }
    let number = facts.rdev();
    if kind.is_char_device()
        && rustix::fs::major(number) == MEMORY_MAJOR
        && ENDLESS_MINORS.contains(&rustix::fs::minor(number))
    {
        return Ok(TargetKind::CharacterDevice);
    }
    Err(Error::new(
        ErrorKind::Target,
        text!(
            "{} is neither a directory, a file nor a block device",
            "{} はディレクトリでもファイルでもブロックデバイスでもありません",
            given.display()
        ),
    )
    .remedy(text!(
        "name a directory on the storage that you want to measure",
        "測りたいストレージ上のディレクトリを指定してください"
    )))
}

fn no_space(directory: &Path, need_bytes: u64, free_bytes: Option<u64>) -> Error {
    let (directory, need) = (directory.display(), format_bytes(need_bytes));
    let what = match free_bytes.map(format_bytes) {
        Some(free) => text!(
            "the test file needs {need}, but {directory} has only {free} free",
            "テストファイルに {need} 必要ですが、{directory} の空きは {free} です"
        ),
        None => text!(
            "the test file needs {need}, and {directory} has less",
            "テストファイルに {need} 必要ですが、{directory} の空きが足りません"
        ),
    };
    let fits = free_bytes.map(|free| free / MIB * 9 / 10).filter(|mib| *mib > 0);
    Error::new(ErrorKind::NoSpace, what).remedy(match fits {
        Some(mib) => text!(
            "free some room, or ask for less: --size {mib}m",
            "空きを増やすか、--size {mib}m のように小さくしてください"
        ),
        None => text!(
            "free some room, or choose another directory",
            "空きを増やすか、別のディレクトリを指定してください"
        ),
    })
}

/// The smallest power of two that direct reads take; `None` if they take none.
fn smallest_direct_unit(file: &File) -> Result<Option<u32>> {
    const LARGEST: u32 = 64 << 10;
    let (_arena, mut leases, _) = Arena::lease(1, LARGEST as usize, Pages::Small)?;
    let mut unit = 512;
    while unit <= LARGEST {
        match rustix::io::pread(file, leases[0].bytes_mut(unit as usize), u64::from(unit)) {
            Ok(_) => return Ok(Some(unit)),
            Err(rustix::io::Errno::INVAL) => unit *= 2,
            Err(rustix::io::Errno::OPNOTSUPP) => return Ok(None),
            Err(error) => {
                return Err(Error::os(text!("cannot read the target", "対象を読めません"), &error.into()));
            }
        }
    }
    Ok(None)
}
