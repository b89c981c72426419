//! How groups come, what they are called, and when they go.

use super::*;
use crate::accounts::Resource;

#[test]
fn a_program_never_gets_a_name_that_somebody_has_or_had() {
    let mut play = Play::new();
    let limit = Some(GroupLimit::Bytes(GIB));
    let last = format!("run-{}", u64::MAX);
    for chosen in [last.as_str(), "run-2"] {
        play.join(join_of(Some(chosen), limit)).unwrap();
    }
    let names = [0; 3].map(|_| play.join(join_of(None, limit)).unwrap().0.to_string());
    assert_eq!(names, ["run-1", "run-3", "run-4"]);
    assert!(!play.inspect(&last).info.anonymous);
    // What a program leaves behind still has the folder of its group in its environment.
    play.shelf.groups.get_mut(&name("run-4")).unwrap().runner = None;
    assert_eq!(play.ask(GroupWork::Remove(name("run-4"))), Ok(ReplyBody::Done));
    assert_eq!(play.join(join_of(None, limit)).unwrap().0, name("run-5"));
}

#[test]
fn a_program_that_runs_keeps_its_group_before_it_has_used_a_gpu() {
    let mut play = Play::new();
    let (group, ..) = play.join(join_of(None, Some(GroupLimit::Bytes(GIB)))).unwrap();
    let refused = play.ask(GroupWork::Remove(group.clone())).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::InUse);
    assert!(refused.message.contains(&std::process::id().to_string()), "{refused}");
    play.member(group.as_str());
}

#[test]
fn a_group_of_a_program_ends_with_it_also_if_its_files_are_broken() {
    let mut play = Play::new();
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let by = GroupCaller { pid: child.id(), ..me() };
    let group = match play.ask_as(by, GroupWork::Join(join_of(None, None))).unwrap() {
        ReplyBody::GroupJoined { name, .. } => name,
        other => panic!("{other:?}"),
    };
    child.wait().unwrap();
    std::fs::File::create(play.shelf.folders.of(&group).join("ledger")).unwrap();
    let late = Instant::now() + Duration::from_secs(60);
    play.restart(&[]);
    assert!(play.inspect(group.as_str()).info.broken);
    play.shelf.look_after(late);
    play.shelf.look_after(late + Duration::from_secs(60));
    assert_eq!(play.ask(GroupWork::List), Ok(ReplyBody::Groups(Vec::new())));
    assert!(!play.shelf.folders.of(&group).exists());
}

#[test]
fn on_a_card_that_the_pond_does_not_have_a_limit_is_what_was_set() {
    let mut play = Play::new();
    play.make("team", GIB);
    let folder = play.shelf.folders.of(&name("team"));
    let member = Member::attach(&c_path(&folder).unwrap()).unwrap();
    let elsewhere = member.device([9; 16]).unwrap();
    for limit in [2 * GIB, GIB, 3 * GIB] {
        play.make("team", limit);
        assert_eq!(member.limit(elsewhere), limit / UNIT);
    }
    let none = Some(GroupLimit::Unlimited);
    play.set(GroupSet { limit: none, ..GroupSet::of(name("team")) }).unwrap();
    assert_eq!(member.limit(elsewhere), NO_LIMIT);
}

#[test]
fn a_group_is_there_whole_or_not_at_all() {
    const GROUPS: usize = 60;
    let mut play = Play::new();
    let groups = play.folder.path().join("groups");
    std::fs::create_dir_all(groups.join(".new-team")).unwrap();
    let seen = groups.clone();
    let watch = std::thread::spawn(move || {
        let mut half = Vec::new();
        loop {
            let entries: Vec<_> = std::fs::read_dir(&seen).unwrap().flatten().collect();
            let names = entries.iter().filter_map(|entry| entry.file_name().into_string().ok());
            let names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
            let is_whole = |name: &&String| {
                let size = |file| seen.join(name).join(file).metadata().map_or(0, |it| it.len());
                let book = Book::open(&c_path(&seen.join(name)).unwrap());
                let entry = book.and_then(|book| book.entry(None)).unwrap_or_default();
                size("ledger") > 0
                    && seen.join(name).join("exports").exists()
                    && entry.is_some_and(|entry| entry.asked == GIB / UNIT)
            };
            half.extend(names.iter().filter(|name| !is_whole(name)).cloned());
            if names.len() == GROUPS {
                return half;
            }
        }
    });
    for number in 0..GROUPS {
        play.make(&format!("team-{number}"), GIB);
    }
    assert_eq!(watch.join().unwrap(), [""; 0], "a kill would leave these broken");
    play.restart(&[]);
    assert!(!groups.join(".new-team").exists());
}

/// Groups as files, which is quick: those whose files are broken count as well.
fn left_behind(play: &Play, user: u32, anonymous: bool, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let folder = play.folder.path().join(format!("groups/left-{user}-{anonymous}-{number}"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::File::create(folder.join("ledger")).unwrap();
        std::fs::write(folder.join("maker"), format!("{user}")).unwrap();
        if anonymous {
            let run = format!("{} {} 0", Token::random().0, std::process::id());
            std::fs::write(folder.join("run"), run).unwrap();
        }
    }
}

#[test]
fn users_leave_places_to_each_other_and_to_the_operator() {
    let mut play = Play::new();
    let is_root = me().user == 0;
    let user = |number: u32| if is_root { 4242 + number } else { 0 };
    let by = |number: u32| GroupCaller { user: user(number), operator: false, ..me() };
    let join = || GroupWork::Join(join_of(None, None));
    let named = |group| GroupWork::Join(join_of(Some(group), Some(GroupLimit::Bytes(GIB))));
    // One user alone: half as many as are left for others.
    left_behind(&play, user(0), true, 0..CAPS.for_users() / 3 - 1);
    play.restart(&[]);
    play.ask_as(by(0), join()).unwrap();
    let failure = play.ask_as(by(0), join()).unwrap_err();
    assert_eq!(failure.kind, ErrorKind::TooMany);
    for number in [user(0).to_string(), "300".to_owned()] {
        assert!(failure.message.contains(&number), "{failure}");
    }
    let limit = failure.limit.unwrap();
    assert_eq!((limit.key.as_str(), limit.has, limit.cap), ("limits.runs_per_user", 300, 300));
    let hint = failure.hint.unwrap();
    assert!(hint.contains("millpond run --group NAME --limit") && hint.contains(&limit.key));
    let [(who, refused)] = play.refused[..] else { panic!("{:?}", play.refused) };
    assert_eq!((who, refused.key(), refused.has), (user(0), "limits.runs_per_user", 300));
    assert_eq!(play.owned.get(&(user(0), Resource::Runs)), Some(&300));
    // What the hint says works.
    play.ask_as(by(0), named("together")).unwrap();
    if is_root {
        play.ask_as(by(1), join()).unwrap();
        // The next one, when two have all that they get.
        left_behind(&play, user(1), true, 0..250);
        play.restart(&[]);
        let failure = play.ask_as(by(1), join()).unwrap_err();
        assert_eq!(failure.kind, ErrorKind::TooMany);
        assert!(failure.message.contains("half that number"), "{failure}");
        assert_eq!(failure.limit.unwrap().key, "limits.groups");
        assert_eq!(play.ask_as(by(1), named("other")).map(|_| ()), Ok(()));
        play.ask_as(by(2), join()).unwrap();
    }
    // However many users there are, the last places are the operator's.
    left_behind(&play, 9999, false, 0..CAPS.for_users() - play.shelf.groups.len());
    play.restart(&[]);
    for work in [join(), named("more")] {
        let failure = play.ask_as(by(3), work).unwrap_err();
        assert_eq!(failure.kind, ErrorKind::TooMany);
        assert!(failure.message.contains("for the operator"), "{failure}");
        let limit = failure.limit.unwrap();
        assert_eq!((limit.key.as_str(), limit.has, limit.cap), ("limits.groups", 900, 900));
    }
    play.make("team", GIB);
    play.join(join_of(None, None)).unwrap();
}

#[test]
fn whoever_comes_later_gets_a_place() {
    let (mut all, mut has) = (0, Vec::new());
    for _ in 0..10 {
        let mut own = 0;
        while CAPS.leaves_room(own, all) {
            (own, all) = (own + 1, all + 1);
        }
        has.push(own);
    }
    assert_eq!(has[..3], [300, 200, 133]);
    assert!(has.iter().all(|own| *own > 0) && all < CAPS.for_users(), "{has:?}");
}

#[test]
fn without_groups_nothing_is_said_about_what_others_have_on_the_card() {
    let mut play = Play::new();
    play.make("team", GIB);
    play.card_says(3 * GIB, 0);
    play.ask(GroupWork::List).unwrap();
    assert_eq!(play.readings[0].outside_bytes, 3 * GIB);
    assert_eq!(play.ask(GroupWork::Remove(name("team"))), Ok(ReplyBody::Done));
    assert_eq!(play.readings, [], "nobody reads the card any more");
    // A reading that was under way does not bring it back.
    play.card_says(2 * GIB, 0);
    play.ask(GroupWork::List).unwrap();
    assert_eq!(play.readings, []);
    play.make("team", GIB);
    play.card_says(2 * GIB, 0);
    play.ask(GroupWork::List).unwrap();
    assert_eq!(play.readings[0].outside_bytes, 2 * GIB);
}

/// Limits are looked at ten times a second; nothing else is called here.
#[test]
fn an_ended_process_is_shown_no_more_and_what_it_had_is_given_back_within_two_looks() {
    let mut play = Play::new();
    play.make("team", GIB);
    let (member, device) = play.member("team");
    member.reserve(device, units(512 * MIB)).unwrap();
    assert_eq!(play.inspect("team").info.devices[0].processes, 1);
    drop(member);
    let shown = play.inspect("team").info;
    assert_eq!((shown.processes, shown.devices[0].processes), (0, 0));
    play.shelf.rebalance();
    // What the driver needs, and a little.
    std::thread::sleep(Duration::from_millis(60));
    play.shelf.rebalance();
    assert_eq!(play.inspect("team").info.devices[0].process_bytes, 0);
}
