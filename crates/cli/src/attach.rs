//! `kurabe attach` and `kurabe detach`: a model as a block device of this machine.
//!
//! The model: who stays in the background is a second process of the same words, which shares the terminal until the devices
//! are there, or until it has said why they cannot be. Then it tells the first one through the socket that is its standard
//! input, and what it says from then on goes to a log.

use crate::args::{AttachArgs, DetachArgs, Global};
use crate::lang::lang;
use crate::output::{print, print_json, progress_mode, say};
use crate::serve::{Ending, print_texts, request, tell_end, watch};
use crate::served_records::RecordPlaces;
use crate::served_words::{attached_lines, figure_lines, front_word};
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use kurabe_serve::{
    Address, ControlRequest, ServedFacts, ServedFigures, Serving, ask_server, attachment_of,
    attachments_folder, clean_attachments, read_answer,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set for the process in the background, whose standard input is the way to the first one.
const IN_BACKGROUND: &str = "KURABE_ATTACHING";
const LOG: &str = "attach.log";
/// Where the log goes when it has become long: the one before it is forgotten.
const LOG_BEFORE: &str = "attach.log.1";
/// Some hundred attachments.
const LOG_BYTES: u64 = 256 << 10;

/// Attaches, and stays where it was asked to.
///
/// # Errors
/// When it cannot be attached, or ended by itself.
pub fn attach(args: &AttachArgs, global: &Global) -> Result<()> {
    let is_background = std::env::var_os(IN_BACKGROUND).is_some();
    if !args.foreground && !is_background {
        return start_in_background().map_err(|error| {
            let what = text!("cannot start in the background", "バックグラウンドで開始できません");
            Error::os(what, &error).remedy(text!("use --foreground", "--foreground を使ってください"))
        });
    }
    refuse_others()?;
    let folder = attachments_folder()?;
    let request = request(&args.served, Address::Devices { folder: folder.clone(), by: args.by.0 }, None)?;
    let places = RecordPlaces::new(&args.served, global)?;
    let ending = Ending::listen()?;
    let mut serving = Serving::start(&request)?;
    let facts = serving.facts().clone();
    let log = (is_background && !args.foreground).then(|| folder.join(LOG));
    let lines = attached_lines(&facts, &request, serving.figures().as_ref(), log.as_deref());
    announce(&facts, &lines, global)?;
    if let Some(log) = &log {
        leave_terminal(log).map_err(|error| {
            let shown = shown::path(log);
            Error::os(
                text!(
                    "cannot go on in the background with the log {shown}",
                    "ログ {shown} を使ってバックグラウンドに移れません"
                ),
                &error,
            )
        })?;
        let process = std::process::id();
        print_texts(&[text!("process {process}:", "プロセス {process}:")])?;
        print_texts(&lines)?;
    }
    watch(&serving, &ending, progress_mode(global));
    serving.detach(|device, users| say(&waiting_line(device, users).take(lang())))?;
    serving.end();
    let figures = serving.wait()?;
    drop(serving);
    tell_end(&facts, &figures, &args.served, &places, global)
}

/// What would be refused later, with more words.
fn refuse_others() -> Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Permission,
        text!("only root can attach a device", "デバイスを接続できるのは root だけです"),
    )
    .remedy(text!(
        "use sudo, or `kurabe serve`, which needs no rights",
        "sudo を使うか、権限のいらない `kurabe serve` を使ってください"
    )))
}

/// The devices on standard output, for scripts; the rest beside it.
fn announce(facts: &ServedFacts, lines: &[Text], global: &Global) -> Result<()> {
    let names: Vec<String> = facts.devices.iter().map(shown::path).collect();
    if global.json {
        return print_json(&json!({
            "event": "attached",
            "devices": names,
            "by": facts.front.map(|served| front_word(served.front)),
            "control": facts.control.as_deref().map(shown::name),
            "size_bytes": facts.size_bytes,
            "process": std::process::id(),
        }));
    }
    print(&names.iter().map(|name| format!("{name}\n")).collect::<String>())?;
    lines.iter().for_each(|line| say(&line.clone().take(lang())));
    Ok(())
}

fn waiting_line(device: &Path, users: &[Text]) -> Text {
    let (device, users) = (shown::path(device), Text::list(users.iter().cloned()));
    text!(
        "kurabe: {device} is in use ({users}): waiting until it is not (a second signal ends at once, and its users get errors)",
        "kurabe: {device} は使用中です({users})。使われなくなるまで待ちます(もう一度シグナルを送ると即時終了し、使用中のプログラムはエラーになります)";
        users
    )
}

/// Starts the same words again, and waits until the devices are there or cannot be: then its exit code is this one's.
fn start_in_background() -> io::Result<()> {
    let (mut ready, its) = UnixStream::pair()?;
    let mut child = {
        let mut command = Command::new("/proc/self/exe");
        command.arg0("kurabe").args(std::env::args_os().skip(1)).env(IN_BACKGROUND, "1");
        command.stdin(OwnedFd::from(its)).spawn()?
    };
    if matches!(ready.read(&mut [0; 1]), Ok(1)) {
        return Ok(());
    }
    let status = child.wait()?;
    // It has said why.
    std::process::exit(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
}

/// Lets go of the terminal and of the folder it was started in, and tells the first process that it may go.
fn leave_terminal(log: &Path) -> io::Result<()> {
    let mut ready = UnixStream::from(rustix::io::dup(rustix::stdio::stdin())?);
    // Who writes to it still goes on with the one that is put aside.
    if log.metadata().is_ok_and(|facts| facts.len() > LOG_BYTES) {
        std::fs::rename(log, log.with_file_name(LOG_BEFORE))?;
    }
    let log = OpenOptions::new().append(true).create(true).mode(0o600).open(log)?;
    dup2_stdin(File::open("/dev/null")?)?;
    dup2_stdout(&log)?;
    dup2_stderr(&log)?;
    rustix::process::setsid()?;
    std::env::set_current_dir("/")?;
    ready.write_all(b"1")
}

/// Takes a device away, with all that were attached with it.
///
/// # Errors
/// When it is not kurabe's, or in use.
pub fn detach(args: &DetachArgs, global: &Global) -> Result<()> {
    let folder = attachments_folder()?;
    let Some(attached) = attachment_of(&folder, &args.device)? else {
        return clean_up(&folder, &args.device, global);
    };
    attached.refuse_used()?;
    let figures =
        ask_server(&attached.control, &ControlRequest::Stats).and_then(read_answer::<ServedFigures>).ok();
    attached.end()?;
    // What it could not do itself.
    clean_attachments(&folder)?;
    let names: Vec<String> = attached.devices.iter().map(shown::path).collect();
    if global.json {
        return print_json(&json!({ "event": "detached", "devices": names, "figures": figures }));
    }
    let list = names.join(", ");
    let mut lines = vec![text!("detached {list}", "切り離しました: {list}")];
    lines.extend(figures.iter().flat_map(figure_lines));
    print_texts(&lines)
}

/// What a kill left, if the device is of that.
fn clean_up(folder: &Path, device: &Path, global: &Global) -> Result<()> {
    let shown = shown::path(device);
    let cleaned: Vec<PathBuf> = clean_attachments(folder)?;
    let same = |cleaned: &PathBuf| device.canonicalize().is_ok_and(|device| device == *cleaned);
    if !cleaned.iter().any(same) {
        return Err(not_ours(device));
    }
    if global.json {
        return print_json(&json!({ "event": "detached", "devices": [shown], "figures": null }));
    }
    print_texts(&[text!(
        "{shown} was left by a kurabe that was killed: removed (if it is still mounted, when that ends)",
        "{shown} は強制終了した kurabe が残したものでした。片付けました(マウント中なら、外したときに消えます)"
    )])
}

/// A device that `kurabe attach` did not make.
pub fn not_ours(device: &Path) -> Error {
    let shown = shown::path(device);
    Error::new(
        ErrorKind::Refused,
        text!(
            "{shown} is no device of `kurabe attach`",
            "{shown} は `kurabe attach` のデバイスではありません"
        ),
    )
    .remedy(text!(
        "name the device that `kurabe attach` printed; `losetup --detach` and `nbd-client -d` are for others",
        "`kurabe attach` が表示したデバイスを指定してください。ほかのものは `losetup --detach` や `nbd-client -d` で切り離せます"
    ))
}
