//! What an operator wants to know without looking for it.

use millpond_overview::Overview;
use millpond_view::units;

/// Something that is wrong, or may be soon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub text: String,
    /// It costs somebody memory or data now.
    pub bad: bool,
}

/// Drift below this is rounding: contexts grow by so much without being asked for.
const DRIFT_BYTES: u64 = 256 << 20;

/// All of an overview, the worst first.
pub fn of(overview: &Overview) -> Vec<Alert> {
    let status = &overview.status;
    let mut alerts = Vec::new();
    let mut say = |bad: bool, text: String| alerts.push(Alert { text, bad });
    if status.lost_tensors > 0 {
        let lost = units::count(u64::from(status.lost_tensors), "tensor");
        say(true, format!("the memory of {lost} was gone at the last recovery"));
    }
    for card in &overview.cards {
        if let Some(drift) = card.drift_bytes.filter(|drift| drift.unsigned_abs() >= DRIFT_BYTES) {
            let by = units::difference(drift);
            say(
                true,
                format!("GPU {}: processes of groups have {by} beyond their charge", card.index),
            );
        }
    }
    for group in &overview.groups {
        let wrong = [
            (group.broken, "its files are damaged"),
            (group.stuck, "a process keeps its lock"),
            (group.lying, "its members hold more than they say"),
        ];
        for (_, why) in wrong.iter().filter(|(is_so, _)| *is_so) {
            say(true, format!("group {}: {why}", group.name.0));
        }
    }
    if !status.driver_ready {
        say(false, "the driver has not answered yet".to_owned());
    }
    if status.silent_clients > 0 {
        let silent = units::count(u64::from(status.silent_clients), "client");
        say(false, format!("{silent} without a connection keep what they hold"));
    }
    if let Some(loading) = &status.loading {
        say(false, format!("loading {loading}"));
    }
    alerts
}
