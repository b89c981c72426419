//! The pond's memory in the groups' accounts.

use millpond_ledger::Column;

use super::*;

#[test]
fn the_ponds_memory_that_no_group_pays_for_leaves_what_was_promised() {
    let mut play = Play::new();
    play.make("team", 80 * GIB);
    let set = GroupSet { min_bytes: Some(60 * GIB), ..GroupSet::of(name("team")) };
    play.set(set).unwrap();
    let used = |play: &mut Play, used| {
        let reading = CardReading { device: GPU, used_bytes: Some(used), processes: None };
        play.shelf.read(vec![reading]);
        play.shelf.rebalance();
    };
    used(&mut play, 10 * GIB);
    let (first, second) = (SlabId::random(), SlabId::random());
    play.charges.charge(first, GPU, 25 * GIB, 1001).unwrap();
    let failure = play.charges.charge(second, GPU, 10 * GIB, 1001).unwrap_err().answer;
    assert_eq!((failure.kind, failure.free_bytes), (ErrorKind::GpuFull, Some(5 * GIB)));
    assert!(failure.hint.unwrap().contains("group ls"));
    // A reading from before does not make it forgotten, nor does a card that says nothing.
    for reading in [Some(5 * GIB), None] {
        let reading = CardReading { device: GPU, used_bytes: reading, processes: None };
        play.shelf.read(vec![reading]);
        play.shelf.rebalance();
        let refused = play.charges.charge(second, GPU, 20 * GIB, 1001).unwrap_err();
        assert_eq!((refused.answer.free_bytes, refused.soon), (Some(15 * GIB), false));
    }
    // The card says what was charged, or it is given back.
    used(&mut play, 35 * GIB);
    assert!(!play.charges.charge(second, GPU, 10 * GIB, 1001).unwrap_err().soon);
    play.charges.give_back(first);
    // The reading is older than that, and the next one is not.
    used(&mut play, 35 * GIB);
    assert!(play.charges.charge(second, GPU, 10 * GIB, 1001).unwrap_err().soon);
    used(&mut play, 10 * GIB);
    play.charges.charge(second, GPU, 10 * GIB, 1001).unwrap();
    // Without a promise the card is the limit.
    play.set(GroupSet { min_bytes: Some(0), ..GroupSet::of(name("team")) }).unwrap();
    play.charges.charge(first, GPU, 90 * GIB, 1001).unwrap();
}

#[test]
fn the_ponds_memory_is_charged_refused_given_back_and_counted_anew() {
    let mut play = Play::new();
    play.make("team", GIB);
    let users = Some(vec![1000]);
    play.set(GroupSet { users: users.clone(), ..GroupSet::of(name("team")) }).unwrap();
    assert_eq!(play.payers, [(1000, name("team"))].into_iter().collect());
    let (first, second) = (SlabId::random(), SlabId::random());
    play.charges.charge(first, GPU, 700 * MIB, 1000).unwrap();
    let failure = play.charges.charge(second, GPU, 400 * MIB, 1000).unwrap_err().answer;
    assert_eq!(failure.kind, ErrorKind::GpuFull);
    for word in ["team", "1 GiB", "400 MiB", "700 MiB"] {
        assert!(failure.message.contains(word), "{word}: {failure}");
    }
    assert!(failure.hint.unwrap().contains("millpond group set team --limit"));
    // A user without a group is charged to nobody.
    play.charges.charge(SlabId::random(), GPU, 90 * GIB, 1001).unwrap();
    assert_eq!(play.inspect("team").info.devices[0].pond_bytes, 700 * MIB);
    // Members and the pond share one limit.
    let (member, device) = play.member("team");
    assert_eq!(member.reserve(device, units(400 * MIB)), Err(Refused::Limit));
    member.reserve(device, units(300 * MIB)).unwrap();
    play.charges.give_back(first);
    assert_eq!(play.inspect("team").info.devices[0].pond_bytes, 0);
    play.charges.charge(second, GPU, 400 * MIB, 1000).unwrap();
    // The next daemon counts what it finds.
    play.restart(&[(first, GPU, 100 * MIB, 1000), (second, GPU, 50 * MIB, 7)]);
    let info = play.inspect("team").info;
    assert_eq!((info.devices[0].pond_bytes, info.users), (100 * MIB, vec![1000]));
    play.charges.give_back(first);
    assert_eq!(play.inspect("team").info.devices[0].pond_bytes, 0);
    // Another payer takes over what is there.
    play.charges.charge(first, GPU, 100 * MIB, 1000).unwrap();
    play.make("other", GIB);
    let taken = play.set(GroupSet { users: users.clone(), ..GroupSet::of(name("other")) });
    assert_eq!(taken.unwrap_err().kind, ErrorKind::Exists);
    play.set(GroupSet { users: Some(Vec::new()), ..GroupSet::of(name("team")) }).unwrap();
    play.set(GroupSet { users, ..GroupSet::of(name("other")) }).unwrap();
    let held = ["team", "other"].map(|group| play.inspect(group).info.devices[0].pond_bytes);
    assert_eq!(held, [0, 100 * MIB]);
    member.release(device, units(300 * MIB));
}

#[test]
fn memory_that_a_member_has_made_becomes_the_ponds_and_is_charged_once() {
    let mut play = Play::new();
    play.make("team", GIB);
    play.make("strangers", GIB);
    let set = GroupSet { users: Some(vec![1000]), ..GroupSet::of(name("team")) };
    play.set(set).unwrap();
    let (member, device) = play.member("team");
    let (stranger, of_strangers) = play.member("strangers");
    let large = 700 * MIB;
    stranger.reserve(of_strangers, units(large)).unwrap();
    let (slab, me) = (SlabId::random(), std::process::id());
    let charge = |play: &Play, user, pid| play.charges.charge_made(slab, GPU, large, user, pid);
    // Only what the payer has charged that process with: not less, nor another process, nor what
    // another group has charged, nor what no group pays for.
    assert!(!charge(&play, 1000, me));
    member.reserve(device, units(large)).unwrap();
    assert!(!charge(&play, 1000, 1) && !charge(&play, 1000, u32::MAX) && !charge(&play, 1001, me));
    assert!(play.charges.charge(slab, GPU, large, 1000).is_err(), "both do not fit");
    assert!(charge(&play, 1000, me));
    let held = |play: &mut Play| {
        let device = play.inspect("team").info.devices[0].clone();
        (device.process_bytes, device.pond_bytes)
    };
    assert_eq!(held(&mut play), (large, large), "until the process has heard of it");
    assert_eq!(member.reserve(device, 1), Err(Refused::Limit));
    // What the library does then. The card goes on to show it at its maker.
    member.add_column(Column::Shared, device, i64::from(units(large)));
    member.release(device, units(large));
    for _ in 0..3 {
        play.card_says(2 * GIB, large);
    }
    assert_eq!(held(&mut play), (0, large));
    let seen = play.inspect("team");
    let process = &seen.members[0].devices[0];
    assert_eq!((process.folded_bytes, process.drift_bytes()), (0, Some(0)), "{process:?}");
    assert!(!seen.info.lying);
    assert_eq!(play.readings.last().unwrap().drift_bytes, 0);
    member.reserve(device, units(300 * MIB)).unwrap();
    assert_eq!(member.reserve(device, units(100 * MIB)), Err(Refused::Limit));
    member.release(device, units(300 * MIB));
    // What was not handed over is folded in as ever, and no less of it.
    for _ in 0..3 {
        play.card_says(2 * GIB, large + 50 * MIB);
    }
    assert_eq!(held(&mut play), (50 * MIB, large));
    // The pond has it no more, and the process is charged again.
    play.charges.give_back(slab);
    member.charge(device, units(large));
    member.add_column(Column::Shared, device, -i64::from(units(large)));
    for _ in 0..3 {
        play.card_says(2 * GIB, large + 50 * MIB);
    }
    assert_eq!(held(&mut play), (large + 50 * MIB, 0));
    member.release(device, units(large));
    stranger.release(of_strangers, units(large));
}
