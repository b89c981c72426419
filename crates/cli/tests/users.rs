//! Ponds of users without a session, and of groups. Only root can become somebody else.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::common;

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Place, Ran, copy_program, skip};

/// Nobody's numbers, other ones in each run.
fn nobody(number: u32) -> u32 {
    500_000 + std::process::id() % 100_000 * 10 + number
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A program and folders that other users can reach.
struct Town {
    place: Place,
    program: PathBuf,
}

impl Town {
    fn new() -> Self {
        let place = Place::new();
        std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let program = place.path().join("millpond");
        copy_program(env!("CARGO_BIN_EXE_millpond"), &program);
        Self { place, program }
    }

    /// A folder that belongs to a user.
    fn folder(&self, name: &str, user: u32, mode: u32) -> PathBuf {
        let folder = self.place.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
        chown(&folder, Some(user), Some(user)).unwrap();
        folder
    }

    /// The program as another user, in these groups, without a session.
    fn run(&self, user: u32, groups: &[u32], folder: Option<&Path>, words: &[&str]) -> Ran {
        let home = self.place.path().join(format!("home-{user}"));
        if !home.exists() {
            self.folder(&format!("home-{user}"), user, 0o700);
        }
        let mut command: Command = self.place.shell("setpriv");
        command.env_remove("XDG_RUNTIME_DIR").env_remove("MILLPOND_RUNTIME_DIR");
        command.env("HOME", &home).env("MILLPOND_SOFT_DIR", home.join("soft"));
        command.envs(folder.map(|folder| ("MILLPOND_RUNTIME_DIR", folder)));
        let groups: Vec<String> = groups.iter().map(ToString::to_string).collect();
        command.args([format!("--reuid={user}"), format!("--regid={user}")]);
        command.arg(match groups.is_empty() {
            true => "--clear-groups".to_owned(),
            false => format!("--groups={}", groups.join(",")),
        });
        command.arg(&self.program).args(words).current_dir("/");
        Ran::from(command.output().unwrap())
    }
}

#[test]
fn a_user_without_a_session_has_a_pond_in_shared_memory() {
    if !is_root() {
        return skip("only root can become another user");
    }
    let town = Town::new();
    let user = nobody(1);
    let home = PathBuf::from(format!("/dev/shm/millpond-{user}"));
    let started = town.run(user, &[], None, &["serve", "--detach"]);
    assert_eq!(started.code, Some(0), "{}{}", started.stdout, started.stderr);
    assert!(started.stdout.contains(&format!("folder  {}/pond\n", home.display())));
    assert!(started.stdout.contains(".local/state/millpond/millpond.log (millpond logs)"));
    for folder in [home.clone(), home.join("pond")] {
        let found = std::fs::symlink_metadata(&folder).unwrap();
        assert_eq!((found.uid(), found.mode() & 0o7777), (user, 0o700), "{}", folder.display());
    }
    assert_eq!(town.run(user, &[], None, &["status"]).code, Some(0));
    assert_eq!(town.run(user, &[], None, &["group", "ls"]).stderr.matches("pond").count(), 0);
    let stopped = town.run(user, &[], None, &["stop"]);
    assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);

    // Somebody else was there first: with a folder, or with a link to one of the user's own.
    std::fs::remove_dir_all(&home).unwrap();
    std::fs::create_dir(&home).unwrap();
    let refused = town.run(user, &[], None, &["serve", "--detach"]);
    assert_eq!(refused.code, Some(1));
    let wanted = format!("'{}' belongs to user 0, not to you ({user})", home.display());
    assert!(refused.stderr.contains(&wanted), "{}", refused.stderr);
    let client = town.run(user, &[], None, &["status"]);
    assert!(client.stderr.contains("/run/millpond/sock"), "{}", client.stderr);
    std::fs::remove_dir(&home).unwrap();
    symlink(town.folder("elsewhere", user, 0o700), &home).unwrap();
    let refused = town.run(user, &[], None, &["serve", "--detach"]);
    assert!(refused.stderr.contains("is not a folder"), "{}", refused.stderr);
    std::fs::remove_file(&home).unwrap();
}

#[test]
fn members_of_a_group_use_a_pond_and_nobody_else_does() {
    if !is_root() {
        return skip("only root can become another user");
    }
    let town = Town::new();
    let (alice, bob, eve, team) = (nobody(2), nobody(3), nobody(4), nobody(5));
    let group = team.to_string();
    for owner in [0, alice] {
        let above = town.folder(&format!("above-{owner}"), owner, 0o755);
        let pond = above.join("pond");
        let log = above.join("log").display().to_string();
        let serve = ["serve", "--detach", "--log-file", &log, "--socket-group", &group];
        let groups = if owner == 0 { &[][..] } else { &[team][..] };
        let started = town.run(owner, groups, Some(&pond), &serve);
        assert_eq!(started.code, Some(0), "{}{}", started.stdout, started.stderr);
        let socket = std::fs::metadata(pond.join("sock")).unwrap();
        assert_eq!((socket.gid(), socket.mode() & 0o777), (team, 0o660));
        let admin = std::fs::metadata(pond.join("admin.sock")).unwrap();
        assert_eq!(admin.mode() & 0o777, 0o600);
        let create = ["tensor", "create", "x", "--dtype", "f32", "--shape", "4"];
        let made = town.run(bob, &[team], Some(&pond), &create);
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        assert_ne!(town.run(eve, &[], Some(&pond), &["status"]).code, Some(0));
        let stop = town.run(bob, &[team], Some(&pond), &["stop"]);
        assert_eq!(stop.code, Some(5), "{}", stop.stderr);
        assert!(stop.stderr.contains("belongs to "), "{}", stop.stderr);
        let stop = town.run(owner, groups, Some(&pond), &["stop"]);
        assert_eq!(stop.code, Some(0), "{}", stop.stderr);
    }
    let above = town.folder("not-a-member", alice, 0o755);
    let serve = ["serve", "--socket-group", &group];
    let refused = town.run(alice, &[], Some(&above.join("pond")), &serve);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("only root and members"), "{}", refused.stderr);
}

/// A pond of root's whose socket a UNIX group may use.
struct Shared {
    town: Town,
    pond: PathBuf,
    team: u32,
}

impl Shared {
    fn start(number: u32, more: &[&str]) -> Self {
        let (town, team) = (Town::new(), nobody(number));
        let above = town.folder("above", 0, 0o755);
        let (pond, log, group) = (above.join("pond"), above.join("log"), team.to_string());
        let log = log.display().to_string();
        let serve = ["serve", "--detach", "--log-file", &log, "--socket-group", &group];
        let started = town.run(0, &[], Some(&pond), &[&serve, more].concat());
        assert_eq!(started.code, Some(0), "{}{}", started.stdout, started.stderr);
        Self { town, pond, team }
    }

    fn run(&self, user: u32, words: &[&str]) -> Ran {
        let groups = [self.team];
        let groups = if user == 0 { &[][..] } else { &groups[..] };
        self.town.run(user, groups, Some(&self.pond), words)
    }

    fn done(&self, user: u32, words: &[&str]) -> String {
        let ran = self.run(user, words);
        assert_eq!(ran.code, Some(0), "{words:?}: {}{}", ran.stdout, ran.stderr);
        ran.stdout
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.run(0, &["stop"]);
    }
}

#[test]
fn a_bare_name_is_ones_own_whatever_others_put_under_public() {
    if !is_root() {
        return skip("only root can become another user");
    }
    let (alice, bob) = (nobody(6), nobody(7));
    let shared = Shared::start(8, &["--public-writers", &bob.to_string()]);
    let zeroes = shared.town.place.path().join("zeroes");
    std::fs::write(&zeroes, [0; 16]).unwrap();
    std::fs::set_permissions(&zeroes, std::fs::Permissions::from_mode(0o644)).unwrap();
    let zeroes = zeroes.display().to_string();
    let put = |name| ["tensor", "put", name, &zeroes, "--dtype", "u8", "--share", "everybody"];
    let got = shared.town.folder("alices", alice, 0o700).join("got.npy");
    let file = got.display().to_string();
    std::thread::scope(|scope| {
        // Waits for what is alice's, and gets it, although bob's is there first.
        let waits = scope.spawn(|| {
            shared.run(alice, &["tensor", "get", "acts/x", "-o", &file, "--wait", "60s"])
        });
        shared.done(bob, &put("public/acts/x"));
        let refused = shared.run(alice, &["tensor", "inspect", "acts/x"]);
        assert_eq!(refused.code, Some(3), "{}{}", refused.stdout, refused.stderr);
        let hint = format!("`public/acts/x` exists and belongs to user {bob}");
        assert!(refused.stderr.contains(&hint), "{}", refused.stderr);
        shared.done(alice, &["tensor", "inspect", "public/acts/x"]);
        let create = ["tensor", "create", "acts/x", "--dtype", "f32", "--shape", "9", "--zero"];
        shared.done(alice, &create);
        let waited = waits.join().unwrap();
        assert_eq!(waited.code, Some(0), "{}", waited.stderr);
    });
    let got = std::fs::read(got).unwrap();
    assert!(got.windows(4).any(|part| part == b"(9,)"), "it is bob's");
    for (user, code) in [(alice, 5), (bob, 0), (0, 0)] {
        let name = format!("public/of-{user}");
        let create = ["tensor", "create", &name, "--dtype", "u8", "--shape", "1", "--zero"];
        let made = shared.run(user, &create);
        assert_eq!(made.code, Some(code), "{}", made.stderr);
        assert_eq!(made.stderr.contains("`public_writers`"), code == 5, "{}", made.stderr);
    }
}

#[test]
fn two_users_have_a_group_of_the_same_name_each() {
    if !is_root() {
        return skip("only root can become another user");
    }
    let (alice, bob) = (nobody(6), nobody(7));
    let shared = Shared::start(9, &[]);
    // A library that is in every program anyway: here only the way to the group is looked at.
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut files = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    let library = shared.town.program.with_file_name("libmillpond_preload.so");
    std::fs::copy(files.find(|path| path.contains("libc.so")).unwrap(), &library).unwrap();
    for (user, limit) in [(bob, "1G"), (alice, "2G")] {
        let run = ["run", "--group", "train", "--limit", limit, "--", "true"];
        shared.done(user, &run);
    }
    let names = shared.done(0, &["group", "ls", "-q"]);
    for user in [alice, bob] {
        assert!(names.lines().any(|name| name == format!("~{user}/train")), "{names}");
    }
    let own = shared.done(alice, &["group", "ls", "train", "--json"]);
    assert!(own.contains(&format!("\"~{alice}/train\"")), "{own}");
    // The operator's is found by those who are in it.
    shared.done(0, &["group", "set", "train", "--limit", "4G", "--user", &bob.to_string()]);
    let found = shared.done(bob, &["group", "ls", "train", "-q"]);
    assert_eq!(found, "train\n");
    shared.done(0, &["group", "rm", &format!("~{alice}/train")]);
}

#[test]
fn names_that_nobody_can_tell_apart_are_refused() {
    if !is_root() {
        return skip("only root can become another user");
    }
    let shared = Shared::start(11, &[]);
    let create = |name| ["tensor", "create", name, "--dtype", "u8", "--shape", "1", "--zero"];
    shared.done(0, &create("llama"));
    for (name, part) in [
        ("llama\u{200b}", "U+200B at character 6"),
        ("\u{202e}amall", "U+202E at character 1"),
        ("lla\u{ad}ma", "U+00AD at character 4"),
        ("e\u{301}t", "normal form"),
    ] {
        let refused = shared.run(0, &create(name));
        assert_ne!(refused.code, Some(0), "{name:?}");
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    }
}
