//! Language-model providers: one blocking call, whatever stands behind it.
//!
//! [`open`] turns a [`Model`] and a [`Config`] into an [`Endpoint`]; [`Endpoint::complete`] sends a
//! [`Request`], reports text as it streams in, and ends with a [`Reply`] or a [`Failure`] that says
//! what to do. [`Recorder`], [`Replayer`] and [`Journal`] keep exchanges in a folder, [`Meter`] holds
//! them to a budget, [`list`] says what can be reached.
//!
//! Nothing here reads the environment by itself: [`Config`] carries a function that does.

mod answer;
mod complaint;
mod config;
mod difference;
mod endpoint;
mod failure;
mod journal;
mod keys;
mod list;
mod live;
mod meter;
mod model;
mod network;
mod offer;
mod prices;
mod provider;
mod record;
mod recorder;
mod replayer;
mod reply;
mod request;
mod retry;
mod schema;
mod secret;
mod sse;
mod target;
mod transfer;
mod wire;

pub use config::{Config, Environment, Limits};
pub use endpoint::{Endpoint, Progress, Stop};
pub use failure::Failure;
pub use journal::Journal;
pub use keys::{KEYS_FILE, Key};
pub use list::{KeyState, Reachable, list};
pub use live::{Live, open};
pub use meter::{Cap, Caps, Meter, Spent};
pub use model::Model;
pub use offer::Offer;
pub use prices::{Price, Prices};
pub use provider::Provider;
pub use record::{Exchange, FORMAT};
pub use recorder::Recorder;
pub use replayer::Replayer;
pub use reply::{Finish, Reply, Usage};
pub use request::{Message, Request, Tool, ToolCall, estimate_tokens};
pub use schema::Schema;
pub use secret::{Secret, redact};
