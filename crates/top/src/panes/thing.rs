//! One row: which thing of an overview it is.

use millpond_overview::{Overview, TensorGroup};
use millpond_view::{Cache, Event, Group, GroupDevice, Model, Process, Tensor, Version, pid_text};

use super::Pane;

/// What a row shows.
#[derive(Clone, Copy, Debug)]
pub enum Thing<'a> {
    Tensor(&'a Tensor),
    /// Tensors that are not shown one by one.
    Tensors(&'a TensorGroup),
    /// A version, or a model that has none.
    Version(&'a Model, Option<&'a Version>),
    /// A group on one GPU, or on none.
    Group(&'a Group, Option<&'a GroupDevice>),
    Cache(&'a Cache),
    Process(&'a Process),
    Event(&'a Event),
}

/// Where a row's thing is: the place in its list, and the place inside that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub at: usize,
    pub part: usize,
}

impl Row {
    const fn whole(at: usize) -> Self {
        Self { at, part: 0 }
    }

    /// All rows of a pane, in the order of the overview.
    pub fn all(pane: Pane, overview: &Overview, events: &[Event]) -> Vec<Self> {
        let parts = |at: usize, count: usize| (0..count.max(1)).map(move |part| Self { at, part });
        match pane {
            Pane::Tensors => {
                let count = overview.tensors.len() + overview.tensor_groups.len();
                (0..count).map(Self::whole).collect()
            }
            Pane::Models => {
                let models = overview.models.iter().enumerate();
                models.flat_map(|(at, model)| parts(at, model.versions.len())).collect()
            }
            Pane::Groups => {
                let groups = overview.groups.iter().enumerate();
                groups.flat_map(|(at, group)| parts(at, group.devices.len())).collect()
            }
            Pane::Caches => (0..overview.caches.len()).map(Self::whole).collect(),
            Pane::Processes => (0..overview.processes.len()).map(Self::whole).collect(),
            Pane::Events => (0..events.len()).map(Self::whole).collect(),
        }
    }

    /// The thing in this row.
    pub fn thing<'a>(
        self,
        pane: Pane,
        overview: &'a Overview,
        events: &'a [Event],
    ) -> Option<Thing<'a>> {
        match pane {
            Pane::Tensors => match overview.tensors.get(self.at) {
                Some(tensor) => Some(Thing::Tensor(tensor)),
                None => {
                    let at = self.at.checked_sub(overview.tensors.len())?;
                    overview.tensor_groups.get(at).map(Thing::Tensors)
                }
            },
            Pane::Models => {
                let model = overview.models.get(self.at)?;
                Some(Thing::Version(model, model.versions.get(self.part)))
            }
            Pane::Groups => {
                let group = overview.groups.get(self.at)?;
                Some(Thing::Group(group, group.devices.get(self.part)))
            }
            Pane::Caches => overview.caches.get(self.at).map(Thing::Cache),
            Pane::Processes => overview.processes.get(self.at).map(Thing::Process),
            Pane::Events => events.get(self.at).map(Thing::Event),
        }
    }
}

impl Thing<'_> {
    /// What tells it from all others of its pane, in this picture and the next.
    pub fn identity(&self) -> String {
        match self {
            Thing::Tensor(tensor) => tensor.id.to_string(),
            Thing::Tensors(group) => {
                format!("{}\0{:?}\0{:?}", group.device, group.user, group.prefix)
            }
            Thing::Version(_, Some(version)) => version.id.to_string(),
            Thing::Version(model, None) => format!("{}\0{}", model.user, model.name),
            Thing::Group(group, device) => {
                let device = device.map(|device| device.device.to_string()).unwrap_or_default();
                format!("{}\0{device}", group.name)
            }
            Thing::Cache(cache) => cache.cache.to_string(),
            Thing::Process(process) => {
                let unknown = process.pid.is_none().then_some(process.since_unix_ms);
                format!("{:?}\0{unknown:?}\0{}\0{}", process.pid, process.user, process.mover)
            }
            Thing::Event(event) => event.sequence.to_string(),
        }
    }

    /// What people call it.
    pub fn name(&self) -> String {
        match self {
            Thing::Tensor(tensor) => match &tensor.name {
                Some(name) => name.to_string(),
                None => tensor.id.to_string(),
            },
            Thing::Tensors(group) => match &group.prefix {
                Some(prefix) => format!("{prefix}/"),
                None => "(other names)".to_owned(),
            },
            Thing::Version(model, Some(version)) => format!("{}@{}", model.name, version.version.0),
            Thing::Version(model, None) => model.name.to_string(),
            Thing::Group(group, _) => group.name.to_string(),
            Thing::Cache(cache) => cache.name.to_string(),
            Thing::Process(process) => format!("{} ({})", process.program, pid_text(process.pid)),
            Thing::Event(event) => format!("event {}", event.sequence),
        }
    }

    /// Whether a part of its names is what somebody looks for; `needle` is in lower case.
    pub fn matches(&self, needle: &str, overview: &Overview) -> bool {
        let has = |text: &str| contains(text, needle);
        let is_of = |user: u32| overview.user_names.get(&user).is_some_and(|name| has(name));
        match self {
            Thing::Tensor(tensor) => {
                let named = tensor.name.as_ref().is_some_and(|name| has(name.as_str()));
                named || is_of(tensor.user) || has(&tensor.id.to_string())
            }
            Thing::Tensors(group) => {
                group
                    .prefix
                    .as_deref()
                    .is_some_and(|prefix| has(prefix) || contains(needle, prefix))
                    || group.user.is_some_and(is_of)
            }
            Thing::Version(model, version) => {
                let tagged = |it: &&Version| has(&it.version.to_string()) || has(&it.source);
                has(&self.name())
                    || has(model.name.as_str())
                    || is_of(model.user)
                    || version.as_ref().is_some_and(tagged)
            }
            Thing::Group(group, _) => has(group.name.as_str()),
            Thing::Cache(cache) => {
                has(&cache.name.to_string())
                    || has(&cache.group.to_string())
                    || has(&cache.program)
                    || is_of(cache.user)
            }
            Thing::Process(process) => {
                has(&self.name())
                    || is_of(process.user)
                    || process.holds.iter().any(|name| has(name))
            }
            Thing::Event(event) => {
                has(&event.kind.to_string())
                    || has(&event.text)
                    || event.name.as_ref().is_some_and(|name| has(name.as_str()))
            }
        }
    }
}

/// Whether a text has a part, whatever the case of its ASCII letters.
fn contains(text: &str, needle: &str) -> bool {
    if needle.is_empty() {
        return true;
    }
    let same = |window: &[u8]| window.eq_ignore_ascii_case(needle.as_bytes());
    text.as_bytes().windows(needle.len()).any(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_found_in_any_case() {
        for (text, needle, is) in [
            ("LLaMA-7b", "llama", true),
            ("acts/x", "s/x", true),
            ("x", "xx", false),
            ("", "", true),
        ] {
            assert_eq!(contains(text, needle), is, "{text} {needle}");
        }
    }
}
