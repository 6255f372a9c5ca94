//! Text forms of faults and plans.

use crate::fault::{Direction, Fault};
use crate::node::Node;
use crate::plan::{FaultPlan, TimedFault};
use crate::time::Micros;
use std::fmt;

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Pause { node, duration_us } => write!(f, "pause {node} for {duration_us}"),
            Fault::Suspend { node, duration_us } => write!(f, "suspend {node} for {duration_us}"),
            Fault::Crash { node, down_us } => write!(f, "crash {node}, {}", Return(*down_us)),
            Fault::PowerLoss { node, down_us } => {
                write!(f, "power loss at {node}, {}", Return(*down_us))
            }
            Fault::Partition { side_a, side_b, direction, duration_us } => {
                let arrow = if *direction == Direction::Both { "|" } else { "-|->" };
                write!(f, "partition {} {arrow} {} for {duration_us}", Names(side_a), Names(side_b))
            }
            Fault::Delay { from, to, extra_us_min, extra_us_max, duration_us } => {
                write!(
                    f,
                    "delay {} -> {} by {extra_us_min}..{extra_us_max}",
                    Names(from),
                    Names(to)
                )?;
                write!(f, " for {duration_us}")
            }
            Fault::LostReply { server, client, duration_us } => {
                write!(f, "lose a reply of {server} to {client} within {duration_us}")
            }
            Fault::LostRequest { server, client, duration_us } => {
                write!(f, "lose a request of {client} to {server} within {duration_us}")
            }
            Fault::ClockDrift { node, rate_ppm, duration_us } => {
                write!(f, "clocks of {node} run at {rate_ppm:+} ppm for {duration_us}")
            }
            Fault::ClockJump { node, offset_us } => {
                let sign = if *offset_us < 0 { '-' } else { '+' };
                write!(
                    f,
                    "wall clock of {node} jumps by {sign}{}",
                    Micros(offset_us.unsigned_abs())
                )
            }
            Fault::SlowServer { node, extra_us, duration_us } => {
                write!(f, "commands at {node} take {extra_us} longer for {duration_us}")
            }
            Fault::Evict { node } => write!(f, "{node} evicts what expires"),
            Fault::FlushAll { node } => write!(f, "flush {node}"),
            Fault::Promote { node } => write!(f, "promote {node}"),
            Fault::Operator { node, command } => {
                write!(f, "operator at {node}: {}", command.typed())
            }
        }
    }
}

impl fmt::Display for TimedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} at {}: {}", self.id, self.at_us, self.fault)
    }
}

impl fmt::Display for FaultPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.faults.iter().enumerate().try_for_each(|(index, timed)| {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{timed}")
        })
    }
}

struct Return(Option<Micros>);

impl fmt::Display for Return {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(Micros::ZERO) => f.write_str("back at once"),
            Some(down) => write!(f, "back after {down}"),
            None => f.write_str("for good"),
        }
    }
}

struct Names<'a>(&'a [Node]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [node] = self.0 {
            return node.fmt(f);
        }
        let names: Vec<String> = self.0.iter().map(Node::to_string).collect();
        write!(f, "{{{}}}", names.join(", "))
    }
}
