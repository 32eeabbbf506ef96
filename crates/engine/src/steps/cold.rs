//! Cold starts for programs and copies that use the page cache: dirty pages are written back, and
//! nothing is cached.
//!
//! Dirty pages are written first, because only clean pages can be dropped. Then the cache of the
//! whole machine is dropped, or, if that is not permitted, the pages of the affected files. The
//! drive's own cache is not affected.

use crate::real::{CachePolicy, Real};
use crate::{context::Context, platform};
use kurabe_core::record::{NoticeKind, TargetKind};
use kurabe_core::{Error, Result, Text, mention::CACHE, text, workload::SyncRule};
use kurabe_program::Folder;
use rustix::fs::{FileType, OFlags};
use std::fs::File;
use std::io;

/// The work that starts cold, which determines the wording of notices.
#[derive(Clone, Copy)]
enum Cold {
    Repetition,
    Part,
    Command,
}

impl Real<'_> {
    /// Makes buffered repetitions start cold, unless the cache policy is to keep the cache.
    pub(crate) fn drop_cache(&self, context: &mut Context<'_>) -> Result<()> {
        let target = &*self.target;
        let (is_direct, is_writable) = (target.facts().direct, target.facts().writable);
        if is_direct || target.facts().kind == TargetKind::CharacterDevice || self.cache_is_kept(context)? {
            return Ok(());
        }
        if is_writable {
            self.write_back(context)?;
        }
        let file = self.target.open_file(is_writable, SyncRule::default())?;
        tell_dropped(
            context,
            platform::drop_page_cache(),
            || platform::forget_cached(&file),
            Cold::Repetition,
        )
    }

    /// Makes all pages of the test file new to the file system, if the profile measures a log that grows:
    /// allocated, but not written.
    pub(crate) fn renew_pages(&self, context: &mut Context<'_>) -> Result<()> {
        let facts = self.target.facts();
        if !context.profile.rules.new_pages || facts.kind != TargetKind::Directory {
            return Ok(());
        }
        let file = self.target.open_file(true, SyncRule::default())?;
        let span_bytes = facts.span_bytes;
        match platform::unwrite(&file, span_bytes) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            renewed => return context.store(move |_| renewed.and_then(|()| sync_file(&file))),
        }
        let message = text!(
            "this file system cannot make written pages new again: flushes here commit less often than \
             those of a new log",
            "このファイルシステムは書き込み済みのページを未書き込みに戻せないため、ページの位置を記録するフラッシュは新しいログより少なくなります"
        );
        context.notice_once(NoticeKind::Other, message)
    }

    /// Flushes the device's volatile write caches, by syncing a file on it.
    pub(crate) fn flush_caches(&self, context: &mut Context<'_>) -> Result<()> {
        if self.target.facts().kind == TargetKind::CharacterDevice {
            return Ok(());
        }
        let file = self.target.open_file(self.target.facts().writable, SyncRule::default())?;
        context.store(move |_| sync_file(&file))
    }

    /// Makes the source file of a copy start cold.
    pub(crate) fn make_file_cold(&self, context: &mut Context<'_>, file: &File) -> Result<()> {
        if self.cache_is_kept(context)? {
            return Ok(());
        }
        let held = file.try_clone().map_err(|error| cannot_write_back(&error))?;
        // For a block device, `syncfs` would write back the file system that contains its device
        // node.
        context.store(move |_| write_back(&held).and_then(|()| sync_file(&held)))?;
        let forgotten = || platform::forget_cached(file);
        tell_dropped(context, platform::drop_page_cache(), forgotten, Cold::Part)
    }

    /// Makes all contents, directories and inodes below a folder start cold.
    pub(crate) fn make_folder_cold(&self, context: &mut Context<'_>, folder: &Folder) -> Result<()> {
        if self.cache_is_kept(context)? {
            return Ok(());
        }
        let file = folder.readable().map_err(|error| cannot_write_back(&error))?;
        context.store(move |_| write_back(&file))?;
        let forgotten = || forget_below(folder);
        tell_dropped(context, drop_all_caches(), forgotten, Cold::Command)
    }

    fn cache_is_kept(&self, context: &mut Context<'_>) -> Result<bool> {
        if self.settings.cache == CachePolicy::Drop {
            return Ok(false);
        }
        context.notice_once(
            NoticeKind::CacheDrop,
            text!(
                "the page cache is kept ({CACHE} keep): figures include memory",
                "ページキャッシュを残しています({CACHE} keep)。結果にはメモリーの速さが含まれます"
            ),
        )?;
        Ok(true)
    }
}

/// Reports once how the cache was dropped. The files' own pages are dropped only if the whole cache
/// can't be.
fn tell_dropped(
    context: &mut Context<'_>,
    dropped: io::Result<()>,
    forget: impl FnOnce() -> io::Result<()>,
    cold: Cold,
) -> Result<()> {
    let text = match dropped {
        Ok(()) => dropped_text(cold),
        Err(error) => match forget() {
            Ok(()) => forgotten_text(&error, cold),
            Err(advice) => text!(
                "the page cache cannot be dropped ({error}; posix_fadvise: {advice}): figures include memory",
                "ページキャッシュを破棄できません({error}、posix_fadvise: {advice})。結果にはメモリーの速さが含まれます"
            ),
        },
    };
    context.notice_once(NoticeKind::CacheDrop, text)
}

fn dropped_text(cold: Cold) -> Text {
    match cold {
        Cold::Repetition => text!(
            "the page cache is dropped before every repetition",
            "各回の前にページキャッシュを破棄します"
        ),
        Cold::Part => text!(
            "before each part of a copy, all dirty data is written back and the page cache is dropped",
            "コピーの各測定の前に、未書き込みのデータを書き出し、ページキャッシュを破棄します"
        ),
        Cold::Command => text!(
            "before each timed command, all dirty data is written back, and cached contents, directories \
             and inodes are dropped",
            "毎回コマンドの前に、未書き込みのデータをすべて書き出し、キャッシュ(内容、ディレクトリ、inode)を破棄します"
        ),
    }
}

fn forgotten_text(error: &io::Error, cold: Cold) -> Text {
    match cold {
        Cold::Repetition | Cold::Part => text!(
            "dropping the page cache is not allowed ({error}); posix_fadvise drops the file's pages instead",
            "ページキャッシュ全体の破棄は許可されていません({error})。代わりに posix_fadvise でこのファイルの分を破棄します"
        ),
        Cold::Command => text!(
            "dropping the caches is not allowed ({error}); posix_fadvise drops the files' contents \
             instead, but directories and inodes stay in memory (run as root to drop them)",
            "キャッシュ全体の破棄は許可されていません({error})。代わりに posix_fadvise でファイルの内容だ\
             けを破棄します。ディレクトリと inode はメモリーに残ります(root で実行すると破棄できます)"
        ),
    }
}

fn cannot_write_back(error: &io::Error) -> Error {
    Error::os(text!("cannot write back the page cache", "ページキャッシュを書き戻せません"), error)
}

/// Writes back all dirty data on the file system of a file.
pub(crate) fn write_back(file: &File) -> io::Result<()> {
    Ok(rustix::fs::syncfs(file)?)
}

/// Writes back a file or a block device itself. One that is open only for reading has no dirty data
/// from kurabe.
fn sync_file(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::BADF.raw_os_error()) => Ok(()),
        other => other,
    }
}

/// Drops the machine's page cache, directory entries and inodes. Requires privileges. Source:
/// kernel Documentation/admin-guide/sysctl/vm.rst, `drop_caches`.
fn drop_all_caches() -> io::Result<()> {
    std::fs::write("/proc/sys/vm/drop_caches", "3\n")
}

/// Asks the kernel to drop the cached contents of every file below a folder. Symbolic links are not
/// followed.
fn forget_below(folder: &Folder) -> io::Result<()> {
    for (name, kind) in folder.entries()? {
        match kind {
            FileType::Directory => forget_below(&folder.folder(&name)?)?,
            FileType::RegularFile => platform::forget_cached(folder.open_entry(&name, OFlags::RDONLY)?)?,
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_below_a_folder_is_forgotten_and_no_link_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::fs::write(dir.path().join("a/b/file"), "x").unwrap();
        // Following a link would loop forever or fail.
        std::os::unix::fs::symlink(dir.path(), dir.path().join("a/loop")).unwrap();
        std::os::unix::fs::symlink("/nonexistent", dir.path().join("a/dangling")).unwrap();
        let folder = Folder::open(&dir.path().canonicalize().unwrap()).unwrap();
        forget_below(&folder).unwrap();
    }

    #[test]
    fn writing_back_works_on_a_folder_and_on_a_file() {
        let dir = tempfile::tempdir().unwrap();
        write_back(&File::open(dir.path()).unwrap()).unwrap();
        std::fs::write(dir.path().join("file"), "x").unwrap();
        sync_file(&File::open(dir.path().join("file")).unwrap()).unwrap();
    }
}
