//! Moments for people: local time. JSON has milliseconds since 1970, which are the same everywhere.

use std::sync::OnceLock;

use tz::TimeZone;

/// A moment with its time zone, as in `2026-11-15 03:59:00 CET`.
pub fn zoned(unix_ms: u64) -> String {
    let (text, zone) = shown(unix_ms, local());
    format!("{text} {zone}")
}

/// A moment without its zone, for lines that begin with one.
pub fn plain(unix_ms: u64) -> String {
    shown(unix_ms, local()).0
}

/// The time of day.
pub fn clock(unix_ms: u64) -> String {
    let text = plain(unix_ms);
    text.split_once(' ').map_or_else(|| text.clone(), |(_, time)| time.to_owned())
}

/// What `TZ` says, or `/etc/localtime`; UTC where neither can be read.
fn local() -> &'static TimeZone {
    static LOCAL: OnceLock<TimeZone> = OnceLock::new();
    LOCAL.get_or_init(|| {
        let zone = match std::env::var("TZ") {
            Ok(name) if name.is_empty() => Ok(TimeZone::utc()),
            Ok(name) => TimeZone::from_posix_tz(&name),
            Err(_) => TimeZone::local(),
        };
        zone.unwrap_or_else(|_| TimeZone::utc())
    })
}

fn shown(unix_ms: u64, zone: &TimeZone) -> (String, String) {
    let seconds = i64::try_from(unix_ms / 1000).unwrap_or(i64::MAX);
    let local = zone.find_local_time_type(seconds);
    let (offset, name) = local
        .map_or((0, "UTC"), |kind| (i64::from(kind.ut_offset()), kind.time_zone_designation()));
    let seconds = u64::try_from(seconds.saturating_add(offset)).unwrap_or(0);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let text = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
    (text, name.to_owned())
}

/// Year, month and day of a count of days since 1970, after Howard Hinnant's `civil_from_days`.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(unix_ms: u64, zone: &str) -> String {
        let (text, zone) = shown(unix_ms, &TimeZone::from_posix_tz(zone).unwrap());
        format!("{text} {zone}")
    }

    #[test]
    fn moments_are_those_of_the_zone() {
        assert_eq!(at(0, "UTC0"), "1970-01-01 00:00:00 UTC");
        assert_eq!(at(951_782_400_000, "UTC0"), "2000-02-29 00:00:00 UTC");
        assert_eq!(at(1_794_715_140_999, "UTC0"), "2026-11-15 03:59:00 UTC");
        let berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
        assert_eq!(at(1_794_715_140_999, berlin), "2026-11-15 04:59:00 CET");
        assert_eq!(at(1_782_864_000_000, berlin), "2026-07-01 02:00:00 CEST");
        assert_eq!(at(1_794_715_140_999, "NPT-5:45"), "2026-11-15 09:44:00 NPT");
    }
}
