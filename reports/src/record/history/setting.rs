//! The storage rule and the form of the lock, as stated in a history's header.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checks {
    pub reads: bool,
    pub writes: bool,
    pub writes_late: bool,
}

macro_rules! storage_rules {
    ($($(#[$doc:meta])* $member:ident = $checks:expr,)*) => {
        /// Rule by which the storage checks fencing tokens.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[derive(Display, EnumMessage, EnumString, IntoStaticStr, VariantArray)]
        #[derive(Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[strum(serialize_all = "kebab-case")]
        pub enum StorageRule {
            $($(#[$doc])* $member,)*
        }

        impl StorageRule {
            pub const fn checks(self) -> Checks {
                match self {
                    $(StorageRule::$member => $checks,)*
                }
            }
        }
    };
}

storage_rules! {
    /// The storage rejects reads and writes whose token is lower than the highest token seen.
    Fenced = Checks { reads: true, writes: true, writes_late: false },
    /// The storage rejects only writes whose token is lower than the highest token seen.
    FencedWrites = Checks { reads: false, writes: true, writes_late: false },
    /// The storage does not check tokens.
    Unchecked = Checks { reads: false, writes: false, writes_late: false },
    /// The storage checks the token, but writes a moment later without checking the token again.
    CheckThenWrite = Checks { reads: true, writes: true, writes_late: true },
}

/// Form in which a server stores a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keeping {
    /// A row with an expiry time, which processes compare with their wall clocks.
    RowByClients,
    /// A row with an expiry time, which the server compares with its wall clock.
    RowByServer,
    /// A lock that belongs to a connection and ends with the connection. The lock has no ttl.
    Connection,
    /// A key that is deleted when its lease ends. The holder's process keeps the lease alive.
    Lease,
    /// A lock that belongs to a session. The holder's process keeps the session alive.
    Session,
    /// A lock that belongs to a member of a distributed system and is released when the member
    /// departs.
    Membership,
    /// A lock that belongs to a member of a distributed system. The server measures its lease with
    /// a wall clock.
    MemberLease,
}
