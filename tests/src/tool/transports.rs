//! What a `pondtool` process does with memory of every transport, and with memory of its own.
//!
//! ```text
//! shared make NAME TRANSPORT BYTES SEED   says the hash; holds it
//! shared adopt NAME KIND BYTES SEED       memory of this process: linear, virtual or pool; says what it survives
//! shared adopt-half NAME KIND BYTES SEED  the second half of such memory
//! shared again NAME                       adopts the same memory once more
//! shared take NAME KIND BYTES             memory of this process that nobody else has
//! shared free NAME                        frees it, and what was adopted as soon as nobody else has it
//! shared kept                             how many memories this process still keeps for others
//! shared handle NAME                      memory and event in hex, offset and bytes; keeps its lease
//! shared let-go NAME                      gives that lease back
//! shared fill NAME VALUE                  on a stream of its own, then records the tensor's event
//! shared wait NAME VALUE                  a stream of its own waits for the event; all bytes must be VALUE
//! ```

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use millpond::cuda::{
    Access, AddressRange, Allocation, Context, DevicePtr, DeviceSpan, LinearMemory, Mapping,
    SharedPool, Stream,
};
use millpond::{AdoptSpec, Dtype, Pond, Tensor, TensorHandle, TensorSpec, TransportKind};

use super::{Trouble, trouble, wrong};
use crate::{content, driver};

type Said = Result<String, Trouble>;

/// Memory that this process has made for itself.
enum Own {
    Linear(LinearMemory),
    Virtual(Mapping),
    Pool(SharedPool),
}

impl Own {
    fn make(context: &Context, kind: &str, bytes: u64) -> Result<Self, Trouble> {
        Ok(match kind {
            "linear" => Own::Linear(LinearMemory::alloc(context, bytes).map_err(trouble)?),
            "virtual" => {
                let bytes = bytes.next_multiple_of(2 << 20);
                let memory = Allocation::create(context.device(), bytes).map_err(trouble)?;
                let range = AddressRange::reserve(context.driver(), bytes).map_err(trouble)?;
                let mapping = Mapping::map(context, &range, 0, &memory, Access::ReadWrite);
                Own::Virtual(mapping.map_err(trouble)?)
            }
            "pool" => Own::Pool(SharedPool::make(context, bytes).map_err(trouble)?),
            _ => return Err(wrong(format!("'{kind}' is no kind of memory"))),
        })
    }

    fn span(&self) -> DeviceSpan<'_> {
        match self {
            Own::Linear(memory) => memory.span(),
            Own::Virtual(memory) => memory.span(),
            Own::Pool(memory) => memory.span(),
        }
    }
}

/// Counts those that the client library has not dropped.
struct Keep {
    _memory: Arc<Own>,
    count: Arc<AtomicUsize>,
}

impl Keep {
    fn boxed(memory: &Arc<Own>, count: &Arc<AtomicUsize>) -> Box<dyn Any + Send> {
        count.fetch_add(1, Ordering::SeqCst);
        Box::new(Self { _memory: Arc::clone(memory), count: Arc::clone(count) })
    }
}

impl Drop for Keep {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Default)]
pub(crate) struct Transports {
    handles: BTreeMap<String, TensorHandle>,
    own: BTreeMap<String, (Arc<Own>, u64)>,
    kept: Arc<AtomicUsize>,
}

impl Transports {
    /// Does what the words say.
    pub(crate) fn run(
        &mut self,
        pond: &Pond,
        held: &mut std::collections::HashMap<String, Tensor>,
        words: &[&str],
    ) -> Said {
        match *words {
            ["make", name, transport, bytes, seed] => {
                let transport: TransportKind = transport.parse().map_err(wrong)?;
                let (bytes, seed) = (number(bytes)?, number(seed)?);
                let spec = TensorSpec::new(name, Dtype::U8, [bytes]).transport(transport);
                let tensor = pond.create(spec).map_err(trouble)?;
                let bytes = content::bytes(bytes, seed);
                tensor.copy_from_host(0, &bytes).map_err(trouble)?;
                tensor.publish().map_err(trouble)?;
                held.insert(name.to_owned(), tensor);
                Ok(content::hash(&bytes))
            }
            ["adopt", name, kind, bytes, seed] => {
                let (bytes, seed) = (number(bytes)?, number(seed)?);
                self.adopt(pond, name, kind, (bytes, 0), seed)
            }
            ["adopt-half", name, kind, bytes, seed] => {
                let (bytes, seed) = (number(bytes)?, number(seed)?);
                self.adopt(pond, name, kind, (bytes, bytes / 2), seed)
            }
            ["again", name] => {
                let (memory, bytes) =
                    self.own.get(name).ok_or_else(|| wrong(format!("'{name}' was not adopted")))?;
                let spec = AdoptSpec::new(format!("{name}-again"), Dtype::U8, [*bytes]);
                let keep = Keep::boxed(memory, &self.kept);
                let info = pond.adopt(spec, memory.span().pointer(), keep).map_err(trouble)?;
                Ok(info.survives.to_string())
            }
            ["take", name, kind, bytes] => {
                let bytes = number(bytes)?;
                let memory = Arc::new(Own::make(&context()?, kind, bytes)?);
                self.own.insert(name.to_owned(), (memory, bytes));
                Ok(String::new())
            }
            ["free", name] => {
                let removed = self.own.remove(name);
                removed.map(|_| String::new()).ok_or_else(|| wrong(format!("no memory {name}")))
            }
            ["kept"] => Ok(self.kept.load(Ordering::SeqCst).to_string()),
            ["handle", name] => {
                let handle = pond.handle(name).map_err(trouble)?;
                let event = handle.event().map_or_else(|| "-".to_owned(), |event| hex(event));
                let (memory, offset) = (hex(handle.memory()), handle.offset());
                let bytes = handle.info().bytes;
                self.handles.insert(name.to_owned(), handle);
                Ok(format!("{memory} {event} {offset} {bytes}"))
            }
            ["let-go", name] => {
                let removed = self.handles.remove(name);
                removed.map(|_| String::new()).ok_or_else(|| wrong(format!("no handle of {name}")))
            }
            ["fill", name, value] => {
                let (tensor, value) = (tensor(held, name)?, byte(value)?);
                let stream = Stream::new(tensor.context()).map_err(trouble)?;
                tensor.fill_on(&stream, value).map_err(trouble)?;
                tensor.record(&stream).map_err(trouble)?;
                Ok(String::new())
            }
            ["wait", name, value] => {
                let (tensor, value) = (tensor(held, name)?, byte(value)?);
                let stream = Stream::new(tensor.context()).map_err(trouble)?;
                tensor.wait(&stream).map_err(trouble)?;
                stream.synchronize().map_err(trouble)?;
                let found = tensor.to_vec().map_err(trouble)?;
                match found.iter().all(|byte| *byte == value) {
                    true => Ok(String::new()),
                    false => Err(wrong(format!("'{name}' has other bytes than {value}"))),
                }
            }
            _ => Err(wrong(format!("'shared {}' is no command", words.join(" ")))),
        }
    }

    fn adopt(
        &mut self,
        pond: &Pond,
        name: &str,
        kind: &str,
        (bytes, offset): (u64, u64),
        seed: u64,
    ) -> Said {
        let memory = Arc::new(Own::make(&context()?, kind, bytes)?);
        let rest = bytes - offset;
        memory.span().copy_from_host(offset, &content::bytes(rest, seed)).map_err(trouble)?;
        let at = DevicePtr(memory.span().pointer().0 + offset);
        let spec = AdoptSpec::new(name, Dtype::U8, [rest]);
        let info = pond.adopt(spec, at, Keep::boxed(&memory, &self.kept)).map_err(trouble)?;
        self.own.insert(name.to_owned(), (memory, bytes));
        Ok(info.survives.to_string())
    }

    /// Gives everything back, as a tidy program does.
    pub(crate) fn end(&mut self) {
        self.handles.clear();
    }
}

/// The primary context, which stays: memory is in it.
fn context() -> Result<Context, Trouble> {
    static MADE: OnceLock<Context> = OnceLock::new();
    if let Some(context) = MADE.get() {
        return Ok(context.clone());
    }
    let driver = driver::open().map_err(trouble)?;
    let device = driver.devices().map_err(trouble)?.remove(0);
    let context = Context::primary(&device).map_err(trouble)?;
    Ok(MADE.get_or_init(|| context).clone())
}

fn tensor<'a>(
    held: &'a std::collections::HashMap<String, Tensor>,
    name: &str,
) -> Result<&'a Tensor, Trouble> {
    held.get(name).ok_or_else(|| wrong(format!("'{name}' is not held")))
}

fn byte(text: &str) -> Result<u8, Trouble> {
    text.parse().map_err(|_| wrong(format!("'{text}' is no byte")))
}

fn number(text: &str) -> Result<u64, Trouble> {
    text.parse().map_err(|_| wrong(format!("'{text}' is not a number")))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
