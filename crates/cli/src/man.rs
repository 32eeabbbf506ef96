//! `kurabe man`: the manual page of the program, with its profiles and models, and a page for each
//! command.

use crate::complete::{model_titles, profile_titles};
use crate::{args::Cli, lang::t, output};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use kurabe_core::{Error, ErrorKind, Result, nearest, shown::Shown, text};
use std::io::Write;

/// Prints the page of the program or of one of its commands.
///
/// # Errors
/// When the command does not exist, or standard output cannot be written.
pub fn page(command: Option<&str>) -> Result<()> {
    let mut program = Cli::command();
    program.build();
    let mut page = Vec::new();
    match command {
        Some(name) => of_command(&program, name)?.render(&mut page),
        None => Man::new(program).render(&mut page).and_then(|()| names(&mut page)),
    }
    .map_err(|error| {
        Error::os(text!("cannot generate the manual page", "マニュアルページを作れません"), &error)
    })?;
    output::write(&Shown::of_ours(String::from_utf8_lossy(&page).into_owned()))
}

fn of_command(program: &Command, name: &str) -> Result<Man> {
    let commands: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
    let command = program.find_subcommand(name).cloned().ok_or_else(|| {
        ErrorKind::Usage
            .error(text!("there is no command `{name}`", "`{name}` というコマンドはありません"))
            .remedy(nearest(name, &commands))
    })?;
    Ok(Man::new(command).title(format!("kurabe-{name}")))
}

/// Appends how to name a run, and the names of profiles and models.
fn names(page: &mut Vec<u8>) -> std::io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SH", [t("RUNS", "測定の指定")]);
    roff.text([roman(t(
        "A run is named by its id, a unique prefix of the id, a label that no other run has, or the word \
         last; last~1 is the run before the last. `kurabe list` shows all runs. `kurabe man COMMAND` \
         prints the page of a command.",
        "測定は、ID、その先頭の一意な部分、1 つの測定だけが持つラベル、または last で指定します。last~1 \
         はその 1 つ前の測定です。一覧は `kurabe list` で見られます。`kurabe man コマンド` でコマンドごと\
         のページを表示します。",
    ))]);
    let sections: [(&str, Vec<(&str, String)>); 2] = [
        (t("PROFILES", "プロファイル"), profile_titles().collect()),
        (t("MODELS", "モデル"), model_titles().collect()),
    ];
    for (heading, entries) in sections {
        roff.control("SH", [heading]);
        for (name, title) in entries {
            roff.control("TP", []);
            roff.text([bold(name)]);
            roff.text([roman(title)]);
        }
    }
    page.write_all(roff.to_roff().as_bytes())
}
