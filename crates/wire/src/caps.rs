//! Caps on what a peer may send, each with its reason.

/// One datagram. Default socket buffers take about 208 KiB; a quarter of that leaves room for a
/// few queued messages.
pub const MESSAGE_BYTES: usize = 64 * 1024;
/// File descriptors in one datagram. The kernel's limit is 253; half of it keeps one slow reader's
/// share of the descriptors in flight small.
pub const MESSAGE_FDS: usize = 128;
/// Requests of one connection that may wait for something at the same time.
pub const WAITING_REQUESTS: usize = 1024;
/// A tensor name, as long as a file name may be.
pub const NAME_BYTES: usize = 255;
/// Dimensions of a tensor; frameworks stop at 8 to 64, nobody has needed more than 10.
pub const DIMENSIONS: usize = 16;
/// Elements of a tensor: far above any card, far below overflow.
pub const TENSOR_ELEMENTS: u64 = 1 << 50;
/// A program name as shown by `ps`.
pub const PROGRAM_BYTES: usize = 255;
/// A path of a program, as long as the kernel takes.
pub const PATH_BYTES: usize = 4096;
/// Counters in the page that tells clients whether what they know is still so: one page of memory.
pub const PAGE_SLOTS: usize = 512;
/// Leases in one claim or release; a client with more sends several messages.
pub const LEASES_PER_MESSAGE: usize = 1024;
/// Texts inside a failure.
pub const TEXT_BYTES: usize = 4096;
/// Names and holders listed inside a failure.
pub const FAILURE_LIST: usize = 16;
/// A reply that travels as a memfd: a million tensors fit.
pub const MEMFD_BYTES: u64 = 1 << 30;
/// Tensors, clients or leases in one listing.
pub const LISTING: usize = 4_000_000;
/// Leases that an inspect shows; how many there are is a number beside them.
pub const HOLDERS_SHOWN: usize = 512;
/// Supplementary groups of a user that are looked at; the kernel allows 65,536, people have 32.
pub const GROUPS: usize = 1024;
/// A piece of a tensor that is hashed by itself: as large as a buffer of the mover's ring.
pub const PIECE_BYTES: u64 = 4 << 20;
/// Pieces in one move, and runs of a file that they are read from: together they fit a datagram.
pub const PIECES_PER_MOVE: usize = 1024;
pub const RUNS_PER_MOVE: usize = 2048;
/// Bytes of one move of pieces: a mover that is lost loses no more work than this.
pub const MOVE_BYTES: u64 = 256 << 20;
/// Slabs of a version: with the usual 2 GiB each, more than any card has.
pub const PARTS: usize = 1024;
pub const TAG_BYTES: usize = 64;
/// A group's name: a folder's name, shown in tables.
pub const GROUP_NAME_BYTES: usize = 64;
/// Users whose memory in the pond is charged to one group; as many as its file has room for.
pub const USERS_PER_GROUP: usize = 64;
/// A manifest: half a million tensors fit.
pub const MANIFEST_BYTES: u64 = 256 << 20;
/// Tensors of a version, so that a manifest stays in its bounds.
pub const TENSORS_PER_VERSION: usize = 500_000;
/// Metadata of a version, keys and values together: training scripts put whole configs there.
pub const METADATA_BYTES: usize = 16 << 20;
/// Entries of that metadata.
pub const METADATA_ENTRIES: usize = 65_536;
