#ifndef MILLPOND_H
#define MILLPOND_H

/* Generated from bindings/c/src by scripts/c-header. Do not edit. */

#include <stddef.h>
#include <stdint.h>

#define MILLPOND_VERSION_MAJOR 0
#define MILLPOND_VERSION_MINOR 1
#define MILLPOND_VERSION_PATCH 0
#define MILLPOND_VERSION_TEXT "0.1.0"
/** To be compared with millpond_version(), which is that of the library that runs. */
#define MILLPOND_VERSION (MILLPOND_VERSION_MAJOR * 10000 + MILLPOND_VERSION_MINOR * 100 + MILLPOND_VERSION_PATCH)

/**
 * Characters of a UUID as text, with the zero byte at its end; with `GPU-` in front where it is a
 * GPU's.
 */
#define MILLPOND_UUID_TEXT_BYTES 41

/** A wait without an end, for `wait_ms` and `timeout_ms`. */
#define MILLPOND_WAIT_FOREVER UINT64_MAX

/** The most dimensions of a tensor. */
#define MILLPOND_MAX_DIMENSIONS 16

/** Bytes of a name with the zero byte at its end. */
#define MILLPOND_NAME_BYTES 256

/** For `wait_ms` of a cache or a pool: no wait at all. */
#define MILLPOND_NO_WAIT (UINT64_MAX - 1)

/**
 * What a call answers. `MILLPOND_OK` is zero; numbers below 1000 are the kinds of errors that all
 * languages and the protocol share, from 1000 on those of this library. A number never changes its
 * meaning; later versions may add some.
 */
enum millpond_result
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** The call did what it says. */
    MILLPOND_OK = 0,
    /** An internal error; the daemon's log says more. */
    MILLPOND_INTERNAL = 1,
    /** The request is invalid: bad name, shape or combination. */
    MILLPOND_INVALID = 2,
    /** There is no such object, or it is not shared with the caller. */
    MILLPOND_NOT_FOUND = 3,
    /** The name is taken by an object of another dtype, shape, GPU or audience. */
    MILLPOND_EXISTS = 4,
    /** The caller may not change this object. */
    MILLPOND_DENIED = 5,
    /** The tensor is still being written; wait until it is published. */
    MILLPOND_NOT_READY = 6,
    /** The GPU, the pond's capacity on it, or the owner's group is full. */
    MILLPOND_GPU_FULL = 7,
    /** A limit on objects, leases or connections is reached. */
    MILLPOND_TOO_MANY = 8,
    /** The pond is busy with this object; try again. */
    MILLPOND_LATER = 9,
    /** The pond is shutting down. */
    MILLPOND_DRAINING = 10,
    /** The record survived but its memory did not. */
    MILLPOND_LOST = 11,
    /** The GPU driver refused. */
    MILLPOND_DRIVER = 12,
    /** The message is malformed, or of an unsupported version. */
    MILLPOND_PROTOCOL = 13,
    /** The daemon is older than this request. */
    MILLPOND_UNKNOWN_KIND = 14,
    /** No pond answers on the socket. */
    MILLPOND_NO_POND = 15,
    /** A file or socket belongs to an unexpected user. */
    MILLPOND_UNTRUSTED = 16,
    /** No answer, or nothing published, within the given time. */
    MILLPOND_TIMEOUT = 17,
    /** No such GPU. */
    MILLPOND_NO_DEVICE = 18,
    /** A file could not be read or written, or has unexpected content. */
    MILLPOND_FILE = 19,
    /** The process that moves the bytes died or hung; nothing was published. */
    MILLPOND_MOVER = 20,
    /** The version takes no new readers; another version is current. */
    MILLPOND_RETIRED = 21,
    /** Processes use it, or one of them keeps its lock; end them and try again. */
    MILLPOND_IN_USE = 22,
    /** Memory of a kind, or a node, that this program cannot use. */
    MILLPOND_UNSUPPORTED = 23,
    /** The handle was freed, is of another kind, or was never one of this process. */
    MILLPOND_INVALID_HANDLE = 1000,
    /** A pointer that must not be NULL is NULL. */
    MILLPOND_NULL_POINTER = 1001,
    /** The object belongs to the process that forked this one. */
    MILLPOND_FORKED = 1002,
    /** The call was ended by millpond_cancel_set() or by a callback. */
    MILLPOND_CANCELLED = 1003,
    /** The pond was closed by millpond_pond_close(). */
    MILLPOND_CLOSED = 1004,
    /** The caller's buffer is too small; nothing was written. */
    MILLPOND_TOO_SMALL = 1005,
    /** A defect of this library; please report the message. */
    MILLPOND_PANIC = 1006,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum millpond_result millpond_result;
#else
typedef int32_t millpond_result;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** The type of a tensor's elements. The names are those of safetensors. */
enum millpond_dtype
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Truth value in one byte. */
    MILLPOND_DTYPE_BOOL = 1,
    /** Four-bit float, two to a byte. */
    MILLPOND_DTYPE_F4 = 2,
    /** Six-bit float, packed. */
    MILLPOND_DTYPE_F6_E2M3 = 3,
    /** Six-bit float, packed. */
    MILLPOND_DTYPE_F6_E3M2 = 4,
    /** Unsigned byte. */
    MILLPOND_DTYPE_U8 = 5,
    /** Signed byte. */
    MILLPOND_DTYPE_I8 = 6,
    /** Eight-bit float, five exponent bits. */
    MILLPOND_DTYPE_F8_E5M2 = 7,
    /** Eight-bit float, four exponent bits. */
    MILLPOND_DTYPE_F8_E4M3 = 8,
    /** Eight-bit exponent, for block scales. */
    MILLPOND_DTYPE_F8_E8M0 = 9,
    /** Eight-bit float, four exponent bits, no negative zero. */
    MILLPOND_DTYPE_F8_E4M3FNUZ = 10,
    /** Eight-bit float, five exponent bits, no negative zero. */
    MILLPOND_DTYPE_F8_E5M2FNUZ = 11,
    /** Signed, 16 bits. */
    MILLPOND_DTYPE_I16 = 12,
    /** Unsigned, 16 bits. */
    MILLPOND_DTYPE_U16 = 13,
    /** IEEE half precision. */
    MILLPOND_DTYPE_F16 = 14,
    /** Brain float. */
    MILLPOND_DTYPE_BF16 = 15,
    /** Signed, 32 bits. */
    MILLPOND_DTYPE_I32 = 16,
    /** Unsigned, 32 bits. */
    MILLPOND_DTYPE_U32 = 17,
    /** IEEE single precision. */
    MILLPOND_DTYPE_F32 = 18,
    /** Complex of two single-precision parts. */
    MILLPOND_DTYPE_C64 = 19,
    /** IEEE double precision. */
    MILLPOND_DTYPE_F64 = 20,
    /** Signed, 64 bits. */
    MILLPOND_DTYPE_I64 = 21,
    /** Unsigned, 64 bits. */
    MILLPOND_DTYPE_U64 = 22,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum millpond_dtype millpond_dtype;
#else
typedef uint32_t millpond_dtype;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** How a tensor is mapped. Zero is read-only. */
enum millpond_mode
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Read-only: a write through it is an error of the device. */
    MILLPOND_MODE_READ_ONLY = 1,
    /** Readable and writable. */
    MILLPOND_MODE_READ_WRITE = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum millpond_mode millpond_mode;
#else
typedef uint32_t millpond_mode;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** With whom something is shared. Zero is the owner's user. */
enum millpond_audience
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Its owner's user only. */
    MILLPOND_AUDIENCE_USER = 1,
    /** Members of its owner's primary group. */
    MILLPOND_AUDIENCE_GROUP = 2,
    /** Every user of the tenant. */
    MILLPOND_AUDIENCE_EVERYBODY = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum millpond_audience millpond_audience;
#else
typedef uint32_t millpond_audience;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** How other processes reach memory. Zero is `vmm`. */
enum millpond_transport
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Virtual memory management: a descriptor for each allocation. Survives every process. */
    MILLPOND_TRANSPORT_VMM = 1,
    /** A memory pool of the driver, with one allocation in it. */
    MILLPOND_TRANSPORT_MEMPOOL = 2,
    /** A legacy IPC handle of 64 bytes, which programs open with CUDA alone. */
    MILLPOND_TRANSPORT_IPC = 3,
    /** A handle for the GPUs of other nodes. */
    MILLPOND_TRANSPORT_FABRIC = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum millpond_transport millpond_transport;
#else
typedef uint32_t millpond_transport;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** Where a tensor is in its life. */
enum millpond_tensor_state
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Its creator has not published it yet. */
    MILLPOND_TENSOR_WRITING = 1,
    /** Published: readers may have it. */
    MILLPOND_TENSOR_READY = 2,
    /** Deleted, and kept only for the leases that are left. */
    MILLPOND_TENSOR_DELETED = 3,
    /** The process that kept its memory is gone; what is left is what readers have. */
    MILLPOND_TENSOR_ORPHAN = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum millpond_tensor_state millpond_tensor_state;
#else
typedef uint32_t millpond_tensor_state;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** What memory survives. */
enum millpond_survives
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** The end of every process but keeper and daemon together. */
    MILLPOND_SURVIVES_EVERYTHING = 1,
    /** Everything but the end of the process that hosts it. */
    MILLPOND_SURVIVES_HOST = 2,
    /** Everything but the end of the process that announced it. */
    MILLPOND_SURVIVES_OWNER = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum millpond_survives millpond_survives;
#else
typedef uint32_t millpond_survives;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** Which of a pond's sockets is used. */
enum millpond_door
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** The one for all users. */
    MILLPOND_DOOR_USERS = 0,
    /**
     * Everything of all users is seen there, and whatever would change, map or keep something is
     * refused. Open to root, to the user who runs the pond and to the members of its `watch_group`.
     */
    MILLPOND_DOOR_WATCH = 1,
    /**
     * Every tensor can be seen and deleted there, and no cap on users holds. Open to root and to
     * the user who runs the pond.
     */
    MILLPOND_DOOR_OPERATOR = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum millpond_door millpond_door;
#else
typedef uint32_t millpond_door;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** What can be done about a failure. */
enum millpond_remedy
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Nothing has failed. */
    MILLPOND_REMEDY_NONE = 0,
    /** Ask for something else: the request can never succeed as it is. */
    MILLPOND_REMEDY_CHANGE = 1,
    /** Repeat the same request after a moment. */
    MILLPOND_REMEDY_RETRY = 2,
    /** Free something, or raise a limit, and repeat. */
    MILLPOND_REMEDY_FREE = 3,
    /** Tell the operator: the pond or the machine is not well. */
    MILLPOND_REMEDY_OPERATOR = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum millpond_remedy millpond_remedy;
#else
typedef uint32_t millpond_remedy;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** A kind of source or sink. */
enum millpond_place
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** A file by its path. */
    MILLPOND_PLACE_PATH = 1,
    /** A descriptor that is open: a file, a pipe or a socket. */
    MILLPOND_PLACE_FD = 2,
    /** This machine's memory. */
    MILLPOND_PLACE_MEMORY = 3,
    /** Zeroes; for sources only. */
    MILLPOND_PLACE_ZEROES = 4,
    /** Another tensor of the pond; for sources only. */
    MILLPOND_PLACE_TENSOR = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum millpond_place millpond_place;
#else
typedef uint32_t millpond_place;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** Where a version of a model is in its life. */
enum millpond_version_state
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Its bytes are being written; only the process that stages it has it. */
    MILLPOND_VERSION_STATE_STAGING = 1,
    /** Complete: readers may have it. */
    MILLPOND_VERSION_STATE_READY = 2,
    /** Kept only for the readers that are left. */
    MILLPOND_VERSION_STATE_DRAINING = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum millpond_version_state millpond_version_state;
#else
typedef uint32_t millpond_version_state;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** What happened. */
enum millpond_event_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** A tensor was made. */
    MILLPOND_EVENT_TENSOR_CREATED = 1,
    /** A tensor was published. */
    MILLPOND_EVENT_TENSOR_PUBLISHED = 2,
    /** A tensor was deleted; leases may be left. */
    MILLPOND_EVENT_TENSOR_DELETED = 3,
    /** A tensor's memory was given back. */
    MILLPOND_EVENT_TENSOR_FREED = 4,
    /** A client holds something for the first time. */
    MILLPOND_EVENT_CLIENT_CONNECTED = 5,
    /** A client hung up but lives. */
    MILLPOND_EVENT_CLIENT_SILENT = 6,
    /** A client that held something said goodbye, or its process is gone. */
    MILLPOND_EVENT_CLIENT_GONE = 7,
    /** A daemon has recovered the pond. */
    MILLPOND_EVENT_RECOVERED = 8,
    /** The pond is shutting down. */
    MILLPOND_EVENT_DRAINING = 9,
    /** The keeper was replaced. */
    MILLPOND_EVENT_KEEPER_REPLACED = 10,
    /** Events are missing before this one: the subscriber was slow, or came late. */
    MILLPOND_EVENT_GAP = 11,
    /** A mover was started. */
    MILLPOND_EVENT_MOVER_STARTED = 12,
    /** A mover had nothing to do for a while and was ended. */
    MILLPOND_EVENT_MOVER_STOPPED = 13,
    /** A mover died or hung; another takes its place. */
    MILLPOND_EVENT_MOVER_LOST = 14,
    /** Somebody reached a limit. */
    MILLPOND_EVENT_LIMIT_REACHED = 15,
    /** Another daemon takes over. */
    MILLPOND_EVENT_UPGRADING = 16,
    /** Memory that nobody used was given back. */
    MILLPOND_EVENT_COLLECTED = 17,
    /** A version of a model was begun. */
    MILLPOND_EVENT_VERSION_STAGED = 18,
    /** A version is complete. */
    MILLPOND_EVENT_VERSION_READY = 19,
    /** Another version of a model is current. */
    MILLPOND_EVENT_MODEL_SWAPPED = 20,
    /** A version takes no new readers. */
    MILLPOND_EVENT_VERSION_DRAINING = 21,
    /** A version's last reader has left, or it was given up. */
    MILLPOND_EVENT_VERSION_GONE = 22,
    /** A group was made or changed. */
    MILLPOND_EVENT_GROUP_SET = 23,
    /** A group's limit is below what it holds; the text says who holds most. */
    MILLPOND_EVENT_GROUP_OVER = 24,
    /** Members of a group hold more than they say. */
    MILLPOND_EVENT_GROUP_LYING = 25,
    /** Somebody keeps a group's lock for longer than anybody needs it. */
    MILLPOND_EVENT_GROUP_STUCK = 26,
    /** A group was removed, or its last process ended. */
    MILLPOND_EVENT_GROUP_GONE = 27,
    /** A tensor or a model has another name. */
    MILLPOND_EVENT_RENAMED = 28,
    /** A model of the configuration could not be loaded. */
    MILLPOND_EVENT_START_FAILED = 29,
    /** A process has a cache in a group. */
    MILLPOND_EVENT_CACHE_OPENED = 30,
    /** A cache was closed, or its process is gone. */
    MILLPOND_EVENT_CACHE_CLOSED = 31,
    /** A cache was asked to give pages back; the text says how many, for whom, and why. */
    MILLPOND_EVENT_CACHE_PRESSED = 32,
    /** A cache gave pages back. */
    MILLPOND_EVENT_CACHE_GAVE = 33,
    /** A cache got what it had waited for. */
    MILLPOND_EVENT_CACHE_GOT = 34,
    /** A process that did not answer when pages were asked of it was ended. */
    MILLPOND_EVENT_CACHE_ENDED = 35,
    /** A process that owns memory with legacy handles was started. */
    MILLPOND_EVENT_HOST_STARTED = 36,
    /** A host had nothing left to keep and was ended. */
    MILLPOND_EVENT_HOST_STOPPED = 37,
    /** A host died; what it kept is what readers still map. */
    MILLPOND_EVENT_HOST_LOST = 38,
    /** Memory of another program became a tensor. */
    MILLPOND_EVENT_TENSOR_ADOPTED = 39,
    /** The process that kept a tensor's memory is gone. */
    MILLPOND_EVENT_TENSOR_ORPHANED = 40,
    /** Holds ended because their process is gone. */
    MILLPOND_EVENT_HOLD_ENDED = 41,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum millpond_event_kind millpond_event_kind;
#else
typedef uint32_t millpond_event_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** What a load is doing. */
enum millpond_load_phase
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Files are opened and their headers checked; tensors that are said to be tied are compared.
     */
    MILLPOND_LOAD_CHECKING = 1,
    /** Files are compared with the version that this one is like. */
    MILLPOND_LOAD_HASHING = 2,
    /** Bytes go to the GPU. */
    MILLPOND_LOAD_LOADING = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum millpond_load_phase millpond_load_phase;
#else
typedef uint32_t millpond_load_phase;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** How a limit is given. */
enum millpond_limit_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Not given: what there is stays. */
    MILLPOND_LIMIT_NONE = 0,
    /** A number of bytes. */
    MILLPOND_LIMIT_BYTES = 1,
    /** Thousandths of the card's memory. */
    MILLPOND_LIMIT_PERMILLE = 2,
    /** No limit. */
    MILLPOND_LIMIT_UNLIMITED = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum millpond_limit_kind millpond_limit_kind;
#else
typedef uint32_t millpond_limit_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** What a program answers when pages are wanted back. */
enum millpond_offer
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Nothing. */
    MILLPOND_OFFER_NOTHING = 0,
    /** It has uncommitted what it can, in the call. */
    MILLPOND_OFFER_NOW = 1,
    /** It will uncommit something soon, before the time is over. */
    MILLPOND_OFFER_SOON = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum millpond_offer millpond_offer;
#else
typedef uint32_t millpond_offer;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** DLPack's structure from before version 1, `DLManagedTensor` of `dlpack.h`. */
typedef struct DLManagedTensor DLManagedTensor;

/** DLPack's structure of version 1, `DLManagedTensorVersioned` of `dlpack.h`. */
typedef struct DLManagedTensorVersioned DLManagedTensorVersioned;

/** Hands out the blocks of a cache one by one; pages follow the blocks. */
typedef struct millpond_blocks millpond_blocks;

/**
 * A range of addresses of this process that never moves, with pages that come and go. What is not
 * committed must not be touched: a kernel that does so faults, and the context is lost.
 */
typedef struct millpond_cache millpond_cache;

/** Ends calls of other threads: see millpond_cancel_use(). */
typedef struct millpond_cancel millpond_cancel;

/** The caches and pools of one group, in this process. */
typedef struct millpond_elastic millpond_elastic;

/** A subscription to events, with a connection of its own. */
typedef struct millpond_events millpond_events;

/**
 * A lease on a tensor of MILLPOND_TRANSPORT_IPC that is not mapped here, from
 * millpond_handle_get().
 */
typedef struct millpond_handle millpond_handle;

/** A version of a model, mapped read-only. */
typedef struct millpond_model millpond_model;

/** A connection to a pond. */
typedef struct millpond_pond millpond_pond;

/**
 * A stream-ordered pool on the budget of a group: memory for the work of streams, freed and used
 * again in their order.
 */
typedef struct millpond_pool millpond_pool;

/** Blocks of a cache that can be committed without fail, from millpond_cache_prepare(). */
typedef struct millpond_prepared millpond_prepared;

/** A version that this process is writing. */
typedef struct millpond_staging millpond_staging;

/** What a pond said about itself at one moment. */
typedef struct millpond_status millpond_status;

/** A tensor that this process has a lease on, mapped into its address space on the GPU. */
typedef struct millpond_tensor millpond_tensor;

/** Text of the library's own, for example JSON. Read it with millpond_text_data(). */
typedef struct millpond_text millpond_text;

/**
 * The identity of a tensor, a version or a GPU: 16 bytes in the order in which they are printed.
 * All zero stands for none.
 */
typedef struct millpond_uuid {
    /** The bytes. */
    uint8_t bytes[16];
} millpond_uuid;

/** Who holds memory of a full GPU, or uses a tensor that was not deleted for that. */
typedef struct millpond_holder {
    /** User id of the owner. */
    uint32_t user;
    /** The process, where it is about one tensor or one cache; otherwise zero. */
    uint32_t pid;
    /** Bytes of the owner's slabs. */
    uint64_t bytes;
    /** Tensors in them. */
    uint32_t tensors;
    /** 1 if a cache has the bytes, and no slab. */
    uint32_t is_cache;
    /** For later versions; zero. */
    uint64_t reserved[4];
} millpond_holder;

/** The memory that an answer MILLPOND_GPU_FULL is about. Zero where nothing was said. */
typedef struct millpond_memory_shortage {
    /** Bytes that were asked for. */
    uint64_t requested_bytes;
    /** Bytes that are free. */
    uint64_t free_bytes;
    /** What the pond may take of the GPU. */
    uint64_t capacity_bytes;
} millpond_memory_shortage;

/** How a pond is connected to. A struct of zeroes has the defaults. */
typedef struct millpond_connect_options {
    /**
     * The pond's runtime folder. NULL: MILLPOND_RUNTIME_DIR, then the user's own pond, then the
     * machine's.
     */
    const char *runtime_dir;
    /** What `millpond ps` calls this process. NULL: the name of its executable. */
    const char *program;
    /** How long a call waits for a daemon that restarts. Zero: 15 seconds. */
    uint64_t reconnect_timeout_ms;
    /**
     * How long a call waits for its answer. Zero: 60 seconds. What `wait_ms` of a get allows comes
     * on top.
     */
    uint64_t request_timeout_ms;
    /** Which socket. */
    millpond_door door;
    /** 1 has the first call connect, and millpond_pond_connect() cannot fail for want of a pond. */
    uint32_t lazy;
    /** For later versions; must be zero. */
    uint64_t reserved[8];
} millpond_connect_options;

/** The numbers of a pond. */
typedef struct millpond_pond_info {
    /** Which pond. */
    millpond_uuid pond;
    /** Which daemon of it; every start has the next number. */
    uint64_t epoch;
    /** When this daemon started. */
    uint64_t started_unix_ms;
    /** The daemon's process. */
    uint32_t daemon_pid;
    /** The keeper's process. */
    uint32_t keeper_pid;
    /** Clients that are known. */
    uint32_t clients;
    /** Leases that are known. */
    uint32_t leases;
    /** 1 if the driver has answered. */
    uint32_t driver_ready;
    /** 1 for the software driver: host memory, no GPU. */
    uint32_t software;
    /** Version of the daemon's program. */
    char version[32];
    /** Name and version of the driver. */
    char driver[128];
    /** For later versions; zero. */
    uint64_t reserved[8];
} millpond_pond_info;

/** One GPU of a pond, and its accounts. */
typedef struct millpond_gpu {
    /** Its UUID. */
    millpond_uuid uuid;
    /** Place in the pond's list; for people only. */
    uint32_t index;
    /** How many tensors. */
    uint32_t tensors;
    /** How many slabs. */
    uint32_t slabs;
    /** 1 for a GPU of the software driver: host memory. */
    uint32_t software;
    /** Bytes on the card. */
    uint64_t total_bytes;
    /** Bytes that the pond may take. */
    uint64_t capacity_bytes;
    /** Bytes of the pond's slabs. */
    uint64_t slab_bytes;
    /** Bytes of the tensors in them. */
    uint64_t tensor_bytes;
    /** Bytes of slabs without a tensor, kept for their owner. */
    uint64_t recycled_bytes;
    /**
     * The driver's own reading for the whole card, all programs together; UINT64_MAX where it is
     * not known.
     */
    uint64_t physical_used_bytes;
    /** What the driver calls it. */
    char name[128];
    /** For later versions; zero. */
    uint64_t reserved[8];
} millpond_gpu;

/**
 * A tensor to be made. Begin with a struct of zeroes, and set `dtype`, `dimensions` and `shape` at
 * least.
 */
typedef struct millpond_tensor_spec {
    /**
     * By which it is found, for example `acts/x`; NULL for a tensor that is found by its identity
     * only.
     */
    const char *name;
    /** Element type. */
    millpond_dtype dtype;
    /** How many extents; zero for a single element. */
    uint32_t dimensions;
    /** Extents. */
    uint64_t shape[MILLPOND_MAX_DIMENSIONS];
    /** On which GPU; all zero for the pond's first one. */
    millpond_uuid gpu;
    /** With whom it is shared. */
    millpond_audience audience;
    /** How other processes reach its memory. */
    millpond_transport transport;
    /** 1: filled with zeroes, and so ready at once. */
    uint32_t zero;
    /** 1: ends with this process instead of when it is deleted; 2: already with its last lease. */
    uint32_t ephemeral;
    /** No new readers after so long from its creation; zero for no such end. */
    uint64_t ttl_ms;
    /** Deleted after so long without a lease; zero for no such end. */
    uint64_t linger_ms;
    /** Deleted after so many gets were answered; zero for no such end. */
    uint64_t max_accesses;
    /** Made to be held, with this token: see millpond_tensor_hold(). All zero: not held. */
    millpond_uuid hold_token;
    /** For millpond_tensor_put() alone. 1: takes the place of a tensor that has this name. */
    uint32_t replace;
    /** Must be zero. */
    uint32_t reserved_flags;
    /** For later versions; must be zero. */
    uint64_t reserved[7];
} millpond_tensor_spec;

/** What a pond says about a tensor. */
typedef struct millpond_tensor_info {
    /** Identity. */
    millpond_uuid id;
    /** UUID of its GPU. */
    millpond_uuid gpu;
    /** The slab that it lies in. */
    millpond_uuid slab;
    /** Name inside its owner's scope; empty for a tensor that has none. */
    char name[MILLPOND_NAME_BYTES];
    /** Element type. */
    millpond_dtype dtype;
    /** How many extents. */
    uint32_t dimensions;
    /** Extents; zero from `dimensions` on. */
    uint64_t shape[MILLPOND_MAX_DIMENSIONS];
    /** Its bytes. */
    uint64_t bytes;
    /** Where in the slab it begins. */
    uint64_t slab_offset_bytes;
    /** That slab's bytes. */
    uint64_t slab_bytes;
    /** Counts publishes. */
    uint64_t generation;
    /** When it was made. */
    uint64_t created_unix_ms;
    /** What is left of its time; UINT64_MAX where no end was set. */
    uint64_t ttl_left_ms;
    /** How long it stays without a lease; UINT64_MAX where no end was set. */
    uint64_t linger_ms;
    /** Gets that will be answered; UINT64_MAX where no end was set. */
    uint64_t accesses_left;
    /** How many holds keep it; UINT64_MAX where it was not made to be held. */
    uint64_t holds;
    /** Owner's user id. */
    uint32_t user;
    /** How many leases there are on it. */
    uint32_t leases;
    /** Where it is in its life. */
    millpond_tensor_state state;
    /** With whom it is shared. */
    millpond_audience audience;
    /** How its memory is shared. */
    millpond_transport transport;
    /** What its memory survives. */
    millpond_survives survives;
    /** 1: ends with its creator's process. */
    uint32_t ephemeral;
    /** 1: another program made the memory, and the pond took it in. */
    uint32_t adopted;
    /** The process that keeps its memory; zero where descriptors do. */
    uint32_t home_pid;
    /** Zero. */
    uint32_t reserved_flags;
    /** For later versions; zero. */
    uint64_t reserved[8];
} millpond_tensor_info;

/** How a tensor is got. A struct of zeroes maps read-only and waits for nothing. */
typedef struct millpond_get_options {
    /** How it is mapped. */
    millpond_mode mode;
    /** Must be zero. */
    uint32_t reserved_flags;
    /** How long to wait until it exists and is published; MILLPOND_WAIT_FOREVER has no end. */
    uint64_t wait_ms;
    /** For later versions; must be zero. */
    uint64_t reserved[6];
} millpond_get_options;

/**
 * Is called for each tensor of a listing, in the calling thread. The info is valid during the call.
 * Anything but zero ends the listing, which then answers MILLPOND_CANCELLED. It may call this
 * library. Neither a C++ exception nor longjmp() may leave it.
 */
typedef uint32_t (*millpond_tensor_visitor)(const millpond_tensor_info *info, void *user_data);

/** Where bytes come from. Set `place`, and what belongs to it. */
typedef struct millpond_source {
    /** What kind of source it is. */
    millpond_place place;
    /**
     * MILLPOND_PLACE_FD: an open file, pipe or socket, read from where it stands. It stays open.
     */
    int32_t fd;
    /**
     * MILLPOND_PLACE_PATH: the file. MILLPOND_PLACE_TENSOR: the tensor, as for
     * millpond_tensor_get().
     */
    const char *path;
    /** MILLPOND_PLACE_MEMORY: where the bytes are. */
    const void *data;
    /** MILLPOND_PLACE_MEMORY: how many. */
    uint64_t bytes;
    /** For later versions; must be zero. */
    uint64_t reserved[4];
} millpond_source;

/**
 * Is told how far something is, in the calling thread. Anything but zero ends it: the call answers
 * MILLPOND_CANCELLED, unless it was complete already. It may call this library. It must return:
 * neither a C++ exception nor longjmp() may leave it.
 */
typedef uint32_t (*millpond_progress)(uint64_t done, uint64_t total, void *user_data);

/** Where bytes go. Set `place`, and what belongs to it. */
typedef struct millpond_sink {
    /** What kind of sink it is: a path, a descriptor or memory. */
    millpond_place place;
    /**
     * MILLPOND_PLACE_FD: an open file, pipe or socket, written from where it stands. It stays open.
     */
    int32_t fd;
    /** MILLPOND_PLACE_PATH: the file, which is made or overwritten. */
    const char *path;
    /** MILLPOND_PLACE_MEMORY: where the bytes go. */
    void *data;
    /** MILLPOND_PLACE_MEMORY: how much room there is; the tensor must fit. */
    uint64_t bytes;
    /** 1: for MILLPOND_PLACE_PATH, refuse a file that is there. */
    uint32_t exclusive;
    /** Must be zero. */
    uint32_t reserved_flags;
    /** For later versions; must be zero. */
    uint64_t reserved[3];
} millpond_sink;

/**
 * What opens a tensor's memory in any process but the one that made it. Whoever has the bytes has
 * the memory, for reading and writing: hand them on as you would hand on the memory itself.
 */
typedef struct millpond_handle_parts {
    /**
     * For cuIpcOpenMemHandle() and cudaIpcOpenMemHandle(). The tensor begins `offset` bytes behind
     * the address that it opens.
     */
    uint8_t memory[64];
    /**
     * For cuIpcOpenEventHandle(): the event that carries order between streams of two processes.
     */
    uint8_t event[64];
    /** 1 if there is an event. Memory that another program made has none. */
    uint32_t has_event;
    /** Zero. */
    uint32_t reserved_flags;
    /** Where the tensor begins in what the bytes open. */
    uint64_t offset;
    /** For later versions; zero. */
    uint64_t reserved[4];
    /** The tensor. */
    millpond_tensor_info info;
} millpond_handle_parts;

/**
 * Is called when the pond says that nobody has adopted memory any more, in a thread of this
 * library; and before millpond_tensor_adopt() answers with a failure. Neither a C++ exception nor
 * longjmp() may leave it.
 */
typedef void (*millpond_release)(void *user_data);

/** What a pond says about a version of a model. */
typedef struct millpond_version_info {
    /** Identity. */
    millpond_uuid id;
    /** UUID of its GPU. */
    millpond_uuid gpu;
    /** Its model's name inside the owner's scope. */
    char model[MILLPOND_NAME_BYTES];
    /** Its tag. */
    char tag[72];
    /** Owner's user id. */
    uint32_t user;
    /** Where it is in its life. */
    millpond_version_state state;
    /** With whom it is shared. */
    millpond_audience audience;
    /** 1: it is the model's current version. */
    uint32_t current;
    /** 1: a rollback leads to it. */
    uint32_t previous;
    /** 1: its record survived but not its memory. */
    uint32_t lost;
    /** How many slabs. */
    uint32_t slabs;
    /** How many tensors. */
    uint32_t tensors;
    /** Leases on it. */
    uint32_t readers;
    /** The process that stages it; zero where none does. */
    uint32_t stager_pid;
    /** Bytes of its tensors; zero while it is staged. */
    uint64_t bytes;
    /** Bytes of its slabs. */
    uint64_t slab_bytes;
    /** Bytes of slabs that other versions have as well. */
    uint64_t shared_bytes;
    /** When it was begun. */
    uint64_t created_unix_ms;
    /** When it was complete; zero before. */
    uint64_t ready_unix_ms;
    /** Hash of where everything lies; all zero before it is ready. */
    uint8_t layout_hash[16];
    /** Hash of everything; all zero before it is ready. */
    uint8_t content_hash[16];
    /** For later versions; zero. */
    uint64_t reserved[8];
} millpond_version_info;

/** A tensor of a version, mapped. */
typedef struct millpond_model_tensor {
    /** Where it begins in the GPU's address space, for this process. */
    void *data;
    /** Its bytes. */
    uint64_t bytes;
    /** Where it begins in the version's arena. */
    uint64_t arena_offset;
    /** Element type. */
    millpond_dtype dtype;
    /** How many extents. */
    uint32_t dimensions;
    /** Extents; zero from `dimensions` on. */
    uint64_t shape[MILLPOND_MAX_DIMENSIONS];
    /** Hash of its bytes. */
    uint8_t hash[16];
    /** Its name in the checkpoint. */
    char name[MILLPOND_NAME_BYTES];
    /** For later versions; zero. */
    uint64_t reserved[4];
} millpond_model_tensor;

/**
 * Is called for each version of a listing, in the calling thread. The info is valid during the
 * call. Anything but zero ends the listing, which then answers MILLPOND_CANCELLED. It may call this
 * library. Neither a C++ exception nor longjmp() may leave it.
 */
typedef uint32_t (*millpond_version_visitor)(const millpond_version_info *info, void *user_data);

/** A tensor of a version to be made. */
typedef struct millpond_stage_tensor {
    /** Its name. */
    const char *name;
    /**
     * The tensor whose bytes it has, where it is a further name of another one; otherwise NULL.
     * Then dtype and shape do not count.
     */
    const char *tied_to;
    /** Element type. */
    millpond_dtype dtype;
    /** How many extents. */
    uint32_t dimensions;
    /** Extents. */
    uint64_t shape[MILLPOND_MAX_DIMENSIONS];
} millpond_stage_tensor;

/** A name with a value. */
typedef struct millpond_pair {
    /** The name. */
    const char *name;
    /** The value. */
    const char *value;
} millpond_pair;

/** A version to be made. Begin with a struct of zeroes; set `model`, and `like` or `tensors`. */
typedef struct millpond_stage_spec {
    /** The model. */
    const char *model;
    /** The version's tag; NULL has the pond choose the next number. */
    const char *tag;
    /**
     * A version whose bytes it begins with, for example `llama@v2`; only what is written costs
     * memory. NULL: `tensors` says what it has.
     */
    const char *like;
    /** Where its bytes came from, for people; may be NULL. */
    const char *source;
    /** Its tensors. */
    const millpond_stage_tensor *tensors;
    /** How many. */
    size_t tensor_count;
    /** What the checkpoint says about itself; may be NULL. */
    const millpond_pair *metadata;
    /** How many. */
    size_t metadata_count;
    /** On which GPU; all zero for that of `like`, or the pond's first. */
    millpond_uuid gpu;
    /** With whom it is shared; zero for the audience of `like`, or the owner's user. */
    millpond_audience audience;
    /** Must be zero. */
    uint32_t reserved_flags;
    /** Bytes of its slabs; zero for the default. */
    uint64_t slab_bytes;
    /** For later versions; must be zero. */
    uint64_t reserved[6];
} millpond_stage_spec;

/**
 * A checkpoint to be loaded. Begin with a struct of zeroes; set `model`, `paths` and `path_count`.
 */
typedef struct millpond_load_spec {
    /** The model. */
    const char *model;
    /**
     * Files of safetensors, a folder of them, an index, or what the cache of Hugging Face calls it.
     */
    const char *const *paths;
    /** How many. */
    size_t path_count;
    /** The version's tag; NULL has the pond choose the next number. */
    const char *tag;
    /**
     * The tag of the version whose equal slabs are shared; NULL for the current one, an empty text
     * for none.
     */
    const char *like;
    /** Which part of the checkpoint is loaded, as JSON; NULL for all of it. */
    const char *plan;
    /** On which GPU; all zero for that of `like`, or the pond's first. */
    millpond_uuid gpu;
    /** With whom it is shared. */
    millpond_audience audience;
    /**
     * 1: it becomes the model's current version in the same step. A model's first version does in
     * any case.
     */
    uint32_t activate;
    /** Bytes of its slabs; zero for the default. */
    uint64_t slab_bytes;
    /** For later versions; must be zero. */
    uint64_t reserved[6];
} millpond_load_spec;

/**
 * Is told how far a load is: its phase, bytes of the phase that are done, bytes of the phase in
 * all. Anything but zero ends the load, which then answers MILLPOND_CANCELLED. In the calling
 * thread; it may call this library. Neither a C++ exception nor longjmp() may leave it.
 */
typedef uint32_t (*millpond_load_progress)(millpond_load_phase phase,
                                           uint64_t done,
                                           uint64_t total,
                                           void *user_data);

/** What a load did. */
typedef struct millpond_loaded {
    /** The version. */
    millpond_version_info info;
    /** Bytes that were read from files, those that were only compared included. */
    uint64_t bytes_read;
    /** Bytes of tensors in slabs that are shared with another version. */
    uint64_t bytes_shared;
    /** Bytes that are stored once because tensors are tied, and are in the files twice. */
    uint64_t bytes_tied;
    /** How long it took. */
    uint64_t elapsed_ms;
    /** 1: some of the files were not in the page cache and were read past it. */
    uint32_t cold;
    /** Zero. */
    uint32_t reserved_flags;
    /** For later versions; zero. */
    uint64_t reserved[4];
} millpond_loaded;

/**
 * What a cache is to be like. Begin with a struct of zeroes; set `bytes`, or `blocks` and
 * `block_bytes`.
 */
typedef struct millpond_cache_spec {
    /** Bytes of addresses in all, whose blocks are its granules; zero where `blocks` says it. */
    uint64_t bytes;
    /** How many blocks; zero where `bytes` says it. */
    uint64_t blocks;
    /** Bytes of a block in every segment. */
    uint64_t block_bytes;
    /**
     * Equal parts, for example the keys and the values of each layer; a commit of blocks commits
     * them in every one. Zero: 1.
     */
    uint64_t segments;
    /** Bytes of a page: 2 MiB, 16 MiB or 64 MiB. Zero: 2 MiB. */
    uint64_t granule_bytes;
    /** The largest handle that growth uses. Zero: 64 MiB. */
    uint64_t largest_handle_bytes;
    /** What other caches of the group leave this one. */
    uint64_t min_bytes;
    /**
     * How long a commit waits for others to give way. Zero: a second; MILLPOND_NO_WAIT: not at all.
     */
    uint64_t wait_ms;
    /**
     * With fewer bytes idle than this, pages are made ahead, until `ahead_high_bytes` are. Zero:
     * never.
     */
    uint64_t ahead_low_bytes;
    /** See `ahead_low_bytes`. */
    uint64_t ahead_high_bytes;
    /** On which GPU; all zero for the pond's first one. */
    millpond_uuid gpu;
    /** Its part of what is above everybody's `min_bytes`, when caches compete. Zero: 1. */
    uint32_t weight;
    /**
     * 1: one page, which costs a granule of the budget, is under everything that is not committed,
     * and may be read and written; what is read there is undefined. Zero: nothing is.
     */
    uint32_t null_page;
    /** For later versions; must be zero. */
    uint64_t reserved[6];
} millpond_cache_spec;

/** A cache at one moment. What is held is committed, prepared, wasted, idle or quarantined. */
typedef struct millpond_cache_info {
    /** How the pond knows it. */
    millpond_uuid id;
    /** UUID of its GPU. */
    millpond_uuid gpu;
    /** The first address. It never changes. */
    void *data;
    /** Bytes of addresses; they cost no memory. */
    uint64_t reserved_bytes;
    /** Bytes of rows with a committed block. */
    uint64_t committed_bytes;
    /** Bytes of rows without one that somebody has prepared. */
    uint64_t prepared_bytes;
    /** Bytes that nobody uses beside some that are used: they cannot be given back. */
    uint64_t wasted_bytes;
    /** Bytes that nobody uses and that can be given back. */
    uint64_t idle_bytes;
    /** What the driver refused to take back. */
    uint64_t quarantined_bytes;
    /** All that the driver has given. */
    uint64_t held_bytes;
    /** How many blocks there are. */
    uint64_t blocks;
    /** Blocks that are committed or taken. */
    uint64_t committed_blocks;
    /** Bytes of a block in every segment. */
    uint64_t block_bytes;
    /** How many segments. */
    uint64_t segments;
    /** Bytes of a segment's addresses. */
    uint64_t segment_bytes;
    /** Bytes of a page. */
    uint64_t granule_bytes;
    /** For later versions; zero. */
    uint64_t reserved[8];
} millpond_cache_info;

/** What a cache is asked for. */
typedef struct millpond_pressure {
    /** How much is wanted beyond the pages that were idle. */
    uint64_t bytes;
    /** The same in blocks, each of which is in every segment. */
    uint64_t blocks;
    /** For how long it helps. */
    uint64_t wait_ms;
    /** Counts changes of the group's limits. */
    uint64_t revision;
    /** For whom, and why; valid during the call. */
    const char *reason;
    /** For later versions; zero. */
    uint64_t reserved[4];
} millpond_pressure;

/**
 * Is called when pages are wanted back beyond the idle ones: it uncommits what the program can do
 * without, and answers MILLPOND_OFFER_… In a thread of this library, one at a time; it may call
 * this library. Neither a C++ exception nor longjmp() may leave it.
 */
typedef millpond_offer (*millpond_pressure_handler)(const millpond_pressure *ask, void *user_data);

/** What a pool is to be like. Begin with a struct of zeroes; set `name`. */
typedef struct millpond_pool_spec {
    /** What people and the pond call it. */
    const char *name;
    /** On which GPU; all zero for the pond's first one. */
    millpond_uuid gpu;
    /** Bytes of addresses; zero for four times the card's memory. */
    uint64_t address_bytes;
    /** What other caches of the group leave it. */
    uint64_t min_bytes;
    /**
     * How long an allocation waits for others to give way. Zero: a second; MILLPOND_NO_WAIT: not at
     * all.
     */
    uint64_t wait_ms;
    /** Its part of what is above everybody's `min_bytes`, when caches compete. Zero: 1. */
    uint32_t weight;
    /** Must be zero. */
    uint32_t reserved_flags;
    /** For later versions; must be zero. */
    uint64_t reserved[6];
} millpond_pool_spec;

/** A pool at one moment. Bytes are those of blocks unless said. */
typedef struct millpond_pool_info {
    /** UUID of its GPU. */
    millpond_uuid gpu;
    /** In blocks that are in use. */
    uint64_t in_use_bytes;
    /** What was asked for; blocks are a little larger. */
    uint64_t asked_bytes;
    /** In gaps and in freed blocks that other streams have not passed yet. */
    uint64_t free_bytes;
    /** What the pool holds of the card: blocks in use and free bytes. */
    uint64_t held_bytes;
    /** The most that was in use. */
    uint64_t peak_in_use_bytes;
    /** The most that was held. */
    uint64_t peak_held_bytes;
    /** The largest gap. */
    uint64_t largest_gap_bytes;
    /** Blocks that are in use. */
    uint64_t blocks;
    /** Blocks that were handed out so far. */
    uint64_t allocations;
    /** Requests that found no memory. */
    uint64_t refused;
    /** For later versions; zero. */
    uint64_t reserved[8];
} millpond_pool_info;

/** What a group may hold. */
typedef struct millpond_limit {
    /** How the limit is given; zero for none. */
    millpond_limit_kind kind;
    /** For MILLPOND_LIMIT_PERMILLE: thousandths of the card. */
    uint32_t permille;
    /** For MILLPOND_LIMIT_BYTES. */
    uint64_t bytes;
} millpond_limit;

/** A change of a group. Begin with a struct of zeroes; what is not set stays as it is. */
typedef struct millpond_group_change {
    /** On this GPU; all zero for all of them. */
    millpond_uuid gpu;
    /** What it may hold. */
    millpond_limit limit;
    /** What others leave it, where `has_min` is 1. */
    uint64_t min_bytes;
    /** 1 if `min_bytes` counts. */
    uint32_t has_min;
    /** Its part where not everybody's limit fits; zero: stays as it is. */
    uint32_t weight;
    /** User ids whose memory in the pond is charged to it, where `has_users` is 1. */
    uint32_t users[64];
    /** How many of `users` count. */
    uint32_t user_count;
    /** 1 if `users` counts. */
    uint32_t has_users;
    /** 1: it may be a new one. */
    uint32_t create;
    /**
     * Whether a process that does not answer when pages are asked of it is ended: 1 yes, 2 no,
     * zero: stays as it is.
     */
    uint32_t ends_silent;
    /** For later versions; must be zero. */
    uint64_t reserved[8];
} millpond_group_change;

/** A place in a group. */
typedef struct millpond_group_seat {
    /** The group's name, also if nobody gave it one. */
    char name[128];
    /** Where its ledger and its limits are: what MILLPOND_LEDGER of the program must say. */
    char folder[4096];
    /** 1: it ends with its last process. */
    uint32_t anonymous;
    /** Zero. */
    uint32_t reserved_flags;
    /** For later versions; zero. */
    uint64_t reserved[4];
} millpond_group_seat;

/** Something that happened in the pond. */
typedef struct millpond_event {
    /** Rises from one event to the next, also across daemons. */
    uint64_t sequence;
    /** When. */
    uint64_t unix_ms;
    /** What. */
    millpond_event_kind kind;
    /** By or to whom: a user id; UINT32_MAX where that is not said. */
    uint32_t user;
    /** The tensor, or the version of a model; all zero where it is about neither. */
    millpond_uuid target;
    /** Its name, or the group's; empty where there is none. */
    char name[MILLPOND_NAME_BYTES];
    /** More, for people; cut where it is longer. */
    char text[512];
    /** For later versions; zero. */
    uint64_t reserved[4];
} millpond_event;

/**
 * Is called for each event, in the calling thread. The event is valid during the call. Anything but
 * zero ends the round, which then answers MILLPOND_CANCELLED. It may call this library. Neither a
 * C++ exception nor longjmp() may leave it.
 */
typedef uint32_t (*millpond_event_visitor)(const millpond_event *event, void *user_data);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Reads a UUID: 36 characters, with or without `GPU-` in front.
 *
 * Threads: any. Fork: works in the child.
 */
millpond_result millpond_uuid_parse(const char *text, millpond_uuid *uuid);

/**
 * Writes a UUID as 36 characters and a zero byte; `capacity` is the bytes of `text`,
 * MILLPOND_UUID_TEXT_BYTES or more.
 *
 * Threads: any. Fork: works in the child.
 */
millpond_result millpond_uuid_format(const millpond_uuid *uuid,
                                     char *text,
                                     size_t capacity);

/**
 * Writes the UUID of a GPU as `nvidia-smi -L` does: `GPU-`, 36 characters and a zero byte;
 * `capacity` is the bytes of `text`, MILLPOND_UUID_TEXT_BYTES or more.
 *
 * Threads: any. Fork: works in the child.
 */
millpond_result millpond_uuid_format_gpu(const millpond_uuid *uuid,
                                         char *text,
                                         size_t capacity);

/**
 * The version of the library that runs, as 10000 * major + 100 * minor + patch; MILLPOND_VERSION is
 * that of the header.
 *
 * Threads: any. Fork: works in the child.
 */
uint32_t millpond_version(void);

/**
 * The version of the library that runs, for example `0.1.0`. Never NULL; valid for ever.
 *
 * Threads: any. Fork: works in the child.
 */
const char *millpond_version_text(void);

/**
 * The result of this thread's last call that failed; MILLPOND_OK if none did. A call that succeeds
 * changes nothing.
 *
 * Threads: each thread has its own. Fork: the child begins with the parent's.
 */
millpond_result millpond_error_result(void);

/**
 * What went wrong in this thread's last call that failed, in one sentence that names the thing; an
 * empty text if none did. Never NULL. Valid until the next call of this thread that fails.
 *
 * Threads: each thread has its own. Fork: the child begins with the parent's.
 */
const char *millpond_error_message(void);

/**
 * The way out of this thread's last failure: the command to type, or what to change; NULL where
 * there is none. Valid until the next call of this thread that fails.
 *
 * Threads: each thread has its own. Fork: the child begins with the parent's.
 */
const char *millpond_error_hint(void);

/**
 * What can be done about this thread's last failure: MILLPOND_REMEDY_…
 *
 * Threads: each thread has its own. Fork: the child begins with the parent's.
 */
millpond_remedy millpond_error_remedy(void);

/**
 * A name close to the one that was not found in this thread's last failure; NULL from the first
 * index on that has none. Valid until the next call of this thread that fails.
 *
 * Threads: each thread has its own. Fork: the child begins with the parent's.
 */
const char *millpond_error_similar(size_t index);

/**
 * The setting of the cap that this thread's last failure is about, for example
 * `limits.clients_per_user`, and how much there is and may be; NULL where it is about none. `has`
 * and `cap` may be NULL. Valid until the next call of this thread that fails.
 *
 * Threads: each thread has its own. Fork: the child begins with the parent's.
 */
const char *millpond_error_limit(uint64_t *has,
                                 uint64_t *cap);

/**
 * How many holders this thread's last failure names: who has the memory of a full GPU, or who uses
 * a tensor that was not deleted.
 *
 * Threads: each thread has its own. Fork: the child begins with the parent's.
 */
size_t millpond_error_holder_count(void);

/**
 * One of the holders that this thread's last failure names, largest first. Answers MILLPOND_INVALID
 * from the first index on that has none; that is not kept as a failure.
 *
 * Threads: each thread has its own. Fork: the child begins with the parent's.
 */
millpond_result millpond_error_holder_at(size_t index, millpond_holder *holder);

/**
 * The numbers of this thread's last failure, where memory was short; all zero otherwise.
 *
 * Threads: each thread has its own. Fork: the child begins with the parent's.
 */
millpond_result millpond_error_memory(millpond_memory_shortage *shortage);

/**
 * Forgets this thread's last failure.
 *
 * Threads: each thread has its own. Fork: the child begins with the parent's.
 */
void millpond_error_clear(void);

/**
 * The stable name of a result, for example `not_found`: the name that JSON and the other languages
 * have. `unknown` for a number that this version does not know. Never NULL; valid for ever.
 *
 * Threads: any. Fork: works in the child.
 */
const char *millpond_result_name(millpond_result result);

/**
 * One line about a result. Never NULL; valid for ever.
 *
 * Threads: any. Fork: works in the child.
 */
const char *millpond_result_description(millpond_result result);

/**
 * The text, in UTF-8 with a zero byte at its end; NULL for a handle that is no text. Valid until
 * the text is freed.
 *
 * Threads: any. Fork: works in the child.
 */
const char *millpond_text_data(const millpond_text *text);

/**
 * Bytes of the text, without the zero byte; zero for a handle that is no text.
 *
 * Threads: any. Fork: works in the child.
 */
size_t millpond_text_length(const millpond_text *text);

/**
 * Frees a text. NULL is nothing.
 *
 * Threads: any; the handle is of no use afterwards. Fork: works in the child.
 */
millpond_result millpond_text_free(millpond_text *text);

/**
 * Makes a cancel. Free it with millpond_cancel_free().
 *
 * Threads: any. Fork: works in the child.
 */
millpond_result millpond_cancel_new(millpond_cancel **cancel);

/**
 * Ends every call that runs under this cancel, and every later one: each answers MILLPOND_CANCELLED
 * within about a tenth of a second. There is no way back; make another one.
 *
 * Threads: any, at any time. Not in a signal handler. Fork: works in the child, for calls of the
 * child.
 */
millpond_result millpond_cancel_set(const millpond_cancel *cancel);

/**
 * Whether a cancel is set: 1 or 0. Zero for a handle that is no cancel.
 *
 * Threads: any. Fork: works in the child.
 */
uint32_t millpond_cancel_is_set(const millpond_cancel *cancel);

/**
 * Has this thread's calls end when `cancel` is set; NULL ends that. Calls that wait for nobody do
 * not look at it.
 *
 * Threads: for the calling thread only. Fork: works in the child.
 */
millpond_result millpond_cancel_use(const millpond_cancel *cancel);

/**
 * Frees a cancel. Threads that use it go on doing so. NULL is nothing.
 *
 * Threads: any; the handle is of no use afterwards. Fork: works in the child.
 */
millpond_result millpond_cancel_free(millpond_cancel *cancel);

/**
 * Connects to a pond. `options` may be NULL. Connections with the same folder and no other option
 * are one, shared by the whole process; each call makes a handle of its own. Free it with
 * millpond_pond_free().
 *
 * Threads: any. All threads may use one pond at once. Fork: the child connects anew with its first
 * call through a pond of the parent.
 */
millpond_result millpond_pond_connect(const millpond_connect_options *options,
                                      millpond_pond **pond);

/**
 * Frees a pond. The connection ends when its last pond, tensor, model, staging, cache, handle and
 * pool are freed; nothing waits for that. NULL is nothing.
 *
 * Threads: any; calls of other threads that are under way end as usual. Fork: in the child it frees
 * the child's.
 */
millpond_result millpond_pond_free(millpond_pond *pond);

/**
 * Waits until freed tensors are given back, says goodbye, and frees the pond. Other ponds of the
 * same connection answer MILLPOND_CLOSED from then on. While tensors or models of it are in use the
 * answer is MILLPOND_IN_USE and the pond stays as it is.
 *
 * Threads: any. Fork: closes the child's own connection.
 */
millpond_result millpond_pond_close(millpond_pond *pond);

/**
 * One round trip.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_pond_ping(const millpond_pond *pond);

/**
 * Waits until every tensor that was freed is unmapped and the pond knows. MILLPOND_TIMEOUT if the
 * time was over before.
 *
 * Threads: any. Fork: about the child's own tensors.
 */
millpond_result millpond_pond_flush(const millpond_pond *pond, uint64_t timeout_ms);

/**
 * The pond's runtime folder. Free the text with millpond_text_free().
 *
 * Threads: any. Fork: works in the child.
 */
millpond_result millpond_pond_runtime_dir(const millpond_pond *pond, millpond_text **folder);

/**
 * How the pond knows this process.
 *
 * Threads: any. Fork: the child has an identity of its own.
 */
millpond_result millpond_pond_client_id(const millpond_pond *pond, millpond_uuid *client);

/**
 * How many leases this process has, those on their way back included, and the bytes that they are
 * on. Either output may be NULL.
 *
 * Threads: any. Fork: about the child's own leases.
 */
millpond_result millpond_pond_live(const millpond_pond *pond,
                                   uint64_t *leases,
                                   uint64_t *bytes);

/**
 * The GPU at a place of the pond's list, which is not this process's list.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_pond_gpu_at(const millpond_pond *pond,
                                     size_t index,
                                     millpond_uuid *gpu);

/**
 * Whether a handle names a pond that is alive: 1 or 0. Nothing is kept as a failure.
 *
 * Threads: any. Fork: works in the child.
 */
uint32_t millpond_pond_is_valid(const millpond_pond *pond);

/**
 * Has another daemon take over, from the program file `program`; the keeper's own where it is NULL.
 * Clients go on. Only for the operator and the user who runs the pond. `from_epoch`, that of the
 * daemon that goes, may be NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_pond_upgrade(const millpond_pond *pond,
                                      const char *program,
                                      uint64_t *from_epoch);

/**
 * Asks the pond about itself and its GPUs. Free the status with millpond_status_free().
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_pond_status(const millpond_pond *pond, millpond_status **status);

/**
 * The numbers of the pond.
 *
 * Threads: any. Fork: works in the child.
 */
millpond_result millpond_status_info(const millpond_status *status, millpond_pond_info *info);

/**
 * How many GPUs the pond has; zero while its driver has not answered yet, and for a handle that is
 * no status.
 *
 * Threads: any. Fork: works in the child.
 */
size_t millpond_status_gpu_count(const millpond_status *status);

/**
 * One GPU of the pond. MILLPOND_NO_DEVICE if there are fewer.
 *
 * Threads: any. Fork: works in the child.
 */
millpond_result millpond_status_gpu_at(const millpond_status *status,
                                       size_t index,
                                       millpond_gpu *gpu);

/**
 * Everything that the pond said, as `millpond status --json` shows it. Free the text with
 * millpond_text_free().
 *
 * Threads: any. Fork: works in the child.
 */
millpond_result millpond_status_json(const millpond_status *status, millpond_text **text);

/**
 * Frees a status. NULL is nothing.
 *
 * Threads: any; the handle is of no use afterwards. Fork: works in the child.
 */
millpond_result millpond_status_free(millpond_status *status);

/**
 * Who is connected and what it holds, as `millpond ps --json` shows it. Free the text with
 * millpond_text_free().
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_pond_clients_json(const millpond_pond *pond,
                                           millpond_text **text);

/**
 * What users have of everything that is counted, and may have, as `millpond users --json` shows it:
 * the caller, or everybody for root and the user who runs the pond. Free the text with
 * millpond_text_free().
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_pond_accounts_json(const millpond_pond *pond,
                                            millpond_text **text);

/**
 * Every elastic cache of groups that the caller may use, or those of one group, as `millpond
 * elastic ls --json` shows them. `group` may be NULL. Free the text with millpond_text_free().
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_pond_caches_json(const millpond_pond *pond,
                                          const char *group,
                                          millpond_text **text);

/**
 * Makes a tensor and maps it readable and writable. Others get it when it is published:
 * millpond_tensor_publish(), or `spec->zero`. If a tensor of that name, dtype and shape already
 * exists, that is the one: the same name is the same memory. Nothing else of the spec is applied to
 * it then, and `existed`, which may be NULL, is 1. Free it with millpond_tensor_free(): the tensor
 * itself lives until it is deleted.
 *
 * Threads: any; a current CUDA context of the thread is used, or the GPU's primary one. Fork: works
 * in the child, over a connection of its own, if the parent has not used CUDA: MILLPOND_DRIVER
 * otherwise.
 */
millpond_result millpond_tensor_create(const millpond_pond *pond,
                                       const millpond_tensor_spec *spec,
                                       uint32_t *existed,
                                       millpond_tensor **tensor);

/**
 * Makes a tensor without mapping it. Needs no driver. `existed` and `info` may be NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_reserve(const millpond_pond *pond,
                                        const millpond_tensor_spec *spec,
                                        uint32_t *existed,
                                        millpond_tensor_info *info);

/**
 * Maps a published tensor. `target` is a name (`acts/x`), a name with its owner (`~alice/acts/x`)
 * or the 36 characters of an identity; `options` may be NULL. What this process has mapped already
 * in the same way, and what nothing has happened to since, costs no message; each get has a handle
 * of its own all the same. Free it with millpond_tensor_free().
 *
 * Threads: any; a current CUDA context of the thread is used, or the GPU's primary one. Fork: works
 * in the child, over a connection of its own, if the parent has not used CUDA: MILLPOND_DRIVER
 * otherwise.
 */
millpond_result millpond_tensor_get(const millpond_pond *pond,
                                    const char *target,
                                    const millpond_get_options *options,
                                    millpond_tensor **tensor);

/**
 * As millpond_tensor_get(), by identity.
 *
 * Threads: any; a current CUDA context of the thread is used, or the GPU's primary one. Fork: works
 * in the child, over a connection of its own, if the parent has not used CUDA: MILLPOND_DRIVER
 * otherwise.
 */
millpond_result millpond_tensor_get_by_id(const millpond_pond *pond,
                                          const millpond_uuid *id,
                                          const millpond_get_options *options,
                                          millpond_tensor **tensor);

/**
 * Ends the use of a tensor. Never waits: the lease ends when the device has done all work that was
 * submitted before. NULL is nothing.
 *
 * Threads: any; calls of other threads that are under way end as usual. Fork: a tensor of the
 * parent is freed in the child alone, and nothing of the parent's ends.
 */
millpond_result millpond_tensor_free(millpond_tensor *tensor);

/**
 * Where the tensor begins in the GPU's address space, for this process; NULL for a handle that is
 * no tensor of this process. Valid until it is freed.
 *
 * Threads: any. Fork: a tensor of the parent is refused in the child.
 */
void *millpond_tensor_data(const millpond_tensor *tensor);

/**
 * Bytes of the tensor; zero for a handle that is no tensor.
 *
 * Threads: any. Fork: works in the child.
 */
uint64_t millpond_tensor_bytes(const millpond_tensor *tensor);

/**
 * The tensor's element type; zero for a handle that is no tensor.
 *
 * Threads: any. Fork: works in the child.
 */
millpond_dtype millpond_tensor_dtype(const millpond_tensor *tensor);

/**
 * How the tensor is mapped; zero for a handle that is no tensor.
 *
 * Threads: any. Fork: works in the child.
 */
millpond_mode millpond_tensor_mode(const millpond_tensor *tensor);

/**
 * The tensor's identity.
 *
 * Threads: any. Fork: works in the child.
 */
millpond_result millpond_tensor_id(const millpond_tensor *tensor, millpond_uuid *id);

/**
 * How often the tensor was published, as far as this handle knows; zero for a handle that is no
 * tensor.
 *
 * Threads: any. Fork: works in the child.
 */
uint64_t millpond_tensor_generation(const millpond_tensor *tensor);

/**
 * All that the pond said about the tensor when it was got. Costs no message;
 * millpond_tensor_inspect() asks anew.
 *
 * Threads: any. Fork: works in the child.
 */
millpond_result millpond_tensor_get_info(const millpond_tensor *tensor,
                                         millpond_tensor_info *info);

/**
 * Whether the pond does not know the lease any more, because another pond has taken its place: 1 or
 * 0. The memory stays mapped and whole, but nobody else can find it. Zero for a handle that is no
 * tensor.
 *
 * Threads: any. Fork: works in the child.
 */
uint32_t millpond_tensor_is_lost(const millpond_tensor *tensor);

/**
 * Waits for all work of the tensor's CUDA context, then tells the pond that the bytes are complete.
 * `generation` may be NULL.
 *
 * Threads: any. Fork: a tensor of the parent is refused in the child.
 */
millpond_result millpond_tensor_publish(const millpond_tensor *tensor,
                                        uint64_t *generation);

/**
 * Deletes a tensor: no new leases, and the memory goes when the last one has ended.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_delete(const millpond_pond *pond, const char *target);

/**
 * Deletes a tensor that nobody uses: its memory is free at once. While anybody has a lease or a
 * hold on it, this process included, nothing changes and the answer is MILLPOND_IN_USE, with the
 * processes in millpond_error_holder_at(). What this process has freed is given back first.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_delete_unused(const millpond_pond *pond,
                                              const char *target);

/**
 * Gives a tensor another name. Leases and mappings stay as they are.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_rename(const millpond_pond *pond,
                                       const char *target,
                                       const char *name);

/**
 * Copies `bytes` bytes from `source`, in this machine's memory, into the tensor from `offset` bytes
 * on, and waits.
 *
 * Threads: any; `source` must not change meanwhile. Fork: a tensor of the parent is refused in the
 * child.
 */
millpond_result millpond_tensor_copy_from_host(const millpond_tensor *tensor,
                                               uint64_t offset,
                                               const void *source,
                                               uint64_t bytes);

/**
 * Copies `bytes` bytes out of the tensor, from `offset` bytes on, to `target` in this machine's
 * memory, and waits.
 *
 * Threads: any; nobody else may use `target` meanwhile. Fork: a tensor of the parent is refused in
 * the child.
 */
millpond_result millpond_tensor_copy_to_host(const millpond_tensor *tensor,
                                             uint64_t offset,
                                             void *target,
                                             uint64_t bytes);

/**
 * Fills the whole tensor with one byte, and waits.
 *
 * Threads: any. Fork: a tensor of the parent is refused in the child.
 */
millpond_result millpond_tensor_fill(const millpond_tensor *tensor, uint8_t byte);

/**
 * As millpond_tensor_publish(), but waits only for the work of one stream: a `CUstream` or
 * `cudaStream_t` of the tensor's context; NULL is the legacy default stream. `generation` may be
 * NULL.
 *
 * Threads: any. Fork: a tensor of the parent is refused in the child.
 */
millpond_result millpond_tensor_publish_after(const millpond_tensor *tensor,
                                              void *stream,
                                              uint64_t *generation);

/**
 * Marks the end of what the stream has queued so far as this program's last write: whoever calls
 * millpond_tensor_wait() from now on, in any process, waits for it on its stream and not on the
 * host. Only for tensors that the pond made with MILLPOND_TRANSPORT_IPC.
 *
 * Threads: any. Fork: a tensor of the parent is refused in the child.
 */
millpond_result millpond_tensor_record(const millpond_tensor *tensor, void *stream);

/**
 * Lets later work of the stream wait for the last millpond_tensor_record() of anybody. Where nobody
 * has recorded, there is nothing to wait for. If the process that recorded last was killed before
 * that work was done, the stream waits for ever.
 *
 * Threads: any. Fork: a tensor of the parent is refused in the child.
 */
millpond_result millpond_tensor_wait(const millpond_tensor *tensor,
                                     void *stream);

/**
 * Queues a fill of the whole tensor with one byte.
 *
 * Threads: any. Fork: a tensor of the parent is refused in the child.
 */
millpond_result millpond_tensor_fill_on(const millpond_tensor *tensor, void *stream, uint8_t byte);

/**
 * The CUDA context that the tensor is mapped for, a `CUcontext`; NULL for a handle that is no
 * tensor of this process.
 *
 * Threads: any. Fork: a tensor of the parent is refused in the child.
 */
void *millpond_tensor_context(const millpond_tensor *tensor);

/**
 * Calls `visitor` for every tensor shared with the caller whose name begins with `prefix`; NULL for
 * all, also those without a name. They are asked for in pages of at most `page` tensors, 0 for
 * 1000. A tensor that is there from the first page to the last is among them; others may be. They
 * come in no order of meaning.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_list(const millpond_pond *pond,
                                     const char *prefix,
                                     uint32_t page,
                                     millpond_tensor_visitor visitor,
                                     void *user_data);

/**
 * Every tensor as millpond_tensor_list() finds it, as `millpond tensor ls --json` shows it. Free
 * the text with millpond_text_free().
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_list_json(const millpond_pond *pond,
                                          const char *prefix,
                                          millpond_text **text);

/**
 * What the pond says of a tensor now. Nothing is mapped.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_inspect(const millpond_pond *pond,
                                        const char *target,
                                        millpond_tensor_info *info);

/**
 * As millpond_tensor_inspect(), with all leases, as `millpond inspect --json` shows it. Free the
 * text with millpond_text_free().
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_inspect_json(const millpond_pond *pond,
                                             const char *target,
                                             millpond_text **text);

/**
 * Maps `count` tensors; faster than one after the other. `tensors` has room for `count` handles, in
 * the order of the targets; each is freed by itself. If one fails, none is mapped and nothing is
 * written.
 *
 * Threads: any; a current CUDA context of the thread is used, or the GPU's primary one. Fork: works
 * in the child, over a connection of its own, if the parent has not used CUDA: MILLPOND_DRIVER
 * otherwise.
 */
millpond_result millpond_tensor_get_many(const millpond_pond *pond,
                                         const char *const *targets,
                                         size_t count,
                                         const millpond_get_options *options,
                                         millpond_tensor **tensors);

/**
 * Gives back what nobody uses: empty slabs and, where `unleased_for_ms` is not zero, also one's own
 * tensors that nobody has leased for so long. With `dry_run` 1 it only says what would be given
 * back. The outputs may be NULL: deleted tensors, slabs, and bytes of those slabs.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_pond_collect(const millpond_pond *pond,
                                      uint64_t unleased_for_ms,
                                      uint32_t dry_run,
                                      uint64_t *tensors,
                                      uint64_t *slabs,
                                      uint64_t *slab_bytes);

/**
 * Puts a tensor into the pond: nobody sees it before all of its bytes are there, and if this
 * process dies before, nothing is left of it. Of the spec `name`, `dtype`, `shape`, `gpu`,
 * `audience`, the ends of life and `replace` count. Needs no driver. `progress` and `info` may be
 * NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_put(const millpond_pond *pond,
                                    const millpond_tensor_spec *spec,
                                    const millpond_source *source,
                                    millpond_progress progress,
                                    void *user_data,
                                    millpond_tensor_info *info);

/**
 * Fills a whole tensor. It is not published by this: see millpond_tensor_publish_unmapped() and
 * millpond_tensor_put(). Needs no driver. `progress` may be NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_upload(const millpond_pond *pond,
                                       const char *target,
                                       const millpond_source *source,
                                       millpond_progress progress,
                                       void *user_data);

/**
 * Writes a published tensor's bytes out. Whoever replaces or deletes it meanwhile does not disturb
 * this. Needs no driver. `progress` and `bytes`, how many were written, may be NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_download(const millpond_pond *pond,
                                         const char *target,
                                         const millpond_sink *sink,
                                         millpond_progress progress,
                                         void *user_data,
                                         uint64_t *bytes);

/**
 * Copies a published tensor's bytes into another of the same size, on the same GPU or on another
 * one. Needs no driver. `progress` may be NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_copy(const millpond_pond *pond,
                                     const char *from,
                                     const char *to,
                                     millpond_progress progress,
                                     void *user_data);

/**
 * Fills a tensor with zeroes. Needs no driver.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_zero(const millpond_pond *pond, const char *target);

/**
 * Says that a tensor's bytes are complete, where nothing of it is mapped here: work on it must have
 * ended, as it has when millpond_tensor_upload() returns. `generation` may be NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_publish_unmapped(const millpond_pond *pond,
                                                 const char *target,
                                                 uint64_t *generation);

/**
 * The handle of a published tensor of MILLPOND_TRANSPORT_IPC, with a lease that keeps the memory
 * until millpond_handle_free(). Nothing is mapped and no driver is needed. `options` may be NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_handle_get(const millpond_pond *pond,
                                    const char *target,
                                    const millpond_get_options *options,
                                    millpond_handle **handle);

/**
 * The bytes of a handle.
 *
 * Threads: any. Fork: works in the child, but keeps nothing for it.
 */
millpond_result millpond_handle_read(const millpond_handle *handle,
                                     millpond_handle_parts *parts);

/**
 * Gives the lease of a handle back. The memory may be gone from then on, unless somebody has opened
 * it. NULL is nothing.
 *
 * Threads: any. Fork: a handle of the parent is freed in the child alone.
 */
millpond_result millpond_handle_free(millpond_handle *handle);

/**
 * Holds a tensor that was made with `spec.hold_token`, for the process `holder` or, with 0, for
 * nobody in particular. The hold keeps the memory, also when this process ends; it ends with the
 * process `holder`, with millpond_tensor_unhold(), or when the tensor is deleted. The same token
 * again holds nothing more. `parts` may be NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_hold(const millpond_pond *pond,
                                     const char *target,
                                     uint32_t holder,
                                     const millpond_uuid *token,
                                     millpond_handle_parts *parts);

/**
 * Gives up one hold of the process `holder`; where it has none, and with 0, one of nobody in
 * particular. The same token again gives up nothing more. `info`, the tensor as it is afterwards,
 * may be NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_unhold(const millpond_pond *pond,
                                       const char *target,
                                       uint32_t holder,
                                       const millpond_uuid *token,
                                       millpond_tensor_info *info);

/**
 * The bytes of a tensor that was made to be held, without a hold or a lease. Somebody else must
 * keep the memory.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_tensor_peek(const millpond_pond *pond,
                                     const char *target,
                                     millpond_handle_parts *parts);

/**
 * Makes a tensor of memory that this process has on a GPU, without a copy; it begins at `data`, in
 * C order. Of the spec `name`, `dtype`, `shape` and `audience` count. It waits for the work of the
 * CUDA context, and the tensor is ready at once. How the memory was made decides how it is shared:
 * a mapped `cuMemCreate` allocation and a pool that can be exported survive this process, memory of
 * `cuMemAlloc` does not (`info->survives`). The memory must stay until `release` is called, which
 * may be NULL for memory that always stays.
 *
 * Threads: any. Fork: the parent's memory is not the child's to adopt.
 */
millpond_result millpond_tensor_adopt(const millpond_pond *pond,
                                      const millpond_tensor_spec *spec,
                                      void *data,
                                      millpond_release release,
                                      void *user_data,
                                      millpond_tensor_info *info);

/**
 * Hands the tensor's memory out as a `DLManagedTensorVersioned` of DLPack 1.1. It has a part of the
 * lease: call its `deleter` when done, in any thread. A tensor that was got read-only has the flag
 * DLPACK_FLAG_BITMASK_READ_ONLY. On the software driver the memory is the host's, and DLPack's
 * device is the CPU.
 *
 * Threads: any. Fork: a tensor of the parent is refused in the child.
 */
millpond_result millpond_tensor_dlpack(const millpond_tensor *tensor,
                                       struct DLManagedTensorVersioned **managed);

/**
 * As millpond_tensor_dlpack(), in the structure from before DLPack 1, `DLManagedTensor`, which has
 * no word for read-only: whoever takes it over must not write to what was got read-only.
 *
 * Threads: any. Fork: a tensor of the parent is refused in the child.
 */
millpond_result millpond_tensor_dlpack_legacy(const millpond_tensor *tensor,
                                              struct DLManagedTensor **managed);

/**
 * Hands a tensor of a version out as a `DLManagedTensorVersioned` of DLPack 1.1, which is
 * read-only. It keeps the version, also when the model is refreshed or freed: call its `deleter`
 * when done, in any thread.
 *
 * Threads: any. Fork: a model of the parent is refused in the child.
 */
millpond_result millpond_model_dlpack(const millpond_model *model,
                                      const char *name,
                                      struct DLManagedTensorVersioned **managed);

/**
 * Maps a version of a model: `llama` is the current one, `llama@v2` the one with that tag,
 * `~alice/llama` another user's; 36 characters are an identity. `wait_ms` is how long to wait until
 * there is one. Free it with millpond_model_free().
 *
 * Threads: any; a current CUDA context of the thread is used, or the GPU's primary one. Fork: works
 * in the child, over a connection of its own, if the parent has not used CUDA: MILLPOND_DRIVER
 * otherwise.
 */
millpond_result millpond_model_attach(const millpond_pond *pond,
                                      const char *target,
                                      uint64_t wait_ms,
                                      millpond_model **model);

/**
 * Another handle of the same version, with the same addresses. A refresh of one leaves the other as
 * it is. Free it with millpond_model_free().
 *
 * Threads: any. Fork: a model of the parent is refused in the child.
 */
millpond_result millpond_model_clone(const millpond_model *model,
                                     millpond_model **clone);

/**
 * Ends the use of a model. Never waits: the lease ends when the device has done all work that was
 * submitted before. NULL is nothing.
 *
 * Threads: any; calls of other threads that are under way end as usual. Fork: a model of the parent
 * is freed in the child alone.
 */
millpond_result millpond_model_free(millpond_model *model);

/**
 * The version, as it was when it was attached or last refreshed.
 *
 * Threads: any. Fork: a model of the parent is refused in the child.
 */
millpond_result millpond_model_get_info(const millpond_model *model,
                                        millpond_version_info *info);

/**
 * How many tensors the version has; zero for a handle that is no model of this process.
 *
 * Threads: any. Fork: a model of the parent is refused in the child.
 */
size_t millpond_model_tensor_count(const millpond_model *model);

/**
 * A tensor by its place in the order of names. Its address is valid until the model is freed or
 * refreshed.
 *
 * Threads: any. Fork: a model of the parent is refused in the child.
 */
millpond_result millpond_model_tensor_at(const millpond_model *model,
                                         size_t index,
                                         millpond_model_tensor *tensor);

/**
 * A tensor by its name. Its address is valid until the model is freed or refreshed.
 *
 * Threads: any. Fork: a model of the parent is refused in the child.
 */
millpond_result millpond_model_tensor_find(const millpond_model *model,
                                           const char *name,
                                           millpond_model_tensor *tensor);

/**
 * Copies `bytes` bytes out of a tensor of the version, from `offset` bytes on, to `target` in this
 * machine's memory, and waits.
 *
 * Threads: any; nobody else may use `target` meanwhile. Fork: a model of the parent is refused in
 * the child.
 */
millpond_result millpond_model_copy_to_host(const millpond_model *model,
                                            const char *name,
                                            uint64_t offset,
                                            void *target,
                                            uint64_t bytes);

/**
 * Where the version's arena begins in the GPU's address space, and its bytes. Either output may be
 * NULL.
 *
 * Threads: any. Fork: a model of the parent is refused in the child.
 */
millpond_result millpond_model_arena(const millpond_model *model, void **data, uint64_t *bytes);

/**
 * Whether another version of the model is current: `stale` is 1 or 0. Costs no message where
 * nothing has happened to the model.
 *
 * Threads: any. Fork: a model of the parent is refused in the child.
 */
millpond_result millpond_model_is_stale(const millpond_model *model,
                                        uint32_t *stale);

/**
 * Attaches the model's current version if that is another one by now: then `changed`, which may be
 * NULL, is 1, and addresses from before end with the work that was submitted before.
 *
 * Threads: any; addresses that other threads have end. Fork: a model of the parent is refused in
 * the child.
 */
millpond_result millpond_model_refresh(millpond_model *model,
                                       uint32_t *changed);

/**
 * Maps the model's current version at the places of this one, if that is another one by now. Every
 * address stays. Nobody may submit work that uses the model until this returns. MILLPOND_INVALID if
 * the layouts differ. `changed` may be NULL.
 *
 * Threads: any. Fork: a model of the parent is refused in the child.
 */
millpond_result millpond_model_refresh_in_place(millpond_model *model,
                                                uint32_t *changed);

/**
 * Whether the pond does not know the lease any more, because another pond has taken its place: 1 or
 * 0. Zero for a handle that is no model of this process.
 *
 * Threads: any. Fork: a model of the parent is refused in the child.
 */
uint32_t millpond_model_is_lost(const millpond_model *model);

/**
 * The CUDA context that the model is for, a `CUcontext`; NULL for a handle that is no model of this
 * process.
 *
 * Threads: any. Fork: a model of the parent is refused in the child.
 */
void *millpond_model_context(const millpond_model *model);

/**
 * Calls `visitor` for every version of every model shared with the caller whose name begins with
 * `prefix`; NULL for all. Versions of one model come one after the other, in the order in which
 * they were begun.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_model_list(const millpond_pond *pond,
                                    const char *prefix,
                                    millpond_version_visitor visitor,
                                    void *user_data);

/**
 * Every model with its versions, as `millpond models --json` shows them. `prefix` may be NULL. Free
 * the text with millpond_text_free().
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_model_list_json(const millpond_pond *pond,
                                         const char *prefix,
                                         millpond_text **text);

/**
 * What the pond says of a version now. Nothing is mapped.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_version_inspect(const millpond_pond *pond,
                                         const char *target,
                                         millpond_version_info *info);

/**
 * As millpond_version_inspect(), with its slabs, tensors and readers, as `millpond inspect
 * --tensors --json` shows it. Free the text with millpond_text_free().
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_version_inspect_json(const millpond_pond *pond,
                                              const char *target,
                                              millpond_text **text);

/**
 * Makes another version of a model the current one. Whoever has the old one keeps it. `current`,
 * what is current now, may be NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_model_swap(const millpond_pond *pond,
                                    const char *model,
                                    const char *tag,
                                    millpond_version_info *current);

/**
 * Makes the version current that was so before. `current`, what is current now, may be NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_model_rollback(const millpond_pond *pond,
                                        const char *model,
                                        millpond_version_info *current);

/**
 * Ends a version: no new leases, and the memory goes when the last one has ended. One that is being
 * staged is given up. MILLPOND_INVALID for the current version.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_version_retire(const millpond_pond *pond,
                                        const char *target);

/**
 * Ends a version, also if it is the current one: its readers keep it until they let go.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_version_remove(const millpond_pond *pond, const char *target);

/**
 * Waits until a version is gone: its last reader has left, or it was given up. MILLPOND_TIMEOUT if
 * the time was over before.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_version_wait_gone(const millpond_pond *pond,
                                           const millpond_uuid *id,
                                           uint64_t timeout_ms);

/**
 * Gives a model another name. Whoever has it attached keeps it.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_model_rename(const millpond_pond *pond, const char *model, const char *name);

/**
 * Begins a version, to be written by this process. Until the commit nobody else has it; when the
 * staging is freed before, or this process ends, nothing is left of it. Free it with
 * millpond_staging_free().
 *
 * Threads: any; a current CUDA context of the thread is used, or the GPU's primary one. Fork: works
 * in the child, over a connection of its own, if the parent has not used CUDA: MILLPOND_DRIVER
 * otherwise.
 */
millpond_result millpond_staging_begin(const millpond_pond *pond,
                                       const millpond_stage_spec *spec,
                                       millpond_staging **staging);

/**
 * The version, as it was when it was begun.
 *
 * Threads: any. Fork: a staging of the parent is refused in the child.
 */
millpond_result millpond_staging_get_info(const millpond_staging *staging,
                                          millpond_version_info *info);

/**
 * A tensor, mapped to be written. The first one of a slab that was shared with `like` makes the
 * slab this version's own, with the bytes that were there. Its address is valid until the staging
 * is freed, and must not be written after the commit.
 *
 * Threads: any. Fork: a staging of the parent is refused in the child.
 */
millpond_result millpond_staging_tensor(millpond_staging *staging,
                                        const char *name,
                                        millpond_model_tensor *tensor);

/**
 * Copies `bytes` bytes from `source`, in this machine's memory, into a tensor from `offset` bytes
 * on, and waits.
 *
 * Threads: any; `source` must not change meanwhile. Fork: a staging of the parent is refused in the
 * child.
 */
millpond_result millpond_staging_copy_from_host(millpond_staging *staging,
                                                const char *name,
                                                uint64_t offset,
                                                const void *source,
                                                uint64_t bytes);

/**
 * Fills a tensor with one byte, and waits.
 *
 * Threads: any. Fork: a staging of the parent is refused in the child.
 */
millpond_result millpond_staging_fill(millpond_staging *staging, const char *name, uint8_t byte);

/**
 * Waits for all work of the CUDA context, hashes what was written, and makes the version ready;
 * with `activate` 1 also current, in the same step. If it fails, nothing is left of the version.
 * Free the staging in any case. `info` may be NULL.
 *
 * Threads: any. Fork: a staging of the parent is refused in the child.
 */
millpond_result millpond_staging_commit(millpond_staging *staging,
                                        uint32_t activate,
                                        millpond_version_info *info);

/**
 * Frees a staging. A version that was not committed is given up. NULL is nothing.
 *
 * Threads: any. Fork: a staging of the parent is freed in the child alone, and the version stays.
 */
millpond_result millpond_staging_free(millpond_staging *staging);

/**
 * Loads a checkpoint as a new version of a model. Everything about the files is checked before any
 * memory is taken, nobody gets the version before all of its bytes are there, and whatever ends the
 * load before leaves nothing. Needs no driver. `progress` and `loaded` may be NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_model_load(const millpond_pond *pond,
                                    const millpond_load_spec *spec,
                                    millpond_load_progress progress,
                                    void *user_data,
                                    millpond_loaded *loaded);

/**
 * Saves a version as safetensors: one file if the path ends in `.safetensors`, else a folder with
 * one file, or with shards of at most `shard_bytes` bytes of tensors and their index; 0 for one
 * file. With `force` 1 what is there is replaced. Every byte that was written was found to be what
 * was loaded. `progress` and `bytes`, those of all tensors, may be NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_version_save(const millpond_pond *pond,
                                      const char *target,
                                      const char *path,
                                      uint64_t shard_bytes,
                                      uint32_t force,
                                      millpond_progress progress,
                                      void *user_data,
                                      uint64_t *bytes);

/**
 * Hashes a version's bytes on the GPU and compares them with what was loaded. MILLPOND_OK also
 * where some differ: `differing` is their number, and `names` their names, one in each line, or
 * NULL where none does. Free the text with millpond_text_free(). `progress`, `differing` and
 * `names` may be NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_version_verify(const millpond_pond *pond,
                                        const char *target,
                                        millpond_progress progress,
                                        void *user_data,
                                        size_t *differing,
                                        millpond_text **names);

/**
 * The group whose limit caches and pools share; `millpond group set NAME --limit SIZE` makes one. A
 * program that runs under `millpond run` has caches in its own group only. Free it with
 * millpond_elastic_free().
 *
 * Threads: any. Fork: a group of the parent is of no use to the child, which opens it anew.
 */
millpond_result millpond_elastic_open(const millpond_pond *pond,
                                      const char *group,
                                      millpond_elastic **elastic);

/**
 * The group's name, and whether this program's own limit pays because it runs in the group. Free
 * the text with millpond_text_free(). `limited` may be NULL.
 *
 * Threads: any. Fork: works in the child.
 */
millpond_result millpond_elastic_group(const millpond_elastic *elastic,
                                       uint32_t *limited,
                                       millpond_text **name);

/**
 * Frees a group; its caches and pools stay. NULL is nothing.
 *
 * Threads: any. Fork: works in the child.
 */
millpond_result millpond_elastic_free(millpond_elastic *elastic);

/**
 * Reserves addresses for a cache. Costs no memory of the card; the process gets a CUDA context, if
 * it has none. Free it with millpond_cache_free().
 *
 * Threads: any. Fork: works in the child, over a connection of its own, if the parent has not used
 * CUDA: MILLPOND_DRIVER otherwise.
 */
millpond_result millpond_cache_reserve(const millpond_elastic *elastic,
                                       const char *name,
                                       const millpond_cache_spec *spec,
                                       millpond_cache **cache);

/**
 * Makes the first `blocks` blocks of each segment usable. What is usable already stays so.
 * MILLPOND_GPU_FULL if it never fits, or not now, with who holds the rest in the message.
 *
 * Threads: any. Fork: a cache of the parent is refused in the child.
 */
millpond_result millpond_cache_commit(const millpond_cache *cache,
                                      uint64_t blocks);

/**
 * Makes `count` blocks usable from `first` on that are not committed yet.
 *
 * Threads: any. Fork: a cache of the parent is refused in the child.
 */
millpond_result millpond_cache_commit_range(const millpond_cache *cache,
                                            uint64_t first,
                                            uint64_t count);

/**
 * Makes everything ready for blocks, so that millpond_prepared_commit() cannot fail: for ranks that
 * commit all together or not at all. Free it with millpond_prepared_free().
 *
 * Threads: any. Fork: a cache of the parent is refused in the child.
 */
millpond_result millpond_cache_prepare(const millpond_cache *cache,
                                       uint64_t first,
                                       uint64_t count,
                                       millpond_prepared **prepared);

/**
 * Ends the use of `count` blocks from `first` on. Their pages stay mapped for the next commit and
 * are given back when somebody needs them, but never before the device has done what `stream` has
 * queued so far; NULL is the legacy default stream.
 *
 * Threads: any. Fork: a cache of the parent is refused in the child.
 */
millpond_result millpond_cache_uncommit_after(const millpond_cache *cache,
                                              uint64_t first,
                                              uint64_t count,
                                              void *stream);

/**
 * As millpond_cache_uncommit_after(), without a stream: before a page is unmapped the whole device
 * is waited for. Work that uses the blocks must have been submitted before this call.
 *
 * Threads: any. Fork: a cache of the parent is refused in the child.
 */
millpond_result millpond_cache_uncommit(const millpond_cache *cache,
                                        uint64_t first,
                                        uint64_t count);

/**
 * Ends the use of blocks with the step that is being prepared: they stay committed until
 * millpond_cache_step() says that all work of the step is submitted.
 *
 * Threads: any. Fork: a cache of the parent is refused in the child.
 */
millpond_result millpond_cache_uncommit_at_step(const millpond_cache *cache,
                                                uint64_t first,
                                                uint64_t count);

/**
 * All work of a step is submitted to `stream`, and done when the device has passed what it has
 * queued so far; NULL is the legacy default stream.
 *
 * Threads: any. Fork: a cache of the parent is refused in the child.
 */
millpond_result millpond_cache_step(const millpond_cache *cache,
                                    void *stream);

/**
 * As millpond_cache_step(), without a stream: before a page is unmapped the whole device is waited
 * for.
 *
 * Threads: any. Fork: a cache of the parent is refused in the child.
 */
millpond_result millpond_cache_step_now(const millpond_cache *cache);

/**
 * Gives idle pages back to the group: at least `bytes` bytes, if there are so many. `given`, what
 * was given back, may be NULL.
 *
 * Threads: any. Fork: a cache of the parent is refused in the child.
 */
millpond_result millpond_cache_trim(const millpond_cache *cache,
                                    uint64_t bytes,
                                    uint64_t *given);

/**
 * Sets what the cache may hold of the group's budget; UINT64_MAX is no cap. Idle pages above the
 * cap go back at once, others when no block uses them; growth above it is MILLPOND_GPU_FULL.
 * Revisions begin with 1 and grow with each change. `above`, what is still to go, and `in_force`,
 * the revision in force, may be NULL: where `in_force` is not `revision`, the cap was stale and has
 * changed nothing.
 *
 * Threads: any. Fork: a cache of the parent is refused in the child.
 */
millpond_result millpond_cache_set_cap(const millpond_cache *cache,
                                       uint64_t bytes,
                                       uint64_t revision,
                                       uint64_t *above,
                                       uint64_t *in_force);

/**
 * Where a block of a segment begins; NULL for one that does not exist, and for a handle that is no
 * cache of this process.
 *
 * Threads: any. Fork: a cache of the parent is refused in the child.
 */
void *millpond_cache_address(const millpond_cache *cache,
                             uint64_t segment,
                             uint64_t block);

/**
 * What the cache is and has at this moment.
 *
 * Threads: any. Fork: a cache of the parent is refused in the child.
 */
millpond_result millpond_cache_get_info(const millpond_cache *cache, millpond_cache_info *info);

/**
 * The CUDA context that the cache is for, a `CUcontext`; NULL for a handle that is no cache of this
 * process.
 *
 * Threads: any. Fork: a cache of the parent is refused in the child.
 */
void *millpond_cache_context(const millpond_cache *cache);

/**
 * Has `handler` called when pages are wanted back beyond the idle ones, with `user_data`, until the
 * cache is freed and a call that is under way has returned; NULL ends that.
 *
 * Threads: any. Fork: a cache of the parent is refused in the child.
 */
millpond_result millpond_cache_on_pressure(const millpond_cache *cache,
                                           millpond_pressure_handler handler,
                                           void *user_data);

/**
 * Frees a cache: everything is given back. Work that uses it must be done. NULL is nothing.
 *
 * Threads: any. Fork: a cache of the parent is freed in the child alone.
 */
millpond_result millpond_cache_free(millpond_cache *cache);

/**
 * The table that hands out the blocks of a cache. There is one at a time, and no block may be
 * committed by its number. Free it with millpond_blocks_free().
 *
 * Threads: any. Fork: a cache of the parent is refused in the child.
 */
millpond_result millpond_blocks_open(const millpond_cache *cache, millpond_blocks **blocks);

/**
 * Takes `count` blocks, or none: their numbers go to `numbers`, which has room for as many.
 *
 * Threads: any. Fork: blocks of the parent are refused in the child.
 */
millpond_result millpond_blocks_take(const millpond_blocks *blocks, size_t count, uint32_t *numbers);

/**
 * Gives `count` blocks back. Work that `stream` has queued so far may use them until it is done;
 * NULL is the legacy default stream. If one of them was not taken, or is named twice, none is given
 * back.
 *
 * Threads: any. Fork: blocks of the parent are refused in the child.
 */
millpond_result millpond_blocks_give(const millpond_blocks *blocks,
                                     const uint32_t *numbers,
                                     size_t count,
                                     void *stream);

/**
 * How many blocks nobody has taken, and how many of them can be taken without a call of the driver.
 * Either output may be NULL.
 *
 * Threads: any. Fork: blocks of the parent are refused in the child.
 */
millpond_result millpond_blocks_count(const millpond_blocks *blocks,
                                      uint64_t *free,
                                      uint64_t *ready);

/**
 * Frees the table: all blocks are given back, as if work on them were done when the device is idle.
 * NULL is nothing.
 *
 * Threads: any. Fork: blocks of the parent are freed in the child alone.
 */
millpond_result millpond_blocks_free(millpond_blocks *blocks);

/**
 * Commits the blocks, and frees the handle.
 *
 * Threads: any. Fork: blocks of the parent are refused in the child.
 */
millpond_result millpond_prepared_commit(millpond_prepared *prepared);

/**
 * Gives the pages up; they are idle afterwards. NULL is nothing.
 *
 * Threads: any. Fork: blocks of the parent are freed in the child alone.
 */
millpond_result millpond_prepared_free(millpond_prepared *prepared);

/**
 * A pool on the account of this program: of its own group where it runs in one, and else of a group
 * without a limit. Free it with millpond_pool_free().
 *
 * Threads: any. Fork: works in the child, over a connection of its own, if the parent has not used
 * CUDA: MILLPOND_DRIVER otherwise.
 */
millpond_result millpond_pool_open(const millpond_pond *pond,
                                   const millpond_uuid *gpu,
                                   millpond_pool **pool);

/**
 * A pool on the budget of a group. Free it with millpond_pool_free().
 *
 * Threads: any. Fork: works in the child, over a connection of its own, if the parent has not used
 * CUDA: MILLPOND_DRIVER otherwise.
 */
millpond_result millpond_pool_reserve(const millpond_elastic *elastic,
                                      const millpond_pool_spec *spec,
                                      millpond_pool **pool);

/**
 * A block that work of `stream` may use from now on; its contents are undefined and its address is
 * a multiple of 512. NULL is the legacy default stream, which lives as long as the CUDA context;
 * any other stream must live until the block is freed. MILLPOND_GPU_FULL if there is no memory
 * after everything was tried.
 *
 * Threads: any. Fork: a pool of the parent is refused in the child.
 */
millpond_result millpond_pool_alloc(const millpond_pool *pool,
                                    uint64_t bytes,
                                    void *stream,
                                    void **data);

/**
 * Frees a block: later work of `stream` may use its memory at once, work of others when that is
 * done. NULL as `data` is nothing.
 *
 * Threads: any. Fork: a pool of the parent is refused in the child.
 */
millpond_result millpond_pool_free_block(const millpond_pool *pool,
                                         void *data,
                                         void *stream);

/**
 * Says that work of another stream uses a block too: its memory is free when that is done as well.
 *
 * Threads: any. Fork: a pool of the parent is refused in the child.
 */
millpond_result millpond_pool_record_stream(const millpond_pool *pool, void *data, void *stream);

/**
 * Gives memory that no block uses back: at least `bytes` bytes, if there are so many. With `wait` 1
 * the whole device is waited for where that helps. `given` may be NULL.
 *
 * Threads: any. Fork: a pool of the parent is refused in the child.
 */
millpond_result millpond_pool_trim(const millpond_pool *pool,
                                   uint64_t bytes,
                                   uint32_t wait,
                                   uint64_t *given);

/**
 * What the pool has at this moment. With `reset_peaks` 1 the peaks begin anew afterwards.
 *
 * Threads: any. Fork: a pool of the parent is refused in the child.
 */
millpond_result millpond_pool_get_info(const millpond_pool *pool,
                                       uint32_t reset_peaks,
                                       millpond_pool_info *info);

/**
 * The CUDA context that the pool is for, a `CUcontext`; NULL for a handle that is no pool of this
 * process.
 *
 * Threads: any. Fork: a pool of the parent is refused in the child.
 */
void *millpond_pool_context(const millpond_pool *pool);

/**
 * Draws all blocks and gaps to scale into an SVG file, or writes them as JSON where the path ends
 * in `.json`.
 *
 * Threads: any. Fork: a pool of the parent is refused in the child.
 */
millpond_result millpond_pool_snapshot(const millpond_pool *pool, const char *path);

/**
 * Frees a pool with all of its blocks. Work that uses them must have been submitted. NULL is
 * nothing.
 *
 * Threads: any. Fork: a pool of the parent is freed in the child alone.
 */
millpond_result millpond_pool_free(millpond_pool *pool);

/**
 * Makes or changes a group. Only for the operator and the user who runs the pond.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_group_set(const millpond_pond *pond,
                                   const char *name,
                                   const millpond_group_change *change);

/**
 * Takes a place in a group for a program that this process is about to become or to start: in a
 * group of its own where `name` is NULL. The group of a name that nobody has is made if there is a
 * limit for it. `limit` and `gpu` may be NULL.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_group_join(const millpond_pond *pond,
                                    const char *name,
                                    const millpond_limit *limit,
                                    const millpond_uuid *gpu,
                                    millpond_group_seat *seat);

/**
 * Every group with what it holds on each GPU, as `millpond group ls --json` shows it. Free the text
 * with millpond_text_free().
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_group_list_json(const millpond_pond *pond, millpond_text **text);

/**
 * Everything about one group, its processes as well, as `millpond group inspect --json` shows it.
 * Free the text with millpond_text_free().
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_group_inspect_json(const millpond_pond *pond,
                                            const char *name,
                                            millpond_text **text);

/**
 * Removes a group that has no processes.
 *
 * Threads: any. Fork: works in the child, over a connection of its own.
 */
millpond_result millpond_group_remove(const millpond_pond *pond, const char *name);

/**
 * Subscribes to what happens in the pond, from sequence number `from` on; 0 means from now on, 1
 * all that the pond has kept. It survives restarts of the daemon; MILLPOND_EVENT_GAP says that
 * events in between may be missing. Free it with millpond_events_free().
 *
 * Threads: any, one at a time. Fork: events of the parent are refused in the child.
 */
millpond_result millpond_events_subscribe(const millpond_pond *pond,
                                          uint64_t from,
                                          millpond_events **events);

/**
 * Waits for the next event. MILLPOND_TIMEOUT if none came within that time.
 *
 * Threads: any, one at a time: MILLPOND_INVALID while another thread waits. Fork: events of the
 * parent are refused in the child.
 */
millpond_result millpond_events_next(const millpond_events *events,
                                     uint64_t timeout_ms,
                                     millpond_event *event);

/**
 * Calls `visitor` for everything that the pond has kept from the number on that was asked for,
 * without waiting for more. A MILLPOND_EVENT_GAP at the beginning says that some before are gone.
 *
 * Threads: any, one at a time: MILLPOND_INVALID while another thread waits. Fork: events of the
 * parent are refused in the child.
 */
millpond_result millpond_events_kept(const millpond_events *events,
                                     millpond_event_visitor visitor,
                                     void *user_data);

/**
 * Ends a subscription. A thread that waits for an event goes on waiting; millpond_cancel_use() ends
 * that. NULL is nothing.
 *
 * Threads: any. Fork: events of the parent are freed in the child alone.
 */
millpond_result millpond_events_free(millpond_events *events);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MILLPOND_H */
