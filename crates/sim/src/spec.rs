//! Device files: a stack as a list of layers from the host down, each parameter with its value,
//! unit and source.
//!
//! The model: `[[layer]]` entries are in order from the host down. A layer whose kind has members
//! is above as many copies of the rest of the list as its parameter `members` says, or above the
//! members that `[[layer.member]]` lists. A layer `use = "…"` is replaced by the layers of another
//! file: those of a device without its host, or all of a fragment, which is a file without a name.
//! `use = ["…", "…"]` takes several fragments as one: layers of the same name are the same layer, and
//! of a parameter that several give, the value of the last counts. Tables named after these layers
//! change their parameters.

use crate::kinds::KINDS;
use crate::layer::{Below, LayerKind};
use crate::library::{COMPUTERS, find, find_computer};
use crate::schema::Parameter;
use crate::settings::{LayerSettings, Setting};
use kurabe_core::{DataFile, DataTable, ErrorKind, Result, Text, Value, mention::SET, nearest, text};
use std::sync::LazyLock;

/// Keys of a file.
pub(crate) const KEYS: &[&str] = &["schema", "name", "title", "year", "note", "layer"];

/// Keys of a part: those of a device, and its price.
pub(crate) const PART_KEYS: &[&str] = &["schema", "name", "title", "year", "note", "price", "layer"];

/// Pseudo-parameter of [`DeviceSpec::set`] for the computer that a device is attached to.
pub const COMPUTER: &str = "computer";
/// Fragment with the page cache and the journal of Linux.
const JOURNAL_FILE: &str = "journal";

/// Maximum nesting of devices that use other devices.
const DEEPEST_USE: u32 = 8;

/// A device as described by its file.
#[derive(Clone, Debug)]
pub struct DeviceSpec {
    /// Name of the device.
    pub name: String,
    /// Title of the device.
    pub title: Text,
    /// Approximate year of the modelled product's release; no figure depends on it.
    pub year: Option<u16>,
    /// Limits of the model: what it leaves out, and where it is no longer valid.
    pub note: Option<Text>,
    /// The computer that it is attached to, by the name of its file, if it is a shared one.
    pub computer: Option<String>,
    /// Layers, from the host down.
    pub layers: Vec<LayerSpec>,
}

/// A layer as described by its device file.
#[derive(Clone, Debug)]
pub struct LayerSpec {
    /// Kind of the layer.
    pub kind: &'static LayerKind,
    /// Name, unique within a branch of the stack; defaults to the kind.
    pub name: String,
    /// Values of the parameters.
    pub settings: LayerSettings,
    /// Members below it, if they are not the rest of the list.
    pub members: Vec<MemberSpec>,
}

/// One or several equal members below a layer.
#[derive(Clone, Debug)]
pub struct MemberSpec {
    /// Number of equal members.
    pub count: u32,
    /// Layers of each.
    pub layers: Vec<LayerSpec>,
}

impl std::fmt::Debug for LayerKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word)
    }
}

/// Finds another device or a fragment by its name, given the file that uses it; returns its file
/// name and its text.
pub(crate) type Find<'a> = &'a dyn Fn(&str, &str) -> Result<(String, String)>;

/// Defaults of the parameters of all kinds.
static DEFAULTS: LazyLock<Vec<Vec<Option<Setting>>>> = LazyLock::new(|| {
    let default = |parameter: &'static Parameter| {
        let (value, source) = parameter.default?;
        let setting =
            read_flag(parameter, value).unwrap_or_else(|error| panic!("{}: {error}", parameter.key));
        Some(Setting { changed: false, source: source.to_owned(), ..setting })
    };
    KINDS.iter().map(|kind| kind.parameters.iter().map(default).collect()).collect()
});

impl DeviceSpec {
    /// Returns the device without the time of its modelled computer, for use behind a real one.
    ///
    /// # Errors
    /// Returns the errors of [`Self::set`].
    pub fn without_computer(mut self) -> Result<Self> {
        if self.computer.is_some() {
            self.set(COMPUTER, "none")?;
        }
        Ok(self)
    }

    /// Parses a device file; `name` is shown in errors. `find` returns name and text of the devices
    /// that it uses.
    ///
    /// # Errors
    /// Returns the first error, with its line.
    pub(crate) fn parse(name: &str, source: &str, find: Find<'_>) -> Result<Self> {
        let file = DataFile::parse(name, source)?;
        let root = file.root(KEYS)?;
        root.require("schema")?.integer(1..=1)?;
        let reader = SpecReader { find, file: name, depth: 0, partial: false };
        let list = root.require("layer")?;
        let spec = Self {
            name: root.require("name")?.string()?.to_owned(),
            title: root.require("title")?.text()?,
            year: root.read("year", |year| year.integer(1950..=2100))?.map(|year| year as u16),
            note: root.get("note").map(|note| note.text()).transpose()?,
            computer: computer_of(&list)?,
            layers: reader.layers(&list)?,
        };
        check_ends(&spec.layers, &list)?;
        check_names(&spec.layers, &mut Vec::new(), &list)?;
        Ok(spec)
    }

    /// Changes a parameter, such as `raid.strip` to `256KiB`, in every layer of that name.
    /// `computer` sets the computer that the device is attached to, by its name or file.
    ///
    /// # Errors
    /// Returns an error if the layer, parameter or computer does not exist, or the value is
    /// invalid.
    pub fn set(&mut self, path: &str, value: &str) -> Result<()> {
        if path == COMPUTER {
            return self.put_in_computer(value);
        }
        let (layer, key) = split_path(path)?;
        let mut names: Vec<&str> = self.all_layers().iter().map(|spec| spec.name.as_str()).collect();
        if !names.contains(&layer) {
            names.sort_unstable();
            names.dedup();
            let device = &self.name;
            return Err(ErrorKind::Usage
                .error(text!("{device} has no layer `{layer}`", "{device} に `{layer}` という層はありません"))
                .remedy(nearest(layer, &names)));
        }
        change(&mut self.layers, layer, key, value)
    }

    /// Gives the host the parameters of a computer's file.
    fn put_in_computer(&mut self, name: &str) -> Result<()> {
        let find = |name: &str, _: &str| find_computer(name);
        let reader = SpecReader { find: &find, file: "", depth: 0, partial: true };
        let computer = reader.file_layers(name)?;
        let host = self.layers.iter_mut().find(|layer| layer.kind.of_host);
        let (Some(host), [computer]) = (host, &computer[..]) else {
            let what = text!(
                "{SET} computer={name}: a computer is a host, and the device has one",
                "{SET} computer={name}: コンピューターのファイルは host の層 1 つだけで、デバイス側にも host が必要です"
            );
            return Err(ErrorKind::Usage.error(what));
        };
        for setting in &computer.settings.list {
            host.settings.put(Setting { changed: true, ..setting.clone() });
        }
        self.computer = Some(name.to_owned());
        Ok(())
    }

    /// Puts the page cache and the journal of Linux above the device. `commits_times` is whether flushes
    /// store the times of the file, as fsync does; `commits_pages` is whether pages are new to the file when
    /// they are first written.
    ///
    /// # Errors
    /// Never, unless the fragment with these layers is invalid, which a test excludes.
    pub fn put_under_journal(&mut self, commits_times: bool, commits_pages: bool) -> Result<()> {
        let (file, source) = find(JOURNAL_FILE, "")?;
        let data = DataFile::parse(&file, &source)?;
        let reader = SpecReader { find: &find, file: &file, depth: 0, partial: false };
        let mut layers = reader.layers(&data.root(KEYS)?.require("layer")?)?;
        for layer in &mut layers {
            for (key, value) in [("commits_times", commits_times), ("commits_pages", commits_pages)] {
                let parameter = layer.kind.parameters.iter().find(|parameter| parameter.key == key);
                let setting =
                    parameter.map(|parameter| read_flag(parameter, &value.to_string())).transpose()?;
                let source = "derived: from the flushes of the profile".to_owned();
                setting.into_iter().for_each(|one| {
                    layer.settings.put(Setting { changed: false, source: source.clone(), ..one });
                });
            }
        }
        layers.append(&mut self.layers);
        self.layers = layers;
        Ok(())
    }

    /// Removes a layer; the layers above and below it are joined.
    ///
    /// # Errors
    /// Returns an error if the device's own list has no such layer, or it is the medium.
    pub fn remove_layer(&mut self, name: &str) -> Result<()> {
        let medium = self.layers.len().saturating_sub(1);
        let names = || self.layers[..medium].iter().map(|layer| layer.name.as_str()).collect::<Vec<_>>();
        let place = names().into_iter().position(|layer| layer == name);
        let place = place.filter(|place| self.layers[*place].members.is_empty()).ok_or_else(|| {
            let device = &self.name;
            ErrorKind::Usage
                .error(text!(
                    "{device} has no layer `{name}` that could be left out",
                    "{device} に省ける層 `{name}` はありません"
                ))
                .remedy(nearest(name, &names()))
        })?;
        self.layers.remove(place);
        Ok(())
    }

    /// Returns the text of a parameter as written: `raid.strip`.
    pub fn get(&self, path: &str) -> Option<String> {
        if path == COMPUTER {
            return self.computer.clone();
        }
        let (layer, key) = path.split_once('.')?;
        let mut settings = self.all_layers().into_iter().filter(|spec| spec.name == layer);
        settings.find_map(|spec| Some(spec.settings.find(key)?.written.clone()))
    }

    /// Returns whether both behave alike, regardless of names and sources: the same layers with the
    /// same values.
    pub fn is_same_stack(&self, other: &Self) -> bool {
        are_same_layers(&self.layers, &other.layers)
    }

    /// Returns every layer from the top down, including those of members, each as often as the file
    /// lists it.
    pub fn all_layers(&self) -> Vec<&LayerSpec> {
        fn add<'s>(layers: &'s [LayerSpec], all: &mut Vec<&'s LayerSpec>) {
            for layer in layers {
                all.push(layer);
                layer.members.iter().for_each(|member| add(&member.layers, all));
            }
        }
        let mut all = Vec::new();
        add(&self.layers, &mut all);
        all
    }
}

/// Returns the computer that a list of layers begins with, if it is a shared one.
fn computer_of(list: &Value<'_>) -> Result<Option<String>> {
    let Some(first) = list.elements().into_iter().next() else { return Ok(None) };
    let used = first.any_table()?.get("use").map(|used| used.elements()).unwrap_or_default();
    let [used] = &used[..] else { return Ok(None) };
    let name = used.string()?;
    Ok(COMPUTERS.iter().any(|(computer, _)| *computer == name).then(|| name.to_owned()))
}

fn are_same_layers(one: &[LayerSpec], other: &[LayerSpec]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is_same(other))
}

impl LayerSpec {
    /// Adds the defaults of omitted parameters and sorts all in the order of the kind. `table`
    /// contains the layer, and `path` is the prefix of its keys there.
    fn complete(&mut self, table: &DataTable<'_>, path: &str) -> Result<()> {
        let kind = KINDS.iter().position(|kind| kind.word == self.kind.word);
        let mut list = Vec::with_capacity(self.kind.parameters.len());
        for (index, parameter) in self.kind.parameters.iter().enumerate() {
            let default = || kind.and_then(|kind| DEFAULTS[kind][index].clone());
            let listed = parameter.key == "members" && !self.members.is_empty();
            match self.settings.find(parameter.key).cloned() {
                Some(setting) => list.push(setting),
                None if listed => {}
                None => match default() {
                    Some(setting) => list.push(setting),
                    None => {
                        table.require(&format!("{path}{}", parameter.key))?;
                    }
                },
            }
        }
        self.settings = LayerSettings { list };
        Ok(())
    }

    fn is_same(&self, other: &Self) -> bool {
        let members = || self.members.iter().zip(&other.members);
        self.kind.word == other.kind.word
            && self.name == other.name
            && self.settings.are_same(&other.settings)
            && self.members.len() == other.members.len()
            && members()
                .all(|(one, other)| one.count == other.count && are_same_layers(&one.layers, &other.layers))
    }

    /// Returns the lists of layers below it, each with its count. `rest` is the part of its own
    /// list that follows it.
    pub fn below<'s>(&'s self, rest: &'s [LayerSpec]) -> Vec<(u64, &'s [LayerSpec])> {
        match self.kind.below {
            Below::Nothing => Vec::new(),
            Below::One => vec![(1, rest)],
            Below::Members if self.members.is_empty() => {
                let members = self.settings.find("members").and_then(Setting::number);
                let count = members.map_or(1, |count| count as u64);
                vec![(count, rest)]
            }
            Below::Members => {
                self.members.iter().map(|member| (u64::from(member.count), &member.layers[..])).collect()
            }
        }
    }
}

fn change(layers: &mut [LayerSpec], name: &str, key: &str, value: &str) -> Result<()> {
    for layer in layers {
        if layer.name == name {
            let Some(parameter) = layer.kind.parameters.iter().find(|parameter| parameter.key == key) else {
                let keys: Vec<&str> = layer.kind.parameters.iter().map(|parameter| parameter.key).collect();
                return Err(ErrorKind::Usage
                    .error(text!(
                        "{SET} {name}.{key}: `{name}` has no parameter `{key}`",
                        "{SET} {name}.{key}: `{name}` に `{key}` というパラメーターはありません"
                    ))
                    .remedy(nearest(key, &keys)));
            };
            if key == "members" && !layer.members.is_empty() {
                return Err(ErrorKind::Usage
                    .error(text!(
                        "{SET} {name}.members: this device lists its members individually",
                        "{SET} {name}.members: このデバイスはメンバーを個別に列挙しています"
                    ))
                    .remedy(text!(
                        "copy its file and change the list there",
                        "デバイスファイルをコピーして、一覧を書き換えてください"
                    )));
            }
            layer.settings.put(changed(parameter, &format!("{SET} {name}.{key}={value}"), value)?);
        }
        for member in &mut layer.members {
            change(&mut member.layers, name, key, value)?;
        }
    }
    Ok(())
}

/// Splits `raid.strip` into layer and key.
pub(crate) fn split_path(path: &str) -> Result<(&str, &str)> {
    path.split_once('.').ok_or_else(|| {
        ErrorKind::Usage
            .error(text!("`{path}` is not a parameter", "`{path}` はパラメーターの指定として読めません"))
            .remedy(text!(
                "write layer.parameter=value, for example raid.strip=256KiB",
                "raid.strip=256KiB のように、層.パラメーター=値 と書いてください"
            ))
    })
}

/// Reads a value given by the user; `at` is its position for errors.
pub(crate) fn changed(parameter: &'static Parameter, at: &str, value: &str) -> Result<Setting> {
    read_flag(parameter, value).map_err(|error| {
        let what = error.what().map(|what| format!("{at}: {}", what.trim_start_matches("value: ")));
        ErrorKind::Usage
            .error(what)
            .remedy(error.remedy_text().cloned().unwrap_or_else(|| parameter.remedy()))
    })
}

/// Reads a value from the command line: a text if it is not a number, a table or a boolean.
fn read_flag(parameter: &'static Parameter, value: &str) -> Result<Setting> {
    let bare = format!("value = {value}");
    let quoted = format!("value = {value:?}");
    let source = if DataFile::parse("value", &bare).is_ok() { bare } else { quoted };
    let file = DataFile::parse("value", &source)?;
    let value = file.root(&["value"])?.require("value")?;
    let mut setting = Setting::read(parameter, &value, "set for this run")?;
    (setting.place, setting.changed) = (None, true);
    Ok(setting)
}

/// Checks that every branch ends in a medium, and that nothing is below one.
fn check_ends(layers: &[LayerSpec], at: &Value<'_>) -> Result<()> {
    let misfit = |what: Text| Err(at.error(&what));
    for (index, layer) in layers.iter().enumerate() {
        let (last, name) = (index + 1 == layers.len(), &layer.name);
        match layer.kind.below {
            Below::Nothing if !last => {
                return misfit(text!(
                    "`{name}` is a medium, so no layer can follow below it",
                    "`{name}` は媒体なので、その下に層は置けません"
                ));
            }
            Below::One if last => {
                return misfit(text!("`{name}` needs a layer below it", "`{name}` の下に層が必要です"));
            }
            Below::Members if last && layer.members.is_empty() => {
                return misfit(text!("`{name}` needs a layer below it", "`{name}` の下に層が必要です"));
            }
            Below::Members if !last && !layer.members.is_empty() => {
                return misfit(text!(
                    "`{name}` lists its members, so no further layer can follow",
                    "`{name}` はメンバーを列挙しているので、続けて層は置けません"
                ));
            }
            _ => {}
        }
        for member in &layer.members {
            check_ends(&member.layers, at)?;
        }
    }
    Ok(())
}

/// Checks that no two layers of a branch have the same name: `--set` and the time account identify
/// layers by name.
fn check_names<'s>(layers: &'s [LayerSpec], above: &mut Vec<&'s str>, at: &Value<'_>) -> Result<()> {
    let before = above.len();
    for layer in layers {
        if above.contains(&layer.name.as_str()) {
            let name = &layer.name;
            return Err(at
                .error(&text!("two layers have the name `{name}`", "`{name}` という名前の層が 2 つあります"))
                .remedy(text!("give one of them another `name`", "片方に別の `name` を付けてください")));
        }
        above.push(&layer.name);
        for member in &layer.members {
            check_names(&member.layers, above, at)?;
        }
    }
    above.truncate(before);
    Ok(())
}

#[derive(Clone, Copy)]
struct SpecReader<'a> {
    find: Find<'a>,
    /// The file being read.
    file: &'a str,
    depth: u32,
    /// Whether it is a fragment, whose layers may lack required parameters.
    partial: bool,
}

impl SpecReader<'_> {
    fn layers(&self, list: &Value<'_>) -> Result<Vec<LayerSpec>> {
        let mut layers = Vec::new();
        for value in list.elements() {
            let table = value.any_table()?;
            match table.get("use") {
                Some(used) => layers.extend(self.used(&value, &used, &["use"])?),
                None => layers.push(self.layer(&value, &table)?),
            }
        }
        Ok(layers)
    }

    /// Returns the layers of another file, with the changes of the table that uses them.
    fn used(&self, user: &Value<'_>, name: &Value<'_>, own_keys: &[&str]) -> Result<Vec<LayerSpec>> {
        let mut layers = self.merged_layers(name)?;
        let names: Vec<String> = layers.iter().map(|layer| layer.name.clone()).collect();
        let keys: Vec<&str> = names.iter().map(String::as_str).chain(own_keys.iter().copied()).collect();
        let table = user.table(&keys)?;
        for layer in &mut layers {
            if let Some(changes) = table.get(&layer.name) {
                let keys: Vec<&str> = layer.kind.parameters.iter().map(|parameter| parameter.key).collect();
                let changes = changes.table(&keys)?;
                given(layer.kind, &changes)?.into_iter().for_each(|setting| layer.settings.put(setting));
            }
            if !self.partial {
                layer.complete(&table, &format!("{}.", layer.name))?;
            }
        }
        Ok(layers)
    }

    /// Returns the layers of the files with these names, where layers of the same name are one.
    fn merged_layers(&self, names: &Value<'_>) -> Result<Vec<LayerSpec>> {
        let mut layers: Vec<LayerSpec> = Vec::new();
        for name in names.elements() {
            let used = self.file_layers(name.string()?).map_err(|error| name.error_of_named(&error))?;
            for layer in used {
                let same = |own: &&mut LayerSpec| own.name == layer.name && own.kind.word == layer.kind.word;
                match layers.iter_mut().find(same) {
                    Some(own) => {
                        layer.settings.list.into_iter().for_each(|setting| own.settings.put(setting));
                    }
                    None => layers.push(layer),
                }
            }
        }
        Ok(layers)
    }

    /// Returns all layers of a fragment, or those of a device without its host.
    fn file_layers(&self, name: &str) -> Result<Vec<LayerSpec>> {
        if self.depth >= DEEPEST_USE {
            let what = text!("devices use each other in a loop", "デバイスの参照が循環しています");
            return Err(ErrorKind::DataFile.error(what));
        }
        let (file, source) = (self.find)(name, self.file)?;
        let data = DataFile::parse(&file, &source)?;
        let root = data.root(PART_KEYS)?;
        root.require("schema")?.integer(1..=1)?;
        let partial = root.get("name").is_none();
        let reader = SpecReader { find: self.find, file: &file, depth: self.depth + 1, partial };
        let mut layers = reader.layers(&root.require("layer")?)?;
        layers.retain(|layer| partial || !layer.kind.of_host);
        Ok(layers)
    }

    fn layer(&self, value: &Value<'_>, table: &DataTable<'_>) -> Result<LayerSpec> {
        let kinds: Vec<_> = KINDS.iter().map(|kind| (kind.word, *kind)).collect();
        let kind = table.require("kind")?.choice(&kinds)?;
        let mut keys: Vec<&str> = kind.parameters.iter().map(|parameter| parameter.key).collect();
        keys.extend(["kind", "name"]);
        if kind.below == Below::Members {
            keys.push("member");
        }
        let table = value.table(&keys)?;
        let members = table.get("member").map(|list| SpecReader { partial: false, ..*self }.members(&list));
        let mut layer = LayerSpec {
            kind,
            name: table.get("name").map_or(Ok(kind.word), |name| name.string())?.to_owned(),
            settings: LayerSettings { list: given(kind, &table)? },
            members: members.transpose()?.unwrap_or_default(),
        };
        if !self.partial {
            layer.complete(&table, "")?;
        }
        Ok(layer)
    }

    fn members(&self, list: &Value<'_>) -> Result<Vec<MemberSpec>> {
        list.elements()
            .iter()
            .map(|member| {
                let table = member.any_table()?;
                let count = table.get("count").map_or(Ok(1), |count| count.integer(1..=256))?;
                let layers = match (table.get("use"), table.get("layer")) {
                    (Some(used), None) => self.used(member, &used, &["count", "use"])?,
                    (None, Some(list)) => {
                        member.table(&["count", "layer"])?;
                        self.layers(&list)?
                    }
                    _ => {
                        return Err(member.error(&text!(
                            "a member has either `use` or its own `layer` entries",
                            "メンバーには `use` か `layer` のどちらか一方を書きます"
                        )));
                    }
                };
                Ok(MemberSpec { count: count as u32, layers })
            })
            .collect()
    }
}

/// Returns the parameters given in a table.
fn given(kind: &'static LayerKind, table: &DataTable<'_>) -> Result<Vec<Setting>> {
    let read = |parameter: &'static Parameter| Some(read_parameter(parameter, &table.get(parameter.key)?));
    kind.parameters.iter().filter_map(read).collect()
}

/// Reads `strip = { value = "64 KiB", source = "…" }`.
fn read_parameter(parameter: &'static Parameter, given: &Value<'_>) -> Result<Setting> {
    if !given.is_table() {
        let key = parameter.key;
        return Err(given
            .error(&text!("every parameter needs a source", "すべてのパラメーターに出典が必要です"))
            .remedy(text!(
                "write {key} = {{ value = …, source = \"…\" }}",
                "{key} = {{ value = …, source = \"…\" }} と書いてください"
            )));
    }
    let table = given.table(&["value", "source"])?;
    let source = table.require("source")?.string()?;
    if source.trim().is_empty() {
        return Err(table
            .require("source")?
            .error(&text!("expected a source here", "ここには出典を書きます"))
            .remedy(text!(
                "an address, a document, `derived: …`, `assumed: …` or `calibrated: on which figure`",
                "URL、文書名、`derived: …`、`assumed: …`、`calibrated: 合わせた値` のいずれかです"
            )));
    }
    Setting::read(parameter, &table.require("value")?, source)
}
