//! Any sequence of holds, ends, deletes and restarts, compared with a count on paper.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Create {
        name: u8,
    },
    Hold {
        name: u8,
        pid: Option<u32>,
        repeats: bool,
    },
    Unhold {
        name: u8,
        pid: Option<u32>,
        repeats: bool,
    },
    Delete {
        name: u8,
    },
    Ends {
        pid: u32,
    },
    /// It ends while no daemon is there.
    EndsUnseen {
        pid: u32,
    },
    Restart {
        compacted: bool,
    },
}

fn pid() -> impl Strategy<Value = u32> {
    7..10_u32
}

fn step() -> impl Strategy<Value = Step> {
    let (name, repeats) = (0..3_u8, any::<bool>());
    prop_oneof![
        3 => name.clone().prop_map(|name| Step::Create { name }),
        6 => (name.clone(), proptest::option::of(pid()), repeats)
            .prop_map(|(name, pid, repeats)| Step::Hold { name, pid, repeats }),
        6 => (name.clone(), proptest::option::of(pid()), repeats)
            .prop_map(|(name, pid, repeats)| Step::Unhold { name, pid, repeats }),
        1 => name.prop_map(|name| Step::Delete { name }),
        2 => pid().prop_map(|pid| Step::Ends { pid }),
        1 => pid().prop_map(|pid| Step::EndsUnseen { pid }),
        2 => any::<bool>().prop_map(|compacted| Step::Restart { compacted }),
    ]
}

/// What should be so: the counts of each holder, by tensor.
#[derive(Default)]
struct Paper {
    tensors: BTreeMap<TensorId, BTreeMap<Option<u32>, u64>>,
    names: BTreeMap<u8, TensorId>,
}

impl Paper {
    fn give_up(&mut self, tensor: TensorId, pid: Option<u32>) -> bool {
        let counts = self.tensors.get_mut(&tensor).unwrap();
        let holder = if counts.contains_key(&pid) { pid } else { None };
        let Some(count) = counts.get_mut(&holder) else { return false };
        *count -= 1;
        self.settle();
        true
    }

    fn delete(&mut self, name: u8) {
        let Some(tensor) = self.names.remove(&name) else { return };
        self.tensors.get_mut(&tensor).unwrap().remove(&None);
        self.settle();
    }

    fn ends(&mut self, pid: u32) {
        for counts in self.tensors.values_mut() {
            counts.remove(&Some(pid));
        }
        self.settle();
    }

    fn settle(&mut self) {
        for counts in self.tensors.values_mut() {
            counts.retain(|_, count| *count > 0);
        }
        self.tensors.retain(|_, counts| !counts.is_empty());
        self.names.retain(|_, tensor| self.tensors.contains_key(tensor));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn holds_are_what_was_asked_whoever_dies(steps in prop::collection::vec(step(), 1..40)) {
        let (mut play, mut paper) = (Play::new(), Paper::default());
        let (mut conn, _) = play.client(1);
        for pid in 7..10 {
            play.runs(pid, 100);
        }
        let mut starts = 100;
        for step in steps {
            let mut restarted = false;
            match step {
                Step::Create { name } => {
                    let (info, _) = play.create(conn, held(&format!("t{name}"), 100));
                    paper.names.insert(name, info.tensor);
                    *paper.tensors.entry(info.tensor).or_default().entry(None).or_default() += 1;
                }
                Step::Hold { name, pid, repeats } => {
                    let Some(tensor) = paper.names.get(&name).copied() else { continue };
                    let token = Token::random();
                    for _ in 0..=usize::from(repeats) {
                        play.hold_with(conn, tensor, pid, token);
                    }
                    *paper.tensors.get_mut(&tensor).unwrap().entry(pid).or_default() += 1;
                }
                Step::Unhold { name, pid, repeats } => {
                    let Some(tensor) = paper.names.get(&name).copied() else { continue };
                    if paper.give_up(tensor, pid) {
                        let token = Token::random();
                        let told = play.unhold_with(conn, tensor, pid, token);
                        if repeats {
                            prop_assert_eq!(play.unhold_with(conn, tensor, pid, token), told);
                        }
                    } else {
                        let failure = play.refused_unhold(conn, tensor, pid);
                        prop_assert_eq!(failure.kind, ErrorKind::NotFound);
                    }
                }
                Step::Delete { name } => {
                    if let Some(tensor) = paper.names.get(&name).copied() {
                        play.delete(conn, tensor);
                        paper.delete(name);
                    }
                }
                Step::Ends { pid } => {
                    play.ends(pid);
                    paper.ends(pid);
                    starts += 1;
                    play.runs(pid, starts);
                }
                Step::EndsUnseen { pid } => {
                    starts += 1;
                    play.runs(pid, starts);
                    paper.ends(pid);
                    restarted = true;
                }
                Step::Restart { compacted } => {
                    if compacted {
                        play.world.records = play.pond.snapshot();
                    }
                    restarted = true;
                }
            }
            if restarted {
                play.restart();
                play.ends_are_told();
                conn = play.client(1).0;
            }
            let there: BTreeSet<TensorId> = play.pond.catalog.iter().map(|(id, _)| id).collect();
            prop_assert_eq!(&there, &paper.tensors.keys().copied().collect::<BTreeSet<_>>());
            for (tensor, counts) in &paper.tensors {
                prop_assert_eq!(play.holds_on(*tensor), counts.values().sum::<u64>());
            }
            play.check_held();
        }
    }
}
