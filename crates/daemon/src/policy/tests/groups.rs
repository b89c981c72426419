//! Groups, as far as the policy knows them: who may ask, and whose memory is charged.

use millpond_wire::message::{CacheOpen, EventKind, GroupLimit, GroupSet, ReplyBody, RequestBody};
use millpond_wire::{CacheId, ErrorKind, Failure, GpuUuid, GroupName, TensorName};

use super::*;
use crate::accounts::Refused;

fn team() -> GroupName {
    GroupName::new("team-a").unwrap()
}

fn team_pays_for(user: u32) -> crate::budget::Payers {
    [(user, team())].into_iter().collect()
}

fn refused() -> DriverFailure {
    refused_now(false)
}

/// For now, or for good.
fn refused_now(soon: bool) -> DriverFailure {
    let answer = Failure::new(ErrorKind::GpuFull, "group 'team-a' has no room");
    let over_limit = Some(Box::new(OverLimit { answer, soon }));
    DriverFailure { out_of_memory: false, text: "no".into(), over_limit }
}

#[test]
fn whoever_keeps_the_groups_is_told_who_is_the_operator_and_answers_later() {
    let mut play = Play::new();
    let (conn, _) = play.client(7);
    let set = GroupSet { limit: Some(GroupLimit::Bytes(1 << 30)), ..GroupSet::of(team()) };
    for (own_user, operator) in [(8, false), (7, true)] {
        play.pond.accounts.set_own_user(own_user);
        for body in [RequestBody::GroupSet(set.clone()), RequestBody::GroupRemove { group: team() }]
        {
            let number = play.start(conn, body);
            assert!(play.answer(number).is_none());
            let ask = play.world.group_asks.pop().unwrap();
            assert_eq!((ask.by.operator, ask.by.user, ask.number), (operator, 7, number));
            play.pond.group_answered(&mut play.world, ask.conn, ask.number, Ok(ReplyBody::Done));
            assert_eq!(play.answer(number), Some(ReplyBody::Done));
        }
    }
    // And so is who comes through the admin socket, whoever that is.
    let operator = play.operator();
    play.start(operator, RequestBody::GroupRemove { group: team() });
    assert!(play.world.group_asks.pop().unwrap().by.operator);
}

#[test]
fn groups_are_in_the_accounts_of_who_made_them_and_who_may_have_no_more_is_told_of_once() {
    let mut play = Play::new();
    play.client(7);
    let (named, unnamed) = ((7, Resource::Groups), (7, Resource::Runs));
    let has =
        |play: &Play, user, resource| play.pond.accounts.of(&"local".into(), user).has(resource);
    play.pond.groups_owned([(named, 3), (unnamed, 5), ((8, Resource::Runs), 1)].into());
    assert_eq!((has(&play, 7, named.1), has(&play, 7, unnamed.1)), (3, 5));
    assert_eq!(play.pond.accounts.in_all(Resource::Runs), 6);
    play.pond.groups_owned([(named, 4)].into());
    assert_eq!((has(&play, 7, named.1), has(&play, 7, unnamed.1)), (4, 0));
    assert_eq!(has(&play, 8, Resource::Runs), 0);
    play.pond.check_accounts().unwrap();
    let refused = Refused { resource: Resource::Groups, has: 4, cap: 4, in_all: false };
    for _ in 0..2 {
        play.pond.no_more_groups(&mut play.world, 7, refused);
    }
    assert_eq!(play.told(EventKind::LimitReached), ["4 named groups: `limits.groups_per_user`"]);
}

#[test]
fn everybody_may_ask_for_a_place_and_look() {
    let mut play = Play::new();
    let (conn, _) = play.client(7);
    play.start(conn, RequestBody::GroupList);
    play.start(conn, RequestBody::GroupInspect { group: team() });
    assert_eq!(play.world.group_asks.len(), 2);
    assert!(play.world.group_asks.iter().all(|ask| !ask.by.operator));
}

#[test]
fn a_slab_is_asked_for_on_its_owners_account_and_the_groups_no_is_the_answer() {
    let mut play = Play::new();
    let (conn, _) = play.client(7);
    let number = play.start(conn, RequestBody::TensorCreate(spec("x", 64 * MIB)));
    let (slab, _, _) = play.world.asked.pop().unwrap();
    assert_eq!(play.world.asked_for, [7]);
    play.pond.slab_made(&mut play.world, slab, Err(refused()));
    let answer = play.answer(number).unwrap();
    let ReplyBody::Failure(failure) = answer else { panic!("{answer:?}") };
    assert_eq!(failure.message, "group 'team-a' has no room");
    assert!(play.world.asked.is_empty(), "nothing was kept that could be given back");
}

#[test]
fn what_is_kept_for_a_user_is_given_back_before_the_groups_no_is_passed_on() {
    let mut play = Play::new();
    let (conn, _) = play.client(7);
    let (x, _) = play.create(conn, spec("x", 64 * MIB));
    play.delete(conn, x.tensor);
    let kept = play.slab_bytes();
    assert_eq!(kept, 64 * MIB);
    let number = play.start(conn, RequestBody::TensorCreate(spec("y", 128 * MIB)));
    let (slab, _, _) = play.world.asked.pop().unwrap();
    play.pond.slab_made(&mut play.world, slab, Err(refused()));
    assert!(play.answer(number).is_none(), "it is tried once more");
    assert_eq!(play.slab_bytes(), 0);
    let (again, _, _) = play.world.asked.pop().unwrap();
    assert_eq!(again, slab);
    play.pond.slab_made(&mut play.world, again, Err(refused()));
    assert!(matches!(play.answer(number), Some(ReplyBody::Failure(_))));
}

#[test]
fn what_is_kept_for_others_is_given_back_where_nobody_pays() {
    for charged in [false, true] {
        let mut play = Play::new();
        let (conn, _) = play.client(7);
        let (other, _) = play.client(8);
        let (x, _) = play.create(other, spec("x", 64 * MIB));
        play.delete(other, x.tensor);
        if charged {
            play.pond.payers(&mut play.world, team_pays_for(7));
        }
        play.start(conn, RequestBody::TensorCreate(spec("y", 128 * MIB)));
        let (slab, _, _) = play.world.asked.pop().unwrap();
        play.pond.slab_made(&mut play.world, slab, Err(refused()));
        assert_eq!(play.slab_bytes() > 0, charged, "a group's limit is not about what others keep");
        assert_eq!(play.world.asked.is_empty(), charged);
    }
}

/// What was given back for one slab may be taken by another one, which comes a moment later.
#[test]
fn caches_are_asked_again_for_a_slab_that_still_finds_no_room() {
    let full = DriverFailure { out_of_memory: true, text: "full".into(), over_limit: None };
    for failure in [refused(), full] {
        let mut play = Play::new();
        let (conn, _) = play.client(7);
        let open = CacheOpen {
            cache: CacheId::random(),
            group: team(),
            name: TensorName::new("kv").unwrap(),
            device: GpuUuid([7; 16]),
            slot: None,
            reserved_bytes: 1 << 30,
            granule_bytes: 2 << 20,
            segments: 1,
            min_bytes: 0,
            weight: 1,
        };
        play.start(conn, RequestBody::CacheOpen(Box::new(open)));
        play.world.group_asks.clear();
        let number = play.start(conn, RequestBody::TensorCreate(spec("x", 64 * MIB)));
        while play.answer(number).is_none() {
            let (slab, _, _) = play.world.asked.pop().unwrap();
            play.pond.slab_made(&mut play.world, slab, Err(failure.clone()));
            if let Some(next) = play.pond.tick(&mut play.world) {
                play.world.now = next;
                play.pond.tick(&mut play.world);
            }
        }
        let presses = play.world.group_asks.iter();
        let presses = presses.filter(|ask| matches!(ask.work, GroupWork::Press(..)));
        assert_eq!(presses.count(), 2);
    }
}

#[test]
fn a_create_waits_for_what_comes_back_in_a_moment_but_not_for_ever() {
    for comes in [true, false] {
        let mut play = Play::new();
        let (conn, _) = play.client(7);
        let number = play.start(conn, RequestBody::TensorCreate(spec("x", 64 * MIB)));
        let (mut waited, mut asked) = (0, 0);
        loop {
            let (slab, _, _) = play.world.asked.pop().unwrap();
            asked += 1;
            let made = if comes && waited >= 200 { Ok(1000) } else { Err(refused_now(true)) };
            play.pond.slab_made(&mut play.world, slab, made);
            assert!(play.world.asked.is_empty(), "not before its time");
            let Some(next) = play.pond.tick(&mut play.world) else { break };
            let pause = next - play.world.now;
            assert!((1..=20).contains(&pause), "{pause}");
            play.later(pause);
            waited += pause;
        }
        match play.answer(number) {
            Some(ReplyBody::Tensor(_)) => assert!(comes, "after {waited} ms"),
            Some(ReplyBody::Failure(failure)) => {
                assert!(!comes && failure.message.contains("team-a"), "{failure}");
                assert!((300..=1000).contains(&waited), "{waited} ms");
            }
            other => panic!("{other:?}"),
        }
        assert!(asked > 1);
        play.check_held();
    }
}

#[test]
fn what_a_group_pays_for_is_not_kept_when_nobody_uses_it() {
    let mut play = Play::new();
    let (conn, _) = play.client(7);
    let (other, _) = play.client(8);
    for (conn, name) in [(conn, "kept"), (other, "others")] {
        let (tensor, _) = play.create(conn, spec(name, 32 * MIB));
        play.delete(conn, tensor.tensor);
    }
    let (used, _) = play.create(conn, spec("small", MIB / 2));
    assert_eq!(play.slab_bytes(), 66 * MIB);
    play.pond.payers(&mut play.world, team_pays_for(7));
    assert_eq!(play.slab_bytes(), 34 * MIB, "what is in use stays, and what is others'");
    play.delete(conn, used.tensor);
    assert_eq!(play.slab_bytes(), 32 * MIB);
    // Without a group it is kept again.
    play.pond.payers(&mut play.world, team_pays_for(8));
    assert_eq!(play.slab_bytes(), 0);
    let (again, _) = play.create(conn, spec("again", 32 * MIB));
    play.delete(conn, again.tensor);
    assert_eq!(play.slab_bytes(), 32 * MIB);
}
