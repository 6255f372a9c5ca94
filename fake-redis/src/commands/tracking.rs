//! CLIENT TRACKING and what belongs to it: `clientCommand` in networking.c.

use crate::data::number::parse_integer;
use crate::protocol::error::{CommandError, CommandResult, NOT_AN_INTEGER, SYNTAX};
use crate::state::client_key::ClientKey;
use crate::state::server::Call;
use crate::state::tracking::{Mode, Wishes};

const ONE_REDIRECTION: CommandError =
    CommandError::fixed("ERR A client can only redirect to a single other client");
const NO_SUCH_CLIENT: CommandError =
    CommandError::fixed("ERR The client ID you want redirect to does not exist");
const PREFIX_WITHOUT_BROADCAST: CommandError =
    CommandError::fixed("ERR PREFIX option requires BCAST mode to be enabled");
const OTHER_BROADCAST: CommandError = CommandError::fixed(
    "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then \
     re-enabling it with a different mode.",
);
const NOT_WITH_BROADCAST: CommandError =
    CommandError::fixed("ERR OPTIN and OPTOUT are not compatible with BCAST");
const NOT_BOTH: CommandError =
    CommandError::fixed("ERR You can't specify both OPTIN mode and OPTOUT mode");
const OTHER_CHOICE: CommandError = CommandError::fixed(
    "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then \
     re-enabling it with a different mode.",
);
const CACHING_WITHOUT_TRACKING: CommandError = CommandError::fixed(
    "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or \
     OPTOUT mode enabled",
);
const YES_WITHOUT_OPTIN: CommandError = CommandError::fixed(
    "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.",
);
const NO_WITHOUT_OPTOUT: CommandError = CommandError::fixed(
    "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.",
);

/// The options of CLIENT TRACKING as they were sent.
#[derive(Default)]
struct Options<'a> {
    redirect: u64,
    broadcast: bool,
    opt_in: bool,
    opt_out: bool,
    no_loop: bool,
    prefixes: Vec<&'a [u8]>,
}

pub(super) fn tracking(call: &mut Call<'_>) -> CommandResult {
    let options = parse(call)?;
    match &*call.arg(2).to_ascii_lowercase() {
        b"on" => {
            let wishes = wishes(call, &options)?;
            call.server.track(call.client, wishes);
        }
        b"off" => call.server.untrack(call.client),
        _ => return Err(SYNTAX),
    }
    call.reply.ok();
    Ok(())
}

fn parse<'a>(call: &Call<'a>) -> Result<Options<'a>, CommandError> {
    let mut options = Options::default();
    let mut index = 3;
    while index < call.args.len() {
        let has_more = index + 1 < call.args.len();
        match &*call.arg(index).to_ascii_lowercase() {
            b"redirect" if has_more => {
                index += 1;
                if options.redirect != 0 {
                    return Err(ONE_REDIRECTION);
                }
                options.redirect = redirection(call, call.arg(index))?;
            }
            b"bcast" => options.broadcast = true,
            b"optin" => options.opt_in = true,
            b"optout" => options.opt_out = true,
            b"noloop" => options.no_loop = true,
            b"prefix" if has_more => {
                index += 1;
                options.prefixes.push(call.arg(index));
            }
            _ => return Err(SYNTAX),
        }
        index += 1;
    }
    Ok(options)
}

fn redirection(call: &Call<'_>, text: &[u8]) -> Result<u64, CommandError> {
    let id = parse_integer(text).ok_or(NOT_AN_INTEGER)?;
    let known = u64::try_from(id).ok().filter(|id| call.server.client_of_id(*id).is_some());
    known.ok_or(NO_SUCH_CLIENT)
}

/// What a client wants, if it fits together and to how it tracks already.
fn wishes(call: &Call<'_>, options: &Options<'_>) -> Result<Wishes, CommandError> {
    let now = call.server.client(call.client).tracking();
    if !options.broadcast && !options.prefixes.is_empty() {
        return Err(PREFIX_WITHOUT_BROADCAST);
    }
    if now.is_some_and(|now| (now.mode == Mode::Broadcast) != options.broadcast) {
        return Err(OTHER_BROADCAST);
    }
    if options.broadcast && (options.opt_in || options.opt_out) {
        return Err(NOT_WITH_BROADCAST);
    }
    if options.opt_in && options.opt_out {
        return Err(NOT_BOTH);
    }
    let is = |mode| now.is_some_and(|now| now.mode == mode);
    if options.opt_in && is(Mode::OptOut) || options.opt_out && is(Mode::OptIn) {
        return Err(OTHER_CHOICE);
    }
    let mode = match (options.broadcast, options.opt_in, options.opt_out) {
        (true, ..) => Mode::Broadcast,
        (_, true, _) => Mode::OptIn,
        (.., true) => Mode::OptOut,
        _ => Mode::Read,
    };
    check_prefixes(now, &options.prefixes)?;
    Ok(Wishes {
        mode,
        no_loop: options.no_loop,
        redirect: options.redirect,
        prefixes: options.prefixes.iter().map(|prefix| (*prefix).into()).collect(),
        ..Wishes::default()
    })
}

/// No prefix of a client may begin with another: `checkPrefixCollisionsOrReply`.
fn check_prefixes(now: Option<&Wishes>, prefixes: &[&[u8]]) -> Result<(), CommandError> {
    let refuse = |one: &[u8], which: &str, other: &[u8]| {
        let text = [
            b"ERR Prefix '".as_slice(),
            one,
            which.as_bytes(),
            other,
            b"'. Prefixes for a single client must not overlap.",
        ];
        CommandError::text(text.concat())
    };
    let overlaps = |one: &[u8], other: &[u8]| one.starts_with(other) || other.starts_with(one);
    for (place, prefix) in prefixes.iter().enumerate() {
        let mut known = now.into_iter().flat_map(|now| &now.prefixes);
        if let Some(other) = known.find(|other| overlaps(prefix, other)) {
            return Err(refuse(prefix, "' overlaps with an existing prefix '", other));
        }
        let mut following = prefixes[place + 1..].iter();
        if let Some(other) = following.find(|other| overlaps(prefix, other)) {
            return Err(refuse(prefix, "' overlaps with another provided prefix '", other));
        }
    }
    Ok(())
}

pub(super) fn caching(call: &mut Call<'_>) -> CommandResult {
    let word = call.arg(2).to_ascii_lowercase();
    let wishes = call.client().tracking_mut().ok_or(CACHING_WITHOUT_TRACKING)?;
    match (&*word, wishes.mode) {
        (b"yes", Mode::OptIn) | (b"no", Mode::OptOut) => wishes.caching = true,
        (b"yes", _) => return Err(YES_WITHOUT_OPTIN),
        (b"no", _) => return Err(NO_WITHOUT_OPTOUT),
        _ => return Err(SYNTAX),
    }
    call.reply.ok();
    Ok(())
}

pub(super) fn getredir(call: &mut Call<'_>) -> CommandResult {
    let redirect = redirect_of(call, call.client);
    call.reply.integer(redirect);
    Ok(())
}

/// The number of the client that is told instead, 0 for none; -1 if a client does not track.
pub(super) fn redirect_of(call: &Call<'_>, key: ClientKey) -> i64 {
    call.server.client(key).tracking().as_ref().map_or(-1, |wishes| wishes.redirect as i64)
}

pub(super) fn trackinginfo(call: &mut Call<'_>) -> CommandResult {
    let wishes = call.client().tracking().cloned();
    let redirect = redirect_of(call, call.client);
    let reply = &mut *call.reply;
    let mut flags = vec![if wishes.is_some() { "on" } else { "off" }];
    let marks = wishes.as_ref().map_or(Vec::new(), |wishes| {
        vec![
            (wishes.mode == Mode::Broadcast, "bcast"),
            (wishes.mode == Mode::OptIn, "optin"),
            (wishes.mode == Mode::OptIn && wishes.caching, "caching-yes"),
            (wishes.mode == Mode::OptOut, "optout"),
            (wishes.mode == Mode::OptOut && wishes.caching, "caching-no"),
            (wishes.no_loop, "noloop"),
            (wishes.is_broken, "broken_redirect"),
        ]
    });
    flags.extend(marks.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name));
    reply.map(3);
    reply.bulk(b"flags");
    reply.set(flags.len());
    flags.iter().for_each(|flag| reply.bulk(flag.as_bytes()));
    reply.bulk(b"redirect");
    reply.integer(redirect);
    reply.bulk(b"prefixes");
    let prefixes = wishes.map(|wishes| wishes.prefixes).unwrap_or_default();
    reply.array(prefixes.len());
    prefixes.iter().for_each(|prefix| reply.bulk(prefix));
    Ok(())
}
