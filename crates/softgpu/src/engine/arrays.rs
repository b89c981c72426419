//! Arrays: memory with a shape and no address. They take room, and nothing can look into them.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use millpond_cuda::sys::Status;

use super::contexts::Context;
use super::ids;
use super::physical::{Allocation, Origin};
use crate::profiles::Profile;

/// Sizes of arrays are multiples of this, and it is what their memory is aligned to.
pub const ALIGNMENT: u64 = 64 << 10;

/// `CUDA_ARRAY3D_*`: depth counts layers.
const LAYERED: u32 = 0x01;
/// Six faces, which are layers too.
const CUBEMAP: u32 = 0x04;
/// No memory until some is mapped.
const SPARSE: u32 = 0x40;
/// No memory until some is mapped, all at once.
const DEFERRED: u32 = 0x80;
const ALL_FLAGS: u32 = 0x1ff;

/// What an array looks like; 0 in a later dimension means that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Elements in a row.
    pub width: u64,
    pub height: u64,
    pub depth: u64,
    pub format: u32,
    /// Channels of an element.
    pub channels: u32,
    pub flags: u32,
}

/// How elements of a format lie in memory.
enum Element {
    /// This many bytes for each channel.
    Channel(u64),
    /// This many bits for all channels, on average where planes are coarser.
    Whole(u64),
    /// This many bytes for a square of four by four.
    Square(u64),
}

fn element(format: u32) -> Option<Element> {
    Some(match format {
        0x01 | 0x08 => Element::Channel(1),
        0x02 | 0x09 | 0x10 => Element::Channel(2),
        0x03 | 0x0a | 0x20 => Element::Channel(4),
        0xc0 | 0xc6 => Element::Whole(8),
        0xc1 | 0xc3 | 0xc7 | 0xc9 => Element::Whole(16),
        0xc2 | 0xc4 | 0xc8 | 0xca | 0x50 => Element::Whole(32),
        0xc5 | 0xcb => Element::Whole(64),
        0x91 | 0x92 | 0x97 | 0x98 => Element::Square(8),
        0x93..=0x96 | 0x99..=0x9e => Element::Square(16),
        // Pictures: brightness in full, colour often at half or a quarter.
        0xb0 | 0x53 | 0x59 => Element::Whole(12),
        0xa2 | 0xa5 | 0x51 | 0x55 | 0x5b => Element::Whole(16),
        0x9f | 0xa1 | 0xb2 | 0xb4 | 0x52 | 0x54 | 0x57 | 0x5a | 0x5d => Element::Whole(24),
        0xa3 | 0xa4 | 0xa6..=0xa9 | 0x56 | 0x5c => Element::Whole(32),
        0xb3 | 0xb5 | 0x58 | 0x5e => Element::Whole(48),
        0xb1 => Element::Whole(64),
        _ => return None,
    })
}

impl Shape {
    fn is_layered(&self) -> bool {
        self.flags & (LAYERED | CUBEMAP) != 0
    }

    /// Refuses what no card has.
    fn check(&self, profile: &Profile) -> Result<(), Status> {
        let most = |attribute: u32| {
            profile.attribute(attribute).and_then(|most| u64::try_from(most).ok()).unwrap_or(0)
        };
        let (flat, layered) = (self.depth == 0, self.is_layered());
        // CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE*: of one dimension, two, three, and of layers.
        let limits = match (layered, flat, self.height) {
            (true, ..) => [most(27), most(28), most(29)],
            (false, true, 0) => [most(21), 0, 0],
            (false, true, _) => [most(22), most(23), 0],
            (false, false, _) => [most(24), most(25), most(26)],
        };
        let [wide, high, deep] = limits;
        let fits = self.width <= wide && self.height <= high && self.depth <= deep;
        let cube = self.flags & CUBEMAP == 0
            || (self.width == self.height
                && self.depth > 0
                && (self.depth == 6 || self.flags & LAYERED != 0 && self.depth.is_multiple_of(6)));
        let shaped = if layered { !flat } else { flat || self.height > 0 };
        let channels = match element(self.format) {
            Some(Element::Channel(_)) => matches!(self.channels, 1 | 2 | 4),
            Some(_) => (1..=4).contains(&self.channels),
            None => false,
        };
        let flags = self.flags & !ALL_FLAGS == 0;
        if self.width > 0 && fits && cube && shaped && channels && flags {
            Ok(())
        } else {
            Err(Status::INVALID_VALUE)
        }
    }

    /// Bytes of all elements, before rounding. A dimension that is not there counts once.
    fn bytes(&self) -> u64 {
        let (width, height) = (self.width.max(1), self.height.max(1));
        // The limits keep all products far below the end of the numbers.
        let all = match element(self.format) {
            Some(Element::Channel(bytes)) => width * height * bytes * u64::from(self.channels),
            Some(Element::Whole(bits)) => (width * height * bits).div_ceil(8),
            Some(Element::Square(bytes)) => width.div_ceil(4) * height.div_ceil(4) * bytes,
            None => 0,
        };
        all.saturating_mul(self.depth.max(1))
    }

    /// The shape of a mipmap's level; layers stay.
    fn level(&self, level: u32) -> Self {
        let less = |size: u64| if size == 0 { 0 } else { (size >> level).max(1) };
        let depth = if self.is_layered() { self.depth } else { less(self.depth) };
        Self { width: less(self.width), height: less(self.height), depth, ..*self }
    }

    /// How many levels a mipmap of this shape can have.
    fn most_levels(&self) -> u32 {
        let depth = if self.is_layered() { 0 } else { self.depth };
        1 + self.width.max(self.height).max(depth).max(1).ilog2()
    }
}

#[derive(Debug)]
enum Kind {
    Plain,
    /// The arrays of its levels.
    Mipmap(Vec<u64>),
    /// A part of a mipmap.
    Level,
}

#[derive(Debug)]
struct Array {
    context: Arc<Context>,
    shape: Shape,
    kind: Kind,
}

/// The arrays and mipmaps of this process.
#[derive(Debug, Default)]
pub struct Arrays {
    table: RwLock<HashMap<u64, Array>>,
}

impl Arrays {
    fn read(&self) -> RwLockReadGuard<'_, HashMap<u64, Array>> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<u64, Array>> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_memory(context: &Context, id: u64, shape: Shape, bytes: u64) -> Result<(), Status> {
        if shape.flags & (SPARSE | DEFERRED) == 0 {
            let bytes = bytes.checked_next_multiple_of(ALIGNMENT).ok_or(Status::OUT_OF_MEMORY)?;
            context.keep(id, Allocation::create(&context.device, bytes, Origin::Linear)?);
        }
        Ok(())
    }

    pub fn create(&self, context: Arc<Context>, shape: Shape) -> Result<u64, Status> {
        shape.check(context.device.profile)?;
        let id = ids::next();
        Self::take_memory(&context, id, shape, shape.bytes())?;
        self.write().insert(id, Array { context, shape, kind: Kind::Plain });
        Ok(id)
    }

    /// `cuMipmappedArrayCreate`: more levels than there can be are as many as there can be.
    pub fn create_mipmap(
        &self,
        context: Arc<Context>,
        shape: Shape,
        levels: u32,
    ) -> Result<u64, Status> {
        shape.check(context.device.profile)?;
        let id = ids::next();
        let levels = levels.clamp(1, shape.most_levels());
        let shapes: Vec<Shape> = (0..levels).map(|level| shape.level(level)).collect();
        Self::take_memory(&context, id, shape, shapes.iter().map(Shape::bytes).sum())?;
        let mut table = self.write();
        let mut parts = Vec::new();
        for shape in shapes {
            let part = ids::next();
            table.insert(part, Array { context: Arc::clone(&context), shape, kind: Kind::Level });
            parts.push(part);
        }
        table.insert(id, Array { context, shape, kind: Kind::Mipmap(parts) });
        Ok(id)
    }

    pub fn level(&self, id: u64, level: u32) -> Result<u64, Status> {
        match self.read().get(&id).map(|array| &array.kind) {
            Some(Kind::Mipmap(parts)) => usize::try_from(level)
                .ok()
                .and_then(|level| parts.get(level).copied())
                .ok_or(Status::INVALID_VALUE),
            _ => Err(Status::INVALID_HANDLE),
        }
    }

    /// The shape of an array or of a mipmap's level.
    pub fn shape(&self, id: u64) -> Result<Shape, Status> {
        let table = self.read();
        let array = table.get(&id).filter(|array| !matches!(array.kind, Kind::Mipmap(_)));
        let array = array.ok_or(Status::INVALID_HANDLE)?;
        array.context.check()?;
        Ok(array.shape)
    }

    /// What an array or mipmap without memory would need.
    pub fn requirements(&self, id: u64, mipmap: bool) -> Result<u64, Status> {
        let table = self.read();
        let array = table.get(&id).ok_or(Status::INVALID_HANDLE)?;
        let bytes = match &array.kind {
            Kind::Plain if !mipmap => array.shape.bytes(),
            Kind::Mipmap(parts) if mipmap => {
                parts.iter().filter_map(|part| table.get(part).map(|part| part.shape.bytes())).sum()
            }
            _ => return Err(Status::INVALID_HANDLE),
        };
        if array.shape.flags & DEFERRED == 0 {
            return Err(Status::INVALID_VALUE);
        }
        bytes.checked_next_multiple_of(ALIGNMENT).ok_or(Status::INVALID_VALUE)
    }

    /// `cuArrayDestroy` and `cuMipmappedArrayDestroy`: waits for the context's work first.
    pub fn destroy(&self, id: u64, mipmap: bool) -> Result<(), Status> {
        let right = |kind: &Kind| match kind {
            Kind::Plain => !mipmap,
            Kind::Mipmap(_) => mipmap,
            Kind::Level => false,
        };
        let array = {
            let mut table = self.write();
            if !table.get(&id).is_some_and(|array| right(&array.kind)) {
                return Err(Status::INVALID_HANDLE);
            }
            let array = table.remove(&id).ok_or(Status::INVALID_HANDLE)?;
            if let Kind::Mipmap(parts) = &array.kind {
                table.retain(|id, _| !parts.contains(id));
            }
            array
        };
        // One whose context has ended has given its memory back already.
        array.context.check()?;
        let waited = array.context.queue.wait_all();
        array.context.free(id);
        waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(width: u64, height: u64, depth: u64, format: u32, channels: u32, flags: u32) -> Shape {
        Shape { width, height, depth, format, channels, flags }
    }

    #[test]
    fn sizes_are_counted_in_bytes() {
        assert_eq!(shape(100, 0, 0, 0x20, 4, 0).bytes(), 1600);
        assert_eq!(shape(100, 10, 0, 0x01, 2, 0).bytes(), 2000);
        assert_eq!(shape(8, 8, 8, 0x10, 1, 0).bytes(), 1024);
        assert_eq!(shape(9, 5, 0, 0x91, 4, 0).bytes(), 3 * 2 * 8);
        assert_eq!(shape(16, 16, 0, 0xb0, 3, 0).bytes(), 384);
        assert_eq!(shape(4, 0, 3, 0x08, 1, LAYERED).bytes(), 12);
    }

    #[test]
    fn shapes_that_no_card_has_are_refused() {
        let profile = crate::profiles::PROFILES[0];
        for good in [
            shape(1, 0, 0, 1, 1, 0),
            shape(64, 64, 6, 1, 4, CUBEMAP),
            shape(64, 64, 12, 1, 4, CUBEMAP | LAYERED),
            shape(64, 0, 5, 0x20, 1, LAYERED),
            shape(64, 64, 64, 0x20, 2, 2),
        ] {
            assert_eq!(good.check(profile), Ok(()), "{good:?}");
        }
        for bad in [
            shape(0, 1, 0, 1, 1, 0),
            shape(1, 0, 0, 1, 3, 0),
            shape(1, 0, 0, 4, 1, 0),
            shape(1, 0, 1, 1, 1, 0),
            shape(64, 32, 6, 1, 4, CUBEMAP),
            shape(64, 64, 5, 1, 4, CUBEMAP),
            shape(64, 64, 0, 1, 4, LAYERED),
            shape(1 << 40, 0, 0, 1, 1, 0),
            shape(1, 0, 0, 1, 1, 1 << 20),
        ] {
            assert_eq!(bad.check(profile), Err(Status::INVALID_VALUE), "{bad:?}");
        }
    }

    #[test]
    fn levels_halve_and_layers_stay() {
        let flat = shape(8, 4, 0, 1, 1, 0);
        assert_eq!(flat.most_levels(), 4);
        assert_eq!(flat.level(3), shape(1, 1, 0, 1, 1, 0));
        assert_eq!(shape(8, 4, 6, 1, 1, LAYERED).level(1), shape(4, 2, 6, 1, 1, LAYERED));
        assert_eq!(shape(4, 4, 16, 1, 1, 0).most_levels(), 5);
    }
}
