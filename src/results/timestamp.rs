use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_PER_DAY: u64 = 86_400;

/// Days of four centuries, after which the Gregorian calendar repeats.
const DAYS_PER_ERA: u64 = 146_097;

/// From 1 March of the year 0 to 1 January 1970.
const DAYS_BEFORE_1970: u64 = 719_468;

/// RFC 3339 in UTC, to the second: `2019-06-09T12:00:00Z`. Times before 1970 become its start.
pub fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
    let (year, month, day) = civil_from_days(seconds / SECONDS_PER_DAY);
    let second = seconds % SECONDS_PER_DAY;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of the given day after 1 January 1970.
///
/// Years are counted from March, so that the leap day is the last of its year, and the months from
/// there have periodically 31, 30, 31, 30, 31 days: month m starts on day (153 m + 2) / 5.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_BEFORE_1970;
    let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    // Leap days so far: one in 4 years (1461 days), not in 100 (36524), but in 400.
    let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / (DAYS_PER_ERA - 1);
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn every_day_of_five_centuries_follows_the_one_before() {
        let is_leap = |year: u64| match year.is_multiple_of(100) {
            true => year.is_multiple_of(400),
            false => year.is_multiple_of(4),
        };
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..183_000 {
            assert_eq!(civil_from_days(days), (year, month, day));
            let length = match month {
                2 => 28 + u64::from(is_leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            day += 1;
            if day > length {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
    }

    #[test]
    fn moments_are_written_to_the_second() {
        let moment = |seconds| rfc3339(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(moment(0), "1970-01-01T00:00:00Z");
        assert_eq!(moment(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(rfc3339(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00Z");
    }
}
