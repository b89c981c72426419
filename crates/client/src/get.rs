//! Gets, one by one or many at once.
//!
//! A get is a message and then, in most cases, calls of the driver. Of many gets one thread asks for
//! the next while another maps the last, so that together they take as long as the driver needs.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Instant;

use millpond_wire::message::{RequestBody, Target, TensorGet};
use millpond_wire::{LeaseId, Mode};

use crate::answer::Answer;
use crate::link::Ask;
use crate::memo::Mark;
use crate::spec::{GetOptions, wait_ms};
use crate::tensor::Shared;
use crate::{Error, IntoTarget, Pond, Result, Tensor, cancel};

const WHAT: &str = "a request for a tensor";
/// Answers that may wait to be mapped: each has a descriptor open.
const AHEAD: usize = 64;

/// A get that was answered, and is not mapped yet.
#[derive(Debug)]
pub(crate) struct Got {
    target: Target,
    mode: Mode,
    mark: Option<Mark>,
    lease: LeaseId,
    answer: Answer,
}

impl Pond {
    /// Maps many tensors; faster than one after the other. In the order of the targets.
    ///
    /// # Errors
    /// As for [`Pond::get_with`], for the first that fails; none is mapped then.
    pub fn get_many<T: IntoTarget>(
        &self,
        targets: impl IntoIterator<Item = T>,
        options: GetOptions,
    ) -> Result<Vec<Tensor>> {
        // What depends on the caller's context is done in the caller's thread.
        let mut tensors = Vec::new();
        let mut to_ask = Vec::new();
        for (place, target) in targets.into_iter().enumerate() {
            let target = target.into_target()?;
            let mark = self.core().link.mark(&target);
            let known = self.recall(&target, options.mode, mark)?;
            if known.is_none() {
                to_ask.push((place, target, mark));
            }
            tensors.push(known);
        }
        if !to_ask.is_empty() {
            self.core().cuda.prepare(None)?;
            self.ask_and_map(to_ask, options, &mut tensors)?;
        }
        Ok(tensors.into_iter().flatten().collect())
    }

    fn ask_and_map(
        &self,
        to_ask: Vec<(usize, Target, Option<Mark>)>,
        options: GetOptions,
        tensors: &mut [Option<Tensor>],
    ) -> Result<()> {
        let (answered, to_map) = sync_channel(AHEAD);
        let asker = move || {
            for (place, target, mark) in to_ask {
                let got = self.ask_get(target, options, mark);
                let failed = got.is_err();
                if answered.send((place, got)).is_err() || failed {
                    return;
                }
            }
        };
        std::thread::scope(|scope| {
            std::thread::Builder::new()
                .name("millpond-get".to_owned())
                .spawn_scoped(scope, cancel::inherited(asker))
                .map_err(|error| Error::system("starting a thread for many gets", error))?;
            let mut failure = None;
            // What was granted is mapped in any case: dropped, it is given back in order.
            while let Some((place, got)) = cancel::receive(&to_map) {
                match got.and_then(|got| self.map_got(got)) {
                    Ok(tensor) => tensors[place] = Some(tensor),
                    Err(error) => failure = failure.or(Some(error)),
                }
            }
            failure.map_or(Ok(()), Err)
        })
    }

    /// The tensor, if this process has it and nothing has happened to it since.
    pub(crate) fn recall(
        &self,
        target: &Target,
        mode: Mode,
        mark: Option<Mark>,
    ) -> Result<Option<Tensor>> {
        self.if_good(mark.and_then(|mark| self.core().memo.recall(target, mode, mark)))
    }

    /// As [`Pond::recall`], by a name that was not checked.
    pub(crate) fn recall_text(&self, text: &str, mode: Mode) -> Result<Option<Tensor>> {
        let core = self.core();
        self.if_good(core.memo.recall_text(&core.link, text, mode))
    }

    fn if_good(&self, known: Option<Arc<Shared>>) -> Result<Option<Tensor>> {
        let Some(known) = known else { return Ok(None) };
        Ok(known.is_good_now(&self.core().cuda)?.then(|| Tensor::sharing(known)))
    }

    pub(crate) fn ask_get(
        &self,
        target: Target,
        options: GetOptions,
        mark: Option<Mark>,
    ) -> Result<Got> {
        let core = self.core();
        let lease = core.link.new_lease();
        let GetOptions { mode, wait } = options;
        let get = TensorGet { target: target.clone(), lease, mode, wait_ms: wait_ms(wait) };
        let answer = core.link.call(
            Ask {
                what: WHAT,
                body: RequestBody::TensorGet(get),
                lease: Some(lease),
                deadline: self.deadline(wait).filter(|_| !options.waits_for_ever()),
                waits_until: Instant::now().checked_add(wait),
            },
            None,
        )?;
        Ok(Got { target, mode, mark, lease, answer })
    }

    pub(crate) fn map_got(&self, got: Got) -> Result<Tensor> {
        let Got { target, mode, mark, lease, answer } = got;
        let core = self.core();
        let taken = core.take(WHAT, answer, lease, mode)?;
        let tensor = Tensor::new(self, taken, lease, mode);
        // Where gets are counted, each is asked for.
        if let (Some(mark), None) = (mark, tensor.info().life.accesses) {
            core.memo.remember(target, mode, mark, tensor.shared());
        }
        Ok(tensor)
    }
}
