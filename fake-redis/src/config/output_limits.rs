use crate::config::{OutputLimit, OutputLimits};

pub(crate) fn show(limits: &OutputLimits) -> String {
    let classes = [("normal", limits.normal), ("slave", limits.replica), ("pubsub", limits.pubsub)];
    let shown = classes.map(|(name, limit)| {
        format!("{name} {} {} {}", limit.hard, limit.soft, limit.soft_seconds)
    });
    shown.join(" ")
}

/// Accepts all limits, or none if one is invalid (`setConfigOutputBufferLimitOption` in config.c).
pub(crate) fn parse(mut limits: OutputLimits, value: &str) -> Result<OutputLimits, &'static str> {
    let words: Vec<&str> = value.split(' ').filter(|word| !word.is_empty()).collect();
    if !words.len().is_multiple_of(4) {
        return Err("Wrong number of arguments in buffer limit configuration.");
    }
    for group in words.chunks_exact(4) {
        let limit = match group[0].to_ascii_lowercase().as_str() {
            "normal" => &mut limits.normal,
            "slave" | "replica" => &mut limits.replica,
            "pubsub" => &mut limits.pubsub,
            _ => return Err("Invalid client class specified in buffer limit configuration."),
        };
        let seconds = group[3].parse().ok().filter(|seconds| *seconds >= 0);
        let (Some(hard), Some(soft), Some(soft_seconds)) =
            (parse_memory(group[1]), parse_memory(group[2]), seconds)
        else {
            return Err(
                "Error in hard, soft or soft_seconds setting in buffer limit configuration.",
            );
        };
        *limit = OutputLimit { hard, soft, soft_seconds };
    }
    Ok(limits)
}

pub(crate) fn parse_memory(value: &str) -> Option<u64> {
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = value.split_at(digits);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1_000,
        "kb" => 1 << 10,
        "m" => 1_000_000,
        "mb" => 1 << 20,
        "g" => 1_000_000_000,
        "gb" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}
