use super::canvas::Canvas;
use fencepost_faults::Micros;

pub(crate) fn draw(canvas: &mut Canvas, bottom: i32) {
    let step = step(canvas.to - canvas.from, ((canvas.right - canvas.left) / 120.0) as u64);
    canvas.raw(format_args!("<g class=\"axis\" data-bottom=\"{bottom}\">"));
    let mut at = canvas.from.div_ceil(step) * step;
    while at <= canvas.to {
        let x = canvas.x(at);
        canvas.raw(format_args!(
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"18\" y2=\"{bottom}\"/><text x=\"{x:.1}\" \
             y=\"13\">{}</text>",
            Micros(at)
        ));
        at += step;
    }
    canvas.raw("</g>");
}

/// Returns the smallest of 1, 2, 5, 10, 20, ... microseconds that is at least `span / ticks`.
fn step(span: u64, ticks: u64) -> u64 {
    let least = (span / ticks.max(1)).max(1);
    let mut power = 1_u64;
    while power.saturating_mul(10) <= least {
        power *= 10;
    }
    [1, 2, 5, 10]
        .map(|factor| factor * power)
        .into_iter()
        .find(|step| *step >= least)
        .unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!(
            [step(1_000, 10), step(900, 8), step(60_000_000, 9), step(3, 9)],
            [100, 200, 10_000_000, 1]
        );
    }
}
