//! A tensor that nobody sees before it is complete.

use millpond_wire::message::{Life, ReplyBody, RequestBody, TensorInfo, TensorPublish};
use millpond_wire::{Audience, Dtype, ErrorKind, Failure, GpuUuid, TensorName, TensorState, Token};

use super::{Progress, Source};
use crate::answer::not_an_answer;
use crate::expected::expect_moves;
use crate::{Pond, Result, TensorSpec};

/// A tensor to be put into the pond whole.
#[derive(Clone, Debug)]
#[must_use]
pub struct PutSpec {
    name: String,
    spec: TensorSpec,
    audience: Audience,
    replace: bool,
}

impl PutSpec {
    /// A tensor with this name. Name and shape are checked when it is put.
    pub fn new(name: impl Into<String>, dtype: Dtype, shape: impl Into<Vec<u64>>) -> Self {
        // Without a name and ephemeral: if this process dies, it was never there.
        let spec = TensorSpec::unnamed(dtype, shape).ephemeral(true);
        Self { name: name.into(), spec, audience: Audience::User, replace: false }
    }

    /// On which GPU; the pond's first one unless said.
    pub fn device(mut self, device: GpuUuid) -> Self {
        self.spec = self.spec.device(device);
        self
    }

    /// With whom it is shared; with one's own user only unless said.
    pub fn share(mut self, audience: Audience) -> Self {
        self.audience = audience;
        self
    }

    /// How long it lives, beside being deleted.
    pub fn life(mut self, life: Life) -> Self {
        self.spec = self.spec.life(life);
        self
    }

    /// Whether it takes the place of a tensor that has this name. Whoever holds the old one keeps
    /// it; whoever asks from then on gets the new one.
    pub fn replace(mut self, replace: bool) -> Self {
        self.replace = replace;
        self
    }
}

impl Pond {
    /// Puts a tensor into the pond: nobody sees it before all of its bytes are there, and if this
    /// process dies before, nothing is left of it.
    ///
    /// # Errors
    /// `exists` if the name is taken, `gpu_full`, and as for [`Pond::upload`].
    pub fn put(
        &self,
        spec: PutSpec,
        source: Source<'_>,
        mut progress: impl FnMut(Progress),
    ) -> Result<TensorInfo> {
        let PutSpec { name, spec, audience, replace } = spec;
        let name = TensorName::new(name)?;
        self.may_be_named(&name, audience, replace)?;
        if name.is_public() {
            // Not everybody may take such a name; the mover is needed in any case.
            expect_moves(&self.core().link, spec.wanted_device(), &name)?;
        }
        let lease = self.reserve_leased(spec.share(audience))?;
        let mut info = lease.info().clone();
        // In messages it is called what it is going to be.
        info.name = Some(name.clone());
        let named = self
            .fill(&info, source, &mut progress)
            .and_then(|_| self.publish_as(&info, name, replace));
        match named {
            Ok(generation) => {
                info.generation = generation;
                info.state = TensorState::Ready;
                info.ephemeral = false;
                Ok(info)
            }
            Err(error) => {
                lease.abandon();
                Err(error)
            }
        }
    }

    /// What the publish would refuse is refused before anything is moved, in the same words.
    fn may_be_named(&self, name: &TensorName, audience: Audience, replace: bool) -> Result<()> {
        if name.is_public() && audience != Audience::Everybody {
            let message = format!("'{name}' is shared with everybody, but the tensor is not");
            return Err(Failure::new(ErrorKind::Invalid, message)
                .hint("make it with audience everybody, or choose a name outside `public/`")
                .into());
        }
        if replace {
            return Ok(());
        }
        match self.inspect(name) {
            // A daemon from before bare names were one's own finds the one under `public/`.
            Ok(found) if found.info.name.as_ref() != Some(name) => Ok(()),
            Ok(_) => {
                let message = format!("tensor '{name}' already exists");
                Err(Failure::new(ErrorKind::Exists, message)
                    .hint(format!("replace it, or run `millpond tensor rm {name}` first"))
                    .into())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Says that a tensor's bytes are complete, where nothing of it is mapped here: work on it
    /// must have ended, as it has when an [`upload`](Pond::upload) returns. Gives the generation.
    ///
    /// # Errors
    /// `not_found`, and what else the pond answers.
    pub fn publish(&self, tensor: millpond_wire::TensorId) -> Result<u64> {
        self.publication(TensorPublish {
            tensor,
            token: Token::random(),
            name: None,
            replace: false,
        })
    }

    fn publish_as(&self, info: &TensorInfo, name: TensorName, replace: bool) -> Result<u64> {
        let (tensor, token) = (info.tensor, Token::random());
        self.publication(TensorPublish { tensor, token, name: Some(name), replace })
    }

    fn publication(&self, publish: TensorPublish) -> Result<u64> {
        const WHAT: &str = "a publish";
        match self.core().link.ask(WHAT, RequestBody::TensorPublish(publish))?.body {
            ReplyBody::Published { generation } => Ok(generation),
            _ => Err(not_an_answer(WHAT)),
        }
    }
}
