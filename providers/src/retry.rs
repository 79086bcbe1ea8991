//! When to try again: full jitter, and what the server says about it.

use crate::config::Limits;
use reqwest::header::HeaderMap;
use std::hash::{BuildHasher as _, Hasher as _};
use std::time::{Duration, SystemTime};

/// Why there is no further attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Enough {
    /// As many as allowed have been made.
    Attempts,
    /// The wait would be too long.
    Wait,
}

/// The wait before the next attempt, when `made` have been made and `left` is left of the total. It is
/// drawn evenly from zero to a bound that doubles each time (full jitter: clients that failed together
/// do not come back together), on top of what the server asks for.
pub(crate) fn wait(
    limits: &Limits,
    made: u32,
    left: Duration,
    asked: Option<Duration>,
    draw: f64,
) -> Result<Duration, Enough> {
    if made >= limits.attempts {
        return Err(Enough::Attempts);
    }
    let bound = limits
        .backoff
        .saturating_mul(
            1_u32
                .checked_shl(made.saturating_sub(1))
                .unwrap_or(u32::MAX),
        )
        .min(limits.longest_wait);
    let wait = match asked {
        Some(asked) if asked > limits.longest_wait => return Err(Enough::Wait),
        Some(asked) => asked + limits.backoff.mul_f64(draw),
        None => bound.mul_f64(draw),
    };
    if wait >= left {
        Err(Enough::Wait)
    } else {
        Ok(wait)
    }
}

/// A number from 0 to 1 that differs from process to process and call to call.
pub(crate) fn draw() -> f64 {
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u8(0);
    (hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64
}

/// What `Retry-After` asks for: seconds, a date, or milliseconds under OpenAI's own name.
pub(crate) fn asked(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(millis) = header("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok())
    {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let text = header("retry-after")?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(text).ok()?;
    // A date that has passed means now.
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    fn limits() -> Limits {
        Limits {
            attempts: 4,
            ..Limits::default()
        }
    }

    const LONG: Duration = Duration::from_hours(1);

    #[test]
    fn waits_are_drawn_below_a_bound_that_doubles() {
        for (made, bound) in [(1, 1), (2, 2), (3, 4)] {
            let wait = |draw| wait(&limits(), made, LONG, None, draw).unwrap();
            assert_eq!(wait(0.0), Duration::ZERO);
            assert_eq!(wait(0.5), Duration::from_millis(500 * bound));
        }
        assert_eq!(wait(&limits(), 4, LONG, None, 0.5), Err(Enough::Attempts));
        let many = Limits {
            attempts: 99,
            ..limits()
        };
        assert_eq!(wait(&many, 60, LONG, None, 1.0), Ok(many.longest_wait));
    }

    #[test]
    fn the_server_is_waited_for_unless_it_wants_too_much() {
        let asked = |seconds| Some(Duration::from_secs(seconds));
        assert!(wait(&limits(), 1, LONG, asked(7), 0.0).unwrap() >= Duration::from_secs(7));
        assert_eq!(wait(&limits(), 1, LONG, asked(61), 0.0), Err(Enough::Wait));
        assert_eq!(
            wait(&limits(), 1, Duration::from_secs(5), asked(7), 0.0),
            Err(Enough::Wait)
        );
    }

    #[test]
    fn draws_differ_and_stay_in_range() {
        let draws: Vec<f64> = (0..100).map(|_| draw()).collect();
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        assert!(draws.iter().any(|draw| (draw - draws[0]).abs() > 0.01));
    }

    #[test]
    fn retry_after_is_read_in_every_form() {
        let now = httpdate::parse_http_date("Wed, 21 Oct 2026 07:28:00 GMT").unwrap();
        for (name, value, seconds) in [
            ("retry-after", "12", Some(12.0)),
            ("retry-after", "0.25", Some(0.25)),
            ("retry-after-ms", "1500", Some(1.5)),
            ("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT", Some(30.0)),
            ("retry-after", "Wed, 21 Oct 2026 07:27:00 GMT", Some(0.0)),
            ("retry-after", "soon", None),
            ("retry-after", "-3", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::from_static(value));
            assert_eq!(
                asked(&headers, now).map(|d| d.as_secs_f64()),
                seconds,
                "{value}"
            );
        }
    }
}
