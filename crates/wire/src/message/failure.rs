//! The answer that says no.

use millpond_schema::message as fb;

use super::list::{Entries, list};
use super::read::{self, Read, text};
use crate::{ErrorKind, Failure, Holder, ReachedLimit, caps};

pub(super) fn write_failure(failure: &Failure) -> fb::Failure {
    fb::Failure {
        kind: failure.kind.code(),
        message: Some(failure.message.clone()),
        hint: failure.hint.clone(),
        similar: Some(failure.similar.clone()),
        requested_bytes: failure.requested_bytes,
        free_bytes: failure.free_bytes,
        capacity_bytes: failure.capacity_bytes,
        ended_ago_ms: failure.ended_ago_ms,
        limit: failure.limit.as_ref().map(|limit| limit.key.clone()),
        limit_has: failure.limit.as_ref().map(|limit| limit.has),
        limit_cap: failure.limit.as_ref().map(|limit| limit.cap),
        holders: Some(
            failure
                .holders
                .iter()
                .map(|holder| fb::Holder {
                    user: holder.user,
                    bytes: holder.bytes,
                    tensors: holder.tensors,
                    cache: holder.cache.clone(),
                    pid: holder.pid,
                })
                .collect(),
        ),
    }
}

pub(super) fn read_failure(failure: fb::FailureRef<'_>) -> Read<Failure> {
    let mut similar = Vec::new();
    if let Some(names) = failure.similar()? {
        read::at_most("similar", names.len(), caps::FAILURE_LIST)?;
        for name in names {
            similar.push(text("similar", Some(name?))?);
        }
    }
    let limit = match failure.limit()? {
        Some(key) => Some(Box::new(ReachedLimit {
            key: text("limit", Some(key))?,
            has: failure.limit_has()?.unwrap_or(0),
            cap: failure.limit_cap()?.unwrap_or(0),
        })),
        None => None,
    };
    let few = Entries::at_most(caps::FAILURE_LIST);
    Ok(Failure {
        kind: ErrorKind::from_code(failure.kind()?),
        message: text("message", failure.message()?)?,
        hint: failure.hint()?.map(|hint| text("hint", Some(hint))).transpose()?,
        similar,
        requested_bytes: failure.requested_bytes()?,
        free_bytes: failure.free_bytes()?,
        capacity_bytes: failure.capacity_bytes()?,
        ended_ago_ms: failure.ended_ago_ms()?,
        limit,
        holders: list("holders", failure.holders()?, &few, |holder: fb::HolderRef<'_>| {
            Ok(Holder {
                user: holder.user()?,
                bytes: holder.bytes()?,
                tensors: holder.tensors()?,
                cache: holder.cache()?.map(|text| read::text("cache", Some(text))).transpose()?,
                pid: holder.pid()?,
            })
        })?,
    })
}
