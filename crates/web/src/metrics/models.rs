//! Models.

use std::collections::BTreeMap;

use millpond_overview::Overview;
use millpond_view::Model;
use millpond_wire::VersionState;

use super::pond::seconds;
use super::sheet::Sheet;
use super::{MOST_VALUES, OTHERS, table};

/// States of versions, in the words of the label.
const STATES: [&str; 4] = ["staging", "ready", "draining", "lost"];

#[derive(Default)]
struct Sum {
    /// By GPU: what each version has alone, and the most that one shares with others.
    bytes: BTreeMap<String, (u64, u64)>,
    states: [u64; 4],
    readers: u64,
    ready_unix_ms: Option<u64>,
}

impl Sum {
    fn add(&mut self, model: &Model) {
        for version in &model.versions {
            let (own, shared) = self.bytes.entry(version.device.to_string()).or_default();
            if !version.lost {
                *own += version.own_bytes;
                *shared = (*shared).max(version.shared_bytes);
            }
            let state = match (version.lost, version.state.0) {
                (true, _) => 3,
                (_, VersionState::Staging) => 0,
                (_, VersionState::Ready) => 1,
                (_, VersionState::Draining) => 2,
            };
            if let Some(count) = self.states.get_mut(state) {
                *count += 1;
            }
            self.readers += u64::from(version.readers);
            if version.current {
                self.ready_unix_ms = version.ready_unix_ms;
            }
        }
    }
}

pub fn add(sheet: &mut Sheet, overview: &Overview) {
    let mut sums: BTreeMap<(String, String), Sum> = BTreeMap::new();
    for (place, model) in overview.models.iter().enumerate() {
        let key = match place < MOST_VALUES {
            true => (model.name.to_string(), model.user.to_string()),
            false => (OTHERS.to_owned(), String::new()),
        };
        sums.entry(key).or_default().add(model);
    }
    for ((model, user), sum) in &sums {
        for (gpu, (own, shared)) in &sum.bytes {
            sheet.add(table::MODEL_BYTES, &[gpu, model, user], own + shared);
        }
        for (state, count) in STATES.iter().zip(sum.states) {
            sheet.add(table::MODEL_VERSIONS, &[model, user, state], count);
        }
        sheet.add(table::MODEL_READERS, &[model, user], sum.readers);
        if model != OTHERS {
            sheet.add_some(table::MODEL_READY, &[model, user], sum.ready_unix_ms.map(seconds));
        }
    }
}
