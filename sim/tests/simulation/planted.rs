use fencepost_clients::{Acquisition, Definition, Deployment, Lease};

/// Fields shared by all test locks. Each lock sets its own `build`.
pub(crate) const LOCK: Definition = Definition {
    name: "planted",
    about: "a lock of a test",
    deployment: Deployment::Primary,
    has_tokens: false,
    is_fair: false,
    models: None,
    build: |_, _, _| panic!("only its twins are built"),
};

pub(crate) fn granted(resource: &str, owner: &[u8]) -> Acquisition {
    let (resource, owner) = (resource.to_owned(), owner.to_vec().into());
    Acquisition::Granted(Lease { resource, owner, token: None, valid_until: None })
}
