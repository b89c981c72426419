//! The pond's memory in the groups' accounts.

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
