//! `kurabe ui`: serves the page until Ctrl-C.

use crate::args::{Global, UiArgs};
use crate::output::{print, print_json, say};
use crate::show::ScriptLine;
use crate::{lang::lang, signals, stored::open_recovered};
use kurabe_core::{Result, text};
use kurabe_serve::attachments_folder;
use kurabe_ui::{Options, Ui};

/// Runs the command.
///
/// # Errors
/// When the store or the port cannot be used.
pub fn ui(args: &UiArgs, global: &Global, command_line: &[String]) -> Result<()> {
    // Killed runs are recovered before anything new starts, and reported here, where the user reads
    // it.
    let store = global.store();
    match store.shared_runs()? {
        Some(runs) => drop(runs),
        None => drop(open_recovered(global)?),
    }
    let page = Ui::bind(Options {
        store,
        port: args.port,
        listen: args.listen,
        lang: lang(),
        command: command_line.to_vec(),
        served: attachments_folder().ok(),
    })?;
    let closer = page.closer();
    signals::listen_for_end(move || closer.close())?;
    let address = page.launch_address()?;
    if global.json {
        print_json(&ScriptLine::Ui { address: &address })?;
    } else {
        print(&format!("{address}\n"))?;
    }
    let is_opened = !args.no_open && args.listen.is_none() && !rustix::process::geteuid().is_root();
    let door = is_opened.then(|| page.open_browser()).flatten();
    if !global.quiet && !global.json {
        let words = match door {
            Some(_) => text!(
                "kurabe: opening the page in your browser; press Ctrl-C to stop",
                "kurabe: ブラウザーでページを開きます。Ctrl-C で終了します"
            ),
            None => text!(
                "kurabe: open this address in a browser; press Ctrl-C to stop",
                "kurabe: このアドレスをブラウザーで開いてください。Ctrl-C で終了します"
            ),
        };
        say(words.get(lang()));
    }
    page.serve()
}
