//! Recording runs, and showing recordings.

mod focus;
mod gaps;
mod record;
mod show;
mod store;

pub use focus::Focus;
pub use gaps::gaps;
pub use record::{Recorded, Settings, Subject, record, source};
pub use show::{Filter, show};
pub use store::{latest, new_folder};
