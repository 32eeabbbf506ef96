//! Creates the repository for measuring `git pull`.
//!
//! It is a bare repository whose tag `before` is one commit with all files, and whose branch `main`
//! adds a batch of commits. Of the changed files 90 % are modified, 6 % added and 4 % deleted, in
//! runs of one to three neighbours, as a commit to a port changes its Makefile and its distinfo.
//! Names, times and contents are fixed, so the commit ids are the same on every machine. git itself
//! writes the repository from a stream (`git fast-import`) that is never completely in memory.
//! Source of the stream format: git-fast-import(1).

use crate::git_tree::{TreeFile, added_beside, content, files};
use kurabe_core::{profile::GitMaterial, random::Random};
use std::io::{self, Write};

/// Command that creates the empty repository.
pub(crate) const INIT: [&str; 6] = ["git", "init", "--quiet", "--bare", "--initial-branch=main", "{origin}"];
/// Command that fills it from the stream.
pub(crate) const FAST_IMPORT: [&str; 6] = ["git", "-C", "{origin}", "fast-import", "--quiet", "--done"];
/// Seed for the choice of changed files; the tree has its own.
const BATCH_SEED: u64 = 0x0062_6174_6368;
/// Time of the first commit, in seconds since 1970: 2017-07-14 02:40 UTC. Each further one is a
/// minute later.
const FIRST_COMMIT_S: u64 = 1_500_000_000;
const COMMIT_DISTANCE_S: u64 = 60;
/// Number of files between two checks for an interrupt.
const LOOK_FILES: usize = 1000;

/// Change of a file by a commit, by index in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileChange {
    Modify(usize),
    Delete(usize),
    /// A new file in the port of this one.
    AddBeside(usize),
}

/// Writes the whole repository as a stream for `git fast-import`.
pub(crate) fn write_stream(
    material: &GitMaterial,
    to: &mut impl Write,
    stopped: &dyn Fn() -> bool,
) -> io::Result<()> {
    let tree = files(material.files);
    let mut stream = ImportStream { to, bytes: Vec::new() };
    stream.commit(0, None)?;
    for (index, file) in tree.iter().enumerate() {
        if index % LOOK_FILES == 0 && stopped() {
            return Ok(());
        }
        stream.modify(file, 0)?;
    }
    write!(stream.to, "reset refs/tags/before\nfrom :1\n\n")?;
    for (index, changes) in batch(material).iter().enumerate() {
        if stopped() {
            return Ok(());
        }
        let number = index as u64 + 1;
        stream.commit(number, Some(number))?;
        for change in changes {
            match change {
                FileChange::Modify(file) => stream.modify(&tree[*file], 1)?,
                FileChange::Delete(file) => writeln!(stream.to, "D {}", tree[*file].path)?,
                FileChange::AddBeside(file) => {
                    // Beyond all numbers of the tree, so that the content is new.
                    let number = u64::from(material.files) + *file as u64;
                    stream.modify(&added_beside(&tree[*file], number), 0)?;
                }
            }
        }
    }
    stream.to.write_all(b"done\n")?;
    stream.to.flush()
}

struct ImportStream<'a, W: Write> {
    to: &'a mut W,
    bytes: Vec<u8>,
}

impl<W: Write> ImportStream<'_, W> {
    /// Begins a commit with mark `number + 1`, after the commit with the mark `after`.
    fn commit(&mut self, number: u64, after: Option<u64>) -> io::Result<()> {
        let (mark, time) = (number + 1, FIRST_COMMIT_S + number * COMMIT_DISTANCE_S);
        let message = if number == 0 { "The tree\n".to_owned() } else { format!("Update {number}\n") };
        let length = message.len();
        write!(
            self.to,
            "commit refs/heads/main\nmark :{mark}\n\
             author kurabe <kurabe@example.invalid> {time} +0000\n\
             committer kurabe <kurabe@example.invalid> {time} +0000\n\
             data {length}\n{message}"
        )?;
        match after {
            Some(after) => writeln!(self.to, "from :{after}"),
            None => Ok(()),
        }
    }

    fn modify(&mut self, file: &TreeFile, version: u32) -> io::Result<()> {
        content(file, version, &mut self.bytes);
        write!(self.to, "M 100644 inline {}\ndata {}\n", file.path, self.bytes.len())?;
        self.to.write_all(&self.bytes)?;
        self.to.write_all(b"\n")
    }
}

/// Returns the changes of each commit; no file is changed twice.
fn batch(material: &GitMaterial) -> Vec<Vec<FileChange>> {
    let mut random = Random::new(BATCH_SEED, 0);
    let count = material.files as usize;
    let changed = material.changed_files.min(material.files) as usize;
    let mut taken = vec![false; count];
    let mut changes = Vec::with_capacity(changed);
    while changes.len() < changed {
        let mut at = random.below(count as u64) as usize;
        for _ in 0..=random.below(3) {
            while taken[at] {
                at = (at + 1) % count;
            }
            taken[at] = true;
            changes.push(match random.below(100) {
                0..90 => FileChange::Modify(at),
                90..96 => FileChange::AddBeside(at),
                _ => FileChange::Delete(at),
            });
            if changes.len() == changed {
                break;
            }
        }
    }
    let commits = material.commits.max(1) as usize;
    (0..commits)
        .map(|commit| changes[changed * commit / commits..changed * (commit + 1) / commits].to_vec())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Program, run};
    use crate::stop::Stop;
    use kurabe_testkit::needs::skip;
    use std::io::BufWriter;
    use std::path::Path;
    use std::process::Command;

    const SMALL: GitMaterial = GitMaterial { files: 300, changed_files: 40, commits: 4 };

    fn git(arguments: &[&str]) -> Option<String> {
        let output = Command::new("git").args(arguments).output().ok()?;
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
    }

    /// Returns the ids of `before` and `main` of a repository created in a folder, or `None`
    /// without git.
    fn made_in(folder: &Path) -> Option<[String; 2]> {
        let path = folder.to_str()?;
        git(&["init", "--quiet", "--bare", "--initial-branch=main", "--object-format=sha1", path])?;
        let words = ["git", "-C", path, "fast-import", "--quiet", "--done"].map(str::to_owned);
        let feed = |to: &mut dyn Write| write_stream(&SMALL, &mut BufWriter::new(to), &|| false);
        let program = Program {
            words: &words,
            shown: "git fast-import",
            guard: None,
            worker: crate::worker::Worker { other: None },
            home: folder,
            git_config: Path::new("/dev/null"),
            feed: Some(&feed),
            to_its_end: false,
        };
        run(program, &Stop::default(), &mut |_| {}).unwrap();
        let id = |name| git(&["-C", path, "rev-parse", name]).unwrap();
        Some([id("before"), id("main")])
    }

    #[test]
    fn the_repository_is_the_same_to_the_byte_everywhere() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (dir.path().join("first"), dir.path().join("second"));
        let Some(ids) = made_in(&first) else {
            skip("git is not installed");
            return;
        };
        assert_eq!(
            ids,
            ["cc7ae74ade09379fed7f14af3576d6e93fc73dde", "b56e9db181a21fd52397089d0920b190b38ae9ce"]
        );
        assert_eq!(made_in(&second).unwrap(), ids);
        let path = first.to_str().unwrap();
        git(&["-C", path, "fsck", "--strict"]).unwrap();
        assert_eq!(git(&["-C", path, "rev-list", "--count", "before..main"]).unwrap(), "4");
        let list = git(&["-C", path, "ls-tree", "-r", "--name-only", "before"]).unwrap();
        assert_eq!(list.lines().count(), 300);
        let changed = git(&["-C", path, "diff", "--no-renames", "--name-only", "before", "main"]).unwrap();
        assert_eq!(changed.lines().count(), 40);
        let size: u64 = git(&["-C", path, "cat-file", "--batch-all-objects", "--batch-check=%(objectsize)"])
            .map(|sizes| sizes.lines().map(|size| size.parse::<u64>().unwrap()).sum())
            .unwrap();
        let pack: u64 = std::fs::read_dir(first.join("objects/pack"))
            .unwrap()
            .map(|file| file.unwrap())
            .filter(|file| file.path().extension().is_some_and(|kind| kind == "pack"))
            .map(|file| file.metadata().unwrap().len())
            .sum();
        // Like small text files. Random bytes would not be compressed, and repeated lines would be
        // compressed to almost nothing.
        assert!((size / 3..size * 2 / 3).contains(&pack), "{pack} of {size}");
    }

    #[test]
    fn every_wanted_file_is_changed_once_and_most_are_modified() {
        let material = GitMaterial { files: 2000, changed_files: 700, commits: 30 };
        let commits = batch(&material);
        assert_eq!(commits.len(), 30);
        assert!(commits.iter().all(|commit| commit.len() == 23 || commit.len() == 24));
        let changes: Vec<FileChange> = commits.into_iter().flatten().collect();
        let (mut files, mut modified, mut deleted) = (Vec::new(), 0, 0);
        for change in &changes {
            match change {
                FileChange::Modify(file) => (modified, _) = (modified + 1, files.push(*file)),
                FileChange::Delete(file) => (deleted, _) = (deleted + 1, files.push(*file)),
                FileChange::AddBeside(file) => files.push(*file),
            }
        }
        files.sort_unstable();
        files.dedup();
        assert_eq!(files.len(), 700);
        assert!((590..670).contains(&modified), "{modified}");
        assert!((10..60).contains(&deleted), "{deleted}");
    }

    #[test]
    fn all_files_can_be_changed_and_more_commits_than_changes_are_empty_ones() {
        let all = batch(&GitMaterial { files: 50, changed_files: 50, commits: 1 });
        assert_eq!(all[0].len(), 50);
        let few = batch(&GitMaterial { files: 50, changed_files: 2, commits: 5 });
        assert_eq!(few.iter().map(Vec::len).sum::<usize>(), 2);
    }

    #[test]
    fn a_stop_ends_the_stream() {
        let material = GitMaterial { files: 5000, changed_files: 5, commits: 1 };
        let mut written = Vec::new();
        write_stream(&material, &mut written, &|| true).unwrap();
        assert!(written.len() < 1000);
    }
}
