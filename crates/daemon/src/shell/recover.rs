//! From what the keeper hands over to a pond that serves.

use std::collections::{BTreeMap, HashMap};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use millpond_cuda::DriverChoice;
use millpond_keeper::Launch;
use millpond_keeper::channel::{HoldKey, KeyView};
use millpond_keeper::config::{self, Config, Limits};
use millpond_keeper::daemon_side::DaemonStart;
use millpond_wire::record::Record;
use millpond_wire::{Backing, Epoch, caps};

use super::DaemonError;
use super::clients::door_of;
use super::hosts::HostLaunch;
use super::movers::MoverLaunch;
use super::page::Page;
use super::world::World;
use crate::accounts::{AllTerms, Resource};
use crate::book::{self, BookThread, ChargedAccounts, GroupCaps};
use crate::descriptors;
use crate::driver::{self, DriverThread, SharedFd};
use crate::journal::Journal;
use crate::policy::{Caps, Door, Held, MoverLimits, Pond, PublicWriter};

type HeldHere = BTreeMap<HoldKey, (Backing, SharedFd)>;

/// Everything that a server is made of.
pub(super) struct Recovered {
    pub pond: Pond<World>,
    pub world: World,
    /// Each with whom it is for.
    pub listeners: Vec<(OwnedFd, Door)>,
    pub keeper_pidfd: OwnedFd,
    pub config: Config,
    pub epoch: Epoch,
}

pub(super) fn recover(start: DaemonStart) -> Result<Recovered, DaemonError> {
    let DaemonStart { channel, epoch, config, keeper_pid, keeper_pidfd, held } = start;
    // The driver needs a tenth of a second to start: it gets a head start.
    let choice: DriverChoice = std::ffi::OsString::from(&config.driver).into();
    let movers = mover_launch(&config, epoch)?;
    let hosts = host_launch(&config)?;
    let starting = DaemonError::io("starting a thread");
    let folder = config.runtime_dir.as_deref().unwrap_or("".as_ref());
    let charges = Arc::new(ChargedAccounts::default());
    let groups = group_caps(&config.limits);
    let book = book::start(folder, Arc::clone(&charges), groups).map_err(&starting)?;
    let driver = driver::start(choice, Arc::clone(&charges)).map_err(&starting)?;
    let held: HeldHere =
        held.into_iter().map(|(held, fd)| (held.key, (held.backing, Arc::new(fd)))).collect();
    let HandedOver { listeners, objects, journal, page } = HandedOver::sort(&held)?;
    let own_charges = Arc::clone(&charges);
    let around = |journal, records: &[Record]| {
        let held = with_backings(held, records);
        world(journal, channel, held, (driver, book, own_charges), (movers, hosts))
    };
    let (mut pond, mut world) = match journal {
        Some(fd) => recovered(fd, objects, epoch, caps(&config), around)?,
        None => new_pond(epoch, caps(&config), around)?,
    };
    // Before anybody is served: what clients know, they know from an earlier daemon.
    world.page = Some(open_page(page, &mut world)?);
    // Before any slab is asked for: what is there is in the groups' accounts.
    charges.adopt(pond.slab_charges());
    world.book.ask(book::Ask::Known(pond.known_cards()));
    describe(&mut pond, &config, keeper_pid);
    Ok(Recovered { pond, world, listeners, keeper_pidfd, config, epoch })
}

/// What the keeper holds, by what it is for.
#[derive(Default)]
struct HandedOver {
    listeners: Vec<(OwnedFd, Door)>,
    objects: HashMap<Held, SharedFd>,
    journal: Option<OwnedFd>,
    page: Option<OwnedFd>,
}

impl HandedOver {
    fn sort(held: &HeldHere) -> Result<Self, DaemonError> {
        let mut sorted = Self::default();
        for (key, (_, fd)) in held {
            let copy = || fd.try_clone().map_err(DaemonError::io("copying a descriptor"));
            let object = match key.view() {
                KeyView::Slab(slab) => Held::Slab(slab),
                KeyView::Manifest(version) => Held::Manifest(version),
                KeyView::Client(client) => Held::Client(client),
                KeyView::HostChannel(host) => Held::HostChannel(host),
                KeyView::HostProcess(host) => Held::HostProcess(host),
                KeyView::Journal => {
                    sorted.journal = Some(copy()?);
                    continue;
                }
                KeyView::Page => {
                    sorted.page = Some(copy()?);
                    continue;
                }
                KeyView::Listen(name) => {
                    // Whom another one is for, a later version knows: nobody is let in here.
                    match door_of(name) {
                        Some(door) => sorted.listeners.push((copy()?, door)),
                        None => tracing::warn!("the keeper holds an unknown socket, '{name}'"),
                    }
                    continue;
                }
                KeyView::FolderLock | KeyView::GpuLock(_) => continue,
                KeyView::Handover | KeyView::Store => continue,
                KeyView::Other(key) => {
                    tracing::warn!("the keeper holds an unknown key, '{key}'");
                    continue;
                }
            };
            sorted.objects.insert(object, Arc::clone(fd));
        }
        Ok(sorted)
    }
}

/// The pond of an earlier daemon, from its journal.
fn recovered(
    journal: OwnedFd,
    objects: HashMap<Held, SharedFd>,
    epoch: Epoch,
    caps: Caps,
    around: impl FnOnce(Journal, &[Record]) -> Result<World, DaemonError>,
) -> Result<(Pond<World>, World), DaemonError> {
    let (journal, records) = Journal::open(journal)?;
    let read = records.len();
    let mut world = around(journal, &records)?;
    let (pond, found) = Pond::recover(&mut world, records, objects, epoch, caps)?;
    if world.journal.is_large() {
        world.journal.estimate(pond.snapshot().len(), read);
    }
    tracing::info!(
        %epoch,
        tensors = found.tensors,
        versions = found.versions,
        lost = found.lost_tensors,
        clients = found.clients,
        dropped = found.dropped,
        "recovered the pond"
    );
    Ok((pond, world))
}

fn new_pond(
    epoch: Epoch,
    caps: Caps,
    around: impl FnOnce(Journal, &[Record]) -> Result<World, DaemonError>,
) -> Result<(Pond<World>, World), DaemonError> {
    let journal = Journal::create()?;
    let copying = DaemonError::io("copying a descriptor");
    let fd = journal.as_fd().try_clone_to_owned().map_err(copying)?;
    let mut world = around(journal, &[])?;
    let pond = Pond::new(&mut world, random_key(), epoch, caps)?;
    world.hold_key(HoldKey::journal(), Arc::new(fd))?;
    tracing::info!(%epoch, "a new pond");
    Ok((pond, world))
}

/// The page of an earlier daemon, or a new one that the keeper holds.
fn open_page(page: Option<OwnedFd>, world: &mut World) -> Result<Page, DaemonError> {
    let making = DaemonError::io("making the page");
    let Some(fd) = page else {
        let page = Page::create().map_err(&making)?;
        world.hold_key(HoldKey::page(), page.to_hold().map_err(&making)?)?;
        return Ok(page);
    };
    Page::open(fd).map_err(making)
}

/// What `millpond status` says of the processes behind the pond.
fn describe(pond: &mut Pond<World>, config: &Config, keeper_pid: u32) {
    let text = |path: Option<&Path>| path.map(|path| path.display().to_string());
    let program = std::env::current_exe().ok();
    pond.public_writers = config.public_writers.iter().map(public_writer).collect();
    pond.about.daemon_pid = std::process::id();
    pond.about.program = text(program.as_deref()).unwrap_or_default();
    pond.about.keeper_pid = keeper_pid;
    pond.about.runtime_dir = text(config.runtime_dir.as_deref()).unwrap_or_default();
    pond.about.log_file = text(config.log_file.as_deref()).unwrap_or_default();
    pond.about.service = millpond_keeper::service();
}

/// The journal decides what a slab is made of: a keeper of the first version of the channel was told
/// nothing about it, and the next one is.
fn with_backings(mut held: HeldHere, records: &[Record]) -> HeldHere {
    for record in records {
        if let Record::SlabMade(made) = record
            && let Some((backing, _)) = held.get_mut(&HoldKey::slab(made.slab))
        {
            *backing = made.backing;
        }
    }
    held
}

fn world(
    journal: Journal,
    channel: millpond_keeper::channel::Channel,
    held: HeldHere,
    threads: (DriverThread, BookThread, Arc<ChargedAccounts>),
    launches: (MoverLaunch, HostLaunch),
) -> Result<World, DaemonError> {
    World::new(journal, channel, held, threads, launches)
        .map_err(DaemonError::io("making an event loop"))
}

fn mover_launch(config: &Config, epoch: Epoch) -> Result<MoverLaunch, DaemonError> {
    let launch = Launch::this_program("mover").map_err(DaemonError::io("finding this program"))?;
    // The program may be replaced before this daemon is: a mover of another version is of no use.
    Ok(MoverLaunch {
        launch: launch.pinned().with_log(config),
        driver: config.driver.clone(),
        epoch,
    })
}

fn host_launch(config: &Config) -> Result<HostLaunch, DaemonError> {
    let launch = Launch::this_program("host").map_err(DaemonError::io("finding this program"))?;
    let launch = launch.pinned().with_log(config);
    Ok(HostLaunch { launch, driver: config.driver.clone() })
}

fn caps(config: &Config) -> Caps {
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let limits = &config.limits;
    Caps {
        terms: terms(limits),
        own_user: rustix::process::geteuid().as_raw(),
        tensors: count(limits.tensors),
        clients_per_process: count(limits.clients_per_process),
        keep_previous: count(config.models.keep_previous),
        leases_per_client: count(limits.leases_per_client),
        recycle_bytes: config.recycle_bytes.0,
        movers: MoverLimits {
            patience_ms: config.mover_seconds * 1000,
            idle_ms: config.mover_idle_seconds * 1000,
        },
    }
}

fn group_caps(of: &Limits) -> GroupCaps {
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    GroupCaps {
        all: count(of.groups),
        named_per_user: count(of.groups_per_user),
        unnamed_per_user: count(of.runs_per_user),
    }
}

fn terms(of: &Limits) -> AllTerms {
    let in_flight = of.descriptors_in_flight.min(descriptors::in_flight());
    let most = caps::MESSAGE_FDS as u64;
    let per_user = of.descriptors_in_flight_per_user.min(in_flight / 4).max(most);
    AllTerms::NONE
        .with(Resource::Clients, of.clients_per_user)
        .with_reserve(Resource::Clients, of.clients)
        .with_in_all(Resource::Clients, of.clients)
        .with(Resource::Connections, of.connections_per_user)
        .with_share(Resource::Clients, descriptors::share())
        .with_share(Resource::Connections, descriptors::share())
        .with(Resource::Leases, of.leases_per_user)
        .with_in_all(Resource::Leases, of.leases)
        .with(Resource::Waits, of.waits_per_user)
        .with_in_all(Resource::Waits, of.waits)
        .with(Resource::Tensors, of.tensors_per_user)
        .with_in_all(Resource::Tensors, of.tensors)
        .with(Resource::Versions, of.versions_per_user)
        .with(Resource::Moves, of.moves_per_user)
        .with(Resource::MoveBytes, of.move_bytes_per_user.0)
        .with(Resource::Descriptors, per_user)
        .with_in_all(Resource::Descriptors, in_flight)
        .with(Resource::ReplyBytes, of.reply_bytes_per_user.0)
        .with_in_all(Resource::ReplyBytes, of.reply_bytes.0)
        .with(Resource::Events, of.events_per_user)
        .with(Resource::Groups, of.groups_per_user)
        .with_reserve(Resource::Groups, of.groups)
        .with_in_all(Resource::Groups, of.groups)
        .with(Resource::Runs, of.runs_per_user)
        .with_reserve(Resource::Runs, of.groups)
        .with_in_all(Resource::Runs, of.groups)
        .with(Resource::Holds, of.holds_per_user)
        .with(Resource::Holders, of.holders_per_user)
        .with_share(Resource::Holders, descriptors::share())
        .with(Resource::Hosts, of.hosts_per_user)
}

fn public_writer(writer: &config::PublicWriter) -> PublicWriter {
    match writer {
        config::PublicWriter::Everybody => PublicWriter::Everybody,
        config::PublicWriter::User(user) => PublicWriter::User(*user),
        config::PublicWriter::UnixGroup(group) => PublicWriter::UnixGroup(*group),
    }
}

/// Sixteen bytes from the system's generator.
fn random_key() -> [u8; 16] {
    *uuid::Uuid::new_v4().as_bytes()
}
