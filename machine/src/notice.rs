//! Changes of a server's role, which it reports to the judge. Simulated processes cannot see them.

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// Servers also send this at startup.
    Leads,
    Follows {
        /// Primary that the server now replicates. Servers also send this at startup.
        host: String,
    },
    TookOver {
        /// Primary whose data has replaced the server's own data.
        host: String,
    },
    Down {
        host: String,
        /// `true` if enough Sentinels agree, `false` for this Sentinel's own view.
        objectively: bool,
        is_down: bool,
    },
    Writes {
        /// `true` if the server now refuses every write because its disk failed.
        refused: bool,
    },
    Names {
        /// Primary that the Sentinel now reports to clients.
        host: String,
    },
}
