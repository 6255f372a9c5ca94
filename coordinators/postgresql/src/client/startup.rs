//! The start of a connection. The server declines encryption and does not authenticate users.

use super::{Client, Stage};
use crate::core::{Core, Signal};
use crate::error::{Outcome, Severity, SqlError};
use crate::store::Backend;
use crate::stream::Sender;
use crate::wire::{self, Startup};
use bytes::{BufMut, Bytes};

const VERSION: u32 = 3 << 16;
const CANCEL: u32 = (1_234 << 16) + 5_678;
const SSL: u32 = (1_234 << 16) + 5_679;
const GSS: u32 = (1_234 << 16) + 5_680;

impl Client {
    pub(super) fn start_up(&mut self, core: &mut Core) -> bool {
        let (version, body) = match wire::startup(&mut self.input) {
            Startup::More => return false,
            Startup::Broken => {
                self.leave(core);
                return true;
            }
            Startup::Packet(version, body) => (version, body),
        };
        let Stage::Startup { asked_ssl, asked_gss } = self.stage else { return false };
        match version {
            CANCEL => {
                self.cancel(core, &body);
                self.leave(core);
            }
            SSL if !asked_ssl => {
                self.stage = Stage::Startup { asked_ssl: true, asked_gss };
                self.out.put_u8(b'N');
            }
            GSS if !asked_gss => {
                self.stage = Stage::Startup { asked_ssl, asked_gss: true };
                self.out.put_u8(b'N');
            }
            version if version >> 16 < 3 => {
                // The error has the form of protocol 2: a string that ends with a NUL byte.
                let (major, minor) = (version >> 16, version & 0xffff);
                let text = format!(
                    "EFATAL:  unsupported frontend protocol {major}.{minor}: server supports 3.0 \
                     to 3.0\n\0"
                );
                self.out.put_slice(text.as_bytes());
                self.leave(core);
            }
            version => {
                let outcome = self.admit(core, version, &body);
                if let Err(error) = outcome {
                    self.end(core, &error);
                }
            }
        }
        true
    }

    fn cancel(&mut self, core: &mut Core, body: &Bytes) {
        let [a, b, c, d, secret @ ..] = body.as_ref() else { return };
        let backend = Backend(u32::from_be_bytes([*a, *b, *c, *d]));
        let Ok(secret) = <[u8; 4]>::try_from(secret) else { return };
        core.cancels.push((backend, u32::from_be_bytes(secret), Signal::Cancel));
    }

    fn admit(&mut self, core: &mut Core, version: u32, body: &Bytes) -> Outcome<()> {
        let (major, minor) = (version >> 16, version & 0xffff);
        if major != 3 {
            let message = format!(
                "unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.0"
            );
            return Err(SqlError::fatal("0A000", message));
        }
        let options = options(body)?;
        let mut unknown = Vec::new();
        let (mut switches, mut settings) = (String::new(), Vec::new());
        for (name, value) in options {
            match name.as_str() {
                "user" => self.session.user = value,
                "database" => self.session.database = value,
                "replication" if is_on(&value) && core.log.is_kept() => {
                    self.sender = Some(Sender::new(core.now.monotonic.0));
                }
                "options" => switches = value,
                "replication" => {}
                name if name.starts_with("_pq_.") => unknown.push(name.to_owned()),
                _ => settings.push((name, value)),
            }
        }
        if self.session.user.is_empty() {
            let message = "no PostgreSQL user name specified in startup packet";
            return Err(SqlError::fatal("28000", message));
        }
        if core.backends.len() >= core.clients_max && self.sender.is_none() {
            return Err(SqlError::fatal("53300", "sorry, too many clients already"));
        }
        if self.session.database.is_empty() {
            self.session.database = self.session.user.clone();
        }
        if version > VERSION || !unknown.is_empty() {
            wire::message(&mut self.out, b'v', |out| {
                out.put_u32(VERSION);
                out.put_u32(unknown.len() as u32);
                for name in &unknown {
                    out.put_slice(name.as_bytes());
                    out.put_u8(0);
                }
            });
        }
        wire::message(&mut self.out, b'R', |out| out.put_u32(0));
        for (name, value) in switched(&switches)?.into_iter().chain(settings) {
            let set = self.session.settings.set(&name, Some(&value));
            set.map_err(|error| SqlError { severity: Severity::Fatal, ..error })?;
        }
        self.session.first_settings = self.session.settings.clone();
        self.greet(core);
        Ok(())
    }

    fn greet(&mut self, core: &mut Core) {
        self.stage = Stage::Ready;
        if self.sender.is_none() {
            core.backends.push(self.session.backend);
        }
        self.report();
        let (backend, secret) = (self.session.backend, self.session.secret);
        wire::message(&mut self.out, b'K', |out| {
            out.put_u32(backend.0);
            out.put_u32(secret);
        });
        self.ready(core);
    }
}

fn is_on(value: &str) -> bool {
    ["true", "on", "yes", "1"].contains(&value)
}

/// Returns the settings in the startup parameter `options`, which has the form of a command line.
fn switched(line: &str) -> Outcome<Vec<(String, String)>> {
    let mut words = words(line).into_iter();
    let mut settings = Vec::new();
    while let Some(word) = words.next() {
        let setting = match word.strip_prefix("-c").or_else(|| word.strip_prefix("--")) {
            Some("") if word == "-c" => words.next(),
            setting => setting.map(str::to_owned),
        };
        let Some((name, value)) = setting.as_ref().and_then(|setting| setting.split_once('='))
        else {
            let error = SqlError::unsupported(format!("the command-line option \"{word}\""));
            return Err(SqlError { severity: Severity::Fatal, ..error });
        };
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(settings)
}

/// Splits a line at blanks. A backslash makes the next character part of a word.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t'..='\r' => words.push(std::mem::take(&mut word)),
            '\\' => word.extend(characters.next()),
            _ => word.push(character),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn options(body: &Bytes) -> Outcome<Vec<(String, String)>> {
    let mut texts = Vec::new();
    let mut rest = body.as_ref();
    loop {
        let Some(end) = rest.iter().position(|byte| *byte == 0) else {
            let message = "invalid startup packet layout: expected terminator as last byte";
            return Err(SqlError::fatal("08P01", message));
        };
        if end == 0 && texts.len() % 2 == 0 {
            break;
        }
        texts.push(String::from_utf8_lossy(&rest[..end]).into_owned());
        rest = &rest[end + 1..];
    }
    if rest.len() != 1 {
        let message = "invalid startup packet layout: expected terminator as last byte";
        return Err(SqlError::fatal("08P01", message));
    }
    let pairs = texts.chunks_exact(2);
    Ok(pairs.map(|pair| (pair[0].clone(), pair[1].clone())).collect())
}
