//! How long to wait before a question is asked again.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Waits that double, each with a random part so that many askers do not return at once.
#[derive(Debug, Clone, Copy)]
pub struct Backoff {
    /// The first wait, at most.
    pub first: Duration,
    /// No wait is longer. A server that wants a longer one is not asked again.
    pub longest: Duration,
}

impl Backoff {
    /// The wait after an attempt (from 0). `wanted` is what the server asked for. None if that is
    /// longer than anyone waits.
    pub fn pause(self, attempt: u32, wanted: Option<Duration>) -> Option<Duration> {
        if wanted.is_some_and(|wanted| wanted > self.longest) {
            return None;
        }
        let doubled = self.first.saturating_mul(1 << attempt.min(20));
        let most = doubled.min(self.longest);
        let jittered = most.mul_f64(0.5 + 0.5 * random_part());
        Some(wanted.map_or(jittered, |wanted| wanted.max(jittered)))
    }
}

/// 0 to 1, from what the system seeds hash tables with.
fn random_part() -> f64 {
    let bits = RandomState::new().hash_one(0_u8) >> 11;
    bits as f64 / (1_u64 << 53) as f64
}

/// What a header `Retry-After` asks for: a number of seconds, or a date of HTTP.
pub fn retry_after(header: &str) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(Duration::from_secs(http_date(header)?).saturating_sub(now))
}

/// Seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    let parts: Vec<&str> = text.split_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = parts[..] else {
        return None;
    };
    let month = MONTHS
        .find(month)
        .filter(|at| at % 3 == 0 && month.len() == 3)?
        / 3;
    let (day, year) = (day.parse::<u64>().ok()?, year.parse::<u64>().ok()?);
    let clock: Vec<u64> = time
        .split(':')
        .filter_map(|part| part.parse().ok())
        .collect();
    let [hour, minute, second] = clock[..] else {
        return None;
    };
    if !(1970..=9999).contains(&year) || !(1..=31).contains(&day) {
        return None;
    }
    // Years that begin in March, so that a leap day is the last one.
    let (year, month) = if month < 2 {
        (year - 1, month + 10)
    } else {
        (year, month - 2)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    let day_of_year = (153 * month as u64 + 2) / 5 + day - 1;
    let days = (year * 365 + leap_days + day_of_year).checked_sub(719_468)?;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff = Backoff {
        first: Duration::from_millis(100),
        longest: Duration::from_secs(2),
    };

    #[test]
    fn waits_double_up_to_the_longest() {
        for (attempt, most) in [(0, 100), (1, 200), (3, 800), (9, 2000), (60, 2000)] {
            for _ in 0..20 {
                let wait = BACKOFF.pause(attempt, None).unwrap();
                let most = Duration::from_millis(most);
                assert!(wait <= most && wait >= most / 2, "{wait:?}");
            }
        }
        let waits = (0..20).map(|_| BACKOFF.pause(0, None).unwrap());
        assert!(waits.collect::<std::collections::HashSet<_>>().len() > 1);
    }

    #[test]
    fn what_the_server_wants_counts() {
        let wanted = |seconds| BACKOFF.pause(0, Some(Duration::from_secs(seconds)));
        assert_eq!(wanted(1), Some(Duration::from_secs(1)));
        assert_eq!(wanted(3), None);
        assert!(wanted(0).unwrap() <= Duration::from_millis(100));
    }

    #[test]
    fn both_forms_of_the_header_are_read() {
        assert_eq!(retry_after(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(
            http_date("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(784_111_777)
        );
        assert_eq!(
            http_date("Thu, 29 Feb 2024 00:00:00 GMT"),
            Some(1_709_164_800)
        );
        assert_eq!(
            retry_after("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(Duration::ZERO)
        );
        for wrong in [
            "",
            "-1",
            "soon",
            "Sun, 06 Xyz 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49 GMT",
        ] {
            assert_eq!(retry_after(wrong), None, "{wrong}");
        }
    }
}
