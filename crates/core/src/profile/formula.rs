//! Formulas that derive one figure from the figures of a profile's cells, such as AS SSD's score or
//! the delay ratio.
//!
//! A formula consists of numbers, names, `+ - * /`, parentheses and `geomean(…, …)`. A name has the
//! form `STEP.PART.UNIT`: the `id` of a step, its part (a direction, or a part of a copy), and the
//! unit of the figure. A formula has no value if a cell is missing or if it divides by zero.

use crate::{text, text::Text};
use serde::{Deserialize, Serialize};

/// The unit of a figure in a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormulaUnit {
    /// 10^3 bytes per second.
    KilobytesPerSecond,
    /// 10^6 bytes per second.
    MegabytesPerSecond,
    /// 2^20 bytes per second.
    MebibytesPerSecond,
    /// Operations per second.
    Iops,
    /// Seconds, for a whole repetition or a single access.
    Seconds,
    /// Milliseconds, for a whole repetition or a single access.
    Milliseconds,
}

impl FormulaUnit {
    /// Returns the size of the unit in bytes or operations per second, or in ns.
    pub const fn size(self) -> f64 {
        match self {
            Self::KilobytesPerSecond => 1e3,
            Self::MegabytesPerSecond | Self::Milliseconds => 1e6,
            Self::MebibytesPerSecond => 1_048_576.0,
            Self::Iops => 1.0,
            Self::Seconds => 1e9,
        }
    }
}

const UNITS: [(&str, FormulaUnit); 6] = [
    ("kB_per_s", FormulaUnit::KilobytesPerSecond),
    ("MB_per_s", FormulaUnit::MegabytesPerSecond),
    ("MiB_per_s", FormulaUnit::MebibytesPerSecond),
    ("IOPS", FormulaUnit::Iops),
    ("s", FormulaUnit::Seconds),
    ("ms", FormulaUnit::Milliseconds),
];

/// A reference to a figure of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The step's `id`.
    pub step: String,
    /// The part of the step.
    pub part: String,
    /// The unit.
    pub unit: FormulaUnit,
}

#[derive(Clone, Debug, PartialEq)]
enum Term {
    Number(f64),
    Name(Name),
    Pair(char, Box<Term>, Box<Term>),
    GeometricMean(Vec<Term>),
}

const GEOMEAN: &str = "geomean(";

/// A parsed formula over figures of a profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct Formula {
    source: String,
    term: Term,
}

const DEEPEST: u32 = 32;
/// Maximum length of a formula in bytes. A sum is a chain with one level per term, and every
/// traversal recurses through it.
const LONGEST: usize = 4096;

/// Returns whether a word is a valid step name in a formula.
pub fn is_step_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

impl Formula {
    /// Parses a formula.
    ///
    /// # Errors
    /// Returns a message that says what is wrong, and where.
    pub fn parse(source: &str) -> Result<Self, Text> {
        if source.len() > LONGEST {
            return Err(text!("a formula has at most {LONGEST} characters", "式は {LONGEST} 文字までです"));
        }
        let mut parser = Parser { rest: source };
        let term = parser.sum(0)?;
        match parser.peek() {
            None => Ok(Self { source: source.to_owned(), term }),
            Some(_) => Err(parser.unexpected()),
        }
    }

    /// Returns the formula's source text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the names in it, in order.
    pub fn names(&self) -> Vec<&Name> {
        fn collect<'a>(term: &'a Term, names: &mut Vec<&'a Name>) {
            match term {
                Term::Number(_) => {}
                Term::Name(name) => names.push(name),
                Term::Pair(_, left, right) => {
                    collect(left, names);
                    collect(right, names);
                }
                Term::GeometricMean(terms) => terms.iter().for_each(|term| collect(term, names)),
            }
        }
        let mut names = Vec::new();
        collect(&self.term, &mut names);
        names
    }

    /// Evaluates the formula. Returns `None` if a name has no value, or if the result is not
    /// finite.
    pub fn value(&self, figure: &dyn Fn(&Name) -> Option<f64>) -> Option<f64> {
        fn value(term: &Term, figure: &dyn Fn(&Name) -> Option<f64>) -> Option<f64> {
            Some(match term {
                Term::Number(number) => *number,
                Term::Name(name) => figure(name)?,
                Term::Pair(sign, left, right) => {
                    let (left, right) = (value(left, figure)?, value(right, figure)?);
                    match sign {
                        '+' => left + right,
                        '-' => left - right,
                        '*' => left * right,
                        _ => left / right,
                    }
                }
                Term::GeometricMean(terms) => {
                    let logarithms = terms.iter().map(|term| Some(value(term, figure)?.ln()));
                    let sum: f64 = logarithms.sum::<Option<f64>>()?;
                    (sum / terms.len() as f64).exp()
                }
            })
        }
        value(&self.term, figure).filter(|value| value.is_finite())
    }
}

impl From<Formula> for String {
    fn from(formula: Formula) -> Self {
        formula.source
    }
}

impl TryFrom<String> for Formula {
    type Error = String;

    fn try_from(source: String) -> Result<Self, String> {
        Self::parse(&source).map_err(|what| what.en)
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, signs: &[char]) -> Option<char> {
        let sign = self.peek().filter(|sign| signs.contains(sign))?;
        self.rest = &self.rest[sign.len_utf8()..];
        Some(sign)
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn unexpected(&self) -> Text {
        match self.rest {
            "" => text!("the formula ends too early", "式が途中で終わっています"),
            rest => text!("the formula is invalid from `{rest}` on", "式を `{rest}` から先は読めません"),
        }
    }

    fn sum(&mut self, depth: u32) -> Result<Term, Text> {
        let mut left = self.product(depth)?;
        while let Some(sign) = self.take(&['+', '-']) {
            left = Term::Pair(sign, Box::new(left), Box::new(self.product(depth)?));
        }
        Ok(left)
    }

    fn product(&mut self, depth: u32) -> Result<Term, Text> {
        let mut left = self.atom(depth)?;
        while let Some(sign) = self.take(&['*', '/']) {
            left = Term::Pair(sign, Box::new(left), Box::new(self.atom(depth)?));
        }
        Ok(left)
    }

    fn nested(&mut self, depth: u32) -> Result<Term, Text> {
        match depth >= DEEPEST {
            true => Err(text!("the formula is nested too deeply", "式の括弧が深すぎます")),
            false => self.sum(depth + 1),
        }
    }

    fn atom(&mut self, depth: u32) -> Result<Term, Text> {
        if self.take(&['(']).is_some() {
            let inner = self.nested(depth)?;
            return self.take(&[')']).map(|_| inner).ok_or_else(|| self.unexpected());
        }
        if self.peek().is_some() && self.rest.starts_with(GEOMEAN) {
            self.rest = &self.rest[GEOMEAN.len()..];
            let mut terms = vec![self.nested(depth)?];
            while self.take(&[',']).is_some() {
                terms.push(self.nested(depth)?);
            }
            return self.take(&[')']).map(|_| Term::GeometricMean(terms)).ok_or_else(|| self.unexpected());
        }
        match self.peek() {
            Some(c) if c.is_ascii_digit() => {
                let number = self.word();
                number
                    .parse()
                    .ok()
                    .filter(|value: &f64| value.is_finite())
                    .map(Term::Number)
                    .ok_or_else(|| text!("`{number}` is not a number", "`{number}` は数ではありません"))
            }
            Some(c) if c.is_ascii_alphabetic() => name(self.word()).map(Term::Name),
            _ => Err(self.unexpected()),
        }
    }
}

fn name(word: &str) -> Result<Name, Text> {
    let mut parts = word.rsplitn(3, '.');
    let unit = parts.next().and_then(|unit| UNITS.iter().find(|(suffix, _)| *suffix == unit));
    match (parts.next(), parts.next(), unit) {
        (Some(part), Some(step), Some((_, unit))) if !part.is_empty() && !step.is_empty() => {
            Ok(Name { step: step.to_owned(), part: part.to_owned(), unit: *unit })
        }
        _ => {
            let units = UNITS.map(|(word, _)| word).join(", ");
            Err(text!(
                "`{word}` is not STEP.PART.UNIT with one of the units {units}",
                "`{word}` は STEP.PART.UNIT の形ではありません(単位: {units})"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(source: &str) -> Option<f64> {
        Formula::parse(source).unwrap().value(&|name| match (name.step.as_str(), name.part.as_str()) {
            ("seq", "read") => Some(500.0),
            ("zero", "read") => Some(0.0),
            _ => None,
        })
    }

    #[test]
    fn products_bind_closer_than_sums_and_both_go_from_left_to_right() {
        assert_eq!(value("1 + 2 * 3 - 4 / 2"), Some(5.0));
        assert_eq!(value("10 - 3 - 2"), Some(5.0));
        assert_eq!(value("(1 + 2) * 3"), Some(9.0));
        assert_eq!(value("seq.read.MB_per_s * 0.1"), Some(50.0));
        assert_eq!(value("geomean(2, 16, 1 + 1)").map(|value| (value * 1e9).round() / 1e9), Some(4.0));
    }

    #[test]
    fn a_missing_figure_or_a_division_by_zero_has_no_value() {
        assert_eq!(value("seq.write.s"), None);
        assert_eq!(value("1 / zero.read.s"), None);
        assert_eq!(value("geomean(2, seq.write.s)"), None);
    }

    #[test]
    fn a_mistake_is_told() {
        for (source, cause) in [
            ("1 +", "too early"),
            ("(1", "too early"),
            ("geomean(1", "too early"),
            ("geomean()", "from `)`"),
            ("1 2", "from `2`"),
            ("seq.read", "STEP.PART.UNIT"),
            ("seq.read.parsec", "MiB_per_s"),
            ("1.2.3", "not a number"),
        ] {
            let what = Formula::parse(source).unwrap_err().en;
            assert!(what.contains(cause), "{source}: {what}");
        }
        assert!(Formula::parse(&"(".repeat(1000)).is_err());
    }

    #[test]
    fn a_formula_is_never_so_long_that_walking_it_would_end_the_stack() {
        let chain = |terms: usize| format!("1{}", "+1".repeat(terms));
        let longest = Formula::parse(&chain((LONGEST - 1) / 2)).unwrap();
        assert_eq!(longest.value(&|_| None), Some(((LONGEST - 1) / 2 + 1) as f64));
        assert!(longest.clone().names().is_empty());
        let what = Formula::parse(&chain(LONGEST)).unwrap_err();
        assert!(what.en.contains("at most"), "{}", what.en);
    }

    #[test]
    fn names_are_listed() {
        let formula = Formula::parse("a.within.s / (b-c.read.ms - 1)").unwrap();
        let names: Vec<&str> = formula.names().iter().map(|name| name.step.as_str()).collect();
        assert_eq!(names, ["a", "b-c"]);
    }

    proptest! {
        #[test]
        fn parsing_never_panics(source in ".{0,80}") {
            let _ = Formula::parse(&source);
        }
    }
}
