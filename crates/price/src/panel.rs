//! Panels: devices on which a recording is priced, from the folder `panels/`.

use kurabe_core::library::{is_path, names, text_named};
use kurabe_core::outside::text_of_file;
use kurabe_core::{DataFile, ErrorKind, Result, Text, Value, library, nearest, text};
use kurabe_sim::{DeviceSpec, LayerSpec, load_device};

/// Name and text of every built-in panel. The first one is the default.
pub const PANELS: &[(&str, &str)] = library!["panels", ".toml": "everyday", "databases"];

/// A panel of devices.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Name of the panel.
    pub name: String,
    /// Devices of the panel.
    pub devices: Vec<PanelDevice>,
}

/// A device of a panel.
#[derive(Clone, Debug)]
pub struct PanelDevice {
    /// Name or file of its model.
    pub model: String,
    /// Kind of device that the model represents.
    pub title: Text,
    /// Model without the layers that are real.
    pub spec: DeviceSpec,
}

impl Panel {
    /// Loads a built-in panel, or a file if the name looks like a path.
    ///
    /// # Errors
    /// If the panel does not exist, or its file is invalid.
    pub fn load(name: &str) -> Result<Self> {
        if is_path(name) {
            let message = text!("cannot read the panel {name}", "パネルのファイル {name} を読めません");
            return Self::parse(name, &text_of_file(name, &message)?);
        }
        match text_named(PANELS, name) {
            Some(source) => Self::parse(name, source),
            None => {
                let message = text!("there is no panel named `{name}`", "`{name}` というパネルはありません");
                Err(ErrorKind::Usage.error(message).remedy(nearest(name, &names(PANELS))))
            }
        }
    }

    /// Parses the file of a panel. `name` is shown in errors.
    ///
    /// # Errors
    /// For the first mistake, with its line.
    pub fn parse(name: &str, source: &str) -> Result<Self> {
        let file = DataFile::parse(name, source)?;
        let root = file.root(&["schema", "device"])?;
        root.require("schema")?.integer(1..=1)?;
        let devices = root.each("device", |device| {
            let table = device.table(&["model", "title"])?;
            let model = table.words("model")?;
            let title = table.read("title", Value::text)?;
            let place = table.require("model")?;
            let spec = load_device(&model).map_err(|error| place.error_of_named(&error))?;
            let title = title.unwrap_or_else(|| spec.title.clone());
            Ok(PanelDevice { model, title, spec: device_below(spec)? })
        })?;
        if devices.is_empty() {
            let message = text!("the panel {name} has no device", "パネル {name} にデバイスがありません");
            return Err(ErrorKind::DataFile.error(message));
        }
        Ok(Self { name: name.to_owned(), devices })
    }
}

/// Returns a model without the computer and the file system on top.
///
/// # Errors
/// If no layer is left.
pub fn device_below(spec: DeviceSpec) -> Result<DeviceSpec> {
    let mut spec = spec.without_computer()?;
    let is_above = |layer: &&LayerSpec| layer.kind.of_host || layer.kind.word == "filesystem";
    let above: Vec<String> = spec.layers.iter().filter(is_above).map(|layer| layer.name.clone()).collect();
    above.iter().try_for_each(|name| spec.remove_layer(name))?;
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_panel_has_devices_without_a_computer_before_them() {
        for (name, _) in PANELS {
            for PanelDevice { spec, .. } in Panel::load(name).unwrap().devices {
                assert!(spec.layers.iter().all(|layer| !layer.kind.of_host), "{name}: {spec:?}");
            }
        }
        assert_eq!(Panel::load("everyda").unwrap_err().kind(), ErrorKind::Usage);
        assert_eq!(Panel::parse("p", "schema = 1").unwrap_err().kind(), ErrorKind::DataFile);
    }
}
