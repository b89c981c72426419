//! Answers, and the fields of a tensor as Redis has them.

use millpond_view::base64;
use millpond_wire::{ErrorKind, HANDLE_BYTES, Shape, TensorState};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::command::{Envelope, Id};
use crate::truth::Tensor;

/// Why a command was refused: a kind of the pond's own table, or one of this bridge's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Kind(ErrorKind),
    BadJson,
    UnknownOp,
    MissingField,
    TooLarge,
    WrongDevice,
    WrongNode,
    NotShared,
}

impl Code {
    pub const fn name(self) -> &'static str {
        match self {
            Code::Kind(kind) => kind.name(),
            Code::BadJson => "bad_json",
            Code::UnknownOp => "unknown_op",
            Code::MissingField => "missing_field",
            Code::TooLarge => "too_large",
            Code::WrongDevice => "wrong_device",
            Code::WrongNode => "wrong_node",
            Code::NotShared => "not_shared",
        }
    }
}

/// A command that was not carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub code: Code,
    pub message: String,
    pub hint: Option<String>,
    /// Where to ask instead.
    pub node: Option<String>,
}

impl Refusal {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, node: None }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn node(mut self, node: impl Into<String>) -> Self {
        self.node = Some(node.into());
        self
    }
}

/// What a command gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    Tensor(Fields),
    /// Of a delete.
    Left(Fields),
    List {
        tensors: Vec<Value>,
        truncated: bool,
    },
}

/// The fields of a hash, in the order in which people read them.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields(Vec<(&'static str, Field)>);

#[derive(Clone, Debug, PartialEq)]
enum Field {
    Text(String),
    Number(u64),
    /// JSON in the hash, an array in an answer.
    Dims(Vec<u64>),
}

impl Field {
    fn text(&self) -> String {
        match self {
            Field::Text(text) => text.clone(),
            Field::Number(number) => number.to_string(),
            Field::Dims(dims) => {
                let dims: Vec<String> = dims.iter().map(u64::to_string).collect();
                format!("[{}]", dims.join(","))
            }
        }
    }

    fn value(&self) -> Value {
        match self {
            Field::Text(text) => Value::from(text.as_str()),
            Field::Number(number) => Value::from(*number),
            Field::Dims(dims) => Value::from(dims.as_slice()),
        }
    }
}

/// What a hash says beside the tensor itself.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub node: &'a str,
    pub epoch: u64,
    /// The pond's index of the GPU; the seed's `device`.
    pub device: u32,
    pub now_unix_ms: u64,
}

/// The fields of every hash; `mtime` is when the hash was written, so it is not compared.
pub const FIELDS: [&str; 18] = [
    "name",
    "dtype",
    "shape",
    "device",
    "bytes",
    "ipc_handle",
    "owner_pid",
    "refcount",
    "ctime",
    "mtime",
    "node",
    "gpu_uuid",
    "transport",
    "epoch",
    "state",
    "survives",
    "id",
    "offset",
];
/// The field that only says when.
pub const MTIME: &str = "mtime";
/// The field that is shown to those who may open the memory.
pub const HANDLE: &str = "ipc_handle";

impl Fields {
    /// The fields of a tensor; `handle` only of one that was made through Redis.
    pub fn of(tensor: &Tensor, handle: Option<&[u8; HANDLE_BYTES]>, place: Place<'_>) -> Self {
        let text = |text: &dyn std::fmt::Display| Field::Text(text.to_string());
        let number = Field::Number;
        // Of a tensor that is going, or whose memory is gone, the bytes open something else soon.
        let is_there = tensor.holds.is_some() && tensor.state == TensorState::Ready;
        let handle = handle.filter(|_| is_there);
        let handle = handle.map(|bytes| base64::encode(bytes)).unwrap_or_default();
        Self(vec![
            ("name", Field::Text(tensor.name.clone().unwrap_or_default())),
            ("dtype", Field::Text(tensor.dtype.name().to_ascii_lowercase())),
            ("shape", Field::Dims(tensor.shape.dims().to_vec())),
            ("device", number(place.device.into())),
            ("bytes", number(tensor.bytes)),
            ("ipc_handle", Field::Text(handle)),
            ("owner_pid", number(tensor.owner_pid.into())),
            ("refcount", number(tensor.holds.unwrap_or(0))),
            ("ctime", number(tensor.created_unix_ms)),
            ("mtime", number(place.now_unix_ms)),
            ("node", text(&place.node)),
            ("gpu_uuid", text(&tensor.gpu)),
            ("transport", text(&tensor.transport)),
            ("epoch", number(place.epoch)),
            ("state", text(&tensor.state)),
            ("survives", text(&tensor.survives)),
            ("id", text(&tensor.id)),
            ("offset", number(tensor.offset)),
        ])
    }

    /// The same without what opens the memory.
    pub fn without_handle(mut self) -> Self {
        self.0.retain(|(name, _)| *name != HANDLE);
        self
    }

    /// A shape as hashes have it.
    pub fn shape(shape: &Shape) -> String {
        Field::Dims(shape.dims().to_vec()).text()
    }

    /// As arguments of `HSET`.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        self.0.iter().map(|(name, field)| (*name, field.text()))
    }

    /// As part of an answer: numbers are numbers.
    pub fn value(&self) -> Value {
        let pairs = self.0.iter().map(|(name, field)| ((*name).to_owned(), field.value()));
        Value::Object(pairs.collect::<Map<_, _>>())
    }

    /// Whether a hash with these values, in the order of [`FIELDS`], says the same.
    pub fn is_shown_by(&self, values: &[Option<Vec<u8>>]) -> bool {
        values.len() == self.0.len()
            && self.texts().zip(values).all(|((name, text), value)| {
                name == MTIME || value.as_deref() == Some(text.as_bytes())
            })
    }

    /// The identity of the tensor.
    pub fn id(&self) -> Option<String> {
        self.get("id")?.as_str().map(str::to_owned)
    }

    fn get(&self, wanted: &str) -> Option<Value> {
        self.0.iter().find(|(name, _)| *name == wanted).map(|(_, field)| field.value())
    }
}

#[derive(Serialize)]
struct Error<'a> {
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
}

/// The answer as it goes into the reply list.
pub fn write(envelope: &Envelope, op: Option<&str>, outcome: &Result<Given, Refusal>) -> String {
    let mut answer = Map::new();
    match &envelope.id {
        Some(Id::Text(id)) => answer.insert("id".into(), json!(id)),
        Some(Id::Number(id)) => answer.insert("id".into(), json!(id)),
        None => None,
    };
    let status = if outcome.is_ok() { "ok" } else { "error" };
    answer.insert("status".into(), json!(status));
    if let Some(op) = op {
        answer.insert("op".into(), json!(op));
    }
    match outcome {
        Ok(Given::Tensor(fields)) => {
            answer.insert("tensor".into(), fields.value());
        }
        Ok(Given::Left(fields)) => {
            for name in ["name", "refcount", "state"] {
                answer.insert(name.into(), fields.get(name).unwrap_or_default());
            }
            answer.insert("tensor".into(), fields.value());
        }
        Ok(Given::List { tensors, truncated }) => {
            answer.insert("tensors".into(), json!(tensors));
            answer.insert("truncated".into(), json!(truncated));
        }
        Err(Refusal { code, message, hint, node }) => {
            let error =
                Error { code: code.name(), message, hint: hint.as_deref(), node: node.as_deref() };
            answer.insert("error".into(), json!(error));
        }
    }
    Value::Object(answer).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::a_tensor;

    fn place() -> Place<'static> {
        Place { node: "n1", epoch: 3, device: 1, now_unix_ms: 99 }
    }

    #[test]
    fn the_fields_are_those_of_the_list_and_in_its_order() {
        let fields = Fields::of(&a_tensor("X", Some(2)), Some(&[1; HANDLE_BYTES]), place());
        let names: Vec<&str> = fields.texts().map(|(name, _)| name).collect();
        assert_eq!(names, FIELDS);
        let text = |wanted: &str| fields.texts().find(|(name, _)| *name == wanted).unwrap().1;
        assert_eq!(text("shape"), "[2,3]");
        assert_eq!((text("refcount"), text("device")), ("2".into(), "1".into()));
        assert_eq!(text("ipc_handle").len(), 88);
        assert_eq!(fields.value()["shape"], json!([2, 3]));
        assert_eq!(fields.value()["refcount"], json!(2));
    }

    #[test]
    fn only_what_was_made_through_redis_and_is_there_has_a_handle() {
        let handle = |tensor: &Tensor| {
            Fields::of(tensor, Some(&[1; HANDLE_BYTES]), place()).value()[HANDLE].clone()
        };
        assert_eq!(handle(&a_tensor("X", None)), json!(""));
        let mut tensor = a_tensor("X", Some(1));
        assert_ne!(handle(&tensor), json!(""));
        for state in [TensorState::Orphan, TensorState::Deleted, TensorState::Writing] {
            tensor.state = state;
            assert_eq!(handle(&tensor), json!(""));
        }
    }

    #[test]
    fn a_hash_differs_by_everything_but_the_time() {
        let fields = Fields::of(&a_tensor("X", Some(2)), None, place());
        let mut values: Vec<Option<Vec<u8>>> =
            fields.texts().map(|(_, text)| Some(text.into_bytes())).collect();
        assert!(fields.is_shown_by(&values));
        values[9] = Some(b"1".to_vec());
        assert!(fields.is_shown_by(&values), "only the time differs");
        values[7] = Some(b"9".to_vec());
        assert!(!fields.is_shown_by(&values));
        assert!(!fields.is_shown_by(&[]));
        assert!(!fields.is_shown_by(&vec![None; FIELDS.len()]));
    }

    #[test]
    fn answers_echo_the_id_as_it_came() {
        let refusal = Refusal::new(Code::WrongNode, "m").hint("h").node("n2");
        let envelope = |id| Envelope { id, reply: None };
        let text = |id| write(&envelope(id), Some("get"), &Err(refusal.clone()));
        let said: Value = serde_json::from_str(&text(Some(Id::Text("42".into())))).unwrap();
        assert_eq!(said["id"], json!("42"));
        let error = json!({"code": "wrong_node", "message": "m", "hint": "h", "node": "n2"});
        assert_eq!((&said["status"], &said["error"]), (&json!("error"), &error));
        let said: Value = serde_json::from_str(&text(Some(Id::Number(7.into())))).unwrap();
        assert_eq!(said["id"], json!(7));
        assert!(!text(None).contains("\"id\""));
        let left = Fields::of(&a_tensor("X", Some(2)), None, place()).without_handle();
        let said = write(&envelope(None), Some("delete"), &Ok(Given::Left(left)));
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!((&said["status"], &said["refcount"]), (&json!("ok"), &json!(2)));
        assert_eq!(said["tensor"].get(HANDLE), None);
    }
}
