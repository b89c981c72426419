//! Pitched and managed memory.
//!
//! A location that is passed by value is taken as its eight bytes: its type is an open number.

use std::ffi::{c_int, c_uint, c_void};

use millpond_cuda::sys::{CUdeviceptr, CUmemLocation, CUstream, Status, constants};

use super::linear::known;
use super::memory::read;
use super::{Out, entries, number};
use crate::engine::Engine;
use crate::engine::address::Access;
use crate::engine::advice::Advice;
use crate::engine::location::{Home, Location};
use crate::engine::system::{to_u64, to_usize};

const ATTACH_GLOBAL: c_uint = 1;
const ATTACH_HOST: c_uint = 2;

/// `CU_DEVICE_CPU` and `CU_DEVICE_INVALID`.
const HOST_DEVICE: c_int = -1;
const NO_DEVICE: c_int = -2;

/// A location in its eight bytes.
fn unpack(location: u64) -> Location {
    let [kind, id] = [location & 0xffff_ffff, location >> 32];
    let kind = u32::try_from(kind).unwrap_or(u32::MAX);
    Location { kind, id: u32::try_from(id).unwrap_or(u32::MAX).cast_signed() }
}

/// An error unless a range is managed memory.
fn check_managed(engine: &'static Engine, at: u64, bytes: usize) -> Result<(), Status> {
    let info = known(engine, at).ok_or(Status::INVALID_VALUE)?;
    let end = at.checked_add(to_u64(bytes)).ok_or(Status::INVALID_VALUE)?;
    let fits = bytes > 0 && end <= info.start + info.bytes;
    if info.allocation.home == Home::Managed && fits { Ok(()) } else { Err(Status::INVALID_VALUE) }
}

/// An error unless memory can be at a location.
fn check_location(engine: &'static Engine, location: Location) -> Result<(), Status> {
    if location.kind == constants::LOCATION_DEVICE {
        return engine.device(location.id).map(drop);
    }
    if location.is_host() { Ok(()) } else { Err(Status::INVALID_VALUE) }
}

/// Changes the advice for a range of managed memory.
fn advise(
    engine: &'static Engine,
    at: u64,
    bytes: usize,
    change: impl Fn(&mut Advice),
) -> Result<(), Status> {
    check_managed(engine, at, bytes)?;
    for part in engine.space.resolve(at, to_u64(bytes), 0, Access::None)? {
        part.allocation.advised.change(part.offset, part.offset + part.bytes, &change);
    }
    Ok(())
}

/// What all of a range has in common, `None` when its parts differ.
fn common<T: PartialEq>(told: &[Advice], of: impl Fn(&Advice) -> T) -> Option<T> {
    let (first, rest) = told.split_first()?;
    let value = of(first);
    rest.iter().all(|advice| of(advice) == value).then_some(value)
}

/// The ordinal of a device, the number of the host, or that of no device.
fn device_number(location: Option<Location>) -> c_int {
    match location {
        Some(location) if location.kind == constants::LOCATION_DEVICE => location.id,
        Some(location) if location.kind == constants::LOCATION_HOST => HOST_DEVICE,
        _ => NO_DEVICE,
    }
}

/// Writes one attribute of a range.
///
/// # Safety
/// `data` is null or valid for writing `bytes` bytes.
unsafe fn put_attribute(
    data: *mut c_void,
    bytes: usize,
    attribute: u32,
    told: &[Advice],
) -> Result<(), Status> {
    let preferred = || common(told, |advice| advice.preferred).flatten();
    let prefetched = || common(told, |advice| advice.prefetched).flatten();
    let kind = |location: Option<Location>| {
        location.map_or(constants::LOCATION_NONE, |location| location.kind).cast_signed()
    };
    let id = |location: Option<Location>| location.map_or(NO_DEVICE, |location| location.id);
    let value = match attribute {
        1 => c_int::from(told.iter().all(|advice| advice.read_mostly)),
        2 => device_number(preferred()),
        3 => {
            let all = common(told, |advice| advice.accessed_by.clone()).unwrap_or_default();
            let count = bytes / size_of::<c_int>();
            if count == 0 || !bytes.is_multiple_of(size_of::<c_int>()) {
                return Err(Status::INVALID_VALUE);
            }
            let numbers = all.into_iter().map(|location| device_number(Some(location)));
            let filled = numbers.chain(std::iter::repeat(NO_DEVICE)).take(count);
            for (place, number) in filled.enumerate() {
                // SAFETY: inside the bytes that the caller promised; null is refused.
                unsafe { Out::new(data.cast::<c_int>().wrapping_add(place))? }.set(number);
            }
            return Ok(());
        }
        4 => device_number(prefetched()),
        5 => kind(preferred()),
        6 => id(preferred()),
        7 => kind(prefetched()),
        8 => id(prefetched()),
        _ => return Err(Status::INVALID_VALUE),
    };
    if bytes != size_of::<c_int>() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: the size of the value, as the caller promised.
    unsafe { Out::new(data.cast::<c_int>())? }.set(value);
    Ok(())
}

/// The ranges of a batch.
///
/// # Safety
/// The arrays have `count` entries.
unsafe fn ranges(
    pointers: *mut CUdeviceptr,
    sizes: *mut usize,
    count: usize,
) -> Result<Vec<(CUdeviceptr, usize)>, Status> {
    if count == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let range = |place: usize| {
        // SAFETY: `count` entries, as the caller promised.
        unsafe {
            Ok((
                read(pointers.wrapping_add(place).cast_const())?,
                read(sizes.wrapping_add(place).cast_const())?,
            ))
        }
    };
    (0..count).map(range).collect()
}

/// Where the ranges of a batch are to go: each location holds from its first range to the next's.
///
/// # Safety
/// The arrays have `location_count` entries.
unsafe fn targets(
    engine: &'static Engine,
    locations: *mut CUmemLocation,
    first: *mut usize,
    location_count: usize,
    count: usize,
) -> Result<Vec<Location>, Status> {
    let (mut found, mut last) = (Vec::new(), None);
    for place in 0..location_count {
        // SAFETY: `location_count` entries, as the caller promised; any bytes are a Location.
        let (location, from) = unsafe {
            (
                read(locations.cast::<Location>().wrapping_add(place).cast_const())?,
                read(first.wrapping_add(place).cast_const())?,
            )
        };
        check_location(engine, location)?;
        let begins = if place == 0 { from == 0 } else { from >= found.len() };
        if !begins || from >= count {
            return Err(Status::INVALID_VALUE);
        }
        found.extend(last.into_iter().cycle().take(from - found.len()));
        found.push(location);
        last = Some(location);
    }
    let last = last.ok_or(Status::INVALID_VALUE)?;
    found.resize(count, last);
    Ok(found)
}

/// Prefetches, discards, or both: nothing moves, so what is remembered is all there is to do.
fn batch(
    engine: &'static Engine,
    ranges: &[(CUdeviceptr, usize)],
    targets: &[Location],
    flags: u64,
    stream: CUstream,
) -> Result<(), Status> {
    engine.lane(number(stream))?;
    if flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    ranges.iter().try_for_each(|(at, bytes)| check_managed(engine, *at, *bytes))?;
    ranges.iter().zip(targets).try_for_each(|((at, bytes), target)| {
        advise(engine, *at, *bytes, |advice| advice.prefetched = Some(*target))
    })
}

entries! {
    fn cuMemAllocPitch_v2(pointer: *mut CUdeviceptr, pitch: *mut usize, width: usize, height: usize, element: c_uint) |engine| {
        engine.contexts.current()?;
        // SAFETY: as the caller promised.
        let (pointer, pitch) = unsafe { (Out::new(pointer)?, Out::new(pitch)?) };
        if width == 0 || height == 0 || ![4, 8, 16].contains(&element) {
            return Err(Status::INVALID_VALUE);
        }
        let (at, row) = engine.allocate_pitched(to_u64(width), to_u64(height))?;
        pointer.set(at);
        pitch.set(to_usize(row));
        Ok(())
    }

    fn cuMemAllocManaged(pointer: *mut CUdeviceptr, size: usize, flags: c_uint) |engine| {
        engine.contexts.current()?;
        // SAFETY: as the caller promised.
        let pointer = unsafe { Out::new(pointer)? };
        if size == 0 || ![ATTACH_GLOBAL, ATTACH_HOST].contains(&flags) {
            return Err(Status::INVALID_VALUE);
        }
        pointer.set(engine.allocate_managed(to_u64(size))?);
        Ok(())
    }

    fn cuMemPrefetchAsync_v2(pointer: CUdeviceptr, bytes: usize, location: u64, flags: c_uint, stream: CUstream) |engine| {
        let target = unpack(location);
        check_location(engine, target)?;
        batch(engine, &[(pointer, bytes)], &[target], u64::from(flags), stream)
    }

    fn cuMemPrefetchBatchAsync(pointers: *mut CUdeviceptr, sizes: *mut usize, count: usize, locations: *mut CUmemLocation, first: *mut usize, location_count: usize, flags: u64, stream: CUstream) |engine| {
        // SAFETY: as the caller promised.
        let (ranges, targets) = unsafe {
            (ranges(pointers, sizes, count)?, targets(engine, locations, first, location_count, count)?)
        };
        batch(engine, &ranges, &targets, flags, stream)
    }

    fn cuMemDiscardBatchAsync(pointers: *mut CUdeviceptr, sizes: *mut usize, count: usize, flags: u64, stream: CUstream) |engine| {
        // SAFETY: as the caller promised.
        let ranges = unsafe { ranges(pointers, sizes, count)? };
        batch(engine, &ranges, &[], flags, stream)
    }

    fn cuMemDiscardAndPrefetchBatchAsync(pointers: *mut CUdeviceptr, sizes: *mut usize, count: usize, locations: *mut CUmemLocation, first: *mut usize, location_count: usize, flags: u64, stream: CUstream) |engine| {
        // SAFETY: as the caller promised.
        let (ranges, targets) = unsafe {
            (ranges(pointers, sizes, count)?, targets(engine, locations, first, location_count, count)?)
        };
        batch(engine, &ranges, &targets, flags, stream)
    }

    fn cuMemAdvise_v2(pointer: CUdeviceptr, bytes: usize, advice: u32, location: u64) |engine| {
        let location = unpack(location);
        if matches!(advice, 3 | 5 | 6) {
            check_location(engine, location)?;
        }
        // A set of processors that access memory knows the host as one.
        let is_numa = location.is_host() && location.kind != constants::LOCATION_HOST;
        if matches!(advice, 5 | 6) && is_numa {
            return Err(Status::INVALID_VALUE);
        }
        advise(engine, pointer, bytes, |told| match advice {
            1 | 2 => told.read_mostly = advice == 1,
            3 => told.preferred = Some(location),
            4 => told.preferred = None,
            5 => drop(told.accessed_by.insert(location)),
            6 => drop(told.accessed_by.remove(&location)),
            _ => {}
        })?;
        if (1..=6).contains(&advice) { Ok(()) } else { Err(Status::INVALID_VALUE) }
    }

    fn cuMemRangeGetAttribute(data: *mut c_void, bytes: usize, attribute: u32, pointer: CUdeviceptr, count: usize) |engine| {
        check_managed(engine, pointer, count)?;
        let parts = engine.space.resolve(pointer, to_u64(count), 0, Access::None)?;
        let told: Vec<Advice> = parts
            .iter()
            .flat_map(|part| part.allocation.advised.of(part.offset, part.offset + part.bytes))
            .collect();
        // SAFETY: as the caller promised.
        unsafe { put_attribute(data, bytes, attribute, &told) }
    }
}
