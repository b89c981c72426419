//! Commands of a process that is a member of a group, with and without honesty.
//!
//! Here the slot is used by hand, so that the account book is tested apart from the library that
//! hooks the driver.

use std::ffi::CString;
use std::fs::File;
use std::time::Duration;

use millpond_cuda::{Allocation, Context, Device};
use millpond_ledger::{DeviceIndex, Member, UNIT};

use super::{Trouble, trouble, wrong};
use crate::driver;

/// What such a process has.
#[derive(Default)]
pub(crate) struct Membership {
    member: Option<(Member, DeviceIndex)>,
    card: Option<(Device, Context)>,
    allocations: Vec<Allocation>,
    lock: Option<File>,
}

impl Membership {
    pub(crate) fn run(&mut self, words: &[&str]) -> Result<String, Trouble> {
        match *words {
            ["attach", folder] => {
                let folder = CString::new(folder).map_err(|error| wrong(error.to_string()))?;
                let member = Member::attach(&folder).map_err(|error| wrong(error.to_string()))?;
                let uuid = self.device()?.uuid().0;
                let device = member.device(uuid).map_err(|error| wrong(error.to_string()))?;
                self.member = Some((member, device));
                Ok(String::new())
            }
            ["reserve", bytes] => {
                let (member, device) = self.member()?;
                let reserved = member.reserve(*device, units(bytes)?);
                reserved.map(|()| String::new()).map_err(|error| wrong(error.to_string()))
            }
            ["release", bytes] => {
                let (member, device) = self.member()?;
                member.release(*device, units(bytes)?);
                Ok(String::new())
            }
            // As a program would that nobody watches: charged to nobody.
            ["sneak", bytes] => {
                let bytes = bytes.parse().map_err(|_| wrong("not a number"))?;
                let allocation = Allocation::create(self.device()?, bytes).map_err(trouble)?;
                self.allocations.push(allocation);
                Ok(String::new())
            }
            ["limit"] => {
                let (member, device) = self.member()?;
                Ok(member.limit(*device).saturating_mul(UNIT).to_string())
            }
            // As a process does that is stopped at the wrong moment. All of the file, slots included:
            // nobody may be a member then.
            ["keep-lock", folder] => {
                let path = std::path::Path::new(folder).join("ledger");
                let file = File::options().read(true).write(true).open(path);
                let file = file.map_err(|error| wrong(error.to_string()))?;
                // The daemon takes the lock now and then: it is free in between.
                for _ in 0..1000 {
                    if millpond_wire::fd::try_lock(&file).map_err(|e| wrong(e.to_string()))? {
                        self.lock = Some(file);
                        return Ok(String::new());
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(wrong("somebody else has it"))
            }
            ["free-lock"] => {
                self.lock = None;
                Ok(String::new())
            }
            _ => Err(wrong(format!("'member {}' is no command", words.join(" ")))),
        }
    }

    fn member(&self) -> Result<&(Member, DeviceIndex), Trouble> {
        self.member.as_ref().ok_or_else(|| wrong("not a member"))
    }

    /// With a context, because a card shows no other process.
    fn device(&mut self) -> Result<&Device, Trouble> {
        if self.card.is_none() {
            let driver = driver::open().map_err(trouble)?;
            driver.init().map_err(trouble)?;
            let device = driver.devices().map_err(trouble)?.remove(0);
            let context = Context::primary(&device).map_err(trouble)?;
            self.card = Some((device, context));
        }
        self.card.as_ref().map(|(device, _)| device).ok_or_else(|| wrong("no card"))
    }
}

fn units(bytes: &str) -> Result<u32, Trouble> {
    let bytes: u64 = bytes.parse().map_err(|_| wrong("not a number"))?;
    u32::try_from(bytes / UNIT).map_err(|_| wrong("too large"))
}
