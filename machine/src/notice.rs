//! Reports to the judge about roles in a deployment, invisible to the simulated processes.

/// A role change or observation in a deployment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The server now acts as a primary. Also sent at startup.
    Leads,
    /// The server now replicates another one. Also sent at startup.
    Follows {
        /// Host of its primary.
        host: String,
    },
    /// The server has replaced its data with another server's.
    TookOver {
        /// Host of its primary.
        host: String,
    },
    /// The Sentinel changed its view of whether a primary is down.
    Down {
        /// Host of the primary.
        host: String,
        /// `true` if enough Sentinels agree, `false` for this one's own view.
        objectively: bool,
        /// `true` if it is down now.
        is_down: bool,
    },
    /// The Sentinel now reports this primary to clients.
    Names {
        /// Host of the primary.
        host: String,
    },
}
