//! Moments: microseconds since 1970, UTC, as every event carries them.

use std::fmt;
use std::str::FromStr;

use time::{Date, Month, OffsetDateTime};

use crate::id::shown;

/// A moment in UTC, to the microsecond, in the years 1 to 9999.
///
/// Written `YYYY-MM-DDTHH:MM:SS.ffffffZ`. The clock is read by commands only; the library is
/// given its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

/// A text that names no moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is no time: use 2026-11-30T10:00:00Z (RFC 3339) or @SECONDS since 1970", shown(.0))]
pub struct TimeError(String);

const MICROS: i64 = 1_000_000;
const FIRST: i64 = -62_135_596_800 * MICROS;
const LAST: i64 = 253_402_300_800 * MICROS - 1;

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);

    /// The moment so many microseconds after 1970; clamped to the years 1 to 9999.
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        Self(micros.clamp(FIRST, LAST))
    }

    /// Microseconds since 1970.
    #[must_use]
    pub fn micros(self) -> i64 {
        self.0
    }

    /// Appends the 27 characters of the text form.
    pub fn write(self, out: &mut String) {
        let moment = OffsetDateTime::from_unix_timestamp(self.0.div_euclid(MICROS))
            .expect("a timestamp lies in the years 1 to 9999");
        let mut text = *b"0000-00-00T00:00:00.000000Z";
        let parts: [(usize, usize, u32); 7] = [
            (0, 4, moment.year().unsigned_abs()),
            (5, 2, u8::from(moment.month()).into()),
            (8, 2, moment.day().into()),
            (11, 2, moment.hour().into()),
            (14, 2, moment.minute().into()),
            (17, 2, moment.second().into()),
            (20, 6, self.0.rem_euclid(MICROS) as u32),
        ];
        for (at, width, number) in parts {
            let mut rest = number;
            for digit in text[at..at + width].iter_mut().rev() {
                *digit += (rest % 10) as u8;
                rest /= 10;
            }
        }
        out.push_str(std::str::from_utf8(&text).expect("digits are ASCII"));
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::with_capacity(27);
        self.write(&mut out);
        f.write_str(&out)
    }
}

crate::serde_as_text!(Timestamp);

/// `YYYY-MM-DD`, then nothing (midnight UTC) or `T` or a space and `HH:MM[:SS[.fraction]]` and `Z`
/// or `±HH:MM`; or `@SECONDS[.fraction]`. Digits past the microsecond are cut.
impl FromStr for Timestamp {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        read(text)
            .filter(|micros| (FIRST..=LAST).contains(micros))
            .map(Self)
            .ok_or_else(|| TimeError(text.to_owned()))
    }
}

fn read(text: &str) -> Option<i64> {
    if !text.is_ascii() {
        return None;
    }
    if let Some(seconds) = text.strip_prefix('@') {
        let (sign, seconds) = match seconds.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, seconds),
        };
        let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
        return Some(sign * (number(whole)?.checked_mul(MICROS)? + micros(fraction)?));
    }
    let (date, clock) = match text.split_at_checked(10)? {
        (date, "") => (date, "00:00Z"),
        (date, rest) => (date, rest.strip_prefix(['T', 't', ' '])?),
    };
    let mut parts = date.split('-');
    let year = i32::try_from(number(parts.next().filter(|part| part.len() == 4)?)?).ok()?;
    let month = Month::try_from(u8::try_from(two(parts.next()?)?).ok()?).ok()?;
    let day = u8::try_from(two(parts.next()?)?).ok()?;
    let date = Date::from_calendar_date(year, month, day).ok()?;
    let zone_at = clock.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = clock.split_at(zone_at);
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let (hours, minutes) = zone[1..].split_once(':')?;
            let minutes = within(two(hours)?, 23)? * 60 + within(two(minutes)?, 59)?;
            if zone.starts_with('-') { -minutes } else { minutes }
        }
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.split(':');
    let hours = within(two(parts.next()?)?, 23)?;
    let minutes = within(two(parts.next()?)?, 59)?;
    let seconds = parts.next().map_or(Some(0), |part| within(two(part)?, 59))?;
    if parts.next().is_some() || fraction.is_empty() {
        return None;
    }
    let days = i64::from(date.to_julian_day()) - 2_440_588;
    let seconds = days * 86_400 + (hours * 60 + minutes - offset) * 60 + seconds;
    Some(seconds * MICROS + micros(fraction)?)
}

fn number(digits: &str) -> Option<i64> {
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if all_digits { digits.parse().ok() } else { None }
}

fn two(digits: &str) -> Option<i64> {
    if digits.len() == 2 { number(digits) } else { None }
}

fn within(number: i64, most: i64) -> Option<i64> {
    (number <= most).then_some(number)
}

fn micros(fraction: &str) -> Option<i64> {
    if fraction.is_empty() {
        return Some(0);
    }
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    format!("{:0<6}", &fraction[..fraction.len().min(6)]).parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_what_people_and_programs_write() {
        let at = |text: &str| text.parse::<Timestamp>().map(|time| time.to_string());
        let noon = Ok("2026-11-30T12:00:00.000000Z".to_owned());
        assert_eq!(at("2026-11-30T12:00:00Z"), noon);
        assert_eq!(at("2026-11-30T12:00Z"), noon);
        assert_eq!(at("2026-11-30 13:30:00.000000+01:30"), noon);
        assert_eq!(at("2026-11-30T09:00:00.0000009-03:00"), noon);
        assert_eq!(at("@1796040000"), noon);
        assert_eq!(at("@0.5").unwrap(), "1970-01-01T00:00:00.500000Z");
        assert_eq!(at("@-0.5").unwrap(), "1969-12-31T23:59:59.500000Z");
        assert_eq!(at("2024-02-29").unwrap(), "2024-02-29T00:00:00.000000Z");
    }

    #[test]
    fn refuses_what_names_no_moment() {
        for text in [
            "",
            "now",
            "2026-13-01",
            "2025-02-29",
            "2026-11-30T24:00Z",
            "2026-11-30T10:00",
            "2026-11-30T10:00:00.Z",
            "2026-1-30T10:00Z",
            "@",
            "@x",
            "@99999999999999999999",
            "2026-11-30T10:60Z",
            "2026-11-30T10:00+1:00",
            "0000-01-01",
            "２026-11-30",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_text_form_reads_back_and_sorts(a in FIRST..=LAST, b in FIRST..=LAST) {
            let (a, b) = (Timestamp(a), Timestamp(b));
            prop_assert_eq!(a.to_string().parse(), Ok(a));
            prop_assert_eq!(a.to_string().cmp(&b.to_string()), a.cmp(&b));
            prop_assert_eq!(a.to_string().len(), 27);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
            let _ = text.parse::<Timestamp>();
        }
    }
}
