//! The journal of an ext4 file system: where it lies, and which of its commits changed nothing but
//! times of files.
//!
//! The model: a transaction is one or more descriptor blocks, each followed by copies of the
//! metadata blocks that it lists, and a commit block at the end. Where every copy equals the
//! previous one of the same block, apart from inode times and checksums, only times changed. A
//! block that the journal wrote twice in a recording (it wraps) says nothing of the first time.
//!
//! Sources: `Documentation/filesystems/ext4/journal.rst`, `inodes.rst`, `super.rst`
//! (`s_jnl_blocks`), `ifork.rst` (extent tree).

use kurabe_sim::{RecordedRequest, RequestKind, TimesCommit};
use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

const BLOCK: usize = 4096;
/// Size of an inode in file systems that kurabe makes.
const INODE: usize = 256;
/// What differs between two copies of an inode whose times changed: `i_atime`, `i_ctime`,
/// `i_mtime`, the version, which grows with each of them, the checksum, and the nanoseconds of the
/// times.
const TIMES: [Range<usize>; 5] = [0x08..0x14, 0x24..0x28, 0x7c..0x7e, 0x82..0x90, 0x98..0x9c];
const MAGIC: u32 = 0xc03b_3998;
const DESCRIPTOR: u32 = 1;
const COMMIT: u32 = 2;
const REVOKE: u32 = 5;
/// `JBD2_FEATURE_INCOMPAT_CSUM_V3`: tags of 16 bytes, and a checksum at the end of a descriptor block.
const CHECKSUMS_V3: u32 = 0x10;
const ESCAPED: u32 = 1;
const SAME_UUID: u32 = 2;
const LAST_TAG: u32 = 8;

/// Where the journal lies: the superblock keeps a copy of the journal's map.
pub(crate) fn journal_of(device: &Path) -> Option<Vec<Range<u64>>> {
    let (mut magic, mut map) = ([0; 2], [0; 60]);
    let file = File::open(device).ok()?;
    file.read_exact_at(&mut magic, 1024 + 0x38).ok()?;
    file.read_exact_at(&mut map, 1024 + 0x10c).ok()?;
    let half = |at: usize| u64::from(u16::from_le_bytes([map[at], map[at + 1]]));
    let is_leaf = half(0) == 0xf30a && half(6) == 0;
    if magic != [0x53, 0xef] || !is_leaf {
        return None;
    }
    let extent = |place: u64| {
        let at = 12 + place as usize * 12;
        let block = half(at + 6) << 32 | half(at + 10) << 16 | half(at + 8);
        block * BLOCK as u64..(block + half(at + 4)) * BLOCK as u64
    };
    Some((0..half(2).min(4)).map(extent).collect())
}

/// Finds the commits of file times alone among recorded requests, by reading the journal in this place.
///
/// # Errors
/// When the device cannot be read.
pub(crate) fn times_commits(
    device: &Path,
    place: &Range<u64>,
    requests: &[RecordedRequest],
) -> io::Result<Vec<TimesCommit>> {
    let is_written =
        |one: &&RecordedRequest| one.request.kind.writes() && place.contains(&one.request.offset_bytes);
    let end = requests.iter().filter(is_written).map(|one| one.request.end_bytes()).max();
    let length = end.map_or(0, |end| end.min(place.end) - place.start) as usize;
    // The page cache of the device does not see what the journal writes.
    let file =
        File::options().read(true).custom_flags(rustix::fs::OFlags::DIRECT.bits() as i32).open(device)?;
    let mut memory = vec![0; length + BLOCK];
    let from = memory.as_ptr().align_offset(BLOCK);
    let journal = &mut memory[from..from + length];
    file.read_exact_at(journal, place.start)?;
    Ok(Ext4Journal { bytes: journal, place, requests }.times_commits())
}

/// A journal and what was asked of its device.
struct Ext4Journal<'j> {
    bytes: &'j [u8],
    place: &'j Range<u64>,
    requests: &'j [RecordedRequest],
}

/// A transaction as it lies in the journal.
#[derive(Default)]
struct Transaction {
    /// Its blocks in the journal, without the commit block.
    journal_blocks: Vec<usize>,
    /// Metadata blocks of the file system with a hash of their copies, times of inodes aside.
    copies: Vec<(u64, u64)>,
    /// Whether it revokes blocks, too.
    revokes: bool,
}

impl Ext4Journal<'_> {
    fn times_commits(&self) -> Vec<TimesCommit> {
        let word = |at: usize| word_of(self.bytes, at);
        if self.bytes.len() < BLOCK || word(0) != MAGIC || word(0x28) & CHECKSUMS_V3 == 0 {
            return Vec::new();
        }
        let writes = self.writes();
        let mut transactions: Vec<(Transaction, Vec<usize>)> = Vec::new();
        let mut open = Transaction::default();
        let mut at = 1;
        while at < self.bytes.len() / BLOCK {
            let head = at * BLOCK;
            let kind = if word(head) == MAGIC { word(head + 4) } else { 0 };
            match kind {
                DESCRIPTOR => at = self.add_copies(at, &mut open),
                REVOKE => {
                    open.journal_blocks.push(at);
                    open.revokes = true;
                }
                _ => {
                    let closed = std::mem::take(&mut open);
                    if kind == COMMIT
                        && let Some(requests) = self.requests_of(&closed, at, &writes)
                    {
                        transactions.push((closed, requests));
                    }
                }
            }
            at += 1;
        }
        transactions.sort_by_key(|(_, requests)| requests[0]);
        self.of_times_alone(transactions)
    }

    /// Which request wrote each block of the journal, if one alone did.
    fn writes(&self) -> Vec<Option<usize>> {
        let mut times = vec![0; self.bytes.len() / BLOCK];
        let mut writes = vec![None; times.len()];
        for (place, one) in self.requests.iter().enumerate().filter(|(_, one)| one.request.kind.writes()) {
            let (from, to) = (one.request.offset_bytes, one.request.end_bytes());
            for offset in (from.max(self.place.start)..to.min(self.place.end)).step_by(BLOCK) {
                let block = ((offset - self.place.start) / BLOCK as u64) as usize;
                if let Some(times) = times.get_mut(block) {
                    *times += 1;
                    writes[block] = (*times == 1).then_some(place);
                }
            }
        }
        writes
    }

    /// Adds a descriptor block with what follows it; its last block.
    fn add_copies(&self, descriptor: usize, open: &mut Transaction) -> usize {
        open.journal_blocks.push(descriptor);
        let end = (descriptor + 1) * BLOCK - 4;
        let (mut tag, mut block) = (descriptor * BLOCK + 12, descriptor);
        while tag + 16 <= end && (block + 2) * BLOCK <= self.bytes.len() {
            let flags = word_of(self.bytes, tag + 4);
            let number = u64::from(word_of(self.bytes, tag + 8)) << 32 | u64::from(word_of(self.bytes, tag));
            block += 1;
            open.journal_blocks.push(block);
            open.copies.push((number, hash_without_times(self.bytes, block, flags & ESCAPED != 0)));
            if flags & LAST_TAG != 0 {
                break;
            }
            tag += if flags & SAME_UUID != 0 { 16 } else { 32 };
        }
        block
    }

    /// The requests that are left out with a transaction, if they are of nothing else: its blocks,
    /// the commit block, and the flush behind that.
    fn requests_of(
        &self,
        transaction: &Transaction,
        commit: usize,
        writes: &[Option<usize>],
    ) -> Option<Vec<usize>> {
        let of_blocks = transaction.journal_blocks.iter().map(|&block| writes[block]);
        let mut requests = of_blocks.collect::<Option<Vec<usize>>>()?;
        requests.sort_unstable();
        requests.dedup();
        let bytes = |request: &usize| self.requests[*request].request.length_bytes as usize;
        let is_all = requests.iter().map(bytes).sum::<usize>() == transaction.journal_blocks.len() * BLOCK;
        let commit = writes[commit].filter(|commit| is_all && bytes(commit) == BLOCK)?;
        requests.push(commit);
        if !self.requests[commit].request.fua {
            let next = commit + 1;
            let is_flush = |one: &&RecordedRequest| one.request.kind == RequestKind::Flush;
            self.requests.get(next).filter(is_flush)?;
            requests.push(next);
        }
        requests.is_sorted().then_some(requests)
    }

    fn of_times_alone(&self, transactions: Vec<(Transaction, Vec<usize>)>) -> Vec<TimesCommit> {
        // Of each block: the hash, and the request at whose time its files were stamped.
        let mut last: HashMap<u64, (u64, usize)> = HashMap::new();
        let mut commits = Vec::new();
        for (transaction, requests) in transactions {
            let stamp = self.first_write_since_flush(requests[0]);
            let before = transaction.copies.iter().map(|(block, hash)| {
                last.get(block).filter(|(last_hash, _)| last_hash == hash).map(|(_, stamp)| *stamp)
            });
            let stamp_before = before.collect::<Option<Vec<usize>>>().and_then(|all| all.into_iter().min());
            last.extend(transaction.copies.iter().map(|(block, hash)| (*block, (*hash, stamp))));
            if let Some(stamp_before) = stamp_before.filter(|_| !transaction.revokes && requests[0] > stamp) {
                commits.push(TimesCommit { stamp, stamp_before, requests });
            }
        }
        commits
    }

    fn first_write_since_flush(&self, request: usize) -> usize {
        let is_flush = |one: &RecordedRequest| one.request.kind == RequestKind::Flush || one.request.fua;
        let from = self.requests[..request].iter().rposition(is_flush).map_or(0, |flush| flush + 1);
        let first = self.requests[from..request].iter().position(|one| one.request.kind.writes());
        first.map_or(request, |first| from + first)
    }
}

fn word_of(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |word| u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
}

fn hash_without_times(journal: &[u8], block: usize, is_escaped: bool) -> u64 {
    let mut copy = journal[block * BLOCK..(block + 1) * BLOCK].to_vec();
    if is_escaped {
        copy[..4].copy_from_slice(&MAGIC.to_be_bytes());
    }
    for inode in copy.chunks_exact_mut(INODE) {
        TIMES.iter().for_each(|times| inode[times.clone()].fill(0));
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(&copy);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_sim::Request;

    /// A journal with one metadata block in each transaction, and the requests of a program whose writes caused them.
    fn recorded(copies: &[[u8; 2]]) -> (Vec<u8>, Vec<RecordedRequest>) {
        let mut bytes = vec![0; BLOCK * (1 + 3 * copies.len())];
        let mut put = |at: usize, words: &[u32]| {
            words.iter().enumerate().for_each(|(place, word)| {
                bytes[at + place * 4..at + place * 4 + 4].copy_from_slice(&word.to_be_bytes());
            });
        };
        put(0, &[MAGIC, 4]);
        put(0x28, &[CHECKSUMS_V3]);
        let mut requests = Vec::new();
        for (place, [time, size]) in copies.iter().enumerate() {
            let (head, number) = (BLOCK * (1 + 3 * place), place as u32);
            put(head, &[MAGIC, DESCRIPTOR, number, 77, LAST_TAG, 0, 0]);
            // The second inode of the block: its size and the time of its last change.
            put(head + BLOCK + INODE + 4, &[u32::from(*size)]);
            put(head + BLOCK + INODE + 0x10, &[u32::from(*time)]);
            put(head + 2 * BLOCK, &[MAGIC, COMMIT, number]);
            let mut ask = |kind, offset: usize, length: usize| {
                let asked_ns = requests.len() as u64 * 10;
                let request = Request::new(kind, offset as u64, length as u32);
                requests.push(RecordedRequest { request, asked_ns, answered_ns: asked_ns + 5 });
            };
            ask(RequestKind::Write, 1 << 30, BLOCK);
            ask(RequestKind::Write, head, 2 * BLOCK);
            ask(RequestKind::Flush, 0, 0);
            ask(RequestKind::Write, head + 2 * BLOCK, BLOCK);
            ask(RequestKind::Flush, 0, 0);
        }
        (bytes, requests)
    }

    fn commits(bytes: &[u8], requests: &[RecordedRequest]) -> Vec<TimesCommit> {
        Ext4Journal { bytes, place: &(0..1 << 29), requests }.times_commits()
    }

    #[test]
    fn a_commit_that_changes_more_than_times_is_needed() {
        // The first is the first of its block, and the third changes the size.
        let (bytes, requests) = recorded(&[[1, 1], [2, 1], [3, 2], [4, 2]]);
        let commit = |stamp: usize| TimesCommit {
            stamp,
            stamp_before: stamp - 5,
            requests: vec![stamp + 1, stamp + 3, stamp + 4],
        };
        assert_eq!(commits(&bytes, &requests), [commit(5), commit(15)]);
    }

    #[test]
    fn a_journal_that_wrapped_or_is_of_another_kind_says_nothing() {
        let (bytes, mut requests) = recorded(&[[1, 1], [2, 1], [3, 1]]);
        assert_eq!(commits(&bytes, &requests).len(), 2);
        // The second transaction's place was written again later.
        requests.push(requests[6]);
        assert_eq!(commits(&bytes, &requests).len(), 1);
        let other = [&bytes[..0x28], &[0; 4], &bytes[0x2c..]].concat();
        assert_eq!(commits(&other, &requests), []);
        assert_eq!(commits(&[], &requests), []);
    }
}
