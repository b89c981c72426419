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

/** Ends calls of other threads: see millpond_cancel_use(). */
typedef struct millpond_cancel millpond_cancel;

/** A connection to a pond. */
typedef struct millpond_pond millpond_pond;

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
    /** 1: ends with this process instead of when it is deleted. */
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
millpond_result millpond_pond_flush(const millpond_pond *pond,
                                    uint64_t timeout_ms);

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
 * How many GPUs the pond has; zero for a handle that is no status.
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
 * Makes a tensor and maps it readable and writable. Others get it when it is published:
 * millpond_tensor_publish(), or `spec->zero`. If a tensor of that name, dtype and shape already
 * exists, that is the one: the same name is the same memory. Nothing else of the spec is applied to
 * it then, and `existed`, which may be NULL, is 1. Free it with millpond_tensor_free(): the tensor
 * itself lives until it is deleted.
 *
 * Threads: any; a current CUDA context of the thread is used, or the GPU's primary one. Fork: works
 * in the child, over a connection of its own.
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
 * in the child, over a connection of its own.
 */
millpond_result millpond_tensor_get(const millpond_pond *pond,
                                    const char *target,
                                    const millpond_get_options *options,
                                    millpond_tensor **tensor);

/**
 * As millpond_tensor_get(), by identity.
 *
 * Threads: any; a current CUDA context of the thread is used, or the GPU's primary one. Fork: works
 * in the child, over a connection of its own.
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

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MILLPOND_H */
