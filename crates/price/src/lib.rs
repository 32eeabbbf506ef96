//! The price of I/O: exact counts of a program's requests, their computed time on devices that are not
//! at hand, and changes since an earlier bill.
//!
//! The model: a [`ProgramRecording`] contains every request that reached the device, in order. Its
//! counts are exact, regardless of other load. Its times are those of a panel of models in virtual
//! time. A [`Bill`] combines several recordings of one program: a count that is the same in all of them
//! is compared exactly, a varying one by its interval.

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
pub use change::{ChangeCause, Changes, CountChange, PriceChange, SyscallChange};
pub use count::{COUNTS, Count, CountUnit, RequestCounts};
pub use panel::{PANELS, Panel, PanelDevice, device_below};
pub use recording::ProgramRecording;
