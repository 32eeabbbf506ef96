//! Opens a target in such a way that files created on it can be removed after a kill.
//!
//! The path, the folder and the mark of the file are in the store before the file exists, and its
//! inode number immediately afterwards. In between the file is empty, and recovery removes it only
//! while it is empty.

use crate::clock::{mark_word, random_word};
use kurabe_core::Result;
use kurabe_core::made::{MadeFacts, MadeFile};
use kurabe_engine::{RunMark, Target, TargetOptions, test_file_name};
use kurabe_host::folder_facts;
use std::fs::File;
use std::path::Path;

/// Opens a target for a run, and passes each file created there to `note`.
///
/// # Errors
/// When the target cannot be opened, or `note` fails.
pub(crate) fn open_noted(
    target: &Path,
    run: &str,
    options: &mut TargetOptions,
    note: &mut dyn FnMut(MadeFile) -> Result<()>,
) -> Result<Target> {
    options.test_file_name = test_file_name(run, random_word()?);
    let word = mark_word()?;
    options.mark = RunMark::new(run, &word);
    let expected = expected(target, &options.test_file_name, word);
    if let Some(file) = &expected {
        note(file.clone())?;
    }
    let target = Target::open(target, options)?;
    if let (Some(file), Some(made)) = (expected, target.made()?) {
        // If the inode number of the folder is not stable, those of its files are not either.
        let has_inodes = file.folder.as_ref().is_none_or(|folder| folder.inode.is_some());
        let made = MadeFacts { inode: made.inode.filter(|_| has_inodes), ..made };
        note(MadeFile { made: Some(made), ..file })?;
    }
    Ok(target)
}

/// Returns the file that will be created, if the target is a directory.
fn expected(target: &Path, name: &str, word: String) -> Option<MadeFile> {
    let directory = target.canonicalize().ok().filter(|path| path.is_dir())?;
    let folder = File::open(&directory).and_then(|folder| folder_facts(folder, &directory)).ok();
    Some(MadeFile { path: directory.join(name), word, folder, ..MadeFile::default() })
}
