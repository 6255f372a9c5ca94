pub(super) fn error_line<'l>(lines: &[&'l str]) -> Option<&'l str> {
    let is_said = |line: &&str| !line.trim().is_empty() && !line.starts_with("SLF4J: ");
    let said: Vec<&str> = lines.iter().copied().filter(is_said).collect();
    let traced = said.iter().rposition(|line| line.starts_with("Traceback (most recent call"));
    // Python indents stack frames but not the error message that follows them.
    let of_python = traced.and_then(|at| said[at + 1..].iter().find(|line| !is_indented(line)));
    let named = || {
        let begins = |line: &&&str| is_first_of_error(line);
        said.iter().find(begins)
    };
    let last = || said.iter().rev().find(|line| !is_of_stack(line));
    of_python.or_else(named).or_else(last).or(said.last()).map(|line| line.trim())
}

/// Returns `true` if an interpreter prints this line only when a thread dies.
pub(super) fn is_of_dead_thread(line: &str) -> bool {
    line.starts_with("Exception in thread ")
        || line.contains("terminated with exception (report_on_exception")
}

/// Returns `true` if Python prints this line for an uncaught error. Programs may also print it.
pub(super) fn is_of_traceback(line: &str) -> bool {
    line.starts_with("Traceback (most recent call last):")
}

fn is_indented(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

fn is_first_of_error(line: &str) -> bool {
    const OPENINGS: [&str; 4] = ["Exception in thread ", "panic: ", "fatal error: ", "Uncaught "];
    let class = line.split([':', ' ']).next().unwrap_or_default();
    let is_class = (class.ends_with("Error") || class.ends_with("Exception"))
        && class.chars().all(|letter| letter.is_alphanumeric() || "._$".contains(letter));
    let is_ruby = line.ends_with("Error)") && line.contains(":in ");
    let is_rust = line.starts_with("thread '") && line.contains(" panicked at ");
    OPENINGS.iter().any(|opening| line.starts_with(opening)) || is_class || is_ruby || is_rust
}

fn is_of_stack(line: &str) -> bool {
    let line = line.trim();
    let begins =
        ["at ", "from ", "... ", "goroutine ", "Node.js v", "note: run with", "exit status "];
    begins.iter().any(|begin| line.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> &str {
        error_line(&text.lines().collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn each_language_is_told_with_the_line_of_its_error() {
        let python = "Traceback (most recent call last):\n  File \"w.py\", line 3\n    f()\n\
                      fp.Gone: timed out\nclosing";
        assert_eq!(line(python), "fp.Gone: timed out");
        let node = "/w.js:2\n  throw new Error('x');\n  ^\n\nError: x\n    at f (/w.js:2)\n\n\
                    Node.js v18.19.0";
        assert_eq!(line(node), "Error: x");
        let java = "Started 3 threads\nException in thread \"main\" a.RedisTimeoutException: late\n\
                    \tat W.main(W.java:3)\n\t... 19 more";
        assert_eq!(line(java), "Exception in thread \"main\" a.RedisTimeoutException: late");
        let go = "panic: no lock\n\ngoroutine 1 [running]:\nmain.main()\n\t/w.go:4\nexit status 2";
        assert_eq!(line(go), "panic: no lock");
        assert_eq!(
            line("w.rb:1:in `f': late (TimeoutError)\n\tfrom w.rb:3"),
            "w.rb:1:in `f': late (TimeoutError)"
        );
        assert_eq!(line("ready\nno such lock\n"), "no such lock");
        assert_eq!(line("  at f\n  at g"), "at g");
        assert_eq!(line("no lock\nSLF4J: See http://www.slf4j.org/codes.html"), "no lock");
        assert_eq!(error_line(&["SLF4J: Defaulting to no-operation MDCAdapter"]), None);
    }
}
