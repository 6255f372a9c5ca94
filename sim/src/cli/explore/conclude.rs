use crate::cli::options::{format, view};
use crate::cli::output::print;
use crate::cli::{Failure, Outcome};
use crate::studies::explore::certificate::certificate;
use crate::studies::explore::partial::unfinished;
use crate::studies::explore::{Bounds, Ledger};
use fencepost_reports::documents::certificate::unfinished::{self as partial, Unfinished};
use fencepost_reports::documents::certificate::{self, Certificate};
use fencepost_reports::show::format::Format;
use fencepost_reports::show::view::View;
use fencepost_reports::summary::sweep::Shard;

/// The value of `--format`, for each document that an exploration can write.
#[derive(Clone, Copy)]
pub(super) struct Formats {
    certificate: &'static View<Certificate>,
    unfinished: &'static View<Unfinished>,
    pub(super) counterexample: &'static Format,
}

impl Formats {
    pub(super) fn named(name: &str) -> Result<Formats, Failure> {
        Ok(Formats {
            certificate: view(certificate::VIEWS, name)?,
            unfinished: view(partial::VIEWS, name)?,
            counterexample: format(name)?,
        })
    }
}

pub(super) struct Order<'o> {
    pub(super) bounds: &'o Bounds,
    pub(super) conditions: Vec<String>,
    pub(super) shard: Shard,
    pub(super) formats: Formats,
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
    ) -> Result<Outcome, Failure> {
        let is_whole = ledger.is_whole();
        if is_whole && ledger.sum().valid > 0 {
            let written = certificate(self.bounds, &self.conditions, ledger);
            let written = Certificate::sealed(written).map_err(Failure::wrong)?;
            print(&self.formats.certificate.write(&written).map_err(Failure::wrong)?)?;
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
        print(&self.formats.unfinished.write(&partial).map_err(Failure::wrong)?)?;
        Ok(outcome)
    }
}
