//! The words' protocol under a checker of interleavings.
//!
//! Members reserve, release, take credit under a modelled kernel lock and are killed at any step;
//! an operator lowers and raises the limit meanwhile. The code of the product runs; the atomics and
//! the locks are shuttle's. Words are atomics, as in a segment, or are reached by steps under a lock
//! of their own, as in a file. What must hold is checked after every single change of a word. Twins
//! that lack one rule each must be caught, or the model proves nothing.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::cell::Cell;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex as Unseen;

use millpond_ledger::by_lock::{ByLock, Steps};
use millpond_ledger::protocol::{self, Halves, Outcome, Protocol, Sound, Word};
use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use shuttle::sync::{Arc, Mutex};

const MEMBERS: usize = 3;
const LIMIT: u64 = 64;
const LOWER: u64 = 20;

/// What is true, kept without the checker noticing: between two of its steps nothing else runs.
#[derive(Default)]
struct Truth {
    words: [Halves; MEMBERS],
    /// What the driver has given each member.
    held: [u64; MEMBERS],
    dead: [bool; MEMBERS],
    limit: u64,
    /// What members wait for and were not assigned.
    wanted: [u64; MEMBERS],
    /// Whom the operator assigns credit to at this moment.
    assigned: Option<usize>,
}

impl Truth {
    fn sums(&self) -> (u64, u64) {
        self.words.iter().fold((0, 0), |(credit, used), word| {
            (credit + word.claim(), used + u64::from(word.used))
        })
    }

    fn changed(&mut self, slot: usize, new: Halves) {
        let (credit, used) = self.sums();
        self.words[slot] = new;
        let (credit_now, used_now) = self.sums();
        assert!(new.used <= new.credit, "more used than credit: {new:?}");
        assert!(credit_now <= credit.max(self.limit), "credit {credit_now} over {}", self.limit);
        assert!(used_now <= used.max(self.limit), "used {used_now} over {}", self.limit);
        if credit_now > credit && self.assigned != Some(slot) {
            let others = (0..MEMBERS).filter(|other| *other != slot && !self.dead[*other]);
            let owed: u64 = others.map(|other| self.wanted[other]).sum();
            assert!(
                credit_now + owed <= self.limit,
                "a waiter is overtaken: {credit_now} + {owed}"
            );
        }
        let held = self.held[slot];
        assert!(held <= new.used.into(), "the driver gave {held}, counted are {}", new.used);
    }
}

/// How words are reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Atomics,
    Locks,
    /// A twin: steps without the word's lock.
    NoLocks,
    /// A twin: steps that do not look again once they have the lock.
    LooksBefore,
}

struct World {
    reach: Reach,
    words: [AtomicU64; MEMBERS],
    word_locks: [AtomicBool; MEMBERS],
    wanted: [AtomicU64; MEMBERS],
    kept: [AtomicU64; MEMBERS],
    kernel_lock: Mutex<()>,
    limit: AtomicU64,
    truth: Unseen<Truth>,
}

/// One process's view of a word. Once it is killed, nothing it does has an effect.
struct View<'a> {
    world: &'a World,
    slot: usize,
    killed: &'a Cell<bool>,
    mortal: bool,
    /// Whether this view has the word's lock.
    locked: Cell<bool>,
    seen: Cell<u64>,
}

impl View<'_> {
    /// A kill can come before every step.
    fn dies(&self) -> bool {
        if self.mortal && !self.killed.get() && thread_rng().gen_ratio(1, 40) {
            self.killed.set(true);
        }
        self.killed.get()
    }
}

/// The kernel drops the locks of a killed process.
impl Drop for View<'_> {
    fn drop(&mut self) {
        self.unlock();
    }
}

/// Steps may fail at any time; what was lost once is tried again by the callers of the model.
impl Steps for View<'_> {
    fn lock(&self) -> bool {
        if self.world.reach == Reach::NoLocks {
            return true;
        }
        let lock = &self.world.word_locks[self.slot];
        while lock.swap(true, Ordering::AcqRel) {
            shuttle::thread::yield_now();
        }
        self.locked.set(true);
        true
    }

    fn unlock(&self) {
        if self.locked.replace(false) {
            self.world.word_locks[self.slot].store(false, Ordering::Release);
        }
    }

    fn read(&self) -> Option<u64> {
        if self.world.reach == Reach::LooksBefore && self.locked.get() {
            return Some(self.seen.get());
        }
        self.seen.set(Word::load(self));
        Some(self.seen.get())
    }

    fn write(&self, new: u64) -> bool {
        self.overwrite(new);
        true
    }
}

impl Word for View<'_> {
    fn load(&self) -> u64 {
        self.world.words[self.slot].load(Ordering::Acquire)
    }

    fn swap_if(&self, old: u64, new: u64) -> Result<(), u64> {
        if self.dies() {
            return Ok(());
        }
        let word = &self.world.words[self.slot];
        word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire)?;
        self.world.truth.lock().unwrap().changed(self.slot, Halves::unpack(new));
        Ok(())
    }

    fn overwrite(&self, new: u64) {
        if !self.dies() {
            self.world.words[self.slot].store(new, Ordering::Release);
            self.world.truth.lock().unwrap().changed(self.slot, Halves::unpack(new));
        }
    }
}

/// A word by atomics or by steps.
enum Place<'a> {
    Atomic(View<'a>),
    Stepped(ByLock<View<'a>>),
}

impl Word for Place<'_> {
    fn load(&self) -> u64 {
        match self {
            Self::Atomic(word) => Word::load(word),
            Self::Stepped(word) => word.load(),
        }
    }

    fn swap_if(&self, old: u64, new: u64) -> Result<(), u64> {
        match self {
            Self::Atomic(word) => word.swap_if(old, new),
            Self::Stepped(word) => word.swap_if(old, new),
        }
    }

    fn overwrite(&self, new: u64) {
        match self {
            Self::Atomic(word) => word.overwrite(new),
            Self::Stepped(word) => word.overwrite(new),
        }
    }
}

struct Process<'a> {
    world: &'a World,
    killed: Cell<bool>,
    mortal: bool,
}

impl<'a> Process<'a> {
    fn new(world: &'a World, mortal: bool) -> Self {
        Self { world, killed: Cell::new(false), mortal }
    }

    fn view(&self, slot: usize) -> Place<'_> {
        let (locked, seen) = (Cell::new(false), Cell::new(0));
        let (world, mortal) = (self.world, self.mortal);
        let view = View { world, slot, killed: &self.killed, mortal, locked, seen };
        match world.reach {
            Reach::Atomics => Place::Atomic(view),
            _ => Place::Stepped(ByLock::new(view)),
        }
    }

    fn claims(&self) -> u64 {
        (0..MEMBERS).map(|slot| Halves::unpack(self.view(slot).load()).claim()).sum()
    }

    fn reap(&self) {
        for slot in 0..MEMBERS {
            if self.world.truth.lock().unwrap().dead[slot] {
                self.view(slot).overwrite(0);
                self.world.wanted[slot].store(0, Ordering::Release);
                self.world.kept[slot].store(0, Ordering::Release);
                self.world.truth.lock().unwrap().wanted[slot] = 0;
            }
        }
    }

    fn strip<P: Protocol>(&self, but: Option<usize>, enough: u64) -> u64 {
        let others = (0..MEMBERS).filter(|slot| Some(*slot) != but);
        others.fold(0, |found, slot| match found < enough {
            true => {
                let keep = self.world.kept[slot].load(Ordering::Acquire);
                found + u64::from(P::strip(&self.view(slot), u32::try_from(keep).unwrap()))
            }
            false => found,
        })
    }

    fn owed(&self, but: usize) -> u64 {
        let others = (0..MEMBERS).filter(|slot| *slot != but);
        others.map(|slot| self.world.wanted[slot].load(Ordering::Acquire)).sum()
    }

    /// The operator notes what a member waits for.
    fn want(&self, slot: usize, units: u64) {
        let _lock = self.world.kernel_lock.lock().unwrap();
        if !self.world.truth.lock().unwrap().dead[slot] {
            self.world.wanted[slot].store(units, Ordering::Release);
            self.world.truth.lock().unwrap().wanted[slot] = units;
        }
    }

    /// The operator assigns what a member waits for, as far as there is room; whoever is killed in
    /// between is done over.
    fn assign<P: Protocol>(&self, slot: usize) {
        let _lock = P::ASSIGNS_LOCKED.then(|| self.world.kernel_lock.lock().unwrap());
        let wanted = self.world.wanted[slot].load(Ordering::Acquire);
        if wanted == 0 {
            return;
        }
        let limit = self.world.limit.load(Ordering::Acquire);
        let attempt = || {
            let room = protocol::room(limit, self.claims());
            P::looked();
            self.world.truth.lock().unwrap().assigned = Some(slot);
            let outcome = protocol::assign(&self.view(slot), u32::try_from(wanted).unwrap(), room);
            self.world.truth.lock().unwrap().assigned = None;
            outcome
        };
        self.reap();
        let mut outcome = attempt();
        if let Outcome::Short(missing) = outcome {
            self.strip::<P>(Some(slot), missing);
            outcome = attempt();
        }
        if outcome == Outcome::Done {
            self.world.kept[slot].store(wanted, Ordering::Release);
            self.world.wanted[slot].store(0, Ordering::Release);
            self.world.truth.lock().unwrap().wanted[slot] = 0;
        }
    }

    fn reserve<P: Protocol>(&self, slot: usize, units: u32) -> bool {
        let own = self.view(slot);
        if P::reserve(&own, units) == Outcome::Done {
            return true;
        }
        let _lock = P::LOCKED.then(|| self.world.kernel_lock.lock().unwrap());
        let limit = self.world.limit.load(Ordering::Acquire);
        let done = protocol::take(
            &own,
            units,
            limit,
            || self.claims() + if P::LEAVES_OWED { self.owed(slot) } else { 0 },
            || {
                self.reap();
                Ok::<(), Infallible>(())
            },
            |missing| self.strip::<P>(Some(slot), missing),
        );
        done == Ok(Outcome::Done)
    }

    fn live<P: Protocol>(&self, slot: usize) {
        for _ in 0..5 {
            let held = self.world.truth.lock().unwrap().held[slot];
            if held > 0 && thread_rng().gen_bool(0.4) {
                let units = thread_rng().gen_range(1..=held);
                // The driver has it back first.
                self.world.truth.lock().unwrap().held[slot] -= units;
                protocol::release(&self.view(slot), u32::try_from(units).unwrap());
            } else {
                let units = thread_rng().gen_range(1..=30);
                let mut got = self.reserve::<P>(slot, units);
                if !got && !self.killed.get() && thread_rng().gen_bool(0.5) {
                    // The daemon is asked to have others give way, and then it is tried again.
                    Process::new(self.world, false).want(slot, units.into());
                    shuttle::thread::yield_now();
                    Process::new(self.world, false).assign::<P>(slot);
                    got = self.reserve::<P>(slot, units);
                    Process::new(self.world, false).want(slot, 0);
                    self.world.kept[slot].store(0, Ordering::Release);
                }
                if got && !self.killed.get() {
                    self.world.truth.lock().unwrap().held[slot] += u64::from(units);
                }
            }
            if self.killed.get() {
                // The driver frees, then the kernel drops the slot's lock.
                let mut truth = self.world.truth.lock().unwrap();
                truth.held[slot] = 0;
                truth.dead[slot] = true;
                return;
            }
        }
    }

    fn set_limit<P: Protocol>(&self, limit: u64) {
        let lock = self.world.kernel_lock.lock().unwrap();
        self.world.limit.store(limit, Ordering::Release);
        {
            let mut truth = self.world.truth.lock().unwrap();
            truth.limit = truth.limit.max(limit);
        }
        protocol::settle(
            limit,
            || self.claims(),
            |over| {
                for kept in &self.world.kept {
                    kept.store(0, Ordering::Release);
                }
                self.strip::<P>(None, over)
            },
            || (0..MEMBERS).for_each(|slot| protocol::tighten(&self.view(slot))),
        );
        // From here on it holds.
        self.world.truth.lock().unwrap().limit = limit;
        drop(lock);
    }
}

fn body<P: Protocol + 'static>(reach: Reach) {
    let world = Arc::new(World {
        reach,
        word_locks: std::array::from_fn(|_| AtomicBool::new(false)),
        words: std::array::from_fn(|_| AtomicU64::new(0)),
        wanted: std::array::from_fn(|_| AtomicU64::new(0)),
        kept: std::array::from_fn(|_| AtomicU64::new(0)),
        kernel_lock: Mutex::new(()),
        limit: AtomicU64::new(LIMIT),
        truth: Unseen::new(Truth { limit: LIMIT, ..Truth::default() }),
    });
    let members = (0..MEMBERS).map(|slot| {
        let world = world.clone();
        shuttle::thread::spawn(move || Process::new(&world, true).live::<P>(slot))
    });
    let mut threads: Vec<_> = members.collect();
    let operated = world.clone();
    threads.push(shuttle::thread::spawn(move || {
        let operator = Process::new(&operated, false);
        operator.set_limit::<P>(LOWER);
        operator.set_limit::<P>(LIMIT);
    }));
    for thread in threads {
        thread.join().unwrap();
    }
    nothing_leaked(&world);
}

/// When all have ended, one newcomer can have the whole limit.
fn nothing_leaked(world: &World) {
    let last = Process::new(world, false);
    for slot in 0..MEMBERS {
        let mut truth = world.truth.lock().unwrap();
        let held = std::mem::take(&mut truth.held[slot]);
        let dead = truth.dead[slot];
        drop(truth);
        if !dead {
            let used = Halves::unpack(last.view(slot).load()).used;
            assert_eq!(u64::from(used), held, "ledger and driver disagree");
            protocol::release(&last.view(slot), used);
        }
    }
    last.reap();
    assert!(last.reserve::<Sound>(0, u32::try_from(LIMIT).unwrap()), "room has leaked");
}

struct NoKernelLock;
impl Protocol for NoKernelLock {
    const LOCKED: bool = false;
}

struct CheckThenAdd;
impl Protocol for CheckThenAdd {
    fn reserve<W: Word>(word: &W, units: u32) -> Outcome {
        let now = Halves::unpack(word.load());
        if now.used + units > now.credit {
            return Outcome::Short(units.into());
        }
        let mut old = word.load();
        while let Err(other) = word.swap_if(old, old + u64::from(units)) {
            old = other;
        }
        Outcome::Done
    }
}

struct StripByStore;
impl Protocol for StripByStore {
    fn strip<W: Word>(word: &W, _: u32) -> u32 {
        let now = Halves::unpack(word.load());
        word.overwrite(Halves { credit: now.used, ..now }.pack());
        now.credit - now.used
    }
}

struct AssignsUnlocked;
impl Protocol for AssignsUnlocked {
    const ASSIGNS_LOCKED: bool = false;
}

struct Overtakes;
impl Protocol for Overtakes {
    const LEAVES_OWED: bool = false;
}

fn is_caught<P: Protocol + 'static>(reach: Reach) -> bool {
    let run = || shuttle::check_random(move || body::<P>(reach), 20_000);
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

#[test]
fn at_no_step_is_more_promised_than_the_limit_and_nothing_leaks() {
    shuttle::check_random(|| body::<Sound>(Reach::Atomics), 4_000);
    shuttle::check_pct(|| body::<Sound>(Reach::Atomics), 4_000, 4);
}

#[test]
fn the_same_holds_for_words_that_are_reached_by_steps_under_their_locks() {
    shuttle::check_random(|| body::<Sound>(Reach::Locks), 4_000);
    assert!(is_caught::<NoKernelLock>(Reach::Locks));
    assert!(is_caught::<CheckThenAdd>(Reach::Locks));
}

#[test]
fn steps_without_the_words_lock_or_with_a_look_before_it_fail() {
    assert!(is_caught::<Sound>(Reach::NoLocks));
    assert!(is_caught::<Sound>(Reach::LooksBefore));
}

#[test]
fn without_the_kernel_lock_the_model_fails() {
    assert!(is_caught::<NoKernelLock>(Reach::Atomics));
}

#[test]
fn with_check_then_add_the_model_fails() {
    assert!(is_caught::<CheckThenAdd>(Reach::Atomics));
}

#[test]
fn with_a_strip_that_overwrites_the_model_fails() {
    assert!(is_caught::<StripByStore>(Reach::Atomics));
}

#[test]
fn with_an_assignment_without_the_lock_the_model_fails() {
    assert!(is_caught::<AssignsUnlocked>(Reach::Atomics));
}

#[test]
fn with_members_that_take_what_waiters_are_owed_the_model_fails() {
    assert!(is_caught::<Overtakes>(Reach::Atomics));
}
