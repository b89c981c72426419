//! For whom a job is done.

use millpond_channel::{Reader, Writer};
use millpond_wire::caps;

use super::ChannelError;

/// The user whose files a job reads and writes, as the kernel has named it to the daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rights {
    pub user: u32,
    pub group: u32,
    /// The other groups, at most [`caps::GROUPS`].
    pub groups: Vec<u32>,
}

/// "As it is" for the kernel, and so nobody's number.
const NOBODY: u32 = u32::MAX;

/// The bytes of the longest.
pub(super) const RIGHTS_BYTES: usize = 12 + 4 * caps::GROUPS;

impl Rights {
    pub(super) fn write(&self, writer: Writer) -> Writer {
        let groups = &self.groups[..self.groups.len().min(caps::GROUPS)];
        let writer = writer.u32(self.user).u32(self.group).count(groups.len());
        groups.iter().fold(writer, |writer, group| writer.u32(*group))
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Rights, ChannelError> {
        let (user, group, count) = (reader.u32()?, reader.u32()?, reader.count()?);
        if count > caps::GROUPS {
            return Err(ChannelError::Malformed("a user has too many groups"));
        }
        let groups = (0..count).map(|_| reader.u32()).collect::<Result<Vec<u32>, _>>()?;
        if [user, group].iter().chain(&groups).any(|number| *number == NOBODY) {
            return Err(ChannelError::Malformed("this number is no user's and no group's"));
        }
        Ok(Rights { user, group, groups })
    }
}
