//! The vocabulary of kurabe, shared by all other crates. This crate does no I/O, except for reading
//! files from outside up to a size limit ([`outside`]), and it reads no clock.

mod data_file;
mod error;
mod measure;
mod system_words;
pub mod target_name;
mod text;

pub mod company;
pub mod device;
pub mod digest;
pub mod display;
pub mod environment;
pub mod event;
pub mod foreseen;
pub mod glib_random;
pub mod imported;
pub mod issue;
pub mod library;
pub mod listed;
pub mod made;
pub mod mention;
pub mod model;
pub mod number;
pub mod output_path;
pub mod outside;
pub mod phrases;
pub mod process;
pub mod profile;
pub mod quantity;
pub mod random;
pub mod record;
pub mod shown;
pub mod split;
pub mod steady;
pub mod toml_text;
pub mod trace;
pub mod words;
pub mod workload;

pub use data_file::{DataFile, DataTable, Value, closest, nearest, nearest_of_many};
pub use error::{Error, ErrorKind, Place, Result};
pub use text::{Lang, Text};
