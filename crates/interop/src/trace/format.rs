//! Formats of traces.

use kurabe_core::words::{Keyword, all_words};
use kurabe_core::{ErrorKind, Result, Text, text};

/// A format of trace files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TraceFormat {
    /// fio's `write_iolog`, version 2 (without times) or 3 (times in µs).
    FioIolog,
    /// Default output of `blkparse`: the operations as queued (`Q`), before merging and splitting.
    Blkparse,
    /// Default output of `blkparse`: the operations as issued to the device (`D`).
    BlkparseIssued,
    /// Microsoft Research Cambridge: CSV, times in 100 ns, offsets and lengths in bytes.
    Msr,
    /// Storage Performance Council: ASU, address in sectors, length in bytes, opcode, time in s.
    Spc,
    /// MQSim: time, device, sector, sectors, 0 for a write and 1 for a read. Times are read as ns.
    /// MQSim itself takes their unit from its configuration, and its examples use ns.
    Mqsim,
    /// SSDSim: the same columns as MQSim, with times always in ns.
    Ssdsim,
    /// DiskSim's `validate`: kind, result in the drive's buffer, block, blocks, measured time and pause
    /// in µs.
    DisksimValidate,
    /// DiskSim's `ascii`: time in ms, device, block, blocks, flags in hexadecimal of which bit 0 is a
    /// read.
    Disksim,
    /// Alibaba's block traces of 2020: CSV, device, `R` or `W`, offset and length in bytes, time in µs.
    Alibaba,
    /// bcc's `biosnoop`: a line for each operation, times in s, sectors of 512 bytes, latency in ms.
    Biosnoop,
    /// CloudPhysics' virtual SCSI disks as CSV with a heading: version, time, opcode, bytes, block of
    /// 512 bytes.
    VscsiCsv,
    /// CloudPhysics' virtual SCSI disks: records of 32 or 40 bytes, times in µs, blocks of 512 bytes.
    Vscsi,
}

/// Words in profiles and options.
impl Keyword for TraceFormat {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("fio-iolog", Self::FioIolog),
        ("blkparse", Self::Blkparse),
        ("blkparse-issued", Self::BlkparseIssued),
        ("msr", Self::Msr),
        ("spc", Self::Spc),
        ("mqsim", Self::Mqsim),
        ("ssdsim", Self::Ssdsim),
        ("disksim", Self::Disksim),
        ("disksim-validate", Self::DisksimValidate),
        ("alibaba", Self::Alibaba),
        ("biosnoop", Self::Biosnoop),
        ("vscsi-csv", Self::VscsiCsv),
        ("vscsi", Self::Vscsi),
    ];
}

impl TraceFormat {
    /// Returns the format for a word.
    ///
    /// # Errors
    /// When the format does not exist. The error lists all words.
    pub fn from_word(word: &str) -> Result<Self> {
        Self::of_word(word).ok_or_else(|| {
            ErrorKind::Usage
                .error(text!("{word} is not a trace format", "{word} というトレース形式はありません"))
                .remedy(choose(&all_words::<Self>()))
        })
    }
}

pub(super) fn choose(formats: &[&str]) -> Text {
    let words = formats.join(", ");
    text!("give the format, one of {words}", "次のいずれかを形式として指定してください: {words}")
}
