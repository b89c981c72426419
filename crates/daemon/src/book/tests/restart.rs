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
