//! Servers of models, as others of their user find them: what is served now.
//!
//! The model: beside the folders of what is attached, each server that can be asked has a note under a name of chance, which it takes
//! away at its end. That of a server that was killed stays until another one begins, so that one can be told that it was.

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

/// No server that is well takes longer to say how it goes.
const PATIENCE: Duration = Duration::from_millis(700);

/// The note of a server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServedNote {
    /// The name of the note.
    pub id: String,
    /// When it began.
    pub since: String,
    /// Its block devices, or what clients connect to.
    pub addresses: Vec<String>,
    /// The stack as it was then.
    pub model: ModelRecord,
    /// Where it is controlled.
    pub control: PathBuf,
}

/// How a server and its stack are now, or why that cannot be told.
pub type ServedNow = Result<(ServedFigures, ModelRecord)>;

/// A note that goes with its server.
pub(super) struct KeptNote(PathBuf);

impl KeptNote {
    /// Notes a server of this process in a folder, where notes of killed ones go; none if it cannot be asked, or there is no room.
    pub(super) fn keep(folder: &Path, facts: &ServedFacts) -> Option<Self> {
        let control = std::path::absolute(facts.control.as_deref()?).ok()?;
        DirBuilder::new().recursive(true).mode(0o700).create(folder).ok()?;
        for note in served_notes(folder).iter().filter(|note| UnixStream::connect(&note.control).is_err()) {
            // Whoever began at the same time has removed it.
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

/// The notes of a folder, the newest first.
pub fn served_notes(folder: &Path) -> Vec<ServedNote> {
    let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    // The lock and the log beside them are none.
    let read = |path: PathBuf| serde_json::from_slice(&std::fs::read(path).ok()?).ok();
    let mut notes: Vec<ServedNote> = paths.filter_map(read).collect();
    notes.sort_by(|one, other| (&other.since, &one.id).cmp(&(&one.since, &other.id)));
    notes
}

/// What servers answer, each asked `request` for its figures; whoever does not answer in a moment is not waited for.
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
        "it was killed, or stands still; one that is dead goes from this list when the next one begins",
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
