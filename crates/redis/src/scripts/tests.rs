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

#[test]
fn a_hash_is_written_unless_it_is_another_nodes() {
    let server = server!();
    let mut link = server.connect();
    let project = Scripts::new().project;
    let mut run = |node: &str, force: &str, count: &str| -> Option<String> {
        let mut call = project.key("tensor:X");
        call.arg(node).arg(force).arg("node").arg(node).arg("refcount").arg(count);
        call.invoke(&mut link).unwrap()
    };
    assert_eq!(run("n1", "0", "1"), None);
    assert_eq!(run("n1", "0", "2"), None);
    assert_eq!(run("n2", "0", "7"), Some("n1".into()));
    assert_eq!(run("n2", "1", "8"), None);
    let mut link = server.connect();
    assert_eq!(ask::<String>(&mut link, "HGET tensor:X refcount").unwrap(), "8");
    let _: () = ask(&mut link, "DEL tensor:X").unwrap();
    let _: () = ask(&mut link, "SET tensor:X junk").unwrap();
    assert_eq!(run("n1", "0", "3"), None, "what is no hash is written over");
    assert_eq!(ask::<String>(&mut link, "HGET tensor:X node").unwrap(), "n1");
}

#[test]
fn a_hash_goes_only_with_its_own_node() {
    let server = server!();
    let mut link = server.connect();
    let remove = Scripts::new().remove;
    let _: () = ask(&mut link, "HSET tensor:X node n1").unwrap();
    let _: () = ask(&mut link, "SET tensor:S text").unwrap();
    let run = |key: &str, node: &str| -> i64 {
        remove.key(key).arg(node).invoke(&mut server.connect()).unwrap()
    };
    assert_eq!((run("tensor:X", "n2"), run("tensor:S", "n1"), run("tensor:none", "n1")), (0, 0, 0));
    assert_eq!(run("tensor:X", "n1"), 1);
    assert_eq!(ask::<i64>(&mut link, "EXISTS tensor:X tensor:S").unwrap(), 1);
}

#[test]
fn an_answer_expires_and_comes_before_the_acknowledgement() {
    let server = server!();
    let mut link = server.connect();
    let scripts = Scripts::new();
    let _: () = ask(&mut link, "LPUSH p c b a").unwrap();
    let mut call = scripts.answer.key("tensor:reply:1");
    call.key("p").arg("yes").arg(60_000).arg("b");
    assert_eq!(call.invoke::<i64>(&mut link).unwrap(), 1);
    assert_eq!(ask::<Vec<String>>(&mut link, "LRANGE p 0 -1").unwrap(), ["a", "c"]);
    assert_eq!(ask::<String>(&mut link, "LINDEX tensor:reply:1 0").unwrap(), "yes");
    let left: i64 = ask(&mut link, "PTTL tensor:reply:1").unwrap();
    assert!((1..=60_000).contains(&left), "{left}");
    let _: () = ask(&mut link, "SET tensor:reply:2 junk").unwrap();
    let mut call = scripts.reply.key("tensor:reply:2");
    assert_eq!(call.arg("no").arg(5_000).invoke::<i64>(&mut link).unwrap(), 1);
    assert_eq!(scripts.acknowledge.key("p").arg("c").invoke::<i64>(&mut link).unwrap(), 1);
    assert_eq!(scripts.acknowledge.key("p").arg("c").invoke::<i64>(&mut link).unwrap(), 0);
}

#[test]
fn a_full_server_keeps_the_command() {
    let server = server!();
    let mut link = server.connect();
    let _: () = ask(&mut link, "LPUSH p a").unwrap();
    let _: () = ask(&mut link, "CONFIG SET maxmemory 1").unwrap();
    let scripts = Scripts::new();
    let mut call = scripts.answer.key("tensor:reply:1");
    call.key("p").arg("yes").arg(60_000).arg("a");
    let error = call.invoke::<i64>(&mut link).unwrap_err();
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
    assert_eq!(call.invoke::<i64>(&mut link).unwrap(), 1);
    assert_eq!(call.invoke::<i64>(&mut link).unwrap(), 0);
    assert_eq!(ask::<i64>(&mut link, "LLEN other").unwrap(), 1);
}

#[test]
fn commands_are_taken_in_their_order_and_found_again() {
    let server = server!();
    let mut link = server.connect();
    let scripts = Scripts::new();
    for command in ["1", "2", "3", "4"] {
        let _: () = ask(&mut link, &format!("LPUSH tensor:cmd {command}")).unwrap();
    }
    let mut run = |count: usize, bytes: usize| -> Vec<String> {
        let mut call = scripts.take.key("tensor:cmd");
        call.key("p").arg(count).arg(bytes).invoke(&mut link).unwrap()
    };
    assert_eq!(run(2, 1000), ["1", "2"]);
    assert_eq!(run(9, 1), ["3"], "large ones are taken one by one");
    assert_eq!((run(9, 1000), run(9, 1000)), (vec!["4".to_owned()], vec![]));
    let waiting = |count: usize| -> Vec<String> {
        scripts.waiting.key("p").arg(count).arg(1000).invoke(&mut server.connect()).unwrap()
    };
    assert_eq!(waiting(9), ["1", "2", "3", "4"]);
    assert_eq!(waiting(1), ["1"]);
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
