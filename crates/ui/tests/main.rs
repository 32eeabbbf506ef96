//! The page as its users and its attackers see it.

mod any_bytes;
mod attacks;
mod client;
mod slow;
