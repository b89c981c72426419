//! Connections: taken, bounded, served.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::connection::Connection;
use crate::gate::{Gate, Peer};
use crate::live::READERS;

/// Connections of our own user's programs: all readers, and some more who only ask.
const OURS: usize = READERS + 100;
/// Connections of everybody else.
const OTHERS: usize = READERS + 100;
/// Those of them if nobody else can come in: enough to be told so.
const REFUSED: usize = 16;
/// How long the lines of a request may take to come, and how long a connection may stay without one.
const HEADERS_WITHIN: Duration = Duration::from_secs(30);
/// What a connection keeps of a request that is still coming, and of an answer that is not yet sent.
const BUFFER_BYTES: usize = 16 * 1024;
/// Lines of a request.
const HEADERS: usize = 64;
/// After an accept that failed, when the process has no descriptors left for example.
const PAUSE: Duration = Duration::from_millis(100);

/// Takes connections for ever.
pub async fn run(listener: TcpListener, app: Router, gate: Arc<Gate>) {
    let ours = Arc::new(Semaphore::new(OURS));
    let others = Arc::new(Semaphore::new(if gate.has_tokens() { OTHERS } else { REFUSED }));
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) if is_of_the_other_side(&error) => continue,
            Err(error) => {
                tracing::warn!("accepting a connection: {error}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Ok(peer) = peer(&stream, &gate) else { continue };
        let room = if peer.is_ours { &ours } else { &others };
        let Ok(place) = Arc::clone(room).try_acquire_owned() else {
            // Without a word: whoever does not read must not keep this waiting.
            tracing::debug!("too many connections: one is closed");
            continue;
        };
        tokio::spawn(serve(stream, peer, app.clone(), place));
    }
}

fn peer(stream: &TcpStream, gate: &Gate) -> io::Result<Peer> {
    // Answers are written whole.
    stream.set_nodelay(true)?;
    Ok(gate.peer(stream.local_addr()?, stream.peer_addr()?))
}

async fn serve(stream: TcpStream, peer: Peer, app: Router, place: OwnedSemaphorePermit) {
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(peer);
        let mut app = app.clone();
        async move { tower_service::Service::call(&mut app, request).await }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .max_buf_size(BUFFER_BYTES)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(Connection::new(stream)), service)
        .await;
    if let Err(error) = served {
        tracing::debug!("a connection ended: {error}");
    }
    drop(place);
}

/// A connection that its client has given up before it was taken.
fn is_of_the_other_side(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset)
}
