//! The sum: every byte of a card goes into one segment, and no byte into two.
//!
//! Two numbers are taken as they are: what the pond's slabs have, and what the card has in use. Everything
//! else is placed into what is left of them, so that lists which were read at different moments, or are
//! wrong, cannot make the sum wrong.

use millpond::TransportKind;
use millpond_view as view;

use super::{Card, DeviceParts, Segment, SegmentKind};
use crate::{Sees, TensorGroup};

impl Card {
    /// Makes a card of its parts.
    #[must_use]
    pub fn new(parts: &DeviceParts<'_>) -> Self {
        let device = parts.device;
        let total = device.total_bytes;
        let used = device.physical_used_bytes.map(|used| used.min(total));
        let mut fill = Fill::default();

        let slabs = device.slab_bytes.min(total);
        fill.excess(device.slab_bytes - slabs);
        fill.open(slabs);
        pond(parts, &mut fill);
        fill.close();

        // Without a reading of the card, what the books say is all there is.
        fill.open(used.map_or(total - slabs, |used| used.saturating_sub(slabs)));
        fill.excess(used.map_or(0, |used| slabs.saturating_sub(used)));
        helpers(parts, &mut fill);
        groups(parts, &mut fill);
        let left = fill.close();

        let (other, free) = match used {
            Some(used) => (left, total - used.max(slabs)),
            None => (0, left),
        };
        fill.put(segment(SegmentKind::Other, "other programs and the driver"), other);
        fill.put(segment(SegmentKind::Free, "free"), free);
        Self {
            device: device.device.to_string(),
            index: device.index,
            name: device.name.clone(),
            total_bytes: total,
            used_bytes: device.physical_used_bytes,
            capacity_bytes: device.capacity_bytes,
            slab_bytes: device.slab_bytes,
            other_bytes: other,
            free_bytes: free,
            excess_bytes: fill.excess,
            drift_bytes: device.drift_bytes,
            segments: fill.segments,
            readings: None,
        }
    }
}

/// Segments, and how much room is left for more.
#[derive(Default)]
struct Fill {
    segments: Vec<Segment>,
    room: u64,
    excess: u64,
}

impl Fill {
    fn open(&mut self, bytes: u64) {
        self.room = bytes;
    }

    /// What is left, which is nobody's from here on.
    fn close(&mut self) -> u64 {
        std::mem::take(&mut self.room)
    }

    /// Places a segment of so many bytes, or of as many as there is room for.
    fn place(&mut self, segment: Segment, bytes: u64) {
        let fits = bytes.min(self.room);
        self.excess(bytes - fits);
        self.room -= fits;
        self.put(segment, fits);
    }

    fn put(&mut self, mut segment: Segment, bytes: u64) {
        if bytes == 0 {
            return;
        }
        segment.bytes = bytes;
        let mut left = bytes;
        for child in &mut segment.children {
            child.bytes = child.bytes.min(left);
            left -= child.bytes;
        }
        segment.children.retain(|child| child.bytes > 0);
        self.segments.push(segment);
    }

    fn excess(&mut self, bytes: u64) {
        self.excess = self.excess.saturating_add(bytes);
    }
}

fn segment(kind: SegmentKind, label: impl Into<String>) -> Segment {
    Segment {
        kind,
        bytes: 0,
        label: label.into(),
        id: None,
        user: None,
        owner: None,
        count: 1,
        readers: None,
        state: None,
        survives: None,
        limit_bytes: None,
        children: Vec::new(),
    }
}

impl DeviceParts<'_> {
    fn is_here(&self, device: &view::Text<millpond::GpuUuid>) -> bool {
        *device == self.device.device
    }

    fn of_user(&self, segment: Segment, user: u32) -> Segment {
        let owner = self.user_names.get(&user).cloned();
        Segment { user: Some(user), owner, ..segment }
    }
}

fn pond(parts: &DeviceParts<'_>, fill: &mut Fill) {
    let device = parts.device;
    // What the books say of the slabs as a whole comes off first: lists may name more than there is room for.
    let slabs = fill.room;
    let recycled = device.recycled_bytes.min(slabs);
    let room = device.slab_bytes.saturating_sub(device.tensor_bytes);
    let room = room.saturating_sub(device.recycled_bytes).min(slabs - recycled);
    fill.room = slabs - recycled - room;
    versions(parts, fill);
    tensors(parts, fill);
    let unlisted = fill.close();
    fill.put(segment(SegmentKind::SlabRoom, "room beside tensors in slabs"), room);
    fill.put(segment(SegmentKind::Recycled, "empty slabs, kept for their owners"), recycled);
    let label = match parts.sees {
        Sees::Everything => "slabs of tensors that no listing names",
        Sees::Own => "slabs of other users",
    };
    fill.put(segment(SegmentKind::Unlisted, label), unlisted);
}

fn versions(parts: &DeviceParts<'_>, fill: &mut Fill) {
    for model in parts.models {
        for version in model.versions.iter().filter(|version| parts.is_here(&version.device)) {
            let label = format!("{}@{}", version.model, version.version);
            let state = match (version.lost, version.current) {
                (true, _) => "lost".to_owned(),
                (false, true) => "current".to_owned(),
                (false, false) => version.state.to_string(),
            };
            let segment = Segment {
                id: Some(version.id.to_string()),
                count: version.slab_count.into(),
                readers: Some(version.readers.into()),
                state: Some(state),
                survives: Some("everything".to_owned()),
                ..parts.of_user(segment(SegmentKind::Version, label), version.user)
            };
            // One that is lost has no memory.
            fill.place(segment, if version.lost { 0 } else { version.own_bytes });
        }
    }
    let here = parts.device.device.to_string();
    for shared in parts.shared_slabs.iter().filter(|shared| shared.device == here) {
        let label = format!("{}: {}", shared.model, shared.versions.join(", "));
        let count = u64::try_from(shared.versions.len()).unwrap_or(u64::MAX);
        let segment = Segment {
            count,
            survives: Some("everything".to_owned()),
            ..parts.of_user(segment(SegmentKind::SharedSlabs, label), shared.user)
        };
        fill.place(segment, shared.bytes);
    }
}

fn tensors(parts: &DeviceParts<'_>, fill: &mut Fill) {
    let here = || parts.tensors.iter().filter(|tensor| parts.is_here(&tensor.device));
    let is_ipc = |tensor: &&view::Tensor| *tensor.transport == TransportKind::Ipc;
    for tensor in here().filter(|tensor| !is_ipc(tensor)) {
        fill.place(one_tensor(parts, SegmentKind::Tensor, tensor), tensor.bytes);
    }
    let device = parts.device.device.to_string();
    let groups = || parts.tensor_groups.iter().filter(|group| group.device == device);
    for group in groups() {
        let bytes = group.bytes.saturating_sub(group.ipc_bytes);
        fill.place(several_tensors(parts, SegmentKind::Tensors, group), bytes);
    }
    for tensor in here().filter(is_ipc) {
        fill.place(one_tensor(parts, SegmentKind::Ipc, tensor), tensor.bytes);
    }
    for group in groups() {
        fill.place(several_tensors(parts, SegmentKind::Ipc, group), group.ipc_bytes);
    }
}

fn one_tensor(parts: &DeviceParts<'_>, kind: SegmentKind, tensor: &view::Tensor) -> Segment {
    let label = match &tensor.name {
        Some(name) => name.to_string(),
        None => format!("tensor {}", tensor.id),
    };
    Segment {
        id: Some(tensor.id.to_string()),
        readers: Some(tensor.lease_count.into()),
        state: Some(tensor.state.to_string()),
        survives: Some(tensor.survives.to_string()),
        ..parts.of_user(segment(kind, label), tensor.user)
    }
}

fn several_tensors(parts: &DeviceParts<'_>, kind: SegmentKind, group: &TensorGroup) -> Segment {
    let count = view::units::count(group.count, "tensor");
    let label = match (&group.prefix, group.user) {
        (Some(prefix), _) => format!("{count} in {prefix}"),
        (None, Some(_)) => format!("{count} without a name"),
        (None, None) => format!("{count} more"),
    };
    let one = segment(kind, label);
    let one = match group.user {
        Some(user) => parts.of_user(one, user),
        None => one,
    };
    Segment { count: group.count, readers: Some(group.lease_count), ..one }
}

/// What the pond's own processes take beside slabs.
fn helpers(parts: &DeviceParts<'_>, fill: &mut Fill) {
    for host in parts.hosts.iter().filter(|host| parts.is_here(&host.device)) {
        let label = format!("context of the host with pid {}", host.pid);
        let state = if host.sealed { "sealed" } else { "open" };
        let segment = Segment {
            id: Some(host.id.to_string()),
            count: host.tensors.into(),
            state: Some(state.to_owned()),
            ..parts.of_user(segment(SegmentKind::HostContext, label), host.user)
        };
        fill.place(segment, host.context_bytes);
    }
    // What the card says of a mover's process would not do: it counts the slabs that are mapped there.
    for mover in parts.movers.iter().filter(|mover| parts.is_here(&mover.device)) {
        let label = format!("context of the mover with pid {}", mover.pid);
        fill.place(segment(SegmentKind::MoverContext, label), mover.context_bytes);
    }
}

fn groups(parts: &DeviceParts<'_>, fill: &mut Fill) {
    for group in parts.groups {
        for device in group.devices.iter().filter(|device| parts.is_here(&device.device)) {
            let one = segment(SegmentKind::Group, group.name.to_string());
            let one = match group.owner {
                Some(owner) => parts.of_user(one, owner),
                None => one,
            };
            let state = match group {
                group if group.broken => "broken",
                group if group.lying => "lying",
                group if group.stuck => "stuck",
                _ if device.effective_bytes.is_some_and(|limit| limit < device.used_bytes) => {
                    "over"
                }
                _ => "ok",
            };
            let segment = Segment {
                count: device.process_count.into(),
                state: Some(state.to_owned()),
                limit_bytes: device.effective_bytes,
                children: inside(parts, group, device),
                ..one
            };
            fill.place(segment, device.process_bytes);
        }
    }
}

/// Caches and contexts of a group; the rest of it is what its programs allocated themselves.
fn inside(
    parts: &DeviceParts<'_>,
    group: &view::Group,
    device: &view::GroupDevice,
) -> Vec<Segment> {
    let mut children = Vec::new();
    let is_here = |cache: &&view::Cache| cache.group == group.name && parts.is_here(&cache.device);
    for cache in parts.caches.iter().filter(is_here) {
        for (kind, bytes) in [
            (SegmentKind::Cache, cache.committed_bytes),
            (SegmentKind::CacheIdle, cache.idle_bytes),
        ] {
            let label =
                format!("{} in {}, pid {}", cache.name, cache.program, view::pid_text(cache.pid));
            let child = parts.of_user(segment(kind, label), cache.user);
            let id = Some(cache.cache.to_string());
            children.push(Segment { bytes, id, ..child });
        }
    }
    let contexts = segment(SegmentKind::Contexts, "contexts");
    let count = device.process_count.into();
    children.push(Segment { bytes: device.context_bytes, count, ..contexts });
    children
}
