//! The reader of profiles.
//!
//! Each kind of step has a reader that knows its keys. A key that begins with `each_` expands a
//! step into several, one for each value. The first such key is the outermost loop.

mod figures;
mod io;
mod kit;
mod metadata;
mod stopwatch;
#[cfg(test)]
mod tests;

use figures::{read_derived, read_printed_unit, read_rounds};
use io::{io_table, read_io};
use kit::{
    MOST_REPETITIONS, duration, flag, integer_or, keys, positive_bytes, positive_duration, read_data,
    read_directions, read_each, refuse_idle, refuse_shared_name, size,
};
use kurabe_core::profile::{
    AccessOrder, AccessTimeStep, CommandStep, CopyStep, GitMaterial, IoStep, MOST_IODEPTH, Order,
    PositionalStep, Profile, ReplayStep, ReplayTiming, Rules, Statistic, Step, is_step_name,
    parse_block_size,
};
use kurabe_core::workload::{Data, Direction};
use kurabe_core::{DataFile, DataTable, Value};
use kurabe_core::{Result, text};
use metadata::read_metadata;
use stopwatch::read_stopwatch;

/// Parses a profile from TOML. Errors show `file`.
///
/// # Errors
/// Fails with the line, the reason and the nearest valid word.
pub fn parse_profile(file: &str, source: &str) -> Result<Profile> {
    let data = DataFile::parse(file, source)?;
    let root = data.root(&keys(
        "schema name title source differs statistic as_printed rules rounds precondition step \
         derived",
    ))?;
    let schema = root.require("schema")?;
    if schema.integer(0..=u64::MAX)? != 1 {
        return Err(schema.error(&text!(
            "this version of kurabe reads only profiles with schema 1",
            "この kurabe が読めるプロファイルは schema 1 だけです"
        )));
    }
    let steps = read_steps(&root)?;
    let rules = read_rules(&root.require("rules")?)?;
    Ok(Profile {
        name: root.words("name")?,
        title: root.require("title")?.text()?,
        source: root.read("source", Value::words)?,
        differs: root.read("differs", Value::text)?,
        statistic: root.require("statistic")?.choice(&[
            ("mean", Statistic::Mean),
            ("median", Statistic::Median),
            ("best", Statistic::Best),
        ])?,
        as_printed: root.read("as_printed", read_printed_unit)?,
        rounds: root.read("rounds", |value| read_rounds(value, &steps))?,
        derived: root.each("derived", |value| read_derived(value, &steps, &rules))?,
        preconditions: root.each("precondition", read_precondition)?.concat(),
        rules,
        steps,
    })
}

/// Reads all steps. Each `[[step]]` becomes one or several.
fn read_steps(root: &DataTable<'_>) -> Result<Vec<Step>> {
    let none = |at: &Value<'_>| {
        at.error(&text!("the profile has no steps", "ステップが 1 つもありません"))
            .remedy(text!("add at least one [[step]]", "[[step]] を 1 つ以上書いてください"))
    };
    let Some(values) = root.get("step") else { return Err(none(&root.require("name")?)) };
    let (mut steps, mut ids, mut with_files) = (Vec::new(), Vec::new(), Vec::new());
    for value in values.elements() {
        let made = read_step(&value)?;
        if let Some(key) = value.any_table()?.get("beside").filter(|_| made.iter().any(Step::is_beside)) {
            check_beside(&key, steps.last(), &made)?;
        }
        // Metadata steps can be combined with either kind.
        if !made.iter().any(|step| matches!(step, Step::Metadata(_))) {
            with_files.push((made.iter().any(Step::has_own_files), value.clone()));
        }
        let id = value.any_table()?.get("id");
        if let Some(id) = id {
            check_id(&id, &ids)?;
            ids.push(id.string()?.to_owned());
        }
        steps.extend(made);
    }
    if steps.is_empty() {
        return Err(none(&values));
    }
    let first_has_files = with_files.first().is_some_and(|(own_files, _)| *own_files);
    match with_files.iter().find(|(own_files, _)| *own_files != first_has_files) {
        None => Ok(steps),
        Some((_, other)) => Err(other
            .error(&text!(
                "steps with their own files (command, stopwatch) cannot be combined with steps that need a test file",
                "専用のファイルを使うステップ(command、stopwatch)と、テストファイルを使うステップが混ざっています"
            ))
            .remedy(text!("split it into two profiles", "2 つのプロファイルに分けてください"))),
    }
}

/// Checks a step that runs concurrently with the previous one. Both must be a single cell without a
/// warm-up.
fn check_beside(key: &Value<'_>, before: Option<&Step>, made: &[Step]) -> Result<()> {
    let is_one_cell = |step: &Step| matches!(step, Step::Io(step) if step.directions.len() == 1 && step.warm_up_passes == 0);
    if before.is_some_and(is_one_cell) && matches!(made, [step] if is_one_cell(step)) {
        return Ok(());
    }
    Err(key
        .error(&text!(
            "two steps can run concurrently only if each has a single direction",
            "同時に動かせるのは、方向が 1 つだけの io ステップどうしです"
        ))
        .remedy(text!(
            "give this step and the one before it one direction each, and no warm_up_passes",
            "このステップと前のステップの directions を 1 つにし、warm_up_passes を外してください"
        )))
}

/// Checks that an `id` is valid in a formula and not used by a previous step.
fn check_id(id: &Value<'_>, before: &[String]) -> Result<()> {
    let word = id.string()?;
    if !is_step_name(word) {
        return Err(id
            .error(&text!(
                "`{word}` cannot be used as a name in a formula",
                "`{word}` は式の中で名前として使えません"
            ))
            .remedy(text!(
                "begin with a letter; then letters, digits, `-` and `_`",
                "英字で始め、英数字と `-`、`_` だけを使ってください"
            )));
    }
    if before.iter().any(|other| other == word) {
        return Err(id
            .error(&text!("another step has the id `{word}`", "id `{word}` は別のステップで使われています"))
            .remedy(text!("give each step its own id", "ステップごとに別の id を付けてください")));
    }
    Ok(())
}

fn read_precondition(value: &Value<'_>) -> Result<Vec<IoStep>> {
    let table = io_table(value)?;
    if let Some(kind) = table.get("kind") {
        kind.choice(&[("io", ())])?;
    }
    refuse_idle(&table, "beside", false, "`[[step]]`")?;
    read_io(&table)
}

fn read_rules(value: &Value<'_>) -> Result<Rules> {
    let table = value.table(&keys(
        "size size_at_least whole_device fill_time_limit runs discarded_runs time write_limit \
         interval order direct data zero_percent same_offsets moving_start new_pages seed",
    ))?;
    let size_bytes = positive_bytes(&table.require("size")?)?;
    let size_at_least_bytes = size(&table, "size_at_least")?;
    let fill_time_limit_ns = duration(&table, "fill_time_limit")?;
    refuse_idle(&table, "size_at_least", fill_time_limit_ns.is_some(), "`fill_time_limit`")?;
    refuse_idle(&table, "fill_time_limit", size_at_least_bytes.is_some(), "`size_at_least`")?;
    if let Some(least) = table.get("size_at_least").filter(|_| size_at_least_bytes > Some(size_bytes)) {
        return Err(least.error(&text!(
            "the minimum size is larger than `size`",
            "いちばん小さい大きさが `size` を超えています"
        )));
    }
    Ok(Rules {
        size_bytes,
        whole_device: flag(&table, "whole_device", false)?,
        size_at_least_bytes,
        fill_time_limit_ns,
        runs: table.require("runs")?.integer(1..=MOST_REPETITIONS)? as u32,
        discarded_runs: integer_or(&table, "discarded_runs", 0..=MOST_REPETITIONS, 0)? as u32,
        time_ns: positive_duration(&table.require("time")?)?,
        write_limit_bytes: size(&table, "write_limit")?,
        interval_ns: duration(&table, "interval")?.unwrap_or(0),
        order: table.choice("order", &[("by-direction", Order::ByDirection), ("by-step", Order::ByStep)])?,
        direct: flag(&table, "direct", true)?,
        data: read_data(&table)?.unwrap_or(Data::Random),
        same_offsets: flag(&table, "same_offsets", false)?,
        moving_start: flag(&table, "moving_start", false)?,
        new_pages: flag(&table, "new_pages", false)?,
        seed: integer_or(&table, "seed", 0..=i64::MAX as u64, 1)?,
    })
}

/// A function that reads a step of one kind. An entry with `each_…` becomes several steps.
type StepReader = fn(&Value<'_>) -> Result<Vec<Step>>;

fn read_step(value: &Value<'_>) -> Result<Vec<Step>> {
    let read = value.any_table()?.require("kind")?.choice::<StepReader>(&[
        ("io", |value| Ok(read_io(&io_table(value)?)?.into_iter().map(Box::new).map(Step::Io).collect())),
        ("positional", |value| Ok(vec![Step::Positional(read_positional(value)?)])),
        ("access-time", |value| Ok(vec![Step::AccessTime(read_access_time(value)?)])),
        ("copy", read_copy),
        ("command", |value| Ok(vec![Step::Command(read_command(value)?)])),
        ("replay", |value| Ok(vec![Step::Replay(read_replay(value)?)])),
        ("metadata", |value| Ok(vec![Step::Metadata(read_metadata(value)?)])),
        ("stopwatch", |value| Ok(vec![Step::Stopwatch(read_stopwatch(value)?)])),
    ])?;
    read(value)
}

fn read_positional(value: &Value<'_>) -> Result<PositionalStep> {
    let table = value.table(&keys("kind id label samples sample_size pre_read alignment directions sync"))?;
    let directions = read_directions(&table)?;
    if directions.first() != Some(&Direction::Read)
        || directions.get(1).is_some_and(|second| *second != Direction::Write)
        || directions.len() > 2
    {
        let at = table.get("directions").unwrap_or_else(|| value.clone());
        return Err(at.error(&text!(
            "expected [\"read\"], or [\"read\", \"write\"] to write the samples back",
            "ここには [\"read\"] か [\"read\", \"write\"] を書きます(書き込むのは読んだ内容です)"
        )));
    }
    Ok(PositionalStep {
        id: table.read("id", Value::words)?,
        label: table.read("label", Value::words)?,
        samples: table.require("samples")?.integer(1..=MOST_REPETITIONS)? as u32,
        sample_bytes: table.require("sample_size")?.parsed(parse_block_size)?,
        pre_read_bytes: table.read("pre_read", |value| value.parsed(parse_block_size))?.unwrap_or(0),
        alignment_bytes: table.read("alignment", |value| value.parsed(parse_block_size))?.unwrap_or(4096),
        directions,
        sync: flag(&table, "sync", false)?,
    })
}

fn read_access_time(value: &Value<'_>) -> Result<AccessTimeStep> {
    let table = value.table(&keys(
        "kind id label samples block_size alignment direction order seed first_discarded by_distance \
         span",
    ))?;
    let block_bytes = table.require("block_size")?.parsed(parse_block_size)?;
    Ok(AccessTimeStep {
        id: table.read("id", Value::words)?,
        label: table.read("label", Value::words)?,
        samples: table.require("samples")?.integer(1..=MOST_REPETITIONS)? as u32,
        block_bytes,
        alignment_bytes: table
            .read("alignment", |value| value.parsed(parse_block_size))?
            .unwrap_or(block_bytes),
        direction: table.choice("direction", &[("read", Direction::Read), ("write", Direction::Write)])?,
        order: table.choice("order", &[("uniform", AccessOrder::Uniform), ("glib", AccessOrder::Glib)])?,
        seed: integer_or(&table, "seed", 0..=u64::from(u32::MAX), 1)?,
        first_discarded: flag(&table, "first_discarded", false)?,
        by_distance: flag(&table, "by_distance", false)?,
        span_bytes: size(&table, "span")?,
    })
}

fn read_copy(value: &Value<'_>) -> Result<Vec<Step>> {
    let table = value.table(&["kind", "id", "label", "chunk", "each_chunk"])?;
    let read_chunk = |value: &Value<'_>| value.parsed(parse_block_size);
    let one = table.read("chunk", read_chunk)?;
    table.refuse_both("chunk", "each_chunk")?;
    let chunks = read_each(&table, "each_chunk", read_chunk)?;
    if chunks.len() > 1 {
        for key in ["id", "label"] {
            refuse_shared_name(table.get(key))?;
        }
    }
    let (id, label) = (table.read("id", Value::words)?, table.read("label", Value::words)?);
    chunks
        .iter()
        .map(|chunk| match chunk.or(one) {
            Some(chunk_bytes) => {
                Ok(Step::Copy(CopyStep { id: id.clone(), label: label.clone(), chunk_bytes }))
            }
            None => Err(value.error(&text!(
                "a copy needs `chunk` or `each_chunk`",
                "copy には `chunk` か `each_chunk` が必要です"
            ))),
        })
        .collect()
}

fn read_command(value: &Value<'_>) -> Result<CommandStep> {
    let table = value.table(&keys("kind id label git prepare command restore cleanup shell cold"))?;
    let words = |value: &Value<'_>| -> Result<Vec<String>> {
        let words = value.each(Value::words)?;
        match words.first().is_none_or(String::is_empty) {
            true => {
                Err(value.error(&text!("expected a program here", "ここには実行するプログラムを書きます")))
            }
            false => Ok(words),
        }
    };
    let shell = flag(&table, "shell", false)?;
    let program = |value: &Value<'_>| -> Result<Vec<String>> {
        if !shell && !value.is_array() {
            return Err(value
                .error(&text!(
                    "expected each program as a separate list here",
                    "ここにはプログラムを 1 つずつ配列で書きます"
                ))
                .remedy(text!(
                    "write [[\"git\", \"init\"], [\"sync\"]], or set shell = true",
                    "[[\"git\", \"init\"], [\"sync\"]] のように書くか、shell = true にしてください"
                )));
        }
        words(value)
    };
    let list = |key: &str| table.each(key, program);
    Ok(CommandStep {
        id: table.read("id", Value::words)?,
        label: table.read("label", Value::words)?,
        git: table.read("git", read_git)?,
        prepare: list("prepare")?,
        command: words(&table.require("command")?)?,
        restore: list("restore")?,
        cleanup: list("cleanup")?,
        shell,
        cold: flag(&table, "cold", true)?,
    })
}

fn read_git(value: &Value<'_>) -> Result<GitMaterial> {
    let table = value.table(&["files", "changed_files", "commits"])?;
    let files = table.require("files")?.integer(1..=10_000_000)?;
    Ok(GitMaterial {
        files: files as u32,
        changed_files: table.require("changed_files")?.integer(1..=files)? as u32,
        commits: integer_or(&table, "commits", 1..=100_000, 1)? as u32,
    })
}

fn read_replay(value: &Value<'_>) -> Result<ReplayStep> {
    let table = value.table(&["kind", "id", "label", "trace", "format", "timing", "speed", "iodepth"])?;
    let speed = table.read("speed", Value::positive)?.unwrap_or(1.0);
    let timing = table.choice(
        "timing",
        &[
            ("fast", ReplayTiming::Fast),
            ("timestamps", ReplayTiming::Timestamps { speed }),
            ("closed", ReplayTiming::Closed),
            ("think", ReplayTiming::Think),
            ("readers", ReplayTiming::Readers),
        ],
    )?;
    let timed = matches!(timing, ReplayTiming::Timestamps { .. });
    refuse_idle(&table, "speed", timed, "`timing = \"timestamps\"`")?;
    Ok(ReplayStep {
        id: table.read("id", Value::words)?,
        label: table.read("label", Value::words)?,
        trace: table.words("trace")?,
        format: table.read("format", Value::words)?,
        timing,
        iodepth: integer_or(&table, "iodepth", 1..=u64::from(MOST_IODEPTH), 1)? as u32,
    })
}
