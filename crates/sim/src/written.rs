//! Writing a device back to a file, for users who changed one and want to save it.
//!
//! The model: every parameter is written with its source, including those that were omitted or came
//! from another file, so that the file is self-contained.

use crate::settings::Setting;
use crate::spec::{DeviceSpec, LayerSpec};
use kurabe_core::toml_text::{bilingual, quoted};

impl DeviceSpec {
    /// Replaces the sources for which `source` returns another one, by the name of the layer and the
    /// setting.
    pub fn set_sources(&mut self, source: &dyn Fn(&str, &Setting) -> Option<String>) {
        set_sources_below(&mut self.layers, source);
    }

    /// Returns the text of a file that describes the same device.
    pub fn to_toml(&self) -> String {
        let mut out =
            format!("schema = 1\nname = {}\ntitle = {}\n", quoted(&self.name), bilingual(&self.title));
        if let Some(year) = self.year {
            out.push_str(&format!("year = {year}\n"));
        }
        if let Some(note) = &self.note {
            out.push_str(&format!("note = {}\n", bilingual(note)));
        }
        write_layers(&mut out, "layer", &self.layers);
        out
    }
}

fn set_sources_below(layers: &mut [LayerSpec], source: &dyn Fn(&str, &Setting) -> Option<String>) {
    for layer in layers {
        let name = layer.name.as_str();
        layer.settings.set_sources(|setting| source(name, setting));
        layer.members.iter_mut().for_each(|member| set_sources_below(&mut member.layers, source));
    }
}

fn write_layers(out: &mut String, path: &str, layers: &[LayerSpec]) {
    for layer in layers {
        out.push_str(&format!(
            "\n[[{path}]]\nkind = {}\nname = {}\n",
            quoted(layer.kind.word),
            quoted(&layer.name)
        ));
        for setting in layer.settings.iter() {
            let (key, value) = (setting.parameter.key, value(&setting.written));
            out.push_str(&format!("{key} = {{ value = {value}, source = {} }}\n", quoted(&setting.source)));
        }
        for member in &layer.members {
            out.push_str(&format!("\n[[{path}.member]]\ncount = {}\n", member.count));
            write_layers(out, &format!("{path}.member.layer"), &member.layers);
        }
    }
}

/// Numbers, flags and tables are written as they are; everything else is a string.
fn value(written: &str) -> String {
    let is_number = written.parse::<i64>().is_ok()
        || (written.contains('.') && written.parse::<f64>().is_ok_and(f64::is_finite));
    let is_bare = is_number || written.starts_with('[') || matches!(written, "true" | "false");
    if is_bare { written.to_owned() } else { quoted(written) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DEVICES, device_named};

    /// Parses the written file, which uses no other.
    fn read(device: &DeviceSpec) -> DeviceSpec {
        let source = device.to_toml();
        DeviceSpec::parse(&device.name, &source, &|_, _| unreachable!())
            .unwrap_or_else(|error| panic!("{error}\n{source}"))
    }

    #[test]
    fn every_device_that_comes_with_kurabe_is_the_same_when_it_was_written_and_read() {
        for (name, _) in DEVICES {
            let device = device_named(name).unwrap();
            let again = read(&device);
            assert_eq!(again.layers.len(), device.layers.len(), "{name}");
            for (one, other) in again.all_layers().iter().zip(device.all_layers()) {
                assert!(one.settings.are_same(&other.settings), "{name}: {}", other.name);
            }
            assert_eq!(
                (&again.title, &again.note, again.year),
                (&device.title, &device.note, device.year),
                "{name}"
            );
        }
    }

    #[test]
    fn values_of_a_file_are_quoted_unless_they_are_numbers_flags_or_rows() {
        assert_eq!(value("64 KiB"), "\"64 KiB\"");
        assert_eq!(value("true"), "true");
        assert_eq!(value("[[0, 12]]"), "[[0, 12]]");
    }

    #[test]
    fn a_change_is_kept() {
        let mut device = device_named("samsung-fit-plus-exfat").unwrap();
        device.set("flash.program_rate", "10 MB/s").unwrap();
        device.title.en = "a \"stick\"\n".to_owned();
        let again = read(&device);
        assert_eq!(again.title.en, device.title.en);
        assert!(
            again.to_toml().contains("program_rate = { value = \"10 MB/s\", source = \"set for this run\" }")
        );
    }
}
