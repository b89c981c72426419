//! What users of cuda-ipc-memory-manager had, and where it failed them: each is so here, across
//! processes. docs/from-cuda-ipc-memory-manager.md names the test of each line.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::fs;
use std::time::Duration;

use millpond::{Audience, Dtype, Error, ErrorKind, Pond, TensorSpec};
use millpond_tests::{Options, Process, TestPond, content, eventually, eventually_equal};

const MIB: u64 = 1 << 20;
const BYTES: u64 = 300_000;

fn zeroed(name: &str, bytes: u64) -> TensorSpec {
    TensorSpec::new(name, Dtype::U8, [bytes]).zero(true)
}

fn is_there(pond: &TestPond, name: &str) -> bool {
    match pond.control().inspect(name) {
        Ok(_) => true,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => panic!("{error}"),
    }
}

/// GetAvailableGPUs, GetAllocatedTotalBufferCount, GetAllocatedTotalBytes, GetMaxAllocationBytes;
/// and a configuration with bytes for one GPU, a share for the other, and a variable in it.
#[test]
fn each_gpu_has_its_uuid_count_bytes_and_maximum_in_bytes_or_as_a_share() {
    let options = Options::giving_back().soft().env("MILLPOND_SOFT_DEVICES", "2");
    let pond = TestPond::start(options.env("FIRST_GPU_BYTES", "96M"));
    let uuids: Vec<String> =
        pond.status().devices.iter().map(|device| device.device.to_string()).collect();
    let _ = pond.cli(&["stop"]).ok();
    assert_eq!(pond.wait_for_serve(), Some(0), "{}", pond.log());
    let settings = format!(
        "capacity = \"${{UNSET_SHARE:25%}}\"\n\n[capacity_by_gpu]\n{} = \"${{FIRST_GPU_BYTES}}\"\n",
        uuids[0]
    );
    fs::write(pond.path("config.toml"), settings).unwrap();
    pond.serve();
    let devices = pond.status().devices;
    let found: Vec<String> = devices.iter().map(|device| device.device.to_string()).collect();
    assert_eq!(found, uuids);
    assert!(found.iter().all(|uuid| uuid.starts_with("GPU-")));
    assert_eq!(devices[0].capacity_bytes, 96 * MIB);
    assert_eq!(devices[1].capacity_bytes, devices[1].total_bytes / 4);
    let on = |name: &str, device| zeroed(name, 40 * MIB).device(device);
    pond.control().reserve(on("a", devices[0].device)).unwrap();
    pond.control().reserve(on("b", devices[1].device)).unwrap();
    pond.control().reserve(on("c", devices[1].device)).unwrap();
    let refused = pond.control().reserve(zeroed("d", 80 * MIB).device(devices[0].device));
    let refused = refused.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::GpuFull);
    assert_eq!(refused.failure().unwrap().capacity_bytes, Some(96 * MIB));
    let counts = |devices: &[millpond::DeviceInfo]| -> Vec<(u32, u64)> {
        devices.iter().map(|device| (device.tensors, device.tensor_bytes)).collect()
    };
    assert_eq!(counts(&pond.status().devices), [(1, 40 * MIB), (2, 80 * MIB)]);
    let shown = pond.cli(&["status", "--json"]).json();
    assert_eq!(shown["devices"][1]["device"], uuids[1]);
    assert_eq!(shown["devices"][1]["tensors"], 2);
}

/// Its expiry freed memory that clients were reading.
#[test]
fn neither_time_nor_count_ends_memory_under_a_reader() {
    let pond = TestPond::start(Options::giving_back());
    let mut reader = pond.worker();
    let create = |name: &str, flag: &str, value: &str| {
        let line = ["tensor", "create", name, "--dtype", "u8", "--shape", "300000", "--zero"];
        let _ = pond.cli(&[&line[..], &[flag, value]].concat()).ok();
    };
    // A machine under load may need longer than the first time until the reader has it.
    let mut seconds = 1;
    let zeroes = loop {
        create("timed", "--ttl", &format!("{seconds}s"));
        match reader.try_ask("get timed") {
            Ok(hash) => break hash,
            Err(refused) => assert!(refused.starts_with("not_found"), "{refused}"),
        }
        seconds *= 2;
    };
    assert_eq!(zeroes, content::hash(&vec![0; 300_000]), "zero from the first moment on");
    create("counted", "--max-accesses", "1");
    assert_eq!(reader.ask("get counted"), zeroes);
    for name in ["timed", "counted"] {
        eventually("its end", || (!is_there(&pond, name)).then_some(()));
        let refused = pond.worker().try_ask(&format!("get {name}")).unwrap_err();
        assert!(refused.starts_with("not_found"), "{refused}");
        assert_eq!(reader.ask(&format!("hash {name}")), zeroes);
    }
    assert_eq!(pond.accounts().leases, 2);
    assert!(pond.accounts().slab_bytes > 0);
    // NotifyDone: unmapped, and told.
    reader.ask("drop-all");
    reader.ask("flush");
    eventually_equal("slab bytes", &0, || pond.accounts().slab_bytes);
}

/// Its sweep stopped at the first record that was not over.
#[test]
fn what_lives_longer_hides_nothing_that_is_over() {
    let pond = TestPond::start(Options::new());
    for (name, flags) in [
        ("few", ["--max-accesses", "2"]),
        ("long", ["--ttl", "1h"]),
        ("many", ["--max-accesses", "3"]),
        ("short", ["--ttl", "100ms"]),
    ] {
        let line = ["tensor", "create", name, "--dtype", "u8", "--shape", "100", "--zero"];
        let _ = pond.cli(&[&line[..], &flags].concat()).ok();
    }
    let mut reader = pond.worker();
    reader.ask("get few");
    for _ in 0..3 {
        // Each in a process of its own: what a process has already it does not ask for again.
        pond.worker().ask("hash many");
    }
    for name in ["many", "short"] {
        eventually("its end", || (!is_there(&pond, name)).then_some(()));
    }
    assert!(is_there(&pond, "few") && is_there(&pond, "long"));
}

/// FreeCUDABuffer was refused while an access was outstanding, and a client that had crashed kept
/// its access for ever.
#[test]
fn what_is_used_is_refused_with_who_has_it_until_that_process_is_gone() {
    let pond = TestPond::start(Options::giving_back());
    let mut maker = pond.worker();
    let hash = maker.ask(&format!("put x {BYTES} 1"));
    let mut reader = pond.worker();
    reader.ask("get x");
    let remove = ["rm", "x", "--unused", "--json"];
    for restarted in [false, true] {
        if restarted {
            pond.kill_daemon();
            eventually_equal("leases", &1, || pond.accounts().leases);
        }
        let said = pond.cli(&remove);
        assert_eq!(said.code, Some(22), "{said:?}");
        assert_eq!(said.error()["kind"], "in_use");
        assert_eq!(said.error()["holders"][0]["pid"], reader.pid());
        assert_eq!(reader.ask("hash x"), hash, "nothing has happened to it");
        assert!(is_there(&pond, "x"));
    }
    let plain = pond.cli(&["rm", "x", "--unused"]);
    assert!(plain.stderr.contains(&format!("process {}", reader.pid())), "{plain:?}");
    // Also by its own process, until it has let go.
    assert!(reader.try_ask("delete-unused x").unwrap_err().starts_with("in_use"));
    let mut other = pond.worker();
    other.ask("get x");
    let dead = reader.pid();
    reader.kill();
    other.ask("drop x");
    eventually("the end of the reader", || {
        let clients = pond.control().clients().unwrap();
        clients.iter().all(|client| client.pid != dead).then_some(())
    });
    // What it has dropped itself is given back first: no flush, no waiting.
    other.ask("delete-unused x");
    eventually_equal("slab bytes", &0, || pond.accounts().slab_bytes);
    assert_eq!(pond.cli(&remove).code, Some(3));
}

#[test]
fn rm_unused_removes_what_it_can_and_is_not_for_versions() {
    let pond = TestPond::start(Options::new());
    let mut holder = pond.worker();
    for name in ["acts/a", "acts/b", "acts/c"] {
        holder.ask(&format!("put {name} {BYTES} 1"));
    }
    holder.ask("get acts/b");
    let said = pond.cli(&["rm", "acts/", "--yes", "--unused"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(22), "acts/a\nacts/c\n"), "{said:?}");
    assert!(is_there(&pond, "acts/b"));
    holder.ask("model make m v1 1 1");
    let said = pond.cli(&["rm", "m", "--unused"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.stderr.contains("m@v1"), "{said:?}");
}

/// Its REQ socket was of no use after one answer that came late.
#[test]
fn after_a_request_that_timed_out_the_next_one_is_answered() {
    let pond = TestPond::start(Options::new().flag("--watchdog-seconds", "3600"));
    pond.control().reserve(zeroed("x", BYTES)).unwrap();
    let client = Pond::builder()
        .runtime_dir(pond.runtime_dir())
        .request_timeout(Duration::from_millis(100))
        .connect()
        .unwrap();
    let daemon = Process::open(pond.status().daemon_pid).unwrap();
    for _ in 0..3 {
        daemon.stop();
        let late = client.inspect("x").unwrap_err();
        daemon.go_on();
        assert!(matches!(late, Error::Timeout { .. }), "{late}");
        let bytes = eventually("an answer", || client.inspect("x").ok()).info.bytes;
        assert_eq!(bytes, BYTES);
    }
}

/// Blocks under 2 MiB lie beside each other, and who opened one could read its neighbours.
#[test]
fn a_small_tensor_has_no_neighbour_that_its_readers_may_not_see() {
    let pond = TestPond::start(Options::new());
    let small = |name: &str, audience| {
        let spec = zeroed(name, 1000).share(audience);
        pond.control().reserve(spec).unwrap().slab
    };
    let (own, more) = (small("own", Audience::User), small("more", Audience::User));
    let shared = small("shared", Audience::Everybody);
    assert_eq!(own, more, "they share with each other");
    assert_ne!(own, shared);
}

#[test]
fn what_the_page_tells_people_to_type_works_as_it_is_printed() {
    let page = include_str!("../../docs/from-cuda-ipc-memory-manager.md");
    let block = |kind: &str| {
        let block = page.split(&format!("\n```{kind}\n")).nth(1).unwrap();
        block.split("\n```").next().unwrap()
    };
    let pond = TestPond::prepare(Options::new().soft());
    fs::write(pond.path("config.toml"), block("toml")).unwrap();
    pond.serve();
    let device = &pond.status().devices[0];
    assert_eq!(device.capacity_bytes, device.total_bytes / 2);
    for line in block("sh").lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[0], "millpond");
        let _ = pond.cli(&words[1..]).ok();
    }
    assert!(!is_there(&pond, "frames/x"));
}
