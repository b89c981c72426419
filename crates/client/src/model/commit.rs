//! The end of a staging: what was written is hashed, and the version is complete.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use millpond_wire::ErrorKind;
use millpond_wire::message::VersionInfo;

use super::Activate;
use super::stage::{Slot, Staging};
use super::template;
use super::version::label;
use crate::weights::contents::Reading;
use crate::{Error, Result};

impl Staging {
    /// Waits for all work of the context, hashes what was written, and makes the version ready;
    /// with `activate` also current, in the same step.
    ///
    /// # Errors
    /// What the work met; `mover`; what else the pond answers. Nothing is left of the version then.
    pub fn commit(mut self, activate: bool) -> Result<VersionInfo> {
        self.attachment.own()?;
        if self.slots.contains(&Slot::Empty) {
            let message = format!("a slab of '{}' could not be made its own", label(&self.info));
            let hint = "stage it anew".to_owned();
            return Err(Error::version(ErrorKind::Invalid, message, hint));
        }
        self.attachment.context().synchronize()?;
        self.hash()?;
        let activate = if activate { Activate::Yes } else { Activate::No };
        let info = self.unfinished.commit(&self.manifest, activate)?;
        self.attachment.sealed.store(true, Ordering::Release);
        Ok(info)
    }

    /// Puts the hashes of all slabs of its own into the manifest. Those of shared slabs are known.
    fn hash(&mut self) -> Result<()> {
        let own = |slab: usize| self.slots[slab] == Slot::Own;
        let (manifest, parts) = (&self.manifest, self.parts.as_slice());
        let link = &self.attachment.pond().core().link;
        let reading = Reading { link, manifest, parts, places: &[], files: &[] };
        let hashes = reading.hashes(own, |_| ControlFlow::Continue(()))?;
        for (index, tensor) in self.manifest.tensors.iter_mut().enumerate() {
            if self.slots[tensor.slab] == Slot::Own {
                let missing = || Error::Protocol(format!("no hash of '{}' came", tensor.name));
                tensor.hash = hashes.tensor(index).ok_or_else(missing)?;
            }
        }
        let slots = &self.slots;
        template::hash_slabs(&mut self.manifest, |slab| slots[slab] == Slot::Own);
        Ok(())
    }
}
