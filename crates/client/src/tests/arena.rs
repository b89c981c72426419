//! The order in which slabs of an arena are mapped and exchanged, and what is left when a call of
//! the driver fails.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use millpond_wire::{LeaseId, Mode, TensorId};

use crate::connection::lock;
use crate::model::{Arena, New, NotExchanged};
use crate::retire::{Retire, ToUnmap};
use crate::slab_map::SlabMap;
use crate::testing::{Act, FakeDevice, FakeSink, an_fd};

const SLAB: u64 = 2 << 20;

struct Bench {
    device: Arc<FakeDevice>,
    retire: Retire<FakeDevice>,
    parts: Vec<TensorId>,
    arena: Arena<FakeDevice>,
}

fn bench(slabs: usize) -> Bench {
    let device = Arc::new(FakeDevice::default());
    let sink = Arc::new(FakeSink { log: Arc::clone(&device.log), ..FakeSink::default() });
    let slab_map = Arc::new(SlabMap::new(Arc::clone(&device)));
    let retire =
        Retire::new(Arc::clone(&device), slab_map, Arc::new(move |leases| sink.release(leases)));
    let list = retire.list(&1);
    let mut arena = Arena::reserve(&*device, &list, (0..slabs).map(|_| SLAB)).unwrap();
    let parts: Vec<TensorId> = (0..slabs).map(|_| TensorId::random()).collect();
    for (index, part) in parts.iter().enumerate() {
        arena.fill(&device, index, *part, an_fd().as_fd(), Mode::ReadOnly).unwrap();
    }
    Bench { device, retire, parts, arena }
}

impl Bench {
    fn table(&self) -> BTreeMap<u64, (u64, Mode)> {
        lock(&self.device.table).clone()
    }

    /// Exchanges the second and the third slab.
    fn exchange(&mut self) -> Result<(), Option<NotExchanged>> {
        let mut news: Vec<New<FakeDevice>> = Vec::new();
        for index in [1, 2] {
            match self.arena.import(&self.device, index, TensorId::random(), an_fd().as_fd()) {
                Ok(new) => news.push(new),
                Err(_) => {
                    Arena::discard(&*self.device, news);
                    return Err(None);
                }
            }
        }
        self.arena.exchange(&self.device, news).map_err(Some)
    }

    /// References to slabs that are neither mapped nor given back.
    fn leaked(&self) -> Vec<u64> {
        let mut held = Vec::new();
        for act in self.device.acts() {
            match act {
                Act::Import(memory) => held.push(memory),
                Act::GiveBack(memory) => held.retain(|one| *one != memory),
                _ => {}
            }
        }
        let mapped: Vec<u64> = self.table().values().map(|(memory, _)| *memory).collect();
        held.retain(|one| !mapped.contains(one));
        held
    }
}

#[test]
fn only_what_differs_is_mapped_anew_after_the_work() {
    let mut bench = bench(4);
    let before = bench.device.acts().len();
    bench.exchange().unwrap();
    let acts = bench.device.acts();
    let expected = [
        Act::Import(5),
        Act::Import(6),
        Act::Synchronize(1),
        Act::Lift(SLAB, 2),
        Act::Place(SLAB, 5),
        Act::Lift(2 * SLAB, 3),
        Act::Place(2 * SLAB, 6),
        Act::GiveBack(2),
        Act::GiveBack(3),
    ];
    assert_eq!(acts[before..], expected);
    let ro = Mode::ReadOnly;
    let table = [(0, (1, ro)), (SLAB, (5, ro)), (2 * SLAB, (6, ro)), (3 * SLAB, (4, ro))];
    assert_eq!(bench.table(), table.into());
    assert_eq!(bench.arena.part(0), Some(bench.parts[0]));
    assert_ne!(bench.arena.part(1), Some(bench.parts[1]));
}

#[test]
fn whichever_call_fails_the_old_mapping_is_back() {
    let mut failed = 0;
    for calls in 0.. {
        let mut bench = bench(4);
        let before = bench.table();
        *lock(&bench.device.fail_after) = Some((calls, 1));
        let outcome = bench.exchange();
        *lock(&bench.device.fail_after) = None;
        let Err(failure) = outcome else { break };
        failed += 1;
        assert!(failure.is_none_or(|failure| failure.broken.is_none()), "call {calls}");
        assert_eq!(bench.table(), before, "call {calls}");
        for (index, part) in bench.parts.iter().enumerate() {
            assert_eq!(bench.arena.part(index), Some(*part), "call {calls}");
        }
        assert_eq!(bench.leaked(), [0u64; 0], "call {calls}");
        // And it can be done after all.
        bench.exchange().unwrap();
        assert_ne!(bench.table(), before);
    }
    // Two imports, the wait, and unmapping and mapping of each.
    assert_eq!(failed, 7);
}

#[test]
fn what_cannot_be_put_back_is_said() {
    // The third call after the wait maps the first slab; it fails, and so does mapping the old one.
    let mut one = bench(4);
    *lock(&one.device.fail_after) = Some((4, 2));
    let failure = one.exchange().unwrap_err().unwrap();
    assert!(failure.broken.is_some());
    assert!(one.arena.placed(1).is_none() && one.arena.placed(2).is_some());
    // The second slab fails, and the first one's new slab cannot be unmapped.
    let mut two = bench(4);
    *lock(&two.device.fail_after) = Some((5, 2));
    assert!(two.exchange().unwrap_err().unwrap().broken.is_some());
    assert!(two.arena.placed(1).is_some());
}

#[test]
fn an_arena_is_unmapped_after_the_work_and_then_released() {
    let Bench { device, retire, arena, .. } = bench(2);
    device.set_busy(Some(1));
    let list = Arc::clone(arena.list());
    let before = device.acts().len();
    list.push(LeaseId(7), ToUnmap::Arena(Box::new(arena)));
    assert!(!retire.flush(Duration::from_millis(30)));
    assert_eq!(device.acts().len(), before, "nothing happens while work runs");
    device.set_busy(None);
    assert!(retire.flush(Duration::from_secs(5)));
    let expected = [
        Act::Synchronize(1),
        Act::Lift(0, 1),
        Act::GiveBack(1),
        Act::Lift(SLAB, 2),
        Act::GiveBack(2),
        Act::Release(vec![LeaseId(7)]),
    ];
    assert_eq!(device.acts()[before..], expected);
}

#[test]
fn an_arena_that_cannot_be_unmapped_stays_leased() {
    let Bench { device, retire, arena, .. } = bench(2);
    // The wait, then the first slab.
    *lock(&device.fail_after) = Some((1, 1));
    let list = Arc::clone(arena.list());
    list.push(LeaseId(7), ToUnmap::Arena(Box::new(arena)));
    assert!(retire.flush(Duration::from_secs(5)));
    assert_eq!(lock(&device.table).len(), 1);
    assert!(!device.acts().iter().any(|act| matches!(act, Act::Release(_))));
}

#[test]
fn a_version_without_bytes_has_no_addresses() {
    let bench = bench(0);
    assert!(bench.arena.range().is_none());
    bench.arena.unmap(&bench.device).unwrap();
}
