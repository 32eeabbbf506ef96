//! The tape of random numbers, and the simple things that are read from it.

use kurabe_core::Text;

pub(super) struct Tape(pub(super) std::vec::IntoIter<u64>);

impl Tape {
    pub(super) fn u64(&mut self) -> u64 {
        self.0.next().unwrap_or(0)
    }

    pub(super) fn u32(&mut self) -> u32 {
        (self.u64() >> 32) as u32
    }

    pub(super) fn bool(&mut self) -> bool {
        self.u64() % 2 == 1
    }

    /// Any finite number, every bit pattern.
    pub(super) fn f64(&mut self) -> f64 {
        let number = f64::from_bits(self.u64());
        if number.is_finite() { number } else { 0.1 }
    }

    /// A whole share.
    pub(super) fn percent(&mut self) -> u8 {
        (self.u64() % 101) as u8
    }

    /// Any share, with all its digits.
    pub(super) fn share_percent(&mut self) -> f64 {
        self.u64() as f64 / u64::MAX as f64 * 100.0
    }

    /// Any finite number above zero.
    pub(super) fn positive(&mut self) -> f64 {
        self.f64().abs().max(f64::MIN_POSITIVE)
    }

    pub(super) fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.u64() as usize % choices.len()].clone()
    }

    pub(super) fn option<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.bool().then(|| make(self))
    }

    pub(super) fn list<T>(&mut self, most: u64, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.u64() % (most + 1)).map(|_| make(self)).collect()
    }

    pub(super) fn string(&mut self) -> String {
        const CHARS: [char; 24] = [
            'a', '比', 'べ', '"', '\\', '\n', '\0', '\u{1b}', ' ', 'ﾊ', '😀', '\u{2028}', '\u{feff}', '}',
            '=', '|', '`', '<', '&', '\t', '\u{7f}', '\u{9b}', '\u{202e}', '\u{2066}',
        ];
        self.list(5, |tape| tape.pick(&CHARS)).into_iter().collect()
    }

    pub(super) fn text(&mut self) -> Text {
        Text { en: self.string(), ja: self.string() }
    }

    pub(super) fn time(&mut self) -> String {
        let (minute, second) = (self.u64() % 60, self.u64() % 60);
        format!("2026-02-03T04:{minute:02}:{second:02}{}", self.pick(&["Z", ".125+09:00", "-11:30"]))
    }

    pub(super) fn key(&mut self) -> String {
        format!("k{}", self.list(3, |tape| tape.pick(&["a", "_", "9", ".", "-"])).concat())
    }
}
