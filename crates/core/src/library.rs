//! Files of the project that become part of the program, found by their names, and how they are told apart from files of a
//! user's own.

/// Name and text of each of these files, in a folder of the project and with one ending.
#[macro_export]
macro_rules! library {
    ($folder:literal, $ending:literal: $($name:literal),* $(,)?) => {
        &[$((
            $name,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $folder, "/", $name, $ending)),
        )),*]
    };
}

/// The names of a library, in its order.
pub fn names<'l>(library: &[(&'l str, &str)]) -> Vec<&'l str> {
    library.iter().map(|(name, _)| *name).collect()
}

/// The text that a library has under a name.
pub fn text_named(library: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    library.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// Whether what stands for a name of the library is the path of a file of the user's own.
pub fn is_path(name: &str) -> bool {
    name.ends_with(".toml") || name.contains('/')
}
