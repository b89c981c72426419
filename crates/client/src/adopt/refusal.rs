//! Why memory of a program cannot become a tensor.

use millpond_wire::{Audience, TensorId};

/// Why [`Pond::adopt`](crate::Pond::adopt) refuses memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdoptRefusal {
    /// The driver does not know the address.
    #[error("the driver knows no memory there")]
    NoMemory,
    /// Of no kind that can be shared, for example opened from another process.
    #[error("only the process that made it can share it")]
    NotOurs,
    /// Managed memory, which moves between host and device.
    #[error("managed memory cannot be shared")]
    Managed,
    /// Memory of the host.
    #[error("it is memory of the host, not of a GPU")]
    Host,
    /// This process itself may not write it.
    #[error("this process may not write it")]
    ReadOnly,
    /// Made by another context than the one that is current.
    #[error("another context made it than the one of this thread")]
    OtherContext,
    /// The tensor is longer than what is there.
    #[error(
        "the tensor has {bytes} bytes, and the allocation has {allocation_bytes}, of which {offset} are before it"
    )]
    TooLarge {
        /// Of the tensor.
        bytes: u64,
        /// Where in the allocation it begins.
        offset: u64,
        /// Of the allocation.
        allocation_bytes: u64,
    },
    /// Mapped memory that was made without a handle type to export it by.
    #[error("it was made so that it cannot be exported")]
    NotExportable,
    /// Memory of a pool that cannot be exported.
    #[error(
        "its pool was made so that it cannot be exported, as the driver's default pool is ({said})"
    )]
    PrivatePool {
        /// What the driver said.
        said: String,
    },
    /// The tensor is mapped from several handles.
    #[error("the tensor spans several handles; the one that it begins in has {handle_bytes} bytes")]
    SeveralHandles {
        /// Of the handle that it begins in.
        handle_bytes: u64,
    },
    /// The handle holds more than the tensor.
    #[error(
        "its handle of {handle_bytes} bytes has {before_bytes} bytes before the tensor and {after_bytes} behind it"
    )]
    SharesHandle {
        /// Of the handle.
        handle_bytes: u64,
        /// Of it, before the tensor.
        before_bytes: u64,
        /// Of it, behind the tensor.
        after_bytes: u64,
    },
    /// Other users would see what lies beside the tensor.
    #[error(
        "whoever opens it sees all of its allocation of {allocation_bytes} bytes or more, so it can be shared with one's own user only, not with '{audience}'"
    )]
    Neighbours {
        /// With whom it was to be shared.
        audience: Audience,
        /// Of the allocation.
        allocation_bytes: u64,
    },
    /// Memory of a tensor that this process has mapped.
    #[error("it is memory of the pond already")]
    OfThePond,
    /// Some of it is announced already; of a pool's memory, some of its allocation.
    #[error("some of it, or of its allocation, is tensor {tensor} already")]
    AlreadyAdopted {
        /// Which one.
        tensor: TensorId,
    },
}
