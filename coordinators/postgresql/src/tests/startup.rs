use super::world::{World, startup_with};

#[test]
fn the_startup_parameter_options_sets_settings() {
    let check = |options: &str, setting: &str, expected: &str| {
        let mut world = World::new();
        let id = world.connect();
        world.send(id, &startup_with(&format!("options\0{options}\0application_name\0last\0")));
        let welcome = world.take_words(id);
        let said = world.ask(id, &format!("SHOW {setting}"));
        assert_eq!(said, format!("({expected}) | SHOW"), "{options}: {welcome}");
    };
    check("-c lock_timeout=300 -c statement_timeout=2000", "lock_timeout", "300ms");
    check("-c lock_timeout=300 -c statement_timeout=2000", "statement_timeout", "2s");
    check("  -clock_timeout=300\t", "lock_timeout", "300ms");
    check("--lock-timeout=300", "lock_timeout", "300ms");
    check(
        "-c default_transaction_isolation=repeatable\\ read",
        "transaction_isolation",
        "repeatable read",
    );
    check("-c application_name=first", "application_name", "last");
}

#[test]
fn other_command_line_options_are_refused() {
    let check = |options: &str, expected: &str| {
        let mut world = World::new();
        let id = world.connect();
        world.send(id, &startup_with(&format!("options\0{options}\0")));
        let said = world.take_words(id);
        assert!(said.contains(expected) && world.is_closed(id), "{options}: {said}");
    };
    check("-c nosuch=1", "42704: unrecognized configuration parameter \"nosuch\"");
    check("-c lock_timeout=x", "22023: invalid value for parameter \"lock_timeout\"");
    check("-S 64", "0A000: the command-line option \"-S\" is not supported");
    check("-c", "0A000: the command-line option \"-c\" is not supported");
    check("lock_timeout=300", "0A000: the command-line option \"lock_timeout=300\"");
}

#[test]
fn client_min_messages_hides_notices_and_warnings() {
    let check = |level: &str, notices: bool, warnings: bool| {
        let mut world = World::new();
        let id = world.session();
        assert_eq!(world.ask(id, &format!("SET client_min_messages TO {level}")), "SET");
        let said = world.ask(id, "DROP TABLE IF EXISTS nothing");
        assert_eq!(said.starts_with("NOTICE"), notices, "{level}: {said}");
        let said = world.ask(id, "COMMIT");
        assert_eq!(said.starts_with("WARNING"), warnings, "{level}: {said}");
    };
    check("debug", true, true);
    check("debug1", true, true);
    check("notice", true, true);
    check("WARNING", false, true);
    check("error", false, false);
}
