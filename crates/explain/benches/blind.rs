//! Accuracy of limits inferred without the account: `cargo bench -p kurabe-explain`, or
//! `cargo bench -p kurabe-explain -- quick` for some profiles only. The tests' `blind` defines what is
//! measured and what counts as right, vague and wrong.
#![allow(clippy::print_stdout, reason = "it is a program")]
#![allow(dead_code, reason = "tests use the rest")]

#[path = "../../testkit/tests/rooms/explain/blind.rs"]
mod blind;

fn main() {
    let names: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with("--")).collect();
    for (name, time_ns) in blind::PROFILES {
        if !names.is_empty() && !names.iter().any(|one| one == name) {
            continue;
        }
        for scores in blind::scored(&blind::profile(name, time_ns)) {
            println!("{}\n", scores.text);
        }
    }
}
