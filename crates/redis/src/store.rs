//! What the bridge asks of Redis, as a list of calls that are made one after the other.
//!
//! A list goes out as one pipeline where the server is not a cluster. Nothing in it depends on an
//! answer of the same list, so a list can be tried again as a whole, or the rest of it.

use crate::answer::Fields;
use crate::keys::Source;

/// How many commands are carried out before the first of them is answered.
pub const BATCH: usize = 64;

/// A command as it lay in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Pushed {
    pub raw: Vec<u8>,
    /// What it gave when the same bytes were carried out before: see [`Call::Answer`].
    pub gave: Option<String>,
}

/// Commands from a list, and those that were removed there because of their length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Taken {
    pub commands: Vec<Pushed>,
    pub removed: u64,
    /// The length of the longest of those.
    pub longest: u64,
}

impl Taken {
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.removed == 0
    }
}

/// Whose the key of a tensor is.
#[derive(Clone, Debug, PartialEq)]
pub enum Owner {
    Nobody,
    Node(String),
    /// Another application's: no bridge wrote it, so none changes it.
    Foreign,
}

/// One call.
#[derive(Clone, Debug)]
pub enum Call {
    /// Writes a tensor's hash. [`Got::Owner`]: another owner, or this node once it is written.
    Project {
        name: String,
        fields: Fields,
        /// Also that of another node.
        force: bool,
    },
    /// Takes a hash away if it is that node's.
    Remove { name: String, node: String },
    /// Puts names on this node's index.
    Index(Vec<String>),
    /// Takes names from a node's index.
    Forget { names: Vec<String>, node: String },
    /// Answers a command, if it wants an answer, and takes it from the processing list. What it gave is
    /// remembered for as long as its answer waits. [`Got::Is`]: the answer could be written.
    Answer { source: Source, raw: Vec<u8>, reply: Option<(String, String)>, gave: Option<String> },
    /// Hands a command to another node.
    Forward { source: Source, raw: Vec<u8>, node: String },
    /// Takes more commands. [`Got::Commands`].
    Take { source: Source, at_most: usize },
    /// Commands that were taken and not answered. [`Got::Commands`].
    Waiting(Source),
    /// Whose hash it is. [`Got::Owner`].
    Owner(String),
    /// Whether a node lives. [`Got::Is`].
    Heartbeat(String),
    /// All fields of a hash, in the order of [`FIELDS`](crate::answer::FIELDS). [`Got::Values`], or
    /// [`Got::Owner`] where it is foreign.
    Fields(String),
    /// Some names of a node's index. [`Got::Page`].
    Names { node: String, cursor: u64 },
    /// Which servers answer, each start of one apart: [`Got::Names`].
    Servers,
    /// Some nodes. [`Got::Page`].
    Nodes { cursor: u64 },
    /// Fields of the hash of a node. [`Got::Values`].
    Node(String, &'static [&'static str]),
    /// Says that this node lives, with its hash. [`Got::Is`]: false if the node was unknown.
    Register(Vec<(&'static str, String)>),
    /// Takes a dead node away.
    Unregister(String),
}

/// What a call gave.
#[derive(Clone, Debug, PartialEq)]
pub enum Got {
    Nothing,
    Is(bool),
    Owner(Owner),
    Values(Vec<Option<Vec<u8>>>),
    Commands(Taken),
    Page(u64, Vec<String>),
    Names(Vec<String>),
}

/// Why one call failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Failed {
    /// The same call later: the server is full, loading, read-only, or may not be written.
    Later(String),
    /// It can never succeed.
    Never(String),
}

/// The connection is gone, or was never there.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Lost(pub String);

/// What each call gave.
pub type Gotten = Vec<Result<Got, Failed>>;

/// Redis.
pub trait Store {
    /// Makes the calls in their order.
    fn call(&mut self, calls: &[Call]) -> Result<Gotten, Lost>;
    /// Connects again, if the connection was lost.
    fn reconnect(&mut self) -> Result<(), Lost>;
}

/// One call whose answer is needed; what failed is a connection that is lost.
pub fn one(store: &mut impl Store, call: Call) -> Result<Got, Lost> {
    let mut gotten = store.call(std::slice::from_ref(&call))?;
    match gotten.pop() {
        Some(Ok(got)) => Ok(got),
        Some(Err(Failed::Later(why) | Failed::Never(why))) => Err(Lost(why)),
        None => Err(Lost("the server gave no answer".to_owned())),
    }
}
