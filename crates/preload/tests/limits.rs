//! Programs under a limit: what is charged, what is refused, and what comes back.

mod common;

use std::path::PathBuf;

use common::*;

#[test]
fn every_kind_of_memory_is_refused_over_the_limit_and_comes_back() {
    let kinds = [
        ("alloc=40", "free"),
        ("pitch=40", "free"),
        ("managed=40", "free"),
        ("create=40", "release"),
        ("array=40", "endarray"),
    ];
    for (take, give) in kinds {
        let machine = Machine::new().limited("64M");
        let kind = take.split('=').next().unwrap();
        let said =
            machine.run("proc2", &format!("context {take} {take} {give} {take} {give} info"));
        assert_eq!(
            said,
            format!("context=0, {kind}=0, {kind}=2, {give}=0, {kind}=0, {give}=0, info=0 64 64"),
            "{take}"
        );
        assert_eq!(machine.card_used(), 0, "{take}");
    }
}

#[test]
fn pools_are_charged_by_what_they_take_from_the_card() {
    let machine = Machine::new().limited("96M");
    let said =
        machine.run("proc2", "context stream async=1 info async=1 info async=60 info async=40");
    assert_eq!(
        said,
        "context=0, stream=0, async=0, info=0 96 64, async=0, info=0 96 64, async=0, info=0 96 32, async=2"
    );
    // Freed and waited for, it is the card's again; a pool of one's own is no way out.
    let machine = Machine::new().limited("96M");
    let said = machine.run(
        "proc2",
        "context stream pool own=60 own=60 afree sync info own=60 afree sync endpool info",
    );
    assert_eq!(
        said,
        "context=0, stream=0, pool=0, own=0, own=2, afree=0, sync=0, info=0 96 96, own=0, afree=0, sync=0, endpool=0, info=0 96 96"
    );
}

#[test]
fn what_a_pool_has_is_used_again_at_the_limit() {
    // Freed in stream order and not waited for: it cannot be given back, and need not be.
    let machine = Machine::new().limited("96M");
    let again = "async=60 afree ".repeat(5);
    let said = machine.run("proc2", &format!("context stream {again} info"));
    assert_eq!(
        said,
        format!("context=0, stream=0, {}info=0 96 32", "async=0, afree=0, ".repeat(5))
    );
    // In pieces it would have to grow, for which there is no room.
    let machine = Machine::new().limited("64M");
    let said = machine.run(
        "proc2",
        "context stream async=10 async=5 async=12 async=5 afreeat=0 afreeat=2 sync async=15 info async=20 info sync info afreeat=1 afreeat=3 afreeat=4 sync info",
    );
    assert!(
        said.contains("sync=0, async=0, info=0 64 0, async=2, info=0 64 0, sync=0, info=0 64 0"),
        "{said}"
    );
    assert!(said.ends_with("sync=0, info=0 64 64"), "{said}");
    assert_eq!(machine.card_used(), 0);
}

#[test]
fn a_capture_ends_with_its_stream_its_context_and_a_wrong_end() {
    // While there is one, nothing is waited for at the limit.
    let again = "async=60 afree async=60";
    for (broken, status) in [
        ("context stream begin", 2),
        ("context stream begin end", 0),
        ("context stream begin endstream stream", 0),
        ("context stream begin otherend stream", 0),
        ("context stream begin reset context stream", 0),
        ("newcontext stream begin endcontext newcontext stream", 0),
    ] {
        let machine = Machine::new().limited("96M");
        let steps = match status {
            0 => format!("{broken} {again}"),
            // In another stream, where the driver refuses it too.
            _ => format!("{broken} stream {again}"),
        };
        let said = machine.run("proc2", &steps);
        let last = said.rsplit(", ").next().unwrap();
        assert_eq!(last == "async=0", status == 0, "{steps}: {said}");
    }
}

#[test]
fn an_end_that_is_refused_ends_no_capture() {
    let machine = Machine::new().limited("96M");
    let said = machine
        .run("proc2", "context stream keep async=60 afree sync info begin unmatched create=90 end");
    // To make room the pool is trimmed, which must not break the first capture.
    assert!(said.contains("info=0 96 32, begin=0, unmatched=903 901, create=0, end=0"), "{said}");
}

#[test]
fn graphs_are_charged_when_they_run() {
    let machine = Machine::new().limited("96M");
    let said = machine.run(
        "proc2",
        "context stream graph=64 info launch sync info free trim info graph=200 launch",
    );
    assert_eq!(
        said,
        "context=0, stream=0, graph=0, info=0 96 96, launch=0, sync=0, info=0 96 32, free=0, trim=0, info=0 96 96, graph=0, launch=2"
    );
    let machine = Machine::new().limited("96M");
    let said = machine.run(
        "proc2",
        "context stream capture=64 launch sync info launch sync trim info capture=80 launch",
    );
    assert_eq!(
        said,
        "context=0, stream=0, capture=0, launch=0, sync=0, info=0 96 32, launch=0, sync=0, trim=0, info=0 96 96, capture=0, launch=0"
    );
}

#[test]
fn graphs_that_leave_memory_behind_are_no_way_out() {
    let machine = Machine::new().limited("96M");
    let said = machine.run(
        "proc2",
        "context stream graph=32 launch graph=32 launch graph=32 launch graph=32 launch info",
    );
    let taken = "graph=0, launch=0, graph=0, launch=0, graph=0, launch=0";
    assert_eq!(said, format!("context=0, stream=0, {taken}, graph=0, launch=2, info=0 96 0"));
}

#[test]
fn refusals_give_nothing_back() {
    let machine = Machine::new().limited("64M").with("MILLPOND_SOFT_CONTEXT_BYTES", "10M");
    let said = machine.run("proc2", "context create=60 create=60 alloc=60 array=60 info");
    assert_eq!(said, "context=0, create=2, create=2, alloc=2, array=2, info=0 64 54");
}

#[test]
fn what_is_no_pool_is_refused_by_the_driver_and_costs_nothing() {
    let machine = Machine::new().limited("96M");
    let said = machine.run("proc2", "context stream nopool=10 nopool=10 nopool=10 nopool=10 info");
    let refused = "nopool=1, ".repeat(4);
    assert_eq!(said, format!("context=0, stream=0, {refused}info=0 96 96"));
    // A pool that was destroyed is none any more.
    let said = machine.run("proc2", "context stream pool endpool own=10 own=10 info");
    assert_eq!(said, "context=0, stream=0, pool=0, endpool=0, own=1, own=1, info=0 96 96");
}

#[test]
fn a_pool_that_is_destroyed_is_charged_until_its_memory_is_freed() {
    let machine = Machine::new().limited("96M");
    for give in ["afree sync", "free"] {
        let said = machine.run(
            "proc2",
            &format!("context stream pool own=40 endpool info own=1 endpool {give} info create=90"),
        );
        assert!(said.contains("endpool=0, info=0 96 32, own=1, endpool=1, "), "{give}: {said}");
        assert!(said.ends_with("info=0 96 96, create=0"), "{give}: {said}");
    }
    // A device whose pool it was has its default again, and the card has everything back.
    let machine = Machine::new().limited("96M");
    let said = machine.run(
        "proc2",
        "context stream pool setpool own=40 endpool async=1 info afree afree sync info",
    );
    assert!(said.contains("endpool=0, async=0, info=0 96 0, "), "{said}");
    assert!(said.ends_with("info=0 96 96"), "{said}");
}

#[test]
fn physical_memory_is_charged_until_released_and_unmapped() {
    let machine = Machine::new().limited("64M");
    let said = machine
        .run("proc2", "context create=32 map=32 release info retain release info unmap info");
    assert_eq!(
        said,
        "context=0, create=0, map=0, release=0, info=0 64 32, retain=0, release=0, info=0 64 32, unmap=0, info=0 64 64"
    );
}

#[test]
fn an_import_is_charged_when_it_is_mapped_unless_somebody_else_pays() {
    let machine = Machine::new().limited("64M");
    let said = machine.run("proc2", "context create=20 import map=20 info unmap release info");
    assert_eq!(
        said,
        "context=0, create=0, import=0, map=0, info=0 64 24, unmap=0, release=0, info=0 64 44"
    );
    // A mapping that fails (the software driver maps the whole of it only) changes nothing.
    let machine = Machine::new().limited("64M");
    let said = machine.run("proc2", "context create=20 import map=4 info map=20 info");
    assert_eq!(said, "context=0, create=0, import=0, map=801, info=0 64 44, map=0, info=0 64 24");
    let machine = Machine::new().limited("64M");
    let said = machine.run("proc2", "context create=40 shared map=40 info unmap release info");
    assert_eq!(
        said,
        "context=0, create=0, shared=0, map=0, info=0 64 24, unmap=0, release=0, info=0 64 24"
    );
}

#[test]
fn memory_that_somebody_else_pays_for_is_charged_no_more_until_it_is_taken_back() {
    let machine = Machine::new().limited("64M");
    // Said again, it changes nothing; the room can be used; what is freed gives nothing back.
    for (make, hand, back, free) in [
        ("alloc=40", "hand=40", "back=40", "free"),
        ("create=40 map=40 release", "handmap=40", "backmap=40", "unmap"),
    ] {
        let steps = format!("context {make} info {hand} {hand} info {free} info alloc=64 info");
        let said = machine.run("proc2", &steps);
        let (hand, back) =
            (hand.split('=').next().unwrap(), back.split('=').next().unwrap().to_owned());
        assert!(
            said.ends_with(&format!(
                "info=0 64 24, {hand}=0, {hand}=0, info=0 64 64, {free}=0, info=0 64 64, \
                 alloc=0, info=0 64 0"
            )),
            "{said}"
        );
        let steps = format!(
            "context {make} {hand}=40 {back}=40 {back}=40 info {hand}=40 {back}=40 {free} info"
        );
        let said = machine.run("proc2", &steps);
        assert!(
            said.ends_with(&format!(
                "{back}=0, {back}=0, info=0 64 24, {hand}=0, {back}=0, {free}=0, info=0 64 64"
            )),
            "{said}"
        );
        // Others have taken the room meanwhile: it is charged all the same, and nobody gets more.
        let steps = format!("context {make} {hand}=40 create=60 {back}=40 info create=2 {free}");
        let said = machine.run("proc2", &format!("{steps} info"));
        let over = format!("create=0, {back}=0, info=0 64 0, create=2, {free}=0, info=0 64 4");
        assert!(said.ends_with(&over), "{said}");
    }
    assert_eq!(machine.card_used(), 0);
}

#[test]
fn only_memory_that_is_charged_here_is_handed_over() {
    let machine = Machine::new().limited("64M");
    // Nothing there, less there than said, a part of a block that others have too, a pool's, an import.
    let said = machine.run(
        "proc2",
        "context hand=2 back=2 alloc=4 hand=8 alloc=0.004 hand=0.004 info stream async=1 hand=1 \
         create=4 import map=4 handmap=4 info",
    );
    assert!(
        said.contains("context=0, hand=1, back=1, alloc=0, hand=1, alloc=0, hand=1, "),
        "{said}"
    );
    assert!(said.contains("info=0 64 58, stream=0, async=0, hand=1, "), "{said}");
    assert!(said.ends_with("create=0, import=0, map=0, handmap=1, info=0 64 18"), "{said}");
    // An address inside says the same as the first; a context ends with what was handed over in it.
    let said = machine
        .run("proc2", "newcontext alloc=20 hand=20 endcontext context info alloc=64 free info");
    assert!(said.ends_with("info=0 64 64, alloc=0, free=0, info=0 64 64"), "{said}");
    // Without a limit the library knows of nothing, and without the library there is no such name.
    let free = Machine::new();
    assert_eq!(free.run("proc2", "context alloc=4 hand=4"), "context=0, alloc=0, hand=1");
    let mut bare = free.command("steps");
    bare.env_remove("LD_PRELOAD").args(["dlsym", "context", "alloc=4", "hand=4"]);
    let said = String::from_utf8(bare.output().unwrap().stdout).unwrap();
    assert!(said.ends_with("hand=-1\n"), "{said}");
}

#[test]
fn what_somebody_else_pays_for_is_shown_in_its_own_column() {
    let machine = Machine::new().limited("64M");
    let mut running = machine.start(
        "proc2",
        "context uuid alloc=20 create=10 map=10 wait hand=20 handmap=10 wait back=20 wait free unmap \
         release wait",
    );
    let uuid = running.said[1].strip_prefix("uuid=").unwrap().to_owned();
    let byte = |at: usize| u8::from_str_radix(&uuid[2 * at..2 * at + 2], 16).unwrap();
    let device: [u8; 16] = std::array::from_fn(byte);
    let book = millpond_ledger::Book::open(&machine.group_folder()).unwrap();
    let columns = || {
        let mut slots = Vec::new();
        book.members(|member| slots.push(member.slot)).unwrap();
        assert_eq!(slots.len(), 1);
        let reading = book.reading(slots[0], device).unwrap();
        let mib = |units: u64| (units * millpond_ledger::UNIT) >> 20;
        (mib(reading.used), mib(reading.shared))
    };
    assert_eq!(columns(), (30, 0));
    for expected in [(0, 30), (20, 10), (0, 0)] {
        running.go_on();
        assert_eq!(columns(), expected, "{:?}", running.said);
    }
    // Killed while somebody else pays, it leaves nothing.
    let mut killed = machine.start("proc2", "context alloc=40 hand=40 wait");
    killed.kill();
    running.kill();
    assert_eq!(machine.run("proc2", "context info alloc=60"), "context=0, info=0 64 64, alloc=0");
}

#[test]
fn an_exported_descriptor_that_is_kept_keeps_the_charge() {
    let machine = Machine::new().limited("64M");
    let said =
        machine.run("proc2", "context create=40 fd release info create=40 closefd info create=40");
    assert_eq!(
        said,
        "context=0, create=0, fd=0, release=0, info=0 64 24, create=2, closefd=0, info=0 64 64, create=0"
    );
    // Passed on and closed before: the usual order.
    let said = machine.run("proc2", "context create=40 fd closefd release info");
    assert_eq!(said, "context=0, create=0, fd=0, closefd=0, release=0, info=0 64 64");
}

#[test]
fn what_was_freed_in_several_streams_comes_back_with_each_of_them() {
    for devices in ["1", "2"] {
        let machine = Machine::new().limited("64M").with("MILLPOND_SOFT_DEVICES", devices);
        let said = machine.run(
            "proc2",
            "context stream alloc=20 alloc=10 afree stream afree info sync info syncall info",
        );
        assert!(
            said.ends_with("info=0 64 34, sync=0, info=0 64 54, syncall=0, info=0 64 64"),
            "{devices}: {said}"
        );
    }
}

#[test]
fn small_allocations_share_blocks() {
    let machine = Machine::new().limited("24M");
    let said =
        machine.run("proc2", "context alloc=0.004 alloc=0.004 alloc=0.004 free free free info");
    assert!(said.ends_with("info=0 24 24"), "{said}");
}

#[test]
fn small_arrays_share_blocks_of_their_context_only() {
    let machine = Machine::new().limited("24M");
    let said = machine.run(
        "proc2",
        "newcontext array=0.5 array=0.5 info newcontext array=0.5 info endarray info endcontext",
    );
    assert!(said.contains("array=0, info=0 24 22, newcontext=0, array=0, info=0 24 20"), "{said}");
    assert!(said.ends_with("endarray=0, info=0 24 22, endcontext=0"), "{said}");
    let said = machine.run("proc2", "newcontext array=0.5 array=0.5 endcontext context info");
    assert!(said.ends_with("info=0 24 24"), "{said}");
}

#[test]
fn stacks_are_charged_also_in_a_context_that_no_hook_has_seen() {
    // 64 bytes more for each of 132 x 2048 threads: 16.5 MiB.
    for context in ["context", "hidden", "newcontext", "hiddennew"] {
        let machine = Machine::new().limited("96M").with("MILLPOND_SOFT_CONTEXT_BYTES", "10M");
        let _other = machine.start("proc2", "context wait");
        let steps = format!("{context} stack=1088 info stack=1024 info stack=2048 info");
        let said = machine.run("proc2", &steps);
        assert_eq!(
            said,
            format!(
                "{context}=0, stack=0, info=0 96 59, stack=0, info=0 96 76, stack=2, info=0 96 76"
            )
        );
    }
}

#[test]
fn a_context_ends_with_all_that_it_had() {
    let machine = Machine::new().limited("64M");
    let said = machine.run("proc2", "newcontext alloc=20 array=20 endcontext context info");
    assert_eq!(said, "newcontext=0, alloc=0, array=0, endcontext=0, context=0, info=0 64 64");
    let said = machine.run("proc2", "context alloc=20 uncontext context info");
    assert_eq!(said, "context=0, alloc=0, uncontext=0, context=0, info=0 64 64");
}

#[test]
fn a_context_ends_with_what_was_opened_in_it() {
    let machine = Machine::new().limited("96M");
    let owner = machine.start("proc2", "context alloc=20 export wait");
    let handle = owner.said.last().unwrap().rsplit(' ').next().unwrap().to_owned();
    let mut other = Machine::new().limited("32M");
    other.share_devices(&machine);
    let open = format!("open={handle}");
    for (begin, end) in
        [("context", "uncontext"), ("context", "reset"), ("newcontext", "endcontext")]
    {
        let steps = format!("{begin} {open} {open} info {end} {begin} info {open} info close info");
        let said = other.run("proc2", &steps);
        assert_eq!(
            said,
            format!(
                "{begin}=0, open=0, open=0, info=0 32 12, {end}=0, {begin}=0, info=0 32 32, \
                 open=0, info=0 32 12, close=0, info=0 32 32"
            )
        );
    }
}

#[test]
fn a_context_ends_with_what_was_freed_in_its_streams() {
    for (begin, end) in
        [("context", "uncontext"), ("context", "reset"), ("newcontext", "endcontext")]
    {
        let machine = Machine::new().limited("64M");
        let steps = format!("{begin} stream alloc=20 afree {end} {begin} info");
        let said = machine.run("proc2", &steps);
        assert!(said.ends_with("info=0 64 64"), "{steps}: {said}");
        assert_eq!(machine.card_used(), 0);
    }
}

#[test]
fn contexts_count() {
    let machine = Machine::new().limited("64M").with("MILLPOND_SOFT_CONTEXT_BYTES", "10M");
    assert_eq!(machine.run("proc2", "context info"), "context=0, info=0 64 54");
    let _holder = machine.start("proc2", "context wait");
    let said = machine.run("proc2", "context info alloc=44 alloc=2");
    assert_eq!(said, "context=0, info=0 64 44, alloc=0, alloc=2");
}

#[test]
fn a_context_is_measured_by_what_it_takes() {
    let limited = || Machine::new().limited("64M").with("MILLPOND_SOFT_CONTEXT_BYTES", "10M");
    // Imports are charged, and NVML counts them to whoever made them.
    let said = limited().run("proc2", "create=20 import map=20 context info");
    assert_eq!(said, "create=0, import=0, map=0, context=0, info=0 64 14");
    let said = limited().run("proc2", "create=4 import map=4 context info");
    assert_eq!(said, "create=0, import=0, map=0, context=0, info=0 64 46");
    // One that no hook saw is taken for 16 MiB.
    let said = limited().run("proc2", "hiddennew alloc=2 info newcontext info");
    assert_eq!(said, "hiddennew=0, alloc=0, info=0 64 46, newcontext=0, info=0 64 36");
}

#[test]
fn a_limit_without_room_for_a_context_says_so_in_one_line() {
    let check = |machine: &Machine, steps: &str, words: &[&str]| {
        let said = machine.output("proc2", steps);
        let errors = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(String::from_utf8_lossy(&said.stdout).starts_with("context=2\n"), "{said:?}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(words.iter().all(|word| errors.contains(word)), "{errors}");
    };
    // A context is taken for a 16th of such a small card until one was measured.
    let machine = Machine::new().limited("8M").with("MILLPOND_SOFT_CONTEXT_BYTES", "10M");
    let words = ["the limit of 8 MiB on GPU 0", "16 MiB (what it is taken for", "larger limit"];
    check(&machine, "context context", &words);
    // Measured, and the others have the rest.
    let machine = Machine::new().limited("32M").with("MILLPOND_SOFT_CONTEXT_BYTES", "10M");
    let _other = machine.start("proc2", "context create=20 wait");
    check(&machine, "context", &["context of 10 MiB on GPU 0", "30 MiB of the limit of 32 MiB"]);
}

#[test]
fn threads_that_begin_at_once_need_one_context() {
    for _ in 0..10 {
        let machine = Machine::new().limited("40M").with("MILLPOND_SOFT_CONTEXT_BYTES", "10M");
        let said = machine.run("proc2", "contexts context info");
        assert_eq!(said, "contexts=0, context=0, info=0 40 30");
    }
}

#[test]
fn a_reset_gives_the_context_back_until_it_is_made_anew() {
    let machine = Machine::new().limited("64M").with("MILLPOND_SOFT_CONTEXT_BYTES", "10M");
    let steps = "context context alloc=20 reset wait \
                 context alloc=20 wait uncontext uncontext uncontext wait";
    let mut one = machine.start("proc2", steps);
    assert_eq!(one.said.last().unwrap(), "reset=0");
    // Another's context and this much: memory, unlike an answer, waits for those who just ended.
    let other = |mib: u32| {
        let said = machine.run("proc2", &format!("context create={mib} create=2"));
        assert_eq!(said, "context=0, create=0, create=2");
    };
    other(54);
    one.go_on();
    assert_eq!(one.said, ["context=0", "alloc=0"]);
    other(24);
    one.go_on();
    assert_eq!(one.said, ["uncontext=0"; 3]);
    other(54);
}

#[test]
fn a_primary_context_that_no_hook_has_seen_is_charged_once_and_given_back() {
    for (steps, answers) in [
        // Seen by an allocation, then held by a hooked call as well.
        (
            "hidden alloc=2 info context info unhidden uncontext context info",
            "hidden=0, alloc=0, info=0 64 42, context=0, info=0 64 42, unhidden=0, uncontext=0, \
             context=0, info=0 64 44",
        ),
        // First seen by the hooked call.
        (
            "hidden context info uncontext info alloc=2 info",
            "hidden=0, context=0, info=0 64 44, uncontext=0, info=0 64 44, alloc=0, info=0 64 42",
        ),
        // Released by a hooked call alone.
        (
            "hidden alloc=2 info uncontext context info",
            "hidden=0, alloc=0, info=0 64 42, uncontext=0, context=0, info=0 64 44",
        ),
        // Beside one of the program's own.
        (
            "newcontext info hidden alloc=2 info context info",
            "newcontext=0, info=0 64 44, hidden=0, alloc=0, info=0 64 32, context=0, info=0 64 32",
        ),
        // One of the program's own.
        (
            "hiddennew alloc=2 info context info",
            "hiddennew=0, alloc=0, info=0 64 42, context=0, info=0 64 32",
        ),
    ] {
        let machine = Machine::new().limited("64M").with("MILLPOND_SOFT_CONTEXT_BYTES", "10M");
        // An ordinary one, by which the size is known.
        let _other = machine.start("proc2", "context wait");
        assert_eq!(machine.run("proc2", steps), answers);
    }
}

#[test]
fn two_processes_share_one_limit_and_a_kill_gives_room_back() {
    let machine = Machine::new().limited("64M");
    let mut one = machine.start("proc2", "context create=40 wait alloc=10 wait");
    assert_eq!(one.said, ["context=0", "create=0"]);
    let said = machine.run("dlsym", "context create=30 create=20 info nvml total");
    assert_eq!(said, "context=0, create=2, create=0, info=0 64 4, nvml=64 4 60, total=64");
    // The other's memory went with it.
    one.go_on();
    assert_eq!(one.said, ["alloc=0"]);
    one.kill();
    assert_eq!(machine.run("dlsym", "context create=62 info"), "context=0, create=0, info=0 64 2");
}

#[test]
fn what_the_dead_held_is_soon_shown_as_free() {
    let machine = Machine::new().limited("64M");
    let mut one = machine.start("proc2", "context create=40 wait");
    let steps = format!("context {}", "wait info ".repeat(200));
    let mut other = machine.start("proc2", &steps);
    other.go_on();
    assert_eq!(other.said, ["info=0 64 24"]);
    one.kill();
    let shown = (0..198).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        other.go_on();
        other.said == ["info=0 64 64"]
    });
    assert!(shown, "{:?}", other.said);
}

#[test]
fn looking_for_the_dead_leaves_the_programs_signals_alone() {
    use millpond_ledger::{Book, BookSettings, Member, Memory, Patience};
    // As where the system has no segments.
    let machine = Machine::new().limited("64M");
    let folder = machine.group_folder();
    let above = std::path::Path::new(folder.to_str().unwrap()).parent().unwrap();
    std::fs::create_dir_all(above).unwrap();
    let settings = BookSettings { name: b"g", owner: None, everyone: false, memory: Memory::File };
    let book = Book::create(&folder, settings).unwrap();
    let patience = Patience(std::time::Duration::from_secs(10));
    let units = 64 << 20 >> 12;
    book.change(None, patience, |budget| (budget.asked, budget.effective) = (units, units))
        .unwrap();
    // So that nobody takes the group away before the programs are in it.
    let _member = Member::attach(&folder).unwrap();
    let _one = machine.start("proc2", "context create=40 wait");
    let mut other = machine.start("proc2", "context wait info wait");
    let handled = |program: &Running| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", program.pid())).unwrap();
        status.lines().find(|line| line.starts_with("SigCgt")).unwrap().to_owned()
    };
    let before = handled(&other);
    other.go_on();
    assert_eq!(other.said, ["info=0 64 24"]);
    assert_eq!(handled(&other), before);
}

#[test]
fn a_program_that_closes_every_descriptor_is_still_counted() {
    let machine = Machine::new().limited("64M");
    let _one = machine.start("proc2", "context create=40 closefds wait");
    assert_eq!(machine.run("dlsym", "create=30"), "create=2");
}

#[test]
fn children_by_fork_and_exec_are_counted_by_themselves() {
    // A child of a program that uses the driver has no driver, here as there: its own error.
    let machine = Machine::new().limited("64M");
    let said = machine.run("proc2", "context create=40 fork=40 info");
    assert_eq!(said, "context=0, create=0, child=3, info=0 64 24");
    let said = machine.run("proc2", "context create=40 exec=40 exec=20 create=24");
    assert_eq!(said, "context=0, create=0, create=2, create=0, create=0");
    // A child of a program that does not use it yet is a member like any other.
    assert_eq!(machine.run("dlsym", "fork=65 create=60"), "child=2, create=0");
    assert_eq!(machine.run("dlsym", "fork=60 create=60"), "child=0, create=0");
}

#[test]
fn a_thread_without_a_context_gets_the_drivers_own_error() {
    let machine = Machine::new().limited("64M");
    assert_eq!(
        machine.run("proc2", "context thread=1 info"),
        "context=0, thread=201, info=0 64 64"
    );
}

#[test]
fn what_is_not_known_is_the_drivers() {
    let machine = Machine::new().limited("64M");
    assert_eq!(machine.run("proc2", "context freeunknown"), "context=0, freeunknown=1");
}

#[test]
fn nonsense_gets_the_drivers_own_answers() {
    let names: Vec<_> = millpond_preload::hooked_names()
        .filter_map(|hook| hook.0.to_str().ok())
        .filter(|name| name.starts_with("cu"))
        .collect();
    for begin in [&["ready"][..], &[]] {
        let answers = |limited: bool| {
            let machine = Machine::new().limited("64M");
            let mut command = machine.command("nulls");
            if !limited {
                command.env_remove("LD_PRELOAD");
            }
            let said = command.args(begin).args(&names).output().unwrap();
            assert!(said.status.success(), "{said:?}");
            String::from_utf8(said.stdout).unwrap()
        };
        let (plain, limited) = (answers(false), answers(true));
        assert!(plain.lines().count() > 50, "{plain}");
        for (plain, limited) in plain.lines().zip(limited.lines()) {
            assert_eq!(plain, limited);
        }
        assert_eq!(plain.lines().count(), limited.lines().count());
    }
}

#[test]
fn what_the_driver_refuses_for_its_shape_is_not_out_of_memory() {
    let machine = Machine::new().limited("64M");
    let steps = "context array=4096000 mipmap=4096000 info array=80";
    let mut plain = machine.command("steps");
    plain.env_remove("LD_PRELOAD").arg("proc2").args(steps.split(' '));
    let plain = String::from_utf8(plain.output().unwrap().stdout).unwrap();
    assert!(plain.starts_with("context=0\narray=1\nmipmap=1\n"), "{plain}");
    let said = machine.run("proc2", steps);
    assert_eq!(said, "context=0, array=1, mipmap=1, info=0 64 64, array=2");
}

#[test]
fn a_limit_that_cannot_be_read_gives_no_memory_and_one_line() {
    for text in ["0", "ten", "-5G", "0.5"] {
        let machine = Machine::new().limited(text);
        let said = machine.output("proc2", "context create=1 create=1");
        assert!(said.status.success());
        assert_eq!(String::from_utf8_lossy(&said.stdout), "context=2\ncreate=2\ncreate=2\n");
        let errors = String::from_utf8_lossy(&said.stderr).into_owned();
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(errors.starts_with("millpond: MILLPOND_MEMORY_LIMIT"), "{errors}");
    }
    let quiet = Machine::new().limited("ten").with("MILLPOND_PRELOAD_LOG", "off");
    assert_eq!(quiet.output("proc2", "create=1").stderr, b"");
}

#[test]
fn a_broken_or_missing_ledger_gives_no_memory_and_one_line() {
    let machine = Machine::new().with("MILLPOND_LEDGER", "/nowhere/group");
    let said = machine.output("proc2", "create=1 create=1");
    assert_eq!(String::from_utf8_lossy(&said.stdout), "create=2\ncreate=2\n");
    let errors = String::from_utf8_lossy(&said.stderr);
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.starts_with("millpond: MILLPOND_LEDGER='/nowhere/group': "), "{errors}");
}

#[test]
fn a_ledger_that_is_spoiled_under_a_program_never_ends_it() {
    for spoil in ["truncate", "garbage", "remove"] {
        let machine = Machine::new().limited("64M");
        let steps = "context create=20 wait create=60 create=2 info release info wait";
        let mut program = machine.start("proc2", steps);
        let folder = machine.group_folder().into_string().unwrap();
        for name in ["ledger", "limits"] {
            let path = format!("{folder}/{name}");
            match spoil {
                "truncate" => std::fs::File::options().write(true).open(path).unwrap().set_len(0),
                "garbage" => std::fs::write(path, vec![0xa5; 8192]),
                _ => std::fs::remove_file(path),
            }
            .unwrap();
        }
        program.go_on();
        assert_eq!(program.said.first().unwrap(), "create=2", "{spoil}: {:?}", program.said);
        assert_eq!(program.said.get(3).unwrap(), "release=0", "{spoil}: {:?}", program.said);
        // Nobody else gets memory out of it either.
        if spoil != "remove" {
            assert!(machine.run("dlsym", "create=2").ends_with("create=2"), "{spoil}");
        }
    }
}

#[test]
fn other_peoples_variables_are_understood() {
    let machine = Machine::new()
        .limited("")
        .with("VCUDA_MEMORY_LIMIT", "61M")
        .with("VCUDA_DEVICE_NAME", "Tiny");
    assert_eq!(machine.run("dlsym", "total name"), "total=61, name=Tiny");
    let machine = Machine::new().limited("").with("CUDA_DEVICE_MEMORY_LIMIT_0", "59m");
    assert_eq!(
        machine.run("dlsym", "context total info create=60"),
        "context=0, total=59, info=0 59 59, create=2"
    );
    let machine = Machine::new().limited("25%");
    assert_eq!(machine.run("dlsym", "context total create=66"), "context=0, total=64, create=2");
}

#[test]
fn a_name_without_a_limit_limits_nothing() {
    let machine = Machine::new().with("VCUDA_DEVICE_NAME", "Tiny");
    for how in ["dlsym", "proc2", "direct"] {
        let said = machine.run(how, "name context stream create=100 async=50 info");
        assert_eq!(
            said, "name=Tiny, context=0, stream=0, create=0, async=0, info=0 256 92",
            "{how}"
        );
    }
}

#[test]
fn devices_are_known_by_uuid() {
    // A limit on CUDA's device 0, which is the machine's second.
    let machine = Machine::new()
        .limited("")
        .with("MILLPOND_SOFT_DEVICES", "2")
        .with("CUDA_VISIBLE_DEVICES", "1,0")
        .with("CUDA_DEVICE_MEMORY_LIMIT_0", "57M");
    let said = machine.run("proc2", "context create=20 createsecond=200 info nvml=0 nvml=1");
    assert_eq!(
        said,
        "context=0, create=0, createsecond=0, info=0 57 37, nvml=256 56 200, nvml=57 37 20"
    );
}

#[test]
fn threads_at_once_leave_nothing_in_the_book() {
    let machine = Machine::new().limited("96M");
    let said = machine.run("proc2", "context keep storm syncall info create=96 info");
    // The pool keeps what it has; the book knows how much, and gets it back when it is needed.
    assert!(said.starts_with("context=0, keep=0, storm=0, syncall=0, info=0 96 "), "{said}");
    assert!(said.ends_with("create=0, info=0 96 0"), "{said}");
    assert_eq!(machine.card_used(), 0);
}

#[test]
fn threads_that_make_and_destroy_pools_leave_nothing_in_the_book() {
    let machine = Machine::new().limited("128M");
    let said = machine.run("proc2", "context pools syncall info create=128");
    assert_eq!(said, "context=0, pools=0, syncall=0, info=0 128 128, create=0");
    assert_eq!(machine.card_used(), 0);
}

#[test]
fn an_allocation_is_charged_where_it_was_made_although_another_thread_chooses_a_pool() {
    let machine = Machine::new().limited("250M");
    let folder = folder().join("switching");
    let mut command = machine.command("switching/program");
    let said = command.env("LD_LIBRARY_PATH", folder).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout), "64 96\n", "{said:?}");
}

#[test]
fn what_pools_keep_is_given_back_before_anything_is_refused() {
    let machine = Machine::new().limited("96M");
    let said = machine.run("proc2", "context stream keep async=60 afree sync info create=80 info");
    assert_eq!(
        said,
        "context=0, stream=0, keep=0, async=0, afree=0, sync=0, info=0 96 32, create=0, info=0 96 16"
    );
}

#[test]
fn a_limit_changes_under_a_running_program() {
    let machine = Machine::new().limited("64M");
    let steps = "context create=40 wait create=40 info wait create=40 info wait create=2 info wait release create=2 release release create=20 wait";
    let mut program = machine.start("proc2", steps);
    let book = millpond_ledger::Book::open(&machine.group_folder()).unwrap();
    let set = |mib: u64| {
        let patience = millpond_ledger::Patience(std::time::Duration::from_secs(10));
        let units = mib << 20 >> 12;
        let change = |budget: &mut millpond_ledger::Budget| {
            (budget.asked, budget.effective) = (units, units);
        };
        book.change(None, patience, change).unwrap();
    };
    program.go_on();
    assert_eq!(program.said, ["create=2", "info=0 64 24"]);
    set(100);
    program.go_on();
    assert_eq!(program.said, ["create=0", "info=0 100 20"]);
    // Below what is held: nothing new, nothing free, and no error that a program does not know.
    set(30);
    program.go_on();
    assert_eq!(program.said, ["create=2", "info=0 30 0"]);
    program.go_on();
    assert_eq!(program.said, ["release=0", "create=2", "release=0", "release=1", "create=0"]);
}

#[test]
fn a_legacy_import_is_the_owners_within_the_group() {
    let machine = Machine::new().limited("64M");
    let mut owner = machine.start("proc2", "context alloc=20 export wait wait");
    let handle = owner.said.last().unwrap().rsplit(' ').next().unwrap().to_owned();
    let said =
        machine.run("proc2", &format!("context open={handle} open={handle} info close close info"));
    assert_eq!(said, "context=0, open=0, open=0, info=0 64 44, close=0, close=0, info=0 64 44");
    // From outside the group it is charged in full, once.
    let mut other = Machine::new().limited("32M");
    other.share_devices(&machine);
    let said = other
        .run("proc2", &format!("context open={handle} open={handle} info close info close info"));
    assert_eq!(
        said,
        "context=0, open=0, open=0, info=0 32 12, close=0, info=0 32 12, close=0, info=0 32 32"
    );
    let said = other.run("proc2", &format!("context create=20 open={handle} info"));
    assert_eq!(said, "context=0, create=0, open=2, info=0 32 12");
    owner.go_on();
}

#[test]
fn who_makes_a_group_takes_away_those_that_nobody_has_come_to_for_long() {
    let (left, living, new) = (Machine::new(), Machine::new(), Machine::new());
    let (left, living, new) = (left.limited("64M"), living.limited("64M"), new.limited("64M"));
    let folder = |machine: &Machine| PathBuf::from(machine.group_folder().to_str().unwrap());
    let there = |machine: &Machine| folder(machine).exists();
    left.run("proc2", "context create=10");
    let mut other = living.start("proc2", "context create=40 wait create=30 wait");
    assert!(there(&living));
    let make_another = || {
        new.run("proc2", "context create=10");
        let _ = std::fs::remove_dir_all(folder(&new));
    };
    make_another();
    assert!(there(&left), "somebody may come again");
    let long_ago = std::time::SystemTime::now() - millpond_ledger::REST;
    for folder in [&left, &living].map(folder) {
        for path in [folder.join("ledger"), folder.join("limits"), folder] {
            std::fs::File::open(path).unwrap().set_modified(long_ago).unwrap();
        }
    }
    // One sweep looks at some of the folders, and other programs have theirs.
    let gone = (0..100).any(|_| {
        make_another();
        !there(&left)
    });
    assert!(gone);
    // Who is in one notices nothing.
    assert!(there(&living));
    other.go_on();
    assert_eq!(other.said, ["create=2"]);
}

#[test]
fn a_refusal_is_said_the_first_and_the_tenth_time_with_its_reason() {
    let machine = Machine::new().limited("64M");
    let refused = "create=30 ".repeat(9);
    let said = machine.output("proc2", &format!("context create=40 {refused} create=30"));
    let errors = String::from_utf8_lossy(&said.stderr).into_owned();
    let lines: Vec<&str> = errors.lines().collect();
    assert_eq!(lines.len(), 2, "{errors}");
    for part in ["steps (pid ", "30 MiB of GPU 0", "40 MiB of 64 MiB", "MILLPOND_MEMORY_LIMIT"] {
        assert!(lines[0].contains(part), "{part}: {errors}");
    }
    assert!(lines[0].contains(&format!("`millpond ps --group {}`", machine.group)), "{errors}");
    assert!(lines[1].ends_with("refusal 10"), "{errors}");
    for (variable, level) in
        [("MILLPOND_PRELOAD_LOG", "error"), ("VCUDA_LOG_LEVEL", "off"), ("LIBCUDA_LOG_LEVEL", "1")]
    {
        let quiet = Machine::new().limited("64M").with(variable, level);
        assert_eq!(quiet.output("proc2", "context create=65").stderr, b"", "{variable}");
    }
}

#[test]
fn every_kind_of_memory_says_its_refusal() {
    for steps in [
        "alloc=65",
        "pitch=65",
        "managed=65",
        "create=65",
        "array=65",
        "stream async=65",
        "stream graph=65 launch",
    ] {
        let machine = Machine::new().limited("64M");
        let said = machine.output("proc2", &format!("context {steps}"));
        assert!(String::from_utf8_lossy(&said.stdout).trim().ends_with("=2"), "{steps}: {said:?}");
        let errors = String::from_utf8_lossy(&said.stderr).into_owned();
        assert_eq!(errors.lines().count(), 1, "{steps}: {errors}");
        assert!(errors.ends_with("refusal 1\n"), "{steps}: {errors}");
    }
}

#[test]
fn a_standard_error_that_is_closed_or_that_nobody_reads_harms_nothing() {
    let steps = "context create=65 create=10";
    let expected = "context=0\ncreate=2\ncreate=0\n";
    let run = |stderr: Option<std::io::PipeWriter>| {
        let machine = Machine::new().limited("64M");
        let mut command = match &stderr {
            Some(_) => machine.command("steps"),
            None => {
                let mut shell = machine.command("steps");
                let program = folder().join("steps");
                let closed = format!("exec {} \"$@\" 2>&-", program.display());
                let mut command = std::process::Command::new("sh");
                command.args(["-c", &closed, "sh"]);
                for (name, value) in shell.get_envs() {
                    match value {
                        Some(value) => command.env(name, value),
                        None => command.env_remove(name),
                    };
                }
                shell = command;
                shell
            }
        };
        command.arg("proc2").args(steps.split(' '));
        if let Some(stderr) = stderr {
            command.stderr(stderr);
        }
        let said = command.stdout(std::process::Stdio::piped()).output().unwrap();
        assert!(said.status.success(), "{said:?}");
        assert_eq!(String::from_utf8_lossy(&said.stdout), expected);
    };
    run(None);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    run(Some(writer));
    // A full pipe without a reader.
    let (_reader, mut writer) = std::io::pipe().unwrap();
    let flags = |fd: &std::io::PipeWriter, flags: i32| {
        // SAFETY: no conditions.
        unsafe { libc::fcntl(std::os::fd::AsRawFd::as_raw_fd(fd), libc::F_SETFL, flags) }
    };
    assert_eq!(flags(&writer, libc::O_NONBLOCK), 0);
    while std::io::Write::write(&mut writer, &[0; 4096]).is_ok() {}
    assert_eq!(flags(&writer, 0), 0);
    run(Some(writer));
}

#[test]
fn a_limit_larger_than_the_card_changes_nothing() {
    let machine = Machine::new().limited("100G");
    assert_eq!(machine.run("proc2", "context total info"), "context=0, total=256, info=0 256 256");
}
