//! What must be true of caches: at every grant and at every page, and when everything is at rest.

use std::collections::BTreeSet;

use millpond_wire::CacheId;

use super::{Extent, FRAME_UNITS, State};
use crate::daemon::Daemon;
use crate::oracle::{Violation, ensure};
use crate::world::World;

impl World {
    /// Grants and answers about them since the last look.
    ///
    /// # Errors
    /// The first that should not have been.
    pub(crate) fn check_grants(&mut self) -> Result<(), Violation> {
        for file in self.groups.borrow_mut().values_mut() {
            if let Some(broken) = file.broken.take() {
                return Err(broken);
            }
        }
        match &mut self.daemon {
            Daemon::Running(running) => running.ports.book.caches.broken.take().map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }

    /// What a process has of the card is counted in its slot.
    pub(super) fn check_paid(&mut self, at: usize) -> Result<(), Violation> {
        let process = &self.caches[at];
        let made: usize = process.commits.iter().map(|commit| commit.frames.len()).sum();
        let extents = process.extents.iter().filter(|it| it.state != State::Freed);
        let held = extents.map(Extent::units).sum::<u64>() + made as u64 * FRAME_UNITS;
        let groups = self.groups.borrow();
        let slot = groups.get(&process.group).and_then(|file| file.slot(process.slot));
        let counted = slot.map_or(0, |slot| slot.halves().used.into());
        ensure(held <= counted, "pages are paid for as long as they are there", || {
            format!("pid {} has {held} units and is charged with {counted}", process.pid)
        })
    }

    /// A process reads what it wrote, and nothing else.
    pub(super) fn look_at_pages(&self, at: usize) -> Result<(), Violation> {
        let process = &self.caches[at];
        let mapped = |it: &&Extent| matches!(it.state, State::Used | State::Idle);
        for extent in process.extents.iter().filter(mapped) {
            for frame in extent.frames.iter().map(|frame| self.card.frames[*frame]) {
                ensure(frame.handle == Some(extent.handle), "no page has two owners", || {
                    format!("pid {}: {extent:?} is {frame:?}", process.pid)
                })?;
                let own = frame.word == 0 || frame.word == extent.handle;
                ensure(own, "a cache reads what it wrote", || {
                    format!("pid {}: {extent:?} has {frame:?}", process.pid)
                })?;
            }
        }
        Ok(())
    }

    /// Everything is at rest.
    ///
    /// # Errors
    /// What is owed, kept or forgotten.
    pub(crate) fn check_caches(&mut self) -> Result<(), Violation> {
        if !self.has_caches {
            return Ok(());
        }
        let Daemon::Running(running) = &mut self.daemon else { return Ok(()) };
        let rests = running.ports.book.caches.is_at_rest();
        ensure(rests, "every wait is answered", || format!("{:?}", running.ports.book.caches))?;
        let infos = running.ports.cache_infos(None);
        let known: BTreeSet<CacheId> = infos.iter().map(|info| info.cache).collect();
        let living: BTreeSet<CacheId> = self
            .caches
            .iter()
            .filter(|it| it.alive && !it.line.closes())
            .map(|it| it.cache)
            .collect();
        ensure(known == living, "the daemon knows the caches that there are", || {
            format!("{known:?}, not {living:?}")
        })?;
        let now_ms = self.clock.get();
        let groups = self.groups.borrow();
        for file in groups.values() {
            let owed = file.slots.iter().find(|slot| slot.wait(now_ms) != (0, 0));
            ensure(owed.is_none(), "nothing is owed or kept at rest", || format!("{owed:?}"))?;
        }
        let mut frames = 0;
        for (at, process) in self.caches.iter().enumerate().filter(|(_, it)| it.alive) {
            let slot = groups.get(&process.group).and_then(|file| file.slot(process.slot));
            let Some(slot) = slot else {
                return Err(Violation::new(
                    "a living process has its slot",
                    format!("{process:?}"),
                ));
            };
            let held: u64 = process.extents.iter().map(Extent::units).sum();
            let counted = u64::from(slot.halves().used);
            ensure(held == counted, "a cache is charged with its pages", || {
                format!("pid {} has {held} units and is charged with {counted}", process.pid)
            })?;
            let kept = slot.kept == 0 || process.gave_up;
            ensure(kept, "nothing is owed or kept at rest", || format!("{slot:?}"))?;
            frames += process.extents.iter().map(|it| it.frames.len()).sum::<usize>();
            self.look_at_pages(at)?;
        }
        let there = self.card.frames.iter().filter(|frame| frame.handle.is_some()).count();
        ensure(there == frames, "no page leaks", || {
            format!("{there} frames, {frames} are somebody's")
        })
    }
}
