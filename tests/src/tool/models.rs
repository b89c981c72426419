//! What a `pondtool` process does with models: `model make`, `model attach` and so on.

use std::collections::HashMap;

use millpond::{Dtype, Model, ModelTensor, Pond, StageSpec, Staging};

use millpond_cuda::{Access, AddressRange, Allocation, Context, Mapping};
use millpond_wire::message::{ReplyBody, RequestBody, VersionGet};
use millpond_wire::{LeaseId, Mode, VersionTarget, runtime_dir};

use super::{Trouble, trouble, wrong};
use crate::{Raw, content, driver};

type Said = Result<String, Trouble>;

/// The size of a tensor `w0`, `w1` and so on; each has a slab of its own.
pub const TENSOR_BYTES: u64 = 3 << 19;
const SLAB_BYTES: u64 = 2 << 20;

/// What one process has of models.
#[derive(Default)]
pub(crate) struct Models {
    attached: HashMap<String, Model>,
    views: HashMap<String, ModelTensor>,
    staging: Option<Staging>,
}

impl Models {
    /// Does what the words say.
    pub(crate) fn run(&mut self, pond: &Pond, words: &[&str]) -> Said {
        match *words {
            ["make", model, tag, count, seed] => make(pond, model, tag, count, number(seed)?),
            ["like", model, tag, like, tensor, seed] => {
                let mut staging = begin(pond, model, tag, like)?;
                write(&mut staging, tensor, number(seed)?)?;
                committed(staging)
            }
            ["begin", model, tag, like, tensor] => {
                let mut staging = begin(pond, model, tag, like)?;
                write(&mut staging, tensor, 0)?;
                self.staging = Some(staging);
                Ok(String::new())
            }
            ["commit"] => committed(self.staging.take().ok_or_else(|| wrong("nothing staged"))?),
            ["abandon"] => {
                self.staging = None;
                Ok(String::new())
            }
            ["attach", target] => {
                let model = pond.attach(target).map_err(trouble)?;
                let tag = model.tag().to_string();
                self.attached.insert(target.to_owned(), model);
                Ok(tag)
            }
            ["detach", target] => {
                self.attached.remove(target).ok_or_else(|| wrong("it is not attached"))?;
                Ok(String::new())
            }
            ["hash", target, tensor] => hash(&self.model(target)?.tensor(tensor).map_err(trouble)?),
            ["spoil", target] => spoil(target),
            ["weights", target] => weights(self.model(target)?),
            ["view", target, tensor] => {
                let view = self.model(target)?.tensor(tensor).map_err(trouble)?;
                let address = view.device_ptr().to_string();
                self.views.insert(tensor.to_owned(), view);
                Ok(address)
            }
            ["see", tensor] => {
                hash(self.views.get(tensor).ok_or_else(|| wrong("there is no such view"))?)
            }
            ["unview", tensor] => {
                self.views.remove(tensor);
                Ok(String::new())
            }
            ["stale", target] => {
                self.model(target)?.is_stale().map(|stale| stale.to_string()).map_err(trouble)
            }
            ["refresh", target] => self.refresh(target, Model::refresh),
            ["refresh-in-place", target] => self.refresh(target, Model::refresh_in_place),
            ["live"] => Ok(format!("{} {}", pond.live_leases(), pond.live_bytes())),
            _ => Err(wrong(format!("'model {}' is no command", words.join(" ")))),
        }
    }

    fn model(&mut self, target: &str) -> Result<&mut Model, Trouble> {
        self.attached.get_mut(target).ok_or_else(|| wrong(format!("'{target}' is not attached")))
    }

    fn refresh(&mut self, target: &str, how: fn(&mut Model) -> millpond::Result<bool>) -> Said {
        let model = self.model(target)?;
        let changed = how(model).map_err(trouble)?;
        Ok(format!("{changed} {}", model.tag()))
    }

    pub(crate) fn end(&mut self) {
        *self = Self::default();
    }
}

/// The version's tag, and what all of its tensors hold as this process sees them.
fn weights(model: &Model) -> Said {
    let mut all = String::new();
    for name in model.names().map_err(trouble)? {
        let bytes = model.tensor(name).and_then(|tensor| tensor.to_vec()).map_err(trouble)?;
        all += &format!("{name} {}\n", content::hash(&bytes));
    }
    Ok(format!("{} {}", model.tag(), content::hash(all.as_bytes())))
}

/// What no honest client does: the descriptors of a lease for reading are mapped for writing, and
/// the first byte of the first slab is changed.
fn spoil(target: &str) -> Said {
    let folder = std::env::var_os(runtime_dir::ENVIRONMENT).unwrap_or_default();
    let raw = Raw::connect(std::path::Path::new(&folder));
    raw.be_welcome();
    let target = VersionTarget::Name(target.parse().map_err(trouble)?);
    let get = VersionGet { target, lease: LeaseId(1), mode: Mode::ReadOnly, wait_ms: 0 };
    raw.send(2, RequestBody::VersionGet(get));
    let (reply, fds) = raw.receive().ok_or_else(|| wrong("no answer"))?;
    let ReplyBody::Version(grant) = reply.body else { return Err(wrong(format!("{reply:?}"))) };
    let (Some(slab), Some(part)) = (fds.get(1), grant.parts.first()) else {
        return Err(wrong("no slab"));
    };
    let driver = driver::open().map_err(trouble)?;
    let device = driver.devices().map_err(trouble)?.remove(0);
    let context = Context::primary(&device).map_err(trouble)?;
    let memory = Allocation::import(&driver, std::os::fd::AsFd::as_fd(slab), part.bytes);
    let memory = memory.map_err(trouble)?;
    let range = AddressRange::reserve(&driver, part.bytes).map_err(trouble)?;
    let mapping = Mapping::map(&context, &range, 0, &memory, Access::ReadWrite).map_err(trouble)?;
    let mut byte = [0];
    mapping.copy_to_host(0, &mut byte).map_err(trouble)?;
    mapping.copy_from_host(0, &[byte[0] ^ 1]).map_err(trouble)?;
    context.synchronize().map_err(trouble)?;
    mapping.unmap().map_err(trouble)?;
    Ok(String::new())
}

fn make(pond: &Pond, model: &str, tag: &str, count: &str, seed: u64) -> Said {
    let tensors: Vec<_> = (0..number(count)?)
        .map(|index| (format!("w{index}"), Dtype::U8, vec![TENSOR_BYTES]))
        .collect();
    let names: Vec<String> = tensors.iter().map(|(name, ..)| name.clone()).collect();
    let spec = StageSpec::new(model).tag(tag).tensors(tensors).slab_bytes(SLAB_BYTES);
    let mut staging = pond.stage(spec).map_err(trouble)?;
    for (name, seed) in names.iter().zip(seed..) {
        write(&mut staging, name, seed)?;
    }
    committed(staging)
}

fn begin(pond: &Pond, model: &str, tag: &str, like: &str) -> Result<Staging, Trouble> {
    pond.stage(StageSpec::new(model).tag(tag).like(like)).map_err(trouble)
}

fn write(staging: &mut Staging, tensor: &str, seed: u64) -> Result<(), Trouble> {
    let bytes = content::bytes(TENSOR_BYTES, seed);
    let tensor = staging.tensor_mut(tensor).map_err(trouble)?;
    tensor.copy_from_host(0, &bytes).map_err(trouble)
}

fn committed(staging: Staging) -> Said {
    let info = staging.commit(true).map_err(trouble)?;
    info.content.map(|hash| hash.to_string()).ok_or_else(|| wrong("no hash"))
}

fn hash(tensor: &ModelTensor) -> Said {
    tensor.to_vec().map(|bytes| content::hash(&bytes)).map_err(trouble)
}

fn number(text: &str) -> Result<u64, Trouble> {
    text.parse().map_err(|_| wrong(format!("'{text}' is not a number")))
}
