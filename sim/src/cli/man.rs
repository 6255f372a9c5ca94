use super::arguments::{Arguments, ManArguments};
use super::output::print;
use super::{Failure, Outcome};
use crate::files::write_file;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::path::Path;

pub(crate) fn man(arguments: &ManArguments) -> Result<Outcome, Failure> {
    let mut root = Arguments::command().disable_help_subcommand(true);
    root.build();
    write(&root, &arguments.out)?;
    Ok(Outcome::AsExpected)
}

fn write(command: &Command, folder: &Path) -> Result<(), Failure> {
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text).map_err(Failure::Output)?;
    let path = folder.join(page.get_filename());
    write_file(&path, &text)?;
    print(&format!("{}\n", path.display()))?;
    command
        .get_subcommands()
        .filter(|one| !one.is_hide_set())
        .try_for_each(|one| write(one, folder))
}
