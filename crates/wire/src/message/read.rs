//! Helpers that read a FlatBuffer piece by piece, each piece against its cap.

use uuid::Uuid;

use crate::{
    Dtype, ErrorKind, GpuUuid, GroupNameError, LeaseTarget, ModelNameError, NameError, Shape,
    ShapeError, TensorId, TensorName, VersionId, caps,
};
use millpond_schema::{message as fb, record as jfb};

/// Why a message could not be read.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Not a FlatBuffer of the schema.
    #[error("malformed message: {0}")]
    Malformed(#[from] planus::Error),
    /// A field that must be there is not.
    #[error("field '{0}' is missing")]
    Missing(&'static str),
    /// More of something than the cap.
    #[error("field '{field}' has {count}; at most {max}")]
    TooMany { field: &'static str, count: usize, max: usize },
    /// Not the sixteen bytes of a token, a hash or a UUID.
    #[error("field '{field}' has {count} bytes; a {field} has 16")]
    NotSixteen { field: &'static str, count: usize },
    /// A number that means nothing.
    #[error("field '{field}' cannot be {value}")]
    BadValue { field: &'static str, value: u64 },
    /// A tensor or a version is meant, and both are named.
    #[error("a tensor and a version are named where one of them is meant")]
    TwoTargets,
    /// The name and the identity of one thing, which may be two.
    #[error("a name and an identity are given where one of them is meant")]
    NameAndId,
    /// A part of a file where no file can have one.
    #[error("{bytes} bytes at {file_offset} lie beyond the end of any file")]
    BeyondFiles { file_offset: u64, bytes: u64 },
    /// No process has this number.
    #[error("no process can have the number {0}")]
    NoProcess(u32),
    /// Something on another machine.
    #[error("node {0} is named, and this pond knows no node but its own")]
    OtherNode(Uuid),
    /// A name that is refused.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A model's name or a version's tag that is refused.
    #[error(transparent)]
    Model(#[from] ModelNameError),
    /// A group's name that is refused.
    #[error(transparent)]
    Group(#[from] GroupNameError),
    /// A shape that is refused.
    #[error(transparent)]
    Shape(#[from] ShapeError),
}

impl DecodeError {
    /// What the sender is told: a value that a person chose is invalid, anything else breaks the
    /// protocol.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            DecodeError::Name(_)
            | DecodeError::Model(_)
            | DecodeError::Group(_)
            | DecodeError::Shape(_)
            | DecodeError::NameAndId
            | DecodeError::NoProcess(_)
            | DecodeError::BeyondFiles { .. } => ErrorKind::Invalid,
            DecodeError::OtherNode(_) => ErrorKind::Unsupported,
            _ => ErrorKind::Protocol,
        }
    }
}

pub(crate) type Read<T> = Result<T, DecodeError>;

pub(crate) fn uuid_to_id(uuid: Uuid) -> fb::Id {
    let (high, low) = uuid.as_u64_pair();
    fb::Id { high, low }
}

pub(crate) fn id_to_uuid(id: fb::IdRef<'_>) -> Uuid {
    Uuid::from_u64_pair(id.high(), id.low())
}

pub(crate) fn uuid_to_record_id(uuid: Uuid) -> jfb::Id {
    let (high, low) = uuid.as_u64_pair();
    jfb::Id { high, low }
}

pub(crate) fn record_id_to_uuid(id: jfb::IdRef<'_>) -> Uuid {
    Uuid::from_u64_pair(id.high(), id.low())
}

pub(crate) fn required<T>(field: &'static str, value: Option<T>) -> Read<T> {
    value.ok_or(DecodeError::Missing(field))
}

pub(crate) fn uuid(field: &'static str, id: Option<fb::IdRef<'_>>) -> Read<Uuid> {
    required(field, id).map(id_to_uuid)
}

/// The tensor or the version that two fields name.
pub(crate) fn target(tensor: Option<Uuid>, version: Option<Uuid>) -> Read<Option<LeaseTarget>> {
    match (tensor, version) {
        (Some(_), Some(_)) => Err(DecodeError::TwoTargets),
        (Some(id), None) => Ok(Some(TensorId(id).into())),
        (None, Some(id)) => Ok(Some(VersionId(id).into())),
        (None, None) => Ok(None),
    }
}

/// As [`target`], of a message.
pub(crate) fn lease_target(
    tensor: Option<fb::IdRef<'_>>,
    version: Option<fb::IdRef<'_>>,
) -> Read<Option<LeaseTarget>> {
    target(tensor.map(id_to_uuid), version.map(id_to_uuid))
}

/// A reference may name a node once there are several.
pub(crate) fn own_node(node: Option<fb::IdRef<'_>>) -> Read<()> {
    node.map_or(Ok(()), |node| Err(DecodeError::OtherNode(id_to_uuid(node))))
}

pub(crate) fn at_most(field: &'static str, count: usize, max: usize) -> Read<()> {
    if count > max { Err(DecodeError::TooMany { field, count, max }) } else { Ok(()) }
}

/// A text of a usual length.
pub(crate) fn text(field: &'static str, value: Option<&str>) -> Read<String> {
    text_up_to(field, value, caps::TEXT_BYTES)
}

pub(crate) fn text_up_to(field: &'static str, value: Option<&str>, max: usize) -> Read<String> {
    let value = value.unwrap_or_default();
    at_most(field, value.len(), max)?;
    Ok(value.to_owned())
}

pub(crate) fn bytes16(field: &'static str, value: &[u8]) -> Read<[u8; 16]> {
    value.try_into().map_err(|_| DecodeError::NotSixteen { field, count: value.len() })
}

/// Offsets in files are signed numbers for the kernel.
pub(crate) fn in_a_file(file_offset: u64, bytes: u64) -> Read<u64> {
    let end = file_offset.checked_add(bytes).and_then(|end| i64::try_from(end).ok());
    end.map(|_| file_offset).ok_or(DecodeError::BeyondFiles { file_offset, bytes })
}

pub(crate) fn gpu(field: &'static str, value: Option<&[u8]>) -> Read<GpuUuid> {
    bytes16(field, required(field, value)?).map(GpuUuid)
}

pub(crate) fn some_gpu(field: &'static str, value: Option<&[u8]>) -> Read<Option<GpuUuid>> {
    value.map(|value| gpu(field, Some(value))).transpose()
}

pub(crate) fn code<T>(field: &'static str, value: u8, from: impl Fn(u8) -> Option<T>) -> Read<T> {
    from(value).ok_or(DecodeError::BadValue { field, value: value.into() })
}

pub(crate) fn write_name(name: Option<&TensorName>) -> Option<String> {
    name.map(ToString::to_string)
}

/// The name of something that is there.
pub(crate) fn name(value: Option<&str>) -> Read<Option<TensorName>> {
    named(value, |text| TensorName::known(text))
}

/// The name that something is to get.
pub(crate) fn new_name(value: Option<&str>) -> Read<Option<TensorName>> {
    named(value, |text| TensorName::new(text))
}

fn named(
    value: Option<&str>,
    check: impl Fn(&str) -> Result<TensorName, NameError>,
) -> Read<Option<TensorName>> {
    match value {
        None => Ok(None),
        // The cap comes before the copy.
        Some(text) if text.len() > caps::NAME_BYTES => Err(NameError::TooLong(text.len()).into()),
        Some(text) => Ok(Some(check(text)?)),
    }
}

pub(crate) fn dtype(value: u8) -> Read<Dtype> {
    code("dtype", value, Dtype::from_code)
}

pub(crate) fn shape(value: Option<planus::Vector<'_, u64>>) -> Read<Shape> {
    let Some(dims) = value else { return Ok(Shape::new([])?) };
    at_most("shape", dims.len(), caps::DIMENSIONS)?;
    Ok(Shape::new(dims.iter().collect::<Vec<u64>>())?)
}

/// Whether a union has a member that this version does not know.
pub(crate) fn is_unknown_kind(error: &planus::Error) -> bool {
    matches!(error.error_kind, planus::errors::ErrorKind::UnknownUnionTag { .. })
}
