//! Each script by itself, on a real server.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use redis::{Connection, RedisResult};

use super::*;

/// A server of its own on a unix socket; killed at the end.
pub struct TestServer {
    child: Child,
    folder: tempfile::TempDir,
}

impl TestServer {
    /// None where the machine has no Redis.
    pub fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        // One program under several names; the name decides what it is, and Debian's tools have it
        // without the server's service.
        let named = ["redis-server", "redis-check-rdb"].into_iter().find(|name| {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
        });
        let started = Command::new(named.unwrap_or("redis-server"))
            .arg0("redis-server")
            .args(["--save", "", "--appendonly", "no", "--port", "0", "--unixsocket"])
            .arg(folder.path().join("s"))
            .arg("--dir")
            .arg(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        match started {
            Ok(child) => Some(Self { child, folder }),
            Err(error) => {
                println!("SKIPPED: redis-server: {error}; the package redis-tools has it");
                None
            }
        }
    }

    pub fn connect(&self) -> Connection {
        let url = format!("unix://{}", self.socket().display());
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            match redis::Client::open(url.as_str()).unwrap().get_connection() {
                Ok(connection) => return connection,
                Err(error) => assert!(Instant::now() < until, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn socket(&self) -> std::path::PathBuf {
        Path::join(self.folder.path(), "s")
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

macro_rules! server {
    () => {
        match TestServer::start() {
            Some(server) => server,
            None => return,
        }
    };
}

fn ask<T: redis::FromRedisValue>(connection: &mut Connection, line: &str) -> RedisResult<T> {
    let mut words = line.split(' ');
    let mut command = redis::cmd(words.next().unwrap());
    command.arg(words.collect::<Vec<_>>()).query(connection)
}

/// The identity of a tensor, as every hash of a bridge has one.
const ID: &str = "01234567-89ab-cdef-0123-456789abcdef";

#[test]
fn a_hash_is_written_unless_it_is_another_nodes() {
    let server = server!();
    let mut link = server.connect();
    let project = Scripts::new().project;
    let mut run = |node: &str, force: &str, count: &str| -> Option<String> {
        let mut call = project.key("tensor:X");
        call.arg(node).arg(force).arg("node").arg(node).arg("id").arg(ID);
        call.arg("refcount").arg(count).invoke(&mut link).unwrap()
    };
    assert_eq!(run("n1", "0", "1"), None);
    assert_eq!(run("n1", "0", "2"), None);
    assert_eq!(run("n2", "0", "7"), Some("n1".into()));
    assert_eq!(run("n2", "1", "8"), None);
    let mut link = server.connect();
    assert_eq!(ask::<String>(&mut link, "HGET tensor:X refcount").unwrap(), "8");
}

#[test]
fn what_no_bridge_wrote_is_neither_written_nor_removed_nor_read() {
    let server = server!();
    let mut link = server.connect();
    let scripts = Scripts::new();
    let lines = [
        "SET k text".to_owned(),
        "RPUSH k item".to_owned(),
        "HSET k theirs 1".to_owned(),
        "HSET k node n1".to_owned(),
        "HSET k node n1 id 7".to_owned(),
        format!("HSET k id {ID}"),
        format!("HSET k id {ID} node {}", "n".repeat(65)),
    ];
    for line in &lines {
        let _: () = ask(&mut link, line).unwrap();
        let before: Vec<u8> = ask(&mut link, "DUMP k").unwrap();
        for force in ["0", "1"] {
            let mut call = scripts.project.key("k");
            call.arg("n1").arg(force).arg("node").arg("n1");
            assert_eq!(call.invoke::<String>(&mut link).unwrap(), "", "{line}");
        }
        assert_eq!(scripts.remove.key("k").arg("n1").invoke::<i64>(&mut link).unwrap(), 0);
        let mut call = scripts.fields.key("k");
        let said: String = call.arg(1000).arg("node").arg("theirs").invoke(&mut link).unwrap();
        assert_eq!(said, "", "{line}");
        assert_eq!(scripts.owner.key("k").invoke::<String>(&mut link).unwrap(), "");
        assert_eq!(ask::<Vec<u8>>(&mut link, "DUMP k").unwrap(), before, "{line}");
        let _: () = ask(&mut link, "DEL k").unwrap();
    }
    assert_eq!(scripts.owner.key("k").invoke::<Option<String>>(&mut link).unwrap(), None);
}

#[test]
fn a_hash_goes_only_with_its_own_node() {
    let server = server!();
    let mut link = server.connect();
    let remove = Scripts::new().remove;
    let _: () = ask(&mut link, &format!("HSET tensor:X node n1 id {ID}")).unwrap();
    let run = |key: &str, node: &str| -> i64 {
        remove.key(key).arg(node).invoke(&mut server.connect()).unwrap()
    };
    assert_eq!((run("tensor:X", "n2"), run("tensor:none", "n1")), (0, 0));
    assert_eq!(run("tensor:X", "n1"), 1);
    assert_eq!(ask::<i64>(&mut link, "EXISTS tensor:X").unwrap(), 0);
}

#[test]
fn a_field_that_is_too_long_stays_in_the_server() {
    let server = server!();
    let mut link = server.connect();
    let scripts = Scripts::new();
    let line = format!("HSET tensor:X node n1 id {ID} dtype f32 shape {}", "x".repeat(101));
    let _: () = ask(&mut link, &line).unwrap();
    for script in [&scripts.fields, &scripts.record] {
        let mut call = script.key("tensor:X");
        let said: Vec<Option<String>> =
            call.arg(100).arg(&["dtype", "shape", "none"]).invoke(&mut link).unwrap();
        assert_eq!(said, [Some("f32".into()), None, None]);
    }
    let mut call = scripts.fields.key("none");
    assert!(call.arg(100).arg("dtype").invoke::<Vec<String>>(&mut link).unwrap().is_empty());
    let _: () = ask(&mut link, &format!("SADD names one two {}", "x".repeat(101))).unwrap();
    let mut call = scripts.names.key("names");
    let (cursor, mut names): (u64, Vec<String>) =
        call.arg(0).arg(10).arg(100).invoke(&mut link).unwrap();
    names.sort_unstable();
    assert_eq!((cursor, names), (0, vec!["one".into(), "two".into()]));
    assert_eq!(ask::<i64>(&mut link, "SCARD names").unwrap(), 2);
}

/// Answers the command in a processing list.
fn answer(link: &mut Connection, reply: &str, command: &str, gave: &str) -> RedisResult<i64> {
    let scripts = Scripts::new();
    let mut call = scripts.answer.key(reply);
    call.key("p").arg("done:").arg(command).arg(gave).arg(60_000).arg("yes").invoke(link)
}

#[test]
fn an_answer_expires_and_comes_before_the_acknowledgement() {
    let server = server!();
    let mut link = server.connect();
    let scripts = Scripts::new();
    let _: () = ask(&mut link, "LPUSH p c b a").unwrap();
    assert_eq!(answer(&mut link, "tensor:reply:1", "b", "").unwrap(), 1);
    assert_eq!(ask::<Vec<String>>(&mut link, "LRANGE p 0 -1").unwrap(), ["a", "c"]);
    assert_eq!(ask::<String>(&mut link, "LINDEX tensor:reply:1 0").unwrap(), "yes");
    let left: i64 = ask(&mut link, "PTTL tensor:reply:1").unwrap();
    assert!((1..=60_000).contains(&left), "{left}");
    let mut call = scripts.reply.key("tensor:reply:1");
    assert_eq!(call.arg(60_000).arg("more").invoke::<i64>(&mut link).unwrap(), 1);
    assert_eq!(ask::<i64>(&mut link, "LLEN tensor:reply:1").unwrap(), 2);
    let mut call = scripts.acknowledge.key("p");
    call.arg("done:").arg("c").arg("").arg(60_000);
    assert_eq!(call.invoke::<i64>(&mut link).unwrap(), 1);
    assert_eq!(ask::<Vec<String>>(&mut link, "LRANGE p 0 -1").unwrap(), ["a"]);
    assert_eq!(ask::<Vec<String>>(&mut link, "KEYS done:*").unwrap(), [""; 0]);
}

#[test]
fn an_answer_goes_only_into_a_list_that_expires_and_the_command_ends_in_any_case() {
    let server = server!();
    let mut link = server.connect();
    for line in ["SET r text", "HSET r theirs 1", "RPUSH r theirs"] {
        let _: () = ask(&mut link, line).unwrap();
        let _: () = ask(&mut link, "LPUSH p a").unwrap();
        let before: Vec<u8> = ask(&mut link, "DUMP r").unwrap();
        assert_eq!(answer(&mut link, "r", "a", "").unwrap(), 0, "{line}");
        assert_eq!(ask::<Vec<u8>>(&mut link, "DUMP r").unwrap(), before);
        assert_eq!(ask::<i64>(&mut link, "PTTL r").unwrap(), -1, "{line}");
        assert_eq!(ask::<i64>(&mut link, "EXISTS p").unwrap(), 0);
        let _: () = ask(&mut link, "DEL r").unwrap();
    }
}

#[test]
fn what_a_command_gave_is_found_with_its_repeat_and_expires() {
    let server = server!();
    let mut link = server.connect();
    let _: () = ask(&mut link, "LPUSH p a").unwrap();
    assert_eq!(answer(&mut link, "r", "a", "gave").unwrap(), 1);
    let keys: Vec<String> = ask(&mut link, "KEYS done:*").unwrap();
    let left: i64 = ask(&mut link, &format!("PTTL {}", keys[0])).unwrap();
    assert!(keys.len() == 1 && (1..=60_000).contains(&left), "{left}");
    let _: () = ask(&mut link, "LPUSH tensor:cmd a b").unwrap();
    let found = take(&mut link, 9, 1000);
    let gave: Vec<_> = found.commands.iter().map(|pushed| pushed.gave.as_deref()).collect();
    assert_eq!(gave, [Some("gave"), None]);
    assert_eq!(waiting(&mut link, 9), found);
    // Whatever else is there is nothing to go by.
    let _: () = ask(&mut link, &format!("DEL {}", keys[0])).unwrap();
    let _: () = ask(&mut link, &format!("RPUSH {} x", keys[0])).unwrap();
    assert_eq!(waiting(&mut link, 9).commands[0].gave, None);
}

#[test]
fn a_full_server_keeps_the_command() {
    let server = server!();
    let mut link = server.connect();
    let _: () = ask(&mut link, "LPUSH p a").unwrap();
    let _: () = ask(&mut link, "CONFIG SET maxmemory 1").unwrap();
    let error = answer(&mut link, "tensor:reply:1", "a", "gave").unwrap_err();
    assert_eq!(error.code(), Some("OOM"), "{error}");
    assert_eq!(ask::<i64>(&mut link, "LLEN p").unwrap(), 1);
}

#[test]
fn a_command_is_handed_over_once() {
    let server = server!();
    let mut link = server.connect();
    let forward = Scripts::new().forward;
    let _: () = ask(&mut link, "LPUSH p a").unwrap();
    let mut call = forward.key("p");
    call.key("other").arg("a");
    let _: () = ask(&mut link, "SET other text").unwrap();
    assert!(call.invoke::<i64>(&mut link).is_err());
    let _: () = ask(&mut link, "DEL other").unwrap();
    assert_eq!(call.invoke::<i64>(&mut link).unwrap(), 1);
    assert_eq!(call.invoke::<i64>(&mut link).unwrap(), 0);
    assert_eq!(ask::<i64>(&mut link, "LLEN other").unwrap(), 1);
}

fn take(link: &mut Connection, count: usize, bytes: usize) -> Taken {
    let scripts = Scripts::new();
    let mut call = scripts.take.key("tensor:cmd");
    call.key("p").arg("done:").arg(count).arg(bytes).arg(100);
    taken(call.invoke(link).unwrap()).unwrap()
}

fn waiting(link: &mut Connection, count: usize) -> Taken {
    let scripts = Scripts::new();
    let mut call = scripts.waiting.key("p");
    call.arg("done:").arg(count).arg(1000).arg(100);
    taken(call.invoke(link).unwrap()).unwrap()
}

fn texts(taken: &Taken) -> Vec<&str> {
    taken.commands.iter().map(|pushed| std::str::from_utf8(&pushed.raw).unwrap()).collect()
}

#[test]
fn commands_are_taken_in_their_order_and_found_again() {
    let server = server!();
    let mut link = server.connect();
    for command in ["1", "2", "3", "4"] {
        let _: () = ask(&mut link, &format!("LPUSH tensor:cmd {command}")).unwrap();
    }
    assert_eq!(texts(&take(&mut link, 2, 1000)), ["1", "2"]);
    assert_eq!(texts(&take(&mut link, 9, 1)), ["3"], "large ones are taken one by one");
    assert_eq!(texts(&take(&mut link, 9, 1000)), ["4"]);
    assert!(take(&mut link, 9, 1000).is_empty());
    assert_eq!(texts(&waiting(&mut link, 9)), ["1", "2", "3", "4"]);
    assert_eq!(texts(&waiting(&mut link, 1)), ["1"]);
}

#[test]
fn commands_that_are_too_long_are_removed_and_never_returned() {
    let server = server!();
    let mut link = server.connect();
    let long = |length| "x".repeat(length);
    for list in ["tensor:cmd", "p"] {
        let run = |link: &mut Connection| {
            if list == "tensor:cmd" {
                return take(link, 9, 50);
            }
            let found = waiting(link, 9);
            let _: () = ask(link, &format!("LTRIM p 0 -{}", found.commands.len() + 1)).unwrap();
            found
        };
        let push = format!("LPUSH {list} {} 1 2 {} {} 3", long(101), long(102), long(100));
        let _: () = ask(&mut link, &push).unwrap();
        let (mut all, mut removed, mut longest) = (Vec::new(), 0, 0);
        loop {
            let found = run(&mut link);
            if found.is_empty() {
                break;
            }
            all.extend(texts(&found).iter().map(|text| text.len()));
            (removed, longest) = (removed + found.removed, found.longest.max(longest));
        }
        assert_eq!((all, removed, longest), (vec![1, 1, 100, 1], 2, 102), "{list}");
        let _: () = ask(&mut link, "DEL p").unwrap();
    }
}

#[test]
fn a_wait_that_took_nothing_says_why() {
    let server = server!();
    let mut link = server.connect();
    let waited = |link: &mut Connection| -> RedisResult<Taken> {
        let scripts = Scripts::new();
        let mut call = scripts.waiting.key("p");
        call.key("tensor:cmd").arg("done:").arg(9).arg(1000).arg(100);
        call.invoke(link).and_then(taken)
    };
    assert!(waited(&mut link).unwrap().is_empty());
    let _: () = ask(&mut link, "SET tensor:cmd text").unwrap();
    assert!(waited(&mut link).unwrap_err().to_string().contains("WRONGTYPE"));
    let _: () = ask(&mut link, "DEL tensor:cmd").unwrap();
    let _: () = ask(&mut link, "CONFIG SET maxmemory 1").unwrap();
    assert_eq!(waited(&mut link).unwrap_err().code(), Some("OOM"));
}

#[test]
fn an_index_forgets_what_was_swept() {
    let server = server!();
    let mut link = server.connect();
    let _: () = ask(&mut link, "SADD tensor:index:n2 a b c").unwrap();
    let sweep = Scripts::new().sweep;
    let left: i64 =
        sweep.key("tensor:index:n2").arg(&["a", "b", "x"][..]).invoke(&mut link).unwrap();
    assert_eq!(left, 1);
}

#[test]
fn scripts_that_a_server_forgot_are_loaded_again() {
    let server = server!();
    let mut link = server.connect();
    let scripts = Scripts::new();
    scripts.load(&mut link).unwrap();
    let known = |link: &mut Connection| -> Vec<bool> {
        let sums: Vec<&str> = scripts.all().iter().map(|script| script.get_hash()).collect();
        redis::cmd("SCRIPT").arg("EXISTS").arg(sums).query(link).unwrap()
    };
    assert!(known(&mut link).iter().all(|known| *known));
    let _: () = ask(&mut link, "SCRIPT FLUSH").unwrap();
    assert!(known(&mut link).iter().all(|known| !known));
    scripts.load(&mut link).unwrap();
    assert!(known(&mut link).iter().all(|known| *known));
}
