//! The real Redis behind [`Store`].

use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, FromRedisValue, RedisResult, Script, Value};

use crate::answer::FIELDS;
use crate::connect::{BLOCK, Link, Way};
use crate::keys::{Keys, Source};
use crate::scripts::Scripts;
use crate::store::{BATCH, Call, Failed, Got, Gotten, Lost, Store};

/// After so many bytes no more commands are taken at once: large ones are read one by one.
const BATCH_BYTES: usize = 1 << 20;
/// How long a node lives without a sign of it.
const HEARTBEAT_MS: u64 = 10_000;
/// Names of an index at once.
const PAGE: usize = 500;
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

    /// Waits for a command and moves it to the processing list. None after a while without any.
    pub fn wait(&mut self, source: Source) -> Result<Option<Vec<u8>>, Lost> {
        let mut command = redis::cmd("BLMOVE");
        command.arg(self.keys.commands(source)).arg(self.keys.processing(source));
        command.arg("RIGHT").arg("LEFT").arg(BLOCK.as_secs());
        let Some(link) = &mut self.link else { return Err(Lost("not connected".to_owned())) };
        let taken = command.query::<Option<Vec<u8>>>(link.as_connection());
        taken.map_err(|error| self.lost(&error))
    }

    /// Gives the connection up: its next answer may be one that nobody waits for any more.
    pub fn disconnect(&mut self) {
        self.link = None;
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
            Call::Answer { source, raw, reply } => {
                let processing = keys.processing(*source);
                let acknowledge = |processing| {
                    let mut acknowledge = script(&scripts.acknowledge, &[processing]);
                    acknowledge.arg(raw);
                    acknowledge
                };
                match reply {
                    None => vec![acknowledge(processing)],
                    Some((key, body)) if self.way.is_cluster() => {
                        let mut reply = script(&scripts.reply, std::slice::from_ref(key));
                        reply.arg(body).arg(ttl);
                        vec![reply, acknowledge(processing)]
                    }
                    Some((key, body)) => {
                        let mut answer = script(&scripts.answer, &[key.clone(), processing]);
                        answer.arg(body).arg(ttl).arg(raw);
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
            Call::Take { source, at_most: 1 } => {
                let mut take = command("LMOVE", keys.commands(*source));
                take.arg(keys.processing(*source)).arg("RIGHT").arg("LEFT");
                vec![take]
            }
            Call::Take { source, at_most } => {
                let both = [keys.commands(*source), keys.processing(*source)];
                let mut take = script(&scripts.take, &both);
                take.arg(*at_most).arg(BATCH_BYTES);
                vec![take]
            }
            Call::Waiting(source) => {
                let mut waiting = script(&scripts.waiting, &[keys.processing(*source)]);
                waiting.arg(BATCH).arg(BATCH_BYTES);
                vec![waiting]
            }
            Call::Owner(name) => {
                let mut get = command("HGET", keys.tensor(name));
                get.arg("node");
                vec![get]
            }
            Call::Heartbeat(node) => vec![command("GET", keys.heartbeat(node))],
            Call::Fields(name) => {
                let mut get = command("HMGET", keys.tensor(name));
                get.arg(&FIELDS[..]);
                vec![get]
            }
            Call::Names { node, cursor } => {
                let mut scan = command("SSCAN", keys.index(node));
                scan.arg(*cursor).arg("COUNT").arg(PAGE);
                vec![scan]
            }
            Call::Servers => vec![command("INFO", "server".to_owned())],
            Call::Nodes => vec![command("SMEMBERS", keys.nodes())],
            Call::Node(node) => vec![command("HGETALL", keys.node_hash(node))],
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
            Call::Nodes => vec![(keys.nodes(), "set")],
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

fn script(script: &Script, keys: &[String]) -> Cmd {
    let mut command = redis::cmd("EVALSHA");
    command.arg(script.get_hash()).arg(keys.len()).arg(keys);
    command
}

/// What the last of a call's commands gave, if all of them succeeded.
fn got(call: &Call, mut values: Vec<Value>) -> Result<Got, Failed> {
    for value in &values {
        if let Value::ServerError(error) = value {
            let why = format!("{} {}", error.code(), error.details().unwrap_or_default());
            let later = LATER.contains(&error.code());
            return Err(if later { Failed::Later(why) } else { Failed::Never(why) });
        }
    }
    let value = values.pop().unwrap_or(Value::Nil);
    read(call, value).map_err(|error| Failed::Never(error.to_string()))
}

fn read(call: &Call, value: Value) -> RedisResult<Got> {
    fn of<T: FromRedisValue>(value: Value) -> RedisResult<T> {
        redis::from_redis_value(value).map_err(Into::into)
    }
    let text = |value| of::<Option<Vec<u8>>>(value).map(|bytes| bytes.map(lossy));
    Ok(match call {
        Call::Project { .. } | Call::Owner(_) | Call::Heartbeat(_) => Got::Text(text(value)?),
        Call::Take { at_most: 1, .. } => {
            Got::Commands(of::<Option<Vec<u8>>>(value)?.into_iter().collect())
        }
        Call::Take { .. } | Call::Waiting(_) => Got::Commands(of(value)?),
        Call::Fields(_) => Got::Values(of(value)?),
        Call::Names { .. } => {
            let (cursor, names): (u64, Vec<Vec<u8>>) = of(value)?;
            Got::Page(cursor, names.into_iter().map(lossy).collect())
        }
        Call::Servers => Got::Names(run_ids(&value)),
        Call::Register(_) => Got::Added(of::<u64>(value)? > 0),
        Call::Nodes => Got::Names(of::<Vec<Vec<u8>>>(value)?.into_iter().map(lossy).collect()),
        Call::Node(_) => {
            let pairs: Vec<(Vec<u8>, Vec<u8>)> = of(value)?;
            Got::Pairs(pairs.into_iter().map(|(key, value)| (lossy(key), lossy(value))).collect())
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
