//! Who keeps limits of GPU memory here, and what can escape.

use std::path::Path;

use millpond::Status;
use millpond_cuda::{Driver, DriverChoice, Nvml};
use millpond_preload::CONFIG_FILE_NAME;

use super::check::Check;
use crate::config_file::{self, Reading};
use crate::elf::Elf;
use crate::preload;

/// The first driver whose kernel module can keep a limit itself.
const KERNEL_LIMITS: u32 = 615;
/// NVML's way to set one.
const SET_LIMITS: &str = "nvmlDeviceSetMemoryLimits_v1";
/// Libraries that the loader puts into every program.
const FOR_ALL: &str = "/etc/ld.so.preload";
/// Where control groups are.
const CGROUPS: &str = "/sys/fs/cgroup";
const PAGE: &str = "docs/limits.md lists what can escape, and how to close each way";

/// Everything about limits. A pond that answers says which library to preload.
pub fn checks(pond: Option<&Status>) -> Vec<Check> {
    let mut checks = library(pond);
    checks.push(file(config_file::read()));
    checks.extend(not_read(|name| std::env::var_os(name).is_some()));
    checks.push(enforcer(&Kernel::look()));
    checks
}

/// The machine's own limit.
fn file(reading: Reading) -> Check {
    let name = "limits: file";
    match reading {
        Reading::NoFile => Check::ok(name, format!("no {CONFIG_FILE_NAME}")),
        Reading::Understood { text, .. } => Check::ok(name, format!("{CONFIG_FILE_NAME}: {text}")),
        Reading::Refused { why, advice } => {
            let found = format!("{why}. Programs with the library get no GPU memory");
            Check::warn(name, found, advice)
        }
    }
}

/// Variables of vcuda-hook and HAMi-core that are set and change nothing.
fn not_read(is_set: impl Fn(&str) -> bool) -> Option<Check> {
    let set = millpond_preload::NOT_READ.iter().filter(|variable| is_set(variable.name));
    let set: Vec<_> = set.map(|it| format!("{} ({})", it.name, it.reason)).collect();
    let found = format!("set and not read: {}", set.join(", "));
    (!set.is_empty()).then(|| Check::warn("limits: variables", found, "unset them"))
}

/// The library, and who loads it.
fn library(pond: Option<&Status>) -> Vec<Check> {
    let name = "limits: library";
    let library = match preload::choose(pond) {
        Ok(library) => library,
        Err(report) => {
            let advice = "`millpond run` needs it: install the wheel, or build it with `scripts/preload`; \
                          everything else works without it";
            return vec![Check::warn(name, report.failure.message, advice)];
        }
    };
    let shown = format!("{}, {}", library.file.display(), library.source);
    let mut check = match Elf::open(&library.file).and_then(|elf| elf.needed_glibc()) {
        Ok(Some((major, minor))) => {
            Check::ok(name, format!("{shown}, for glibc {major}.{minor} and newer"))
        }
        Ok(None) => Check::ok(name, format!("{shown}, for every glibc")),
        Err(error) => Check::warn(name, format!("{shown}: {error}"), "install it again"),
    };
    if let Some(why) = library.refused {
        check = Check::warn(name, check.found, why);
    }
    vec![check, loaded_by(&std::fs::read_to_string(FOR_ALL).unwrap_or_default())]
}

fn loaded_by(for_all: &str) -> Check {
    let name = "limits: loaded by";
    let lines = for_all.lines().filter_map(|line| line.split('#').next());
    let mut files = lines.flat_map(|line| line.split([' ', ':', '\t']));
    if files.any(|file| Path::new(file).file_name().is_some_and(|name| name == preload::FILE)) {
        return Check::ok(name, format!("every dynamic program, setuid too ({FOR_ALL})"));
    }
    Check::ok(name, format!("programs of `millpond run` and what they start; not in {FOR_ALL}"))
}

/// What the kernel and its driver offer.
#[derive(Clone, Debug, Default)]
struct Kernel {
    /// The driver's version, as in `580.159.04`.
    driver: Option<String>,
    /// NVML can set limits.
    has_symbol: bool,
    /// Control groups count device memory.
    has_controller: bool,
    /// The limit of the control group that this process is in.
    own_limit: Option<String>,
}

impl Kernel {
    fn look() -> Self {
        let driver = Driver::open(DriverChoice::from_env(), Some(&millpond_softgpu::PROVIDER));
        let nvml = driver.ok().and_then(|driver| Nvml::open(&driver).ok());
        let exports = nvml.as_ref().and_then(|nvml| Elf::open(nvml.library()).ok()?.exports().ok());
        let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let own = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
        let limit = std::fs::read_to_string(Path::new(CGROUPS).join(own).join("dmem.max"));
        Self {
            driver: nvml.and_then(|nvml| nvml.driver_version().ok()),
            has_symbol: exports.is_some_and(|names| names.iter().any(|name| name == SET_LIMITS)),
            has_controller: has_controller(Path::new(CGROUPS)),
            own_limit: limit.ok().map(|text| text.trim().replace('\n', ", ")),
        }
    }

    fn major(&self) -> Option<u32> {
        self.driver.as_ref()?.split('.').next()?.parse().ok()
    }
}

/// Whether control groups can count device memory: the root's list, or a folder that has it on.
fn has_controller(root: &Path) -> bool {
    let listed = std::fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default();
    let mut folders = std::fs::read_dir(root).into_iter().flatten().flatten();
    listed.split_whitespace().any(|controller| controller == "dmem")
        || folders.any(|folder| folder.path().join("dmem.max").exists())
}

/// Who keeps limits, and what that leaves open.
fn enforcer(kernel: &Kernel) -> Check {
    let name = "limits: enforcer";
    let escapes =
        "static and setuid programs, RTLD_DEEPBIND, direct ioctl, Vulkan and OpenGL escape it";
    let library = format!("the preloaded library; {escapes}");
    let Some(driver) = &kernel.driver else {
        return Check {
            advice: Some(PAGE.into()),
            ..Check::ok(name, format!("{library}; no NVML"))
        };
    };
    let found = match (
        kernel.major() >= Some(KERNEL_LIMITS),
        kernel.has_symbol,
        kernel.has_controller,
    ) {
        (false, false, _) => format!("{library}; a limit in the kernel: driver {driver} has none"),
        (_, true, true) => {
            let own = kernel.own_limit.as_deref().unwrap_or("none");
            format!(
                "the preloaded library, and driver {driver} can keep limits in the kernel (cgroup \
                 dmem, NVML): dmem.max of this process is {own}; what escapes the library stays \
                 under dmem.max"
            )
        }
        (_, _, true) => {
            format!(
                "{library}; driver {driver} counts for cgroup dmem, but NVML has no {SET_LIMITS}"
            )
        }
        (_, _, false) => {
            format!(
                "{library}; driver {driver} can keep limits in the kernel, but this kernel has no cgroup dmem"
            )
        }
    };
    Check { advice: Some(PAGE.into()), ..Check::ok(name, found) }
}

#[cfg(test)]
mod tests {
    use super::super::check::Verdict;
    use super::*;

    #[test]
    fn the_library_can_be_in_every_program() {
        let line = |text: &str| loaded_by(text).found;
        assert!(line("").contains("not in"));
        assert!(line("# /usr/lib/millpond/libmillpond_preload.so\n").contains("not in"));
        let on = "/lib/a.so\n/usr/lib/millpond/libmillpond_preload.so # limits\n";
        assert!(line(on).contains("every dynamic program"));
    }

    #[test]
    fn a_file_that_is_refused_is_a_warning_with_advice() {
        let refused = Reading::Refused { why: "line 1".into(), advice: "write".into() };
        let check = file(refused);
        assert_eq!((check.verdict, check.advice.as_deref()), (Verdict::Warn, Some("write")));
        assert_eq!(file(Reading::NoFile).verdict, Verdict::Ok);
    }

    #[test]
    fn variables_that_change_nothing_are_named() {
        assert!(not_read(|_| false).is_none());
        let found = not_read(|name| name == "CUDA_REDIRECT").unwrap().found;
        assert!(found.starts_with("set and not read: CUDA_REDIRECT (the driver"), "{found}");
    }

    #[test]
    fn the_enforcer_is_named_with_what_escapes_it() {
        let mut kernel = Kernel::default();
        assert!(enforcer(&kernel).found.contains("no NVML"));
        kernel.driver = Some("580.159.04".into());
        let found = enforcer(&kernel).found;
        assert!(
            found.contains("driver 580.159.04 has none") && found.contains("setuid"),
            "{found}"
        );
        kernel = Kernel { driver: Some("615.10".into()), has_symbol: true, ..kernel };
        assert!(enforcer(&kernel).found.contains("no cgroup dmem"));
        kernel = Kernel { has_controller: true, own_limit: Some("gpu0 10".into()), ..kernel };
        let found = enforcer(&kernel).found;
        assert!(found.contains("dmem.max of this process is gpu0 10"), "{found}");
        kernel.has_symbol = false;
        assert!(enforcer(&kernel).found.contains(SET_LIMITS));
    }

    #[test]
    fn controllers_are_seen_at_the_root_and_below() {
        let root = tempfile::tempdir().unwrap();
        assert!(!has_controller(root.path()));
        std::fs::write(root.path().join("cgroup.controllers"), "cpu dmem\n").unwrap();
        assert!(has_controller(root.path()));
        std::fs::write(root.path().join("cgroup.controllers"), "cpu dmemory\n").unwrap();
        assert!(!has_controller(root.path()));
        std::fs::create_dir(root.path().join("user.slice")).unwrap();
        std::fs::write(root.path().join("user.slice/dmem.max"), "").unwrap();
        assert!(has_controller(root.path()));
    }
}
