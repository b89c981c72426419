//! Messages about groups.

use millpond_wire::message::{
    GroupDetails, GroupDevice, GroupInfo, GroupJoin, GroupLimit, GroupSet, MemberDevice,
    MemberInfo, Reply, ReplyBody, Request, RequestBody,
};
use millpond_wire::{GpuUuid, GroupName, Token};
use planus::Builder;
use uuid::Uuid;

use crate::Folder;

fn name() -> GroupName {
    GroupName::new("team-a").expect("a name")
}

pub fn requests(folder: &Folder) {
    let set = GroupSet {
        group: name(),
        device: Some(GpuUuid([1; 16])),
        limit: Some(GroupLimit::Bytes(10 << 30)),
        min_bytes: Some(2 << 30),
        weight: Some(2),
        users: Some(vec![0, 1000]),
        create: true,
    };
    let part = GroupSet { limit: Some(GroupLimit::Part(500)), ..set.clone() };
    let join = GroupJoin {
        token: Token(Uuid::from_u128(7)),
        group: Some(name()),
        device: None,
        limit: Some(GroupLimit::Unlimited),
    };
    for (seed, body) in [
        ("group-set", RequestBody::GroupSet(set)),
        ("group-part", RequestBody::GroupSet(part)),
        ("group-join", RequestBody::GroupJoin(join)),
        ("group-list", RequestBody::GroupList),
        ("group-inspect", RequestBody::GroupInspect { group: name() }),
        ("group-remove", RequestBody::GroupRemove { group: name() }),
    ] {
        folder.seed(seed, Request { number: 5, body }.encode(&mut Builder::new()));
    }
}

pub fn replies(folder: &Folder) {
    let device = GpuUuid([3; 16]);
    let on = GroupDevice {
        device,
        limit_bytes: Some(10),
        effective_bytes: None,
        min_bytes: 1,
        weight: 2,
        process_bytes: 3,
        pond_bytes: 4,
        context_bytes: 5,
        folded_bytes: 6,
        shared_bytes: 7,
        processes: 8,
    };
    let info = GroupInfo {
        name: name(),
        folder: "/run/millpond/groups/team-a".into(),
        anonymous: true,
        owner: Some(1000),
        users: vec![1000, 1001],
        processes: 2,
        lying: true,
        stuck: false,
        broken: true,
        devices: vec![on; 2],
    };
    let member = MemberInfo {
        slot: 3,
        pid: 1,
        host_pid: Some(4711),
        program: "python".into(),
        started_unix_ms: Some(5),
        alive: true,
        devices: vec![MemberDevice {
            device,
            charged_bytes: 10,
            credit_bytes: 11,
            context_bytes: 5,
            shared_bytes: 2,
            folded_bytes: 1,
            physical_bytes: Some(9),
        }],
    };
    let details = GroupDetails { info: info.clone(), members: vec![member; 2] };
    let joined = ReplyBody::GroupJoined { name: name(), folder: "/x".into(), anonymous: false };
    for (seed, body) in [
        ("groups", ReplyBody::Groups(vec![info; 2])),
        ("group-details", ReplyBody::GroupDetails(Box::new(details))),
        ("group-joined", joined),
    ] {
        folder.seed(seed, Reply { number: 5, body }.encode(&mut Builder::new()));
    }
}
