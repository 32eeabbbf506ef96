//! Circular imports between files of a crate.
//!
//! A file is a module. An edge leads to each module whose items it names, in a `use` or in a path
//! that begins with `crate`, `super`, `self`, one of its own modules or an imported one. A name is
//! resolved to the file that declares it, so a parent that only re-exports the items of its modules
//! has no edges for what its children name through it. A `pub use` counts for its file only if that
//! file uses the name as well. Tests are ignored because they see everything, and so are methods,
//! which no path names. A circle is a strongly connected component: from each of its files every
//! other one can be reached.

use crate::rules::Breach;
use crate::source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// Most files of a circle, which are read together. In larger ones the dependencies are hard to
/// follow.
const LARGEST_CIRCLE: usize = 3;
/// Most re-exports that are followed. A name that is re-exported more often is itself in a circle.
const MOST_HANDS: usize = 8;

/// Segments of a path, or the path of a module from the root of the crate.
type Path = Vec<String>;

/// One file of a crate.
#[derive(Default)]
struct Module {
    file: String,
    /// Names that a `use` binds, their paths, and whether they are public; a glob binds `*`.
    uses: Vec<(String, Path, bool)>,
    /// Paths in its code.
    paths: BTreeSet<Path>,
    /// Words of its code, except in `use` items.
    words: BTreeSet<String>,
    /// Names that it declares.
    declared: BTreeSet<String>,
}

/// Returns every circle of too many files.
pub fn circles(sources: &[Source]) -> Vec<Breach> {
    let mut crates: BTreeMap<&str, BTreeMap<Path, Module>> = BTreeMap::new();
    for source in sources {
        if let Some((room, file)) = source.path.split_once("/src/") {
            crates.entry(room).or_default().insert(module_path(file), Module::of(source));
        }
    }
    crates.values().flat_map(circles_of_crate).collect()
}

fn module_path(file: &str) -> Path {
    let path = file.trim_end_matches(".rs");
    path.split('/').filter(|part| !["lib", "main", "mod"].contains(part)).map(str::to_owned).collect()
}

fn circles_of_crate(modules: &BTreeMap<Path, Module>) -> Vec<Breach> {
    let arrows: BTreeMap<&Path, BTreeSet<&Path>> =
        modules.iter().map(|(path, module)| (path, arrows(modules, path, module))).collect();
    let reach = |from: &Path| {
        let mut reached: BTreeSet<&Path> = BTreeSet::new();
        let mut open: Vec<&Path> = arrows[from].iter().copied().collect();
        while let Some(next) = open.pop() {
            if reached.insert(next) {
                open.extend(&arrows[next]);
            }
        }
        reached
    };
    let reached: BTreeMap<&Path, BTreeSet<&Path>> = modules.keys().map(|path| (path, reach(path))).collect();
    let mut seen: BTreeSet<&Path> = BTreeSet::new();
    let mut all = Vec::new();
    for path in modules.keys() {
        let circle: Vec<&Path> = modules
            .keys()
            .filter(|other| reached[path].contains(other) && reached[*other].contains(path))
            .collect();
        if circle.len() > LARGEST_CIRCLE && seen.insert(circle[0]) {
            let files: Vec<&str> = circle.iter().map(|path| modules[*path].file.as_str()).collect();
            let ties: Vec<String> = circle
                .iter()
                .map(|from| {
                    let to = arrows[*from].iter().filter(|to| circle.contains(to));
                    format!(
                        "{} -> {}",
                        from.join("/"),
                        to.map(|to| to.join("/")).collect::<Vec<_>>().join(", ")
                    )
                })
                .collect();
            all.push(Breach {
                rule: "circle",
                subject: files[0].to_owned(),
                what: format!("{} files import each other in a circle", files.len()),
                place: ties.join("; "),
            });
        }
    }
    all
}

/// Returns the modules that a module names.
fn arrows<'m>(modules: &'m BTreeMap<Path, Module>, own: &Path, module: &Module) -> BTreeSet<&'m Path> {
    let imported = module.uses.iter().filter(|(name, _, public)| !public || module.words.contains(name));
    let paths = imported.map(|(_, path, _)| path).chain(&module.paths);
    let homes = paths.filter_map(|path| home(modules, own, path, MOST_HANDS));
    homes.filter(|home| *home != own).collect()
}

/// Returns the module that declares what a path names, as seen from a module.
fn home<'m>(
    modules: &'m BTreeMap<Path, Module>,
    own: &Path,
    path: &[String],
    hands: usize,
) -> Option<&'m Path> {
    let first = path.first()?;
    let whole: Path = match first.as_str() {
        "crate" => path[1..].to_vec(),
        "self" => [own, &path[1..]].concat(),
        "super" => {
            let up = path.iter().take_while(|part| *part == "super").count();
            [&own[..own.len().checked_sub(up)?], &path[up..]].concat()
        }
        _ if modules.contains_key(&[own.as_slice(), &path[..1]].concat()) => [own, path].concat(),
        _ => return handed_on(modules, own, path, hands),
    };
    let (holder, rest) = (0..=whole.len()).rev().find_map(|length| {
        modules.get_key_value(&whole[..length]).map(|(holder, _)| (holder, &whole[length..]))
    })?;
    handed_on(modules, holder, rest, hands).or(Some(holder))
}

/// Returns the module that declares a name which another one imports by a `use`.
fn handed_on<'m>(
    modules: &'m BTreeMap<Path, Module>,
    holder: &Path,
    rest: &[String],
    hands: usize,
) -> Option<&'m Path> {
    let (name, module) = (rest.first()?, &modules[holder]);
    if hands == 0 || module.declared.contains(name) {
        return None;
    }
    let (_, path, _) = module.uses.iter().find(|(bound, path, _)| {
        let glob_has_it = || {
            home(modules, holder, &path[..path.len() - 1], hands - 1)
                .is_some_and(|home| modules[home].declared.contains(name))
        };
        bound == name || (bound == "*" && glob_has_it())
    })?;
    let further: Path = if path.last().is_some_and(|last| last == "*") {
        [&path[..path.len() - 1], rest].concat()
    } else {
        [path.as_slice(), &rest[1..]].concat()
    };
    home(modules, holder, &further, hands - 1)
}

impl Module {
    fn of(source: &Source) -> Self {
        let code: Vec<&str> = source.code().map(|(_, line)| line).collect();
        let tokens = tokens(&code.join("\n"));
        let mut module = Self { file: source.path.clone(), ..Self::default() };
        // Number of open braces, and those at which a module within the file begins.
        let (mut depth, mut inner) = (0usize, Vec::new());
        let mut at = 0;
        while at < tokens.len() {
            let token = tokens[at].as_str();
            let next = tokens.get(at + 1).map_or("", String::as_str);
            match token {
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    inner.pop_if(|begin| *begin == depth);
                }
                "mod" if tokens.get(at + 2).is_some_and(|after| after == "{") => inner.push(depth),
                _ => {}
            }
            if token == "use" && next != "<" {
                let end =
                    tokens[at..].iter().position(|token| token == ";").map_or(tokens.len(), |end| at + end);
                let public = at > 0 && ["pub", ")"].contains(&tokens[at - 1].as_str());
                let mut bound = Vec::new();
                bind(&tokens[at + 1..end], &[], public, &mut bound);
                let outward =
                    bound.into_iter().map(|(name, path, public)| (name, leave(path, inner.len()), public));
                module.uses.extend(outward);
                at = end;
            } else if is_word(token) {
                if ["struct", "enum", "fn", "trait", "type", "const", "static", "union"].contains(&token) {
                    module.declared.insert(next.to_owned());
                }
                let mut path = vec![token.to_owned()];
                while tokens.get(at + 1).is_some_and(|one| one == "::")
                    && let Some(part) = tokens.get(at + 2).filter(|part| is_word(part))
                {
                    path.push(part.clone());
                    at += 2;
                }
                module.words.extend(path.iter().cloned());
                if path.len() > 1 {
                    module.paths.insert(leave(path, inner.len()));
                }
            }
            at += 1;
        }
        module
    }
}

/// Converts a path within nested modules of a file to one of the file.
fn leave(path: Path, levels: usize) -> Path {
    let up = path.iter().take_while(|part| *part == "super").count();
    match up {
        0 => path,
        _ if up > levels => path[levels..].to_vec(),
        _ => [&["self".to_owned()], &path[up..]].concat(),
    }
}

/// Collects the names that the tree of a `use` binds, after the preceding segments.
fn bind(tree: &[String], before: &[String], public: bool, uses: &mut Vec<(String, Path, bool)>) {
    let mut path = before.to_vec();
    let mut name = None;
    let mut at = 0;
    while at < tree.len() {
        match tree[at].as_str() {
            "{" => {
                let mut depth = 0;
                let mut first = at + 1;
                for place in at..tree.len() {
                    depth += i32::from(tree[place] == "{") - i32::from(tree[place] == "}");
                    if (depth == 1 && tree[place] == ",") || depth == 0 {
                        bind(&tree[first..place], &path, public, uses);
                        first = place + 1;
                    }
                    if depth == 0 {
                        break;
                    }
                }
                return;
            }
            "as" => {
                name = tree.get(at + 1).cloned();
                break;
            }
            "::" => {}
            // `{self}` is the module itself.
            "self" if !path.is_empty() => {}
            part => path.push(part.to_owned()),
        }
        at += 1;
    }
    if let Some(last) = path.last().filter(|_| path.len() > before.len() || !tree.is_empty()) {
        uses.push((name.unwrap_or_else(|| last.clone()), path, public));
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Splits code into words, `::`, and single characters.
fn tokens(code: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut in_word = false;
    for character in code.chars() {
        let is_part = character.is_alphanumeric() || character == '_';
        match all.last_mut() {
            Some(last) if in_word && is_part => last.push(character),
            Some(last) if character == ':' && last == ":" && !in_word => last.push(character),
            _ if character.is_whitespace() => {}
            _ => all.push(character.to_string()),
        }
        in_word = is_part;
    }
    all
}

#[test]
fn a_circle_of_four_files_is_seen_and_one_of_three_is_not() {
    // Each names the next; the last one closes the circle.
    let ring = |count: usize, closing: &str| -> Vec<Source> {
        let file = |index: usize| {
            let text = match index + 1 {
                next if next == count => closing.to_owned(),
                next => format!("use crate::m{next}::Thing as Next;\npub struct Thing(Next);\n"),
            };
            Source::new(&format!("crates/a/src/m{index}.rs"), &text)
        };
        (0..count).map(file).collect()
    };
    let seen = |sources: &[Source]| circles(sources).len();
    for closing in [
        "use crate::m0::Thing as First;\npub struct Thing(First);",
        "use crate::{m0::{Thing as First, Other}};\npub struct Thing(First);",
        "use super::m0;\npub struct Thing(m0::Thing);",
        "pub struct Thing(crate::m0::Thing);",
    ] {
        assert_eq!(seen(&ring(4, closing)), 1, "{closing}");
        assert_eq!(seen(&ring(3, closing)), 0, "{closing}");
    }
    for open in [
        "",
        "// use crate::m0::Thing;",
        "#[cfg(test)]\nmod tests {\n    use crate::m0::Thing;\n}\n",
        "use other::m0;",
    ] {
        assert_eq!(seen(&ring(4, open)), 0, "{open}");
    }
}

#[test]
fn a_parent_that_hands_on_has_no_part_in_a_circle_and_one_that_uses_has() {
    let crate_of = |parent: &str| {
        let child = |name: &str| {
            Source::new(&format!("crates/a/src/p/{name}.rs"), "use super::Shared;\npub fn go(_: Shared) {}\n")
        };
        let mut sources: Vec<Source> = ["b", "c", "d", "e"].map(child).into();
        sources.push(Source::new("crates/a/src/p/shared.rs", "pub struct Shared;\n"));
        sources.push(Source::new("crates/a/src/p.rs", parent));
        sources
    };
    let seen = |parent: &str| circles(&crate_of(parent)).len();
    let calls = "fn all() {\n    b::go(x);\n    c::go(x);\n    d::go(x);\n    e::go(x);\n}\n";
    assert_eq!(seen(&format!("mod b;\npub use shared::Shared;\n{calls}")), 0);
    assert_eq!(seen(&format!("mod b;\npub use shared::*;\n{calls}")), 0);
    assert_eq!(seen(&format!("mod b;\npub struct Shared;\n{calls}")), 1);
    assert_eq!(seen("mod b;\npub use b::go;\npub struct Shared;\n"), 0);
}
