//! The price of I/O: what a program asks of its storage, counted; what that takes on devices that are not at hand, computed; and
//! what changed since another time.
//!
//! The model: a [`ProgramRecording`] is every request that reached the device, in order. Its counts are exact, whatever else the machine
//! does; its seconds are those of a panel of models in virtual time. A [`Bill`] is made of several recordings of one
//! program: a count that is the same in all of them is compared exactly, one that varies by its interval.

mod bill;
mod budget;
mod change;
mod count;
mod panel;
mod recording;

pub use bill::{
    Bill, BillFacts, CountValues, DevicePrice, FileBill, PhaseBill, RepeatedValue, TimeShareName,
};
pub use budget::{Budget, BudgetLine};
pub use change::{ChangeCause, Changes, CountChange, PriceChange};
pub use count::{COUNTS, Count, CountUnit, RequestCounts};
pub use panel::{PANELS, Panel, PanelDevice, device_below};
pub use recording::ProgramRecording;
