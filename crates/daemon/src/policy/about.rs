//! What a pond says about itself, and what only those who run it may have it do.

use millpond_wire::message::{EventKind, ReplyBody, Service};
use millpond_wire::{Epoch, ErrorKind, Failure, PondId};

use super::answer::{Answer, now};
use super::owner::Caller;
use super::pond::Pond;
use super::ports::Ports;

/// Which pond this is, and which of its daemons.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity {
    pub pond: PondId,
    pub created_ms: u64,
    pub epoch: Epoch,
    pub started_ms: u64,
}

/// Facts for `status` that the policy does not need.
#[derive(Clone, Debug, Default)]
pub struct About {
    pub daemon_pid: u32,
    /// The file that it runs from.
    pub program: String,
    /// The library that programs under a limit preload.
    pub preload_library: Option<String>,
    pub keeper_pid: u32,
    pub runtime_dir: String,
    pub journal_bytes: u64,
    /// The unit of the service manager that runs the pond.
    pub service: Option<Service>,
    /// The file that the log goes to; empty means standard error.
    pub log_file: String,
    /// Tensors and versions that an earlier daemon had and this one did not find.
    pub lost_tensors: u32,
    /// The model of the configuration that is being loaded.
    pub loading: String,
}

impl<P: Ports> Pond<P> {
    fn only_for_its_runner(&self, caller: &Caller, verb: &str) -> Result<(), Failure> {
        if self.is_operator(caller) {
            return Ok(());
        }
        let user = self.accounts.own_user();
        let message = format!("only the operator and user {user}, who runs the pond, may {verb}");
        Err(Failure::new(ErrorKind::Denied, message))
    }

    /// What the process says that loads the configuration's models.
    pub(super) fn start_report(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        loading: String,
        failed: &str,
    ) -> Answer<P::Fd> {
        self.only_for_its_runner(caller, "report on its start")?;
        self.about.loading = loading;
        if !failed.is_empty() {
            let user = Some(caller.owner.user);
            self.happened(ports, EventKind::StartFailed, None, None, user, failed);
        }
        now(ReplyBody::Done)
    }

    pub(super) fn upgrade(
        &mut self,
        ports: &mut P,
        caller: &Caller,
        program: &str,
    ) -> Answer<P::Fd> {
        self.only_for_its_runner(caller, "upgrade it")?;
        ports.upgrade(program).map_err(|error| {
            Failure::new(ErrorKind::Internal, format!("the keeper cannot be asked: {error}"))
        })?;
        let user = Some(caller.owner.user);
        self.happened(ports, EventKind::Upgrading, None, None, user, program);
        now(ReplyBody::Upgrading {
            from_version: env!("CARGO_PKG_VERSION").to_owned(),
            from_epoch: self.identity.epoch,
        })
    }

    /// The keeper did not change programs, or went back to this one.
    pub fn upgrade_refused(&mut self, ports: &mut P, reason: &str) {
        self.happened(ports, EventKind::Upgrading, None, None, None, reason);
    }

    /// The keeper was replaced.
    pub fn keeper_replaced(&mut self, ports: &mut P, pid: u32) {
        self.about.keeper_pid = pid;
        let text = format!("pid {pid}; the previous one is gone");
        self.happened(ports, EventKind::KeeperReplaced, None, None, None, text);
    }
}
