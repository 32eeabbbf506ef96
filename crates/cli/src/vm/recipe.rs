//! Commands that run a QEMU guest on a served model. Nothing is started here. A test runs the
//! commands exactly as printed.

use crate::args::VmArgs;
use crate::show::ScriptLine;
use kurabe_core::mention::{DATA, EXPORTS, POWER_CUTS, SERVE, SET, SOCKET, WITHOUT};
use kurabe_core::quantity::format_bytes_decimal;
use kurabe_core::shown::{self, shell_word};
use kurabe_core::{Result, Text, text};
use kurabe_lab::{assignments, load_served_model};
use kurabe_serve::{DataPlace, check_exports};
use kurabe_sim::{DeviceSpec, Stack};

/// Image name used if the user didn't name one.
const USUAL_GUEST: &str = "guest.qcow2";
/// Layers that a guest provides itself.
const OWN_LAYERS: [&str; 2] = ["filesystem", "zfs"];

/// Commands to type.
pub struct Recipe {
    spec: DeviceSpec,
    size_bytes: u64,
    serve: String,
    /// Lines of the command that starts the guest.
    guest: Vec<String>,
    cut: String,
    /// Names of the disks in the guest.
    devices: Vec<String>,
}

impl Recipe {
    /// Creates the commands for a guest.
    ///
    /// # Errors
    ///
    /// Returns an error if the model does not exist or the request is invalid.
    pub fn new(args: &VmArgs) -> Result<Self> {
        let sets = assignments(SET, &args.set, "flash.program_rate=10MB/s")?;
        let spec = load_served_model(&args.target.name(), &sets, &args.without)?;
        let stack = Stack::new(&spec, 1)?;
        check_exports(args.exports, stack.units())?;
        let data = DataPlace::parse(&args.data)?;
        let has_image = matches!(data, DataPlace::File(_) | DataPlace::Over(_));
        let image = match (&args.guest, has_image) {
            (Some(image), _) => Some(shown::name(&**image)),
            (None, false) => Some(USUAL_GUEST.to_owned()),
            (None, true) => None,
        };
        let socket = shown::name(&*args.socket);
        let mut guest = vec!["qemu-system-x86_64 -accel tcg -m 1G -nographic".to_owned()];
        guest.extend(image.as_deref().map(drive_of_image));
        guest.extend((0..args.exports).map(|export| drive_of_model(&socket, args.exports, export)));
        let letters = ('a'..='z').skip(usize::from(image.is_some()));
        Ok(Self {
            size_bytes: stack.capacity_bytes(),
            spec,
            serve: serve_line(args),
            guest,
            cut: command(&["kurabe", "control", &socket, "cut"]),
            devices: letters.take(args.exports).map(|letter| format!("/dev/vd{letter}")).collect(),
        })
    }

    /// Returns the commands for scripts.
    pub fn script(&self) -> ScriptLine<'_> {
        ScriptLine::Recipe { serve: &self.serve, guest: self.guest.join(" "), cut: &self.cut }
    }

    /// Returns the commands with explanations, one per line.
    pub fn lines(&self) -> Vec<Text> {
        let (name, size) = (&self.spec.name, format_bytes_decimal(self.size_bytes));
        let devices = self.devices.join(", ");
        let mut lines = vec![text!(
            "{name}, {size}, as a disk of a QEMU guest. kurabe does not start anything; type these commands.",
            "{name}({size})を QEMU のゲストのディスクにします。kurabe は何も起動しません。次のように入力してください。"
        )];
        lines.extend(own_layers_line(&self.spec));
        lines.push(text!(
            "\nIn one terminal, serve the model; Ctrl-C ends it and reports how many replies were on time:\n",
            "\n1 つ目の端末でモデルを公開します(Ctrl-C で終了し、時間どおりだった割合を表示します):\n"
        ));
        lines.push(Text::same(format!("  {}", self.serve)));
        lines.push(text!(
            "\nIn another terminal, start the guest, which sees the model as {devices}; Ctrl-A X ends it:\n",
            "\n2 つ目の端末でゲストを起動します。モデルは {devices} に見えます(Ctrl-A X で終了します):\n"
        ));
        lines.push(Text::same(format!("  {}", self.guest.join(" \\\n    "))));
        lines.push(text!(
            "\nTo cut the power, cut that of the model first, then end the guest (Ctrl-A X), whose \
             requests all fail from then on:\n",
            "\n電源を断つときは、まずモデルの電源を断ち、次にゲストを終了します(Ctrl-A X)。以後、ゲストの要求はすべて失敗します:\n"
        ));
        lines.push(Text::same(format!("  {}", self.cut)));
        lines.push(text!(
            "\nStart the guest again with the same command: it finds the data that remain after a reboot.",
            "\nゲストを同じコマンドで再び起動すると、再起動後に残っているはずのデータが見えます。"
        ));
        lines.extend(remarks());
        lines
    }
}

/// Explains the options in the commands, and their cost.
fn remarks() -> [Text; 3] {
    [
        text!(
            "\n  cache=none   flushes of the guest reach the model, and QEMU buffers nothing",
            "\n  cache=none   ゲストのフラッシュはモデルに届き、QEMU はデータを溜めません"
        ),
        text!(
            "  -accel tcg   emulates the processor: a guest's own work takes about ten times as long, and a\n\
             \x20              request 100 to 400 µs longer. This hardly matters if the model takes milliseconds; compare\n\
             \x20              guests only with guests. Where KVM works, write -accel kvm.",
            "  -accel tcg   CPU のエミュレーション。ゲスト自身の処理は約 10 倍、要求は 1 件あたり\n\
             \x20              100〜400 µs 余計にかかります。数 ms 以上かかるモデルなら影響はわずかです。\n\
             \x20              比較はゲスト同士に限ってください。KVM が使えるなら -accel kvm とします。"
        ),
        text!(
            "  -nographic   the guest's serial port is this terminal (console=ttyS0); leave it out for a window",
            "  -nographic   ゲストのシリアルポートがこの端末になります(console=ttyS0)。画面を出すなら省きます"
        ),
    ]
}

/// Names the layers of the model that the guest should provide instead.
fn own_layers_line(spec: &DeviceSpec) -> Option<Text> {
    let layers = spec.all_layers().into_iter();
    let mut names: Vec<&str> = layers
        .filter(|layer| OWN_LAYERS.contains(&layer.kind.word))
        .map(|layer| layer.name.as_str())
        .collect();
    names.dedup();
    let names = names.join(",");
    (!names.is_empty()).then_some(text!(
        "The model has its own file system below that of the guest: {WITHOUT} {names} leaves it out.",
        "モデルにもファイルシステムの層があり、ゲストのものと二重になります。{WITHOUT} {names} で省けます。"
    ))
}

fn serve_line(args: &VmArgs) -> String {
    let (without, exports) = (args.without.join(","), args.exports.to_string());
    let options = args.set.iter().map(|set| (SET, set)).chain([
        (WITHOUT, &without),
        (EXPORTS, &exports),
        (DATA, &args.data),
    ]);
    let usual = [(WITHOUT, ""), (EXPORTS, "1"), (DATA, "memory")];
    let options = options.filter(|(flag, value)| !usual.contains(&(*flag, value)));
    let options = options.map(|(flag, value)| format!(" {flag:#} {}", shell_word(value)));
    let (target, options) = (shell_word(&shown::name(&*args.target)), options.collect::<String>());
    format!(
        "{SERVE:#} {target}{options} {POWER_CUTS:#} {SOCKET:#} {}",
        shell_word(&shown::name(&*args.socket))
    )
}

fn drive_of_image(image: &str) -> String {
    let format = if image.ends_with(".qcow2") { "qcow2" } else { "raw" };
    command(&["-drive", &format!("file={},format={format},if=virtio", of_option(image))])
}

fn drive_of_model(socket: &str, exports: usize, export: usize) -> String {
    let name = if exports == 1 { String::new() } else { format!("export={export},") };
    let path = of_option(socket);
    let model = format!("driver=nbd,server.type=unix,server.path={path},{name}if=virtio,cache=none");
    command(&["-drive", &model])
}

/// Escapes a value in a list of QEMU options, where a comma would end it.
fn of_option(value: &str) -> String {
    value.replace(',', ",,")
}

fn command(words: &[&str]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}
