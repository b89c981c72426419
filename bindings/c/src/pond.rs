//! Connections.

use std::time::Duration;

use millpond::Pond;

use crate::border::{Out, Text, call, flag, required, reserved, waiting, write};
use crate::failure::Failure;
use crate::objects::PONDS;
use crate::result::ResultNumber;
use crate::text::{kept, millpond_text};
use crate::uuid::millpond_uuid;
use crate::words::{DoorNumber, millpond_door};

/// A connection to a pond.
pub struct millpond_pond {
    _private: [u8; 0],
}

/// What a handle of a pond names. Cheap to clone.
pub(crate) type Connection = Pond;

/// How a pond is connected to. A struct of zeroes has the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct millpond_connect_options {
    /// The pond's runtime folder. NULL: MILLPOND_RUNTIME_DIR, then the user's own pond, then the machine's.
    pub runtime_dir: Text,
    /// What `millpond ps` calls this process. NULL: the name of its executable.
    pub program: Text,
    /// How long a call waits for a daemon that restarts. Zero: 15 seconds.
    pub reconnect_timeout_ms: u64,
    /// How long a call waits for its answer. Zero: 60 seconds. What `wait_ms` of a get allows comes on top.
    pub request_timeout_ms: u64,
    /// Which socket.
    pub door: DoorNumber,
    /// 1 has the first call connect, and millpond_pond_connect() cannot fail for want of a pond.
    pub lazy: u32,
    /// For later versions; must be zero.
    pub reserved: [u64; 8],
}

/// A time in milliseconds; zero stands for the default.
pub(crate) fn time(ms: u64) -> Option<Duration> {
    (ms != 0).then(|| wait(ms))
}

/// A wait in milliseconds.
pub(crate) fn wait(ms: u64) -> Duration {
    if ms == MILLPOND_WAIT_FOREVER { Duration::MAX } else { Duration::from_millis(ms) }
}

/// A wait without an end, for `wait_ms` and `timeout_ms`.
pub const MILLPOND_WAIT_FOREVER: u64 = u64::MAX;

/// Connects to a pond. `options` may be NULL. Connections with the same folder and no other option are one, shared by
/// the whole process; each call makes a handle of its own. Free it with millpond_pond_free().
///
/// Threads: any. All threads may use one pond at once. Fork: the child connects anew with its first call through a
/// pond of the parent.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_connect(
    options: Option<&millpond_connect_options>,
    pond: Out<'_, *mut millpond_pond>,
) -> ResultNumber {
    waiting(|| {
        let out = required(pond, "pond")?;
        let mut builder = Pond::builder();
        if let Some(options) = options {
            reserved(&options.reserved, "millpond_connect_options")?;
            if let Some(folder) = options.runtime_dir.optional("runtime_dir")? {
                builder = builder.runtime_dir(folder);
            }
            if let Some(program) = options.program.optional("program")? {
                builder = builder.program(program);
            }
            if let Some(timeout) = time(options.reconnect_timeout_ms) {
                builder = builder.reconnect_timeout(timeout);
            }
            if let Some(timeout) = time(options.request_timeout_ms) {
                builder = builder.request_timeout(timeout);
            }
            builder = match options.door {
                door if door == millpond_door::MILLPOND_DOOR_USERS as u32 => builder,
                door if door == millpond_door::MILLPOND_DOOR_WATCH as u32 => builder.watch(),
                door if door == millpond_door::MILLPOND_DOOR_OPERATOR as u32 => builder.operator(),
                other => return Err(Failure::invalid(format!("{other} is no millpond_door"))),
            };
            if flag(options.lazy, "lazy")? {
                builder = builder.lazy();
            }
        }
        out.write(PONDS.insert(builder.connect()?)?);
        Ok(())
    })
}

/// Frees a pond. The connection ends when its last pond, tensor, model, staging, cache, handle and pool are freed;
/// nothing waits for that. NULL is nothing.
///
/// Threads: any; calls of other threads that are under way end as usual. Fork: in the child it frees the child's.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_free(pond: *mut millpond_pond) -> ResultNumber {
    call(|| PONDS.free(pond))
}

/// Waits until freed tensors are given back, says goodbye, and frees the pond. Other ponds of the same connection
/// answer MILLPOND_CLOSED from then on. While tensors or models of it are in use the answer is MILLPOND_IN_USE and
/// the pond stays as it is.
///
/// Threads: any. Fork: closes the child's own connection.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_close(pond: *mut millpond_pond) -> ResultNumber {
    waiting(|| {
        PONDS.get(pond)?.close()?;
        PONDS.free(pond)
    })
}

/// One round trip.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_ping(pond: *const millpond_pond) -> ResultNumber {
    waiting(|| Ok(PONDS.get(pond)?.ping()?))
}

/// Waits until every tensor that was freed is unmapped and the pond knows. MILLPOND_TIMEOUT if the time was over
/// before.
///
/// Threads: any. Fork: about the child's own tensors.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_flush(pond: *const millpond_pond, timeout_ms: u64) -> ResultNumber {
    waiting(|| {
        if PONDS.get(pond)?.flush(wait(timeout_ms))? {
            return Ok(());
        }
        let after = wait(timeout_ms);
        Err(millpond::Error::Timeout { what: "the return of freed tensors", after }.into())
    })
}

/// The pond's runtime folder. Free the text with millpond_text_free().
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_runtime_dir(
    pond: *const millpond_pond,
    folder: Out<'_, *mut millpond_text>,
) -> ResultNumber {
    call(|| {
        let out = required(folder, "folder")?;
        let pond = PONDS.get(pond)?;
        out.write(kept(&pond.runtime_dir().to_string_lossy())?);
        Ok(())
    })
}

/// How the pond knows this process.
///
/// Threads: any. Fork: the child has an identity of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_client_id(
    pond: *const millpond_pond,
    client: Out<'_, millpond_uuid>,
) -> ResultNumber {
    call(|| {
        let out = required(client, "client")?;
        out.write(millpond_uuid { bytes: *PONDS.get(pond)?.client_id().0.as_bytes() });
        Ok(())
    })
}

/// How many leases this process has, those on their way back included, and the bytes that they are on. Either output
/// may be NULL.
///
/// Threads: any. Fork: about the child's own leases.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_live(
    pond: *const millpond_pond,
    leases: Out<'_, u64>,
    bytes: Out<'_, u64>,
) -> ResultNumber {
    call(|| {
        let pond = PONDS.get(pond)?;
        write(leases, pond.live_leases() as u64);
        write(bytes, pond.live_bytes());
        Ok(())
    })
}

/// The GPU at a place of the pond's list, which is not this process's list.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_gpu_at(
    pond: *const millpond_pond,
    index: usize,
    gpu: Out<'_, millpond_uuid>,
) -> ResultNumber {
    waiting(|| {
        let out = required(gpu, "gpu")?;
        out.write(PONDS.get(pond)?.device_at(index)?.into());
        Ok(())
    })
}

/// Whether a handle names a pond that is alive: 1 or 0. Nothing is kept as a failure.
///
/// Threads: any. Fork: works in the child.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_is_valid(pond: *const millpond_pond) -> u32 {
    crate::border::quiet(0, |_| PONDS.get(pond).is_ok().into())
}

/// Has another daemon take over, from the program file `program`; the keeper's own where it is NULL. Clients go on.
/// Only for the operator and the user who runs the pond. `from_epoch`, that of the daemon that goes, may be NULL.
///
/// Threads: any. Fork: works in the child, over a connection of its own.
#[unsafe(no_mangle)]
pub extern "C" fn millpond_pond_upgrade(
    pond: *const millpond_pond,
    program: Text,
    from_epoch: Out<'_, u64>,
) -> ResultNumber {
    waiting(|| {
        let pond = PONDS.get(pond)?;
        let (_, epoch) = pond.upgrade(program.optional("program")?.unwrap_or(""))?;
        write(from_epoch, epoch.0);
        Ok(())
    })
}
