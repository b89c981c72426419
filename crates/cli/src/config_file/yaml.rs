//! What a file states as YAML, whatever its form: for the advice about a file that the library in limited programs
//! refuses.
//!
//! It reads events, not a tree that is copied for every alias: a short file can name itself a million times.

use std::collections::HashMap;
use std::rc::Rc;

use millpond_preload::{LIMIT_KEYS, NAME_KEYS};
use saphyr_parser::{Event, Parser};

/// The settings of a file as texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meaning {
    pub memory_limit: Option<String>,
    pub device_name: Option<String>,
}

/// Part of a document. What is neither a text nor a mapping states nothing here.
enum Node {
    Text(String),
    Mapping(Vec<(Rc<Node>, Rc<Node>)>),
    Other,
}

/// A collection that has begun and not ended, with the number of its anchor.
struct Open {
    anchor: usize,
    /// Keys and values in turn, where it is a mapping.
    children: Option<Vec<Rc<Node>>>,
}

/// Reads a file of one document.
pub fn meaning(file: &[u8]) -> Result<Meaning, String> {
    let text = std::str::from_utf8(file).map_err(|_| "it is not UTF-8 text".to_owned())?;
    let root = compose(text.strip_prefix('\u{feff}').unwrap_or(text))?;
    Ok(Meaning {
        memory_limit: stated(&root, &LIMIT_KEYS)?,
        device_name: stated(&root, &NAME_KEYS)?,
    })
}

fn compose(text: &str) -> Result<Rc<Node>, String> {
    let (mut root, mut open) = (Rc::new(Node::Other), Vec::<Open>::new());
    let mut anchors = HashMap::new();
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (anchor, node) = match event.map_err(|error| error.to_string())?.0 {
            Event::Scalar(text, _, anchor, _) => (anchor, Node::Text(text.into_owned())),
            Event::MappingStart(anchor, _) => {
                open.push(Open { anchor, children: Some(Vec::new()) });
                continue;
            }
            Event::SequenceStart(anchor, _) => {
                open.push(Open { anchor, children: None });
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => {
                let Some(ended) = open.pop() else { continue };
                let pairs = |children: Vec<_>| {
                    let pairs = children.chunks_exact(2);
                    pairs.map(|pair| (Rc::clone(&pair[0]), Rc::clone(&pair[1]))).collect()
                };
                let node = ended.children.map_or(Node::Other, |of| Node::Mapping(pairs(of)));
                (ended.anchor, node)
            }
            Event::DocumentStart(_) => {
                documents += 1;
                continue;
            }
            Event::Alias(anchor) => {
                let node = anchors.get(&anchor).cloned().unwrap_or_else(|| Rc::new(Node::Other));
                place(&mut open, &mut root, node);
                continue;
            }
            _ => continue,
        };
        let node = Rc::new(node);
        if anchor > 0 {
            anchors.insert(anchor, Rc::clone(&node));
        }
        place(&mut open, &mut root, node);
    }
    if documents > 1 { Err("it has more than one document".to_owned()) } else { Ok(root) }
}

fn place(open: &mut [Open], root: &mut Rc<Node>, node: Rc<Node>) {
    match open.last_mut() {
        Some(Open { children: Some(children), .. }) => children.push(node),
        Some(_) => {}
        None => *root = node,
    }
}

/// The one value that any of the keys has, also in a mapping that is merged in.
fn stated(node: &Node, keys: &[&str]) -> Result<Option<String>, String> {
    let Node::Mapping(pairs) = node else { return Ok(None) };
    let values = |keys: &[&str]| -> Vec<&Rc<Node>> {
        let named = |key: &Node| matches!(key, Node::Text(text) if keys.contains(&&**text));
        pairs.iter().filter(|(key, _)| named(key)).map(|(_, value)| value).collect()
    };
    match values(keys)[..] {
        [] => {}
        [value] => match &**value {
            Node::Text(text) => return Ok(Some(text.clone())),
            Node::Mapping(_) | Node::Other => {
                return Err(format!("{} has no single value", keys[0]));
            }
        },
        _ => return Err(format!("it states {} more than once", keys[0])),
    }
    match values(&["<<"])[..] {
        [merged] => stated(merged, keys),
        _ => Ok(None),
    }
}
