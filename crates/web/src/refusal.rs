//! Errors as they are answered: the JSON that commands print with `--json`, under a status of HTTP.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use millpond_console::error::{CommandError, Report};
use millpond_console::exit::Code;
use millpond_view::Failed;
use millpond_wire::{ErrorKind, Failure};

/// A request that was not carried out.
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    report: Box<Report>,
}

impl Refusal {
    /// With the status that its kind has.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Report { code: Code::Kind(kind), failure: Failure::new(kind, message) }.into()
    }

    /// Adds the way out.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.report = Box::new(self.report.hint(hint));
        self
    }

    /// With another status than that of its kind.
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// What is said.
    pub fn message(&self) -> &str {
        &self.report.failure.message
    }
}

/// The status of an error kind.
const fn status_of(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::Invalid | ErrorKind::Protocol | ErrorKind::Unsupported => StatusCode::BAD_REQUEST,
        ErrorKind::NotFound | ErrorKind::NoDevice => StatusCode::NOT_FOUND,
        ErrorKind::Denied => StatusCode::FORBIDDEN,
        ErrorKind::Exists
        | ErrorKind::NotReady
        | ErrorKind::Retired
        | ErrorKind::InUse
        | ErrorKind::GpuFull
        | ErrorKind::Lost => StatusCode::CONFLICT,
        ErrorKind::TooMany => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::Timeout => StatusCode::GATEWAY_TIMEOUT,
        ErrorKind::NoPond | ErrorKind::Draining | ErrorKind::Later => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Internal
        | ErrorKind::Driver
        | ErrorKind::UnknownKind
        | ErrorKind::Untrusted
        | ErrorKind::File
        | ErrorKind::Mover => StatusCode::BAD_GATEWAY,
    }
}

impl From<Report> for Refusal {
    fn from(report: Report) -> Self {
        let status = match report.code {
            Code::Kind(kind) => status_of(kind),
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self { status, report: Box::new(report) }
    }
}

impl From<millpond::Error> for Refusal {
    fn from(error: millpond::Error) -> Self {
        match CommandError::from(error) {
            CommandError::Failed(report) => Self::from(*report),
            // Neither comes from a client.
            other => Self::new(ErrorKind::Internal, other.to_string()),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let code = self.report.code;
        let failed = Failed::new(code.name(), code.number(), &self.report.failure);
        let text = serde_json::to_vec(&failed).unwrap_or_default();
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_status_of_an_error() {
        for kind in ErrorKind::ALL {
            let status = Refusal::new(*kind, "x").into_response().status();
            assert!(status.is_client_error() || status.is_server_error(), "{kind}");
        }
        let refusal = Refusal::new(ErrorKind::Denied, "x").status(StatusCode::UNAUTHORIZED);
        let response = refusal.into_response();
        assert_eq!(response.headers()[header::WWW_AUTHENTICATE], "Bearer");
    }
}
