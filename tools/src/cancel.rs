//! A flag that ends everything: set by Ctrl-C and SIGTERM, seen by every loop and every wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared flag; clones see the same flag.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that SIGINT, SIGTERM and SIGHUP set, for the lifetime of the process.
    pub fn on_signals() -> std::io::Result<Self> {
        let cancel = Self::default();
        for signal in [
            signal_hook::consts::SIGINT,
            signal_hook::consts::SIGTERM,
            #[cfg(unix)]
            signal_hook::consts::SIGHUP,
        ] {
            signal_hook::flag::register(signal, Arc::clone(&cancel.0))?;
        }
        Ok(cancel)
    }

    /// Sets the flag.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether the flag is set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
