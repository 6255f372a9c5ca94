use crate::cli::options::view;
use crate::cli::output::print;
use crate::cli::{Failure, Outcome};
use crate::studies::explore::certificate::certificate;
use crate::studies::explore::partial::unfinished;
use crate::studies::explore::{Bounds, Ledger};
use fencepost_reports::documents::certificate::unfinished::{self as partial, Unfinished};
use fencepost_reports::documents::certificate::{self, Certificate};
use fencepost_reports::summary::sweep::Shard;

pub(super) struct Order<'o> {
    pub(super) bounds: &'o Bounds,
    pub(super) conditions: Vec<String>,
    pub(super) shard: Shard,
}

impl Order<'_> {
    pub(super) fn is_deep(&self) -> bool {
        self.bounds.most().depth() > 1
    }

    pub(super) fn partial(&self, ledger: &Ledger, reason: &str) -> serde_json::Result<Unfinished> {
        unfinished(self.bounds, &self.conditions, (self.shard, ledger), reason).sealed()
    }

    pub(super) fn conclude(
        &self,
        ledger: &Ledger,
        cut_short: Option<&str>,
        format: &str,
    ) -> Result<Outcome, Failure> {
        let is_whole = ledger.is_whole();
        if is_whole && ledger.sum().valid > 0 {
            let written = certificate(self.bounds, &self.conditions, ledger);
            let written = Certificate::sealed(written).map_err(Failure::wrong)?;
            let view = view(certificate::VIEWS, format)?;
            print(&view.write(&written).map_err(Failure::wrong)?)?;
            return Ok(Outcome::AsExpected);
        }
        let Shard { index, count } = self.shard;
        let shard = format!(
            "this is only shard {index} of {count}: combine all shards with `fencepost merge`"
        );
        let (reason, outcome) = match cut_short {
            _ if is_whole => ("no run exercised the lock", Outcome::Unknown),
            Some(reason) => (reason, Outcome::Unknown),
            None => (shard.as_str(), Outcome::AsExpected),
        };
        let partial = self.partial(ledger, reason).map_err(Failure::wrong)?;
        let view = view(partial::VIEWS, format)?;
        print(&view.write(&partial).map_err(Failure::wrong)?)?;
        Ok(outcome)
    }
}
