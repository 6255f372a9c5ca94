use super::arguments::GalleryArguments;
use super::output::{log, make_folder, print};
use super::{Failure, Outcome};
use crate::files::write_file;
use crate::studies::gallery::{GalleryError, pages};

pub(crate) fn gallery(arguments: &GalleryArguments) -> Result<Outcome, Failure> {
    if !arguments.check {
        make_folder(&arguments.out)?;
    }
    let pages = pages(arguments.jobs.count())?;
    if arguments.check {
        let published = |name: &str| std::fs::read_to_string(arguments.out.join(name)).ok();
        let stale: Vec<&str> = pages
            .iter()
            .filter(|(name, page)| published(name).as_ref() != Some(page))
            .map(|(name, _)| &**name)
            .collect();
        for name in &stale {
            log(format_args!("stale: {}", arguments.out.join(name).display()));
        }
        print(&format!("{} pages, {} stale\n", pages.len(), stale.len()))?;
        return Ok(if stale.is_empty() { Outcome::AsExpected } else { Outcome::Violated });
    }
    for (name, page) in &pages {
        write_file(&arguments.out.join(name), page.as_bytes())?;
    }
    print(&format!("{} pages in {}\n", pages.len(), arguments.out.display()))?;
    Ok(Outcome::AsExpected)
}

impl From<GalleryError> for Failure {
    fn from(error: GalleryError) -> Failure {
        match error {
            GalleryError::Run(run) => run.into(),
            other => Failure::wrong(other),
        }
    }
}
