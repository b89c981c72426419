//! Every variable and file that the library reads, also those of others, with the library itself.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use millpond_tests::place::contexts;
use millpond_tests::{Budget, Place, Tenant, binaries, is_soft, namespace, skip};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A name that no other test uses, so that nobody else's programs count.
fn group() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("compat-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Where this user's groups without a pond are.
fn home() -> PathBuf {
    format!("/dev/shm/millpond-{}", rustix::process::geteuid().as_raw()).into()
}

/// A tenant under the library with these variables. Its group is its own.
#[track_caller]
fn tenant(place: &Place, environment: &[(&str, &str)]) -> (Tenant, Cleared) {
    tenant_on(place, &[], environment)
}

#[track_caller]
fn tenant_on(place: &Place, arguments: &[&str], environment: &[(&str, &str)]) -> (Tenant, Cleared) {
    let group = group();
    let mut command = place.preloaded(binaries::tenant(), environment);
    command.env("MILLPOND_GROUP", &group).args(arguments);
    let tenant = Budget::spawn(command);
    if let Err(error) = tenant.ready() {
        panic!("{environment:?}: {error}\n{}", tenant.kill());
    }
    (tenant, Cleared(home().join(group)))
}

/// A group's folder, which goes with the value.
struct Cleared(PathBuf);

impl Drop for Cleared {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[track_caller]
fn total(place: &Place, environment: &[(&str, &str)]) -> u64 {
    tenant(place, environment).0.numbers("total")[0]
}

/// What the card has without a limit.
fn card(place: &Place) -> u64 {
    let mut tenant = Budget::spawn(place.bare(binaries::tenant()));
    tenant.ready().unwrap();
    tenant.numbers("total")[0]
}

#[test]
fn sizes_are_read_as_vcuda_and_hami_write_them() {
    let place = Place::without_a_pond();
    let card = card(&place);
    let sizes = [
        ("1048577k", GIB + KIB),
        ("1048578kb", GIB + 2 * KIB),
        ("1048579ki", GIB + 3 * KIB),
        ("1048580KiB", GIB + 4 * KIB),
        ("1025m", 1025 * MIB),
        ("1026MB", 1026 * MIB),
        ("1g", GIB),
        ("1G", GIB),
        ("1gib", GIB),
        ("1073741824", GIB),
        ("900t", card),
    ];
    for variable in ["VCUDA_MEMORY_LIMIT", "CUDA_DEVICE_MEMORY_LIMIT"] {
        for (text, bytes) in sizes {
            let seen = total(&place, &[(variable, text)]);
            // The book is in units of 4 KiB.
            let bytes = if bytes == card { card } else { bytes / 4096 * 4096 };
            assert_eq!(seen, bytes, "{variable}={text}");
        }
    }
}

#[test]
fn a_limit_of_others_is_enforced_and_seen_everywhere() {
    let place = Place::without_a_pond();
    for variable in ["VCUDA_MEMORY_LIMIT", "CUDA_DEVICE_MEMORY_LIMIT", "CUDA_DEVICE_MEMORY_LIMIT_0"]
    {
        let (mut tenant, _cleared) = tenant(&place, &[(variable, "1g")]);
        assert_eq!(tenant.numbers("info")[1], GIB, "{variable}");
        assert_eq!(tenant.numbers("nvml")[0], GIB, "{variable}");
        assert!(!tenant.takes("linear", GIB + 2 * MIB), "{variable}");
        assert!(tenant.takes("linear", 256 * MIB), "{variable}");
    }
}

#[test]
fn zero_is_none_for_hami_and_an_error_for_everybody_else() {
    let place = Place::without_a_pond();
    let card = card(&place);
    assert_eq!(total(&place, &[("CUDA_DEVICE_MEMORY_LIMIT", "0")]), card);
    assert_eq!(total(&place, &[("CUDA_DEVICE_MEMORY_LIMIT_0", "0")]), card);
    let both = [("CUDA_DEVICE_MEMORY_LIMIT", "1g"), ("CUDA_DEVICE_MEMORY_LIMIT_0", "0")];
    assert_eq!(total(&place, &both), card, "that card has none, the others have");
    for (variable, text) in [
        ("VCUDA_MEMORY_LIMIT", "0"),
        ("VCUDA_MEMORY_LIMIT", "lots"),
        ("CUDA_DEVICE_MEMORY_LIMIT", "lots"),
        ("CUDA_DEVICE_MEMORY_LIMIT_0", "-1"),
        ("CUDA_DEVICE_MEMORY_LIMIT_1", "1x"),
    ] {
        let tenant = Budget::spawn(place.preloaded(binaries::tenant(), &[(variable, text)]));
        let refused = tenant.ready().unwrap_err();
        assert!(refused.starts_with("error 2 "), "{variable}={text}: {refused}");
        let said = tenant.kill();
        assert_eq!(said.lines().count(), 1, "{variable}={text}: {said}");
        assert!(said.contains(variable) && said.contains(text), "{variable}={text}: {said}");
    }
}

#[test]
fn one_card_may_have_its_own_limit() {
    let place = Place::without_a_pond();
    let first = [("CUDA_DEVICE_MEMORY_LIMIT", "1g"), ("CUDA_DEVICE_MEMORY_LIMIT_0", "1100m")];
    assert_eq!(total(&place, &first), 1100 * MIB);
    if !is_soft() {
        // The rest takes two cards, which the software driver has wherever it runs.
        return;
    }
    let two = ("MILLPOND_SOFT_DEVICES", "2");
    let limits = [two, ("CUDA_DEVICE_MEMORY_LIMIT", "1g"), ("CUDA_DEVICE_MEMORY_LIMIT_1", "1100m")];
    for (device, bytes) in [("0", GIB), ("1", 1100 * MIB)] {
        let (mut tenant, _cleared) = tenant_on(&place, &["--device", device], &limits);
        assert_eq!(tenant.numbers("total"), [bytes], "device {device}");
        assert!(!tenant.takes("linear", bytes + 2 * MIB));
    }
    // The number is the program's own, not the machine's.
    let turned = [two, ("CUDA_VISIBLE_DEVICES", "1,0"), ("CUDA_DEVICE_MEMORY_LIMIT_1", "1g")];
    let (mut second, _cleared) = tenant_on(&place, &["--device", "1"], &turned);
    let turned_uuid = second.ask("uuid");
    assert_eq!(second.numbers("total"), [GIB]);
    let mut first = Budget::spawn(place.bare(binaries::tenant()));
    first.ready().unwrap();
    assert_eq!(first.ask("uuid"), turned_uuid);
}

#[test]
fn the_smallest_limit_of_a_group_and_all_variables_holds() {
    let place = Place::new();
    let every = [
        ("MILLPOND_MEMORY_LIMIT", "1004m"),
        ("VCUDA_MEMORY_LIMIT", "1003m"),
        ("CUDA_DEVICE_MEMORY_LIMIT_0", "1002m"),
        ("CUDA_DEVICE_MEMORY_LIMIT", "1001m"),
    ];
    // HAMi's limit of one GPU stands in place of its limit for all.
    for (count, mib) in [(1, 1004), (2, 1003), (3, 1002), (4, 1002)] {
        assert_eq!(total(&place, &every[..count]), mib * MIB);
    }
    place.limit("team", "1000M");
    let folder = place.group_folder("team");
    let ledger = [&[("MILLPOND_LEDGER", folder.to_str().unwrap())], &every[..2]].concat();
    for (group, holds) in [("1000M", 1000), ("1005M", 1003)] {
        place.limit("team", group);
        assert_eq!(total(&place, &ledger), holds * MIB);
    }
}

#[test]
fn programs_of_one_user_with_the_same_limit_share_it() {
    let place = Place::without_a_pond();
    // Odd enough to be nobody else's.
    let bytes = contexts(2, 0) + GIB + u64::from(std::process::id()) * 4096;
    let _cleared = Cleared(home().join(format!("limit-{bytes}")));
    let limit = bytes.to_string();
    let start = |variable: &str| {
        let tenant = Budget::spawn(place.preloaded(binaries::tenant(), &[(variable, &limit)]));
        tenant.ready().unwrap();
        tenant
    };
    let mut one = start("MILLPOND_MEMORY_LIMIT");
    let mut two = start("VCUDA_MEMORY_LIMIT");
    let free = one.numbers("info")[0];
    assert!(one.takes("linear", 256 * MIB));
    assert!(two.numbers("info")[0] <= free - 256 * MIB, "one budget, however it was stated");
    two.kill();
}

#[test]
fn the_name_and_the_log_are_vcudas_too() {
    let place = Place::without_a_pond();
    let (mut named, _cleared) =
        tenant(&place, &[("VCUDA_MEMORY_LIMIT", "1g"), ("VCUDA_DEVICE_NAME", "Tiny 9000")]);
    assert_eq!(named.ask("name"), "Tiny 9000");
    let said = |environment: &[(&str, &str)]| {
        let all = [&[("VCUDA_MEMORY_LIMIT", "1g")], environment].concat();
        let (mut tenant, _cleared) = tenant(&place, &all);
        assert!(!tenant.takes("linear", 2 * GIB));
        tenant.finish()
    };
    for level in ["off", "error", "err", "critical", "none"] {
        assert_eq!(said(&[("VCUDA_LOG_LEVEL", level)]), "", "{level}");
    }
    for level in ["", "warn", "info", "debug", "trace", "DEBUG"] {
        let text = said(&[("VCUDA_LOG_LEVEL", level)]);
        let says = text.contains("asked for 2048 MiB") && text.contains("VCUDA_MEMORY_LIMIT sets");
        assert!(text.starts_with("millpond: tenant (pid ") && says, "{level}: {text}");
    }
    let both = [("VCUDA_LOG_LEVEL", "debug"), ("MILLPOND_PRELOAD_LOG", "off")];
    assert_eq!(said(&both), "", "Millpond's own name wins");
}

#[test]
fn vcudas_file_needs_no_environment_and_is_raised_by_no_variable() {
    let Some(way) = namespace::unshare(&["--mount"]) else {
        skip("`unshare --mount` is not permitted here");
        return;
    };
    let place = Place::without_a_pond();
    let mut count = 0;
    let mut seen = |file: &str, environment: &[(&str, &str)]| {
        count += 1;
        let folder = place.pond.path(&format!("etc-{count}"));
        let script = namespace::with_etc(&folder, &[("vcuda/config.yaml", file)]) + "exec \"$@\"";
        let group = group();
        let mut program = place.preloaded(binaries::tenant(), environment);
        program.env("MILLPOND_GROUP", &group);
        let mut tenant = Budget::spawn(namespace::under(&way, &script, &program));
        let _cleared = Cleared(home().join(group));
        if let Err(error) = tenant.ready() {
            return (error, tenant.kill());
        }
        (tenant.ask("total"), tenant.ask("name"))
    };
    let text = |mib: u64| (mib * MIB).to_string();
    let vcuda = [("VCUDA_MEMORY_LIMIT", "1002m"), ("VCUDA_DEVICE_NAME", "Other")];
    let plain = "# vcuda\nmemory_limit: 1001m\ndevice_name: Tiny\n";
    assert_eq!(seen(plain, &[]), (text(1001), "Tiny".to_owned()));
    assert_eq!(seen(plain, &vcuda), (text(1001), "Tiny".to_owned()));
    let quoted = "memoryLimit: \"1001m\"  # a comment\ntarget_device: 'Tiny card'\n";
    assert_eq!(seen(quoted, &vcuda), (text(1001), "Tiny card".to_owned()));
    let name = "target_device_name: Third\n";
    assert_eq!(seen(name, &vcuda), (text(1002), "Third".to_owned()));
    for variable in ["MILLPOND_MEMORY_LIMIT", "CUDA_DEVICE_MEMORY_LIMIT"] {
        assert_eq!(seen(plain, &[(variable, "1000m")]).0, text(1000), "{variable}");
        assert_eq!(seen(plain, &[(variable, "1003m")]).0, text(1001), "{variable}");
    }
    let (refused, said) = seen("memory_limit: lots\n", &vcuda);
    assert!(refused.starts_with("error 2 "), "{refused}");
    assert!(said.contains("/etc/vcuda/config.yaml") && said.contains("lots"), "{said}");
}

#[test]
fn doctor_and_run_say_what_the_file_means_and_what_to_write() {
    let Some(way) = namespace::unshare(&["--mount"]) else {
        skip("`unshare --mount` is not permitted here");
        return;
    };
    let place = Place::without_a_pond();
    let group = group();
    let _cleared = Cleared(home().join(&group));
    let said = |file: &str, words: &[&str]| {
        let script = namespace::with_etc(&place.pond.path("etc"), &[("vcuda/config.yaml", file)]);
        let command = place.command(words);
        let script = script + "exec \"$@\"";
        let said = namespace::under(&way, &script, &command).output().unwrap();
        String::from_utf8([said.stdout, said.stderr].concat()).unwrap()
    };
    let doctor = &["doctor"][..];
    let run = &["run", "--group", &group, "--limit", "2G", "--", "true"][..];
    for words in [doctor, run] {
        let refused = said("{memory_limit: 1g}\n", words);
        assert!(refused.contains("config.yaml:1:"), "{refused}");
        assert!(refused.contains("write it as `memory_limit: 1g`"), "{refused}");
    }
    let understood = said("memory_limit: 1g\n", doctor);
    assert!(understood.contains("no program has more than 1 GiB of a GPU"), "{understood}");
    let understood = said("memory_limit: 1g\n", run);
    assert!(understood.contains("the smaller limit holds"), "{understood}");
}
