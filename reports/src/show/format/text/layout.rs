use crate::judge::finding::Severity;
use crate::summary::verdict::Verdict;
use anstyle::{AnsiColor, Style};

pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default().bold();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default().bold();

pub(crate) const WIDTH: usize = 100;

pub(crate) fn verdict_style(verdict: &Verdict) -> Style {
    match verdict {
        Verdict::Valid => GREEN,
        Verdict::Violated => RED,
        Verdict::Unknown { .. } => YELLOW,
    }
}

pub(crate) fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Harm => RED,
        Severity::Hazard => YELLOW,
    }
}

pub(crate) fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(count))
}

pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn percent(share: f64) -> String {
    let points = share * 100.0;
    if points != 0.0 && points < 10.0 { format!("{points:.1} %") } else { format!("{points:.0} %") }
}

pub(crate) fn more_times(count: u64) -> String {
    match count {
        1 => "once more".to_owned(),
        many => format!("{} more times", thousands(many)),
    }
}

pub(crate) fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        many => format!("{} times", thousands(many)),
    }
}

pub(crate) fn wrapped(text: &str, indent: usize) -> Vec<String> {
    wrapped_to(text, WIDTH.saturating_sub(indent))
}

pub(crate) fn wrapped_to(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        let text = [0, 999, 1_000, 1_234_567].map(thousands);
        assert_eq!(text, ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn no_line_is_longer_than_the_room_and_no_word_is_lost() {
        let text = "word ".repeat(100);
        let lines = wrapped(&text, 10);
        assert!(lines.iter().all(|line| line.len() <= WIDTH - 10));
        assert_eq!(lines.join(" ").split(' ').count(), 100);
    }

    #[test]
    fn shares_are_told_with_as_many_digits_as_they_need() {
        assert_eq!([0.0, 0.004, 0.125, 1.0].map(percent), ["0 %", "0.4 %", "12 %", "100 %"]);
    }
}
