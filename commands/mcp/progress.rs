//! Signs of life of a request that takes long.
//!
//! Rule: docs/spec/mcp.md, section 3.2.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::body::Body;
use super::connection::Outbox;

/// How often it is told, and after how long first.
const EVERY: Duration = Duration::from_secs(1);

/// Tells that a request is in work, until it is dropped.
pub struct Progress(Arc<Clock>);

#[derive(Default)]
struct Clock {
    is_over: Mutex<bool>,
    over: Condvar,
}

impl Clock {
    fn is_over(&self) -> MutexGuard<'_, bool> {
        self.is_over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    /// `token` is the JSON text of what the client calls it.
    pub fn begin(token: String, outbox: Outbox) -> Self {
        let clock = Arc::<Clock>::default();
        let own = Arc::clone(&clock);
        thread::spawn(move || {
            let mut is_over = own.is_over();
            for seconds in 1_u64.. {
                let waited = own.over.wait_timeout_while(is_over, EVERY, |is_over| !*is_over);
                is_over = waited.unwrap_or_else(PoisonError::into_inner).0;
                if *is_over {
                    return;
                }
                let params = Body::new().with_json("progressToken", &token);
                let params = params.with("progress", &seconds).json();
                let message = Body::new()
                    .with("jsonrpc", &"2.0")
                    .with("method", &"notifications/progress")
                    .with_json("params", &params);
                // Under the lock, so that none comes after the answer.
                outbox(&message.json());
            }
        });
        Self(clock)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        *self.0.is_over() = true;
        self.0.over.notify_all();
    }
}
