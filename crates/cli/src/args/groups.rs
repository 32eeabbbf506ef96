//! The program's help, with commands in groups by task.

use super::help_words;
use crate::lang::{below, t};
use crate::output::style;
use clap::{Command, Subcommand, builder::Styles};
use kurabe_core::display::wrap;
use std::ffi::OsString;

/// The groups and their commands. Every command belongs to exactly one group.
const GROUPS: [(&str, &str, &[&str]); 7] = [
    ("Measure", "測る", &["run", "fio", "sweep", "what", "profiles"]),
    ("Look", "見る", &["list", "show", "why", "report", "card", "ui"]),
    ("Compare", "比べる", &["compare", "versus", "recommend", "fit", "history", "study", "catalogue"]),
    ("Model", "モデル", &["models", "serve", "attach", "detach", "control", "vm"]),
    ("Programs", "プログラム", &["price", "on", "mark"]),
    ("Other tools", "ほかのツール", &["import", "export", "push", "pull", "record"]),
    ("Housekeeping", "管理", &["label", "rm", "check", "doctor", "completions", "man", "help"]),
];

/// Returns the template of the help: a short introduction, or all commands in groups, which clap
/// does not support. If no help is requested, the list of commands is not built a second time.
pub(super) fn template() -> String {
    let words: Vec<OsString> = std::env::args_os().collect();
    if !help_words::is_asked(&words) {
        return "{usage}".to_owned();
    }
    if !help_words::is_whole(&words) {
        return format!("{{about-with-newline}}\n{{usage-heading}} kurabe <COMMAND>\n\n{}", below!("first"));
    }
    // clap adds its own help command only later.
    let help = Command::new("help")
        .about(t("Print this message or the help of a command", "各コマンドのヘルプを表示"));
    let program = super::Command::augment_subcommands(Command::new("kurabe")).subcommand(help);
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let indent = 4 + program.get_subcommands().map(|command| command.get_name().len()).max().unwrap_or(0);
    let mut page = String::from("{about-with-newline}\n{usage-heading} {usage}\n\n");
    for (en, ja, names) in GROUPS {
        page += &format!("{header}{}:{header:#}\n", t(en, ja));
        for command in names.iter().filter_map(|name| program.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let about = wrap(&about, style().width.saturating_sub(indent)).join(&format!("\n{:indent$}", ""));
            let padding = indent - 2 - command.get_name().len();
            page += &format!("  {literal}{}{literal:#}{:padding$}{about}\n", command.get_name(), "");
        }
        page.push('\n');
    }
    page + &format!("{header}Options:{header:#}\n{{options}}{{after-help}}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn each_command_stands_in_one_group() {
        let mut program = crate::args::Cli::command();
        program.build();
        let mut commands: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        let mut grouped = GROUPS.map(|(_, _, names)| names).concat();
        commands.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, commands, "the help groups every command once");
    }
}
