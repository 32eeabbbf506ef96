//! The files of the generated repository: a tree similar to the FreeBSD ports, identical to the
//! byte on every machine.
//!
//! Categories contain ports. A port has a Makefile, a distinfo, a pkg-descr, usually a pkg-plist,
//! and patches in `files`: about five files per port, as in the original (about 30,000 ports with
//! 170,000 files). Sizes are distributed around 0.3 to 2 KiB with a long tail. The words are
//! invented, with frequencies as uneven as in source text, so that a file compresses to about half,
//! as small text files do. Checksums do not compress, as in the original. All arithmetic is on
//! integers from the pinned generator, because floating-point functions may differ between C
//! libraries.

use kurabe_core::random::Random;

/// Seed of all repositories. Another one would change the commit ids.
const SEED: u64 = 0x6b75_7261_6265;
/// Streams of the generator: the shape of the tree; file n has the stream `FILE_STREAM + n`.
const SHAPE_STREAM: u64 = 1;
const FILE_STREAM: u64 = 1 << 40;
/// Added to the seed for each version of a file.
const VERSION_STRIDE: u64 = 0x9e37_79b9;
const CATEGORIES: [&str; 24] = [
    "archivers",
    "audio",
    "biology",
    "comms",
    "databases",
    "deskutils",
    "devel",
    "dns",
    "editors",
    "emulators",
    "finance",
    "games",
    "graphics",
    "lang",
    "mail",
    "math",
    "misc",
    "multimedia",
    "net",
    "security",
    "sysutils",
    "textproc",
    "www",
    "x11",
];
const ONSETS: [&str; 16] = ["b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "st"];
const VOWELS: [&str; 5] = ["a", "e", "i", "o", "u"];
/// Number of different words in the texts.
const WORDS: u64 = 4096;
/// 2^(n/8) in units of 1/1024.
const EIGHTHS: [u64; 8] = [1024, 1117, 1218, 1328, 1448, 1579, 1722, 1878];

/// Kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    Makefile,
    Distinfo,
    Description,
    Plist,
    Patch,
}

impl FileKind {
    /// Returns the median size, in bytes.
    fn middle_bytes(self) -> u64 {
        match self {
            Self::Makefile => 800,
            Self::Distinfo => 300,
            Self::Description => 400,
            Self::Plist => 1000,
            Self::Patch => 900,
        }
    }
}

/// A file of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeFile {
    /// Path in the repository.
    pub(crate) path: String,
    kind: FileKind,
    number: u64,
}

/// Returns all files in the order of their ports.
pub(crate) fn files(count: u32) -> Vec<TreeFile> {
    let mut random = Random::new(SEED, SHAPE_STREAM);
    let mut files = Vec::with_capacity(count as usize);
    let mut port = 0;
    while files.len() < count as usize {
        let category = CATEGORIES[random.below(CATEGORIES.len() as u64) as usize];
        let folder = format!("{category}/{}{port}", word(random.below(WORDS)));
        port += 1;
        let mut add = |kind: FileKind, name: String| {
            let number = files.len() as u64;
            files.push(TreeFile { path: format!("{folder}/{name}"), kind, number });
        };
        add(FileKind::Makefile, "Makefile".to_owned());
        add(FileKind::Distinfo, "distinfo".to_owned());
        add(FileKind::Description, "pkg-descr".to_owned());
        if random.below(10) < 6 {
            add(FileKind::Plist, "pkg-plist".to_owned());
        }
        // Half of the ports have none, a quarter one or two, and so on.
        let patches = if random.below(2) == 0 {
            0
        } else {
            let doublings = random.below(5);
            1 + random.below(1 << doublings)
        };
        for patch in 0..patches {
            let name = format!("files/patch-{}{patch}.c", word(random.below(WORDS)));
            add(FileKind::Patch, name);
        }
    }
    files.truncate(count as usize);
    files
}

/// Returns a patch that a commit adds to the port of a file.
pub(crate) fn added_beside(file: &TreeFile, number: u64) -> TreeFile {
    let mut folders = file.path.split('/');
    let (category, port) = (folders.next().unwrap_or_default(), folders.next().unwrap_or_default());
    TreeFile { path: format!("{category}/{port}/files/patch-added{number}"), kind: FileKind::Patch, number }
}

/// Writes the content of a file. Version 0 is the original, and each further version changes some
/// lines of it.
pub(crate) fn content(file: &TreeFile, version: u32, out: &mut Vec<u8>) {
    out.clear();
    let stream = FILE_STREAM + file.number;
    let mut random = Random::new(SEED, stream);
    let mut change = Random::new(SEED.wrapping_add(u64::from(version).wrapping_mul(VERSION_STRIDE)), stream);
    let size = scattered(&mut random, file.kind.middle_bytes());
    let mut line = 0;
    while (out.len() as u64) < size {
        // The first line always changes: it has a version number or a time.
        let changed = version > 0 && (line == 0 || change.below(8) == 0);
        let start = out.len();
        add_line(file.kind, line, &mut random, out);
        if changed {
            out.truncate(start);
            add_line(file.kind, line, &mut change, out);
        }
        line += 1;
    }
}

/// Returns a random size around the median: its binary logarithm is the sum of four draws, so the
/// size is from 1/8 to 8 times the median.
fn scattered(random: &mut Random, middle_bytes: u64) -> u64 {
    // 0 to 48, in eighths of a doubling, 24 in the middle.
    let eighths = (0..4).map(|_| random.below(13)).sum::<u64>();
    (middle_bytes * EIGHTHS[(eighths % 8) as usize]) >> 10 << (eighths / 8) >> 3
}

fn add_line(kind: FileKind, line: u64, random: &mut Random, out: &mut Vec<u8>) {
    match (kind, line) {
        (FileKind::Makefile, 0) => {
            let (major, minor) = (random.below(20), random.below(100));
            out.extend_from_slice(format!("PORTVERSION=\t{major}.{minor}\n").as_bytes());
        }
        (FileKind::Makefile, _) => {
            let name = frequent_word(random).to_uppercase();
            out.extend_from_slice(format!("{name}=\t").as_bytes());
            add_words(random, 6, b' ', out);
        }
        (FileKind::Distinfo, 0) => {
            let time = 1_400_000_000 + random.below(1 << 27);
            out.extend_from_slice(format!("TIMESTAMP = {time}\n").as_bytes());
        }
        (FileKind::Distinfo, _) => {
            let name = frequent_word(random);
            out.extend_from_slice(format!("SHA256 ({name}.tar.gz) = ").as_bytes());
            (0..4).for_each(|_| out.extend_from_slice(format!("{:016x}", random.bits()).as_bytes()));
            let size = random.below(1 << 24);
            out.extend_from_slice(format!("\nSIZE ({name}.tar.gz) = {size}\n").as_bytes());
        }
        (FileKind::Description, _) => add_words(random, 12, b' ', out),
        (FileKind::Plist, _) => add_words(random, 4, b'/', out),
        (FileKind::Patch, 0) => {
            let name = frequent_word(random);
            let hash = random.bits() as u32;
            out.extend_from_slice(format!("--- {name}.c.orig\t{hash:08x}\n+++ {name}.c\n").as_bytes());
        }
        (FileKind::Patch, _) => {
            out.push([b' ', b' ', b'-', b'+'][random.below(4) as usize]);
            (0..random.below(3)).for_each(|_| out.push(b'\t'));
            add_words(random, 7, b' ', out);
        }
    }
}

/// Appends a line of up to `most` words.
fn add_words(random: &mut Random, most: u64, between: u8, out: &mut Vec<u8>) {
    for index in 0..=random.below(most) {
        if index > 0 {
            out.push(between);
        }
        out.extend_from_slice(frequent_word(random).as_bytes());
    }
    out.push(b'\n');
}

/// Returns a word as in a text: a few words are frequent, many are rare.
fn frequent_word(random: &mut Random) -> String {
    let range = 1 << (4 + random.below(9));
    word(random.below(range))
}

/// Returns the n-th word; the first ones are the shortest.
fn word(mut number: u64) -> String {
    let mut word = String::new();
    loop {
        word.push_str(ONSETS[(number % 16) as usize]);
        number /= 16;
        word.push_str(VOWELS[(number % 5) as usize]);
        number /= 5;
        if number == 0 {
            return word;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_tree_is_like_that_of_the_ports() {
        let files = files(20_000);
        assert_eq!(files.len(), 20_000);
        let paths: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths.len(), files.len(), "a path twice");
        let ports: HashSet<&str> =
            files.iter().filter_map(|file| file.path.strip_suffix("/Makefile")).collect();
        let for_each_port = files.len() as f64 / ports.len() as f64;
        assert!((4.5..6.5).contains(&for_each_port), "{for_each_port}");
        let mut content = Vec::new();
        let mut sizes: Vec<usize> = files
            .iter()
            .take(3000)
            .map(|file| {
                super::content(file, 0, &mut content);
                content.len()
            })
            .collect();
        sizes.sort_unstable();
        let (tenth, middle, last) = (sizes[300], sizes[1500], sizes[2999]);
        assert!((150..400).contains(&tenth), "{tenth}");
        assert!((400..1000).contains(&middle), "{middle}");
        assert!((3000..10_000).contains(&last), "{last}");
    }

    #[test]
    fn a_version_changes_some_lines_and_keeps_most() {
        let files = files(500);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let (mut kept, mut lines) = (0, 0);
        for file in &files {
            content(file, 0, &mut before);
            content(file, 1, &mut after);
            assert_ne!(before, after, "{}", file.path);
            let old: HashSet<&[u8]> = before.split(|byte| *byte == b'\n').collect();
            let new: Vec<&[u8]> = after.split(|byte| *byte == b'\n').collect();
            lines += new.len();
            kept += new.iter().filter(|line| old.contains(**line)).count();
        }
        assert!(kept * 10 > lines * 6, "{kept} of {lines}");
    }

    #[test]
    fn a_smaller_tree_is_the_beginning_of_a_larger_one() {
        assert_eq!(files(1000)[..100], files(100));
    }
}
