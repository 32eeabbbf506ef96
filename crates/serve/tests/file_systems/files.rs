//! Files that are replaced, appended to and removed, each time durably.

use super::Work;
use kurabe_core::random::Random;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Few names, so that each is used often.
const NAMES: u64 = 8;
const MOST_BYTES: u64 = 64 << 10;

/// Promised content of every name, and the change that was not promised yet.
pub struct Files {
    random: Random,
    promised: BTreeMap<String, Vec<u8>>,
    attempt: Option<Change>,
}

#[derive(Clone, Debug)]
struct Change {
    name: String,
    kind: Kind,
    /// Content of the file after the change; `None` if it is removed.
    after: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Replace,
    Append,
    Remove,
}

impl Files {
    pub fn new(random: Random) -> Self {
        Self { random, promised: BTreeMap::new(), attempt: None }
    }

    fn next(&mut self) -> Change {
        let name = self.random.below(NAMES).to_string();
        let part: Vec<u8> = (0..self.random.below(MOST_BYTES)).map(|_| self.random.bits() as u8).collect();
        let old = self.promised.get(&name);
        let kind = match (old, self.random.below(4)) {
            (Some(old), 0 | 1) if old.len() < 8 * MOST_BYTES as usize => Kind::Append,
            (Some(_), 2) => Kind::Remove,
            _ => Kind::Replace,
        };
        let after = match kind {
            Kind::Replace => Some(part),
            Kind::Append => Some([old.map_or(&[][..], Vec::as_slice), &part].concat()),
            Kind::Remove => None,
        };
        Change { name, kind, after }
    }

    /// Makes a change and waits until it is durable.
    fn make(&self, folder: &Path, change: &Change) -> io::Result<()> {
        let path = folder.join(&change.name);
        match (change.kind, &change.after) {
            (Kind::Append, Some(after)) => {
                let mut file = OpenOptions::new().append(true).open(&path)?;
                file.write_all(&after[self.promised[&change.name].len()..])?;
                return file.sync_data();
            }
            (_, Some(after)) => {
                let new = folder.join("new");
                let mut file = File::create(&new)?;
                file.write_all(after)?;
                file.sync_all()?;
                std::fs::rename(new, path)?;
            }
            (_, None) => std::fs::remove_file(path)?,
        }
        File::open(folder)?.sync_all()
    }

    fn keep(&mut self, name: &str, contents: Option<Vec<u8>>) {
        match contents {
            Some(contents) => self.promised.insert(name.to_owned(), contents),
            None => self.promised.remove(name),
        };
    }

    /// Returns whether the content of a file is allowed.
    fn is_kept(&self, name: &str, contents: Option<&Vec<u8>>) -> bool {
        let promised = self.promised.get(name);
        if contents == promised {
            return true;
        }
        let Some(attempt) = self.attempt.as_ref().filter(|attempt| attempt.name == name) else {
            return false;
        };
        match (attempt.kind, contents, &attempt.after) {
            // An append may be present in part.
            (Kind::Append, Some(contents), Some(after)) => {
                contents.len() >= promised.map_or(0, Vec::len) && after.starts_with(contents)
            }
            (_, contents, after) => contents == after.as_ref(),
        }
    }
}

impl Work for Files {
    fn promise(&mut self, folder: &Path, promised: &mut dyn FnMut()) -> String {
        loop {
            let change = self.next();
            self.attempt = Some(change.clone());
            if let Err(error) = self.make(folder, &change) {
                return format!("{:?} {}: {error}", change.kind, change.name);
            }
            self.attempt = None;
            self.keep(&change.name, change.after);
            promised();
        }
    }

    fn broken(&mut self, folder: &Path) -> Option<String> {
        for name in (0..NAMES).map(|name| name.to_string()) {
            let contents = match std::fs::read(folder.join(&name)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Some(format!("{name} cannot be read: {error}")),
                Ok(contents) => Some(contents),
            };
            if !self.is_kept(&name, contents.as_ref()) {
                let lengths =
                    [contents, self.promised.get(&name).cloned()].map(|bytes| bytes.map(|b| b.len()));
                return Some(format!("{name}: its length and the promised one: {lengths:?}"));
            }
            self.keep(&name, contents);
        }
        self.attempt = None;
        None
    }
}
