use super::lint::nearest;
use super::machine::{Machine, PARTS};
use crate::lock::{Deployment, LockForm, ServerLock};
use luna_core::runtime::Value;

pub(super) const MASTERS: i64 = 5;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Facts {
    pub(super) deployment: Deployment,
    pub(super) tokens: bool,
    pub(super) fair: bool,
    pub(super) waits: bool,
    pub(super) models: Option<String>,
    pub(super) ttl_ms: Option<u64>,
    pub(super) retry_ms: Option<(u64, u64)>,
    pub(super) extends: bool,
    pub(super) checks: bool,
    pub(super) renews: bool,
    pub(super) has_renew: bool,
}

const FIELDS: &[&str] =
    &["deployment", "fair", "models", "renews", "retry", "tokens", "ttl", "waits"];

const DEPLOYMENTS: &[(&str, Deployment)] = &[
    ("single", Deployment::Primary),
    ("independent", Deployment::Independent),
    ("memcached", Deployment::Memcached),
    ("zookeeper", Deployment::ZooKeeper),
    ("postgresql-row", Deployment::PostgreSql(LockForm::RowByServer)),
    ("postgresql-row-by-clients", Deployment::PostgreSql(LockForm::RowByClients)),
    ("postgresql-session", Deployment::PostgreSql(LockForm::Connection)),
    ("mysql", Deployment::MySql),
    ("etcd", Deployment::Etcd(ServerLock::Unchecked)),
];

pub(super) fn facts_of(machine: &mut Machine, parts: [Value; PARTS]) -> Result<Facts, String> {
    let [lock, acquire, release, extend, is_held, renew] = parts;
    let required = [("acquire", acquire), ("release", release)];
    let optional = [("extend", extend), ("is_held", is_held), ("renew", renew)];
    for (name, value) in required {
        if !is_function(value) {
            let found = match value {
                Value::Nil => "is missing".to_owned(),
                other => format!("is a {}", other.type_name()),
            };
            return Err(format!("{name} {found}: expected 'function {name}(key, ...)'"));
        }
    }
    if let Some((name, value)) =
        optional.into_iter().find(|(_, value)| !value.is_nil() && !is_function(*value))
    {
        return Err(format!("{name} is a {}: expected a function, or nothing", value.type_name()));
    }
    let mut table = Fields { machine, lock };
    table.check_fields()?;
    let own_renewal = table.flag("renews")?;
    Ok(Facts {
        deployment: table.deployment()?,
        tokens: table.flag("tokens")?,
        fair: table.flag("fair")?,
        waits: table.flag("waits")?,
        models: table.text("models")?,
        ttl_ms: table.ttl()?,
        retry_ms: table.retry()?,
        extends: is_function(extend),
        checks: is_function(is_held),
        renews: own_renewal || is_function(renew),
        has_renew: is_function(renew),
    })
}

fn is_function(value: Value) -> bool {
    matches!(value, Value::Closure(_) | Value::Native(_))
}

struct Fields<'m> {
    machine: &'m mut Machine,
    lock: Value,
}

impl Fields<'_> {
    fn check_fields(&self) -> Result<(), String> {
        let Value::Table(table) = self.lock else {
            let kind = self.lock.type_name();
            let problem =
                format!("lock is a {kind}: expected a table, like lock = {{ ttl = 10000 }}");
            return if self.lock.is_nil() { Ok(()) } else { Err(problem) };
        };
        let mut last = Value::Nil;
        while let Ok(Some((key, _))) = table.next(last) {
            let name = self.machine.text_of(key);
            if !FIELDS.contains(&name.as_str()) {
                let near = nearest(&name, FIELDS.iter().copied());
                let hint = near.map_or(String::new(), |near| format!(" (did you mean '{near}'?)"));
                return Err(format!("lock.{name}{hint}: expected one of {}", FIELDS.join(", ")));
            }
            last = key;
        }
        Ok(())
    }

    fn flag(&mut self, name: &str) -> Result<bool, String> {
        match self.machine.field(self.lock, name) {
            Value::Nil => Ok(false),
            Value::Bool(flag) => Ok(flag),
            other => Err(self.wrong(name, other, "true or false")),
        }
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.machine.field(self.lock, name) {
            Value::Nil => Ok(None),
            text @ Value::Str(_) => Ok(Some(self.machine.text_of(text))),
            other => Err(self.wrong(name, other, "a string")),
        }
    }

    fn deployment(&mut self) -> Result<Deployment, String> {
        let Some(name) = self.text("deployment")? else { return Ok(Deployment::Primary) };
        let found = DEPLOYMENTS.iter().find(|(known, _)| *known == name);
        let names: Vec<&str> = DEPLOYMENTS.iter().map(|(name, _)| *name).collect();
        found.map(|(_, deployment)| *deployment).ok_or_else(|| {
            format!("lock.deployment '{name}': expected one of {}", names.join(", "))
        })
    }

    fn ttl(&mut self) -> Result<Option<u64>, String> {
        match self.machine.field(self.lock, "ttl") {
            Value::Nil => Ok(None),
            Value::Int(ttl @ 1..=86_400_000) => Ok(Some(ttl.unsigned_abs())),
            other => Err(self.wrong("ttl", other, "milliseconds, from 1 to 86400000")),
        }
    }

    fn retry(&mut self) -> Result<Option<(u64, u64)>, String> {
        let retry = self.machine.field(self.lock, "retry");
        let wanted = "the shortest and the longest delay in milliseconds, like { 50, 200 }";
        let Value::Table(table) = retry else {
            return if retry.is_nil() { Ok(None) } else { Err(self.wrong("retry", retry, wanted)) };
        };
        match (table.get_int(1), table.get_int(2)) {
            (Value::Int(min), Value::Int(max)) if 0 <= min && min <= max && max <= 86_400_000 => {
                Ok(Some((min.unsigned_abs(), max.unsigned_abs())))
            }
            _ => Err(format!("lock.retry: expected {wanted}")),
        }
    }

    fn wrong(&self, name: &str, value: Value, wanted: &str) -> String {
        let told = match value {
            Value::Table(_) | Value::Closure(_) | Value::Native(_) => value.type_name().to_owned(),
            other => self.machine.text_of(other),
        };
        format!("lock.{name} '{told}': expected {wanted}")
    }
}
