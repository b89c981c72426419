//! What an operator may do from the page: as the runner's own program would, and never over the socket of
//! those who only watch.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use millpond::{GroupLimit, GroupName, GroupSet, Pond, Swap};
use millpond_view as view;
use millpond_wire::ErrorKind;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::api::Server;
use crate::collect::Place;
use crate::refusal::Refusal;

/// An action is a few words.
const BODY_BYTES: usize = 4096;

/// The connection that actions go over; none until the first.
#[derive(Debug)]
pub struct Actor {
    place: Place,
    pond: Arc<Mutex<Option<Pond>>>,
}

impl Actor {
    pub fn new(place: Place) -> Self {
        Self { place, pond: Arc::default() }
    }

    /// Carries one action out, after those before it.
    async fn act<T: Send + 'static>(
        &self,
        action: impl FnOnce(&Pond) -> millpond::Result<T> + Send + 'static,
    ) -> Result<T, Refusal> {
        let (place, pond) = (self.place.clone(), Arc::clone(&self.pond));
        let act = move || {
            let mut pond = pond.lock().unwrap_or_else(PoisonError::into_inner);
            let connected = match pond.take() {
                Some(connected) => connected,
                None => place.connect_to_act()?,
            };
            let done = action(&connected);
            // One that has not answered is not asked again over the same connection.
            if !matches!(&done, Err(error) if error.kind() == ErrorKind::NoPond) {
                *pond = Some(connected);
            }
            done
        };
        let ends = |_| Refusal::new(ErrorKind::Internal, "this server ends");
        Ok(tokio::task::spawn_blocking(act).await.map_err(ends)??)
    }
}

/// What a request says, in JSON. A form of another site cannot send that without being asked.
async fn said<T: DeserializeOwned>(request: Request) -> Result<T, Refusal> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next());
    if kind.map(str::trim) != Some("application/json") {
        return Err(Refusal::new(ErrorKind::Invalid, "an action is JSON")
            .hint("send `Content-Type: application/json`")
            .status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    let body = to_bytes(request.into_body(), BODY_BYTES).await.map_err(|_| {
        Refusal::new(ErrorKind::Invalid, format!("an action has at most {BODY_BYTES} bytes"))
            .status(StatusCode::PAYLOAD_TOO_LARGE)
    })?;
    let flaw =
        |flaw| Refusal::new(ErrorKind::Invalid, format!("the action cannot be read: {flaw}"));
    serde_json::from_slice(&body).map_err(flaw)
}

type Shared = State<Arc<Server>>;
type Answer = Result<Response, Refusal>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfVersion {
    model: String,
    version: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfModel {
    model: String,
}

/// Another limit. `bytes` is there also where there is to be none, as `null`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfGroup {
    group: String,
    device: Option<String>,
    #[serde(deserialize_with = "Option::deserialize")]
    bytes: Option<u64>,
}

/// Tells the log, and has everybody see it soon.
fn done(server: &Server, what: &str, of: impl std::fmt::Display) {
    tracing::info!("{what}: {of}");
    server.watched.wake();
}

pub async fn swap(State(server): Shared, request: Request) -> Answer {
    let OfVersion { model, version } = said(request).await?;
    let swapped = server.actor.act(move |pond| pond.swap(&model, &version)).await?;
    done(&server, "swap", &swapped.current.model);
    Ok(swapped_to(&swapped))
}

pub async fn rollback(State(server): Shared, request: Request) -> Answer {
    let OfModel { model } = said(request).await?;
    let swapped = server.actor.act(move |pond| pond.rollback(&model)).await?;
    done(&server, "rollback", &swapped.current.model);
    Ok(swapped_to(&swapped))
}

fn swapped_to(swapped: &Swap) -> Response {
    let replaced = swapped.previous.as_ref().map(ToString::to_string);
    let current = view::Version::from(&swapped.current);
    Json(view::Swapped { current, replaced }).into_response()
}

pub async fn retire(State(server): Shared, request: Request) -> Answer {
    let OfVersion { model, version } = said(request).await?;
    let retire = move |pond: &Pond| {
        let info = pond.version(format!("{model}@{version}"))?.info;
        pond.retire(info.version)?;
        Ok(info)
    };
    let info = server.actor.act(retire).await?;
    done(&server, "retire", &info.model);
    let version = view::Version::from(&info);
    Ok(Json(view::Retired { version, gone: None }).into_response())
}

pub async fn limit(State(server): Shared, request: Request) -> Answer {
    let OfGroup { group, device, bytes } = said(request).await?;
    let flaw = |flaw: String| Refusal::new(ErrorKind::Invalid, flaw);
    let group: GroupName = group.parse().map_err(|error| flaw(format!("the group: {error}")))?;
    let device = device
        .map(|device| device.parse())
        .transpose()
        .map_err(|_| flaw("`device` is no UUID of a GPU".to_owned()))?;
    let limit = bytes.map_or(GroupLimit::Unlimited, GroupLimit::Bytes);
    let set = GroupSet { device, limit: Some(limit), ..GroupSet::of(group) };
    let details = server.actor.act(move |pond| pond.set_group(set)).await?;
    done(&server, "limit", &details.info.name);
    Ok(Json(view::Group::from(&details.info)).into_response())
}
