use crate::env::Env;
use crate::lock::{Acquisition, Lease, Settings};
use crate::owned_key::{fresh_digits, set_if_absent_words, undo, was_set};
use crate::replica_wait::given_up;
use crate::session::Session;
use bytes::Bytes;

/// Tries once to set the key to a new owner value. Waits for replicas if the settings require it.
pub async fn take(
    env: &Env,
    settings: &Settings,
    session: &mut Session,
    resource: &str,
    ttl_ms: &str,
) -> Acquisition {
    let owner = fresh_digits(env);
    match was_set(session.call(&set_if_absent_words(resource, &owner, ttl_ms)).await) {
        Ok(true) => {
            // The box keeps the rarely used future of `given_up` out of every attempt's future.
            if settings.wait.is_some()
                && let Some(given_up) =
                    Box::pin(given_up(settings.wait, session, resource, &owner)).await
            {
                return given_up;
            }
            let owner = Bytes::copy_from_slice(&owner);
            Acquisition::Granted(Lease {
                resource: resource.to_owned(),
                owner,
                token: None,
                valid_until: None,
            })
        }
        Ok(false) => Acquisition::Refused("held by another".into()),
        Err(error)
            if error.may_have_applied() && !Box::pin(undo(session, resource, &owner)).await =>
        {
            Acquisition::Unknown(error.to_string())
        }
        Err(error) => Acquisition::Refused(error.to_string().into()),
    }
}
