//! `kurabe price --syscalls`: counts of system calls that are known beforehand.

use crate::attaching::can_attach;
use crate::lab::{Lab, binary, text};
use crate::system::{making_loop_devices, python};
use kurabe_testkit::needs::needs;
use serde_json::Value;

/// Makes calls that neither Python nor a shell makes when it starts. The first argument is a number
/// of calls without a request to the disk.
const PROGRAM: &str = r"
import os, subprocess, sys
data = os.open('data', os.O_CREAT | os.O_RDWR)
def write(times):
    for place in range(times):
        os.pwrite(data, b'x' * 512, place * 512)
write(7)
os.fdatasync(data)
subprocess.run([sys.argv[2], 'mark', 'second'], check=True)
write(3)
os.fsync(data)
os.fsync(data)
for _ in range(int(sys.argv[1])):
    os.getpriority(os.PRIO_PROCESS, 0)
";

fn values(calls: &Value, name: &str) -> Vec<u64> {
    calls[name].as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
}

#[test]
fn system_calls_are_counted_by_name_and_phase_and_a_change_is_reported() {
    if !needs("python3") || !can_attach() {
        return;
    }
    let lab = Lab::new();
    let (program, base) = (lab.write("program.py", PROGRAM), lab.beside("base.json"));
    let python = python();
    // Another version of kurabe may mark.
    let marking = lab.beside("kurabe");
    std::fs::copy(binary(), &marking).unwrap();
    let of = |calls: &'static str| {
        ["--syscalls", "--runs", "2", "--", &*python, text(&program), calls, text(&marking)]
    };
    let making = making_loop_devices();
    let words = [&["--json", "-q", "price", "--save", text(&base)][..], &of("1")].concat();
    let bill = lab.kurabe(&words).ok().json_lines().remove(0);
    let names = ["pwrite64", "fdatasync", "fsync", "getpriority"];
    let counted = |calls: &Value| names.map(|name| values(calls, name));
    assert_eq!(counted(&bill["syscalls"]), [10, 1, 2, 1].map(|count| vec![count; 2]), "{bill}");
    // Only the process that marks the phase makes this one.
    assert!(bill["syscalls"].get("shutdown").is_none(), "{bill}");
    let phases = bill["phases"].as_array().unwrap();
    let phase = |name: &str| &phases.iter().find(|phase| phase["name"] == name).unwrap()["syscalls"];
    let none = Vec::new;
    assert_eq!(counted(phase("start")), [vec![7; 2], vec![1; 2], none(), none()], "{bill}");
    assert_eq!(counted(phase("second")), [vec![3; 2], none(), vec![2; 2], vec![1; 2]], "{bill}");

    let against = ["-q", "price", "--against", text(&base), "--fail-on", "different"];
    let changed = lab.kurabe(&[&against[..], &of("6")].concat());
    drop(making);
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().filter(|word| *word != "│").collect();
        words == ["getpriority", "1", "6"]
    };
    assert!(changed.code() == Some(15) && changed.out.lines().any(row), "{changed:#?}");
    assert!(changed.out.contains("system call") && changed.out.contains("second"), "{changed:#?}");
}
