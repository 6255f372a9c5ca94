//! Properties of the storage and of the servers in a history. A new storage rule is one entry of
//! the list below.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// The storage's checks of tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checks {
    /// `true` if it checks those of reads.
    pub reads: bool,
    /// `true` if it checks those of writes.
    pub writes: bool,
    /// `true` if a checked write happens a moment later, without another check.
    pub writes_late: bool,
}

/// Every storage rule with its checks.
macro_rules! storage_rules {
    ($($(#[$doc:meta])* $member:ident = $checks:expr,)*) => {
        /// How the storage treats tokens.
        #[derive(
            Clone,
            Copy,
            PartialEq,
            Eq,
            Debug,
            Display,
            EnumMessage,
            EnumString,
            IntoStaticStr,
            VariantArray,
            Serialize,
            Deserialize,
            JsonSchema,
        )]
        #[serde(rename_all = "kebab-case")]
        #[strum(serialize_all = "kebab-case")]
        pub enum StorageRule {
            $($(#[$doc])* $member,)*
        }

        impl StorageRule {
            /// Its checks of tokens.
            pub const fn checks(self) -> Checks {
                match self {
                    $(StorageRule::$member => $checks,)*
                }
            }
        }
    };
}

storage_rules! {
    /// Reads and writes with a token lower than the highest seen are rejected.
    Fenced = Checks { reads: true, writes: true, writes_late: false },
    /// Only writes are checked.
    FencedWrites = Checks { reads: false, writes: true, writes_late: false },
    /// Nothing is checked.
    Unchecked = Checks { reads: false, writes: false, writes_late: false },
    /// Checked, but the write happens a moment later, without another look.
    CheckThenWrite = Checks { reads: true, writes: true, writes_late: true },
}

/// What a server keeps a lock as.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keeping {
    /// A row that says until when it is held; the processes judge that by their wall clocks.
    RowByClients,
    /// A row that says until when it is held; the server judges that by its wall clock.
    RowByServer,
    /// A lock of a connection: it goes when the connection ends, and has no ttl.
    Connection,
    /// A key that goes when its lease ends; the process of its holder keeps that alive.
    Lease,
    /// A lock of a session, which the process of its holder keeps alive.
    Session,
    /// A lock of a member of a distributed system, released when the member departs.
    Membership,
    /// The same with a lease by the wall clock of the server.
    MemberLease,
}
