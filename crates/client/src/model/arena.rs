//! A version's addresses: one range, in which each slab has its place.

use std::fmt;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use millpond_cuda::CudaError;
use millpond_cuda::sys::Status;
use millpond_wire::{Mode, TensorId};

use crate::retire::RetireList;
use crate::slab_map::DeviceSide;

/// The slabs of a version, mapped side by side. Whoever holds it may use it; only the retire list
/// unmaps it.
pub(crate) struct Arena<D: DeviceSide> {
    list: Arc<RetireList<D>>,
    /// Taken out only to be unmapped.
    mapped: Option<Places<D>>,
}

struct Places<D: DeviceSide> {
    /// A version without bytes has none.
    range: Option<D::Range>,
    slabs: Vec<Place<D>>,
}

/// Where a slab lies, and which one.
struct Place<D: DeviceSide> {
    offset: u64,
    bytes: u64,
    content: Option<Content<D>>,
}

struct Content<D: DeviceSide> {
    part: TensorId,
    mode: Mode,
    /// Kept, so that what was unmapped can be mapped again. To give it back is a call to the
    /// driver, moreover, and who waits for an attach should not wait for that as well.
    memory: D::Memory,
    /// Absent between unmapping and mapping again.
    placed: Option<D::Placed>,
}

/// A slab that is to take the place of another.
pub(crate) struct New<D: DeviceSide> {
    pub(crate) index: usize,
    pub(crate) part: TensorId,
    pub(crate) memory: D::Memory,
}

/// Why slabs were not exchanged.
#[derive(Debug)]
pub(crate) struct NotExchanged {
    pub(crate) error: CudaError,
    /// What could not be put back as it was.
    pub(crate) broken: Option<CudaError>,
}

impl<D: DeviceSide> Arena<D> {
    /// Reserves the addresses for slabs of these sizes.
    pub(crate) fn reserve(
        device: &D,
        list: &Arc<RetireList<D>>,
        sizes: impl Iterator<Item = u64>,
    ) -> Result<Self, CudaError> {
        let (mut slabs, mut offset) = (Vec::new(), 0u64);
        for bytes in sizes {
            slabs.push(Place { offset, bytes, content: None });
            // Too much for any driver, which then says so.
            offset = offset.saturating_add(bytes);
        }
        let range = match offset {
            0 => None,
            bytes => Some(device.reserve(list.context(), bytes)?),
        };
        Ok(Self { list: Arc::clone(list), mapped: Some(Places { range, slabs }) })
    }

    /// Where its lease is retired.
    pub(crate) fn list(&self) -> &Arc<RetireList<D>> {
        &self.list
    }

    pub(crate) fn range(&self) -> Option<&D::Range> {
        self.mapped.as_ref()?.range.as_ref()
    }

    /// The slab at this place, if it is mapped.
    pub(crate) fn placed(&self, index: usize) -> Option<&D::Placed> {
        self.mapped.as_ref()?.slabs.get(index)?.content.as_ref()?.placed.as_ref()
    }

    /// Which slab is mapped at this place.
    pub(crate) fn part(&self, index: usize) -> Option<TensorId> {
        Some(self.mapped.as_ref()?.slabs.get(index)?.content.as_ref()?.part)
    }

    /// Whether slabs of these sizes have their places here.
    pub(crate) fn is_made_for(&self, sizes: impl Iterator<Item = u64>) -> bool {
        let slabs = self.mapped.as_ref().map_or(&[][..], |mapped| &mapped.slabs);
        slabs.iter().map(|slab| slab.bytes).eq(sizes)
    }

    /// Maps a slab at its place, which is free.
    pub(crate) fn fill(
        &mut self,
        device: &D,
        index: usize,
        part: TensorId,
        fd: BorrowedFd<'_>,
        mode: Mode,
    ) -> Result<(), CudaError> {
        let context = self.list.context();
        let Some(Places { range: Some(range), slabs }) = &mut self.mapped else {
            return Err(no_such_place(index));
        };
        let place = slabs.get_mut(index).filter(|place| place.content.is_none());
        let Some(place) = place else { return Err(no_such_place(index)) };
        let memory = device.import(context, fd, place.bytes)?;
        match device.place(context, range, place.offset, &memory, mode) {
            Ok(placed) => {
                place.content = Some(Content { part, mode, memory, placed: Some(placed) });
                Ok(())
            }
            Err(error) => {
                note(device.release(memory));
                Err(error)
            }
        }
    }

    /// Takes a reference to a slab that is to take this place.
    pub(crate) fn import(
        &self,
        device: &D,
        index: usize,
        part: TensorId,
        fd: BorrowedFd<'_>,
    ) -> Result<New<D>, CudaError> {
        let place = self.mapped.as_ref().and_then(|mapped| mapped.slabs.get(index));
        let place = place.ok_or_else(|| no_such_place(index))?;
        let memory = device.import(self.list.context(), fd, place.bytes)?;
        Ok(New { index, part, memory })
    }

    /// Puts other slabs at the places of those that are there, when the work of the context is
    /// done. No address changes. If it fails, all that was mapped before is mapped again.
    pub(crate) fn exchange(&mut self, device: &D, news: Vec<New<D>>) -> Result<(), NotExchanged> {
        let context = self.list.context();
        let Some(Places { range: Some(range), slabs }) = &mut self.mapped else {
            return Ok(());
        };
        let side = Side { device, context, range };
        let mut news = news.into_iter();
        let mut failure = device.synchronize(context).err().map(NotExchanged::from);
        let mut olds: Vec<(usize, Content<D>)> = Vec::new();
        while failure.is_none()
            && let Some(New { index, part, memory }) = news.next()
        {
            let mode = slabs[index].content.as_ref().map_or(Mode::ReadOnly, |old| old.mode);
            let new = Content { part, mode, memory, placed: None };
            match side.replace(&mut slabs[index], new) {
                Ok(old) => olds.extend(old.map(|old| (index, old))),
                Err(error) => failure = Some(error),
            }
        }
        news.for_each(|new| note(device.release(new.memory)));
        let Some(mut failure) = failure else {
            olds.into_iter().for_each(|(_, old)| note(device.release(old.memory)));
            return Ok(());
        };
        for (index, old) in olds.into_iter().rev() {
            match side.replace(&mut slabs[index], old) {
                Ok(new) => {
                    new.into_iter().for_each(|new| note(device.release(new.memory)));
                }
                Err(NotExchanged { error, .. }) => failure.broken = Some(error),
            }
        }
        Err(failure)
    }

    /// Gives back slabs that take nobody's place.
    pub(crate) fn discard(device: &D, news: Vec<New<D>>) {
        news.into_iter().for_each(|new| note(device.release(new.memory)));
    }

    /// Unmaps everything. The work of the context is done, or there never was any.
    pub(crate) fn unmap(mut self, device: &D) -> Result<(), CudaError> {
        let Some(Places { range, slabs }) = self.mapped.take() else { return Ok(()) };
        let mut outcome = Ok(());
        for Content { memory, placed, .. } in slabs.into_iter().filter_map(|slab| slab.content) {
            match placed.map_or(Ok(()), |placed| device.lift(placed)) {
                Ok(()) => outcome = outcome.and(device.release(memory)),
                Err((placed, error)) => {
                    // It stays, with its addresses.
                    std::mem::forget((placed, memory));
                    outcome = outcome.and(Err(error));
                }
            }
        }
        drop(range);
        outcome
    }
}

/// Where slabs are exchanged.
struct Side<'a, D: DeviceSide> {
    device: &'a D,
    context: &'a D::Context,
    range: &'a D::Range,
}

impl<D: DeviceSide> Side<'_, D> {
    /// Puts one slab at the place of another, which is handed out unmapped. If that fails the place
    /// is as before, unless the failure says that it is broken.
    fn replace(
        &self,
        place: &mut Place<D>,
        mut new: Content<D>,
    ) -> Result<Option<Content<D>>, NotExchanged> {
        if let Some(old) = &mut place.content
            && let Some(placed) = old.placed.take()
            && let Err((placed, error)) = self.device.lift(placed)
        {
            old.placed = Some(placed);
            note(self.device.release(new.memory));
            return Err(error.into());
        }
        let old = place.content.take();
        match self.map(place.offset, &new) {
            Ok(placed) => {
                new.placed = Some(placed);
                place.content = Some(new);
                Ok(old)
            }
            Err(error) => {
                note(self.device.release(new.memory));
                let mut failure = NotExchanged::from(error);
                if let Some(mut old) = old {
                    match self.map(place.offset, &old) {
                        Ok(placed) => old.placed = Some(placed),
                        Err(error) => failure.broken = Some(error),
                    }
                    place.content = Some(old);
                }
                Err(failure)
            }
        }
    }

    fn map(&self, offset: u64, content: &Content<D>) -> Result<D::Placed, CudaError> {
        self.device.place(self.context, self.range, offset, &content.memory, content.mode)
    }
}

impl From<CudaError> for NotExchanged {
    fn from(error: CudaError) -> Self {
        Self { error, broken: None }
    }
}

fn no_such_place(index: usize) -> CudaError {
    let detail = Some(format!("slab {index} has no free place"));
    CudaError { call: "Arena::fill", status: Status::INVALID_VALUE, detail }
}

/// A reference that is not given back keeps memory only until the process ends.
fn note(released: Result<(), CudaError>) {
    if let Err(error) = released {
        tracing::debug!(%error, "a reference to a slab was not given back");
    }
}

/// What was not unmapped in order stays: work may still use it, or the process is a forked copy, or
/// it ends and nothing is to be called.
impl<D: DeviceSide> Drop for Arena<D> {
    fn drop(&mut self) {
        std::mem::forget(self.mapped.take());
    }
}

impl<D: DeviceSide> fmt::Debug for Arena<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slabs = self.mapped.as_ref().map_or(0, |mapped| mapped.slabs.len());
        f.debug_struct("Arena").field("slabs", &slabs).finish_non_exhaustive()
    }
}
