//! Project files that are embedded in the program and looked up by name, and how those names are
//! distinguished from paths of the user's own files.

/// Creates a list with the name and text of each of these files, which share a folder and an
/// extension.
#[macro_export]
macro_rules! library {
    ($folder:literal, $ending:literal: $($name:literal),* $(,)?) => {
        &[$((
            $name,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $folder, "/", $name, $ending)),
        )),*]
    };
}

/// Returns the names in a library, in order.
pub fn names<'l>(library: &[(&'l str, &str)]) -> Vec<&'l str> {
    library.iter().map(|(name, _)| *name).collect()
}

/// Returns the text of a library file.
pub fn text_named(library: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    library.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// Returns whether a name is the path of the user's own file.
pub fn is_path(name: &str) -> bool {
    name.ends_with(".toml") || name.contains('/')
}
