//! Device files: a stack as a list of layers, host at the top, each parameter with its value, unit and source.
//!
//! The model: `[[layer]]` entries stand in order from the host down. A layer whose kind has members stands above as many
//! copies of the rest of the list as its parameter `members` says, or above the members that `[[layer.member]]` lists.
//! A layer `use = "…"` stands for the layers of another file: those of a device without its host, or all of a fragment,
//! which is a file without a name; tables named like these layers change their parameters.

use crate::kinds::KINDS;
use crate::layer::{Below, LayerKind};
use crate::library::{COMPUTERS, find_computer};
use crate::schema::Parameter;
use crate::settings::{LayerSettings, Setting};
use kurabe_core::{DataFile, DataTable, ErrorKind, Result, Text, Value, mention::SET, nearest, text};
use std::sync::LazyLock;

/// Keys of a file.
const KEYS: &[&str] = &["schema", "name", "title", "year", "note", "layer"];

/// What [`DeviceSpec::set`] takes for the computer that a device stands in.
pub const COMPUTER: &str = "computer";

/// Devices that use devices that use devices: no further than this.
const DEEPEST_USE: u32 = 8;

/// A device as its file describes it.
#[derive(Clone, Debug)]
pub struct DeviceSpec {
    /// Its name.
    pub name: String,
    /// What it is.
    pub title: Text,
    /// About when what is modelled came to the market; nothing is computed from it.
    pub year: Option<u16>,
    /// What to know about the model: what it leaves out, where it stops being true.
    pub note: Option<Text>,
    /// The computer that it stands in, by the name of its file, if it is one that others share.
    pub computer: Option<String>,
    /// Its layers, host at the top.
    pub layers: Vec<LayerSpec>,
}

/// A layer as its device file describes it.
#[derive(Clone, Debug)]
pub struct LayerSpec {
    /// Its kind.
    pub kind: &'static LayerKind,
    /// Its name, unique in the stack unless it is the same part of different members; that of its kind if not given.
    pub name: String,
    /// Its parameters.
    pub settings: LayerSettings,
    /// What stands below it, if that is not the rest of the list.
    pub members: Vec<MemberSpec>,
}

/// One or several equal members below a layer.
#[derive(Clone, Debug)]
pub struct MemberSpec {
    /// How many.
    pub count: u32,
    /// Their layers.
    pub layers: Vec<LayerSpec>,
}

impl std::fmt::Debug for LayerKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word)
    }
}

/// Finds another device or a fragment by its name, given the file that uses it: the name of its file, and its text.
pub(crate) type Find<'a> = &'a dyn Fn(&str, &str) -> Result<(String, String)>;

/// The default of every parameter of every kind.
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
    /// The device without the time of a modelled computer before it, where a real one is.
    ///
    /// # Errors
    /// Those of [`Self::set`].
    pub fn without_computer(mut self) -> Result<Self> {
        if self.computer.is_some() {
            self.set(COMPUTER, "none")?;
        }
        Ok(self)
    }

    /// Reads a device file; `name` is shown in errors. `find` gives name and text of the devices that it uses.
    ///
    /// # Errors
    /// At the first thing that is wrong, with its line.
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

    /// Changes a parameter: `raid.strip` to `256KiB`. Every layer of that name is changed. `computer` is the computer that the
    /// device stands in, by its name or file.
    ///
    /// # Errors
    /// When there is no such layer, parameter or computer, or the value is of another kind.
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

    /// Gives its host the parameters that a computer's file tells.
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

    /// Takes a layer out; what stood below it stands below what stood above.
    ///
    /// # Errors
    /// When there is no such layer in the device's own list, or it is the medium.
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

    /// The text of a parameter, as it stands: `raid.strip`.
    pub fn get(&self, path: &str) -> Option<String> {
        if path == COMPUTER {
            return self.computer.clone();
        }
        let (layer, key) = path.split_once('.')?;
        let mut settings = self.all_layers().into_iter().filter(|spec| spec.name == layer);
        settings.find_map(|spec| Some(spec.settings.find(key)?.written.clone()))
    }

    /// Whether both behave alike, whatever they are called and wherever their values come from: the same layers with the
    /// same values.
    pub fn is_same_stack(&self, other: &Self) -> bool {
        are_same_layers(&self.layers, &other.layers)
    }

    /// Every layer from the top down, those of members included, each as often as the file has it.
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

/// The computer that a list of layers begins with, if others share it.
fn computer_of(list: &Value<'_>) -> Result<Option<String>> {
    let Some(first) = list.elements().into_iter().next() else { return Ok(None) };
    let Some(used) = first.any_table()?.get("use") else { return Ok(None) };
    let name = used.string()?;
    Ok(COMPUTERS.iter().any(|(computer, _)| *computer == name).then(|| name.to_owned()))
}

fn are_same_layers(one: &[LayerSpec], other: &[LayerSpec]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is_same(other))
}

impl LayerSpec {
    /// Gives what is left out its default, all in the order of the kind. `table` is where the layer stands, and `path` what
    /// its keys begin with there.
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

    /// What stands below it: lists of layers, each with how many of it there are. `rest` is what follows it in its own
    /// list.
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
                        "{SET} {name}.members: this device lists its members one by one",
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

/// Layer and key of `raid.strip`.
pub(crate) fn split_path(path: &str) -> Result<(&str, &str)> {
    path.split_once('.').ok_or_else(|| {
        ErrorKind::Usage
            .error(text!("`{path}` is not a parameter", "`{path}` はパラメーターの指定として読めません"))
            .remedy(text!(
                "write layer.parameter=value, as in raid.strip=256KiB",
                "raid.strip=256KiB のように、層.パラメーター=値 と書いてください"
            ))
    })
}

/// A value that a user gives; `at` is where, for errors.
pub(crate) fn changed(parameter: &'static Parameter, at: &str, value: &str) -> Result<Setting> {
    read_flag(parameter, value).map_err(|error| {
        let what = error.what().map(|what| format!("{at}: {}", what.trim_start_matches("value: ")));
        ErrorKind::Usage
            .error(what)
            .remedy(error.remedy_text().cloned().unwrap_or_else(|| parameter.remedy()))
    })
}

/// A value from the command line: a word where it is no number, table or truth value.
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

/// The last layer of every branch must be a medium, and nothing may stand below one.
fn check_ends(layers: &[LayerSpec], at: &Value<'_>) -> Result<()> {
    let misfit = |what: Text| Err(at.error(&what));
    for (index, layer) in layers.iter().enumerate() {
        let (last, name) = (index + 1 == layers.len(), &layer.name);
        match layer.kind.below {
            Below::Nothing if !last => {
                return misfit(text!(
                    "`{name}` is a medium, so nothing can stand below it",
                    "`{name}` は媒体なので、その下に層は置けません"
                ));
            }
            Below::One if last => {
                return misfit(text!("something must stand below `{name}`", "`{name}` の下に層が必要です"));
            }
            Below::Members if last && layer.members.is_empty() => {
                return misfit(text!("something must stand below `{name}`", "`{name}` の下に層が必要です"));
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

/// No name may stand for two layers of one branch: `--set` and the time account go by it.
fn check_names<'s>(layers: &'s [LayerSpec], above: &mut Vec<&'s str>, at: &Value<'_>) -> Result<()> {
    let before = above.len();
    for layer in layers {
        if above.contains(&layer.name.as_str()) {
            let name = &layer.name;
            return Err(at
                .error(&text!("two layers are called `{name}`", "`{name}` という名前の層が 2 つあります"))
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
    /// The file that is read.
    file: &'a str,
    depth: u32,
    /// Whether it is a fragment, in which a layer may lack parameters that it needs.
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

    /// The layers of another file, with the changes of the table that uses them; `known` are its other keys.
    fn used(&self, user: &Value<'_>, name: &Value<'_>, own_keys: &[&str]) -> Result<Vec<LayerSpec>> {
        let mut layers = self.file_layers(name.string()?).map_err(|error| name.error_of_named(&error))?;
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

    /// All layers of a fragment; of a device those that are not of its host.
    fn file_layers(&self, name: &str) -> Result<Vec<LayerSpec>> {
        if self.depth >= DEEPEST_USE {
            let what = text!("devices use one another without end", "デバイスの参照が循環しています");
            return Err(ErrorKind::DataFile.error(what));
        }
        let (file, source) = (self.find)(name, self.file)?;
        let data = DataFile::parse(&file, &source)?;
        let root = data.root(KEYS)?;
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

/// The parameters that a table gives.
fn given(kind: &'static LayerKind, table: &DataTable<'_>) -> Result<Vec<Setting>> {
    let read = |parameter: &'static Parameter| Some(read_parameter(parameter, &table.get(parameter.key)?));
    kind.parameters.iter().filter_map(read).collect()
}

/// `strip = { value = "64 KiB", source = "…" }`
fn read_parameter(parameter: &'static Parameter, given: &Value<'_>) -> Result<Setting> {
    if !given.is_table() {
        let key = parameter.key;
        return Err(given
            .error(&text!("every parameter says where it is from", "すべてのパラメーターに出典が必要です"))
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
            .error(&text!("a source is expected here", "ここには出典を書きます"))
            .remedy(text!(
                "an address, a document, `derived: …`, `assumed: …` or `calibrated: on which figure`",
                "URL、文書名、`derived: …`、`assumed: …`、`calibrated: 合わせた値` のいずれかです"
            )));
    }
    Setting::read(parameter, &table.require("value")?, source)
}
