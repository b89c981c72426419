//! The real Redis behind [`Store`].

use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, FromRedisValue, RedisResult, Value};

use crate::answer::FIELDS;
use crate::connect::{Link, Way};
use crate::keys::{Keys, NODE_BYTES};
use crate::scripts::{self, Scripts, call as script};
use crate::store::{Call, Failed, Got, Gotten, Lost, Owner, Store};

/// How long a node lives without a sign of it.
const HEARTBEAT_MS: u64 = 10_000;
/// Names of an index at once.
const PAGE: usize = 500;
/// No field that a bridge wrote is longer, and no name. Whatever is stays in the server.
const FIELD_BYTES: usize = 1024;
const NAME_BYTES: usize = 512;
/// The same of a node's hash, which has all its GPUs.
const RECORD_BYTES: usize = 64 * 1024;
/// What the server says where the same call succeeds later, or once somebody has changed a setting.
const LATER: [&str; 13] = [
    "OOM",
    "READONLY",
    "LOADING",
    "CLUSTERDOWN",
    "TRYAGAIN",
    "MASTERDOWN",
    "NOREPLICAS",
    "MISCONF",
    "BUSY",
    "NOSCRIPT",
    "NOPERM",
    "NOAUTH",
    "UNKILLABLE",
];
/// Where another connection may lead to another server: what was the primary is one no more.
const ELSEWHERE: [&str; 2] = ["READONLY", "MASTERDOWN"];

/// A server, with one connection of its own.
pub struct Server {
    way: Arc<Way>,
    keys: Arc<Keys>,
    scripts: Scripts,
    reply_ttl: Duration,
    link: Option<Link>,
}

impl Server {
    /// Nothing is connected before [`Store::reconnect`].
    pub fn new(way: Arc<Way>, keys: Arc<Keys>, reply_ttl: Duration) -> Self {
        Self { way, keys, scripts: Scripts::new(), reply_ttl, link: None }
    }

    fn lost(&mut self, error: &redis::RedisError) -> Lost {
        self.link = None;
        Lost(error.to_string())
    }

    /// The commands that a call is, each to be sent only if those before it succeeded.
    fn commands(&self, call: &Call) -> Vec<Cmd> {
        let (keys, scripts) = (&self.keys, &self.scripts);
        let ttl = u64::try_from(self.reply_ttl.as_millis()).unwrap_or(u64::MAX);
        let command = |name: &str, key: String| {
            let mut command = redis::cmd(name);
            command.arg(key);
            command
        };
        match call {
            Call::Project { name, fields, force } => {
                let mut project = script(&scripts.project, &[keys.tensor(name)]);
                project.arg(keys.node()).arg(if *force { "1" } else { "0" });
                for (field, text) in fields.texts() {
                    project.arg(field).arg(text);
                }
                vec![project]
            }
            Call::Remove { name, node } => {
                let mut remove = script(&scripts.remove, &[keys.tensor(name)]);
                remove.arg(node);
                vec![remove]
            }
            Call::Index(names) => {
                let mut add = command("SADD", keys.index(keys.node()));
                add.arg(names);
                vec![add]
            }
            Call::Forget { names, node } => {
                let mut sweep = script(&scripts.sweep, &[keys.index(node)]);
                sweep.arg(names);
                vec![sweep]
            }
            Call::Answer { source, raw, reply, gave } => {
                let processing = keys.processing(*source);
                let end = |script: &mut Cmd| {
                    let gave = gave.as_deref().unwrap_or_default();
                    script.arg(keys.memory()).arg(raw).arg(gave).arg(ttl);
                };
                let acknowledge = |processing| {
                    let mut acknowledge = script(&scripts.acknowledge, &[processing]);
                    end(&mut acknowledge);
                    acknowledge
                };
                match reply {
                    None => vec![acknowledge(processing)],
                    Some((key, body)) if self.way.is_cluster() => {
                        let mut reply = script(&scripts.reply, std::slice::from_ref(key));
                        reply.arg(ttl).arg(body);
                        vec![reply, acknowledge(processing)]
                    }
                    Some((key, body)) => {
                        let mut answer = script(&scripts.answer, &[key.clone(), processing]);
                        end(&mut answer);
                        answer.arg(body);
                        vec![answer]
                    }
                }
            }
            Call::Forward { source, raw, node } => {
                let both = [keys.processing(*source), keys.commands_of(node)];
                let mut forward = script(&scripts.forward, &both);
                forward.arg(raw);
                vec![forward]
            }
            Call::Take { source, at_most } => vec![scripts.take_some(keys, *source, *at_most)],
            Call::Waiting(source) => vec![scripts.waiting(keys, *source)],
            Call::Owner(name) => vec![script(&scripts.owner, &[keys.tensor(name)])],
            Call::Heartbeat(node) => vec![command("EXISTS", keys.heartbeat(node))],
            Call::Fields(name) => {
                let mut get = script(&scripts.fields, &[keys.tensor(name)]);
                get.arg(FIELD_BYTES).arg(&FIELDS[..]);
                vec![get]
            }
            Call::Names { node, cursor } => {
                let mut scan = script(&scripts.names, &[keys.index(node)]);
                scan.arg(*cursor).arg(PAGE).arg(NAME_BYTES);
                vec![scan]
            }
            Call::Servers => vec![command("INFO", "server".to_owned())],
            Call::Nodes { cursor } => {
                let mut scan = script(&scripts.names, &[keys.nodes()]);
                scan.arg(*cursor).arg(PAGE).arg(NODE_BYTES);
                vec![scan]
            }
            Call::Node(node, fields) => {
                let mut get = script(&scripts.record, &[keys.node_hash(node)]);
                get.arg(RECORD_BYTES).arg(*fields);
                vec![get]
            }
            Call::Register(fields) => {
                let mut add = command("SADD", keys.nodes());
                add.arg(keys.node());
                let mut write = command("HSET", keys.node_hash(keys.node()));
                for (field, text) in fields {
                    write.arg(field).arg(text);
                }
                let mut beat = command("SET", keys.heartbeat(keys.node()));
                beat.arg("1").arg("PX").arg(HEARTBEAT_MS);
                vec![write, beat, add]
            }
            Call::Unregister(node) => {
                let mut remove = command("SREM", keys.nodes());
                remove.arg(node);
                let gone = [keys.index(node), keys.node_hash(node)];
                gone.into_iter().map(|key| command("DEL", key)).chain([remove]).collect()
            }
        }
    }

    /// Removes keys of nodes that somebody put something else in the place of; whether there were any.
    fn clear(&mut self, call: &Call) -> Result<bool, Lost> {
        let keys = &self.keys;
        let ours = match call {
            Call::Register(_) => {
                vec![(keys.nodes(), "set"), (keys.node_hash(keys.node()), "hash")]
            }
            Call::Nodes { .. } => vec![(keys.nodes(), "set")],
            Call::Index(_) => vec![(keys.index(keys.node()), "set")],
            Call::Forget { node, .. } | Call::Names { node, .. } => {
                vec![(keys.index(node), "set")]
            }
            _ => Vec::new(),
        };
        let Some(link) = &mut self.link else { return Err(Lost("not connected".to_owned())) };
        let mut cleared = Ok(false);
        for (key, right) in ours {
            let connection = link.as_connection();
            let kind = redis::cmd("TYPE").arg(&key).query::<String>(connection);
            let removed = kind.and_then(|kind| match kind == right || kind == "none" {
                true => Ok(false),
                false => redis::cmd("DEL").arg(&key).query::<u64>(connection).map(|gone| gone > 0),
            });
            cleared = cleared.and_then(|before| removed.map(|now| before || now));
        }
        cleared.map_err(|error| self.lost(&error))
    }

    fn send(&mut self, calls: &[Call]) -> Result<Gotten, Lost> {
        let lists: Vec<Vec<Cmd>> = calls.iter().map(|call| self.commands(call)).collect();
        let Some(link) = &mut self.link else { return Err(Lost("not connected".to_owned())) };
        let mut gotten = Vec::with_capacity(calls.len());
        let sent = match link {
            Link::One(_) => {
                let lengths: Vec<usize> = lists.iter().map(Vec::len).collect();
                link.all(lists.into_iter().flatten().collect()).map(|values| {
                    let mut values = values.into_iter();
                    for (call, length) in calls.iter().zip(lengths) {
                        gotten.push(got(call, values.by_ref().take(length).collect()));
                    }
                })
            }
            Link::Cluster(_) => calls.iter().zip(lists).try_for_each(|(call, commands)| {
                let mut values = Vec::new();
                for command in commands {
                    values.append(&mut link.all(vec![command])?);
                    if matches!(values.last(), Some(Value::ServerError(_))) {
                        break;
                    }
                }
                gotten.push(got(call, values));
                Ok(())
            }),
        };
        sent.map_err(|error| self.lost(&error))?;
        Ok(gotten)
    }
}

impl Store for Server {
    fn call(&mut self, calls: &[Call]) -> Result<Gotten, Lost> {
        let mut gotten = self.send(calls)?;
        for (call, got) in calls.iter().zip(&mut gotten) {
            if let Err(Failed::Never(why)) = got
                && why.starts_with("WRONGTYPE")
                && self.clear(call)?
            {
                *got = Err(Failed::Later(std::mem::take(why)));
            }
        }
        let says = |code: &str| {
            let is_it = |failed: &Failed| matches!(failed, Failed::Later(why) if why.split(' ').next() == Some(code));
            gotten.iter().any(|got| got.as_ref().is_err_and(is_it))
        };
        if says("NOSCRIPT")
            && let Some(link) = &mut self.link
        {
            let loaded = self.scripts.load(link.as_connection());
            loaded.map_err(|error| self.lost(&error))?;
        } else if ELSEWHERE.into_iter().any(says) {
            self.link = None;
        }
        Ok(gotten)
    }

    fn reconnect(&mut self) -> Result<(), Lost> {
        if self.link.is_some() {
            return Ok(());
        }
        let connected = self.way.connect().and_then(|mut link| {
            self.scripts.load(link.as_connection())?;
            Ok(link)
        });
        self.link = Some(connected.map_err(|error| Lost(error.to_string()))?);
        Ok(())
    }
}

/// What a call's command gave, or the one of several that says something, if all of them succeeded.
fn got(call: &Call, mut values: Vec<Value>) -> Result<Got, Failed> {
    for value in &values {
        if let Value::ServerError(error) = value {
            let why = format!("{} {}", error.code(), error.details().unwrap_or_default());
            let later = LATER.contains(&error.code());
            return Err(if later { Failed::Later(why) } else { Failed::Never(why) });
        }
    }
    // In a cluster the acknowledgement comes behind the answer.
    let says =
        if matches!(call, Call::Answer { .. }) { values.drain(..).next() } else { values.pop() };
    let value = says.unwrap_or(Value::Nil);
    read(call, value).map_err(|error| Failed::Never(error.to_string()))
}

fn read(call: &Call, value: Value) -> RedisResult<Got> {
    fn of<T: FromRedisValue>(value: Value) -> RedisResult<T> {
        redis::from_redis_value(value).map_err(Into::into)
    }
    Ok(match call {
        Call::Project { .. } | Call::Owner(_) => {
            Got::Owner(match of::<Option<Vec<u8>>>(value)?.map(lossy) {
                None => Owner::Nobody,
                Some(node) if node.is_empty() => Owner::Foreign,
                Some(node) => Owner::Node(node),
            })
        }
        Call::Take { .. } | Call::Waiting(_) => Got::Commands(scripts::taken(value)?),
        Call::Fields(_) if matches!(value, Value::BulkString(_)) => Got::Owner(Owner::Foreign),
        Call::Fields(_) | Call::Node(..) => Got::Values(of(value)?),
        Call::Names { .. } | Call::Nodes { .. } => {
            let (cursor, names): (u64, Vec<Vec<u8>>) = of(value)?;
            Got::Page(cursor, names.into_iter().map(lossy).collect())
        }
        Call::Servers => Got::Names(run_ids(&value)),
        Call::Answer { .. } | Call::Heartbeat(_) | Call::Register(_) => {
            Got::Is(of::<u64>(value)? > 0)
        }
        _ => Got::Nothing,
    })
}

/// What servers say of themselves, of one or of all primaries of a cluster.
fn run_ids(value: &Value) -> Vec<String> {
    let of_text = |text: &str| {
        let ids = text.lines().filter_map(|line| line.strip_prefix("run_id:"));
        ids.map(|id| id.trim().to_owned()).collect::<Vec<_>>()
    };
    match value {
        Value::BulkString(bytes) => of_text(&String::from_utf8_lossy(bytes)),
        Value::VerbatimString { text, .. } | Value::SimpleString(text) => of_text(text),
        Value::Map(nodes) => nodes.iter().flat_map(|(_, node)| run_ids(node)).collect(),
        Value::Array(parts) => parts.iter().flat_map(run_ids).collect(),
        _ => Vec::new(),
    }
}

/// Names that this bridge wrote are text; others are nobody's.
fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into())
}
