//! What becomes of each function that a driver exports: hooked, passed on for a reason, or unknown.
//!
//! `coverage.txt` has every export of driver 580 that is not hooked, with its reason; what is hooked
//! is in the list of hooks and nowhere else. A name of a newer driver that is in neither is unknown,
//! and said to be.

use crate::driver::{self, Action};

/// What becomes of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Hooked(Action),
    /// Passed on: it takes no device memory.
    Passed(Reason),
    /// Passed on: it may take memory that no argument states. The daemon finds that by NVML and
    /// adds it to the process's charge.
    Watched(Reason),
    /// Nobody has looked at it.
    Unknown,
}

/// Why a function is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Address space and rights.
    Address,
    /// Code, with the variables that it declares.
    Code,
    Copy,
    Debug,
    Export,
    /// Checkpoints of a process.
    Freeze,
    Graph,
    /// Memory of a graphics API.
    Graphics,
    Host,
    Launch,
    /// Where managed memory is.
    Managed,
    /// Functions of CUDA 3.
    Old,
    /// The order of work.
    Order,
    Pool,
    Private,
    Query,
    Settings,
    /// Things that take a little of a context.
    Small,
    Texture,
}

impl Reason {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "address" => Self::Address,
            "code" => Self::Code,
            "copy" => Self::Copy,
            "debug" => Self::Debug,
            "export" => Self::Export,
            "freeze" => Self::Freeze,
            "graph" => Self::Graph,
            "graphics" => Self::Graphics,
            "host" => Self::Host,
            "launch" => Self::Launch,
            "managed" => Self::Managed,
            "old" => Self::Old,
            "order" => Self::Order,
            "pool" => Self::Pool,
            "private" => Self::Private,
            "query" => Self::Query,
            "settings" => Self::Settings,
            "small" => Self::Small,
            "texture" => Self::Texture,
            _ => return None,
        })
    }

    /// Whether it may take memory that nobody states.
    fn is_watched(self) -> bool {
        matches!(
            self,
            Self::Code | Self::Export | Self::Graphics | Self::Launch | Self::Private | Self::Small
        )
    }

    /// The reason in words.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Address => {
                "address space and access rights; the memory behind it is charged when it is made"
            }
            Self::Code => "code and its variables: memory of the context, found by NVML",
            Self::Copy => "moves or fills bytes of memory that exists",
            Self::Debug => "for debuggers, profilers and logs",
            Self::Export => {
                "gives out a handle; one that is kept keeps released memory, found by NVML"
            }
            Self::Freeze => "a frozen process keeps its charge and takes the same memory again",
            Self::Graph => {
                "a graph is data; its memory is taken by launch and upload, which are hooked"
            }
            Self::Graphics => {
                "shows memory that a graphics API has, which no CUDA limit holds; found by NVML"
            }
            Self::Host => "host memory only",
            Self::Launch => {
                "a kernel's local memory and the device-side heap belong to the context, found by NVML"
            }
            Self::Managed => "managed memory is charged in full when it is made, wherever it is",
            Self::Old => "a function of CUDA 3 that answers or frees",
            Self::Order => "orders work in streams",
            Self::Pool => "settings of a pool; it grows by allocations, which are hooked",
            Self::Private => "functions without names, for NVIDIA's own libraries; found by NVML",
            Self::Query => "answers a question",
            Self::Settings => "a setting that takes no memory",
            Self::Small => "takes a little memory of the context, found by NVML",
            Self::Texture => "describes memory that exists",
        }
    }
}

/// Every export of driver 580 that is not hooked, each behind its reason.
const PASSED: &str = include_str!("coverage.txt");

/// What becomes of an export.
#[must_use]
pub fn classify(name: &str) -> Class {
    if let Some((_, action)) =
        driver::hooked_names().find(|hook| hook.0.to_bytes() == name.as_bytes())
    {
        return Class::Hooked(action);
    }
    let reason = passed().find(|known| known.1 == name).and_then(|known| Reason::parse(known.0));
    match reason {
        Some(reason) if reason.is_watched() => Class::Watched(reason),
        Some(reason) => Class::Passed(reason),
        None => Class::Unknown,
    }
}

fn passed() -> impl Iterator<Item = (&'static str, &'static str)> {
    PASSED.lines().filter_map(|line| line.split_once(' '))
}

/// Every name that is classified, hooked or not: the exports of driver 580, what is hooked of newer
/// ones, and NVML's hooked ones.
pub fn known_names() -> impl Iterator<Item = &'static str> {
    driver::hooked_names()
        .filter_map(|hook| hook.0.to_str().ok())
        .chain(passed().map(|known| known.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// What is hooked already, and only drivers after 580 have.
    const NEWER: [&str; 4] = [
        "cuMulticastBindAddr_v2",
        "cuMulticastBindMem_v2",
        "cuStreamBeginRecaptureToGraph",
        "cuStreamBeginRecaptureToGraph_ptsz",
    ];

    #[test]
    fn every_export_of_driver_580_is_classified_once() {
        let all: Vec<_> = known_names().collect();
        let once: BTreeSet<_> = all.iter().collect();
        assert_eq!(all.len(), once.len(), "a name is in both lists");
        let drivers = |name: &&&str| name.starts_with("cu") && !NEWER.contains(*name);
        assert_eq!(all.iter().filter(drivers).count(), 707);
        for name in all {
            assert_ne!(classify(name), Class::Unknown, "{name}");
        }
    }

    #[test]
    fn what_allocates_by_its_name_is_hooked() {
        let takes = |name: &str| {
            ["Alloc", "Create", "Import", "Open"].iter().any(|word| name.contains(word))
                && (name.starts_with("cuMem")
                    || name.starts_with("cuIpcOpenMem")
                    || name.starts_with("cuArray")
                    || name.starts_with("cuMipmapped")
                    || name.starts_with("cuCtx")
                    || name.starts_with("cuImportExternalMemory"))
        };
        let host = ["cuMemAllocHost", "cuMemAllocHost_v2", "cuMemHostAlloc"];
        let about = ["cuMemGetAllocationGranularity", "cuMemGetAllocationPropertiesFromHandle"];
        for name in known_names().filter(|name| takes(name)) {
            let hooked = matches!(classify(name), Class::Hooked(_));
            assert!(hooked || host.contains(&name) || about.contains(&name), "{name}");
        }
    }

    #[test]
    fn every_variant_of_a_hooked_function_is_hooked() {
        // A per-thread-stream twin that is missed would be a way around its sibling.
        let base = |name: &str| name.trim_end_matches("_ptsz").trim_end_matches("_ptds").to_owned();
        let all: BTreeSet<_> = known_names().collect();
        for name in &all {
            if base(name) != *name && matches!(classify(&base(name)), Class::Hooked(_)) {
                assert!(matches!(classify(name), Class::Hooked(_)), "{name}");
            }
        }
    }

    #[test]
    fn a_newer_drivers_name_is_unknown() {
        assert_eq!(classify("cuMemAllocQuantum"), Class::Unknown);
    }
}
