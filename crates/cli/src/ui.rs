//! `kurabe ui`: the page, until Ctrl-C.

use crate::args::{Global, UiArgs};
use crate::lang::lang;
use crate::output::{print, print_json, say};
use crate::signals;
use crate::stored::{open_recovered, store_path};
use kurabe_core::{Result, shown, text};
use kurabe_ui::{Options, Ui};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Runs the command.
///
/// # Errors
/// When the store or the port cannot be used.
pub fn ui(args: &UiArgs, global: &Global, command_line: &[String]) -> Result<()> {
    // What runs that died left behind goes before anything new, and is told here, where somebody reads it.
    drop(open_recovered(global)?);
    let page = Ui::bind(Options {
        store: store_path(global)?,
        port: args.port,
        listen: args.listen,
        lang: lang(),
        command: command_line.to_vec(),
    })?;
    let closer = page.closer();
    signals::listen_for_end(move || closer.close())?;
    let address = page.launch_address()?;
    if global.json {
        print_json(&serde_json::json!({ "event": "ui", "address": address }))?;
    } else {
        print(&format!("{address}\n"))?;
    }
    let is_opened = !args.no_open && args.listen.is_none() && !rustix::process::geteuid().is_root();
    let door = is_opened.then(|| Door::open(&page.launch_address().ok()?)).flatten();
    if !global.quiet && !global.json {
        let words = match door {
            Some(_) => text!(
                "kurabe: the page opens in your browser; Ctrl-C ends it",
                "kurabe: ブラウザーでページを開きます。Ctrl-C で終了します"
            ),
            None => text!(
                "kurabe: open this address in a browser; Ctrl-C ends it",
                "kurabe: このアドレスをブラウザーで開いてください。Ctrl-C で終了します"
            ),
        };
        say(words.get(lang()));
    }
    page.serve()
}

/// A file that leads a browser to the address. Words of a command line are seen by every user of the machine, and an address
/// lets in whoever comes first; the file is for this user alone.
struct Door(PathBuf);

impl Door {
    /// Starts a browser. Where there is none, the address that was printed has to do.
    fn open(address: &str) -> Option<Self> {
        let path = std::env::temp_dir().join(format!("kurabe-ui-{}.html", std::process::id()));
        let mut file =
            std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).ok()?;
        let door = Self(path);
        let address = shown::line(address);
        writeln!(
            file,
            "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={address}\">\
             <a href=\"{address}\">kurabe</a>"
        )
        .ok()?;
        let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let null = Stdio::null;
        Command::new(opener).arg(&door.0).stdin(null()).stdout(null()).stderr(null()).spawn().ok()?;
        Some(door)
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // It is in the folder of temporary files; what stays there goes with them.
        let _ = std::fs::remove_file(&self.0);
    }
}
