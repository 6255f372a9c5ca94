use fencepost_faults::{Micros, Node, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

macro_rules! kinds {
    ($($(#[doc = $what:literal])+ $member:ident = $severity:ident,)*) => {
        /// A rule that a run can break.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[derive(Serialize, Deserialize, JsonSchema, Display, IntoStaticStr, VariantArray)]
        #[serde(rename_all = "kebab-case")]
        #[strum(serialize_all = "kebab-case")]
        pub enum Kind {
            $($(#[doc = $what])+ $member,)*
        }

        impl Kind {
            /// Describes, in sentences, a run that breaks the rule.
            pub fn what(self) -> &'static str {
                match self {
                    $(Kind::$member => concat!($($what),+).trim_start(),)*
                }
            }

            pub fn severity(self) -> Severity {
                match self {
                    $(Kind::$member => Severity::$severity,)*
                }
            }
        }
    };
}

kinds! {
    /// Two processes or threads were in their critical sections at the same time.
    Overlap = Hazard,
    /// The storage accepted a write of an earlier holder after a request of a later holder.
    StaleWrite = Harm,
    /// A read-modify-write overwrote a value that the writer had not read.
    LostUpdate = Harm,
    /// More items were sold than were in stock.
    Oversold = Harm,
    /// A number, such as an order number, was issued twice.
    DuplicateNumber = Harm,
    /// A number lower than an earlier one was issued.
    NumberRegression = Harm,
    /// A job was done a second time.
    RepeatedJob = Harm,
    /// Fencing tokens did not increase in the order of the grants.
    TokenRegression = Hazard,
    /// A lease was granted without the fencing token that the lock promises.
    TokenMissing = Hazard,
    /// Long after all faults had healed, the storage still rejected the rightful holder.
    FencedOut = Harm,
    /// A process removed a lock that another process had been granted.
    ForeignRelease = Hazard,
    /// A lock gave its caller a false answer. It reported the lock as granted, but no quorum of
    /// servers held the lock for that caller, or not for the stated time. It refused, but the
    /// servers held the value that the caller had written. It reported the lock as lost, but the
    /// lease continued, or the release itself had removed the lock. Or it reported the lock as
    /// released, but the lock remained.
    WrongAnswer = Hazard,
    /// No process holds the lock and no process can acquire it, or several processes each hold a
    /// lock and wait for a lock that another of them holds.
    Stuck = Harm,
    /// Processes wait, no process is in its critical section, and no pending event can wake a
    /// waiting process.
    Deadlock = Harm,
    /// A waiting process is not served: the process sleeps while the lock is free, or a process
    /// that asked later gets a fair lock first.
    Starved = Harm,
    /// A live holder kept the lock for longer than the given bound.
    HeldForever = Hazard,
    /// The lock was free, a process wanted it and enough servers ran, but no process got it within
    /// the bound. With --availability, the rule applies at any time, with your bound. Without
    /// --availability, the rule applies between faults, with a bound derived from the ttl and the
    /// timeouts.
    Unavailable = Hazard,
}

#[derive(PartialEq, Eq)]
enum Subject {
    Overlap,
    Write,
    Progress,
    Other,
}

impl Kind {
    fn subject(self) -> Subject {
        match self {
            Kind::Overlap => Subject::Overlap,
            Kind::StaleWrite
            | Kind::LostUpdate
            | Kind::Oversold
            | Kind::DuplicateNumber
            | Kind::NumberRegression
            | Kind::RepeatedJob => Subject::Write,
            Kind::Stuck | Kind::Deadlock | Kind::Starved | Kind::Unavailable => Subject::Progress,
            Kind::TokenRegression
            | Kind::TokenMissing
            | Kind::FencedOut
            | Kind::ForeignRelease
            | Kind::WrongAnswer
            | Kind::HeldForever => Subject::Other,
        }
    }

    pub fn is_about_clash(self) -> bool {
        matches!(self.subject(), Subject::Overlap | Subject::Write)
    }

    /// Returns `true` if the storage itself can prevent the violation.
    pub fn is_about_write(self) -> bool {
        self.subject() == Subject::Write
    }

    pub fn is_lack_of_progress(self) -> bool {
        self.subject() == Subject::Progress
    }

    /// Returns the scenario key of the rule's bound; `None` if no key sets one.
    pub fn bound_key(self) -> Option<&'static str> {
        match self {
            Kind::HeldForever => Some("held-bound"),
            Kind::Unavailable => Some("availability"),
            _ => None,
        }
    }

    /// Returns `true` if the bound of [`bound_key`](Kind::bound_key) has a default. `held-forever`
    /// has none, so a run without a configured bound skips that rule.
    pub fn has_default_bound(self) -> bool {
        self == Kind::Unavailable
    }
}

/// Severity of a violation.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
    Display, IntoStaticStr
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Severity {
    /// The lock broke a promise, which alone does no damage.
    Hazard,
    /// The guarded data was damaged, work was done twice, or a process was not served.
    Harm,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    pub kind: Kind,
    /// Start of the violation, in true time.
    pub at: SimTime,
    /// Duration of the violation; zero if it is instantaneous.
    pub duration: Micros,
    /// Processes involved, in an order that depends on the rule.
    pub processes: Vec<Node>,
    pub what: String,
    /// Indices of the events that show the violation, ascending.
    pub witness: Vec<usize>,
    pub clash: Option<Clash>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clash {
    /// Index in the timeline's acquisitions.
    pub earlier: usize,
    pub later: usize,
    /// Index of the earlier holder's write in the history, if the violation is about a write.
    pub late_write: Option<usize>,
}

impl Kind {
    pub const ALL: &'static [Kind] = Kind::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Severity {
    pub fn name(self) -> &'static str {
        self.into()
    }
}
