//! Accuracy of limits inferred without the account: `cargo bench -p kurabe-explain`. The tests'
//! `blind` defines what is measured and what counts as right, vague and wrong.
#![allow(clippy::print_stdout, reason = "it is a program")]
#![allow(dead_code, reason = "tests use the rest")]

#[path = "../../testkit/tests/rooms/explain/blind.rs"]
mod blind;

fn main() {
    for (name, time_ns) in blind::PROFILES {
        for scores in blind::scored(&blind::profile(name, time_ns)) {
            println!("{}\n", scores.text);
        }
    }
}
