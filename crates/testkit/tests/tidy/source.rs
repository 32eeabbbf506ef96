//! A Rust source, line by line, with its comments and the contents of its literals blanked and its
//! tests marked.

pub struct Source {
    /// Path from the root of the repository.
    pub path: String,
    /// Lines, with spaces instead of comments and the contents of literals.
    pub lines: Vec<String>,
    /// Whether each line belongs to an item under `#[cfg(test)]`.
    pub is_test: Vec<bool>,
    literals: Vec<(usize, String)>,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        let (code, literals) = apart(text);
        let lines: Vec<String> = code.lines().map(str::to_owned).collect();
        let is_test = test_lines(&lines);
        Self { path: path.to_owned(), lines, is_test, literals }
    }

    /// Returns all literals, including those of tests, with the numbers (from 0) of the lines in
    /// which they begin.
    pub fn all_literals(&self) -> impl Iterator<Item = (usize, &str)> {
        self.literals.iter().map(|(line, literal)| (*line, literal.as_str()))
    }

    /// Returns the literals outside tests, with the numbers (from 0) of the lines in which they
    /// begin.
    pub fn literals(&self) -> impl Iterator<Item = (usize, &str)> {
        self.all_literals().filter(|(line, _)| !self.is_test[*line])
    }

    /// Returns whether the file contains only tests or code for tests.
    pub fn is_test_file(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or("");
        name == "tests.rs"
            || name.ends_with("_tests.rs")
            || ["/tests/", "/benches/", "benches/", "crates/testkit/"].iter().any(|part| {
                self.path.contains(part) && (part.starts_with('/') || self.path.starts_with(part))
            })
    }

    /// Returns the code lines outside tests with their numbers (from 0).
    pub fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.lines.iter().map(String::as_str).enumerate();
        lines.filter(|(number, line)| !self.is_test[*number] && !line.trim().is_empty())
    }
}

/// Returns the last line of the block that begins in line `first`: the line in which its braces are
/// balanced, or in which it ends with a semicolon before any brace.
pub fn block_end(lines: &[String], first: usize) -> usize {
    let (mut depth, mut opened) = (0usize, false);
    let mut round = 0usize;
    for (number, line) in lines.iter().enumerate().skip(first) {
        for character in line.chars() {
            match character {
                '(' | '[' => round += 1,
                ')' | ']' => round = round.saturating_sub(1),
                '{' => (depth, opened) = (depth + 1, true),
                '}' => depth = depth.saturating_sub(1),
                ';' if !opened && round == 0 => return number,
                _ => {}
            }
            if opened && depth == 0 {
                return number;
            }
        }
    }
    lines.len().saturating_sub(1)
}

fn test_lines(lines: &[String]) -> Vec<bool> {
    let mut is_test = vec![false; lines.len()];
    let mut number = 0;
    while number < lines.len() {
        if lines[number].trim().starts_with("#[cfg(test)]") {
            // The attribute itself has balanced brackets; the item follows.
            let end = block_end(lines, number + 1);
            is_test[number..=end].fill(true);
            number = end;
        }
        number += 1;
    }
    is_test
}

/// Returns the text with spaces instead of comments and literals, keeping line breaks, and the
/// literals with their line numbers.
fn apart(text: &str) -> (String, Vec<(usize, String)>) {
    let characters: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let (mut literals, mut line) = (Vec::new(), 0);
    let mut at = 0;
    while at < characters.len() {
        let end = literal_or_comment(&characters, at);
        if end == at {
            line += usize::from(characters[at] == '\n');
            code.push(characters[at]);
            at += 1;
            continue;
        }
        if characters[at] != '/' {
            literals.push((line, characters[at..end].iter().collect()));
        }
        line += characters[at..end].iter().filter(|one| **one == '\n').count();
        code.extend(characters[at..end].iter().map(|one| if *one == '\n' { '\n' } else { ' ' }));
        at = end;
    }
    (code, literals)
}

/// Returns the end of the comment or literal that begins at `at`, or `at` if none does.
fn literal_or_comment(characters: &[char], at: usize) -> usize {
    let ahead = |offset: usize| characters.get(at + offset).copied().unwrap_or('\0');
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let in_word = at > 0 && is_word(characters[at - 1]);
    let until = |from: usize, ends: &dyn Fn(usize) -> bool| {
        (from..characters.len()).find(|place| ends(*place)).unwrap_or(characters.len())
    };
    match ahead(0) {
        '/' if ahead(1) == '/' => until(at, &|place| characters[place] == '\n'),
        '/' if ahead(1) == '*' => {
            until(at + 2, &|place| characters[place] == '*' && characters.get(place + 1) == Some(&'/'))
                .saturating_add(2)
                .min(characters.len())
        }
        'r' if !in_word || characters[at - 1] == 'b' => {
            let hashes = (1..).take_while(|offset| ahead(*offset) == '#').count();
            if ahead(hashes + 1) != '"' {
                return at;
            }
            let closes = |place: usize| {
                characters[place] == '"'
                    && (1..=hashes).all(|more| characters.get(place + more) == Some(&'#'))
            };
            (until(at + hashes + 2, &closes) + hashes + 1).min(characters.len())
        }
        '"' => quoted_end(characters, at),
        // A character, unless it is a lifetime.
        '\'' if ahead(1) == '\\' => until(at + 3, &|place| characters[place] == '\'') + 1,
        '\'' if ahead(2) == '\'' => at + 3,
        _ => at,
    }
}

fn quoted_end(characters: &[char], at: usize) -> usize {
    let mut place = at + 1;
    while place < characters.len() && characters[place] != '"' {
        place += if characters[place] == '\\' { 2 } else { 1 };
    }
    (place + 1).min(characters.len())
}

#[test]
fn comments_and_literals_are_no_code() {
    let text = "let a = \"x // \\\" y\"; // told\nlet b = r#\"un\"safe\"#; /* found\n\
        */ let c = '\"'; let d: &'a str;\n";
    let source = Source::new("a.rs", text);
    let words: Vec<Vec<&str>> = source.lines.iter().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[0], ["let", "a", "=", ";"]);
    assert_eq!(words[1], ["let", "b", "=", ";"]);
    assert_eq!(words[2], ["let", "c", "=", ";", "let", "d:", "&'a", "str;"]);
    let literals = [(0, "\"x // \\\" y\""), (1, "r#\"un\"safe\"#"), (2, "'\"'")];
    assert_eq!(source.literals().collect::<Vec<_>>(), literals);
}

#[test]
fn tests_are_marked_to_their_end() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}\n#[cfg(test)]\n\
        mod more;\nfn d() {}\n";
    let source = Source::new("a.rs", text);
    let code: Vec<usize> = source.code().map(|(number, _)| number).collect();
    assert_eq!(code, [0, 6, 9]);
}
