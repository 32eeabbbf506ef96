//! Output for publication: pages, cards, charts.

pub(crate) mod card;
pub(crate) mod page;
pub(crate) mod pictures;
pub(crate) mod report_format;

pub use card::card;
pub use page::{Embedded, MOST_PAGE_BYTES, PAGE_SCRIPT, Page, Report, page_style};
pub use pictures::{PICTURE_NAMES, Picture, charts_of, forests, further_charts, pictures, render_pictures};
pub use report_format::{MadeReport, ReportFormat};
