//! What limits promise, and what must not break a program that lives under one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use std::os::unix::fs::FileExt;

use millpond_tests::{Budget, Preload, Tenant, eventually_equal, is_soft, uuid};

const MIB: u64 = 1 << 20;

/// A tenth of a limit: more than a driver's own small change.
fn chunk() -> u64 {
    if is_soft() { 32 * MIB } else { 512 * MIB }
}

/// Room for a context and more.
fn limit() -> u64 {
    10 * chunk()
}

fn kinds() -> impl Iterator<Item = &'static str> {
    ["linear", "pitch", "managed", "async", "pool", "vmm", "handle", "array", "mipmap", "graph"]
        .into_iter()
}

#[test]
fn a_program_sees_its_limit_as_the_card() {
    for by in ["dlsym", "procaddress"] {
        let budget = Budget::new(limit());
        let mut tenant = budget.tenant_with(&["--by", by]);
        let device = uuid(&mut tenant);
        assert_eq!(tenant.numbers("total"), [limit()]);
        for step in ["before", "while it holds some", "after"] {
            let charged = budget.charged(device);
            assert_eq!(tenant.numbers("info"), [limit() - charged, limit()], "{by}, {step}");
            let nvml = tenant.numbers("nvml");
            assert_eq!(nvml[..3], [limit(), limit() - charged, charged], "{by}, {step}");
            match step {
                "before" => assert!(tenant.takes("linear", chunk())),
                _ => drop(tenant.ask("free all")),
            }
        }
    }
}

#[test]
fn every_kind_is_charged_refused_and_given_back() {
    for by in ["dlsym", "procaddress"] {
        let budget = Budget::new(limit());
        let mut tenant = budget.tenant_with(&["--by", by]);
        let device = uuid(&mut tenant);
        let before = budget.charged(device);
        for kind in kinds() {
            assert!(!tenant.takes(kind, limit() + chunk()), "{by}, {kind}: more than there is");
            assert_eq!(budget.charged(device), before, "{by}, {kind}: a refusal costs nothing");
            assert!(tenant.takes(kind, chunk()), "{by}, {kind}");
            let charged = budget.charged(device) - before;
            assert!(charged >= chunk(), "{by}, {kind}: {charged} charged");
            let mut count = 1;
            while tenant.takes(kind, chunk()) {
                count += 1;
                assert!(count <= 10, "{by}, {kind}: no end");
            }
            assert!(budget.charged(device) <= limit(), "{by}, {kind}");
            tenant.ask("free all");
            tenant.ask("trim");
            eventually_equal(&format!("{by}, {kind}: given back"), &before, || {
                budget.charged(device)
            });
        }
    }
}

#[test]
fn contexts_are_memory_too() {
    let context = if is_soft() { chunk() } else { 500 * MIB };
    let bytes = context.to_string();
    let budget = Budget::with(limit(), &Preload::Right, &[("MILLPOND_SOFT_CONTEXT_BYTES", &bytes)]);
    let mut tenant = budget.tenant();
    let device = uuid(&mut tenant);
    let one = budget.charged(device);
    assert!(one >= context, "{one}");
    let mut count = 1;
    while tenant.takes("context", 0) {
        count += 1;
        assert!(count <= 11, "no end");
    }
    assert_eq!(budget.charged(device), count * one);
    tenant.ask("free all");
    assert_eq!(budget.charged(device), one);
}

#[test]
fn what_a_killed_program_held_is_there_again() {
    let budget = Budget::new(limit());
    let mut other = budget.tenant();
    let device = uuid(&mut other);
    let alone = budget.charged(device);
    for kind in kinds() {
        // Of many threads, as programs are: they do not all end at once.
        let mut tenant = budget.tenant_with(&["--threads", "8"]);
        while tenant.takes(kind, chunk()) {}
        assert!(!other.takes("linear", 2 * chunk()), "{kind}: nothing is left");
        tenant.kill();
        // Not refused first: a program that asks right after a kill waits for the driver.
        assert!(other.takes("linear", 2 * chunk()), "{kind}");
        other.ask("free all");
        assert_eq!(budget.charged(device), alone, "{kind}");
    }
}

#[test]
fn children_have_accounts_of_their_own() {
    let budget = Budget::new(limit());
    let mut tenant = budget.tenant();
    let device = uuid(&mut tenant);
    assert!(tenant.takes("linear", chunk()));
    let before = budget.charged(device);
    // Without exec CUDA does not work, whatever it answers; it must not change the parent's account.
    let forked = tenant.ask(&format!("fork {}", chunk()));
    assert!(!forked.starts_with("signal"), "{forked}");
    eventually_equal("after a fork", &before, || budget.charged(device));
    let answer = tenant.ask(&format!("exec {}", chunk()));
    assert!(answer.starts_with("ok "), "{answer}");
    eventually_equal("after a child with exec", &before, || budget.charged(device));
    let refused = tenant.ask(&format!("exec {}", limit()));
    assert!(refused.starts_with("error 2 "), "{refused}");
    assert!(tenant.takes("linear", chunk()), "the parent goes on");
}

#[test]
fn a_thread_without_a_context_does_no_harm() {
    let budget = Budget::new(limit());
    let mut tenant = budget.tenant();
    let device = uuid(&mut tenant);
    let before = budget.charged(device);
    let refused = tenant.try_ask(&format!("thread linear {}", chunk())).unwrap_err();
    assert!(refused.starts_with("201 "), "as the driver says it: {refused}");
    assert_eq!(budget.charged(device), before);
    tenant.ask(&format!("thread handle {}", chunk()));
    assert_eq!(budget.charged(device), before + chunk(), "physical memory needs no context");
}

#[test]
fn a_limit_moves_under_a_running_program() {
    let budget = Budget::new(limit());
    let mut tenant = budget.tenant();
    let device = uuid(&mut tenant);
    assert!(tenant.takes("linear", 2 * chunk()));
    for _ in 0..20 {
        budget.set_limit(None, budget.charged(device));
        assert!(!tenant.takes("linear", chunk()), "lowered: from the next allocation on");
        assert_eq!(tenant.numbers("info")[0], 0);
        budget.set_limit(None, budget.charged(device) / 2);
        assert!(!tenant.takes("linear", chunk()), "below what is held");
        let [free, total] = tenant.numbers("info")[..] else { panic!() };
        assert_eq!((free, total), (0, budget.charged(device) / 2), "no error, no underflow");
        budget.set_limit(None, limit());
        assert!(tenant.takes("linear", chunk()), "raised: at once");
        tenant.ask("free all");
        assert!(tenant.takes("linear", 2 * chunk()));
    }
}

#[test]
fn hundreds_of_processes_share_one_limit() {
    let count: u64 = if is_soft() { 500 } else { 100 };
    let page = 2 * MIB;
    // Two in three get their page.
    let budget = Budget::new(count * 2 / 3 * page);
    let mut tenants: Vec<Tenant> =
        (0..count).map(|_| Budget::spawn(budget.command(&["--no-context"]))).collect();
    for tenant in &tenants {
        tenant.ready().unwrap();
    }
    let device = uuid(&mut tenants[0]);
    for tenant in &mut tenants {
        tenant.tell(&format!("alloc handle {page}"));
    }
    let got = tenants.iter().filter(|tenant| tenant.answer().is_ok()).count();
    assert_eq!(u64::try_from(got).unwrap(), count * 2 / 3);
    assert_eq!(budget.charged(device), count * 2 / 3 * page);
    drop(tenants);
    eventually_equal("all are gone", &0, || budget.charged(device));
}

/// Whatever happens to the files, programs go on with what they have, and get nothing new.
fn spoiled(how: &str, spoil: impl Fn(&Budget)) {
    let budget = Budget::new(limit());
    let mut holder = budget.tenant();
    assert!(holder.takes("linear", chunk()), "{how}");
    spoil(&budget);
    let mut asker = budget.command(&[]);
    asker.env("MILLPOND_PRELOAD_LOG", "error");
    // What was promised already may still be used; then there is no more.
    let mut count = 0;
    while holder.takes("linear", chunk()) {
        count += 1;
        assert!(count <= 10, "{how}: no end");
    }
    holder.ask("info");
    holder.ask("free all");
    let said = holder.finish();
    assert_eq!(said.lines().count(), 1, "{how}: one line, not '{said}'");
    // A program that starts now has no context, or no memory; it is not killed either.
    let mut late = Budget::spawn(asker);
    match late.ready() {
        Ok(()) => assert!(!late.takes("linear", chunk()), "{how}: memory without an account"),
        Err(error) => assert!(error.starts_with("error 2 "), "{how}: {error}"),
    }
}

#[test]
fn a_removed_ledger_is_no_way_to_memory() {
    spoiled("removed", |budget| std::fs::remove_file(budget.group().join("ledger")).unwrap());
}

#[test]
fn a_removed_group_is_no_way_to_memory() {
    spoiled("folder removed", |budget| std::fs::remove_dir_all(budget.group()).unwrap());
}

#[test]
fn a_truncated_ledger_is_no_way_to_memory() {
    for length in [0, 100, 5000] {
        spoiled(&format!("truncated to {length}"), |budget| {
            let path = budget.group().join("ledger");
            std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
        });
    }
}

#[test]
fn a_ledger_of_garbage_is_no_way_to_memory() {
    spoiled("garbage", |budget| {
        let file = std::fs::OpenOptions::new().write(true).open(budget.group().join("ledger"));
        let file = file.unwrap();
        let length = usize::try_from(file.metadata().unwrap().len()).unwrap();
        file.write_all_at(&vec![0xa5; length], 0).unwrap();
    });
}

#[test]
fn broken_limits_are_no_way_to_memory() {
    spoiled("limits of garbage", |budget| {
        let file = std::fs::OpenOptions::new().write(true).open(budget.group().join("limits"));
        let file = file.unwrap();
        let length = usize::try_from(file.metadata().unwrap().len()).unwrap();
        file.write_all_at(&vec![0xa5; length], 0).unwrap();
    });
}

/// Slots belong to whoever may write the file: what they say is a claim.
#[test]
fn nonsense_in_the_slots_crashes_nobody() {
    let budget = Budget::in_file(limit());
    let mut tenants: Vec<Tenant> = (0..3).map(|_| budget.tenant()).collect();
    let device = uuid(&mut tenants[0]);
    let path = budget.group().join("ledger");
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    let length = usize::try_from(file.metadata().unwrap().len()).unwrap();
    for pattern in [0xff, 0x00, 0x80, 0x01] {
        // All but the header and the table of devices.
        file.write_all_at(&vec![pattern; length - 4096], 4096).unwrap();
        for tenant in &mut tenants {
            let _ = tenant.try_ask(&format!("alloc linear {}", chunk()));
            let [free, total] = tenant.numbers("info")[..] else { panic!() };
            assert!(free <= total && total == limit(), "{pattern:x}: {free} of {total}");
            let _ = tenant.try_ask("free all");
            tenant.numbers("nvml");
        }
        let _ = budget.charged(device);
    }
    for tenant in tenants {
        tenant.finish();
    }
    let mut late = budget.tenant();
    assert!(late.takes("linear", chunk()), "the dead are not counted");
}
