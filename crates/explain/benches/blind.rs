//! How often reasons are right that are asked blind: `cargo bench -p kurabe-explain`. What is measured, and what counts as right, is
//! said in the tests' `blind`.
#![allow(clippy::print_stdout, reason = "it is a program")]
#![allow(dead_code, reason = "tests use the rest")]

#[path = "../../testkit/tests/rooms/explain/blind.rs"]
mod blind;

fn main() {
    for (name, time_ns) in blind::PROFILES {
        println!("{}\n", blind::scored(&blind::profile(name, time_ns)).1);
    }
}
