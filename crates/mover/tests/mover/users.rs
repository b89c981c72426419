//! A mover that works for several users. Only root can become another one.

use std::fs::{File, OpenOptions, Permissions};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt, chown};

use millpond_mover::channel::{FromMover, Job, Rights, ToMover, Why, Work};

use crate::world::{EPOCH, MIB, Mover, Slab, get, in_own_world, in_soft_world, own_rights, put};

const USER: u32 = 2101;

fn is_root() -> bool {
    own_rights().user == 0
}

fn skip() {
    let _ = writeln!(std::io::stderr(), "SKIPPED: only root can become another user");
}

/// Has a job done for a user, and returns its answer.
fn for_user(mover: &Mover, user: u32, work: Work, file: &File) -> FromMover {
    let by = Rights { user, group: user, groups: vec![user + 1] };
    let job = ToMover::Job(Job { job: 500, epoch: EPOCH, by, work });
    mover.say(&job, Some(file.as_fd()));
    mover.hear()
}

fn is_done(answer: &FromMover) -> bool {
    matches!(answer, FromMover::Done { job: 500, .. })
}

fn slab_of(world: &crate::world::World, mover: &Mover) -> Slab {
    let slab = world.slab(2 * MIB);
    mover.map(&slab);
    slab
}

#[test]
fn a_write_for_a_user_is_that_users_write() {
    in_own_world(|world| {
        if !is_root() {
            return skip();
        }
        let mover = Mover::start(world);
        let slab = slab_of(world, &mover);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        for (user, mode) in [(USER, 0o777), (0, 0o777)] {
            std::fs::write(&path, "program").unwrap();
            chown(&path, Some(2999), Some(2999)).unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(0o4777)).unwrap();
            let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
            assert!(is_done(&for_user(&mover, user, get(&slab, 0, 4096, 0), &file)));
            let found = std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
            assert_eq!(found, mode, "written for {user}, whom nobody gives a set-uid file");
            assert!(is_done(&for_user(&mover, user, put(&slab, 0, 4096, 0), &file)));
        }
    });
}

#[test]
fn a_mover_has_no_rights_but_to_become_a_user() {
    in_own_world(|world| {
        let mut mover = Mover::start(world);
        let slab = slab_of(world, &mover);
        let source = world.file("source", &[7; 4096]);
        mover.done(put(&slab, 0, 4096, 0), Some(&source));
        let tasks = format!("/proc/{}/task", mover.spawned.child.id());
        for task in std::fs::read_dir(tasks).unwrap() {
            let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
            if !status.starts_with("Name:\tmillpond") {
                continue;
            }
            for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
                let line = status.lines().find_map(|line| line.strip_prefix(set)).unwrap();
                let rights = u64::from_str_radix(line.trim(), 16).unwrap();
                assert_eq!(rights & !0xc0, 0, "{set} {line}");
            }
        }
    });
}

#[test]
fn files_of_the_kernel_are_denied_by_name() {
    in_own_world(|world| {
        let mover = Mover::start(world);
        let slab = slab_of(world, &mover);
        let file = File::open("/proc/self/stat").unwrap();
        let answer = for_user(&mover, own_rights().user, put(&slab, 0, 1, 0), &file);
        let FromMover::JobFailed { why: Why::Denied, text, .. } = answer else {
            panic!("{answer:?}")
        };
        assert!(text.contains("file system 'proc'"), "{text}");
    });
}

#[test]
fn a_slab_that_was_cut_short_is_told_and_others_are_moved() {
    in_soft_world(|world| {
        let mut mover = Mover::start(world);
        let (cut, whole) = (slab_of(world, &mover), slab_of(world, &mover));
        let source = world.file("source", &[7; 4096]);
        rustix::fs::ftruncate(&cut.fd, 0).unwrap();
        let (why, text) = mover.fails(put(&cut, 0, 4096, 0), Some(&source));
        assert!(why == Why::File && text.contains("cut short"), "{text}");
        mover.done(put(&whole, 0, 4096, 0), Some(&source));
    });
}
