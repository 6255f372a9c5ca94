//! Reads arbitrary text as a scenario. Drawing plans for a valid scenario must not panic.

use crate::targets::typed;
use fencepost::{RunSpec, Scenario};
use fencepost_clients::CLIENTS;
use fencepost_faults::{Families, Seed};
use std::rc::Rc;

pub(super) fn run(input: &[u8]) {
    typed(input, check_input);
}

fn check_input(text: &str) {
    let Ok(table) = text.parse::<toml::Table>() else { return };
    let Ok(scenario) = table.try_into::<Scenario>() else { return };
    if scenario.validate().is_err() {
        return;
    }
    let (scenario, families) =
        (Rc::new(scenario), "all".parse::<Families>().expect("all families"));
    let _ = scenario.deviations();
    for client in CLIENTS {
        let spec = RunSpec::draw(Seed(7), client, &families, scenario.clone());
        let _ = spec.validate();
    }
}
