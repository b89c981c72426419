//! A command, read completely before anything happens.
//!
//! One JSON object of at most [`COMMAND_BYTES`]. A field that no command has is refused: a device that
//! is misspelt must not become the first one.

use millpond_wire::{Dtype, Shape, Token};
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use uuid::Uuid;

use crate::answer::{Code, Refusal};
use crate::keys;

/// A thousand dimensions and a long name fit; a larger command is answered and not read, and one of
/// megabytes is removed where it lies.
pub const COMMAND_BYTES: usize = 64 * 1024;
/// An id is a number or a UUID; it is echoed.
pub const ID_BYTES: usize = 256;
/// Tokens of commands come from their bytes, in a name space of their own.
const NAME_SPACE: Uuid = Uuid::from_u128(0x6d69_6c6c_706f_6e64_2d72_6564_6973_0001);

/// Who asked, and where the answer goes: read also where the rest cannot be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Envelope {
    /// Echoed as it came.
    pub id: Option<Id>,
    pub reply: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Id {
    Text(String),
    Number(serde_json::Number),
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Create {
        name: String,
        dtype: Dtype,
        shape: Shape,
        device: u32,
        pid: Option<u32>,
    },
    /// What is named beside the name must be so.
    Get {
        name: String,
        pid: Option<u32>,
        device: Option<u32>,
        dtype: Option<Dtype>,
        shape: Option<Shape>,
    },
    Delete {
        name: String,
        pid: Option<u32>,
    },
    List {
        prefix: String,
    },
    Info {
        name: String,
    },
    Clone {
        from: String,
        to: String,
        device: u32,
        pid: Option<u32>,
    },
}

impl Op {
    pub const fn word(&self) -> &'static str {
        match self {
            Op::Create { .. } => "create",
            Op::Get { .. } => "get",
            Op::Delete { .. } => "delete",
            Op::List { .. } => "list",
            Op::Info { .. } => "info",
            Op::Clone { .. } => "clone",
        }
    }

    /// The tensor that must be there for it.
    pub fn subject(&self) -> Option<&str> {
        match self {
            Op::Get { name, .. } | Op::Delete { name, .. } | Op::Info { name } => Some(name),
            Op::Clone { from, .. } => Some(from),
            Op::Create { .. } | Op::List { .. } => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    pub op: Op,
    /// Where it is to be done; anywhere if absent.
    pub node: Option<String>,
    /// The same for every repeat of a command with an id.
    pub token: Token,
}

/// What was read: who asked, and what, or why that is not possible.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    pub envelope: Envelope,
    pub command: Result<Command, Refusal>,
}

/// Reads a command as it lay in the list.
pub fn parse(raw: &[u8]) -> Parsed {
    let envelope = serde_json::from_slice::<Loose>(raw).map(|loose| loose.0).unwrap_or_default();
    let command = if raw.len() > COMMAND_BYTES {
        let message = format!("a command of {} bytes is too large; at most 65536", raw.len());
        Err(Refusal::new(Code::TooLarge, message))
    } else {
        read(raw)
    };
    Parsed { envelope, command }
}

/// Every field that any command has.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    op: Option<String>,
    #[serde(rename = "id")]
    id: Option<Id>,
    #[serde(rename = "reply")]
    _reply: Option<String>,
    name: Option<String>,
    dtype: Option<String>,
    shape: Option<Vec<u64>>,
    device: Option<u32>,
    pid: Option<u32>,
    node: Option<String>,
    prefix: Option<String>,
    src: Option<String>,
    dst: Option<String>,
}

fn read(raw: &[u8]) -> Result<Command, Refusal> {
    let fields: Fields = serde_json::from_slice(raw).map_err(|error| {
        let code = match error.classify() {
            Category::Data if is_object(raw) => Code::Kind(millpond_wire::ErrorKind::Invalid),
            _ => Code::BadJson,
        };
        Refusal::new(code, format!("the command cannot be read: {error}")).hint(EXAMPLE)
    })?;
    if let Some(Id::Text(id)) = &fields.id
        && id.len() > ID_BYTES
    {
        return Err(invalid(format!("an id of {} bytes is too long; at most 256", id.len())));
    }
    let node = fields.node.clone();
    if let Some(node) = node.as_deref().filter(|node| !keys::is_node(node)) {
        let shown: String = node.chars().flat_map(char::escape_debug).collect();
        return Err(invalid(format!("'{shown}' is not the name of a node")));
    }
    if let Some(pid) = fields.pid.filter(|pid| *pid == 0 || i32::try_from(*pid).is_err()) {
        return Err(invalid(format!("no process has the pid {pid}")));
    }
    let token = match fields.id {
        Some(_) => Token(Uuid::new_v5(&NAME_SPACE, raw)),
        None => Token::random(),
    };
    Ok(Command { op: fields.into_op()?, node, token })
}

/// What helps somebody who types by hand.
const EXAMPLE: &str = r#"for example {"op":"get","name":"X","id":"1","reply":"tensor:reply:1"}"#;

fn is_object(raw: &[u8]) -> bool {
    raw.trim_ascii_start().first() == Some(&b'{')
}

fn invalid(message: String) -> Refusal {
    Refusal::new(Code::Kind(millpond_wire::ErrorKind::Invalid), message)
}

impl Fields {
    fn into_op(self) -> Result<Op, Refusal> {
        let Some(word) = self.op else { return Err(missing("op", "a command")) };
        let what = word.as_str();
        let name = |name: Option<String>, field| match name {
            Some(name) => keys::checked(&name).map(|_| name).map_err(invalid),
            None => Err(missing(field, what)),
        };
        let dtype = self.dtype.as_deref().map(dtype_of).transpose()?;
        let shape = self.shape.map(Shape::new).transpose();
        let shape = shape.map_err(|error| invalid(error.to_string()))?;
        let pid = self.pid;
        Ok(match what {
            "create" => {
                let name = name(self.name, "name")?;
                millpond_wire::TensorName::new(name.as_str())
                    .map_err(|error| invalid(error.to_string()))?;
                let dtype = dtype.ok_or_else(|| missing("dtype", what))?;
                let shape = shape.ok_or_else(|| missing("shape", what))?;
                shape.bytes(dtype).map_err(|error| invalid(error.to_string()))?;
                Op::Create { name, dtype, shape, device: self.device.unwrap_or(0), pid }
            }
            "get" => {
                Op::Get { name: name(self.name, "name")?, pid, device: self.device, dtype, shape }
            }
            "delete" => Op::Delete { name: name(self.name, "name")?, pid },
            "list" => Op::List { prefix: self.prefix.unwrap_or_default() },
            "info" => Op::Info { name: name(self.name, "name")? },
            "clone" => {
                let from = name(self.src.or(self.name), "name")?;
                let to = name(self.dst, "dst")?;
                millpond_wire::TensorName::new(to.as_str())
                    .map_err(|error| invalid(error.to_string()))?;
                let device = self.device.ok_or_else(|| missing("device", what))?;
                Op::Clone { from, to, device, pid }
            }
            other => {
                let shown: String = other.chars().flat_map(char::escape_debug).take(64).collect();
                let refusal = Refusal::new(Code::UnknownOp, format!("unknown op '{shown}'"));
                return Err(refusal.hint("create, get, delete, list, info or clone"));
            }
        })
    }
}

fn dtype_of(text: &str) -> Result<Dtype, Refusal> {
    text.parse().map_err(|_| {
        let shown: String = text.chars().flat_map(char::escape_debug).take(64).collect();
        let known: Vec<&str> = Dtype::ALL.iter().map(|dtype| dtype.name()).collect();
        invalid(format!("unknown dtype '{shown}'; known are {}", known.join(", ")))
    })
}

fn missing(field: &str, what: &str) -> Refusal {
    Refusal::new(Code::MissingField, format!("{what} needs the field '{field}'")).hint(EXAMPLE)
}

/// The envelope of whatever is an object, with nothing else kept of it.
struct Loose(Envelope);

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Loose;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Loose, A::Error> {
                let mut envelope = Envelope::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "id" => envelope.id = map.next_value::<Any<Id>>()?.0,
                        "reply" => envelope.reply = map.next_value::<Any<String>>()?.0,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                envelope.id = envelope.id.filter(|id| match id {
                    Id::Text(text) => text.len() <= ID_BYTES,
                    Id::Number(_) => true,
                });
                Ok(Loose(envelope))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// A value if it is of that kind; one of another kind is passed over.
#[derive(Deserialize)]
#[serde(untagged)]
enum Either<T> {
    This(T),
    Other(IgnoredAny),
}

struct Any<T>(Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Any<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Either::<T>::deserialize(deserializer)? {
            Either::This(value) => Any(Some(value)),
            Either::Other(_) => Any(None),
        })
    }
}

#[cfg(test)]
mod tests;
