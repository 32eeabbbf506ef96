//! The page as its users and its attackers see it.
