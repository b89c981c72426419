//! In which pod and container a process runs, from the path of its cgroup.
//!
//! Nobody is asked but the kernel: the runtimes write the identities of pods and containers into the names
//! of cgroups, each in its own way.

/// Where a process runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The UID of the Kubernetes pod, with hyphens; empty outside one.
    pub pod_uid: String,
    /// The container's identity as its runtime has it; empty outside one.
    pub container_id: String,
}

/// What Kubernetes puts before a pod's UID.
const POD: &str = "pod";
/// What runtimes put before a container's identity, where they put something.
const RUNTIMES: [&str; 5] = ["cri-containerd-", "docker-", "crio-", "libpod-", "nerdctl-"];
/// Length of an identity: a SHA-256, in hexadecimal.
const IDENTITY: usize = 64;

impl Place {
    /// Reads `/proc/PID/cgroup`.
    pub fn of(cgroup: &str) -> Self {
        // A line is `number:controllers:path`; that of version 2 has no controllers.
        let paths = cgroup.lines().filter_map(|line| line.splitn(3, ':').nth(2));
        let places = paths.map(Self::of_path);
        places
            .max_by_key(|place| (!place.container_id.is_empty(), !place.pod_uid.is_empty()))
            .unwrap_or_default()
    }

    /// The process of a number.
    pub fn of_process(pid: u32) -> Self {
        let text = std::fs::read_to_string(format!("/proc/{pid}/cgroup"));
        text.map(|text| Self::of(&text)).unwrap_or_default()
    }

    /// The innermost names count: a container may have containers.
    fn of_path(path: &str) -> Self {
        let mut place = Self::default();
        // containerd joins its names with colons under some kubelets.
        for name in path.split(['/', ':']) {
            if let Some(pod) = pod_uid(name) {
                place.pod_uid = pod;
            }
            if let Some(container) = container_id(name) {
                place.container_id = container.to_owned();
            }
        }
        place
    }
}

/// `pod9bd6…` or `kubepods-burstable-pod9bd6….slice`, where hyphens of the UID are underscores.
fn pod_uid(name: &str) -> Option<String> {
    let (before, uid) = name.strip_suffix(".slice").unwrap_or(name).rsplit_once(POD)?;
    let uid = uid.replace('_', "-");
    let is_uuid = uid.len() == 36 && uid.bytes().all(|it| it.is_ascii_hexdigit() || it == b'-');
    // Pods of files on the node have the hash of the file.
    let is_hash = uid.len() == 32 && uid.bytes().all(|it| it.is_ascii_hexdigit());
    let is_whole = before.is_empty() || before.ends_with('-');
    (is_whole && (is_uuid || is_hash)).then_some(uid)
}

/// `docker-3ab1….scope`, `cri-containerd-3ab1….scope`, `crio-3ab1…`, or the bare identity.
fn container_id(name: &str) -> Option<&str> {
    let name = name.strip_suffix(".scope").unwrap_or(name);
    let bare = RUNTIMES.iter().find_map(|runtime| name.strip_prefix(runtime)).unwrap_or(name);
    let is_hash = bare.len() == IDENTITY && bare.bytes().all(|it| it.is_ascii_hexdigit());
    is_hash.then_some(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "3ab1c7f4e1d2a0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5";
    const POD_UID: &str = "9bd6f5c0-1d2e-4f3a-8b9c-0d1e2f3a4b5c";

    fn place(path: &str) -> (String, String) {
        let place = Place::of(&path.replace("ID", ID));
        (place.pod_uid, place.container_id.replace(ID, "ID"))
    }

    #[test]
    fn every_runtime_writes_its_own_way() {
        let pod = "9bd6f5c0_1d2e_4f3a_8b9c_0d1e2f3a4b5c";
        for (path, has_pod) in [
            // Docker, with systemd, with cgroupfs, and with version 1.
            ("0::/system.slice/docker-ID.scope".to_owned(), false),
            ("0::/docker/ID".to_owned(), false),
            ("12:pids:/docker/ID\n1:name=systemd:/docker/ID\n0::/".to_owned(), false),
            // Podman, of root and of a user.
            ("0::/machine.slice/libpod-ID.scope/container".to_owned(), false),
            (
                "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-ID.scope"
                    .to_owned(),
                false,
            ),
            // containerd by itself.
            ("0::/default/ID".to_owned(), false),
            ("0::/system.slice/nerdctl-ID.scope".to_owned(), false),
            // Kubernetes with containerd and CRI-O, with systemd and without.
            (
                format!(
                    "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{pod}.slice/cri-containerd-ID.scope"
                ),
                true,
            ),
            (format!("0::/kubepods.slice/kubepods-pod{pod}.slice/crio-ID.scope/container"), true),
            (format!("0::/kubepods/besteffort/pod{POD_UID}/ID"), true),
            (
                format!("0::/system.slice/kubepods-besteffort-pod{pod}.slice:cri-containerd:ID"),
                true,
            ),
            // Kubernetes in a container (kind): the inner names count.
            (
                format!(
                    "0::/docker/{}/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod{pod}.slice/cri-containerd-ID.scope",
                    "f".repeat(64)
                ),
                true,
            ),
        ] {
            let uid = if has_pod { POD_UID } else { "" };
            assert_eq!(place(&path), (uid.to_owned(), "ID".to_owned()), "{path}");
        }
    }

    #[test]
    fn what_is_no_container_is_none() {
        for path in [
            "",
            "0::/",
            "0::/user.slice/user-1000.slice/session-3.scope",
            "0::/system.slice/millpond.service",
            "0::/docker/not-an-identity",
            "garbage",
            "0::/podcast/pod-racing",
        ] {
            assert_eq!(Place::of(path), Place::default(), "{path}");
        }
        assert_eq!(Place::of_process(u32::MAX), Place::default());
    }

    #[test]
    fn a_pod_of_a_file_has_its_hash() {
        let hash = "0123456789abcdef0123456789abcdef";
        let place = Place::of(&format!("0::/kubepods/pod{hash}/{ID}"));
        assert_eq!((place.pod_uid.as_str(), place.container_id.as_str()), (hash, ID));
    }
}
