//! Changes of a server that it reports to the judge. Simulated processes cannot see them.

/// A change of a server's role or of its ability to write, or an observation in a deployment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The server now acts as a primary. Servers also send this at startup.
    Leads,
    /// The server now replicates another server. Servers also send this at startup.
    Follows {
        /// Host of the server's primary.
        host: String,
    },
    /// The server has replaced its data with a copy of its primary's data.
    TookOver {
        /// Host of the server's primary.
        host: String,
    },
    /// The Sentinel changed its view of whether a primary is down.
    Down {
        /// Host of the primary.
        host: String,
        /// `true` if enough Sentinels agree, `false` for this Sentinel's own view.
        objectively: bool,
        /// `true` if the primary is now down.
        is_down: bool,
    },
    /// The server now refuses every write because its disk failed, or no longer refuses writes.
    Writes {
        /// `true` if the server now refuses writes.
        refused: bool,
    },
    /// The Sentinel now reports this primary to clients.
    Names {
        /// Host of the primary.
        host: String,
    },
}
