//! The page as its users and its attackers see it.

// Why a test is skipped.
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
mod wrong;
