//! Requests and replies about groups, for tests.

use super::group::{
    GroupDetails, GroupDevice, GroupInfo, GroupJoin, GroupLimit, GroupSet, MemberDevice, MemberInfo,
};
use super::{ReplyBody, RequestBody};
use crate::{GpuUuid, GroupName, Token};

fn name(text: &str) -> GroupName {
    GroupName::new(text).unwrap()
}

pub(super) fn requests() -> Vec<RequestBody> {
    let set = GroupSet {
        group: name("team-a"),
        device: Some(GpuUuid([7; 16])),
        limit: Some(GroupLimit::Bytes(10 << 30)),
        min_bytes: Some(2 << 30),
        weight: Some(2),
        users: Some(vec![0, 1000]),
        create: true,
    };
    vec![
        RequestBody::GroupSet(GroupSet { limit: Some(GroupLimit::Unlimited), ..set.clone() }),
        RequestBody::GroupSet(GroupSet { users: Some(Vec::new()), ..set.clone() }),
        RequestBody::GroupSet(set),
        RequestBody::GroupSet(GroupSet::of(name("team-a"))),
        RequestBody::GroupJoin(GroupJoin {
            token: Token::random(),
            group: Some(name("x")),
            device: Some(GpuUuid([7; 16])),
            limit: Some(GroupLimit::Part(500)),
        }),
        RequestBody::GroupJoin(GroupJoin {
            token: Token::random(),
            group: None,
            device: None,
            limit: None,
        }),
        RequestBody::GroupList,
        RequestBody::GroupInspect { group: name("team-a") },
        RequestBody::GroupRemove { group: name("run-5") },
    ]
}

pub(super) fn replies() -> Vec<ReplyBody> {
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
            device: GpuUuid([3; 16]),
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
    };
    let member = MemberInfo {
        slot: 3,
        pid: 1,
        host_pid: Some(4711),
        program: "python".into(),
        started_unix_ms: Some(5),
        alive: true,
        devices: vec![MemberDevice {
            device: GpuUuid([3; 16]),
            charged_bytes: 10,
            credit_bytes: 11,
            context_bytes: 5,
            shared_bytes: 2,
            folded_bytes: 1,
            physical_bytes: Some(9),
        }],
    };
    let bare = MemberInfo { host_pid: None, started_unix_ms: None, ..member.clone() };
    vec![
        ReplyBody::Groups(vec![
            info.clone(),
            GroupInfo { owner: None, users: Vec::new(), ..info.clone() },
        ]),
        ReplyBody::GroupDetails(Box::new(GroupDetails { info, members: vec![member, bare] })),
        ReplyBody::GroupJoined {
            name: name("run-1"),
            folder: "/run/millpond/groups/run-1".into(),
            anonymous: true,
        },
    ]
}
