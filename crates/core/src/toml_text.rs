//! Strings in TOML files that kurabe writes.

use crate::Text;

/// Formats a basic string of TOML.
pub fn quoted(words: &str) -> String {
    let mut out = String::from("\"");
    for character in words.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            character if character.is_control() => out.push_str(&format!("\\U{:08X}", u32::from(character))),
            character => out.push(character),
        }
    }
    out + "\""
}

/// Formats a text in both languages as an inline table.
pub fn bilingual(text: &Text) -> String {
    format!("{{ en = {}, ja = {} }}", quoted(&text.en), quoted(&text.ja))
}
