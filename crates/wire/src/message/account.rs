//! What users have of everything that is counted, and may have.

use millpond_schema::message as fb;

use super::ReplyBody;
use super::list::{Entries, list};
use super::read::{Read, text};

/// So much of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceUse {
    pub name: String,
    /// The setting of the cap.
    pub key: String,
    pub has: u64,
    /// `None` means without a cap.
    pub cap: Option<u64>,
    /// The numbers are bytes.
    pub is_bytes: bool,
}

/// What one user has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserAccount {
    pub user: u32,
    pub resources: Vec<ResourceUse>,
}

fn write_use(one: &ResourceUse) -> fb::ResourceUse {
    fb::ResourceUse {
        name: Some(one.name.clone()),
        key: Some(one.key.clone()),
        has: one.has,
        cap: one.cap,
        is_bytes: one.is_bytes,
    }
}

fn read_use(one: fb::ResourceUseRef<'_>) -> Read<ResourceUse> {
    Ok(ResourceUse {
        name: text("name", one.name()?)?,
        key: text("key", one.key()?)?,
        has: one.has()?,
        cap: one.cap()?,
        is_bytes: one.is_bytes()?,
    })
}

pub(super) fn write_accounts(users: &[UserAccount], all: &[ResourceUse]) -> fb::Accounts {
    let write = |account: &UserAccount| fb::UserAccount {
        user: account.user,
        resources: Some(account.resources.iter().map(write_use).collect()),
    };
    fb::Accounts {
        users: Some(users.iter().map(write).collect()),
        all: Some(all.iter().map(write_use).collect()),
    }
}

pub(super) fn read_accounts(accounts: fb::AccountsRef<'_>, entries: &Entries) -> Read<ReplyBody> {
    let read = |account: fb::UserAccountRef<'_>| {
        let resources = list("resources", account.resources()?, entries, read_use)?;
        Ok(UserAccount { user: account.user()?, resources })
    };
    Ok(ReplyBody::Accounts {
        users: list("users", accounts.users()?, entries, read)?,
        all: list("all", accounts.all()?, entries, read_use)?,
    })
}
