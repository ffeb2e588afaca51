//! Numbers in labels.

/// Numbers outside of `SMALL..LARGE` are written with a power of ten.
const LARGE: f64 = 1e6;
const SMALL: f64 = 1e-4;

/// At most `digits` significant digits: 0.01, 1, 10,000, 4×10⁷², 10⁻⁹.
pub(super) fn number(value: f64, digits: usize) -> String {
    let rounded = format!("{:.*e}", digits.saturating_sub(1), value).parse().unwrap_or(value);
    match value == 0.0 || (SMALL..LARGE).contains(&value.abs()) {
        true => plainly(rounded),
        false => scientific(rounded),
    }
}

/// All significant digits, without a power of ten: 0.00001, 1,000,000.
pub(super) fn plainly(value: f64) -> String {
    // At most 12 digits hide rounding errors such as 0.30000000000000004.
    let rounded: f64 = format!("{value:.11e}").parse().unwrap_or(value);
    grouped(&(rounded + 0.0).to_string())
}

fn scientific(value: f64) -> String {
    let text = format!("{value:e}");
    let parts = text
        .split_once('e')
        .and_then(|(factor, power)| Some(times_power(factor.parse().ok()?, power.parse().ok()?)));
    parts.unwrap_or(text)
}

/// A factor, omitted if it is 1, times a power of ten: 10⁻⁹, 4×10⁷², 1.
pub(super) fn times_power(factor: f64, power: i32) -> String {
    if power == 0 {
        return factor.to_string();
    }
    let power: String = power.to_string().chars().map(superscript).collect();
    match factor {
        1.0 => format!("10{power}"),
        -1.0 => format!("-10{power}"),
        _ => format!("{factor}×10{power}"),
    }
}

/// With `decimals` digits after the decimal point, for the ticks of one axis.
pub(super) fn fixed(value: f64, decimals: usize) -> String {
    // Multiples of a step may be slightly below zero, which would be written "-0.0".
    let value = if value.abs() < 0.5 * 10f64.powi(-(decimals as i32)) { 0.0 } else { value };
    grouped(&format!("{value:.decimals$}"))
}

/// With commas between thousands if there are at least five digits.
fn grouped(text: &str) -> String {
    let end = text.find('.').unwrap_or(text.len());
    let start = usize::from(text.starts_with('-'));
    if end - start < 5 {
        return text.to_string();
    }
    let comma = |i: usize| i > start && i < end && (end - i).is_multiple_of(3);
    let pieces =
        text.char_indices().flat_map(|(i, c)| comma(i).then_some(',').into_iter().chain([c]));
    pieces.collect()
}

fn superscript(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        _ => digit.to_digit(10).and_then(|d| char::from_u32(0x2070 + d)).unwrap_or(digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_have_powers_of_ten_only_where_needed() {
        let cases = [
            (0.01, "0.01"),
            (0.1 + 0.2, "0.3"),
            (1.0, "1"),
            (1000.0, "1000"),
            (10_000.0, "10,000"),
            (-123_456.0, "-123,456"),
            (1e-9, "10⁻⁹"),
            (4.15e81, "4.15×10⁸¹"),
            (0.0, "0"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value, 6), text);
        }
        assert_eq!((fixed(-1e-17, 1), fixed(8300.25, 2)), ("0.0".into(), "8300.25".into()));
    }
}
