//! Who is let in.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use axum::body::Body;

use super::*;

const READER: &str = "reader-reader-reader";
const ACTOR: &str = "actor-actor-actor-actor";

fn tokens(token: &str) -> Tokens {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens");
    fs::write(&path, token).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    Tokens::read(&path).unwrap()
}

fn closed() -> Gate {
    let hosts = vec!["gpu7.example.org".to_owned()];
    Gate { user: 1000, readers: Tokens::default(), actors: Tokens::default(), hosts }
}

fn open() -> Gate {
    Gate { readers: tokens(READER), actors: tokens(ACTOR), ..closed() }
}

const OURS: Peer = Peer { is_ours: true, user: Some(1000) };
const OTHER: Peer = Peer { is_ours: false, user: Some(1001) };

fn asked(
    gate: &Gate,
    peer: Peer,
    line: &str,
    headers: &[(&str, &str)],
) -> Result<Option<Rights>, u16> {
    let (method, path) = line.split_once(' ').unwrap();
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", "127.0.0.1:7711");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::empty()).unwrap();
    gate.check(peer, &request).map_err(|refusal| refusal.into_response().status().as_u16())
}

#[test]
fn ones_own_processes_read_and_others_need_a_token() {
    let read = "GET /metrics";
    for gate in [closed(), open()] {
        assert_eq!(asked(&gate, OURS, read, &[]), Ok(Some(Rights::Read)));
    }
    assert_eq!(asked(&closed(), OTHER, read, &[]), Err(403));
    assert_eq!(asked(&closed(), OTHER, "GET /", &[]), Err(403));
    assert_eq!(asked(&open(), OTHER, read, &[]), Err(401));
    assert_eq!(asked(&open(), OTHER, read, &[("authorization", "Bearer wrong")]), Err(401));
    assert_eq!(asked(&open(), OTHER, read, &[("authorization", "Basic x")]), Err(401));
    for (token, rights) in [(READER, Rights::Read), (ACTOR, Rights::Act)] {
        let shown = format!("bearer {token}");
        assert_eq!(asked(&open(), OTHER, read, &[("authorization", &shown)]), Ok(Some(rights)));
    }
    for path in OPEN {
        assert_eq!(asked(&open(), OTHER, &format!("GET {path}"), &[]), Ok(None), "{path}");
    }
}

#[test]
fn an_action_needs_its_own_token_whoever_asks() {
    let swap = "POST /api/v1/actions/swap";
    assert_eq!(asked(&closed(), OURS, swap, &[]), Err(403));
    assert_eq!(asked(&open(), OURS, swap, &[]), Err(403));
    let reader = format!("Bearer {READER}");
    assert_eq!(asked(&open(), OURS, swap, &[("authorization", &reader)]), Err(403));
    let actor = format!("Bearer {ACTOR}");
    for peer in [OURS, OTHER] {
        let may = asked(&open(), peer, swap, &[("authorization", &actor)]);
        assert_eq!(may, Ok(Some(Rights::Act)));
    }
    let foreign = [("authorization", actor.as_str()), ("origin", "http://evil.example")];
    assert_eq!(asked(&open(), OURS, swap, &foreign), Err(403));
}

#[test]
fn a_name_that_is_not_ours_is_refused() {
    for host in ["localhost", "LOCALHOST:7711", "[::1]:7711", "10.0.0.7", "GPU7.example.org:80"] {
        assert!(asked(&closed(), OURS, "GET /", &[("host", host)]).is_ok(), "{host}");
    }
    for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:7711", "", "x:y"]
    {
        assert_eq!(asked(&closed(), OURS, "GET /", &[("host", host)]), Err(403), "{host}");
    }
}

#[test]
fn a_second_header_of_those_that_decide_is_refused() {
    for (name, value) in [
        ("host", "localhost"),
        ("origin", "http://127.0.0.1:7711"),
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-mode", "cors"),
        ("authorization", "Bearer reader-reader-reader"),
    ] {
        assert!(asked(&open(), OURS, "GET /", &[(name, value)]).is_ok(), "{name}");
        for second in [value, "http://evil.example", ""] {
            let two = [(name, value), (name, second)];
            assert_eq!(asked(&open(), OURS, "GET /", &two), Err(400), "{name}: {second}");
        }
    }
}

#[test]
fn what_another_site_has_a_browser_ask_is_refused() {
    let get = "GET /api/v1/live";
    for (name, value) in [
        ("origin", "http://evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1:8080"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        assert_eq!(asked(&closed(), OURS, get, &[(name, value)]), Err(403), "{name}: {value}");
    }
    for (name, value) in [
        ("origin", "http://127.0.0.1:7711"),
        ("origin", "https://127.0.0.1:7711"),
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-site", "none"),
    ] {
        assert!(asked(&closed(), OURS, get, &[(name, value)]).is_ok(), "{name}: {value}");
    }
    let link = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
    assert!(asked(&closed(), OURS, "GET /", &link).is_ok());
    assert_eq!(asked(&closed(), OURS, "POST /", &link), Err(403));
}

#[test]
fn only_a_connection_over_loopback_can_be_ours() {
    let gate = Gate { user: rustix::process::geteuid().as_raw(), ..closed() };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (own, peer) = (listener.local_addr().unwrap(), client.local_addr().unwrap());
    assert!(gate.peer(own, peer).is_ours);
    let elsewhere = SocketAddr::new([10, 0, 0, 7].into(), peer.port());
    assert!(!gate.peer(own, elsewhere).is_ours && !gate.peer(elsewhere, peer).is_ours);
}
