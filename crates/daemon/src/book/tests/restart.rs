//! What a daemon does with the limits that an earlier one has left.

use super::*;

const GROUPS: [&str; 3] = ["a", "b", "set"];

fn effective(play: &mut Play) -> [u64; 3] {
    GROUPS.map(|group| play.effective(group).unwrap() / GIB)
}

fn card_says(play: &mut Play, used_bytes: Option<u64>) {
    play.shelf.read(vec![CardReading { device: GPU, used_bytes, processes: None }]);
}

#[test]
fn no_limit_of_an_earlier_daemon_is_raised_before_the_cards_were_read() {
    let mut play = Play::new();
    for group in GROUPS {
        play.make(group, 80 * GIB);
    }
    play.set(GroupSet { min_bytes: Some(10 * GIB), ..GroupSet::of(name("b")) }).unwrap();
    // Strangers have half of the card.
    card_says(&mut play, Some(50 * GIB));
    let before = effective(&mut play);
    assert_eq!(before, [40, 50, 40]);
    play.restart(&[]);
    assert_eq!(effective(&mut play), before);
    // The journal says which cards there are, and then the driver does.
    play.shelf.cards_are(&[(GPU, 100 * GIB)]);
    assert_eq!(effective(&mut play), before);
    let (member, device) = play.member("b");
    member.reserve(device, units(50 * GIB)).unwrap();
    let (other, other_device) = play.member("set");
    other.reserve(other_device, units(20 * GIB)).unwrap();
    assert_eq!(effective(&mut play), [30, 50, 40], "it is lowered");
    other.release(other_device, units(20 * GIB));
    member.release(device, units(50 * GIB));
    assert_eq!(effective(&mut play), [30, 50, 40]);
    play.make("set", 60 * GIB);
    assert_eq!(effective(&mut play), [30, 50, 60], "who sets a limit means it");
    card_says(&mut play, Some(20 * GIB));
    assert_eq!(effective(&mut play), [70, 80, 60]);
}

#[test]
fn a_card_that_does_not_say_what_is_in_use_is_not_waited_for() {
    let mut play = Play::new();
    play.make("a", 80 * GIB);
    card_says(&mut play, Some(50 * GIB));
    assert_eq!(play.effective("a"), Some(50 * GIB));
    play.restart(&[]);
    card_says(&mut play, None);
    assert_eq!(play.effective("a"), Some(80 * GIB));
}

/// User 7 has 20 GiB in the pond that no group pays for, and `team` is promised 60 of 100.
fn restarted_with_a_promise() -> Play {
    let mut play = Play::new();
    play.make("team", 80 * GIB);
    play.set(GroupSet { min_bytes: Some(60 * GIB), ..GroupSet::of(name("team")) }).unwrap();
    play.restart(&[(SlabId::random(), GPU, 20 * GIB, 7)]);
    play.shelf.rebalance();
    play
}

fn charge(play: &Play, gibs: u64) -> Result<(), (ErrorKind, bool)> {
    let charged = play.charges.charge(SlabId::random(), GPU, gibs * GIB, 8);
    charged.map_err(|over| (over.answer.kind, over.soon))
}

#[test]
fn what_nobody_pays_for_waits_for_the_first_reading_where_something_is_promised() {
    let mut play = restarted_with_a_promise();
    assert_eq!(charge(&play, 1), Err((ErrorKind::Later, true)));
    // Others have 10 beside the pond.
    card_says(&mut play, Some(30 * GIB));
    play.shelf.rebalance();
    assert_eq!(charge(&play, 11), Err((ErrorKind::GpuFull, false)));
    assert_eq!(charge(&play, 10), Ok(()));
}

#[test]
fn a_card_that_hangs_keeps_nobody_waiting_and_what_the_pond_knows_holds() {
    let play = restarted_with_a_promise();
    assert_eq!(charge(&play, 1), Err((ErrorKind::Later, true)));
    std::thread::sleep(Duration::from_millis(FIRST_READING_MS));
    assert_eq!(charge(&play, 21), Err((ErrorKind::GpuFull, false)));
    assert_eq!(charge(&play, 20), Ok(()));
}

#[test]
fn before_the_groups_are_known_nobody_is_taken_for_one_without() {
    let play = restarted_with_a_promise();
    let charges = Arc::new(ChargedAccounts::default());
    let early = || charges.charge(SlabId::random(), GPU, GIB, 8).map_err(|over| over.soon);
    assert_eq!(early(), Err(true), "no group was looked at");
    let folders = Folders::of_pond(play.folder.path());
    let mut shelf = Shelf::open(folders, Arc::clone(&charges), CAPS);
    assert_eq!(early(), Err(true), "something is promised, and no card is known");
    shelf.cards_are(&[(GPU, 100 * GIB)]);
    assert_eq!(early(), Err(true));
    shelf.read(vec![CardReading { device: GPU, used_bytes: Some(0), processes: None }]);
    shelf.rebalance();
    assert_eq!(early(), Ok(()));
    // Without promises nobody waits.
    let empty = tempfile::tempdir().unwrap();
    let charges = Arc::new(ChargedAccounts::default());
    Shelf::open(Folders::of_pond(empty.path()), Arc::clone(&charges), CAPS);
    assert!(charges.charge(SlabId::random(), GPU, GIB, 8).is_ok());
}

#[test]
fn what_users_hold_counts_before_the_first_charge_of_a_new_daemon() {
    let mut play = Play::new();
    play.make("team", GIB);
    // The daemon is killed after it has written the users, and before their memory is charged.
    let account = play.shelf.account(&name("team")).unwrap();
    account.locked(|book, patience| book.set_owners(&[7], patience)).unwrap();
    (play.shelf, play.charges) = shelf_in(play.folder.path());
    play.charges.adopt([(SlabId::random(), GPU, 700 * MIB, 7)]);
    let charge = |bytes| play.charges.charge(SlabId::random(), GPU, bytes, 7);
    assert_eq!(charge(400 * MIB).unwrap_err().answer.kind, ErrorKind::GpuFull);
    charge(300 * MIB).unwrap();
    assert_eq!(play.inspect("team").info.devices[0].pond_bytes, 1000 * MIB);
}
