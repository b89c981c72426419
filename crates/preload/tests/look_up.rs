//! How programs find the driver, and that they get the hooks exactly when there is a limit.

mod common;
use common::*;

#[test]
fn every_way_to_the_driver_meets_the_limit() {
    for how in ["direct", "dlsym", "proc1", "proc2", "thread"] {
        let machine = Machine::new().limited("64M");
        let said = machine.run(how, "context hooked alloc=32 alloc=40 free alloc=40 info");
        assert_eq!(
            said, "context=0, hooked=1, alloc=0, alloc=2, free=0, alloc=0, info=0 64 24",
            "{how}"
        );
    }
}

/// `cuGraphInstantiate` of CUDA 12 may be exported under no name: only its address tells what it is.
#[test]
fn a_function_that_only_a_look_up_finds_meets_the_limit() {
    let machine = Machine::new().limited("64M");
    let said = machine.run("renamed", "context graph=100 launch graph=20 launch");
    assert_eq!(said, "context=0, graph=0, launch=2, graph=0, launch=0");
}

#[test]
fn a_driver_that_was_let_go_of_is_still_the_hooked_one() {
    let machine = Machine::new().limited("64M");
    let said = machine.run("again", "context hooked alloc=32 alloc=40");
    assert_eq!(said, "probed=1 errno=77, stays=1, context=0, hooked=1, alloc=0, alloc=2");
    let mut command = machine.command("steps");
    command.env("LD_LIBRARY_PATH", folder().join("unloaded")).args(["again", "hooked"]);
    let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert_eq!(said, "probed=1 errno=77\nstays=1\ninit=-1\nhooked=1\n");
}

#[test]
fn without_a_limit_nothing_is_hooked() {
    for how in ["direct", "dlsym", "proc1", "proc2"] {
        let machine = Machine::new();
        let said = machine.run(how, "context alloc=200 info hooked");
        // A direct link binds to our name, which goes straight on to the driver.
        let hooked = u8::from(how == "direct");
        assert_eq!(said, format!("context=0, alloc=0, info=0 256 56, hooked={hooked}"), "{how}");
    }
}

#[test]
fn what_the_driver_lacks_stays_missing() {
    let said = Machine::new().limited("64M").run("dlsym", "missing");
    assert_eq!(said, "missing=0 1");
}

#[test]
fn searches_of_other_libraries_stay_right() {
    for machine in [Machine::new(), Machine::new().limited("64M")] {
        let mut command = machine.command("next");
        let other = |name| folder().join(name).display().to_string();
        let both = [preload().display().to_string(), other("libother.so"), other("libthird.so")];
        let said = command.env("LD_PRELOAD", both.join(":")).output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap().trim().replace('\n', ", ");
        assert_eq!(said, "other=1, wrapped=1, before=0, loaded=1, after=1, same=1, libc=1");
    }
}

#[test]
fn the_library_says_which_version_it_is() {
    // SAFETY: the library has no constructor; the function takes nothing and gives a text.
    unsafe {
        let path = std::ffi::CString::new(preload().to_str().unwrap()).unwrap();
        let library = libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL);
        assert!(!library.is_null());
        let found = libc::dlsym(library, c"millpond_preload_version".as_ptr());
        let version: extern "C" fn() -> *const std::ffi::c_char = std::mem::transmute(found);
        let version = std::ffi::CStr::from_ptr(version());
        assert_eq!(version.to_str().unwrap(), env!("CARGO_PKG_VERSION"));
    }
}
