//! Region of the target that a section covers, and the parts of its jobs.

use super::notes::Notes;
use super::options::{OptionReader, size_remedy};
use super::own::OwnStep;
use kurabe_core::workload::{Pattern, ThreadShare};
use kurabe_core::{Result, text};

/// Region of the target that the jobs of a section cover.
pub(super) struct Region {
    /// Bytes of each job; the whole target if absent.
    pub(super) each_bytes: Option<u64>,
    pub(super) span_bytes: Option<u64>,
    /// Start and length in percent of the target, if given in percent.
    pub(super) percent: Option<(u8, u8)>,
    pub(super) share: ThreadShare,
}

/// A length in fio's notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Bytes(u64),
    Percent(u8),
}

/// Returns the bytes or percent of an option.
fn reach(reader: &OptionReader<'_>, name: &str) -> Result<Option<Reach>> {
    match reader.word(name)?.and_then(|words| words.strip_suffix('%')) {
        None => Ok(reader.bytes(name)?.map(Reach::Bytes)),
        Some(percent) => {
            let percent = percent.parse().ok().filter(|percent| *percent <= 100).map(Reach::Percent);
            reader.taken(percent, name, text!("0% to 100%", "0% から 100% です")).map(Some)
        }
    }
}

/// Returns start and length of the region, if given in percent.
fn percents(reader: &OptionReader<'_>) -> Result<Option<(u8, u8)>> {
    let percent = match (reach(reader, "offset")?, reach(reader, "size")?) {
        (None | Some(Reach::Bytes(_)), None | Some(Reach::Bytes(_) | Reach::Percent(100))) => {
            return Ok(None);
        }
        (None | Some(Reach::Bytes(0)), Some(Reach::Percent(length))) if length > 0 => (0, length),
        (Some(Reach::Percent(start)), Some(Reach::Percent(length))) if length > 0 => (start, length),
        (Some(Reach::Percent(start)), None) if start < 100 => (start, 100 - start),
        _ => {
            let remedy = text!(
                "give offset= and size= both in bytes, or both in percent",
                "offset= と size= は、両方ともバイト数か % で書いてください"
            );
            return Err(reader.wrong("size").remedy(remedy));
        }
    };
    let remedy = text!(
        "bytes, or name the file or device that it is a part of: filename=",
        "バイト数で書くか、もとになるファイルやデバイスを filename= で指定してください"
    );
    reader.require(reader.has("filename"), "size", remedy)?;
    Ok(Some(percent))
}

/// Returns the number of jobs of a section whose parts of a file are not adjacent, and the distance
/// between their starts.
pub(super) fn spread(reader: &OptionReader<'_>, jobs: u64) -> Result<Option<(u64, Reach)>> {
    /// Each is a separate cell.
    const MOST: u64 = 64;
    let increment = reach(reader, "offset_increment")?.unwrap_or(Reach::Bytes(0));
    let size = reader.word("size")?.and_then(|size| reader.size(size));
    let joins = matches!(increment, Reach::Bytes(bytes) if size == Some(bytes));
    if jobs == 1
        || matches!(increment, Reach::Bytes(0) | Reach::Percent(0))
        || joins
        || !reader.has("filename")
    {
        return Ok(None);
    }
    let remedy = text!(
        "as much as size=, or at most {MOST} jobs",
        "size= と同じ値か、ジョブを {MOST} 個までにしてください"
    );
    reader.require(jobs <= MOST, "offset_increment", remedy)?;
    Ok(Some((jobs, increment)))
}

/// Returns the region of the target that a section covers. If kurabe wrote the section, its description
/// counts.
pub(super) fn region(
    reader: &OptionReader<'_>,
    own: Option<&OwnStep>,
    pattern: Pattern,
    jobs: u64,
    notes: &mut Notes,
) -> Result<Region> {
    let Some(own) = own else { return fio_region(reader, pattern, jobs, notes) };
    let (each_bytes, span_bytes) = (reader.bytes("size")?, Some(own.span_bytes));
    Ok(Region { each_bytes, span_bytes, percent: None, share: own.share })
}

fn fio_region(reader: &OptionReader<'_>, pattern: Pattern, jobs: u64, notes: &mut Notes) -> Result<Region> {
    let percent = percents(reader)?;
    let size = reader.word("size")?.filter(|size| !size.ends_with('%'));
    let files = reader.number("nrfiles", 1..=u64::from(u32::MAX))?.unwrap_or(1);
    if files > 1 {
        notes.add(text!(
            "nrfiles={files}: here one file of the total size is used",
            "nrfiles={files}: ここでは合計の大きさの 1 つのファイルを使います"
        ));
    }
    let each_bytes = match (size, reader.word("filesize")?) {
        (Some(_), _) => reader.bytes("size")?,
        (None, Some(words)) => {
            let largest = reader.size(words.rsplit('-').next().unwrap_or(words));
            Some(reader.taken(largest, "filesize", size_remedy())?.saturating_mul(files))
        }
        (None, None) => None,
    };
    reader.require(each_bytes != Some(0), "size", size_remedy())?;
    let has_one_name = reader.word("filename")?.is_none_or(|name| !name.replace("\\:", "").contains(':'));
    let remedy = text!(
        "a single file or device; use several jobs for several, which run concurrently",
        "ファイルかデバイスは 1 つにしてください。複数なら、ジョブを分ければ同時に動きます"
    );
    reader.require(has_one_name, "filename", remedy)?;
    let increment = match reach(reader, "offset_increment")? {
        Some(Reach::Bytes(bytes)) => bytes,
        _ => 0,
    };
    let own_files = jobs > 1 && !reader.has("filename");
    if own_files {
        notes.add(text!(
            "without filename=, each fio job has its own file; here each has a part of one file",
            "fio では filename= がなければジョブごとに別のファイルを使いますが、ここでは 1 つのファイルを分け合います"
        ));
    }
    let apart = jobs > 1 && (increment > 0 || own_files);
    reader.require(
        increment == 0 || !own_files,
        "offset_increment",
        text!("name their common file: filename=", "共通のファイルを filename= で指定してください"),
    )?;
    let is_usual = match pattern {
        Pattern::Sequential | Pattern::Interleaved | Pattern::Strided { .. } => apart,
        Pattern::Permutation => false,
        _ => !apart,
    };
    let share = match apart {
        _ if is_usual || jobs == 1 => ThreadShare::Usual,
        true => ThreadShare::Parts,
        false => ThreadShare::Whole,
    };
    let span_bytes = match each_bytes {
        Some(each) if apart => Some(each.saturating_mul(jobs)),
        each => each,
    };
    Ok(Region { each_bytes, span_bytes, percent, share })
}
