//! The page from the perspective of users and attackers.

// Prints the reason for a skipped test.
#![allow(clippy::print_stderr)]

mod accessible;
mod any_bytes;
mod attacks;
mod browsing;
mod client;
mod drive;
mod foreign;
mod letters;
mod line;
mod model;
mod only_read;
mod pictures;
mod served;
mod slow;
mod table;
mod views;
mod wrong;
