//! MKEP-TIME/1: moments of the caller's clock, to the second.
//!
//! Rule: docs/spec/mkep.md, section 3.

use std::fmt;

use time::{Date, Month, OffsetDateTime};

use super::error::{Code, Refusal};
use super::json::Json;

/// A moment in UTC in the years 1970 to 9999, in seconds since 1970.
///
/// Fractions are cut off. Since every stored deadline is a whole second, comparisons come out as they
/// would with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(i64);

/// The first second of the year 10000.
const END: i64 = 253_402_300_800;

impl Moment {
    /// Reads `YYYY-MM-DDTHH:MM:SS`, optionally `.` and 1 to 6 digits, then `Z` or `±HH:MM`.
    ///
    /// # Errors
    /// In this order: no string; the same form without an offset; any other form; no moment; a year
    /// outside 1970 to 9999, as written or in UTC. The details are empty.
    pub fn read(value: &Json) -> Result<Self, Refusal> {
        let Json::Text(text) = value else {
            return Err(Refusal::new(Code::Type, "a time is a string", []));
        };
        let format = || Refusal::new(Code::TimeFormat, "not a time of MKEP-TIME/1", []);
        let (clock, zone) = split(text.as_str().ok_or_else(format)?).ok_or_else(format)?;
        let Some(zone) = zone else {
            return Err(Refusal::new(Code::TimeNaive, "the time has no offset from UTC", []));
        };
        moment(clock, zone).ok_or_else(format)
    }

    /// The moment so many seconds later.
    ///
    /// # Errors
    /// [`Code::TimeFormat`] after the year 9999.
    pub fn plus(self, seconds: i64) -> Result<Self, Refusal> {
        match self.0.checked_add(seconds).filter(|later| *later < END) {
            Some(later) => Ok(Self(later)),
            None => Err(Refusal::new(Code::TimeFormat, "the time is after the year 9999", [])),
        }
    }

    /// Seconds since 1970.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.0
    }

    /// The moment so many seconds after 1970, if it is one.
    #[must_use]
    pub fn from_seconds(seconds: i64) -> Option<Self> {
        (0..END).contains(&seconds).then_some(Self(seconds))
    }
}

/// Splits a text of the right form into its date and clock, and its offset if it has one.
fn split(text: &str) -> Option<(&str, Option<&str>)> {
    let has_form = |part: &str, form: &str| {
        part.len() == form.len()
            && part.bytes().zip(form.bytes()).all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                wanted => byte == wanted,
            })
    };
    let (clock, mut rest) = text.split_at_checked(19)?;
    if !has_form(clock, "0000-00-00T00:00:00") {
        return None;
    }
    if let Some(fraction) = rest.strip_prefix('.') {
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if !(1..=6).contains(&digits) {
            return None;
        }
        rest = &fraction[digits..];
    }
    let is_offset = || has_form(rest, "+00:00") || has_form(rest, "-00:00");
    match rest {
        "" => Some((clock, None)),
        "Z" => Some((clock, Some("+00:00"))),
        _ => is_offset().then_some((clock, Some(rest))),
    }
}

fn moment(clock: &str, zone: &str) -> Option<Moment> {
    let number = |text: &str, at: usize| text[at..at + 2].parse::<u8>().ok();
    let below = |number: u8, bound: u8| (number < bound).then_some(i64::from(number));
    let year = clock[..4].parse().ok().filter(|year| *year >= 1970)?;
    let month = Month::try_from(number(clock, 5)?).ok()?;
    let date = Date::from_calendar_date(year, month, number(clock, 8)?).ok()?;
    let hours = below(number(clock, 11)?, 24)?;
    let minutes = below(number(clock, 14)?, 60)?;
    let seconds = below(number(clock, 17)?, 60)?;
    let offset = below(number(zone, 1)?, 24)? * 60 + below(number(zone, 4)?, 60)?;
    let offset = if zone.starts_with('-') { -offset } else { offset };
    let days = i64::from(date.to_julian_day()) - 2_440_588;
    Moment::from_seconds(days * 86_400 + (hours * 60 + minutes - offset) * 60 + seconds)
}

/// The canonical form, `YYYY-MM-DDTHH:MM:SSZ`.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = OffsetDateTime::from_unix_timestamp(self.0)
            .expect("a moment lies in the years 1970 to 9999");
        let (date, clock) = (moment.date(), moment.time());
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            date.year(),
            u8::from(date.month()),
            date.day(),
            clock.hour(),
            clock.minute(),
            clock.second()
        )
    }
}

impl From<Moment> for Json {
    fn from(moment: Moment) -> Self {
        moment.to_string().into()
    }
}
