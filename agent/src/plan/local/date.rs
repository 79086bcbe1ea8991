//! Today's date, as templates of conversations want it.

use std::time::{SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Today in UTC, in a format of C's `strftime`. Of its directives those of dates are known; others stay.
pub fn today(format: &str) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let days = since.map_or(0, |since| since.as_secs() / 86_400);
    written(days, format)
}

fn written(days: u64, format: &str) -> String {
    let (year, month, day) = civil(days);
    let name = MONTHS[month as usize - 1];
    let mut text = String::new();
    let mut rest = format.chars();
    while let Some(char) = rest.next() {
        if char != '%' {
            text.push(char);
            continue;
        }
        let directive = rest.next().unwrap_or('%');
        match directive {
            'Y' => text += &year.to_string(),
            'm' => text += &two(month),
            'd' => text += &two(day),
            'B' => text += name,
            'b' => text += &name[..3],
            '%' => text.push('%'),
            other => {
                text.push('%');
                text.push(other);
            }
        }
    }
    text
}

fn two(number: u64) -> String {
    format!("{number:02}")
}

/// Year, month and day so many days after 1970-01-01: the algorithm of Howard Hinnant, "chrono-compatible low-level
/// date algorithms", for years that begin in March.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        for (days, text) in [
            (0, "01 Jan 1970"),
            (11_016, "29 Feb 2000"),
            (19_723, "01 Jan 2024"),
            (20_088, "31 Dec 2024"),
        ] {
            assert_eq!(written(days, "%d %b %Y"), text);
        }
        assert_eq!(written(19_723, "%B %m %% %H"), "January 01 % %H");
        assert_eq!(today("%Y").len(), 4);
    }
}
