//! Memory and events of another process, opened by their handles.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use millpond_cuda::{
    Context, Driver, DriverChoice, ForeignMemory, IpcEvent, LinearMemory, Stream, TouchKernel,
};
use millpond_wire::message::{ReplyBody, RequestBody};
use millpond_wire::{Backing, ErrorKind, GpuUuid, LeaseId, SlabId, Transport};

use crate::testing::{Does, FakePond, eventually, grant_of, info};
use crate::{Error, GetOptions, Survives, TensorInfo, TransportKind, process};

const SLAB: u64 = 2 << 20;
const SECOND: Duration = Duration::from_secs(5);
const WHERE: &str = "MILLPOND_TEST_HANDLES";

fn context() -> (Driver, Context) {
    let driver = Driver::open(DriverChoice::Soft, Some(&millpond_softgpu::PROVIDER)).unwrap();
    let context = Context::primary(&driver.devices().unwrap().remove(0)).unwrap();
    (driver, context)
}

/// The other process: it has memory and an event until its standard input ends.
#[test]
#[ignore = "a part of the other tests here, which start it"]
fn host() {
    let path = std::env::var_os(WHERE).unwrap();
    let (_driver, context) = context();
    let memory = LinearMemory::alloc(&context, SLAB).unwrap();
    memory.fill(3).unwrap();
    let event = IpcEvent::new(&context).unwrap();
    let handles = [memory.ipc_handle().unwrap(), event.handle().unwrap()].concat();
    let unfinished = std::path::Path::new(&path).with_extension("unfinished");
    std::fs::write(&unfinished, handles).unwrap();
    std::fs::rename(&unfinished, &path).unwrap();
    let _ = std::io::stdin().read(&mut [0]);
}

struct Host {
    child: Child,
    memory: [u8; 64],
    event: [u8; 64],
}

impl Host {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("handles");
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "tests::opened::host"])
            .env(WHERE, &path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        eventually(|| path.exists());
        let handles = std::fs::read(&path).unwrap();
        let (memory, event) = handles.split_at(64);
        Self { child, memory: memory.try_into().unwrap(), event: event.try_into().unwrap() }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A pond with one slab of another process, in which every tensor lies at the same place.
fn pond_of(host: &Host, context: &Context, slab_bytes: u64) -> FakePond {
    let (memory, event) = (host.memory, host.event);
    let device = GpuUuid(context.device().uuid().0);
    let slab = SlabId::random();
    let tensor = TensorInfo { device, slab, offset: 4096, slab_bytes, ..info("acts/x") };
    FakePond::start(move |_, request| match &request.body {
        RequestBody::TensorGet(get) => {
            let backing = Backing { transport: Transport::Ipc(memory), adopted: false };
            let mut body = grant_of(tensor.clone(), get.lease, get.mode, backing);
            if let (ReplyBody::Tensor(grant), false) =
                (&mut body, get.target.to_string() == "without")
            {
                grant.event = Some(event);
            }
            Does::Reply(body)
        }
        _ => Does::Polite,
    })
}

#[test]
fn memory_of_another_process_is_read_written_and_closed() {
    let host = Host::start();
    let (driver, context) = context();
    let fake = pond_of(&host, &context, SLAB);
    let pond = fake.builder().driver(driver).connect().unwrap();
    let writer = pond.get_with("acts/x", GetOptions::read_write()).unwrap();
    assert_eq!((writer.transport(), writer.survives()), (TransportKind::Ipc, Survives::Host));
    assert_eq!(writer.to_vec().unwrap(), [3; 128]);
    writer.copy_from_host(0, &[8; 64]).unwrap();
    writer.publish().unwrap();
    let reader = pond.get("acts/x").unwrap();
    assert_eq!(reader.device_ptr(), writer.device_ptr(), "it is open once for both modes");
    assert_eq!(pond.core().mapped_slabs(), 1);
    assert_eq!(reader.to_vec().unwrap()[..65], [[8; 64].as_slice(), &[3]].concat());
    assert!(matches!(reader.copy_from_host(0, b"x"), Err(Error::ReadOnly { .. })));
    // The end of the other process ends nothing here.
    drop(host);
    reader.to_vec().unwrap();
    drop((reader, writer));
    assert!(pond.flush(SECOND).unwrap());
    assert_eq!(pond.core().mapped_slabs(), 0);
    let error = pond.get("acts/x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Lost, "nobody has the memory any more: {error}");
    fake.wait_for(|_, body| *body == RequestBody::LeaseRelease { leases: vec![LeaseId(3)] });
    pond.close().unwrap();
}

#[test]
fn a_forked_child_closes_nothing_that_its_parent_has_opened() {
    let host = Host::start();
    let (driver, context) = context();
    let fake = pond_of(&host, &context, SLAB);
    let pond = fake.builder().driver(driver).connect().unwrap();
    let x = pond.get("acts/x").unwrap();
    let at = x.device_ptr();
    // What runs on this thread from here on believes that it is the child.
    let child = process::pretend(u32::MAX);
    assert!(matches!(x.to_vec(), Err(Error::Forked { .. })));
    let stream = Stream::new(&context).unwrap();
    assert!(matches!(x.wait(&stream), Err(Error::Forked { .. })));
    drop(x);
    assert!(pond.flush(SECOND).unwrap());
    drop(child);
    assert!(ForeignMemory::find(&context, at, 128).is_ok(), "it is the parent's, and open");
    let seen = fake.seen();
    assert!(!seen.iter().any(|(_, body)| matches!(body, RequestBody::LeaseRelease { .. })));
}

#[test]
fn streams_of_two_processes_wait_for_each_other() {
    let host = Host::start();
    let (driver, context) = context();
    let fake = pond_of(&host, &context, SLAB);
    // Two clients, as two programs would be.
    let connect = || fake.builder().driver(driver.clone()).connect().unwrap();
    let (writing, reading) = (connect(), connect());
    let writer = writing.get_with("acts/x", GetOptions::read_write()).unwrap();
    let reader = reading.get("acts/x").unwrap();
    let [first, second] = [(); 2].map(|()| Stream::new(&context).unwrap());
    reader.wait(&second).unwrap();
    second.synchronize().unwrap();

    let kernel = TouchKernel::load(&context).unwrap();
    let busy = Duration::from_millis(150);
    writer.touch(&kernel, &first, &writer, 0, busy).unwrap();
    writer.record(&first).unwrap();
    reader.wait(&second).unwrap();
    second.synchronize().unwrap();
    let sum = 0x0303_0303_0303_0303_u64.wrapping_mul(16);
    assert_eq!(reader.to_vec().unwrap()[..8], sum.to_le_bytes(), "the other's work was waited for");

    assert!(matches!(reader.record(&second), Err(Error::ReadOnly { .. })));
    let without = reading.get("without").unwrap();
    let error = without.wait(&second).unwrap_err();
    assert!(matches!(error, Error::NoEvent { .. }), "{error}");
    assert!(error.hint().unwrap().contains("publish"));
    drop((writer, reader, without));
    assert!(writing.flush(SECOND).unwrap() && reading.flush(SECOND).unwrap());
}

#[test]
fn a_handle_that_opens_less_than_was_said_is_closed_and_given_back() {
    let host = Host::start();
    let (driver, context) = context();
    let fake = pond_of(&host, &context, SLAB * 2);
    let pond = fake.builder().driver(driver).connect().unwrap();
    let core = Arc::clone(pond.core());
    let error = pond.get("acts/x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
    assert_eq!(core.mapped_slabs(), 0);
    fake.wait_for(|_, body| *body == RequestBody::LeaseRelease { leases: vec![LeaseId(1)] });
    pond.close().unwrap();
}
