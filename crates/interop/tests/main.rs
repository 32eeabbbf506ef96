//! The integration tests of this crate, linked once.

mod cases;
mod consumer_results;
mod export_fio;
mod export_fio_json;
mod export_metrics;
mod export_support;
mod export_texts;
mod fio_page;
mod generated_page;
mod hostile;
mod import_laws;
mod job;
mod pasted;
mod shapes;
#[cfg(feature = "tables")]
mod tables;
mod trace_fio;
