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

use crate::connection::Connection;
use crate::gate::{Gate, Peer};
use crate::seats::{Seat, Seats, Source};

/// How long the lines of a request may take to come, and how long a connection may stay without one.
const HEADERS_WITHIN: Duration = Duration::from_secs(5);
/// What a connection keeps of a request that is still coming, and of an answer that is not yet sent.
const BUFFER_BYTES: usize = 16 * 1024;
/// What the kernel keeps of an answer, doubled for its own needs. By itself it would keep megabytes for each reader.
const SEND_BYTES: usize = 64 * 1024;
/// Lines of a request.
const HEADERS: usize = 64;
/// After an accept that failed, when the process has no descriptors left for example.
const PAUSE: Duration = Duration::from_millis(100);

/// Takes connections for ever.
pub async fn run(listener: TcpListener, app: Router, gate: Arc<Gate>) {
    let seats = Seats::default();
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
        let Ok((peer, source)) = peer(&stream, &gate) else { continue };
        let Some(seat) = seats.enter(source) else {
            // Without a word: a client that does not read must not keep this waiting.
            tracing::debug!("too many connections: one is closed");
            continue;
        };
        tokio::spawn(serve(stream, peer, app.clone(), Arc::new(seat)));
    }
}

/// The other end, and the source that its connection counts for: none for one of our own.
fn peer(stream: &TcpStream, gate: &Gate) -> io::Result<(Peer, Option<Source>)> {
    // Answers are written whole.
    stream.set_nodelay(true)?;
    rustix::net::sockopt::set_socket_send_buffer_size(stream, SEND_BYTES)?;
    let address = stream.peer_addr()?;
    let peer = gate.peer(stream.local_addr()?, address);
    let source = (!peer.is_ours).then(|| Source::of(peer.user, address.ip()));
    Ok((peer, source))
}

async fn serve(stream: TcpStream, peer: Peer, app: Router, seat: Arc<Seat>) {
    let closer = seat.closer.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(peer);
        request.extensions_mut().insert(Arc::clone(&seat));
        let mut app = app.clone();
        async move { tower_service::Service::call(&mut app, request).await }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .max_buf_size(BUFFER_BYTES)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(Connection::new(stream)), service);
    tokio::select! {
        served = serving => if let Err(error) = served {
            tracing::debug!("a connection ended: {error}");
        },
        () = closer.closed() => tracing::debug!("a connection is closed: others need its seat or its memory"),
    }
}

/// A connection that its client has given up before it was taken.
fn is_of_the_other_side(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset)
}
