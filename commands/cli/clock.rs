//! What time it is.

use std::time::{SystemTime, UNIX_EPOCH};

use mk::time::Timestamp;

use super::Failure;
use super::actor::variable;

/// What time it is, for events and for leases.
#[derive(Debug, Clone, Copy)]
pub struct Clocks {
    pub events: Clock,
    pub leases: Clock,
}

impl Clocks {
    pub fn new() -> Result<Self, Failure> {
        let events = Clock::new("MK_DATE")?;
        // Who could set the time of leases could take any: only in tests.
        let leases = match cfg!(debug_assertions) {
            true => Clock::new("MK_LEASE_DATE")?,
            false => Clock::Real,
        };
        Ok(Self { events, leases })
    }

    /// The time of events.
    pub fn now(self) -> Timestamp {
        self.events.now()
    }
}

#[derive(Debug, Clone, Copy)]
pub enum Clock {
    Real,
    Pinned(Timestamp),
}

impl Clock {
    /// Pinned to the time in an environment variable, if that is set.
    fn new(name: &str) -> Result<Self, Failure> {
        Ok(match variable(name)? {
            Some(date) => Self::Pinned(
                date.parse().map_err(|error| Failure::usage(format!("{name}: {error}")))?,
            ),
            None => Self::Real,
        })
    }

    pub fn now(self) -> Timestamp {
        match self {
            Self::Pinned(time) => time,
            Self::Real => {
                #[expect(clippy::disallowed_methods, reason = "the edge is where time comes in")]
                let now = SystemTime::now();
                let micros = match now.duration_since(UNIX_EPOCH) {
                    Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
                    Err(before) => {
                        i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |us| -us)
                    }
                };
                Timestamp::from_micros(micros)
            }
        }
    }
}
