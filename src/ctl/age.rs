use crate::model::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// The time from `from` to `now` as kubectl writes it, such as `5d3h`. Clocks that differ don't
/// make it negative.
pub(super) fn age(from: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(from.as_second()).max(0);
    match seconds {
        ..120 => format!("{seconds}s"),
        120..600 => two(seconds, MINUTE, "m", 1, "s"),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => two(seconds, HOUR, "h", MINUTE, "m"),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => two(seconds, DAY, "d", HOUR, "h"),
        691_200..63_072_000 => format!("{}d", seconds / DAY),
        63_072_000..252_288_000 => two(seconds, YEAR, "y", DAY, "d"),
        _ => format!("{}y", seconds / YEAR),
    }
}

fn two(seconds: i64, large: i64, large_unit: &str, small: i64, small_unit: &str) -> String {
    match seconds % large / small {
        0 => format!("{}{large_unit}", seconds / large),
        rest => format!("{}{large_unit}{rest}{small_unit}", seconds / large),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;

    #[test]
    fn ages_are_written_as_kubectl_writes_them() {
        for (seconds, expected) in [
            (-5, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (121, "2m1s"),
            (601, "10m"),
            (10_799, "179m"),
            (10_860, "3h1m"),
            (28_800, "8h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (5 * DAY + 3 * HOUR, "5d3h"),
            (8 * DAY + HOUR, "8d"),
            (729 * DAY, "729d"),
            (2 * YEAR + 3 * DAY, "2y3d"),
            (9 * YEAR, "9y"),
        ] {
            let now = Timestamp::from_second(1_700_000_000).expect("a time");
            let from = Timestamp::from_second(1_700_000_000 - seconds).expect("a time");
            assert_eq!(age(from, now), expected);
        }
    }
}
