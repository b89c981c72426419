//! File systems whose files the kernel makes up, for whoever asks.
//!
//! What is read from such a file depends on the reader, and a write is a command to the kernel: neither
//! is for a process that acts for others. This is a list of what is refused, not of what is taken: file
//! systems with bytes of users are many, and new ones come; those of the kernel are few and known.

/// The numbers that `fstatfs` gives, and the names in `/proc/filesystems`.
const REFUSED: [(i64, &str); 30] = [
    (0x9fa0, "proc"),
    (0x9fa1, "openpromfs"),
    (0x9fa2, "usbdevfs"),
    (0x6265_6572, "sysfs"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x0765_5821, "resctrl"),
    (0x7472_6163, "tracefs"),
    (0x6462_6720, "debugfs"),
    (0x7363_6673, "securityfs"),
    (0xf97c_ff8c, "selinuxfs"),
    (0x4341_5d53, "smackfs"),
    (0x5a3c_69f0, "apparmorfs"),
    (0x6265_6570, "configfs"),
    (0x1cd1, "devpts"),
    (0xcafe_4a11, "bpf"),
    (0x6165_676c, "pstore"),
    (0xde5e_81e4, "efivarfs"),
    (0x4249_4e4d, "binfmt_misc"),
    (0x6573_5543, "fusectl"),
    (0x1980_0202, "mqueue"),
    (0x6759_6969, "rpc_pipefs"),
    (0x6e66_7364, "nfsd"),
    (0x6e73_6673, "nsfs"),
    (0x5049_4446, "pidfs"),
    (0x6c6f_6f70, "binder"),
    (0xabba_1974, "xenfs"),
    (0x444d_4142, "dmabuf"),
    (0x5345_434d, "secretmem"),
    (0x0904_1934, "anon_inodefs"),
];

/// The name of the file system, if it is one of these.
pub(crate) fn refused(number: i64) -> Option<&'static str> {
    REFUSED.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_kernel_are_refused_and_those_of_users_are_not() {
        let of = |path: &str| refused(rustix::fs::statfs(path).unwrap().f_type);
        assert_eq!(of("/proc/self"), Some("proc"));
        if let Ok(found) = rustix::fs::statfs("/sys/kernel") {
            assert!(refused(found.f_type).is_some(), "{:x}", found.f_type);
        }
        for folder in [".", "/tmp", "/dev/shm"] {
            assert_eq!(of(folder), None, "{folder}");
        }
        let mut numbers: Vec<i64> = REFUSED.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), REFUSED.len());
    }
}
