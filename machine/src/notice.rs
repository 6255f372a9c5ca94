//! Changes of a server's role. The server reports them to the judge, and simulated processes cannot
//! see them.

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
        /// `true` if the server now refuses every write because its disk failed.
        refused: bool,
    },
    Names {
        /// Primary that the Sentinel now reports to clients.
        host: String,
    },
}
