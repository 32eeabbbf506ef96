//! Servers of models, as others of their user find them: what is served now.
//!
//! The model: beside the folders of what is attached, each server has a note under a name of chance, which it takes away at its end.
//! The note of a server that was killed stays until another one begins, so that one can be told that it was.

use crate::clock::{now, random_word};
use crate::files::{self, Existing};
use crate::limited::{GivenUp, within};
use kurabe_core::mention::{DETACH, SERVE, SOCKET};
use kurabe_core::model::ModelRecord;
use kurabe_core::process::ProcessIdentity;
use kurabe_core::{ErrorKind, Result, shown, text};
use kurabe_host::{Liveness, life_of, own_identity};
use kurabe_serve::{
    ControlRequest, ServedFacts, ServedFigures, ask_server, make_attachments_folder, read_answer,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// No server that is well takes longer to say how it goes.
const PATIENCE: Duration = Duration::from_millis(700);
/// What names of notes end in.
const ENDING: &str = "json";

/// The note of a server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServedNote {
    /// The name of the note.
    #[serde(skip)]
    pub id: String,
    process: ProcessIdentity,
    /// When it began.
    pub since: String,
    /// Its block devices, or what clients connect to.
    pub addresses: Vec<String>,
    /// The stack as it was then.
    pub model: ModelRecord,
    control: Option<PathBuf>,
}

/// A server, and how it and its stack are now; or why that cannot be told.
pub struct ServedNow {
    /// Its note.
    pub note: ServedNote,
    /// What it answers.
    pub answer: Result<(ServedFigures, ModelRecord)>,
}

/// A note that goes with its server.
pub(super) struct KeptNote(PathBuf);

impl KeptNote {
    /// Notes a server of this process in a folder, where notes of killed ones go.
    pub(super) fn keep(folder: &Path, facts: &ServedFacts) -> Result<Self> {
        make_attachments_folder(folder)?;
        for note in notes(folder).iter().filter(|note| note.is_dead()) {
            // Whoever began at the same time has removed it.
            let _ = std::fs::remove_file(file(folder, &note.id));
        }
        let devices = facts.devices.iter().map(shown::path);
        let note = ServedNote {
            id: format!("{:016x}", random_word()?),
            process: own_identity(),
            since: now()?,
            addresses: devices.chain(facts.uri.clone()).collect(),
            model: facts.model.clone(),
            control: facts.control.as_deref().and_then(|control| std::path::absolute(control).ok()),
        };
        let path = file(folder, &note.id);
        files::write(&path, json!(note).to_string().as_bytes(), Existing::Kept)?;
        Ok(Self(path))
    }
}

impl Drop for KeptNote {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn file(folder: &Path, id: &str) -> PathBuf {
    folder.join(id).with_extension(ENDING)
}

/// The notes of a folder, the newest first.
fn notes(folder: &Path) -> Vec<ServedNote> {
    let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let read = |path: PathBuf| -> Option<ServedNote> {
        let id = path.file_stem()?.to_str()?.to_owned();
        let note: ServedNote = serde_json::from_slice(&std::fs::read(&path).ok()?).ok()?;
        Some(ServedNote { id, ..note })
    };
    let are_notes = |path: &PathBuf| path.extension().is_some_and(|ending| ending == ENDING);
    let mut notes: Vec<ServedNote> = paths.filter(are_notes).filter_map(read).collect();
    notes.sort_by(|one, other| (&other.since, &one.id).cmp(&(&one.since, &other.id)));
    notes
}

/// What is served now, each asked `request` for its figures; whoever does not answer in a moment is not waited for.
pub fn served_now(folder: &Path, request: &ControlRequest) -> Vec<ServedNow> {
    let notes = notes(folder);
    let look = |note: &ServedNote| {
        let (note, request) = (note.clone(), request.clone());
        move |_: &GivenUp| Ok((note.ask(&request)?, note.ask(&ControlRequest::Model)?))
    };
    let answers = within(PATIENCE, notes.iter().map(look).collect());
    let silent = || {
        Err(ErrorKind::Target
            .error(text!("the server does not answer", "サーバーが応答しません"))
            .remedy(text!("its process may stand still", "プロセスが停止しているかもしれません")))
    };
    let each = notes.into_iter().zip(answers);
    each.map(|(note, answer)| ServedNow { note, answer: answer.unwrap_or_else(silent) }).collect()
}

/// Tells the server of a note something.
///
/// # Errors
/// When there is none any more, or it refuses.
pub fn tell_served(folder: &Path, id: &str, request: &ControlRequest) -> Result<Value> {
    let ended = || ErrorKind::Target.error(text!("this server has ended", "このサーバーは終了しました"));
    notes(folder).iter().find(|note| note.id == id).ok_or_else(ended)?.ask(request)
}

impl ServedNote {
    fn is_dead(&self) -> bool {
        life_of(&self.process) == Liveness::Dead
    }

    fn ask<T: DeserializeOwned>(&self, request: &ControlRequest) -> Result<T> {
        if self.is_dead() {
            let what = text!("the server was killed", "サーバーは強制終了されました");
            return Err(ErrorKind::Target.error(what).remedy(text!(
                "`{DETACH}` removes devices that it left; the next server takes it off this list",
                "残ったデバイスは `{DETACH}` で片付きます。次にサーバーを起動すると、この一覧から消えます"
            )));
        }
        let Some(control) = &self.control else {
            let what = text!("the server has no control socket", "サーバーに制御用ソケットがありません");
            return Err(ErrorKind::Unsupported.error(what).remedy(text!(
                "`{SERVE}` with {SOCKET} makes one",
                "`{SERVE}` に {SOCKET} を付けると作られます"
            )));
        };
        ask_server(control, request).and_then(read_answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::Text;

    #[test]
    fn the_note_of_a_killed_server_goes_when_another_one_begins() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let facts = ServedFacts {
            uri: Some("nbd://localhost:1".to_owned()),
            devices: Vec::new(),
            front: None,
            control: None,
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
        let what = || {
            let servers = served_now(&run, &ControlRequest::Watch);
            servers.into_iter().map(|now| now.answer.unwrap_err().what().en.clone()).collect::<Vec<_>>()
        };
        assert_eq!(what(), ["the server has no control socket"]);
        let mut note = notes(&run).remove(0);
        note.process.start_ticks += 1;
        std::fs::write(&first.0, json!(note).to_string()).unwrap();
        assert_eq!(what(), ["the server was killed"]);
        let second = KeptNote::keep(&run, &facts).unwrap();
        assert!(!first.0.exists() && notes(&run).len() == 1);
        drop(second);
        assert_eq!(notes(&run).len(), 0);
    }
}
