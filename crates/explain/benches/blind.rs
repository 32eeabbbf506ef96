//! Accuracy of limits inferred without the account: `cargo bench -p kurabe-explain`. The tests'
//! `blind` defines what is measured and what counts as correct.
#![allow(clippy::print_stdout, reason = "it is a program")]
#![allow(dead_code, reason = "tests use the rest")]

#[path = "../../testkit/tests/rooms/explain/blind.rs"]
mod blind;

fn main() {
    for (name, time_ns) in blind::PROFILES {
        for seen in blind::Seen::ALL {
            println!("{}\n", blind::scored(&blind::profile(name, time_ns), seen).1);
        }
    }
}
