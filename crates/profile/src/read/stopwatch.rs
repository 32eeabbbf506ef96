//! The reader of `stopwatch` steps.

use super::kit::keys;
use kurabe_core::Value;
use kurabe_core::profile::{StopwatchStep, TimeMark};
use kurabe_core::quantity::{NS_PER_S, parse_duration_ns};
use kurabe_core::{Result, Text, text};

/// Default time limit. Old computers boot in a few minutes.
const USUAL_LIMIT_NS: u64 = 600 * NS_PER_S;
const KINDS: [&str; 4] = ["key", "line", "file", "command"];

pub(super) fn read_stopwatch(value: &Value<'_>) -> Result<StopwatchStep> {
    let table = value.table(&keys("kind id label start stop limit"))?;
    let stop = table.require("stop")?;
    let step = StopwatchStep {
        id: table.read("id", Value::words)?,
        label: table.read("label", Value::words)?,
        start: read_mark(&table.require("start")?)?,
        stop: read_mark(&stop)?,
        limit_ns: table
            .read("limit", |value| value.parsed(parse_duration_ns))?
            .filter(|ns| *ns > 0)
            .unwrap_or(USUAL_LIMIT_NS),
    };
    if matches!(step.stop, TimeMark::Program { .. }) {
        return Err(stop
            .error(&text!("a program can only start a stopwatch", "プログラムは計時の開始にだけ使えます"))
            .remedy(text!(
                "to time a program until it ends, use a step of kind = \"command\"",
                "プログラムの終了までを測るには kind = \"command\" のステップを使ってください"
            )));
    }
    Ok(step)
}

fn read_mark(value: &Value<'_>) -> Result<TimeMark> {
    let table = value.table(&["key", "line", "from", "file", "command"])?;
    let given: Vec<&str> = KINDS.into_iter().filter(|kind| table.get(kind).is_some()).collect();
    let [kind] = given.as_slice() else {
        return Err(value.error(&text!(
            "give exactly one of `key`, `line`, `file` and `command` here",
            "ここには `key`、`line`、`file`、`command` のどれか 1 つを書きます"
        )));
    };
    if let Some(from) = table.get("from").filter(|_| *kind != "line") {
        return Err(from.error(&text!(
            "`from` names the device or file of a `line`",
            "`from` は `line` を読み取るデバイスやファイルの指定です"
        )));
    }
    let given = table.require(kind)?;
    Ok(match *kind {
        "key" if given.is_table() => TimeMark::Key { what: given.text()? },
        "key" => TimeMark::Key { what: Text::same(given.string()?) },
        "line" => TimeMark::Line { text: filled(&given)?, from: table.words("from")? },
        "file" => TimeMark::File { path: filled(&given)? },
        _ => {
            let command = given.each(Value::words)?;
            if command.first().is_none_or(String::is_empty) {
                return Err(
                    given.error(&text!("expected a program here", "ここには実行するプログラムを書きます"))
                );
            }
            TimeMark::Program { command }
        }
    })
}

fn filled(value: &Value<'_>) -> Result<String> {
    let words = value.words()?;
    match words.is_empty() {
        true => Err(value.error(&text!("expected a text here", "ここには文字列を書きます"))),
        false => Ok(words),
    }
}
