use super::arguments::SchemaArguments;
use super::output::print;
use super::{Failure, Outcome};
use fencepost_reports::documents::schema::{NAMES, schema as schema_of};

pub(crate) fn schema(arguments: &SchemaArguments) -> Result<Outcome, Failure> {
    let Some(schema) = schema_of(&arguments.what) else {
        let what = &arguments.what;
        return Err(Failure::wrong(format!(
            "unknown schema '{what}': expected one of {}",
            NAMES.join(", ")
        )));
    };
    print(&format!("{schema:#}\n"))?;
    Ok(Outcome::AsExpected)
}
