//! A pond in a thread: it speaks the protocol over a real socket and answers as a test says.

mod device;
mod models;
mod samples;

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use millpond_wire::message::{MoveWork, Reply, ReplyBody, Request, RequestBody};
use millpond_wire::{
    ContentHash, ErrorKind, Failure, Piece, PiecesKind, caps, runtime_dir, socket,
};
use rustix::event::PollFlags;
use tempfile::TempDir;

pub(crate) use self::device::{Act, FakeDevice, FakeSink};
pub(crate) use self::models::{FakeModels, SLAB, manifest_of};
pub(crate) use self::samples::{
    an_fd, change, event, failure, grant, grant_of, info, page, publication, status, welcome,
    welcome_of,
};
use crate::connection::{lock, ready};
use crate::link::{Link, LinkConfig};
use crate::{Pond, PondBuilder};

/// What the pond does with a request.
pub(crate) enum Does {
    /// The polite answer: a welcome, nothing refused, done.
    Polite,
    Reply(ReplyBody),
    ReplyWith(ReplyBody, Vec<OwnedFd>),
    /// Several replies to several requests.
    Replies(Vec<Reply>),
    /// These bytes, whatever they are.
    Raw(Vec<u8>),
    After(Duration, Box<Does>),
    /// Moves bytes between these and the descriptor that came along.
    Moves(Arc<Mutex<Vec<u8>>>),
    /// Decides once more, with the descriptors that came along.
    With(Decide),
    Nothing,
    HangUp,
}

type Decide = Box<dyn FnOnce(&Request, &[OwnedFd]) -> Does>;

/// Decides, from the number of the connection (counted from zero) and the request.
type Script = dyn Fn(usize, &Request) -> Does + Send + Sync;

pub(crate) struct FakePond {
    dir: TempDir,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

struct Shared {
    script: Box<Script>,
    seen: Mutex<Vec<(usize, Request)>>,
    stop: AtomicBool,
    /// Connections below this number are hung up.
    hung_up: AtomicUsize,
    connections: AtomicUsize,
}

impl FakePond {
    pub(crate) fn start(
        script: impl Fn(usize, &Request) -> Does + Send + Sync + 'static,
    ) -> FakePond {
        let dir = tempfile::tempdir().unwrap();
        let listener = socket::listen(&runtime_dir::socket(dir.path())).unwrap();
        let shared = Arc::new(Shared {
            script: Box::new(script),
            seen: Mutex::default(),
            stop: AtomicBool::new(false),
            hung_up: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
        });
        let own = Arc::clone(&shared);
        let acceptor = thread::spawn(move || {
            while !own.stop.load(Ordering::Acquire) {
                ready(listener.as_fd(), PollFlags::IN, Some(Duration::from_millis(5)));
                if let Some(client) = socket::accept(&listener).unwrap() {
                    let number = own.connections.fetch_add(1, Ordering::AcqRel);
                    let own = Arc::clone(&own);
                    thread::spawn(move || own.serve(number, &client));
                }
            }
        });
        FakePond { dir, shared, acceptor: Some(acceptor) }
    }

    /// A pond that always does what is polite.
    pub(crate) fn polite() -> FakePond {
        Self::start(|_, _| Does::Polite)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn builder(&self) -> PondBuilder {
        Pond::builder().runtime_dir(self.folder()).reconnect_timeout(Duration::from_secs(5))
    }

    pub(crate) fn link(&self) -> Arc<Link> {
        self.link_with(Duration::from_secs(10))
    }

    pub(crate) fn link_with(&self, request_timeout: Duration) -> Arc<Link> {
        Arc::new(Link::new(LinkConfig {
            socket: runtime_dir::socket(self.folder()),
            program: "test".into(),
            reconnect_timeout: Duration::from_secs(5),
            request_timeout,
        }))
    }

    /// Hangs up on everybody who is connected now.
    pub(crate) fn hang_up(&self) {
        let connections = self.shared.connections.load(Ordering::Acquire);
        self.shared.hung_up.store(connections, Ordering::Release);
    }

    /// Every request so far, with the number of its connection.
    pub(crate) fn seen(&self) -> Vec<(usize, RequestBody)> {
        lock(&self.shared.seen).iter().map(|(number, one)| (*number, one.body.clone())).collect()
    }

    pub(crate) fn requests(&self) -> Vec<(usize, Request)> {
        lock(&self.shared.seen).clone()
    }

    /// Waits until a request is among those seen.
    pub(crate) fn wait_for(&self, what: impl Fn(usize, &RequestBody) -> bool) {
        eventually(|| self.seen().iter().any(|(number, body)| what(*number, body)));
    }
}

impl Drop for FakePond {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

impl Shared {
    fn serve(&self, number: usize, client: &OwnedFd) {
        let mut buffer = vec![0; caps::MESSAGE_BYTES];
        let gone =
            || self.stop.load(Ordering::Acquire) || self.hung_up.load(Ordering::Acquire) > number;
        while !gone() {
            ready(client.as_fd(), PollFlags::IN, Some(Duration::from_millis(5)));
            let received = match socket::receive(client, &mut buffer, false) {
                Ok(Some(received)) => received,
                Ok(None) => continue,
                Err(_) => return,
            };
            let request = Request::decode(&buffer[..received.bytes]).unwrap();
            lock(&self.seen).push((number, request.clone()));
            if !act(client, &request, &received.fds, (self.script)(number, &request)) {
                return;
            }
        }
    }
}

fn act(client: &OwnedFd, request: &Request, came: &[OwnedFd], does: Does) -> bool {
    let send = |number, body, fds: &[OwnedFd]| {
        let mut builder = planus::Builder::new();
        let fds: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        // The client may be gone already.
        let _ = socket::send(client, Reply { number, body }.encode(&mut builder), &fds, true);
    };
    match does {
        Does::Polite => {
            send(request.number, polite(&request.body), &[]);
        }
        Does::Reply(body) => send(request.number, body, &[]),
        Does::ReplyWith(body, fds) => send(request.number, body, &fds),
        Does::Replies(replies) => {
            for reply in replies {
                send(reply.number, reply.body, &[]);
            }
        }
        Does::Raw(bytes) => {
            let _ = rustix::net::send(client, &bytes, rustix::net::SendFlags::NOSIGNAL);
        }
        Does::After(pause, does) => {
            thread::sleep(pause);
            return act(client, request, came, *does);
        }
        Does::Moves(bytes) => send(request.number, moves(&request.body, came, &bytes), &[]),
        Does::With(decide) => return act(client, request, came, decide(request, came)),
        Does::Nothing => {}
        Does::HangUp => return false,
    }
    true
}

fn moves(body: &RequestBody, came: &[OwnedFd], bytes: &Mutex<Vec<u8>>) -> ReplyBody {
    let RequestBody::TensorMove(one) = body else { return ReplyBody::Done };
    if let MoveWork::Pieces { kind: PiecesKind::Hash, pieces, .. } = &one.work {
        let bytes = lock(bytes);
        let at = |piece: &Piece| usize::try_from(piece.offset).unwrap();
        let hash = |piece: &Piece| {
            ContentHash::of(&bytes[at(piece)..][..usize::try_from(piece.bytes).unwrap()])
        };
        let hashes = pieces.iter().map(hash).collect();
        return ReplyBody::Moved { bytes: one.bytes, hashes };
    }
    let range =
        usize::try_from(one.offset).unwrap()..usize::try_from(one.offset + one.bytes).unwrap();
    let file = came.first().map(|fd| File::from(fd.try_clone().unwrap()));
    let mut bytes = lock(bytes);
    let moved = match one.work {
        MoveWork::Put { file_offset } => {
            file.unwrap().read_exact_at(&mut bytes[range], file_offset)
        }
        MoveWork::Get { file_offset } => file.unwrap().write_all_at(&bytes[range], file_offset),
        MoveWork::Copy { .. } | MoveWork::Zero | MoveWork::Pieces { .. } => {
            assert!(file.is_none());
            bytes[range].fill(0);
            Ok(())
        }
    };
    match moved {
        Ok(()) => ReplyBody::Moved { bytes: one.bytes, hashes: Vec::new() },
        Err(error) => ReplyBody::Failure(Failure::new(ErrorKind::File, error.to_string())),
    }
}

fn polite(body: &RequestBody) -> ReplyBody {
    match body {
        RequestBody::Hello(_) => welcome(1),
        RequestBody::Claim(_) => ReplyBody::Claimed { refused: Vec::new() },
        RequestBody::TensorPublish(publish) => {
            ReplyBody::Published { generation: publish.token.0.as_u64_pair().1 }
        }
        RequestBody::PondStatus => ReplyBody::Status(Box::new(status())),
        _ => ReplyBody::Done,
    }
}

/// Waits until something is so; fails the test if it never is.
pub(crate) fn eventually(mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(10), "it never came to be");
        thread::sleep(Duration::from_millis(2));
    }
}
