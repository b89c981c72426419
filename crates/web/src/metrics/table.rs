//! The one table of metrics. What is measured, the document about it and the tests are made from it.
//!
//! No label has a value that programs can choose without end: no names of tensors, no numbers of processes,
//! no tags of versions. Where users choose (models, groups, containers), the number of values is capped.

use millpond_wire::message::{Counter, CounterUnit, Counts};

/// What every name begins with.
pub const PREFIX: &str = "millpond";

/// How a metric is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only rises; begins with zero in each daemon.
    Counter,
    Gauge,
    Histogram,
    /// Always 1: its labels are what it says.
    Info,
}

impl Kind {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
            Self::Info => "info",
        }
    }
}

/// In what it is measured. A name ends in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    None,
    Bytes,
    Seconds,
    Ratio,
    Celsius,
    Watts,
}

impl Unit {
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Bytes => "bytes",
            Self::Seconds => "seconds",
            Self::Ratio => "ratio",
            Self::Celsius => "celsius",
            Self::Watts => "watts",
        }
    }
}

/// A line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Without the prefix, and without `_total` and `_info`.
    pub name: &'static str,
    pub kind: Kind,
    pub unit: Unit,
    pub labels: &'static [&'static str],
    pub help: &'static str,
}

impl Metric {
    /// The name of its samples; a histogram has three (`_bucket`, `_sum`, `_count`) that begin with it.
    pub fn sample_name(&self) -> String {
        let suffix = match self.kind {
            Kind::Counter => "_total",
            Kind::Info => "_info",
            Kind::Gauge | Kind::Histogram => "",
        };
        format!("{PREFIX}_{}{suffix}", self.name)
    }
}

macro_rules! metrics {
    ($($id:ident = $kind:ident $name:literal $unit:ident [$($label:ident)*] $help:literal;)*) => {
        $(pub const $id: Metric = Metric {
            name: $name,
            kind: Kind::$kind,
            unit: Unit::$unit,
            labels: &[$(stringify!($label)),*],
            help: $help,
        };)*

        /// All but the daemon's counters.
        const OWN: &[Metric] = &[$($id),*];
    };
}

metrics! {
    UP = Gauge "up" None [] "Whether the pond answers (1) or not (0).";
    POND = Info "pond" None [pond version driver software] "The pond, its program and its driver.";
    EPOCH = Gauge "daemon_epoch" None [] "Which daemon of the pond answers: every start has the next number.";
    STARTED = Gauge "daemon_start_time_seconds" Seconds [] "When the daemon started, in seconds since 1970.";
    RESIDENT = Gauge "daemon_resident_bytes" Bytes [] "Memory of the machine that the daemon takes.";
    JOURNAL = Gauge "journal_bytes" Bytes [] "Size of the journal, which is memory of the machine.";
    CLIENTS = Gauge "clients" None [state] "Clients: `connected`, or `silent`, which live without a connection and keep what they hold.";
    LEASES = Gauge "leases" None [] "Leases that are known now.";
    LOST = Gauge "lost_tensors" None [] "Records whose memory was gone at the last recovery.";
    REQUESTS = Counter "requests" None [kind result] "Requests that were `answered` and `refused`, by kind.";
    REQUEST_SECONDS = Histogram "request_duration_seconds" Seconds [kind] "Time from the reading of a request until its answer was on its way, by kind. A get that waits takes as long as it waits.";
    REFUSALS = Counter "refusals" None [error] "Requests that were refused, by error kind.";

    GPU = Info "gpu" None [gpu index name] "A GPU of the pond.";
    GPU_TOTAL = Gauge "gpu_memory_total_bytes" Bytes [gpu] "Bytes on the card.";
    GPU_USED = Gauge "gpu_memory_used_bytes" Bytes [gpu] "Bytes in use on the card by all programs together, as NVML says.";
    GPU_FREE = Gauge "gpu_memory_free_bytes" Bytes [gpu] "Bytes that nobody uses.";
    GPU_CAPACITY = Gauge "gpu_memory_capacity_bytes" Bytes [gpu] "Bytes that the pond may take of the card.";
    GPU_HOLDERS = Gauge "gpu_memory_held_bytes" Bytes [gpu holder] "Bytes in use by who holds them: the `pond` (which no process shows), contexts of its `hosts` and `movers`, programs of `groups`, and `others`. They add up to the bytes in use.";
    GPU_SLABS = Gauge "gpu_slab_bytes" Bytes [gpu] "Bytes of the pond's slabs.";
    GPU_TENSORS = Gauge "gpu_tensor_bytes" Bytes [gpu] "Bytes of tensors in slabs.";
    GPU_RECYCLED = Gauge "gpu_recycled_bytes" Bytes [gpu] "Bytes of empty slabs that are kept for their owners.";
    POND_MEMORY = Gauge "gpu_pond_memory_bytes" Bytes [gpu kind] "What the pond's slabs are: `version`, `shared_slabs`, `tensor`, `tensors`, `ipc`, `slab_room`, `recycled`, and `unlisted`, such as deleted tensors in use. The kinds add up to the slabs.";
    SLABS = Gauge "gpu_slabs" None [gpu] "Slabs.";
    TENSORS = Gauge "gpu_tensors" None [gpu] "Tensors.";
    DRIFT = Gauge "gpu_drift_bytes" Bytes [gpu] "Bytes that processes of groups have on the card beyond what their ledgers charge; negative if they have less.";
    EXCESS = Gauge "gpu_excess_bytes" Bytes [gpu] "Bytes in the books of pond and groups beyond what the card says is in use.";
    UTILISATION = Gauge "gpu_utilization_ratio" Ratio [gpu] "Part of NVML's last sample in which a kernel ran.";
    MEMORY_UTILISATION = Gauge "gpu_memory_utilization_ratio" Ratio [gpu] "Part of NVML's last sample in which memory of the card was read or written.";
    TEMPERATURE = Gauge "gpu_temperature_celsius" Celsius [gpu] "Temperature of the GPU.";
    POWER = Gauge "gpu_power_watts" Watts [gpu] "Power that the card takes.";
    POWER_LIMIT = Gauge "gpu_power_limit_watts" Watts [gpu] "Power that the card may take.";
    FAN = Gauge "gpu_fan_ratio" Ratio [gpu] "Speed of the fan; nothing for a card without one.";
    MOVERS = Gauge "movers" None [gpu] "Movers that run.";
    MOVES = Gauge "queued_moves" None [gpu] "Moves of bytes that wait or run.";
    HOSTS = Gauge "hosts" None [gpu] "Hosts that run: processes that own the memory of `ipc` tensors.";

    MODEL_BYTES = Gauge "model_slab_bytes" Bytes [gpu model user] "Bytes of slabs of a model's versions; slabs that several versions have count once.";
    MODEL_VERSIONS = Gauge "model_versions" None [model user state] "Versions of a model: `staging`, `ready`, `draining`, or `lost`.";
    MODEL_READERS = Gauge "model_readers" None [model user] "Leases on versions of a model.";
    MODEL_READY = Gauge "model_current_ready_time_seconds" Seconds [model user] "When the current version of a model was complete, in seconds since 1970.";

    GROUP_LIMIT = Gauge "group_limit_bytes" Bytes [group gpu] "The limit of a group that holds now; nothing without a limit.";
    GROUP_MIN = Gauge "group_min_bytes" Bytes [group gpu] "What other groups leave a group.";
    GROUP_USED = Gauge "group_used_bytes" Bytes [group gpu] "What counts against a group's limit: its processes, and its users' memory in the pond.";
    GROUP_POND = Gauge "group_pond_bytes" Bytes [group gpu] "The part of it that is its users' memory in the pond.";
    GROUP_CONTEXTS = Gauge "group_context_bytes" Bytes [group gpu] "The part of it that is contexts.";
    GROUP_FOLDED = Gauge "group_folded_bytes" Bytes [group gpu] "The part of it that was seen on the card and charged by nobody.";
    GROUP_PROCESSES = Gauge "group_processes" None [group] "Processes of a group.";
    GROUP_FLAWS = Gauge "group_flaw" None [group flaw] "What is wrong with a group, each 0 or 1: `stuck`, a process keeps its lock; `lying`, members hold more than they say; `broken`, its files are damaged.";

    CACHES = Gauge "elastic_caches" None [group gpu] "Elastic caches that a group pays for.";
    CACHE_RESERVED = Gauge "elastic_reserved_bytes" Bytes [group gpu] "Addresses that its caches have reserved.";
    CACHE_COMMITTED = Gauge "elastic_committed_bytes" Bytes [group gpu] "Pages of its caches in use.";
    CACHE_IDLE = Gauge "elastic_idle_bytes" Bytes [group gpu] "Pages of its caches that can be given back at once.";
    CACHE_MIN = Gauge "elastic_min_bytes" Bytes [group gpu] "What other caches leave them.";
    CACHE_WANTED = Gauge "elastic_wanted_bytes" Bytes [group gpu] "What its caches wait for.";
    CACHE_ASKED = Gauge "elastic_asked_bytes" Bytes [group gpu] "What its caches were asked to give back and have not given yet.";

    CONTAINER = Gauge "container_memory_bytes" Bytes [gpu pod_uid container_id] "GPU memory of the processes of groups by the container that they run in, from their cgroups; without labels for processes of the machine itself.";

    COLLECTED = Gauge "web_collected_time_seconds" Seconds [] "When `millpond web` last asked the pond, in seconds since 1970.";
    COLLECT_SECONDS = Gauge "web_collection_seconds" Seconds [] "How long that took.";
    COLLECTIONS = Counter "web_collections" None [] "How often the pond was asked.";
    COLLECT_FAILURES = Counter "web_collection_failures" None [] "How often it gave no answer.";
    READERS = Gauge "web_readers" None [] "Pages that are open.";
    WEB_RESIDENT = Gauge "web_resident_bytes" Bytes [] "Memory of the machine that `millpond web` takes.";
}

/// A counter of the daemon, as a metric.
pub fn of_counter(counter: &Counter) -> Metric {
    let unit = match counter.unit {
        CounterUnit::Number => Unit::None,
        CounterUnit::Bytes => Unit::Bytes,
        CounterUnit::Milliseconds => Unit::Seconds,
    };
    Metric { name: counter.name, kind: Kind::Counter, unit, labels: &[], help: counter.describe }
}

/// The whole table.
pub fn all() -> Vec<Metric> {
    OWN.iter().copied().chain(Counts::ALL.iter().map(of_counter)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_different_and_end_in_their_units() {
        let all = all();
        let names: BTreeSet<String> = all.iter().map(Metric::sample_name).collect();
        assert_eq!(names.len(), all.len());
        for metric in &all {
            let unit = metric.unit.word();
            assert!(unit.is_empty() || metric.name.ends_with(&format!("_{unit}")), "{metric:?}");
            for word in ["bytes", "seconds", "ratio", "celsius", "watts"] {
                assert_eq!(metric.name.ends_with(word), unit == word, "{metric:?}");
            }
            assert!(metric.help.ends_with('.'), "{metric:?}");
            assert!(!metric.name.ends_with("_total") && !metric.name.ends_with("_info"));
        }
    }

    #[test]
    fn no_label_can_have_values_without_end() {
        let bounded = [
            "pond", "version", "driver", "software", "state", "kind", "result", "error", "gpu",
            "index", "name", "holder", "flaw",
        ];
        let capped = ["model", "user", "group", "pod_uid", "container_id"];
        for metric in all() {
            for label in metric.labels {
                assert!(bounded.contains(label) || capped.contains(label), "{metric:?}");
            }
        }
    }
}
