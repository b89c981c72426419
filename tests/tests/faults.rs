//! What is asked wrongly is refused with the way out; what is hostile harms nobody else.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::fs;
use std::os::unix::fs::{chown, symlink};

use millpond::{Dtype, ErrorKind, Pond, TensorSpec};
use millpond_tests::{Options, PATIENCE, Said, TestPond, eventually_equal, skip};

const MIB: u64 = 1 << 20;

fn spec(name: &str, dtype: Dtype, shape: &[u64]) -> TensorSpec {
    TensorSpec::new(name, dtype, shape)
}

#[test]
fn an_unknown_name_shows_the_closest() {
    let pond = TestPond::start(Options::new());
    for name in ["acts/x", "acts/y", "weights/wte"] {
        pond.control().reserve(spec(name, Dtype::F32, &[4])).unwrap();
    }
    let error = pond.control().inspect("acts/z").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("acts/z"), "{error}");
    let similar = error.similar();
    assert!(
        ["acts/x", "acts/y"].iter().all(|name| similar.iter().any(|s| s == name)),
        "{similar:?}"
    );
    assert!(!similar.iter().any(|name| name == "weights/wte"), "{similar:?}");
    let said = pond.cli(&["inspect", "weights/wta", "--json"]);
    assert_eq!((said.code, &said.error()["similar"][0]), (Some(3), &"weights/wte".into()));
    assert!(said.error()["hint"].as_str().unwrap().contains("weights/wte"));
    let plain = pond.cli(&["inspect", "weights/wta"]);
    assert!(plain.stderr.contains("weights/wte") && plain.stdout.is_empty(), "{plain:?}");
    // Nothing is like this one.
    let error = pond.control().inspect("zzzzzzzzzzzz").unwrap_err();
    assert!(error.similar().is_empty() && error.hint().is_some(), "{error:?}");
}

#[test]
fn a_name_that_is_taken_shows_both_sides() {
    let pond = TestPond::start(Options::new());
    let first = pond.control().reserve(spec("x", Dtype::F32, &[2, 3])).unwrap();
    let again = pond.control().reserve(spec("x", Dtype::F32, &[2, 3])).unwrap();
    assert_eq!(first.tensor, again.tensor, "the same name is the same memory");
    for (dtype, shape, shown) in
        [(Dtype::Bf16, &[2, 3][..], "BF16 [2,3]"), (Dtype::F32, &[3, 2], "F32 [3,2]")]
    {
        let error = pond.control().reserve(spec("x", dtype, shape)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Exists);
        let text = error.to_string();
        assert!(text.contains("F32 [2,3]") && text.contains(shown), "{text}");
    }
    assert_eq!(pond.accounts().tensors, 1);
}

#[test]
fn impossible_shapes_and_names_cost_nothing() {
    let pond = TestPond::start(Options::new());
    let physical = pond.physical();
    for shape in [&[0][..], &[3, 0], &[1 << 60], &[u64::MAX, 2], &[1 << 40, 1 << 40], &[1; 17]] {
        let error = pond.control().reserve(spec("x", Dtype::F64, shape)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{shape:?}: {error}");
    }
    let packed = pond.control().reserve(spec("x", Dtype::F4, &[3])).unwrap_err();
    assert!(packed.to_string().contains("whole number of bytes"), "{packed}");
    for name in ["", "a b", "a//b", "../a", "~x", "-x", &"x".repeat(256)] {
        let error = pond.control().reserve(spec(name, Dtype::U8, &[1])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{name}: {error}");
    }
    let accounts = pond.accounts();
    assert_eq!((accounts.slabs, accounts.tensors), (0, 0));
    pond.assert_physical("nothing was made", physical);
}

#[test]
fn a_full_pond_says_what_is_free_and_who_has_the_rest() {
    let capacity = 192 * MIB;
    let pond = TestPond::start(Options::new().capacity(capacity));
    let own = 64 * MIB;
    pond.control().reserve(spec("a", Dtype::U8, &[own])).unwrap();
    pond.control().reserve(spec("b", Dtype::U8, &[own])).unwrap();
    let error = pond.control().reserve(spec("c", Dtype::U8, &[2 * own])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::GpuFull);
    assert_eq!(error.free_bytes(), Some(64 * MIB));
    let failure = error.failure().unwrap();
    assert_eq!(failure.capacity_bytes, Some(capacity));
    assert_eq!(failure.requested_bytes, Some(2 * own));
    let me = rustix::process::geteuid().as_raw();
    let holders = error.holders();
    assert_eq!((holders.len(), holders[0].user, holders[0].tensors), (1, me, 2));
    assert_eq!(holders[0].bytes, 2 * own);
    let said =
        pond.cli(&["tensor", "create", "c", "--dtype", "u8", "--shape", "134217728", "--json"]);
    assert_eq!(said.code, Some(7));
    assert_eq!(said.error()["free_bytes"], 64 * MIB);
    assert_eq!(said.error()["holders"][0]["bytes"], 2 * own);
    // Larger than all: refused before anything is given up for it.
    let error = pond.control().reserve(spec("c", Dtype::U8, &[1 << 45])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::GpuFull);
    // What still fits is served, and what is deleted makes room.
    pond.control().reserve(spec("c", Dtype::U8, &[own])).unwrap();
    pond.control().delete("a").unwrap();
    pond.control().delete("b").unwrap();
    pond.control().reserve(spec("d", Dtype::U8, &[2 * own])).unwrap();
    assert_eq!(pond.accounts().slab_bytes, capacity);
}

#[test]
fn a_driver_without_memory_is_a_full_gpu() {
    // The daemon's first slab is its own; so is the count.
    let pond = TestPond::start(Options::giving_back().faults("cuMemCreate:oom_after=2"));
    pond.control().reserve(spec("fits", Dtype::U8, &[40 * MIB])).unwrap();
    let before = pond.accounts();
    let error = pond.control().reserve(spec("x", Dtype::U8, &[40 * MIB])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::GpuFull, "{error}");
    assert!(error.free_bytes().is_some() && !error.holders().is_empty(), "{error:?}");
    assert_eq!(pond.accounts(), before);
    // Nobody else is harmed, and the next daemon starts afresh.
    pond.control().inspect("fits").unwrap();
    pond.kill_daemon();
    pond.control().reserve(spec("x", Dtype::U8, &[40 * MIB])).unwrap();
}

#[test]
fn a_driver_that_refuses_once_is_asked_again() {
    for plan in ["cuMemCreate:error=999,on=2", "cuMemExportToShareableHandle:error=999,on=2"] {
        let pond = TestPond::start(Options::giving_back().faults(plan));
        let baseline = pond.physical();
        let error = pond.control().reserve(spec("x", Dtype::U8, &[40 * MIB])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Driver, "{plan}: {error}");
        assert_eq!(pond.accounts().slabs, 0);
        pond.assert_physical(plan, baseline);
        pond.control().reserve(spec("x", Dtype::U8, &[40 * MIB])).unwrap();
        pond.control().delete("x").unwrap();
        pond.assert_physical(plan, baseline);
    }
}

/// A worker's own driver fails: the lease goes back.
#[test]
fn a_client_that_cannot_map_keeps_no_lease() {
    let plan = "cuMemMap:error=999,on=1; cuMemSetAccess:error=999,on=1";
    let pond =
        TestPond::start(Options::giving_back().soft().worker_env("MILLPOND_SOFT_FAULTS", plan));
    pond.control().reserve(spec("x", Dtype::U8, &[40 * MIB]).zero(true)).unwrap();
    let mut worker = pond.worker();
    for _ in 0..2 {
        let refused = worker.try_ask("map x").unwrap_err();
        assert!(refused.starts_with("driver"), "{refused}");
        eventually_equal("leases", &0, || pond.accounts().leases);
    }
    worker.ask("map x");
    eventually_equal("leases", &1, || pond.accounts().leases);
    // A tensor that its maker cannot map is not left behind.
    let mut maker = pond.worker();
    maker.try_ask("begin y 41943040").unwrap_err();
    eventually_equal("tensors", &1, || pond.accounts().tensors);
    worker.finish();
}

#[test]
fn a_second_keeper_in_the_folder_is_refused_by_name() {
    let pond = TestPond::start(Options::new());
    let mut command = pond.serve_command();
    let said = Said::by(&mut command, PATIENCE);
    assert_eq!(said.code, Some(1), "{said:?}");
    let keeper = pond.status().keeper_pid;
    assert!(said.stderr.contains(&format!("pid {keeper}")), "{said:?}");
    // A keeper that has taken over is named as well.
    pond.kill_keeper();
    pond.wait_for_keeper();
    let said = Said::by(&mut pond.serve_command(), PATIENCE);
    let keeper = pond.status().keeper_pid;
    assert!(said.code == Some(1) && said.stderr.contains(&format!("pid {keeper}")), "{said:?}");
    // The pond is none the worse for it.
    pond.control().ping().unwrap();
    assert!(pond.connect().unwrap().status().is_ok());
}

#[test]
fn a_second_pond_on_the_gpu_is_refused_by_name() {
    let pond = TestPond::start(Options::new());
    let mut command = pond.serve_command();
    command.env(millpond::runtime_dir::ENVIRONMENT, pond.path("second"));
    let said = Said::by(&mut command, PATIENCE);
    assert!(said.code.is_some_and(|code| code != 0), "{said:?}");
    let holder = pond.runtime_dir().display().to_string();
    assert!(said.stderr.contains(&holder) && said.stderr.contains("pid "), "{said:?}");
    pond.control().reserve(spec("x", Dtype::U8, &[1])).unwrap();
}

#[test]
fn a_path_that_is_too_long_is_refused_with_the_way_out() {
    let pond = TestPond::prepare(Options::new());
    let long = pond.path(&"x".repeat(120));
    let mut command = pond.serve_command();
    command.env(millpond::runtime_dir::ENVIRONMENT, &long);
    let said = Said::by(&mut command, PATIENCE);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("107") && said.stderr.contains("--runtime-dir"), "{said:?}");
    let error = Pond::builder().runtime_dir(&long).connect().unwrap_err();
    assert!(error.to_string().contains("too long"), "{error}");
    assert!(error.hint().unwrap().contains("MILLPOND_RUNTIME_DIR"));
}

#[test]
fn what_is_at_the_sockets_place_is_looked_at_first() {
    let pond = TestPond::prepare(Options::new());
    let folder = pond.runtime_dir();
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let socket = folder.join("sock");
    let connect = || Pond::builder().runtime_dir(&folder).program("x").connect().unwrap_err();
    assert_eq!(connect().kind(), ErrorKind::NoPond);
    fs::write(&socket, b"").unwrap();
    let error = connect();
    assert!(error.to_string().contains("not a socket"), "{error}");
    let said = Said::by(&mut pond.serve_command(), PATIENCE);
    let path = socket.display().to_string();
    assert!(said.code == Some(1) && said.stderr.contains(&path), "{said:?}");
    assert!(socket.is_file(), "somebody's file was removed");
    fs::remove_file(&socket).unwrap();
    symlink("/dev/null", &socket).unwrap();
    assert!(connect().to_string().contains("not a socket"));
    fs::remove_file(&socket).unwrap();

    // A socket that nobody listens on any more is replaced by the next keeper.
    drop(millpond_wire::socket::listen(&socket).unwrap());
    assert_eq!(connect().kind(), ErrorKind::NoPond);
    pond.serve();
    pond.control().ping().unwrap();
}

#[test]
fn a_planted_socket_is_not_trusted() {
    let pond = TestPond::prepare(Options::new());
    let folder = pond.runtime_dir();
    fs::create_dir(&folder).unwrap();
    let socket = folder.join("sock");
    let listener = millpond_wire::socket::listen(&socket).unwrap();
    if chown(&socket, Some(12_345), None).is_err() {
        return skip("only root can give a socket to another user");
    }
    let error = Pond::builder().runtime_dir(&folder).program("x").connect().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Untrusted);
    assert!(error.to_string().contains("12345"), "{error}");
    let said = pond.cli(&["status", "--json"]);
    assert_eq!((said.code, said.error()["kind"].as_str()), (Some(16), Some("untrusted")));
    drop(listener);
    // A keeper does not move into a folder of somebody else either.
    chown(&folder, Some(12_345), None).unwrap();
    let said = Said::by(&mut pond.serve_command(), PATIENCE);
    assert!(said.code == Some(1) && said.stderr.contains("12345"), "{said:?}");
}

#[test]
fn unknown_settings_are_refused_by_line() {
    let pond = TestPond::prepare(Options::new());
    let file = pond.path("wrong.toml");
    let serve = |text: &str| {
        fs::write(&file, text).unwrap();
        Said::by(pond.serve_command().arg("--config").arg(&file), PATIENCE)
    };
    let said = serve("log = \"info\"\ncapcity = \"90%\"\n");
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.stderr.contains("line 2") && said.stderr.contains("capcity"), "{said:?}");
    assert!(said.stderr.contains("did you mean `capacity`?"), "{said:?}");
    let said = serve("capacity = \"90\u{20ac}\"\n");
    assert!(said.code == Some(2) && said.stderr.contains("capacity"), "{said:?}");
    let said = serve("capacity = \n");
    assert!(said.code == Some(2) && said.stderr.contains("line 1"), "{said:?}");
    let said = Said::by(pond.serve_command().env("MILLPOND_CAPACITY", "much"), PATIENCE);
    assert!(said.code == Some(2) && said.stderr.contains("MILLPOND_CAPACITY"), "{said:?}");
    assert!(!pond.runtime_dir().exists(), "nothing was begun");
}

/// Without a driver there is nothing to serve, and nothing is left behind.
#[test]
fn a_pond_without_a_driver_is_refused() {
    let pond = TestPond::prepare(Options::new());
    let mut command = pond.serve_command();
    command.env("MILLPOND_DRIVER", "/nowhere/libcuda.so.1");
    let said = Said::by(&mut command, PATIENCE);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("/nowhere/libcuda.so.1"), "{said:?}");
    assert!(!pond.runtime_dir().join("sock").exists());
    pond.serve();
}
