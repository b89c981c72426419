//! Charges on accounts that are numbers.

use std::collections::BTreeMap;

use millpond_ledger::{NO_LIMIT, UNIT};
use proptest::prelude::*;

use super::*;

const GPU: GpuUuid = GpuUuid([1; 16]);
const USERS: u32 = 4;

/// Accounts of groups as numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Paper {
    /// Limit and charge of each group.
    groups: BTreeMap<GroupName, (u64, u64)>,
    stuck: bool,
}

impl Paper {
    fn account(&mut self, group: &GroupName) -> Result<&mut (u64, u64), &'static str> {
        if self.stuck {
            return Err("stuck");
        }
        self.groups.get_mut(group).ok_or("no such group")
    }

    fn charge_of(&self, group: &GroupName) -> u64 {
        self.groups[group].1
    }
}

impl Ledgers for Paper {
    type Error = &'static str;

    fn charge(
        &mut self,
        group: &GroupName,
        _device: GpuUuid,
        units: u64,
    ) -> Result<(), Refusal<Self::Error>> {
        let (limit, charge) = self.account(group).map_err(Refusal::Broken)?;
        if *charge + units > *limit {
            return Err(Refusal::Limit { soon: false });
        }
        *charge += units;
        Ok(())
    }

    fn give_back(
        &mut self,
        group: &GroupName,
        _device: GpuUuid,
        units: u64,
    ) -> Result<(), Self::Error> {
        let (_, charge) = self.account(group)?;
        *charge = charge.checked_sub(units).expect("a charge is never negative");
        Ok(())
    }

    fn charged(&mut self, group: &GroupName, _device: GpuUuid) -> Result<u64, Self::Error> {
        self.account(group).map(|(_, charge)| *charge)
    }

    fn set_charged(
        &mut self,
        group: &GroupName,
        _device: GpuUuid,
        units: u64,
    ) -> Result<(), Self::Error> {
        self.account(group)?.1 = units;
        Ok(())
    }
}

fn group(number: u32) -> GroupName {
    GroupName::new(format!("team-{number}")).unwrap()
}

fn slab(number: u128) -> SlabId {
    SlabId(uuid::Uuid::from_u128(number))
}

fn holding(user: u32, units: u64) -> Holding {
    Holding::new(GPU, units * UNIT, user)
}

/// One group that pays for user 0, and a card that nobody is promised anything of.
fn world(limit: u64) -> (Charges, Paper) {
    let mut charges = Charges::default();
    charges.adopt([]);
    charges.promised_elsewhere(false);
    charges.set_payers([(0, group(0))].into_iter().collect());
    (charges, Paper { groups: [(group(0), (limit, 0))].into(), stuck: false })
}

#[test]
fn a_group_pays_for_its_users_up_to_its_limit_and_others_pay_for_themselves() {
    let (mut charges, mut paper) = world(10);
    charges.charge(&mut paper, 0, slab(1), holding(0, 7)).unwrap();
    let refused = charges.charge(&mut paper, 0, slab(2), holding(0, 4));
    assert_eq!(refused, Err(Refused::ByGroup(group(0), Refusal::Limit { soon: false })));
    charges.charge(&mut paper, 0, slab(3), holding(1, 1000)).unwrap();
    assert_eq!(charges.held_by(&Payer::Group(group(0)), GPU), 7);
    assert_eq!(charges.held_by(&Payer::User(1), GPU), 1000);
    assert_eq!(paper.charge_of(&group(0)), 7);
    charges.give_back(&mut paper, 0, slab(1)).unwrap();
    charges.give_back(&mut paper, 0, slab(2)).unwrap();
    assert_eq!(paper.charge_of(&group(0)), 0);
    charges.charge(&mut paper, 0, slab(2), holding(0, 10)).unwrap();
}

#[test]
fn what_is_there_already_is_charged_beyond_the_limit() {
    let (mut charges, mut paper) = world(10);
    charges.charge(&mut paper, 0, slab(1), holding(0, 7)).unwrap();
    charges.charge_made(&mut paper, slab(2), holding(0, 7)).unwrap();
    charges.charge_made(&mut paper, slab(3), holding(1, 5)).unwrap();
    assert_eq!((paper.charge_of(&group(0)), charges.held_by(&Payer::User(1), GPU)), (14, 5));
    assert_eq!(charges.recount(&mut paper, &group(0), &[GPU]), Ok(false));
    paper.stuck = true;
    assert_eq!(charges.charge_made(&mut paper, slab(4), holding(0, 1)), Err("stuck"));
    paper.stuck = false;
    charges.give_back(&mut paper, 0, slab(2)).unwrap();
    assert_eq!(paper.charge_of(&group(0)), 7);
}

#[test]
fn a_charge_that_could_not_be_given_back_is_counted_anew() {
    let (mut charges, mut paper) = world(10);
    charges.charge(&mut paper, 0, slab(1), holding(0, 7)).unwrap();
    paper.stuck = true;
    assert_eq!(charges.give_back(&mut paper, 0, slab(1)), Err((group(0), "stuck")));
    paper.stuck = false;
    assert_eq!(charges.recount(&mut paper, &group(0), &[GPU]), Ok(true));
    assert_eq!(charges.recount(&mut paper, &group(0), &[GPU]), Ok(false));
    assert_eq!(paper.charge_of(&group(0)), 0);
}

#[test]
fn what_was_there_already_is_not_taken_from_a_charge_that_lacks_it() {
    let (mut charges, mut paper) = world(10);
    charges.charge(&mut paper, 0, slab(1), holding(0, 7)).unwrap();
    charges.adopt([(slab(2), holding(0, 5))]);
    charges.give_back(&mut paper, 0, slab(2)).unwrap();
    assert_eq!(paper.charge_of(&group(0)), 7);
    charges.adopt([(slab(3), holding(0, 5))]);
    charges.give_back(&mut paper, 0, slab(1)).unwrap();
    assert_eq!(paper.charge_of(&group(0)), 5, "whatever the limit says");
}

#[test]
fn before_the_slabs_of_an_earlier_daemon_are_known_nothing_is_counted_anew() {
    let (_, mut paper) = world(10);
    paper.set_charged(&group(0), GPU, 5).unwrap();
    let mut next = Charges::default();
    next.set_payers([(0, group(0))].into_iter().collect());
    assert_eq!(next.recount(&mut paper, &group(0), &[GPU]), Ok(false));
    assert_eq!(paper.charge_of(&group(0)), 5);
    next.adopt([(slab(1), holding(0, 3))]);
    assert_eq!(next.recount(&mut paper, &group(0), &[GPU]), Ok(true));
    assert_eq!(paper.charge_of(&group(0)), 3, "what was made and never recorded is not charged");
}

/// A user with a slab comes to a group, and nobody has counted anew yet.
fn world_with_a_newcomer() -> (Charges, Paper) {
    let (mut charges, mut paper) = world(10);
    charges.charge(&mut paper, 0, slab(1), holding(0, 4)).unwrap();
    charges.charge(&mut paper, 0, slab(2), holding(1, 5)).unwrap();
    charges.set_payers([(0, group(0)), (1, group(0))].into_iter().collect());
    assert_eq!(paper.charge_of(&group(0)), 4);
    (charges, paper)
}

#[test]
fn what_a_new_user_brings_counts_before_the_next_charge() {
    let (mut charges, mut paper) = world_with_a_newcomer();
    let refused = charges.charge(&mut paper, 0, slab(3), holding(0, 2));
    assert_eq!(refused, Err(Refused::ByGroup(group(0), Refusal::Limit { soon: false })));
    assert_eq!(paper.charge_of(&group(0)), 9);
    charges.charge(&mut paper, 0, slab(3), holding(0, 1)).unwrap();
    assert_eq!(paper.charge_of(&group(0)), 10);
}

#[test]
fn what_a_new_user_gives_back_is_not_taken_from_the_others_charge() {
    let (mut charges, mut paper) = world_with_a_newcomer();
    charges.give_back(&mut paper, 0, slab(2)).unwrap();
    assert_eq!(paper.charge_of(&group(0)), 4);
    charges.give_back(&mut paper, 0, slab(1)).unwrap();
    assert_eq!(paper.charge_of(&group(0)), 0);
}

#[test]
fn who_has_no_group_waits_for_the_first_reading_and_leaves_what_was_promised() {
    let (mut charges, mut paper) = world(10);
    let share = Share { asked: NO_LIMIT, min: 60, held: 0, weight: 1 };
    let mut card = Card { total: 100, used: None };
    charges.balance(GPU, &card, false, &[share]);
    let mut charge = |charges: &mut Charges, now, number, units| {
        charges.charge(&mut paper, now, slab(number), holding(1, units))
    };
    assert_eq!(charge(&mut charges, 1000, 1, 10), Err(Refused::Unread));
    assert_eq!(charge(&mut charges, 1000 + FIRST_READING_MS - 1, 1, 10), Err(Refused::Unread));
    assert_eq!(charge(&mut charges, 1000 + FIRST_READING_MS, 1, 10), Ok(()));
    card.used = Some(10);
    charges.balance(GPU, &card, true, &[share]);
    let refused = charge(&mut charges, 2000, 2, 31);
    assert_eq!(refused, Err(Refused::Promised { left: 30, soon: false }));
    charges.give_back(&mut Paper::default(), 2000, slab(1)).unwrap();
    // The reading may still show it, and does not for ever.
    for (now, soon) in [(2000 + IN_READINGS_MS - 1, true), (2000 + IN_READINGS_MS, false)] {
        let refused = charge(&mut charges, now, 2, 41);
        assert_eq!(refused, Err(Refused::Promised { left: 40, soon }));
    }
    assert_eq!(charge(&mut charges, 3000, 2, 40), Ok(()));
}

/// What can happen to the accounts of two groups.
#[derive(Clone, Debug)]
enum Event {
    Charge { slab: u128, user: u32, units: u64 },
    GiveBack { slab: u128 },
    Limit { group: u32, limit: u64 },
    Pay { user: u32, group: Option<u32> },
    Stick,
    Restart,
    Recount,
}

fn event() -> impl Strategy<Value = Event> {
    let slab = || 0..12u128;
    prop_oneof![
        4 => (slab(), 0..USERS, 1..20u64)
            .prop_map(|(slab, user, units)| Event::Charge { slab, user, units }),
        3 => slab().prop_map(|slab| Event::GiveBack { slab }),
        1 => (0..2u32, 0..60u64).prop_map(|(group, limit)| Event::Limit { group, limit }),
        1 => (0..USERS, prop::option::of(0..2u32))
            .prop_map(|(user, group)| Event::Pay { user, group }),
        1 => Just(Event::Stick),
        1 => Just(Event::Restart),
        1 => Just(Event::Recount),
    ]
}

/// The charges, the accounts, and what is really there.
#[derive(Clone, Debug, Default)]
struct Play {
    charges: Charges,
    paper: Paper,
    payers: BTreeMap<u32, GroupName>,
    slabs: BTreeMap<SlabId, Holding>,
}

impl Play {
    fn new() -> Self {
        let mut play = Self::default();
        play.charges.adopt([]);
        play.charges.promised_elsewhere(false);
        play.paper.groups = [(group(0), (40, 0)), (group(1), (20, 0))].into();
        play
    }

    fn held(&self, payer: &GroupName) -> u64 {
        let theirs = self.slabs.values().filter(|it| self.payers.get(&it.user) == Some(payer));
        theirs.map(|it| it.units).sum()
    }

    fn recount(&mut self) {
        for number in 0..2 {
            self.charges.recount(&mut self.paper, &group(number), &[GPU]).unwrap();
        }
    }

    fn pay(&mut self) {
        self.charges.set_payers(self.payers.clone().into_iter().collect());
        self.recount();
    }

    fn happens(&mut self, event: &Event) {
        let before = self.paper.clone();
        match event {
            Event::Charge { slab: number, user, units } => {
                let (id, holding) = (slab(*number), holding(*user, *units));
                if self.slabs.contains_key(&id) {
                    return;
                }
                let charged = self.charges.charge(&mut self.paper, 0, id, holding);
                match (&charged, self.payers.get(user)) {
                    (Ok(()), payer) => {
                        self.slabs.insert(id, holding);
                        if let Some(payer) = payer {
                            let (limit, charge) = self.paper.groups[payer];
                            assert!(charge <= limit, "{payer} has {charge} of {limit}");
                        }
                    }
                    (Err(Refused::ByGroup(by, Refusal::Limit { .. })), Some(payer)) => {
                        let (limit, charge) = before.groups[payer];
                        assert!(by == payer && charge + units > limit);
                        assert_eq!(self.paper, before, "a refusal changes nothing");
                    }
                    refused => panic!("{refused:?}"),
                }
            }
            Event::GiveBack { slab: number } => {
                self.slabs.remove(&slab(*number));
                self.charges.give_back(&mut self.paper, 0, slab(*number)).unwrap();
            }
            Event::Limit { group: number, limit } => {
                self.paper.groups.get_mut(&group(*number)).unwrap().0 = *limit;
            }
            Event::Pay { user, group: number } => {
                match number {
                    Some(number) => self.payers.insert(*user, group(*number)),
                    None => self.payers.remove(user),
                };
                self.pay();
            }
            Event::Stick => {
                // The lock of every group is kept while one slab goes.
                let Some(id) = self.slabs.keys().next().copied() else { return };
                self.slabs.remove(&id);
                self.paper.stuck = true;
                let _ = self.charges.give_back(&mut self.paper, 0, id);
                self.paper.stuck = false;
                self.recount();
            }
            Event::Restart => {
                // One slab more was charged by the daemon that died, and never made.
                let _ = self.charges.charge(&mut self.paper, 0, slab(99), holding(0, 1));
                self.charges = Charges::default();
                self.charges.promised_elsewhere(false);
                self.charges.adopt(self.slabs.clone());
                self.pay();
            }
            Event::Recount => self.recount(),
        }
    }
}

proptest! {
    #[test]
    fn the_charge_of_every_payer_is_the_sum_of_its_slabs(
        events in prop::collection::vec(event(), 0..80)
    ) {
        let mut play = Play::new();
        for event in &events {
            play.happens(event);
            for number in 0..2 {
                let held = play.held(&group(number));
                prop_assert_eq!(play.paper.charge_of(&group(number)), held);
                prop_assert_eq!(play.charges.held_by(&Payer::Group(group(number)), GPU), held);
            }
            for user in 0..USERS {
                let theirs = play.slabs.values().filter(|it| it.user == user);
                let held: u64 = theirs.map(|it| it.units).sum();
                prop_assert_eq!(play.charges.held_by(&Payer::User(user), GPU), held);
            }
        }
    }

    #[test]
    fn the_same_events_have_the_same_outcome(events in prop::collection::vec(event(), 0..80)) {
        let (mut one, mut other) = (Play::new(), Play::new());
        for event in &events {
            one.happens(event);
            other.happens(event);
            prop_assert_eq!(&one.paper, &other.paper);
        }
    }

    /// What lies above a limit is what a lowered limit, or a user who changed payers, has left.
    #[test]
    fn no_charge_raises_a_group_above_its_limit(events in prop::collection::vec(event(), 0..80)) {
        let mut play = Play::new();
        for event in &events {
            let before = play.paper.clone();
            play.happens(event);
            if matches!(event, Event::Charge { .. } | Event::GiveBack { .. } | Event::Recount) {
                for (name, (limit, charge)) in &play.paper.groups {
                    prop_assert!(*charge <= (*limit).max(before.charge_of(name)));
                }
            }
        }
    }
}
