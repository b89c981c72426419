//! Asks a pond for everything, once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroU32;
use std::path::Path;

use millpond::{ErrorKind, ModelInfo, Pond, PondBuilder, Result, TensorId, VersionId};
use millpond_view as view;

use crate::{
    Card, CardReader, DeviceParts, GroupMembers, Names, Overview, Sees, Selection, SharedSlab,
    TensorGroup,
};

/// A page of a listing: the answer is made in slices and is a few megabytes.
const PAGE: NonZeroU32 = NonZeroU32::MIN.saturating_add(4095);
/// So many names of what a process holds are told.
const HOLDS: usize = 64;

/// What is collected.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// So many tensors are shown one by one.
    pub tensors: usize,
    /// Whether the processes of groups are asked for: one more request for each group.
    pub members: bool,
    /// Whether this process reads the cards through NVML too: utilisation, power, temperature.
    pub readings: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { tensors: 1000, members: false, readings: false }
    }
}

/// Connects to `watch.sock`, which shows everything, or where this user may not, to `sock`.
///
/// # Errors
/// `no_pond` if nobody answers; see [`PondBuilder::connect`] for the others.
pub fn connect_to_see(builder: PondBuilder) -> Result<(Pond, Sees)> {
    match builder.clone().watch().connect() {
        Ok(pond) => Ok((pond, Sees::Everything)),
        Err(error) if error.kind() == ErrorKind::Denied => Ok((builder.connect()?, Sees::Own)),
        Err(error) => Err(error),
    }
}

/// Collects overviews of one pond.
#[derive(Debug)]
pub struct Collector {
    pond: Pond,
    sees: Sees,
    options: Options,
    names: Names,
    reader: Option<CardReader>,
    /// The slabs of versions that share some: they do not change once a version is complete.
    parts: HashMap<VersionId, Vec<(TensorId, u64)>>,
}

impl Collector {
    /// Connects by [`connect_to_see`] to the pond of a folder, or to the one that a client finds by itself.
    ///
    /// # Errors
    /// Those of [`connect_to_see`].
    pub fn connect(folder: Option<&Path>, program: &str, options: Options) -> Result<Self> {
        let mut builder = Pond::builder().program(program);
        if let Some(folder) = folder {
            builder = builder.runtime_dir(folder);
        }
        let (pond, sees) = connect_to_see(builder)?;
        Ok(Self::new(pond, sees, options))
    }

    /// Collects over a connection that is there already; `sees` says what it was opened for.
    #[must_use]
    pub fn new(pond: Pond, sees: Sees, options: Options) -> Self {
        let reader = options.readings.then(CardReader::open).flatten();
        Self { pond, sees, options, names: Names::default(), reader, parts: HashMap::new() }
    }

    /// The connection.
    #[must_use]
    pub const fn pond(&self) -> &Pond {
        &self.pond
    }

    /// Whose objects it is told about.
    #[must_use]
    pub const fn sees(&self) -> Sees {
        self.sees
    }

    /// Everything, as it is now.
    ///
    /// # Errors
    /// What the pond answers to the first request that it refuses.
    pub fn collect(&mut self) -> Result<Overview> {
        self.names.refresh();
        let (tensors, tensor_groups, tensors_total) = self.tensors()?;
        let infos = self.pond.models("")?;
        let shared_slabs = self.shared_slabs(&infos)?;
        let models: Vec<_> = infos.iter().map(view::Model::from).collect();
        let clients = self.pond.clients()?;
        let tags = view::Tags::of_clients(&clients, || Ok::<_, millpond::Error>(infos))?;
        let mut processes = view::Process::all(&clients, &tags);
        processes.iter_mut().for_each(|process| process.holds.truncate(HOLDS));
        let groups: Vec<_> = self.pond.groups()?.iter().map(view::Group::from).collect();
        let members = self.members(&groups, &clients)?;
        let caches: Vec<_> = self.pond.caches(None)?.iter().map(view::Cache::from).collect();
        let users = match self.pond.accounts() {
            Ok((users, all)) => view::Users::new(&users, &all).users,
            Err(error) if error.kind() == ErrorKind::Denied => Vec::new(),
            Err(error) => return Err(error),
        };
        let status = self.pond.status()?;
        let status = view::Status::new(&status, millpond_softgpu::is_software);
        let mut overview = Overview {
            at_unix_ms: view::units::now_unix_ms(),
            sees: self.sees,
            status,
            cards: Vec::new(),
            models,
            groups,
            members,
            caches,
            processes,
            users,
            tensors_shown: u64::try_from(tensors.len()).unwrap_or(u64::MAX),
            tensors,
            tensors_total,
            tensor_groups,
            user_names: BTreeMap::new(),
        };
        overview.user_names = self.user_names(&overview);
        overview.cards = self.cards(&overview, &shared_slabs);
        Ok(overview)
    }

    fn tensors(&self) -> Result<(Vec<view::Tensor>, Vec<TensorGroup>, u64)> {
        let mut selection = Selection::new(self.options.tensors);
        for page in self.pond.list_pages("", PAGE) {
            selection.add(&page?);
        }
        Ok(selection.finish())
    }

    fn members(
        &self,
        groups: &[view::Group],
        clients: &[millpond::ClientInfo],
    ) -> Result<Vec<GroupMembers>> {
        let mut all = Vec::new();
        for group in groups.iter().filter(|_| self.options.members) {
            match self.pond.group(group.name.0.clone()) {
                Ok(mut details) => {
                    view::call_as_clients(&mut details.members, clients);
                    let processes = details.members.iter().map(view::Member::from).collect();
                    all.push(GroupMembers { group: group.name.to_string(), processes });
                }
                // It ended since the listing, or is somebody else's.
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Denied) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    /// Slabs that several versions have, by which versions those are.
    fn shared_slabs(&mut self, models: &[ModelInfo]) -> Result<Vec<SharedSlab>> {
        let versions = || models.iter().flat_map(|model| &model.versions);
        let alive: HashSet<_> = versions().map(|version| version.version).collect();
        self.parts.retain(|version, _| alive.contains(version));
        let mut slabs: BTreeMap<TensorId, (u64, Vec<&millpond::VersionInfo>)> = BTreeMap::new();
        for version in versions().filter(|version| version.shared_bytes > 0 && !version.lost) {
            let parts = match self.parts.get(&version.version) {
                Some(known) => known.clone(),
                None => match self.pond.version(version.version) {
                    Ok(view) => {
                        view.parts.iter().map(|part| (part.tensor, part.bytes)).collect::<Vec<_>>()
                    }
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    Err(error) => return Err(error),
                },
            };
            for (slab, bytes) in &parts {
                slabs.entry(*slab).or_insert((*bytes, Vec::new())).1.push(version);
            }
            if version.state == millpond::VersionState::Ready {
                self.parts.insert(version.version, parts);
            }
        }
        let mut shared: Vec<SharedSlab> = Vec::new();
        for (bytes, versions) in slabs.into_values().filter(|(_, versions)| versions.len() > 1) {
            let Some(first) = versions.first() else { continue };
            let one = SharedSlab {
                device: first.device.to_string(),
                model: first.model.to_string(),
                versions: versions.iter().map(|version| version.tag.to_string()).collect(),
                user: first.user,
                bytes,
            };
            let is_same = |other: &&mut SharedSlab| {
                (&other.device, &other.model, &other.versions, other.user)
                    == (&one.device, &one.model, &one.versions, one.user)
            };
            match shared.iter_mut().find(is_same) {
                Some(same) => same.bytes = same.bytes.saturating_add(bytes),
                None => shared.push(one),
            }
        }
        Ok(shared)
    }

    fn user_names(&mut self, overview: &Overview) -> BTreeMap<u32, String> {
        let mut users = HashSet::new();
        users.extend(overview.tensors.iter().map(|tensor| tensor.user));
        users.extend(overview.tensor_groups.iter().filter_map(|group| group.user));
        users.extend(overview.models.iter().map(|model| model.user));
        users.extend(overview.groups.iter().filter_map(|group| group.owner));
        users.extend(overview.groups.iter().flat_map(|group| &group.users));
        users.extend(overview.caches.iter().map(|cache| cache.user));
        users.extend(overview.processes.iter().map(|process| process.user));
        users.extend(overview.users.iter().map(|user| user.user));
        users.extend(overview.status.hosts.iter().map(|host| host.user));
        users.into_iter().filter_map(|user| Some((user, self.names.of(user)?))).collect()
    }

    fn cards(&mut self, overview: &Overview, shared_slabs: &[SharedSlab]) -> Vec<Card> {
        let mut card = |device: &view::Device| {
            let uuid = device.device.to_string();
            let mut card = Card::new(&DeviceParts {
                device,
                sees: overview.sees,
                tensors: &overview.tensors,
                tensor_groups: &overview.tensor_groups,
                models: &overview.models,
                shared_slabs,
                hosts: &overview.status.hosts,
                movers: &overview.status.movers,
                groups: &overview.groups,
                caches: &overview.caches,
                user_names: &overview.user_names,
            });
            card.readings = self.reader.as_mut().and_then(|reader| reader.readings(&uuid));
            card
        };
        overview.status.devices.iter().map(&mut card).collect()
    }
}
