//! `/metrics`.
//!
//! A scrape is written from one overview, as the page is, so both say the same. The key decision: no registry
//! of living numbers. Whatever is measured is the pond's, and read at one moment; a scrape that comes again
//! within a second gets the same text and costs the pond nothing. What only the daemon can count comes with
//! its status.

mod cards;
mod cgroup;
mod containers;
#[cfg(test)]
mod document;
mod groups;
mod models;
mod pond;
mod sheet;
pub mod table;

use millpond_overview::Overview;

pub use sheet::classic;

use crate::collect::Work;
use sheet::Sheet;

/// So many values of a label that users choose; what is beyond has [`OTHERS`].
const MOST_VALUES: usize = 500;
/// The value of a label for everything that has no series of its own.
const OTHERS: &str = "(others)";

/// The scrape, from an overview where the pond answers.
pub fn text(overview: Option<&Overview>, work: &Work) -> Result<String, std::fmt::Error> {
    let mut sheet = Sheet::default();
    sheet.add(table::UP, &[], overview.is_some());
    if let Some(overview) = overview {
        pond::add(&mut sheet, &overview.status);
        for card in &overview.cards {
            cards::add(&mut sheet, card);
        }
        cards::add_helpers(&mut sheet, &overview.status);
        models::add(&mut sheet, overview);
        groups::add(&mut sheet, overview);
        containers::add(&mut sheet, overview);
    }
    sheet.add(table::COLLECTED, &[], pond::seconds(work.at_unix_ms));
    sheet.add(table::COLLECT_SECONDS, &[], work.took.as_secs_f64());
    sheet.add(table::COLLECTIONS, &[], work.collections);
    sheet.add(table::COLLECT_FAILURES, &[], work.failures);
    sheet.add(table::READERS, &[], work.readers);
    sheet.add_some(table::WEB_RESIDENT, &[], resident_bytes());
    sheet.open_metrics()
}

/// Memory that this process takes.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    pages.checked_mul(u64::try_from(rustix::param::page_size()).ok()?)
}
