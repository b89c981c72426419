//! The harness can fail: with one rule broken, some schedule breaks an invariant that is about it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests too")]

use millpond_sim::{Mutation, run};

/// Within how many schedules a broken rule must be noticed.
const WITHIN: u64 = 10_000;
const FIRST_SEED: u64 = 1;

/// Looks until it is noticed, and checks that it was noticed for what it is.
fn noticed(mutation: Mutation, as_one_of: &[&str]) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let Err(failure) = run::schedules(FIRST_SEED, WITHIN, Some(mutation), threads) else {
        panic!("{} was not noticed in {WITHIN} schedules", mutation.name());
    };
    assert!(as_one_of.contains(&failure.violation.invariant), "{failure}");
    // And the seed alone brings it back.
    let (again, _) = run::schedule(failure.seed, Some(mutation), failure.steps, false);
    assert_eq!(again, Err(failure.violation.clone()), "{failure}");
}

const KEEPS_LEASES: &str = "a living client keeps its leases";
const SAME_LEASES: &str = "leases are what living clients hold";
const NOT_HANDED_OUT: &str = "leased memory is not handed out again";
const IS_THERE: &str = "what was made is there";
const IS_HELD: &str = "what is recorded is held";
const NOTHING_LOST: &str = "nothing is lost";
const SAME_HELD: &str = "keeper and daemon hold the same";
const REPLAYS: &str = "the journal says what the daemon knows";
const NOT_ANOTHERS: &str = "nobody writes into another's memory";
const ONLY_RELEASED: &str = "only released memory is recycled";
const SILENT_KEEPS: &str = "who is silent keeps what it has mapped";
const BORROWER_RECORDED: &str = "who borrows is recorded before the answer";

#[test]
fn journal_after_reply() {
    let published = "what was published is ready";
    noticed(
        Mutation::JournalAfterReply,
        &[KEEPS_LEASES, SAME_LEASES, IS_THERE, IS_HELD, published, REPLAYS, BORROWER_RECORDED],
    );
}

#[test]
fn hold_after_journal() {
    let in_the_books = "what is in the books is held";
    let handed_out = "what is handed out is held";
    noticed(Mutation::HoldAfterJournal, &[IS_HELD, NOTHING_LOST, in_the_books, handed_out]);
}

#[test]
fn lease_ends_at_hang_up() {
    noticed(
        Mutation::LeaseEndsAtHangUp,
        &[KEEPS_LEASES, SAME_LEASES, NOT_HANDED_OUT, SILENT_KEEPS, IS_THERE],
    );
}

#[test]
fn recycle_without_release() {
    noticed(Mutation::RecycleWithoutRelease, &[ONLY_RELEASED, NOT_ANOTHERS]);
}

#[test]
fn drop_before_journal() {
    // Where the record is refused, the daemon itself still has the slab in its books.
    noticed(Mutation::DropBeforeJournal, &[IS_HELD, NOTHING_LOST, "what is in the books is held"]);
}

#[test]
fn epoch_repeats() {
    noticed(Mutation::EpochRepeats, &["epochs rise"]);
}

#[test]
fn queue_not_read() {
    let same_pond = "a pond stays the same";
    // What is lost may be the new journal of a compaction: then the old one is read.
    noticed(Mutation::QueueNotRead, &[IS_HELD, NOTHING_LOST, SAME_HELD, same_pond, KEEPS_LEASES]);
}

#[test]
fn full_counts_as_held() {
    let same_pond = "a pond stays the same";
    noticed(
        Mutation::FullCountsAsHeld,
        &[IS_HELD, NOTHING_LOST, SAME_HELD, same_pond, KEEPS_LEASES],
    );
}

#[test]
fn hand_over_incomplete() {
    noticed(Mutation::HandOverIncomplete, &[IS_HELD, NOTHING_LOST, SAME_HELD]);
}

#[test]
fn torn_tail_kept() {
    noticed(Mutation::TornTailKept, &[REPLAYS, IS_THERE, KEEPS_LEASES, IS_HELD]);
}

#[test]
fn compaction_not_held() {
    noticed(Mutation::CompactionNotHeld, &[IS_HELD, IS_THERE, KEEPS_LEASES, NOTHING_LOST]);
}

#[test]
fn release_before_unmap() {
    noticed(Mutation::ReleaseBeforeUnmap, &[NOT_ANOTHERS, NOT_HANDED_OUT]);
}

#[test]
fn mover_gone_when_killed() {
    // The second end of the same process is taken for the end of the next.
    let answered = "every request is answered";
    noticed(Mutation::MoverGoneWhenKilled, &["one mover at a time", answered, ONLY_RELEASED]);
}

#[test]
fn manifest_not_held() {
    noticed(Mutation::ManifestNotHeld, &[IS_HELD, NOTHING_LOST, "what is in the books is held"]);
}

#[test]
fn swap_token_forgotten() {
    noticed(Mutation::SwapTokenForgotten, &["a swap happens once", REPLAYS]);
}

const CHARGED: &str = "a group is charged with its users' slabs";
const WITHIN_LIMIT: &str = "a group stays within its limit";
const NO_CHARGE_LEAKS: &str = "no charge leaks";
const SAME_CHARGE: &str = "what is charged is what is there";

#[test]
fn account_not_returned() {
    noticed(Mutation::AccountNotReturned, &["users' accounts say what there is"]);
}

#[test]
fn charge_not_returned() {
    noticed(Mutation::ChargeNotReturned, &[CHARGED, NO_CHARGE_LEAKS, SAME_CHARGE]);
}

#[test]
fn recount_adds() {
    noticed(Mutation::RecountAdds, &[CHARGED, NO_CHARGE_LEAKS]);
}

#[test]
fn limit_before_pending() {
    noticed(Mutation::LimitBeforePending, &[WITHIN_LIMIT]);
}

#[test]
fn slabs_not_adopted() {
    noticed(Mutation::SlabsNotAdopted, &[CHARGED, WITHIN_LIMIT, SAME_CHARGE]);
}

#[test]
fn payers_kept() {
    // The group is gone, and nobody can be charged; or another has its name by now.
    noticed(Mutation::PayersKept, &["no reason to fail", CHARGED, WITHIN_LIMIT]);
}

#[test]
fn charge_not_moved() {
    noticed(Mutation::ChargeNotMoved, &[CHARGED, NO_CHARGE_LEAKS]);
}

#[test]
fn claims_forgotten() {
    noticed(Mutation::ClaimsForgotten, &[SAME_LEASES, NOT_HANDED_OUT]);
}

#[test]
fn late_grant_kept() {
    noticed(Mutation::LateGrantKept, &[SAME_LEASES]);
}

#[test]
fn lost_grant_forgotten() {
    noticed(Mutation::LostGrantForgotten, &[SAME_LEASES]);
}

#[test]
fn token_not_checked() {
    noticed(Mutation::TokenNotChecked, &["a thief is denied"]);
}

#[test]
fn token_forgotten() {
    noticed(Mutation::TokenForgotten, &["a living client is welcome"]);
}

#[test]
fn borrowers_forgotten() {
    noticed(
        Mutation::BorrowersForgotten,
        &[SILENT_KEEPS, KEEPS_LEASES, NOT_HANDED_OUT, NOT_ANOTHERS],
    );
}

#[test]
fn anybody_borrows() {
    let only_its_own = "who is silent keeps only what its user may hold";
    let goes = "memory goes with its last lease";
    // Of whom everybody may have borrowed, nobody is recorded any more.
    noticed(Mutation::AnybodyBorrows, &[only_its_own, goes, BORROWER_RECORDED]);
}

const PAID: &str = "pages are paid for as long as they are there";
const GRANTED: &str = "granted never passes the limit";
const OVERTAKEN: &str = "a later comer never gets what a waiter is owed";

#[test]
fn no_fence() {
    let after_work = "pages go back after the work on them";
    noticed(Mutation::NoFence, &[after_work, "no page has two owners"]);
}

#[test]
fn credit_after_map() {
    noticed(Mutation::CreditAfterMap, &[PAID, WITHIN_LIMIT]);
}

#[test]
fn credit_before_release() {
    noticed(Mutation::CreditBeforeRelease, &[PAID, WITHIN_LIMIT]);
}

#[test]
fn assign_unlocked() {
    noticed(Mutation::AssignUnlocked, &[GRANTED]);
}

#[test]
fn waiter_overtaken() {
    noticed(Mutation::WaiterOvertaken, &[OVERTAKEN]);
}

#[test]
fn hang_up_keeps_want() {
    noticed(Mutation::HangUpKeepsWant, &["what is owed is owed to somebody who waits"]);
}

#[test]
fn waiter_not_answered() {
    noticed(Mutation::WaiterNotAnswered, &["every wait is answered"]);
}

#[test]
fn host_not_sealed() {
    noticed(Mutation::HostNotSealed, &["an old handle opens nothing else"]);
}

#[test]
fn host_makes_nothing() {
    noticed(Mutation::HostMakesNothing, &["an old handle opens nothing else"]);
}

#[test]
fn host_not_held() {
    let in_the_books = "what is in the books is held";
    noticed(Mutation::HostNotHeld, &[IS_HELD, in_the_books, "nobody ends what is needed"]);
}

#[test]
fn host_death_unnoticed() {
    let (deleted, granted) =
        ("what has lost its home is deleted", "nobody is granted what is gone");
    let (runs, leaks) = ("a host in the books runs", "no descriptor leaks");
    noticed(Mutation::HostDeathUnnoticed, &[deleted, granted, runs, leaks, SAME_CHARGE]);
}

#[test]
fn uncharge_forgotten() {
    noticed(Mutation::UnchargeForgotten, &[SAME_CHARGE, CHARGED]);
}

#[test]
fn unknown_memory_kept() {
    noticed(Mutation::UnknownMemoryKept, &["memory of a host is in the books"]);
}

#[test]
fn adopted_without_proof() {
    let kind = "a grant says what its memory is";
    noticed(Mutation::AdoptedWithoutProof, &["only what was proved is adopted", kind]);
}

#[test]
fn adopted_recycled() {
    let (goes, nothing) =
        ("adopted memory goes with its tensor", "adopted memory is used for nothing else");
    noticed(Mutation::AdoptedRecycled, &[goes, nothing]);
}

#[test]
fn hold_token_forgotten() {
    let (ended, once) = ("a hold ends with its process", "a hold happens once");
    noticed(Mutation::HoldTokenForgotten, &[once, ended, REPLAYS]);
}

#[test]
fn holder_death_unnoticed() {
    noticed(Mutation::HolderDeathUnnoticed, &["who is gone holds nothing"]);
}

#[test]
fn holder_number_trusted() {
    noticed(Mutation::HolderNumberTrusted, &["who is gone holds nothing"]);
}
