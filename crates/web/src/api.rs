//! What is asked for, and what is answered.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Extension, Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use millpond::{Pond, TensorId};
use millpond_overview::{Collector, Options, Overview, Sees};
use millpond_view::{Event, Tensor, Tensors};
use millpond_wire::ErrorKind;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::actions::{self, Actor};
use crate::collect::{Place, TENSORS, Watched};
use crate::events::Ring;
use crate::gate::{self, Gate, Rights};
use crate::live;
use crate::metrics;
use crate::page;
use crate::refusal::Refusal;
use crate::seats::Seat;

/// The most tensors that an overview shows one by one.
const MOST_TENSORS: usize = 10_000;
/// The most tensors of a page of a listing, and how many there are if nobody says.
const MOST_ON_A_PAGE: u32 = 4096;
const ON_A_PAGE: u32 = 1000;
/// How far a history goes back, and in how many points, if nobody says.
const HISTORY_SECONDS: u64 = 3600;
const HISTORY_POINTS: usize = 600;
/// All that a history has.
const MOST_HISTORY_POINTS: usize = 7000;
/// How long a request may take, everything that it waits for included.
const WITHIN: Duration = Duration::from_secs(30);
/// So many requests at once that need the pond by themselves.
const AT_ONCE: usize = 2;
/// A comment is sent so often where nothing else is.
const HEARTBEAT: Duration = Duration::from_secs(15);

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const CLASSIC: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What handlers need.
#[derive(Debug)]
pub struct Server {
    pub watched: Arc<Watched>,
    pub events: Arc<Ring>,
    pub place: Place,
    pub actor: Actor,
    pub user: u32,
    /// Questions to the pond that are asked for one request alone.
    pub questions: Semaphore,
}

impl Server {
    pub fn new(watched: Arc<Watched>, events: Arc<Ring>, place: Place) -> Self {
        let actor = Actor::new(place.clone());
        let user = rustix::process::geteuid().as_raw();
        Self { watched, events, place, actor, user, questions: Semaphore::new(AT_ONCE) }
    }

    /// Asks the pond something on a thread of its own.
    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(Pond, Sees) -> millpond::Result<T> + Send + 'static,
    ) -> Result<T, Refusal> {
        let closed = || Refusal::new(ErrorKind::Internal, "this server ends");
        let _turn = self.questions.acquire().await.map_err(|_| closed())?;
        let place = self.place.clone();
        let asked = move || place.connect().and_then(|(pond, sees)| question(pond, sees));
        Ok(tokio::task::spawn_blocking(asked).await.map_err(|_| closed())??)
    }
}

/// Every path.
pub fn router(server: Arc<Server>, gate: Arc<Gate>) -> Router {
    let policy = page::policy();
    let headers = middleware::map_response(move |mut response: Response| {
        for (name, value) in gate::HEADERS {
            response.headers_mut().insert(name, value);
        }
        if let Some(policy) = &policy {
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy.clone());
        }
        std::future::ready(response)
    });
    Router::new()
        .route("/", get(async || page_of(page::HTML)))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(scrape))
        .route("/api/v1/overview", get(overview))
        .route("/api/v1/live", get(stream))
        .route("/api/v1/events", get(events))
        .route("/api/v1/tensors", get(tensors))
        .route("/api/v1/history", get(history))
        .route("/api/v1/whoami", get(whoami))
        .route("/api/v1/actions/swap", post(actions::swap))
        .route("/api/v1/actions/rollback", post(actions::rollback))
        .route("/api/v1/actions/retire", post(actions::retire))
        .route("/api/v1/actions/limit", post(actions::limit))
        .fallback(async || Refusal::new(ErrorKind::NotFound, "nothing is at this path"))
        .method_not_allowed_fallback(async || {
            Refusal::new(ErrorKind::Invalid, "this path is not asked in that way")
                .status(StatusCode::METHOD_NOT_ALLOWED)
        })
        .layer(middleware::from_fn(in_time))
        .layer(middleware::from_fn_with_state(gate, gate::guard))
        .layer(headers)
        .with_state(server)
}

async fn in_time(request: Request, next: Next) -> Response {
    let late = || {
        Refusal::new(ErrorKind::Timeout, format!("no answer within {} s", WITHIN.as_secs()))
            .into_response()
    };
    tokio::time::timeout(WITHIN, next.run(request)).await.unwrap_or_else(|_| late())
}

fn page_of(html: &'static str) -> Response {
    typed("text/html; charset=utf-8", Body::from(html))
}

fn typed(kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn json(bytes: Bytes) -> Response {
    typed("application/json", Body::from(bytes))
}

type Shared = State<Arc<Server>>;
type Answer = Result<Response, Refusal>;

async fn ready(State(server): Shared) -> Answer {
    server.watched.fresh().await.overview()?;
    Ok("ok\n".into_response())
}

async fn scrape(State(server): Shared, request: Request) -> Response {
    let text = server.watched.fresh().await.scrape();
    let accept = request.headers().get(header::ACCEPT).and_then(|it| it.to_str().ok());
    // Readers of the older format ask for it alone; whoever names both, or neither, reads the newer.
    let is_classic = accept.is_some_and(|it| {
        it.contains("text/plain") && !it.contains("application/openmetrics-text")
    });
    if is_classic {
        let text = metrics::classic(&String::from_utf8_lossy(&text));
        return typed(CLASSIC, Body::from(text));
    }
    typed(OPEN_METRICS, Body::from(text))
}

#[derive(Deserialize)]
struct Wanted {
    tensors: Option<usize>,
}

/// A query that can be read.
fn read<T>(
    query: Result<Query<T>, axum::extract::rejection::QueryRejection>,
) -> Result<T, Refusal> {
    let flaw = |flaw: axum::extract::rejection::QueryRejection| {
        Refusal::new(ErrorKind::Invalid, flaw.body_text())
    };
    query.map(|Query(read)| read).map_err(flaw)
}

async fn overview(
    State(server): Shared,
    query: Result<Query<Wanted>, axum::extract::rejection::QueryRejection>,
) -> Answer {
    let tensors = read(query)?.tensors.unwrap_or(TENSORS).min(MOST_TENSORS);
    if tensors == TENSORS {
        return Ok(json(server.watched.fresh().await.overview()?.json()));
    }
    let collect = move |pond, sees| -> millpond::Result<Overview> {
        Collector::new(pond, sees, Options { tensors, members: true, readings: true }).collect()
    };
    Ok(Json(server.ask(collect).await?).into_response())
}

async fn stream(State(server): Shared, Extension(seat): Extension<Arc<Seat>>) -> Answer {
    let full = |message: &str| {
        Refusal::new(ErrorKind::TooMany, message).status(StatusCode::SERVICE_UNAVAILABLE)
    };
    if !seat.stay() {
        return Err(full("too many connections of this user or address, or of all, are open")
            .hint("close some, or ask `/api/v1/overview`"));
    }
    server.watched.fresh().await;
    let first = || {
        let now = server.watched.known();
        (live::Kind::Pond.frame(&now.pond), now.seen.as_ref().map(|seen| seen.frame()))
    };
    let Some(stream) = server.watched.hub.join(seat.closer.clone(), first) else {
        return Err(full(&format!("{} pages are open already", live::READERS)));
    };
    server.watched.wake();
    Ok(typed("text/event-stream", Body::new(stream)))
}

/// Sends comments, for ever.
pub async fn beat(watched: Arc<Watched>) {
    let mut beats = tokio::time::interval(HEARTBEAT);
    loop {
        beats.tick().await;
        watched.hub.beat();
    }
}

#[derive(Deserialize)]
struct From {
    #[serde(default)]
    from: u64,
}

#[derive(Serialize)]
struct Events {
    events: Vec<Event>,
}

async fn events(
    State(server): Shared,
    query: Result<Query<From>, axum::extract::rejection::QueryRejection>,
) -> Answer {
    Ok(Json(Events { events: server.events.from(read(query)?.from) }).into_response())
}

#[derive(Deserialize)]
struct Past {
    device: Option<String>,
    since_s: Option<u64>,
    most: Option<usize>,
}

async fn history(
    State(server): Shared,
    query: Result<Query<Past>, axum::extract::rejection::QueryRejection>,
) -> Answer {
    let Past { device, since_s, most } = read(query)?;
    let now = server.watched.fresh().await;
    let overview = &now.overview()?.overview;
    let card = match &device {
        Some(text) => overview.card(text),
        None => overview.cards.first(),
    };
    let unknown = || {
        let device = device.as_deref().unwrap_or("of any number");
        Refusal::new(ErrorKind::NoDevice, format!("no GPU '{device}'"))
            .hint("`millpond status` lists the GPUs")
    };
    let uuid = &card.ok_or_else(unknown)?.device;
    let since = Duration::from_secs(since_s.unwrap_or(HISTORY_SECONDS));
    let most = most.unwrap_or(HISTORY_POINTS).min(MOST_HISTORY_POINTS);
    let series = server.watched.history(uuid, since, most).ok_or_else(unknown)?;
    Ok(Json(series).into_response())
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    prefix: String,
    after: Option<String>,
    most: Option<NonZeroU32>,
}

async fn tensors(
    State(server): Shared,
    query: Result<Query<Page>, axum::extract::rejection::QueryRejection>,
) -> Answer {
    let page = read(query)?;
    let after: Option<TensorId> = page
        .after
        .map(|text| text.parse())
        .transpose()
        .map_err(|_| Refusal::new(ErrorKind::Invalid, "`after` is no identity of a tensor"))?;
    let most = page.most.or(NonZeroU32::new(ON_A_PAGE)).unwrap_or(NonZeroU32::MIN);
    let most = most.min(NonZeroU32::new(MOST_ON_A_PAGE).unwrap_or(most));
    let list = move |pond: Pond, _| pond.list_after(&page.prefix, after, most);
    let found = server.ask(list).await?;
    let tensors = found.iter().map(Tensor::from).collect();
    Ok(Json(Tensors { tensors }).into_response())
}

#[derive(Serialize)]
struct Who {
    sees: Option<Sees>,
    actions: bool,
    /// As whom actions are carried out: names of other users have `~user/` before them.
    user: u32,
}

async fn whoami(State(server): Shared, Extension(rights): Extension<Rights>) -> Response {
    let now = server.watched.fresh().await;
    let sees = now.seen.as_ref().map(|seen| seen.overview.sees);
    Json(Who { sees, actions: rights >= Rights::Act, user: server.user }).into_response()
}
