use std::net::IpAddr;

pub(super) fn seed(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let valid = "expected a number from 0 to 2^64-1, in decimal or hexadecimal (0x...)";
    number.ok_or_else(|| valid.to_owned())
}

pub(super) fn seed_range(text: &str) -> Result<(u64, u64), String> {
    let (from, to) =
        text.split_once("..").ok_or_else(|| "expected A..B, like 0..1000".to_owned())?;
    let range = (seed(from)?, seed(to)?);
    if range.0 < range.1 {
        Ok(range)
    } else {
        Err("expected A..B with A below B, like 0..1000".to_owned())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seeds {
    Range(u64, u64),
    /// The N seeds after those recorded in the findings store.
    Next(u64),
}

pub(super) fn seeds(text: &str) -> Result<Seeds, String> {
    let Some(count) = text.strip_prefix('+') else {
        return seed_range(text).map(|(from, to)| Seeds::Range(from, to));
    };
    let count = count.parse().ok().filter(|count| *count > 0);
    count.map(Seeds::Next).ok_or_else(|| "expected +N with N at least 1, like +1000".to_owned())
}

pub(super) fn memory(text: &str) -> Result<u64, String> {
    let expected = || "expected a number of bytes, like 512mb or 4gb".to_owned();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1 << 10,
        "mb" => 1 << 20,
        "gb" => 1 << 30,
        _ => return Err(expected()),
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(expected)
}

pub(super) fn ensemble(text: &str) -> Result<u16, String> {
    let size = text.parse().ok().filter(|size| matches!(size, 1 | 3 | 5));
    size.ok_or_else(|| "expected 1, 3 or 5".to_owned())
}

pub(super) fn ip_address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| "expected an IP address, like 127.0.0.1 or ::1".to_owned())
}

pub(super) fn shard(text: &str) -> Result<(u32, u32), String> {
    let expected = || "expected m/n with 1 <= m <= n, like 2/8".to_owned();
    let (index, count) = text.split_once('/').ok_or_else(expected)?;
    let (index, count) =
        (index.parse().map_err(|_| expected())?, count.parse().map_err(|_| expected())?);
    if (1..=count).contains(&index) { Ok((index, count)) } else { Err(expected()) }
}
