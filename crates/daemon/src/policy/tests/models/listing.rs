//! Listings of models, however many turns they take.

use millpond_wire::message::Rename;
use proptest::prelude::*;

use super::*;

const ALL: RequestBody = RequestBody::ModelList { prefix: String::new() };

fn rename(play: &mut Play, conn: ConnId, version: VersionId, name: &str) {
    let token = Token::random();
    let rename = Rename { object: version.into(), name: name.parse().unwrap(), token };
    assert_eq!(play.ask(conn, RequestBody::Rename(rename)), ReplyBody::Done);
}

#[test]
fn an_inspect_of_a_version_shows_some_of_its_readers_and_says_how_many_there_are() {
    let mut play = Play::new();
    let (conn, client) = play.client(1);
    let version = play.load(conn, "llama", "v1", true).info.version;
    play.attach(conn, "llama", 1);
    play.with_leases(client, version.into(), 2..=1000);
    play.pond.turns.set_slice(100);
    match play.ask(conn, RequestBody::VersionInspect(target("llama"))) {
        ReplyBody::VersionDetails(details) => {
            assert_eq!(details.leases.len(), millpond_wire::caps::HOLDERS_SHOWN);
            assert!(details.leases.iter().all(|lease| lease.bytes == 6 * MIB));
            assert_eq!((details.info.readers, details.parts.len()), (1000, 2));
        }
        other => panic!("not inspected: {other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// However often names change between two slices, each version is in the listing once.
    #[test]
    fn a_version_is_listed_once_whatever_its_model_is_called(
        slice in 1usize..6,
        renames in prop::collection::vec((0usize..6, 0u8..26), 0..20),
    ) {
        let mut play = Play::new();
        let (conn, _) = play.client(1);
        let mut all = BTreeSet::new();
        let mut of_models = Vec::new();
        for model in ["d", "h", "l", "p", "t", "x"] {
            let versions = ["v1", "v2"].map(|tag| play.load(conn, model, tag, true).info.version);
            all.extend(versions);
            of_models.push(versions[0]);
        }
        let at_once = play.ask(conn, ALL);
        play.pond.turns.set_slice(slice);
        prop_assert_eq!(play.ask(conn, ALL), at_once, "nothing has changed meanwhile");
        let number = play.start(conn, ALL);
        for (model, letter) in renames {
            play.later(0);
            let name = format!("{}{model}", char::from(b'a' + letter));
            rename(&mut play, conn, of_models[model], &name);
        }
        while play.pond.has_turns() {
            play.later(0);
        }
        let Some(ReplyBody::Models(models)) = play.answer(number) else { panic!("no listing") };
        let found: Vec<VersionId> =
            models.iter().flat_map(|model| &model.versions).map(|it| it.version).collect();
        prop_assert_eq!(found.len(), all.len());
        prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), all);
    }
}
