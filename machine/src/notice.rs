//! What the parts of a deployment tell the judge of each other. Nobody in the simulated world sees
//! it.

/// A turn in the life of a deployment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The server acts as a primary from now on; also told when it starts.
    Leads,
    /// The server follows another from now on; also told when it starts.
    Follows {
        /// The host of its primary.
        host: String,
    },
    /// The server has replaced all its data by that of another.
    TookOver {
        /// The host of its primary.
        host: String,
    },
    /// The Sentinel finds a primary down, or up again.
    Down {
        /// The host of the primary.
        host: String,
        /// Whether it is what enough Sentinels find, rather than this one.
        objectively: bool,
        /// Whether it is down now.
        is_down: bool,
    },
    /// The Sentinel names this primary to all who ask from now on.
    Names {
        /// The host of the primary.
        host: String,
    },
}
