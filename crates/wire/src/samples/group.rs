//! Groups.

use super::{GPU, Sample, id};
use crate::message::{
    GroupDetails, GroupDevice, GroupInfo, GroupJoin, GroupLimit, GroupSet, MemberDevice,
    MemberInfo, ReplyBody, RequestBody,
};
use crate::{GroupName, Token};

fn name(text: &str) -> GroupName {
    GroupName::new(text).unwrap()
}

pub(super) fn requests() -> Vec<Sample<RequestBody>> {
    let set = GroupSet {
        group: name("team-a"),
        device: Some(GPU),
        limit: Some(GroupLimit::Bytes(10 << 30)),
        min_bytes: Some(2 << 30),
        weight: Some(2),
        users: Some(vec![0, 1000]),
        create: true,
        ends_silent: Some(true),
    };
    let unlimited = GroupSet { limit: Some(GroupLimit::Unlimited), ..set.clone() };
    let without_users = GroupSet { users: Some(Vec::new()), ..set.clone() };
    let join = GroupJoin {
        token: Token(id(13)),
        group: Some(name("x")),
        device: Some(GPU),
        limit: Some(GroupLimit::Permille(500)),
    };
    let alone = GroupJoin { group: None, device: None, limit: None, ..join.clone() };
    vec![
        ("group-set", RequestBody::GroupSet(set)),
        ("group-set-unlimited", RequestBody::GroupSet(unlimited)),
        ("group-set-users", RequestBody::GroupSet(without_users)),
        ("group-set-nothing", RequestBody::GroupSet(GroupSet::of(name("team-a")))),
        ("group-join", RequestBody::GroupJoin(join)),
        ("group-join-alone", RequestBody::GroupJoin(alone)),
        ("group-list", RequestBody::GroupList),
        ("group-inspect", RequestBody::GroupInspect { group: name("team-a") }),
        ("group-remove", RequestBody::GroupRemove { group: name("run-5") }),
    ]
}

pub(super) fn replies() -> Vec<Sample<ReplyBody>> {
    let info = GroupInfo {
        name: name("team-a"),
        folder: "/run/millpond/groups/team-a".into(),
        anonymous: true,
        owner: Some(1000),
        users: vec![1000],
        processes: 2,
        lying: true,
        stuck: true,
        broken: false,
        devices: vec![GroupDevice {
            device: GPU,
            limit_bytes: None,
            effective_bytes: Some(5),
            min_bytes: 1,
            weight: 2,
            process_bytes: 3,
            pond_bytes: 4,
            context_bytes: 5,
            folded_bytes: 6,
            shared_bytes: 7,
            processes: 8,
        }],
        ends_silent: true,
    };
    let member = MemberInfo {
        slot: 3,
        pid: 1,
        host_pid: Some(4711),
        program: "python".into(),
        started_unix_ms: Some(5),
        alive: true,
        devices: vec![MemberDevice {
            device: GPU,
            charged_bytes: 10,
            credit_bytes: 11,
            context_bytes: 5,
            shared_bytes: 2,
            folded_bytes: 1,
            physical_bytes: Some(9),
            idle_bytes: 3,
        }],
        cache: Some("kv".into()),
    };
    let bare = MemberInfo { host_pid: None, started_unix_ms: None, cache: None, ..member.clone() };
    let of_nobody = GroupInfo { owner: None, users: Vec::new(), ..info.clone() };
    let joined = ReplyBody::GroupJoined {
        name: name("run-1"),
        folder: "/run/millpond/groups/run-1".into(),
        anonymous: true,
    };
    let groups = vec![info.clone(), of_nobody];
    let details = GroupDetails { info, members: vec![member, bare] };
    vec![
        ("groups", ReplyBody::Groups(groups)),
        ("group-details", ReplyBody::GroupDetails(Box::new(details))),
        ("group-joined", joined),
    ]
}
