//! A server's reports for the history of a run. Simulated processes cannot see them.

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The server is a primary. It also reports this at startup.
    Leads,
    Follows {
        /// Server that the reporting server replicates. A server also reports this at startup.
        host: String,
    },
    TookOver {
        /// Server whose data has replaced the server's own data.
        host: String,
    },
    Down {
        host: String,
        /// `true` if enough Sentinels agree, `false` for this Sentinel's view alone.
        objectively: bool,
        is_down: bool,
    },
    Writes {
        /// `true` if the server now refuses writes; `false` if it accepts writes again.
        refused: bool,
    },
    Names {
        /// Primary that the Sentinel now reports to clients.
        host: String,
    },
}
