//! The error type of all crates: a stable kind with an exit code, a description and a remedy.
//!
//! The sentence fits after "cannot …" or is complete without it. It is shown once, by the front
//! end, together with the faulty line of the data file if there is one.

use crate::mention::{IODEPTH, Mention, SIZE, THREADS};
use crate::text::{Lang, Text};
use crate::{shown, text, words::Keyword};
use std::fmt;

/// The category of an error. Its number is the exit code, and its meaning never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A bug in kurabe, or an error that no other kind describes.
    Internal = 1,
    /// Invalid command-line arguments.
    Usage = 2,
    /// An invalid profile or other data file.
    DataFile = 3,
    /// The target does not exist or can't be measured (wrong type, size zero, size too large,
    /// unaligned block).
    Target = 4,
    /// The operating system denies permission, or the file system is read-only.
    Permission = 5,
    /// kurabe refuses in order to protect data (a device in use, an existing file, a missing
    /// consent flag).
    Refused = 6,
    /// Not enough space on the target.
    NoSpace = 7,
    /// An operation on the target failed during the measurement.
    Io = 8,
    /// The store can't be used (not a database, a newer version, locked, damaged).
    Store = 9,
    /// The target or the kernel does not support the request (direct I/O, an engine).
    Unsupported = 10,
    /// A file to import is invalid.
    Import = 11,
    /// No run or more than one run has this id.
    NoSuchRun = 12,
    /// A comparison found an alternative slower, and that outcome was not accepted.
    Slower = 13,
    /// The outcome of a comparison or of a fitness test is unclear, and that was not accepted.
    Unclear = 14,
    /// A comparison found a difference, and that outcome was not accepted.
    Different = 15,
    /// A program needs more from its storage than its budget allows.
    OverBudget = 16,
    /// A power cut lost data that had been reported as durable.
    DataLost = 17,
    /// A storage device is unfit for the given use.
    Unfit = 18,
    /// Some of the ranks failed or stopped responding. The cells of the others are valid.
    RankLost = 19,
    /// Stopped by the user.
    Interrupted = 130,
}

impl ErrorKind {
    /// Returns the process exit code for this kind.
    pub fn exit_code(self) -> u8 {
        self as u8
    }

    /// Creates an error of this kind with a description.
    pub fn error(self, what: Text) -> Error {
        Error::new(self, what)
    }
}

/// The stable keyword of each kind for scripts (`--json`).
impl Keyword for ErrorKind {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("internal", Self::Internal),
        ("usage", Self::Usage),
        ("data_file", Self::DataFile),
        ("target", Self::Target),
        ("permission", Self::Permission),
        ("refused", Self::Refused),
        ("no_space", Self::NoSpace),
        ("io", Self::Io),
        ("store", Self::Store),
        ("unsupported", Self::Unsupported),
        ("import", Self::Import),
        ("no_such_run", Self::NoSuchRun),
        ("slower", Self::Slower),
        ("unclear", Self::Unclear),
        ("different", Self::Different),
        ("over_budget", Self::OverBudget),
        ("data_lost", Self::DataLost),
        ("unfit", Self::Unfit),
        ("rank_lost", Self::RankLost),
        ("interrupted", Self::Interrupted),
    ];
}

/// A position in a data file, with the text of its line so that an error can show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's name as the user gave it, or the name of an embedded file.
    pub file: String,
    /// One-based line number.
    pub line: usize,
    /// One-based column, in characters.
    pub column: usize,
    /// Number of characters to underline, at least 1.
    pub width: usize,
    /// The line's text.
    pub text: String,
}

impl Place {
    /// Returns the position of a byte range in `source`. A range beyond the end points to the end.
    pub fn of(file: &str, source: &str, range: std::ops::Range<usize>) -> Self {
        let floor = |mut at: usize| {
            at = at.min(source.len());
            while !source.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (start, end) = (floor(range.start), floor(range.end));
        let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = source[start..].find('\n').map_or(source.len(), |at| start + at);
        Self {
            file: file.to_owned(),
            line: source[..start].matches('\n').count() + 1,
            column: source[line_start..start].chars().count() + 1,
            width: source[start..end.clamp(start, line_end)].chars().count().max(1),
            text: source[line_start..line_end].trim_end_matches('\r').to_owned(),
        }
    }

    /// Renders the line with the faulty words underlined. A tab is shown as one character.
    fn render(&self) -> String {
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        let shown = |words: String| shown::line(&words.replace('\t', " "));
        let before = shown(self.text.chars().take(self.column - 1).collect());
        let marked = shown(self.text.chars().skip(self.column - 1).take(self.width).collect());
        let behind = shown(self.text.chars().skip(self.column - 1 + self.width).collect());
        let indent = " ".repeat(before.chars().count());
        let mark = "^".repeat(marked.chars().count().max(1));
        let (file, line, column) = (shown::line(&self.file), self.line, self.column);
        format!(
            "\n {gutter}--> {file}:{line}:{column}\n {number} | {before}{marked}{behind}\n {gutter} | {indent}{mark}"
        )
    }
}

/// An error with all information that the user needs to continue.
#[derive(Debug)]
pub struct Error {
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    what: Text,
    remedy: Option<Text>,
    place: Option<Place>,
    cause: Option<String>,
}

/// The result type of fallible functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Creates an error of a kind with a description.
    pub fn new(kind: ErrorKind, what: Text) -> Self {
        Self { inner: Box::new(Inner { kind, what, remedy: None, place: None, cause: None }) }
    }

    /// Prefixes the description with a file name.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> Self {
        self.inner.what = self.what().map(|what| format!("{name}: {what}"));
        self
    }

    /// Sets the remedy: what the user can do about the error.
    #[must_use]
    pub fn remedy(mut self, remedy: Text) -> Self {
        self.inner.remedy = Some(remedy);
        self
    }

    /// Sets the position in a data file.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.inner.place = Some(place);
        self
    }

    /// Sets the underlying error, as text.
    #[must_use]
    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.inner.cause = Some(cause.to_string());
        self
    }

    /// Creates an error from an operating-system error. The kind follows from that error.
    pub fn os(what: Text, error: &std::io::Error) -> Error {
        use std::io::ErrorKind as Os;
        let made = match error.kind() {
            Os::NotFound => ErrorKind::Target.error(what),
            // std does not yet have a stable name for a symbolic link loop.
            kind if kind == Os::NotADirectory || format!("{kind:?}") == "FilesystemLoop" => {
                ErrorKind::Target.error(what).remedy(text!(
                    "check each part of the path: it may contain a file where a directory is expected, or \
                     a symbolic link that points to itself",
                    "パスの各部分を確認してください。ファイルの下にはたどれず、シンボリックリンクは循環できません"
                ))
            }
            Os::PermissionDenied => ErrorKind::Permission.error(what).remedy(text!(
                "check the owner and mode of the path, or run as a user with permission",
                "パスの所有者と権限を確認するか、権限のあるユーザーで実行してください"
            )),
            Os::ReadOnlyFilesystem => ErrorKind::Permission.error(what).remedy(text!(
                "the file system is read-only: remount it read-write (not possible with squashfs and ISO \
                 9660), or measure an existing file on it with reads only",
                "ファイルシステムが読み取り専用です。書き込み可能にマウントし直すか(squashfs や ISO 9660 は不可)、\
                 既存のファイルを読み出しだけで測ってください"
            )),
            Os::QuotaExceeded => ErrorKind::NoSpace.error(what).remedy(text!(
                "the disk quota is used up, although the file system may have free space: remove files of \
                 the user, have the quota raised, or use a smaller test file with {SIZE}",
                "空き容量とは別に、割り当て(クォータ)を使い切っています。そのユーザーのファイルを減らすか、\
                 割り当てを増やすか、{SIZE} で小さなテストファイルを指定してください"
            )),
            Os::StorageFull => ErrorKind::NoSpace.error(what).remedy(text!(
                "free some space, or use a smaller test file with {SIZE}",
                "空きを増やすか、{SIZE} で小さなテストファイルを指定してください"
            )),
            // Either a process limit or the maximum file size of the file system (4 GiB on FAT).
            Os::FileTooLarge => ErrorKind::NoSpace.error(what).remedy(text!(
                "files cannot be that large here: raise the limit (ulimit -f), choose a smaller {SIZE}, \
                 or use a file system that supports larger files",
                "ここではこの大きさのファイルを作れません。制限(ulimit -f)を上げるか、{SIZE} を小さくするか、大きなファイルを扱えるファイルシステムを使ってください"
            )),
            Os::InvalidFilename => ErrorKind::Target.error(what).remedy(text!(
                "the path is too long for the system: use a shorter one, such as a bind mount of the directory ({})",
                "パスがシステムの上限を超えています。ディレクトリをバインドマウントする({})などして、短いパスを指定してください",
                Mention::Shell("mount --bind . /mnt")
            )),
            Os::OutOfMemory => ErrorKind::Io.error(what).remedy(text!(
                "free some memory, or raise the limit (ulimit -v, the container's memory limit)",
                "メモリーを空けるか、制限(ulimit -v、コンテナーのメモリー)を上げてください"
            )),
            Os::Unsupported => ErrorKind::Unsupported.error(what),
            _ => ErrorKind::Io.error(what),
        };
        made.because(error)
    }

    /// Returns the error for a part that this build lacks, with the command that builds it in.
    pub fn not_built(kind: ErrorKind, what: &str, feature: &str) -> Error {
        const BUILD_WITH: Mention = Mention::Shell("cargo install --locked --path crates/cli --features");
        kind.error(text!("this build does not include {what}", "このビルドには {what} の機能がありません"))
            .remedy(text!(
                "build with `{BUILD_WITH} {feature}` (or `full` for all features, as in the packages)",
                "`{BUILD_WITH} {feature}` で組み込めます(`full` で全機能。配布パッケージは全機能入り)"
            ))
    }

    /// Creates the error for a thread or process that the operating system refused to create.
    pub fn no_thread(error: &std::io::Error) -> Error {
        ErrorKind::Unsupported.error(text!("cannot start a thread", "スレッドを開始できません"))
            .because(error)
            .remedy(text!(
                "raise the limit of processes and threads (ulimit -u, the container's pids limit) or of \
                 memory (ulimit -v), or use fewer {THREADS} and a smaller {IODEPTH}",
                "プロセスとスレッドの上限(ulimit -u、コンテナーの pids 制限)かメモリーの上限(ulimit -v)を上げるか、{THREADS} と {IODEPTH} を小さくしてください"
            ))
    }

    /// Returns the kind, which determines the exit code.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// Returns the description of what happened.
    pub fn what(&self) -> &Text {
        &self.inner.what
    }

    /// Returns the remedy, if one is known.
    pub fn remedy_text(&self) -> Option<&Text> {
        self.inner.remedy.as_ref()
    }

    /// Returns the description and the cause in one line.
    pub fn what_and_why(&self) -> Text {
        let cause = self.cause().map(|cause| format!(" ({cause})")).unwrap_or_default();
        self.what().map(|what| format!("{what}{cause}"))
    }

    /// Returns the position in a data file.
    pub fn place(&self) -> Option<&Place> {
        self.inner.place.as_ref()
    }

    /// Returns the text of the underlying error.
    pub fn cause(&self) -> Option<&str> {
        self.inner.cause.as_deref()
    }

    /// Renders the whole error for a terminal, in several lines without a trailing newline.
    pub fn render(&self, lang: Lang) -> String {
        let mut out = format!("kurabe: {}", shown::line(self.what().get(lang)));
        if let Some(cause) = self.cause() {
            out.push_str(&format!(": {}", Text::same(cause).line(lang)));
        }
        if let Some(place) = self.place() {
            out.push_str(&place.render());
        }
        if let Some(remedy) = self.remedy_text() {
            let remedy = shown::line(remedy.get(lang));
            out.push_str(&format!("\n  {} {remedy}", lang.pick("remedy:", "対処:")));
        }
        out
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown::line(&self.what().en))?;
        if let Some(cause) = self.cause() {
            write!(f, ": {}", shown::line(cause))?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_unique_and_never_zero() {
        let mut codes: Vec<u8> = ErrorKind::WORDS.iter().map(|(_, kind)| kind.exit_code()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ErrorKind::WORDS.len());
        assert!(!codes.contains(&0));
    }

    #[test]
    fn a_path_that_leads_nowhere_is_an_unusable_target() {
        // ENOENT, ENOTDIR, ENAMETOOLONG and ELOOP. EDQUOT does not mean that the file system is
        // full.
        for number in [2, 20, 36, 40] {
            let error = Error::os(Text::same("x"), &std::io::Error::from_raw_os_error(number));
            assert_eq!(error.kind(), ErrorKind::Target, "{number}");
        }
        let error = Error::os(Text::same("x"), &std::io::Error::from_raw_os_error(122));
        assert_eq!(error.kind(), ErrorKind::NoSpace);
        assert!(error.remedy_text().unwrap().en.contains("quota"), "{error:?}");
    }

    #[test]
    fn a_place_underlines_the_word() {
        let source = "a = 1\nblök = 2\n";
        let place = Place::of("p.toml", source, 6..11);
        assert_eq!((place.line, place.column, place.width), (2, 1, 4));
        assert_eq!(place.text, "blök = 2");
        let poisoned = "\tx\u{1b}c = \u{202e}\n";
        let error = ErrorKind::DataFile.error(Text::same("a\nb")).at(Place::of("p\r", poisoned, 8..11));
        assert_eq!(
            error.render(Lang::En),
            "kurabe: a\\nb\n  --> p\\r:1:8\n 1 |  x\\x1bc = \\u{202e}\n   |           ^^^^^^^^"
        );
        let end = Place::of("p.toml", source, 900..901);
        assert_eq!((end.line, end.width), (3, 1));
    }
}
