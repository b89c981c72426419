//! Every key, in one place.
//!
//! The seed's names stay as they are. In a cluster a key's slot comes from what stands in braces, so
//! the lists of commands share the slot of `tensor:cmd`, and a hash is a slot of its own. The prefix
//! stands inside the braces, because it is part of `tensor:cmd`.

use millpond_wire::TensorRef;

/// Longer than any host name that people type, and short enough for a column.
pub const NODE_BYTES: usize = 64;
/// A prefix is a few words; it is part of every key.
pub const PREFIX_BYTES: usize = 64;
/// A reply list has a name that somebody made up, usually with a UUID in it.
pub const REPLY_BYTES: usize = 512;

/// What stands behind `tensor:` in keys that are no tensor. A tensor of such a name has no hash.
const TAKEN: [&str; 2] = ["cmd", "nodes"];
const TAKEN_PREFIXES: [&str; 4] = ["reply:", "index:", "node:", "heartbeat:"];

/// Where a bridge takes commands from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The list for any node.
    Any,
    /// The list for this node.
    Own,
}

/// The keys of one bridge.
#[derive(Clone, Debug)]
pub struct Keys {
    prefix: String,
    node: String,
}

/// Why a name is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("node name '{0}': a name has letters, digits, '-', '_' and '.', at most 64 of them")]
    Node(String),
    #[error("prefix '{0}': a prefix has no braces, no white space and at most 64 bytes")]
    Prefix(String),
}

impl Keys {
    /// The keys of a bridge, with its names checked.
    pub fn new(prefix: &str, node: &str) -> Result<Self, KeyError> {
        let plain = |text: &str| text.chars().flat_map(char::escape_debug).collect();
        if !is_node(node) {
            return Err(KeyError::Node(plain(node)));
        }
        let is_bad = |c: char| matches!(c, '{' | '}') || c.is_whitespace() || c.is_control();
        if prefix.len() > PREFIX_BYTES || prefix.contains(is_bad) {
            return Err(KeyError::Prefix(plain(prefix)));
        }
        Ok(Self { prefix: prefix.to_owned(), node: node.to_owned() })
    }

    pub fn node(&self) -> &str {
        &self.node
    }

    /// The list that commands are taken from.
    pub fn commands(&self, source: Source) -> String {
        match source {
            Source::Any => format!("{}tensor:cmd", self.prefix),
            Source::Own => self.commands_of(&self.node),
        }
    }

    /// The list of commands for one node.
    pub fn commands_of(&self, node: &str) -> String {
        format!("{{{}tensor:cmd}}:node:{node}", self.prefix)
    }

    /// Taken and not yet answered. One for each source: whoever looks for what a lost connection took
    /// along must know that nobody else is about to hand over the same.
    pub fn processing(&self, source: Source) -> String {
        let own = match source {
            Source::Any => "",
            Source::Own => ":own",
        };
        format!("{{{}tensor:cmd}}:processing:{}{own}", self.prefix, self.node)
    }

    /// What keys begin with that remember what commands gave. Any node may take the repeat.
    pub fn memory(&self) -> String {
        format!("{{{}tensor:cmd}}:done:", self.prefix)
    }

    /// The hash of a tensor.
    pub fn tensor(&self, name: &str) -> String {
        format!("{}tensor:{name}", self.prefix)
    }

    pub fn index(&self, node: &str) -> String {
        format!("{}tensor:index:{node}", self.prefix)
    }

    pub fn nodes(&self) -> String {
        format!("{}tensor:nodes", self.prefix)
    }

    pub fn node_hash(&self, node: &str) -> String {
        format!("{}tensor:node:{node}", self.prefix)
    }

    pub fn heartbeat(&self, node: &str) -> String {
        format!("{}tensor:heartbeat:{node}", self.prefix)
    }

    /// What a reply list begins with.
    pub fn reply_prefix(&self) -> String {
        format!("{}tensor:reply:", self.prefix)
    }

    /// Whether an answer may be written there. Nobody makes the bridge write elsewhere.
    pub fn is_reply(&self, key: &str) -> bool {
        let prefix = self.reply_prefix();
        key.len() > prefix.len() && key.len() <= REPLY_BYTES && key.starts_with(&prefix)
    }
}

/// Whether a node can be called so.
pub fn is_node(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=NODE_BYTES).contains(&text.len()) && text.bytes().all(is_plain)
}

/// The tensor of a name that can have a hash; why not otherwise.
pub fn checked(name: &str) -> Result<TensorRef, String> {
    if name.contains(['{', '}']) {
        let shown: String = name.chars().flat_map(char::escape_debug).collect();
        return Err(format!("tensor name '{shown}': braces are not allowed through Redis"));
    }
    if is_taken(name) {
        return Err(format!("tensor name '{name}': a key of this name has another meaning"));
    }
    name.parse::<TensorRef>().map_err(|error| error.to_string())
}

/// Whether a tensor of this name can have a hash.
pub fn is_shown(name: &str) -> bool {
    !name.contains(['{', '}']) && !is_taken(name)
}

fn is_taken(name: &str) -> bool {
    TAKEN.contains(&name) || TAKEN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keys {
        Keys::new("lab:", "n1").unwrap()
    }

    #[test]
    fn the_seeds_names_are_kept_and_commands_share_a_slot() {
        let bare = Keys::new("", "n1").unwrap();
        assert_eq!(bare.commands(Source::Any), "tensor:cmd");
        assert_eq!(bare.commands(Source::Own), "{tensor:cmd}:node:n1");
        assert_eq!(bare.processing(Source::Any), "{tensor:cmd}:processing:n1");
        assert_eq!(bare.processing(Source::Own), "{tensor:cmd}:processing:n1:own");
        assert_eq!(bare.tensor("acts/x"), "tensor:acts/x");
        // What stands in the braces is the whole of the other key, so both hash alike.
        assert_eq!(keys().commands(Source::Any), "lab:tensor:cmd");
        assert!(keys().processing(Source::Any).starts_with("{lab:tensor:cmd}"));
    }

    #[test]
    fn answers_go_to_reply_lists_only() {
        let keys = keys();
        assert!(keys.is_reply("lab:tensor:reply:42"));
        for bad in ["lab:tensor:reply:", "tensor:reply:42", "lab:tensor:cmd", "", "lab:tensor:X"] {
            assert!(!keys.is_reply(bad), "{bad}");
        }
        assert!(!keys.is_reply(&format!("lab:tensor:reply:{}", "x".repeat(REPLY_BYTES))));
    }

    #[test]
    fn names_of_nodes_and_prefixes_are_checked() {
        assert!(is_node("gpu-01.lab_x") && is_node(&"x".repeat(NODE_BYTES)));
        for bad in ["", "a:b", "a b", "{a}", "é", "a/b", "a\n"] {
            assert!(!is_node(bad), "{bad}");
        }
        assert!(!is_node(&"x".repeat(NODE_BYTES + 1)));
        assert!(Keys::new("a{b", "n").is_err() && Keys::new("a b", "n").is_err());
        let said = Keys::new("", "a\u{1b}[31m").unwrap_err().to_string();
        assert!(!said.contains('\u{1b}'), "{said}");
    }

    #[test]
    fn a_tensor_never_has_the_key_of_something_else() {
        for bad in ["cmd", "nodes", "reply:42", "index:n1", "node:n1", "heartbeat:n1", "{x}"] {
            assert!(checked(bad).is_err() && !is_shown(bad), "{bad}");
        }
        for good in ["X", "acts/x", "public/w", "~7/x", "node", "reply"] {
            assert!(checked(good).is_ok() && is_shown(good), "{good}");
        }
        for odd in ["", "/x", "x/", "a//b", "../x", "a b", "a\u{202e}b\n", "-x"] {
            assert!(checked(odd).is_err(), "{odd:?}");
        }
    }
}
