//! A server's reports to the judge, such as a change of its role. Simulated processes cannot see
//! them.

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The server is a primary. It also reports this at startup.
    Leads,
    Follows {
        /// Primary that the server now replicates. The server also reports this at startup.
        host: String,
    },
    TookOver {
        /// Primary whose data has replaced the server's own data.
        host: String,
    },
    Down {
        host: String,
        /// `true` if enough Sentinels agree, `false` for this Sentinel's view alone.
        objectively: bool,
        is_down: bool,
    },
    Writes {
        /// `true` if the server now refuses every write because its disk failed; `false` if it
        /// accepts writes again.
        refused: bool,
    },
    Names {
        /// Primary that the Sentinel now reports to clients.
        host: String,
    },
}
