//! How the tests render, and the runs of the kit.

pub use kurabe_testkit::ssd::*;
pub use kurabe_testkit::{kinds, stories};

use kurabe_core::Lang;
use kurabe_report::Style;

pub fn style(lang: Lang, width: usize) -> Style {
    Style { lang, color: false, width }
}
