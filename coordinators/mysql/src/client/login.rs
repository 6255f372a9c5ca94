//! Greeting and login. Only `root` may log in, from any host, without a password.

use super::{Client, Core, Stage};
use crate::VERSION;
use crate::charset::{Charset, DEFAULT};
use crate::error::{Outcome, SqlError};
use crate::locks::SessionId;
use crate::packet::Reply;
use crate::store::Store;
use bytes::{BufMut, Bytes, BytesMut};

const USER: &str = "root";
const PLUGIN: &[u8] = b"mysql_native_password";
const SCRAMBLE: usize = 20;

const FOUND_ROWS: u32 = 1 << 1;
const CONNECT_WITH_DB: u32 = 1 << 3;
const PROTOCOL_41: u32 = 1 << 9;
const INTERACTIVE: u32 = 1 << 10;
const SSL: u32 = 1 << 11;
const SECURE_CONNECTION: u32 = 1 << 15;
const MULTI_STATEMENTS: u32 = 1 << 16;
const PLUGIN_AUTH: u32 = 1 << 19;
const LENGTH_ENCODED: u32 = 1 << 21;
/// Capabilities of the real server that the model also announces.
const CAPABILITIES: u32 = 0x807f_f75f;

#[derive(Clone, Debug)]
pub(crate) struct Login {
    salt: [u8; 20],
    response: Option<HandshakeResponse>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct HandshakeResponse {
    user: String,
    password: Vec<u8>,
    database: Option<String>,
    plugin: Vec<u8>,
    charset: u8,
    capabilities: u32,
}

impl Login {
    pub(crate) fn new(salt: [u8; 20]) -> Login {
        Login { salt, response: None }
    }
}

pub(crate) fn greeting(id: SessionId, salt: &[u8; 20]) -> BytesMut {
    let mut body = vec![10];
    // MariaDB adds this prefix for old replicas.
    body.put_slice(format!("5.5.5-{VERSION}\0").as_bytes());
    body.put_u32_le(id);
    body.put_slice(&salt[..8]);
    body.put_u8(0);
    body.put_u16_le(CAPABILITIES as u16);
    body.put_u8(DEFAULT.number as u8);
    body.put_u16_le(2);
    body.put_u16_le((CAPABILITIES >> 16) as u16);
    body.put_u8(salt.len() as u8 + 1);
    body.put_bytes(0, 10);
    body.put_slice(&salt[8..]);
    body.put_u8(0);
    body.put_slice(PLUGIN);
    body.put_u8(0);
    let mut reply = Reply::new(0);
    reply.packet(&body);
    reply.into_bytes()
}

impl Client {
    pub(super) fn log_in(&mut self, core: &mut Core, body: &Bytes) {
        let Stage::Login(login) = &mut self.stage else { return };
        let (response, password) = match login.response.take() {
            Some(response) => (response, body.to_vec()),
            None => match read(body) {
                Ok(response) if response.plugin != PLUGIN => {
                    let mut ask = [b"\xfe", PLUGIN, b"\0"].concat();
                    ask.put_slice(&login.salt);
                    ask.put_u8(0);
                    login.response = Some(response);
                    let mut reply = Reply::new(self.number);
                    reply.packet(&ask);
                    let number = reply.number();
                    self.finish(core, reply);
                    self.number = number;
                    return;
                }
                Ok(response) => {
                    let password = response.password.clone();
                    (response, password)
                }
                Err(error) => return self.end(core, &error),
            },
        };
        match self.admit(&core.store, &response, &password) {
            Ok(()) => {
                let mut reply = Reply::new(self.number);
                reply.ok(self.session.status(), 0);
                self.stage = Stage::Ready;
                self.finish(core, reply);
            }
            Err(error) => self.end(core, &error),
        }
    }

    fn admit(
        &mut self,
        store: &Store,
        response: &HandshakeResponse,
        password: &[u8],
    ) -> Outcome<()> {
        if !matches!(password.len(), 0 | SCRAMBLE) {
            return Err(SqlError::bad_handshake());
        }
        if response.user != USER || !password.is_empty() {
            let (user, host) = (&response.user, &self.session.host);
            let using = if password.is_empty() { "NO" } else { "YES" };
            let message =
                format!("Access denied for user '{user}'@'{host}' (using password: {using})");
            return Err(SqlError::new(1045, "28000", message));
        }
        let session = &mut self.session;
        session.user = response.user.clone();
        session.charset = Charset::numbered(u16::from(response.charset));
        session.takes_several = response.capabilities & MULTI_STATEMENTS != 0;
        session.counts_found = response.capabilities & FOUND_ROWS != 0;
        if response.capabilities & INTERACTIVE != 0 {
            session.variables.make_interactive();
        }
        match response.database.as_deref() {
            None | Some("") => Ok(()),
            Some(name) => session.choose(name, store),
        }
    }
}

fn read(body: &Bytes) -> Outcome<HandshakeResponse> {
    let bad = SqlError::bad_handshake;
    let head: [u8; 32] = body.get(..32).and_then(|head| head.try_into().ok()).ok_or_else(bad)?;
    let capabilities = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    if capabilities & PROTOCOL_41 == 0 || capabilities & SSL != 0 {
        return Err(bad());
    }
    let mut rest = &body[32..];
    let user = until_zero(&mut rest).ok_or_else(bad)?;
    let password = match capabilities & SECURE_CONNECTION != 0 {
        true => counted(&mut rest, capabilities & LENGTH_ENCODED != 0).ok_or_else(bad)?,
        false => until_zero(&mut rest).ok_or_else(bad)?,
    };
    let database = match capabilities & CONNECT_WITH_DB != 0 {
        true => Some(until_zero(&mut rest).ok_or_else(bad)?),
        false => None,
    };
    let plugin = match (capabilities & PLUGIN_AUTH != 0, capabilities & SECURE_CONNECTION != 0) {
        (_, false) => b"mysql_old_password".to_vec(),
        (true, true) => rest.split(|byte| *byte == 0).next().unwrap_or(rest).to_vec(),
        (false, true) => PLUGIN.to_vec(),
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (user, database) = (text(user), database.map(text));
    Ok(HandshakeResponse { user, password, database, plugin, charset: head[8], capabilities })
}

fn until_zero(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let end = rest.iter().position(|byte| *byte == 0)?;
    let text = rest[..end].to_vec();
    *rest = &rest[end + 1..];
    Some(text)
}

fn counted(rest: &mut &[u8], is_length_encoded: bool) -> Option<Vec<u8>> {
    let (first, after) = rest.split_first()?;
    if is_length_encoded && *first > 250 {
        return None;
    }
    let text = after.get(..usize::from(*first))?.to_vec();
    *rest = &after[usize::from(*first)..];
    Some(text)
}
