//! Imports that most pages need. A page uses `use super::kit::*` and imports everything else
//! explicitly.

pub(super) use super::Made;
pub(super) use super::frame::{
    choice, compare_address, encoded, profiles, to_compare, ways_to, without_script, written,
};
pub(super) use super::run::MARGIN;
pub(super) use super::search::Search;
pub(super) use crate::message::{Message, usage};
pub(super) use crate::shared::{App, Site, locked};
pub(super) use axum::Json;
pub(super) use axum::extract::{Path, Query};
pub(super) use kurabe_compare::NAME_LABEL;
pub(super) use kurabe_core::quantity::format_bytes;
pub(super) use kurabe_core::record::RunRecord;
pub(super) use kurabe_core::{Error, ErrorKind, Lang, Result, Text, number, shown, text};
pub(super) use kurabe_profile::profile_named;
pub(super) use kurabe_report::Report;
pub(super) use maud::{Markup, html};
pub(super) use serde::Deserialize;
pub(super) use serde_json::json;
pub(super) use std::sync::Mutex;
