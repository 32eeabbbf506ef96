//! Notes of running servers, through which other processes of the same user find them.
//!
//! Next to the folders of attachments, each server that can be queried has a note with a random
//! name, which it removes when it ends. The note of a killed server remains until another server
//! starts, so that its death can be reported.

use crate::clock::{now, random_word};
use crate::limited::{GivenUp, within};
use kurabe_core::model::ModelRecord;
use kurabe_core::{Error, ErrorKind, Result, shown, text};
use kurabe_serve::{ControlRequest, ServedFacts, ServedFigures, ask_server, read_answer};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit for a server's reply. A healthy server replies faster.
const PATIENCE: Duration = Duration::from_millis(700);

/// The note of a server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServedNote {
    /// File name of the note.
    pub id: String,
    /// Start time of the server.
    pub since: String,
    /// Its block devices, or the addresses that clients connect to.
    pub addresses: Vec<String>,
    /// The stack at the start.
    pub model: ModelRecord,
    /// Path of the control socket.
    pub control: PathBuf,
}

/// Current figures and stack of a server, or why they are not available.
pub type ServedNow = Result<(ServedFigures, ModelRecord)>;

/// A note that is removed when its server ends.
pub(super) struct KeptNote(PathBuf);

impl KeptNote {
    /// Creates a note for a server of this process in a folder, and removes notes of killed
    /// servers. Returns `None` if the server cannot be queried or the note cannot be written.
    pub(super) fn keep(folder: &Path, facts: &ServedFacts) -> Option<Self> {
        let control = std::path::absolute(facts.control.as_deref()?).ok()?;
        DirBuilder::new().recursive(true).mode(0o700).create(folder).ok()?;
        for note in served_notes(folder).iter().filter(|note| UnixStream::connect(&note.control).is_err()) {
            // A server that started concurrently may have removed it.
            let _ = std::fs::remove_file(folder.join(&note.id));
        }
        let id = format!("served-{:016x}", random_word().ok()?);
        let path = folder.join(&id);
        let addresses = facts.devices.iter().map(shown::path).chain(facts.uri.clone()).collect();
        let note = ServedNote { id, since: now().ok()?, addresses, model: facts.model.clone(), control };
        std::fs::write(&path, json!(note).to_string()).ok()?;
        Some(Self(path))
    }
}

impl Drop for KeptNote {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Returns the notes in a folder, newest first.
pub fn served_notes(folder: &Path) -> Vec<ServedNote> {
    let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    // The lock and the log in the same folder are not notes.
    let read = |path: PathBuf| serde_json::from_slice(&std::fs::read(path).ok()?).ok();
    let mut notes: Vec<ServedNote> = paths.filter_map(read).collect();
    notes.sort_by(|one, other| (&other.since, &one.id).cmp(&(&one.since, &other.id)));
    notes
}

/// Returns the current state of the servers, with `request` for their figures. A server that does
/// not reply in time gets an error.
pub fn served_now(notes: &[ServedNote], request: &ControlRequest) -> Vec<ServedNow> {
    let look = |note: &ServedNote| {
        let (control, request) = (note.control.clone(), request.clone());
        move |_: &GivenUp| -> ServedNow {
            let figures = ask_server(&control, &request).and_then(read_answer)?;
            Ok((figures, ask_server(&control, &ControlRequest::Model).and_then(read_answer)?))
        }
    };
    let answers = within(PATIENCE, notes.iter().map(look).collect());
    let worded =
        |answer: Option<ServedNow>| answer.ok_or_else(silent)?.map_err(|error| silent().because(error));
    answers.into_iter().map(worded).collect()
}

fn silent() -> Error {
    ErrorKind::Target.error(text!("the server does not answer", "サーバーが応答しません")).remedy(text!(
        "it was killed or has stopped; a dead server disappears from this list when the next one starts",
        "強制終了されたか、停止しています。終了したものは、次にサーバーを起動すると一覧から消えます"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::Text;
    use std::os::unix::net::UnixListener;

    #[test]
    fn the_note_of_a_killed_server_goes_when_another_one_begins() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let control = run.with_extension("control");
        let listener = UnixListener::bind(&control).unwrap();
        let facts = ServedFacts {
            uri: Some("nbd://localhost:1".to_owned()),
            devices: Vec::new(),
            front: None,
            control: Some(control),
            size_bytes: 512,
            exports: 1,
            most_memory_bytes: None,
            model: ModelRecord {
                name: "disk".to_owned(),
                title: Text::same("disk"),
                seed: 1,
                layers: Vec::new(),
            },
            keeping_up: None,
            trim_ns: None,
        };
        let first = KeptNote::keep(&run, &facts).unwrap();
        let second = KeptNote::keep(&run, &facts).unwrap();
        assert_eq!(served_notes(&run).len(), 2);
        drop(listener);
        let third = KeptNote::keep(&run, &facts).unwrap();
        assert!(!first.0.exists() && !second.0.exists() && served_notes(&run).len() == 1);
        drop(third);
        assert_eq!(served_notes(&run).len(), 0);
    }
}
