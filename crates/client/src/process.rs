//! Which process is this? After `fork` the answer changes under living values.
//!
//! A forked child has copies of all values but none of the threads, and locks may be held for
//! ever by threads that it does not have. So whatever belongs to a process carries its number,
//! and nothing of another process's is locked, sent or given back.

use std::sync::OnceLock;

/// A value per process: the first one for its maker, and one more for each fork on the way.
#[derive(Debug)]
pub(crate) struct PerProcess<T> {
    pid: u32,
    value: T,
    child: OnceLock<Box<PerProcess<T>>>,
}

/// The number of this process; asked for with every call, so it must not be a system call.
#[cfg(not(test))]
pub(crate) fn current() -> u32 {
    millpond_wire::fd::process_number()
}

#[cfg(test)]
pub(crate) use self::pretence::{current, pretend};

/// `fork` cannot be called from safe code, and a test program has many threads: so a test's thread
/// says that it is another process.
#[cfg(test)]
mod pretence {
    use std::cell::Cell;

    thread_local! {
        static PID: Cell<Option<u32>> = const { Cell::new(None) };
    }

    pub(crate) struct Pretence;

    impl Drop for Pretence {
        fn drop(&mut self) {
            PID.set(None);
        }
    }

    pub(crate) fn pretend(pid: u32) -> Pretence {
        PID.set(Some(pid));
        Pretence
    }

    pub(crate) fn current() -> u32 {
        PID.get().unwrap_or_else(millpond_wire::fd::process_number)
    }
}

impl<T> PerProcess<T> {
    pub(crate) fn new(pid: u32, value: T) -> Self {
        Self { pid, value, child: OnceLock::new() }
    }

    /// The value of process `pid`, made if there is none yet.
    pub(crate) fn get(&self, pid: u32, make: impl FnOnce() -> T) -> &T {
        let mut life = self;
        while life.pid != pid {
            match life.child.get() {
                Some(child) => life = child,
                None => {
                    return &life.child.get_or_init(|| Box::new(Self::new(pid, make()))).value;
                }
            }
        }
        &life.value
    }

    /// Hands each value out, with whether it belongs to process `pid`.
    pub(crate) fn for_each(&self, pid: u32, mut with: impl FnMut(&T, bool)) {
        let mut life = Some(self);
        while let Some(one) = life {
            with(&one.value, one.pid == pid);
            life = one.child.get().map(Box::as_ref);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_on_the_way_has_its_own_value() {
        let value = PerProcess::new(10, "parent");
        assert_eq!(*value.get(10, || panic!()), "parent");
        assert_eq!(*value.get(11, || "child"), "child");
        assert_eq!(*value.get(11, || panic!()), "child");
        assert_eq!(*value.get(12, || "grandchild"), "grandchild");
        assert_eq!(*value.get(12, || panic!()), "grandchild");
        let mut seen = Vec::new();
        value.for_each(11, |value, own| seen.push((*value, own)));
        assert_eq!(seen, [("parent", false), ("child", true), ("grandchild", false)]);
    }
}
