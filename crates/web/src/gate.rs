//! Who may ask, and from where.
//!
//! A connection over loopback whose process is root's or the runner's may read. Everybody else shows a
//! token. An action needs a token of its own, whoever asks: a page of a stranger in a browser of the right
//! user comes from the right user too.
//!
//! Against such pages: the name in `Host` must be one of ours, or a name of the stranger's could lead here
//! (DNS rebinding); an `Origin` must be ours; and what a browser asks on behalf of another site is refused.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use millpond_wire::ErrorKind;

use crate::peer;
use crate::refusal::Refusal;
use crate::seats::Seat;
use crate::tokens::Tokens;

/// Paths that tell nothing of the pond: a browser gets the page to ask for the token, and a supervisor
/// has none.
const OPEN: [&str; 3] = ["/", "/healthz", "/readyz"];
/// Headers that decide about access. Of two with one name, a proxy may check the first and this server the second.
const ONCE: [HeaderName; 5] = [
    header::HOST,
    header::ORIGIN,
    header::AUTHORIZATION,
    HeaderName::from_static("sec-fetch-site"),
    HeaderName::from_static("sec-fetch-mode"),
];
/// Everything that changes something.
const ACTIONS: &str = "/api/v1/actions/";
const SCHEME: &str = "http://";

/// Who may ask.
#[derive(Debug)]
pub struct Gate {
    /// Whose processes on this machine may read, beside root's.
    pub user: u32,
    pub readers: Tokens,
    pub actors: Tokens,
    /// Names under which this server is asked for, in lower case.
    pub hosts: Vec<String>,
}

/// The other end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// A process of the right user on this machine.
    pub is_ours: bool,
    /// The user, where the kernel says.
    pub user: Option<u32>,
}

/// What a request may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rights {
    Read,
    Act,
}

impl Gate {
    /// Who is at the other end.
    pub fn peer(&self, own: SocketAddr, address: SocketAddr) -> Peer {
        let is_local = |address: SocketAddr| address.ip().to_canonical().is_loopback();
        if !is_local(own) || !is_local(address) {
            return Peer { is_ours: false, user: None };
        }
        let user = peer::user_of(own, address).unwrap_or_else(|error| {
            tracing::warn!("who has connected from {address} cannot be told: {error}");
            None
        });
        Peer { is_ours: user.is_some_and(|user| user == 0 || user == self.user), user }
    }

    /// Whether anybody but our own processes can come in at all.
    pub fn has_tokens(&self) -> bool {
        !self.readers.is_empty() || !self.actors.is_empty()
    }

    fn check(&self, peer: Peer, request: &Request) -> Result<Option<Rights>, Refusal> {
        let (headers, path) = (request.headers(), request.uri().path());
        if let Some(name) = ONCE.iter().find(|name| headers.get_all(*name).iter().nth(1).is_some())
        {
            let message = format!("the request has more than one `{name}`");
            return Err(Refusal::new(ErrorKind::Invalid, message));
        }
        let host = self.host(headers)?;
        is_of_this_site(headers, host, request.method())?;
        let token = bearer(headers);
        let rights = match token {
            Some(token) if self.actors.has(token) => Some(Rights::Act),
            Some(token) if self.readers.has(token) => Some(Rights::Read),
            _ if peer.is_ours => Some(Rights::Read),
            _ => None,
        };
        let Some(rights) = rights else { return self.stranger(peer, path, token) };
        if path.starts_with(ACTIONS) && rights < Rights::Act {
            return Err(self.no_action(token.is_some()));
        }
        Ok(Some(rights))
    }

    fn stranger(
        &self,
        peer: Peer,
        path: &str,
        token: Option<&str>,
    ) -> Result<Option<Rights>, Refusal> {
        if !self.has_tokens() {
            let who = peer.user.map_or_else(|| "you".to_owned(), |user| format!("user {user}"));
            let message = format!("this page is for user {} and root, not for {who}", self.user);
            return Err(Refusal::new(ErrorKind::Denied, message)
                .hint("`millpond web --token-file FILE` lets others in"));
        }
        if OPEN.contains(&path) {
            return Ok(None);
        }
        let message = match token {
            Some(_) => "the token is not known",
            None => "a token is needed",
        };
        Err(Refusal::new(ErrorKind::Denied, message)
            .hint("send `Authorization: Bearer TOKEN`, with a token of `--token-file`")
            .status(StatusCode::UNAUTHORIZED))
    }

    fn no_action(&self, has_token: bool) -> Refusal {
        if self.actors.is_empty() {
            return Refusal::new(ErrorKind::Denied, "this server carries out no actions")
                .hint("`millpond web --actions-token-file FILE` allows them");
        }
        let message = match has_token {
            true => "the token does not allow actions",
            false => "an action needs a token that allows it",
        };
        Refusal::new(ErrorKind::Denied, message)
            .hint("send `Authorization: Bearer TOKEN`, with a token of `--actions-token-file`")
    }

    /// The name in `Host`, if it is one of ours. An address cannot be somebody else's name.
    fn host<'a>(&self, headers: &'a HeaderMap) -> Result<&'a str, Refusal> {
        let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else {
            return Err(Refusal::new(ErrorKind::Invalid, "the request has no `Host`"));
        };
        let name = name_of(host).to_ascii_lowercase();
        let is_address = name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        if is_address || name == "localhost" || self.hosts.contains(&name) {
            return Ok(host);
        }
        Err(Refusal::new(ErrorKind::Denied, "this server is not asked for by that name")
            .hint("`millpond web --host NAME` adds a name"))
    }
}

/// `Host` without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Refuses what another site has a browser ask, except that somebody follows a link to the page.
fn is_of_this_site(headers: &HeaderMap, host: &str, method: &Method) -> Result<(), Refusal> {
    let foreign = || Err(Refusal::new(ErrorKind::Denied, "another site's page asks"));
    if let Some(origin) = headers.get(header::ORIGIN) {
        let own = origin.to_str().ok().and_then(|origin| origin.strip_prefix(SCHEME));
        // Behind a proxy that speaks TLS, the browser's scheme is not ours.
        let proxied = origin.to_str().ok().and_then(|origin| origin.strip_prefix("https://"));
        if !own.or(proxied).is_some_and(|origin| origin.eq_ignore_ascii_case(host)) {
            return foreign();
        }
    }
    let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_foreign =
        said("sec-fetch-site").is_some_and(|it| it == "cross-site" || it == "same-site");
    let is_visit = *method == Method::GET && said("sec-fetch-mode") == Some("navigate");
    if is_foreign && !is_visit { foreign() } else { Ok(()) }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Lets a request through to its handler, which finds its [`Rights`], or refuses it.
pub async fn guard(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    let nobody = Peer { is_ours: false, user: None };
    let peer = request.extensions().get::<Peer>().copied().unwrap_or(nobody);
    match gate.check(peer, &request) {
        Ok(rights) => {
            if let Some(rights) = rights {
                if let Some(seat) = request.extensions().get::<Arc<Seat>>() {
                    // Without room there the request is answered all the same.
                    let _ = seat.stay();
                }
                request.extensions_mut().insert(rights);
            }
            next.run(request).await
        }
        Err(refusal) => {
            tracing::debug!("refused {}: {}", request.uri().path(), refusal.message());
            refusal.into_response()
        }
    }
}

/// Headers of every answer.
pub const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
