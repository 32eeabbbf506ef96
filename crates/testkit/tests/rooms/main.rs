//! The integration tests of rooms that have only a few, linked once.

mod compare;
mod corpus;
mod exchange;
mod explain;
mod first_sentences;
mod glyphs;
mod host;
mod needs;
mod places;
mod profiles;
mod runs;
mod study;
