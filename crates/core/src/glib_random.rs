//! An exact reimplementation of GLib's `GRand`, which determines the offsets of GNOME Disks'
//! access-time test.
//!
//! The generator is the Mersenne Twister MT19937 (Matsumoto and Nishimura, 1998), seeded from one
//! number as in their version of 2002, which GLib has used since 2.4. A double consists of two
//! draws, the second of which provides the upper digits. A number in a range that begins at 0 is
//! that double times the end. The facts are from GLib's grand.c, and the tests compare the results
//! with GLib.

/// Number of words in the state.
const WORDS: usize = 624;
/// Distance between the words that are mixed.
const DISTANCE: usize = 397;
/// 2^-32.
const SCALE: f64 = 1.0 / 4_294_967_296.0;

/// A generator equivalent to `GRand`.
pub struct GlibRandom {
    state: [u32; WORDS],
    used: usize,
}

impl GlibRandom {
    /// Creates a generator like `g_rand_new_with_seed`.
    pub fn new(seed: u32) -> Self {
        let mut state = [seed; WORDS];
        for index in 1..WORDS {
            let before = state[index - 1];
            state[index] = 1_812_433_253u32.wrapping_mul(before ^ (before >> 30)).wrapping_add(index as u32);
        }
        Self { state, used: WORDS }
    }

    /// Returns the next number, like `g_rand_int`.
    pub fn bits(&mut self) -> u32 {
        if self.used == WORDS {
            self.renew();
        }
        let mut word = self.state[self.used];
        self.used += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    /// Returns a number in [0, 1), like `g_rand_double`.
    pub fn unit(&mut self) -> f64 {
        loop {
            let lower = f64::from(self.bits()) * SCALE;
            let unit = (lower + f64::from(self.bits())) * SCALE;
            if unit < 1.0 {
                return unit;
            }
        }
    }

    /// Returns a number below `end`, like `g_rand_double_range` from 0, truncated to an integer as
    /// in C.
    pub fn below(&mut self, end: u64) -> u64 {
        (self.unit() * end as f64) as u64
    }

    fn renew(&mut self) {
        for index in 0..WORDS {
            let next = self.state[(index + 1) % WORDS];
            let mixed = (self.state[index] & 0x8000_0000) | (next & 0x7fff_ffff);
            let odd = if next & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[index] = self.state[(index + DISTANCE) % WORDS] ^ (mixed >> 1) ^ odd;
        }
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_testkit::needs::skip;
    use std::process::Command;

    /// Prints GLib's numbers. The arguments are seed, end and count.
    const PROGRAM: &str = r#"
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words) {
    GRand *rand = g_rand_new_with_seed((guint32)strtoul(words[1], NULL, 10));
    guint64 end = strtoull(words[2], NULL, 10);
    for (int left = atoi(words[3]); left > 0; left--)
        printf("%llu\n", (unsigned long long)(guint64)g_rand_double_range(rand, 0, (gdouble)end));
    return count == 4 ? 0 : 1;
}
"#;

    fn drawn(seed: u32, end: u64, count: usize) -> Vec<u64> {
        let mut random = GlibRandom::new(seed);
        (0..count).map(|_| random.below(end)).collect()
    }

    #[test]
    fn the_twister_is_the_published_one() {
        // The first and the 10000th output for the default seed of MT19937, from the C++ standard.
        let mut random = GlibRandom::new(5489);
        assert_eq!(random.bits(), 3_499_211_612);
        let last = (1..10_000).map(|_| random.bits()).last();
        assert_eq!(last, Some(4_123_659_995));
    }

    #[test]
    fn the_places_are_those_of_glib() {
        // Output of GLib 2.74.6: the program above with the arguments `42 1000204886016 1000`, and
        // so on.
        let terabyte = drawn(42, 1_000_204_886_016, 1000);
        let first = [796_706_184_806, 183_472_371_116, 779_850_745_394, 596_972_447_831, 445_924_102_445];
        assert_eq!(terabyte[..5], first);
        assert_eq!(terabyte[999], 521_407_477_080);
        assert_eq!(drawn(42, 4_294_967_296, 3), [3_421_126_067, 787_846_414, 3_348_747_335]);
        assert_eq!(drawn(u32::MAX, 500_107_862_016, 3), [55_815_370_841, 281_407_380_347, 263_217_423_581]);
    }

    #[test]
    fn an_installed_glib_gives_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("rand.c"), folder.path().join("rand"));
        std::fs::write(&source, PROGRAM).unwrap();
        let flags = Command::new("pkg-config").args(["--cflags", "--libs", "glib-2.0"]).output();
        let Some(flags) = flags.ok().filter(|output| output.status.success()) else {
            skip("no GLib to compile against (needs cc, pkg-config and libglib2.0-dev)");
            return;
        };
        let flags = String::from_utf8(flags.stdout).unwrap();
        let built =
            Command::new("cc").arg(&source).arg("-o").arg(&program).args(flags.split_whitespace()).status();
        if !built.is_ok_and(|status| status.success()) {
            skip("no GLib to compile against (needs cc, pkg-config and libglib2.0-dev)");
            return;
        }
        for (seed, end) in
            [(42, 1_000_204_886_016), (42, 31_457_280), (0, 4096), (u32::MAX, 1 << 52), (7, u64::MAX)]
        {
            let arguments = [u64::from(seed), end, 3000].map(|number| number.to_string());
            let output = Command::new(&program).args(arguments).output().unwrap();
            assert!(output.status.success());
            let words = String::from_utf8(output.stdout).unwrap();
            let theirs: Vec<u64> = words.lines().map(|line| line.parse().unwrap()).collect();
            assert_eq!(drawn(seed, end, 3000), theirs, "seed {seed}, end {end}");
        }
    }
}
