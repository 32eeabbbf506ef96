//! fio's command line, as a job file.
//!
//! The model: each `--name` begins a section. Options before the first one apply to all sections, and
//! to the named job files. So a command line becomes the text of a job file, and an error shows the
//! line of the option in it.

use crate::job::table::{BARE, BARE_WORDS, FioOptionKind, FioOptions, group_of, plain_name};
use crate::log::FioLogKind;
use kurabe_core::output_path::OutputPath;
use kurabe_core::{Error, ErrorKind, Result, Text, shown::shell_word, text};

/// fio's layout of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioResults {
    /// `--output-format=json` or `json+`.
    Json,
    /// `--minimal` or `--output-format=terse`.
    Terse,
}

/// Contents of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioLine {
    /// Name of the jobs together.
    pub name: String,
    /// The jobs as a job file.
    pub source: String,
    /// Names of the sections to run; all if empty.
    pub sections: Vec<String>,
    /// Whether jobs are only parsed.
    pub parse_only: bool,
    /// Layout of the results, if one is requested.
    pub results_as: Option<FioResults>,
    /// File for the results.
    pub output: Option<OutputPath>,
    /// Whether writing is prohibited.
    pub is_read_only: bool,
    /// Accepted options without an effect, each with the reason.
    pub idle: Vec<(String, &'static Text)>,
}

/// Parses the arguments of a command line after `fio`.
///
/// # Errors
/// If an argument is not one of fio's, lacks its value, or is not supported.
pub fn read_fio_line(words: &[String]) -> Result<FioLine> {
    let mut line = FioLine::default();
    let (mut global, mut files, mut jobs) = (String::new(), String::new(), String::new());
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        let Some(option) =
            word.strip_prefix("--").or_else(|| word.strip_prefix('-')).filter(|name| !name.is_empty())
        else {
            files.push_str(&format!("include {word}\n"));
            continue;
        };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        let plain = plain_name(name);
        let Some(group) = group_of(plain) else { return Err(unknown(word)) };
        // In a job file, a log without a name is named after its job. On the command line, fio requires
        // a name.
        let is_log = FioLogKind::ALL.iter().any(|(_, option, _)| *option == plain);
        let takes_value = !BARE.contains(&plain) && !BARE_WORDS.contains(&plain);
        let value = match value {
            // fio takes the next argument as the name of the log, even if it is another option.
            None if is_log && words.peek().is_none_or(|next| next.starts_with('-')) => {
                return Err(lacks_value(name));
            }
            Some(value) if is_log && value.is_empty() => return Err(lacks_value(name)),
            None if takes_value || is_log => {
                Some(words.next().map(str::to_owned).ok_or_else(|| lacks_value(name))?)
            }
            value => value,
        };
        if group.of_line {
            line.take(group, name, value)?;
            continue;
        }
        if plain == "name" {
            let name = value.unwrap_or_default();
            jobs.push_str(&if name == "global" { "[global]\n".to_owned() } else { format!("[{name}]\n") });
            continue;
        }
        let option = value.map_or_else(|| format!("{plain}\n"), |value| format!("{plain}={value}\n"));
        if jobs.is_empty() { &mut global } else { &mut jobs }.push_str(&option);
    }
    if files.is_empty() && jobs.is_empty() {
        return Err(no_jobs(!global.is_empty()));
    }
    line.name = match files.lines().collect::<Vec<_>>()[..] {
        [file] if jobs.is_empty() => file.trim_start_matches("include ").to_owned(),
        _ => "fio".to_owned(),
    };
    line.source = format!("[global]\n{global}{files}{jobs}");
    Ok(line)
}

impl FioLine {
    /// Takes an argument that belongs to the command line and not to a job.
    fn take(&mut self, group: &'static FioOptions, name: &str, value: Option<String>) -> Result<()> {
        match (group.kind, name) {
            (FioOptionKind::Refused, _) => return Err(refused(group, &format!("--{name}"))),
            (_, "parse-only") => self.parse_only = true,
            (_, "readonly") => self.is_read_only = true,
            (_, "section") => self.sections.extend(value),
            (_, "output") => self.output = value.as_deref().map(OutputPath::from),
            (_, "minimal") => self.results_as = Some(FioResults::Terse),
            (_, "output-format") => {
                let formats = value.unwrap_or_default();
                for format in formats.split(',') {
                    match format {
                        "json" | "json+" => self.results_as = Some(FioResults::Json),
                        "terse" => self.results_as = Some(FioResults::Terse),
                        "normal" => {}
                        _ => return Err(no_format(format)),
                    }
                }
            }
            _ => self.idle.extend(group.why.as_ref().map(|why| (format!("--{name}"), why))),
        }
        Ok(())
    }
}

/// Creates the error for an unsupported option, with the reason.
pub(super) fn refused(group: &FioOptions, name: &str) -> Error {
    let error = ErrorKind::Unsupported
        .error(text!("`{name}` is not supported here", "`{name}` には対応していません"));
    match &group.why {
        Some(why) => error.remedy(why.clone()),
        None => error,
    }
}

fn unknown(word: &str) -> Error {
    let all = crate::job::table::fio_options().iter().flat_map(|group| &group.names);
    let names: Vec<&str> = all.map(String::as_str).collect();
    let name = word.trim_start_matches('-').split('=').next().unwrap_or(word);
    let word = shell_word(word);
    let error = ErrorKind::Usage
        .error(text!("fio has no option {word}", "fio に {word} というオプションはありません"));
    match kurabe_core::closest(name, &names) {
        Some(nearest) => error.remedy(text!("did you mean --{nearest}?", "--{nearest} ではありませんか")),
        None => error,
    }
}

fn no_format(format: &str) -> Error {
    ErrorKind::Unsupported
        .error(text!("results are not written as `{format}`", "結果を `{format}` 形式では書き出せません"))
        .remedy(text!(
            "use json, json+ or terse, in fio's layout",
            "fio と同じ形の json、json+、terse が使えます"
        ))
}

fn lacks_value(name: &str) -> Error {
    ErrorKind::Usage
        .error(text!("--{name} has no value", "--{name} に値がありません"))
        .remedy(text!("write --{name}=VALUE", "--{name}=値 と書いてください"))
}

fn no_jobs(has_options: bool) -> Error {
    let what = match has_options {
        true => {
            text!("the command line has options but no job", "オプションはありますが、ジョブがありません")
        }
        false => text!("no job is given", "ジョブがありません"),
    };
    ErrorKind::Usage.error(what).remedy(text!(
        "name a job before its options, or a job file",
        "オプションの前にジョブの名前を書くか、ジョブファイルを指定してください"
    ))
}
