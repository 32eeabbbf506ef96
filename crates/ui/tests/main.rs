//! The page as its users and its attackers see it.

mod any_bytes;
mod attacks;
mod browsing;
mod client;
mod line;
mod slow;
