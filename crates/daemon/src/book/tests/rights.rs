//! Groups that users make for their programs, and what those users may do to them.

use super::*;
use crate::accounts::Resource;

/// Somebody who is not the operator. Only root can give a ledger to another user: a pond of another
/// user gives one only to root's programs.
fn somebody() -> GroupCaller {
    let user = if me().user == 0 { 1000 } else { 0 };
    GroupCaller { user, operator: false, ..me() }
}

fn stranger() -> GroupCaller {
    GroupCaller { user: 1001, operator: false, ..me() }
}

/// The whole name of the group that somebody calls `own`.
fn own() -> String {
    format!("~{}/own", somebody().user)
}

fn bytes(limit: u64) -> Option<GroupLimit> {
    Some(GroupLimit::Bytes(limit))
}

fn set_limit(group: &str, limit: Option<GroupLimit>) -> GroupWork {
    GroupWork::Set(GroupSet { limit, create: true, ..GroupSet::of(name(group)) })
}

fn denied(answer: Result<ReplyBody, Failure>) -> String {
    let failure = answer.unwrap_err();
    assert_eq!(failure.kind, ErrorKind::Denied, "{failure}");
    failure.message
}

#[test]
fn who_made_a_group_changes_its_limit_and_removes_it_and_nobody_else_does() {
    let mut play = Play::new();
    let make = GroupWork::Join(join_of(Some("own"), bytes(GIB)));
    play.ask_as(somebody(), make).unwrap();
    play.shelf.groups.get_mut(&name(&own())).unwrap().lying = true;
    play.ask_as(somebody(), set_limit("own", bytes(GIB))).unwrap();
    assert!(play.inspect(&own()).info.lying, "the mark is for the operator to see");
    for restarted in [false, true] {
        if restarted {
            play.restart(&[]);
        }
        assert_eq!(play.inspect(&own()).info.owner, Some(somebody().user));
        play.ask_as(somebody(), set_limit("own", bytes(2 * GIB))).unwrap();
        assert_eq!(play.inspect(&own()).info.devices[0].limit_bytes, Some(2 * GIB));
        denied(play.ask_as(stranger(), set_limit(&own(), bytes(3 * GIB))));
        denied(play.ask_as(stranger(), GroupWork::Remove(name(&own()))));
        let own = GroupSet::of(name("own"));
        for set in [
            GroupSet { min_bytes: Some(MIB), ..own.clone() },
            GroupSet { weight: Some(3), ..own.clone() },
            GroupSet { users: Some(vec![stranger().user]), ..own.clone() },
            GroupSet { limit: Some(GroupLimit::Unlimited), ..own },
        ] {
            let said = denied(play.ask_as(somebody(), GroupWork::Set(set.clone())));
            assert!(said.contains("may change only its limit"), "{set:?}: {said}");
        }
    }
    assert_eq!(play.ask_as(somebody(), GroupWork::Remove(name("own"))), Ok(ReplyBody::Done));
    assert!(play.shelf.is_empty());
}

#[test]
fn what_the_operator_makes_or_sets_is_the_operators() {
    let mut play = Play::new();
    play.ask_as(somebody(), GroupWork::Join(join_of(Some("own"), bytes(GIB)))).unwrap();
    denied(play.ask_as(somebody(), set_limit("new", bytes(GIB))));
    assert!(!play.shelf.groups.contains_key(&name("new")));
    play.make(&own(), 4 * GIB);
    play.make("team", GIB);
    let users = Some(vec![somebody().user]);
    play.set(GroupSet { users, ..GroupSet::of(name("team")) }).unwrap();
    play.ask_as(somebody(), GroupWork::Join(join_of(Some("team"), None))).unwrap();
    for restarted in [false, true] {
        if restarted {
            play.restart(&[]);
        }
        for group in ["own", "team"] {
            denied(play.ask_as(somebody(), GroupWork::Remove(name(group))));
            let said = denied(play.ask_as(somebody(), set_limit(group, bytes(8 * GIB))));
            assert_eq!(said.contains("the operator has set"), group == "own", "{said}");
        }
        assert_eq!(play.inspect(&own()).info.owner, Some(somebody().user));
        let pond_user = (me().user != 0).then(|| me().user);
        assert_eq!(play.inspect("team").info.owner, pond_user, "it was only let in");
        // It still runs programs there.
        play.ask_as(somebody(), GroupWork::Join(join_of(Some("own"), None))).unwrap();
    }
}

#[test]
fn one_users_name_is_not_in_the_way_of_anothers() {
    if me().user != 0 {
        // Only root can give ledgers to users.
        return;
    }
    let mut play = Play::new();
    let join = |limit| GroupWork::Join(join_of(Some("train"), limit));
    let joined = |answer: Result<ReplyBody, Failure>| match answer.unwrap() {
        ReplyBody::GroupJoined { name, .. } => name.to_string(),
        other => panic!("{other:?}"),
    };
    for restarted in [false, true] {
        assert_eq!(joined(play.ask_as(somebody(), join(bytes(GIB)))), "~1000/train");
        assert_eq!(joined(play.ask_as(stranger(), join(bytes(2 * GIB)))), "~1001/train");
        assert_eq!(joined(play.ask_as(stranger(), join(None))), "~1001/train");
        assert_eq!(play.inspect("~1000/train").info.devices[0].limit_bytes, Some(GIB));
        assert_eq!(play.inspect("~1001/train").info.devices[0].limit_bytes, Some(2 * GIB));
        let whole = GroupWork::Join(join_of(Some("~1000/train"), None));
        denied(play.ask_as(stranger(), whole));
        let new = GroupWork::Join(join_of(Some("~1000/new"), bytes(GIB)));
        denied(play.ask_as(stranger(), new));
        if !restarted {
            play.restart(&[]);
        }
    }
    // The operator's is another, until a user is let in; then it is what the bare name means.
    play.make("train", 4 * GIB);
    assert_eq!(joined(play.ask_as(somebody(), join(None))), "~1000/train");
    let users = Some(vec![somebody().user]);
    play.set(GroupSet { users, ..GroupSet::of(name("train")) }).unwrap();
    assert_eq!(joined(play.ask_as(somebody(), join(None))), "train");
    assert_eq!(joined(play.ask_as(stranger(), join(None))), "~1001/train");
    assert_eq!(play.ask_as(stranger(), GroupWork::Remove(name("train"))), Ok(ReplyBody::Done));
    assert_eq!(play.shelf.groups.len(), 2);
    // Whose it is that a user is not in, is said where there is none of the user's own.
    denied(play.ask_as(stranger(), join(None)));
    assert_eq!(joined(play.ask_as(stranger(), join(bytes(GIB)))), "~1001/train");
}

#[test]
fn one_user_does_not_take_all_names() {
    let mut play = Play::new();
    let join = |group: Option<&str>| GroupWork::Join(join_of(group, bytes(GIB)));
    for number in 0..CAPS.named_per_user {
        play.ask_as(somebody(), join(Some(&format!("team-{number}")))).unwrap();
    }
    let failure = play.ask_as(somebody(), join(Some("more"))).unwrap_err();
    assert_eq!(failure.kind, ErrorKind::TooMany);
    assert!(failure.message.contains(&CAPS.named_per_user.to_string()), "{failure}");
    let limit = failure.limit.unwrap();
    assert_eq!((limit.key.as_str(), limit.has, limit.cap), ("limits.groups_per_user", 64, 64));
    let hint = failure.hint.unwrap();
    assert!(hint.contains("millpond group rm") && hint.contains(&limit.key), "{hint}");
    assert_eq!(play.owned.get(&(somebody().user, Resource::Groups)), Some(&64));
    let [(user, refused)] = play.refused[..] else { panic!("{:?}", play.refused) };
    assert_eq!((user, refused.key()), (somebody().user, "limits.groups_per_user"));
    // There is room for programs without a name, for others, and in those that are there.
    play.ask_as(somebody(), join(None)).unwrap();
    play.ask_as(somebody(), join(Some("team-1"))).unwrap();
    play.ask(join(Some("other"))).unwrap();
    play.ask_as(somebody(), GroupWork::Remove(name("team-0"))).unwrap();
    play.ask_as(somebody(), join(Some("more"))).unwrap();
}

#[test]
fn a_limit_is_compared_with_that_of_the_gpus_that_are_there() {
    let mut play = Play::new();
    play.make("team", 12 * GIB);
    let none = Some(GroupLimit::Unlimited);
    play.set(GroupSet { limit: none, device: Some(GPU), ..GroupSet::of(name("team")) }).unwrap();
    let failure = play.join(join_of(Some("team"), bytes(10 * GIB))).unwrap_err();
    assert_eq!(failure.message, "group 'team' has no limit, not a limit of 10 GiB");
    let failure = play.join(join_of(Some("team"), bytes(12 * GIB))).unwrap_err();
    assert_eq!(failure.kind, ErrorKind::Exists, "that of GPUs that may come: {failure}");
    play.join(join_of(Some("team"), none)).unwrap();
    // On one of two it is said which.
    let other = GpuUuid([2; 16]);
    play.shelf.cards_are(&[(GPU, 100 * GIB), (other, 100 * GIB)]);
    let failure = play.join(join_of(Some("team"), bytes(12 * GIB))).unwrap_err();
    assert!(failure.message.contains(&format!("no limit on {GPU}")), "{failure}");
    let join = GroupJoin { device: Some(other), ..join_of(Some("team"), bytes(12 * GIB)) };
    play.join(join).unwrap();
}
