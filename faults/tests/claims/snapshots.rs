use crate::settings::{independent, replicated};
use fencepost_faults::{FAMILIES, Seed, Setting, generate};

fn plans(family: &str) -> String {
    let plan = |(name, setting): (&str, Setting)| {
        let plan = generate(Seed(7), &family.parse().expect("the name is in the table"), &setting);
        format!("{name}:\n{plan}\n")
    };
    [("replicated", replicated()), ("independent", independent())].map(plan).concat()
}

#[test]
fn seed_7_means_the_same_for_ever_in_every_family() {
    for family in FAMILIES {
        insta::assert_snapshot!(family.name(), plans(family.name()));
    }
}

#[test]
fn seed_7_means_the_same_for_ever_in_a_combination() {
    insta::assert_snapshot!(plans("pause+failover"));
}

#[test]
fn a_plan_in_json_looks_the_same_for_ever() {
    let plan = generate(Seed(7), &"failover".parse().unwrap(), &replicated());
    insta::assert_json_snapshot!(plan);
}
