use proptest::prelude::*;

use super::*;

impl Account {
    /// As policy and shell do: a check, and what was checked.
    fn take(&self, resource: Resource, more: u64) -> Result<(), Refused> {
        self.check(resource, more)?;
        self.add(resource, more);
        Ok(())
    }
}

fn tenant() -> Rc<str> {
    "local".into()
}

#[test]
fn the_list_says_everything_about_each_resource() {
    for (at, resource) in Resource::ALL.into_iter().enumerate() {
        assert_eq!(resource.index(), at);
        assert!(resource.key().starts_with("limits.") && !resource.way_out().is_empty());
    }
    assert_eq!(Resource::Clients.amount(1), "1 client");
    assert_eq!(Resource::Moves.amount(2), "2 moves under way");
    assert_eq!(Resource::MoveBytes.amount(64 << 20), "64 MiB in moves");
}

#[test]
fn one_user_has_a_share_and_all_users_leave_a_part_to_the_operator() {
    let terms = AllTerms::NONE.with(Resource::Clients, 20).with_in_all(Resource::Clients, 32);
    let accounts = Accounts::new(terms, 1000);
    let (a, b) = (accounts.of(&tenant(), 1), accounts.of(&tenant(), 2));
    for _ in 0..20 {
        a.take(Resource::Clients, 1).unwrap();
    }
    let refused = a.take(Resource::Clients, 1).unwrap_err();
    assert_eq!((refused.has, refused.cap, refused.key()), (20, 20, "limits.clients_per_user"));
    for _ in 0..10 {
        b.take(Resource::Clients, 1).unwrap();
    }
    let refused = b.take(Resource::Clients, 1).unwrap_err();
    assert_eq!((refused.has, refused.cap, refused.key()), (30, 30, "limits.clients"));
    for operator in [0, 1000] {
        accounts.of(&tenant(), operator).take(Resource::Clients, 1).unwrap();
    }
    assert!(accounts.of(&tenant(), 0).take(Resource::Clients, 1).is_err(), "32 are all");
    a.give(Resource::Clients, 5);
    b.take(Resource::Clients, 1).unwrap();
    assert_eq!((accounts.in_all(Resource::Clients), a.has(Resource::Clients)), (28, 15));
}

#[test]
fn the_same_user_of_two_tenants_is_two_users_and_the_ponds_own_count_for_nobody() {
    let accounts = Accounts::new(AllTerms::NONE.with(Resource::Leases, 1), 0);
    accounts.of(&tenant(), 5).take(Resource::Leases, 1).unwrap();
    accounts.of(&"other".into(), 5).take(Resource::Leases, 1).unwrap();
    accounts.of_the_pond().take(Resource::Leases, 100).unwrap();
    assert_eq!(accounts.in_all(Resource::Leases), 2);
    assert_eq!(accounts.all().len(), 2);
}

#[test]
fn users_who_have_nothing_are_forgotten() {
    let accounts = Accounts::new(AllTerms::NONE, 0);
    let kept = accounts.of(&tenant(), 7);
    accounts.of(&tenant(), 8).add(Resource::Tensors, 1);
    for user in 10..10_000 {
        drop(accounts.of(&tenant(), user));
    }
    assert!(accounts.users.borrow().len() <= KEPT);
    kept.add(Resource::Waits, 1);
    assert_eq!(accounts.of(&tenant(), 7).has(Resource::Waits), 1, "whoever is used stays");
    assert_eq!(accounts.of(&tenant(), 8).has(Resource::Tensors), 1, "and whoever has something");
}

#[test]
fn a_user_is_full_until_half_has_gone() {
    let accounts = Accounts::new(AllTerms::NONE.with(Resource::ReplyBytes, 100), 0);
    let (one, other) = (accounts.of(&tenant(), 7), accounts.of(&tenant(), 8));
    one.add(Resource::ReplyBytes, 60);
    assert!(!one.is_full());
    one.add(Resource::ReplyBytes, 40);
    assert!(one.is_full() && !other.is_full());
    one.change(Resource::ReplyBytes, 100, 51);
    assert!(one.is_full(), "not yet half");
    one.change(Resource::ReplyBytes, 51, 50);
    assert!(!one.is_full());
}

#[test]
fn all_users_together_have_so_many_replies_unread_and_leave_a_part_to_the_operator() {
    let terms = AllTerms::NONE.with(Resource::ReplyBytes, 100);
    let accounts = Accounts::new(terms.with_in_all(Resource::ReplyBytes, 160), 0);
    let users: Vec<_> = (1..5).map(|user| accounts.of(&tenant(), user)).collect();
    let (root, all) = (accounts.of(&tenant(), 0), |of: &[Rc<Account>]| {
        of.iter().map(|user| user.is_full()).collect::<Vec<_>>()
    });
    users[0].add(Resource::ReplyBytes, 80);
    users[1].add(Resource::ReplyBytes, 69);
    root.add(Resource::ReplyBytes, 1);
    assert_eq!(all(&users), [true, true, false, false], "who has none gets one more");
    let why = users[0].why_full().unwrap();
    assert_eq!((why.key(), why.has, why.cap), ("limits.reply_bytes", 150, 150));
    assert!(!root.is_full());
    users[2].add(Resource::ReplyBytes, 99);
    users[3].add(Resource::ReplyBytes, 51);
    assert!(accounts.of(&tenant(), 9).is_full(), "but not for ever: 300 are twice the users' part");
    root.give(Resource::ReplyBytes, 1);
    assert!(!root.is_full());
    // What others read lets everybody go on.
    users[3].give(Resource::ReplyBytes, 51);
    users[2].give(Resource::ReplyBytes, 99);
    users[1].give(Resource::ReplyBytes, 10);
    assert_eq!(all(&users), [false; 4]);
}

#[test]
fn whoever_has_none_in_flight_may_have_some_until_twice_as_many_are_as_should() {
    let terms = AllTerms::NONE.with(Resource::Descriptors, 100);
    let accounts = Accounts::new(terms.with_in_all(Resource::Descriptors, 160), 0);
    let users: Vec<_> = (1..5).map(|user| accounts.of(&tenant(), user)).collect();
    for account in &users[..2] {
        account.check_or_first(Resource::Descriptors, 127).unwrap();
        account.add(Resource::Descriptors, 127);
        assert!(account.check_or_first(Resource::Descriptors, 1).is_err());
    }
    assert!(users[2].check(Resource::Descriptors, 1).is_err());
    assert!(users[2].check_or_first(Resource::Descriptors, 46).is_ok());
    assert!(users[2].check_or_first(Resource::Descriptors, 47).is_err(), "300 are all");
    let root = accounts.of(&tenant(), 0);
    assert!(root.check_or_first(Resource::Descriptors, 66).is_ok());
    assert!(root.check_or_first(Resource::Descriptors, 67).is_err(), "320 with the operator's");
}

#[test]
fn the_operator_has_caps_of_ones_own_and_others_a_share() {
    let terms = AllTerms::NONE.with(Resource::Clients, 10).with_reserve(Resource::Clients, 50);
    let accounts = Accounts::new(terms.with_share(Resource::Clients, 4), 1000);
    let cap = |user| accounts.of(&tenant(), user).cap(Resource::Clients);
    assert_eq!((cap(0), cap(1000), cap(5)), (50, 50, 4));
}

proptest! {
    #[test]
    fn nothing_goes_below_zero_and_the_users_add_up(
        steps in prop::collection::vec((0u8..4, 0usize..Resource::COUNT, 0u32..4, 0u64..6), 0..200)
    ) {
        let mut terms = AllTerms::NONE;
        for resource in Resource::ALL {
            terms = terms.with(resource, 10).with_in_all(resource, 25);
        }
        let accounts = Accounts::new(terms, 3);
        let mut charges = Vec::new();
        for (what, resource, user, amount) in steps {
            let (resource, account) = (Resource::ALL[resource], accounts.of(&tenant(), user));
            match what {
                0 => {
                    let before = account.has(resource);
                    match account.take(resource, amount) {
                        Ok(()) => {
                            prop_assert!(account.has(resource) <= 10);
                            prop_assert!(accounts.in_all(resource) <= 25);
                            account.give(resource, amount);
                        }
                        Err(refused) => {
                            prop_assert_eq!(account.has(resource), before);
                            prop_assert!(refused.has + amount > refused.cap);
                        }
                    }
                }
                1 if account.check(resource, amount).is_ok() => {
                    charges.push((Charge::new(&account, resource, amount), resource, user, amount));
                }
                2 if !charges.is_empty() => drop(charges.swap_remove(charges.len() / 2)),
                _ => {
                    account.change(resource, 0, amount);
                    account.change(resource, amount, 0);
                }
            }
            for resource in Resource::ALL {
                let mut sum = 0;
                for user in 0..4 {
                    let held = charges.iter().filter(|(_, of, by, _)| (*of, *by) == (resource, user));
                    let held: u64 = held.map(|(_, _, _, amount)| amount).sum();
                    prop_assert_eq!(accounts.of(&tenant(), user).has(resource), held);
                    sum += held;
                }
                prop_assert_eq!(accounts.in_all(resource), sum);
            }
        }
        drop(charges);
        prop_assert!(accounts.all().is_empty());
    }
}
