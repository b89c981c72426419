//! What is asked for: a tensor to be made, or a way to get one.

use std::time::Duration;

pub(crate) use millpond_client_core::wait_ms;
use millpond_wire::message::{LeaseInfo, Life, TensorCreate, TensorInfo};
use millpond_wire::{
    Audience, Dtype, GpuUuid, LeaseId, Mode, Shape, TensorId, TensorName, Token, TransportKind,
};

use crate::Result;

/// A tensor to be made.
///
/// ```
/// use millpond::{Audience, Dtype, TensorSpec};
///
/// let spec = TensorSpec::new("acts/x", Dtype::Bf16, [4096, 4096]).share(Audience::Group);
/// # drop(spec);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct TensorSpec {
    name: Option<String>,
    dtype: Dtype,
    dims: Vec<u64>,
    device: Option<GpuUuid>,
    audience: Audience,
    ephemeral: bool,
    zero: bool,
    life: Life,
    transport: TransportKind,
    hold: Option<Token>,
}

impl TensorSpec {
    /// A tensor with a name, found by it. Name and shape are checked when it is made.
    pub fn new(name: impl Into<String>, dtype: Dtype, shape: impl Into<Vec<u64>>) -> Self {
        Self { name: Some(name.into()), ..Self::unnamed(dtype, shape) }
    }

    /// A tensor without a name, found by its identity only.
    pub fn unnamed(dtype: Dtype, shape: impl Into<Vec<u64>>) -> Self {
        Self {
            name: None,
            dtype,
            dims: shape.into(),
            device: None,
            audience: Audience::User,
            ephemeral: false,
            zero: false,
            life: Life::default(),
            transport: TransportKind::Vmm,
            hold: None,
        }
    }

    /// On which GPU; the pond's first one unless said.
    pub fn device(mut self, device: GpuUuid) -> Self {
        self.device = Some(device);
        self
    }

    /// With whom it is shared; with one's own user only unless said.
    pub fn share(mut self, audience: Audience) -> Self {
        self.audience = audience;
        self
    }

    /// Whether it ends with this process instead of when it is deleted.
    pub fn ephemeral(mut self, ephemeral: bool) -> Self {
        self.ephemeral = ephemeral;
        self
    }

    /// Whether it is filled with zeroes, and so ready at once.
    pub fn zero(mut self, zero: bool) -> Self {
        self.zero = zero;
        self
    }

    /// How long it lives, beside being deleted; every end only stops new leases.
    pub fn life(mut self, life: Life) -> Self {
        self.life = life;
        self
    }

    /// How other processes reach its memory: [`TransportKind::Vmm`] unless said, which survives every
    /// process and is the only kind that can be mapped read-only. Ask for [`TransportKind::Ipc`] where
    /// a program that knows nothing but CUDA is to open it, see [`Pond::handle`](crate::Pond::handle).
    pub fn transport(mut self, transport: TransportKind) -> Self {
        self.transport = transport;
        self
    }

    /// Made to be held: it lives as long as somebody holds it, see [`Pond::hold`](crate::Pond::hold).
    /// The creation is its first hold, by nobody in particular; of a tensor that is there already, and
    /// is the same, it is one hold more. The same token again holds nothing more, also in another process:
    /// the tensor's identity follows from it. Of use for the transport [`TransportKind::Ipc`], and not together with [`TensorSpec::ephemeral`].
    pub fn held(mut self, token: Token) -> Self {
        self.hold = Some(token);
        self
    }

    /// The GPU that was asked for.
    pub(crate) fn wanted_device(&self) -> Option<GpuUuid> {
        self.device
    }

    /// The request, with an identity that all its repeats share.
    pub(crate) fn into_request(self, lease: Option<LeaseId>) -> Result<TensorCreate> {
        let shape = Shape::new(self.dims)?;
        shape.bytes(self.dtype)?;
        Ok(TensorCreate {
            tensor: self.hold.map_or_else(TensorId::random, TensorId::of_token),
            name: self.name.map(TensorName::new).transpose()?,
            dtype: self.dtype,
            shape,
            device: self.device,
            audience: self.audience,
            ephemeral: self.ephemeral,
            zero: self.zero,
            lease,
            life: self.life,
            transport: self.transport,
            hold: self.hold,
        })
    }
}

/// How a tensor is got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct GetOptions {
    pub(crate) mode: Mode,
    pub(crate) wait: Duration,
}

impl GetOptions {
    /// Mapped read-only: a write through it is an error of the device. Memory of the transports
    /// `mempool` and `ipc` cannot be mapped so: there it is a promise, which this crate keeps and a
    /// kernel of the program can break.
    pub fn read_only() -> Self {
        Self { mode: Mode::ReadOnly, wait: Duration::ZERO }
    }

    /// Mapped readable and writable.
    pub fn read_write() -> Self {
        Self { mode: Mode::ReadWrite, ..Self::read_only() }
    }

    /// How long to wait until the tensor exists and is published; not at all unless said, and
    /// for ever with [`Duration::MAX`].
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    pub(crate) fn waits_for_ever(&self) -> bool {
        self.wait == Duration::MAX
    }
}

impl Default for GetOptions {
    fn default() -> Self {
        Self::read_only()
    }
}

/// Everything about one tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorDetails {
    /// The tensor.
    pub info: TensorInfo,
    /// Who holds it.
    pub leases: Vec<LeaseInfo>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_shapes_are_checked_when_the_request_is_made() {
        let request =
            TensorSpec::new("a/b", Dtype::F32, [2, 3]).zero(true).into_request(None).unwrap();
        assert_eq!(request.shape.dims(), [2, 3]);
        assert!(request.zero && !request.ephemeral && request.lease.is_none());
        assert_eq!(request.transport, TransportKind::Vmm);
        let ipc = TensorSpec::unnamed(Dtype::F32, [2]).transport(TransportKind::Ipc);
        assert_eq!(ipc.into_request(None).unwrap().transport, TransportKind::Ipc);
        assert!(TensorSpec::new("a b", Dtype::F32, [2]).into_request(None).is_err());
        assert!(TensorSpec::unnamed(Dtype::F32, [0]).into_request(None).is_err());
        assert!(TensorSpec::unnamed(Dtype::F4, [3]).into_request(None).is_err());
        assert!(TensorSpec::unnamed(Dtype::F4, []).into_request(None).is_err());
    }

    #[test]
    fn waits_travel_in_milliseconds_rounded_up() {
        assert_eq!(wait_ms(Duration::ZERO), 0);
        assert_eq!(wait_ms(Duration::from_micros(1)), 1);
        assert_eq!(wait_ms(Duration::from_secs(5)), 5000);
        assert_eq!(wait_ms(Duration::MAX), millpond_wire::message::WAIT_FOREVER);
    }
}
