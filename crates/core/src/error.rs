//! One error type for every room: a stable kind with an exit code, what happened, and the remedy.
//!
//! The sentence fits after "cannot …" or stands alone; it is shown once, at the edge, with the line of the data
//! file at fault when there is one.

use crate::mention::{IODEPTH, Mention, SIZE, THREADS};
use crate::text::{Lang, Text};
use crate::{shown, text, words::Keyword};
use std::fmt;

/// What went wrong, coarsely. The number is the exit code and never changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A defect of kurabe itself, or something that nothing below describes.
    Internal = 1,
    /// The command line does not make sense.
    Usage = 2,
    /// A profile or another data file is wrong.
    DataFile = 3,
    /// The target does not exist or cannot be measured (wrong type, size zero, size too large, unaligned block).
    Target = 4,
    /// The operating system refuses permission, or the file system is read-only.
    Permission = 5,
    /// kurabe refuses, to protect data (a device in use, a file that exists, a missing consent flag).
    Refused = 6,
    /// Not enough room on the target.
    NoSpace = 7,
    /// The target failed an operation while it was measured.
    Io = 8,
    /// The store cannot be used (not a database, a newer version, locked, damaged).
    Store = 9,
    /// The target or the kernel cannot do what was asked (direct I/O, an engine).
    Unsupported = 10,
    /// A file to import is not what it should be.
    Import = 11,
    /// No run has this id, or several have.
    NoSuchRun = 12,
    /// A comparison found a side slower, which was not accepted.
    Slower = 13,
    /// A comparison is not clear, which was not accepted; nor is whether a storage is fit.
    Unclear = 14,
    /// A comparison found a difference, which was not accepted.
    Different = 15,
    /// A program asks more of its storage than its budget allows.
    OverBudget = 16,
    /// A power cut took what had been promised.
    DataLost = 17,
    /// A storage is not fit for what it was asked about.
    Unfit = 18,
    /// Some of the ranks that measured together failed or gave no sign; the cells of the others hold.
    RankLost = 19,
    /// Stopped by the user.
    Interrupted = 130,
}

impl ErrorKind {
    /// The process exit code for this kind.
    pub fn exit_code(self) -> u8 {
        self as u8
    }

    /// An error of this kind, with what happened.
    pub fn error(self, what: Text) -> Error {
        Error::new(self, what)
    }
}

/// Every kind with its stable word for scripts (`--json`).
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

/// A place in a data file, with the line itself, so that the error can show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's name as the user gave it, or the name of an embedded file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Characters to underline, at least 1.
    pub width: usize,
    /// The line's text.
    pub text: String,
}

impl Place {
    /// The place of a byte range of `source`; ranges beyond the end point at the end.
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

    /// Lines with the file's line in them, the words at fault underlined. A tab takes the place of one character.
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

/// An error with everything a person needs to go on.
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

/// The result of everything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of a kind, with what happened.
    pub fn new(kind: ErrorKind, what: Text) -> Self {
        Self { inner: Box::new(Inner { kind, what, remedy: None, place: None, cause: None }) }
    }

    /// The same error, with a file's name before it.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> Self {
        self.inner.what = self.what().map(|what| format!("{name}: {what}"));
        self
    }

    /// What the user can do about it.
    #[must_use]
    pub fn remedy(mut self, remedy: Text) -> Self {
        self.inner.remedy = Some(remedy);
        self
    }

    /// Where in a data file it is.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.inner.place = Some(place);
        self
    }

    /// The lower error, in its own words.
    #[must_use]
    pub fn because(mut self, cause: impl fmt::Display) -> Self {
        self.inner.cause = Some(cause.to_string());
        self
    }

    /// An operating-system error in a context; the kind follows from the error.
    pub fn os(what: Text, error: &std::io::Error) -> Error {
        use std::io::ErrorKind as Os;
        let made = match error.kind() {
            Os::NotFound => ErrorKind::Target.error(what),
            // std has no name for a loop yet.
            kind if kind == Os::NotADirectory || format!("{kind:?}") == "FilesystemLoop" => {
                ErrorKind::Target.error(what).remedy(text!(
                    "check each part of the path: a file is no directory, a symbolic link must not lead back to itself",
                    "パスの各部分を確認してください。ファイルの下にはたどれず、シンボリックリンクは循環できません"
                ))
            }
            Os::PermissionDenied => ErrorKind::Permission.error(what).remedy(text!(
                "check the owner and mode of the path, or run as a user who may",
                "パスの所有者と権限を確認するか、権限のあるユーザーで実行してください"
            )),
            Os::ReadOnlyFilesystem => ErrorKind::Permission.error(what).remedy(text!(
                "the file system is read-only: remount it read-write unless its kind cannot be written (squashfs, ISO 9660), \
                 or measure a file on it with reads only",
                "ファイルシステムが読み取り専用です。書き込み可能にマウントし直すか(squashfs や ISO 9660 は不可)、\
                 既存のファイルを読み出しだけで測ってください"
            )),
            Os::QuotaExceeded => ErrorKind::NoSpace.error(what).remedy(text!(
                "the quota is used up, whatever the file system has free: remove files of its user, have it raised, or ask for \
                 a smaller test file with {SIZE}",
                "空き容量とは別に、割り当て(クォータ)を使い切っています。そのユーザーのファイルを減らすか、\
                 割り当てを増やすか、{SIZE} で小さなテストファイルを指定してください"
            )),
            Os::StorageFull => ErrorKind::NoSpace.error(what).remedy(text!(
                "free some room, or ask for a smaller test file with {SIZE}",
                "空きを増やすか、{SIZE} で小さなテストファイルを指定してください"
            )),
            // A limit of the process, or what the file system takes at most (4 GiB on FAT).
            Os::FileTooLarge => ErrorKind::NoSpace.error(what).remedy(text!(
                "no file may become that large here: raise the limit (ulimit -f), ask for less with {SIZE}, or use a file system that takes larger files",
                "ここではこの大きさのファイルを作れません。制限(ulimit -f)を上げるか、{SIZE} を小さくするか、大きなファイルを扱えるファイルシステムを使ってください"
            )),
            Os::InvalidFilename => ErrorKind::Target.error(what).remedy(text!(
                "the path is too long for the system: give a shorter one, such as a bind mount of the directory ({})",
                "パスがシステムの上限を超えています。ディレクトリをバインドマウントする({})などして、短いパスを指定してください",
                Mention::Shell("mount --bind . /mnt")
            )),
            Os::OutOfMemory => ErrorKind::Io.error(what).remedy(text!(
                "free some memory, or raise the limit (ulimit -v, the container's memory)",
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
        kind.error(text!("this build has no {what}", "このビルドには {what} の機能がありません")).remedy(
            text!(
                "`{BUILD_WITH} {feature}` (or `full`: all features, as in the packages)",
                "`{BUILD_WITH} {feature}` で組み込めます(`full` で全機能。配布パッケージは全機能入り)"
            ),
        )
    }

    /// A thread, or a process, that the operating system does not give.
    pub fn no_thread(error: &std::io::Error) -> Error {
        ErrorKind::Unsupported.error(text!("cannot start a thread", "スレッドを開始できません"))
            .because(error)
            .remedy(text!(
                "raise the limit of processes and threads (ulimit -u, the container's pids limit) or of memory (ulimit -v), or use fewer {THREADS} and a smaller {IODEPTH}",
                "プロセスとスレッドの上限(ulimit -u、コンテナーの pids 制限)かメモリーの上限(ulimit -v)を上げるか、{THREADS} と {IODEPTH} を小さくしてください"
            ))
    }

    /// Its kind.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// What happened.
    pub fn what(&self) -> &Text {
        &self.inner.what
    }

    /// The remedy, if one is known.
    pub fn remedy_text(&self) -> Option<&Text> {
        self.inner.remedy.as_ref()
    }

    /// What happened and why, in a line.
    pub fn what_and_why(&self) -> Text {
        let cause = self.cause().map(|cause| format!(" ({cause})")).unwrap_or_default();
        self.what().map(|what| format!("{what}{cause}"))
    }

    /// The place in a data file.
    pub fn place(&self) -> Option<&Place> {
        self.inner.place.as_ref()
    }

    /// The lower error's words.
    pub fn cause(&self) -> Option<&str> {
        self.inner.cause.as_deref()
    }

    /// The whole error for a terminal, several lines, without a trailing newline.
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
        // ENOENT, ENOTDIR, ENAMETOOLONG, ELOOP; EDQUOT is no lack of room on the file system.
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
