//! What Redis knows of all nodes, for `millpond redis ls` and `nodes`, and for lists of all tensors.

use millpond_console::error::{CommandError, Outcome, Report};
use millpond_console::exit::Code;
use millpond_console::printer::Printer;
use millpond_console::table::{Side, Table};
use millpond_view::units;
use millpond_wire::ErrorKind;
use serde_json::{Map, Value, json};

use crate::answer::{FIELDS, HANDLE};
use crate::keys;
use crate::store::{Call, Got, Lost, Store, one};

/// Fields that are numbers in JSON.
const NUMBERS: [&str; 8] =
    ["device", "bytes", "owner_pid", "refcount", "ctime", "mtime", "epoch", "offset"];
/// More than a pond is made for.
const ALL: usize = 10_000_000;
/// More than share one Redis.
const NODES: usize = 10_000;
/// What is shown of a node.
const OF_NODE: [&str; 7] = ["version", "pid", "started_at", "gpus", "tensors", "epoch", "pond"];

/// Tensors of some nodes as Redis has them, without their handles, in the order of nodes and names.
pub fn tensors(
    store: &mut impl Store,
    prefix: &str,
    at_most: usize,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Value>, Lost> {
    let mut found = Vec::new();
    for node in nodes(store)?.into_iter().filter(|node| wanted(node)) {
        let mut cursor = 0;
        loop {
            let page = Call::Names { node: node.clone(), cursor };
            let Got::Page(next, mut names) = one(store, page)? else { break };
            names.retain(|name| name.starts_with(prefix));
            names.sort_unstable();
            let calls: Vec<Call> = names.into_iter().map(Call::Fields).collect();
            let gotten = if calls.is_empty() { Vec::new() } else { store.call(&calls)? };
            for got in gotten {
                let Ok(Got::Values(values)) = got else { continue };
                found.extend(tensor(&values).filter(|tensor| tensor["node"] == node.as_str()));
                if found.len() >= at_most {
                    return Ok(found);
                }
            }
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
    }
    Ok(found)
}

fn nodes(store: &mut impl Store) -> Result<Vec<String>, Lost> {
    let (mut found, mut cursor) = (Vec::new(), 0);
    while let Got::Page(next, names) = one(store, Call::Nodes { cursor })? {
        found.extend(names.into_iter().filter(|name| keys::is_node(name)));
        cursor = next;
        if cursor == 0 || found.len() >= NODES {
            break;
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// A hash as JSON; nothing where there is none.
fn tensor(values: &[Option<Vec<u8>>]) -> Option<Value> {
    let mut object = Map::new();
    for (field, value) in FIELDS.iter().zip(values) {
        let text = String::from_utf8_lossy(value.as_deref()?).into_owned();
        let value = match *field {
            HANDLE => continue,
            "shape" => serde_json::from_str(&text).unwrap_or(Value::Null),
            number if NUMBERS.contains(&number) => json!(text.parse::<u64>().ok()),
            _ => Value::from(text),
        };
        object.insert((*field).to_owned(), value);
    }
    Some(Value::Object(object))
}

/// `millpond redis ls`.
pub fn list(store: &mut impl Store, printer: &Printer) -> Outcome {
    let mut all = tensors(store, "", ALL, |_| true).map_err(lost)?;
    let text = |tensor: &Value, field: &str| match &tensor[field] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    all.sort_by_cached_key(|tensor| (text(tensor, "node"), text(tensor, "name")));
    if printer.is_json() {
        let bytes: u64 = all.iter().filter_map(|tensor| tensor["bytes"].as_u64()).sum();
        return printer.json(&json!({ "tensors": all, "bytes": bytes }));
    }
    if printer.is_quiet() {
        return all.iter().try_for_each(|tensor| {
            printer.line(millpond_console::shown::printable(&text(tensor, "name")))
        });
    }
    let mut table = Table::new(&[
        ("NODE", Side::Left),
        ("NAME", Side::Left),
        ("DTYPE", Side::Left),
        ("SHAPE", Side::Left),
        ("SIZE", Side::Right),
        ("GPU", Side::Right),
        ("HOLDS", Side::Right),
        ("STATE", Side::Left),
    ]);
    let mut bytes = 0;
    for tensor in &all {
        let size = tensor["bytes"].as_u64().unwrap_or(0);
        bytes += size;
        table.row(vec![
            text(tensor, "node"),
            text(tensor, "name"),
            text(tensor, "dtype"),
            text(tensor, "shape"),
            units::bytes(size),
            text(tensor, "device"),
            text(tensor, "refcount"),
            text(tensor, "state"),
        ]);
    }
    printer.line(table.render())?;
    let count = units::count(u64::try_from(all.len()).unwrap_or(u64::MAX), "tensor");
    printer.line(format_args!("\n{count}, {}", units::bytes(bytes)))
}

/// `millpond redis nodes`.
pub fn list_nodes(store: &mut impl Store, printer: &Printer) -> Outcome {
    let mut found = Vec::new();
    for node in nodes(store).map_err(lost)? {
        let alive = one(store, Call::Heartbeat(node.clone())).map_err(lost)?;
        let record = Call::Node(node.clone(), &OF_NODE);
        let Got::Values(values) = one(store, record).map_err(lost)? else { continue };
        let text = |wanted: &str| {
            let place = OF_NODE.iter().position(|field| *field == wanted);
            let value = place.and_then(|place| values.get(place)?.as_deref());
            String::from_utf8_lossy(value.unwrap_or_default()).into_owned()
        };
        let number = |wanted: &str| text(wanted).parse::<u64>().ok();
        found.push(json!({
            "node": node,
            "alive": alive == Got::Is(true),
            "version": text("version"),
            "pid": number("pid"),
            "started_at": number("started_at"),
            "gpus": serde_json::from_str::<Value>(&text("gpus")).unwrap_or_default(),
            "tensors": number("tensors"),
            "epoch": number("epoch"),
            "pond": text("pond"),
        }));
    }
    if printer.is_json() {
        return printer.json(&json!({ "nodes": found }));
    }
    let name = |node: &Value| node["node"].as_str().unwrap_or_default().to_owned();
    if printer.is_quiet() {
        return found
            .iter()
            .try_for_each(|node| printer.line(millpond_console::shown::printable(&name(node))));
    }
    let mut table = Table::new(&[
        ("NODE", Side::Left),
        ("ALIVE", Side::Left),
        ("GPUS", Side::Right),
        ("MEMORY", Side::Right),
        ("USED", Side::Right),
        ("TENSORS", Side::Right),
        ("VERSION", Side::Left),
    ]);
    for node in &found {
        let gpus = node["gpus"].as_array().cloned().unwrap_or_default();
        let sum = |field: &str| gpus.iter().filter_map(|gpu| gpu[field].as_u64()).sum::<u64>();
        table.row(vec![
            name(node),
            if node["alive"] == true { "yes" } else { "no" }.to_owned(),
            gpus.len().to_string(),
            units::bytes(sum("total_bytes")),
            units::bytes(sum("used")),
            node["tensors"].as_u64().unwrap_or(0).to_string(),
            node["version"].as_str().unwrap_or_default().to_owned(),
        ]);
    }
    printer.line(table.render())
}

/// Redis did not answer a command that does not wait.
pub fn lost(lost: Lost) -> CommandError {
    let message = format!("Redis does not answer: {}", lost.0);
    let report = Report::new(Code::Kind(ErrorKind::NoPond), message);
    report.hint("check `--url` or MILLPOND_REDIS_URL, and that the server runs").into()
}
