//! Deeply nested expressions, for the parsers of servers that read SQL.

const STACK_BYTES: usize = 1 << 20;
const DEPTH_MAX: usize = 1_000;

/// A level of an expression: the text around the inner expression. `start` is the innermost one.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    pub start: &'static str,
    pub before: &'static str,
    pub after: &'static str,
}

#[must_use]
pub const fn level(start: &'static str, before: &'static str, after: &'static str) -> Level {
    Level { start, before, after }
}

impl Level {
    #[must_use]
    pub fn deep(self, depth: usize) -> String {
        format!("{}{}{}", self.before.repeat(depth), self.start, self.after.repeat(depth))
    }

    #[must_use]
    pub fn around(self, inner: &str) -> String {
        format!("{}{inner}{}", self.before, self.after)
    }
}

/// Runs a function on a thread with a stack of 1 MiB, and returns its result.
pub fn on_small_stack<R: Send + 'static>(run: impl FnOnce() -> R + Send + 'static) -> R {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run);
    thread.expect("a thread").join().expect("the server lives")
}

/// Draws statements that select expressions of growing depth from the table `t`. `deeper` adds a
/// level to an expression, and can call a function that draws a number below its argument.
pub fn statements_of_growing_depth(
    statements: u32,
    start: &str,
    deeper: impl Fn(&mut dyn FnMut(usize) -> usize, &str) -> String,
) -> Vec<String> {
    let mut state = 1_u64;
    let mut draw = move |below: usize| {
        let (factor, summand) = (6_364_136_223_846_793_005, 1_442_695_040_888_963_407);
        state = state.wrapping_mul(factor).wrapping_add(summand);
        (state >> 33) as usize % below
    };
    let mut all = Vec::new();
    for number in 0..statements as usize {
        let mut expression = start.to_owned();
        for _ in 0..number * DEPTH_MAX / statements as usize {
            expression = deeper(&mut draw, &expression);
        }
        all.push(format!("SELECT {expression} FROM t"));
    }
    all
}
