//! Rights that keeper and daemon pass on and never use.

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// Lays down the right to become another user, for this thread and those that it starts from now on: to
/// be called before there is a second one.
///
/// It stays permitted, and so comes to a mover with its program. A service may not gain rights, so
/// what its keeper gave up for good no mover would have.
pub fn lay_down_other_users() {
    let Ok(CapabilitySets { effective, permitted, inheritable }) = capabilities(None) else {
        return;
    };
    let effective = effective.difference(CapabilitySet::SETUID.union(CapabilitySet::SETGID));
    // It cannot fail for what is only made less; and then nothing uses it all the same.
    let _ = set_capabilities(None, CapabilitySets { effective, permitted, inheritable });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_to_become_another_user_is_laid_down_and_not_given_up() {
        let laid_down = std::thread::spawn(|| {
            let before = capabilities(None).unwrap();
            lay_down_other_users();
            let after = capabilities(None).unwrap();
            assert_eq!(after.permitted, before.permitted);
            let other_users = CapabilitySet::SETUID.union(CapabilitySet::SETGID);
            assert_eq!(after.effective, before.effective.difference(other_users));
        });
        laid_down.join().unwrap();
    }
}
