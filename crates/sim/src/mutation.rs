//! Rules that are broken on purpose, to see that the harness notices. They live in the simulated
//! shell and keeper, in the client's script and in its core; the policy and the budget are always the
//! real ones.

use std::str::FromStr;

use millpond_client_core as client;

macro_rules! mutations {
    ($($(#[$doc:meta])* $variant:ident $name:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mutation {
            $($(#[$doc])* $variant,)*
        }

        impl Mutation {
            pub const ALL: &'static [Mutation] = &[$(Mutation::$variant,)*];

            /// As it is written on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Mutation::$variant => $name,)* }
            }
        }
    };
}

mutations! {
    /// Records are written after the replies of the same event were sent.
    JournalAfterReply "journal-after-reply",
    /// The keeper is told to hold something after the record of it was written.
    HoldAfterJournal "hold-after-journal",
    /// The end of a connection is taken for the end of its process.
    LeaseEndsAtHangUp "lease-ends-at-hang-up",
    /// The end of a process is taken for the release of its leases.
    RecycleWithoutRelease "recycle-without-release",
    /// A slab is let go before the record says so.
    DropBeforeJournal "drop-before-journal",
    /// The next daemon gets the epoch of the last.
    EpochRepeats "epoch-repeats",
    /// A keeper starts the next daemon without reading what the last one had sent.
    QueueNotRead "queue-not-read",
    /// What the keeper has no room for yet counts as held.
    FullCountsAsHeld "full-counts-as-held",
    /// A new keeper does not get the slabs.
    HandOverIncomplete "hand-over-incomplete",
    /// A torn record stays at the end of the journal.
    TornTailKept "torn-tail-kept",
    /// A compacted journal is used before the keeper holds it.
    CompactionNotHeld "compaction-not-held",
    /// A client says that it has unmapped before it has.
    ReleaseBeforeUnmap "release-before-unmap",
    /// A mover counts as gone as soon as it was killed.
    MoverGoneWhenKilled "mover-gone-when-killed",
    /// The manifest of a version is not held.
    ManifestNotHeld "manifest-not-held",
    /// The record of a swap does not say which swap it was.
    SwapTokenForgotten "swap-token-forgotten",
    /// The charge of a slab stays when the slab is gone.
    ChargeNotReturned "charge-not-returned",
    /// What a daemon finds is added to the charge that an earlier one has left.
    RecountAdds "recount-adds",
    /// A limit is looked at when a slab is asked for, and not when it is made.
    LimitBeforePending "limit-before-pending",
    /// The next daemon does not count the slabs that are there.
    SlabsNotAdopted "slabs-not-adopted",
    /// A group that is removed goes on paying for its users.
    PayersKept "payers-kept",
    /// A user's charge stays with a group that pays for nobody any more.
    ChargeNotMoved "charge-not-moved",
    /// The lease of a process that is gone stays on its user's account.
    AccountNotReturned "account-not-returned",
    /// A client forgets what it holds when it connects again.
    ClaimsForgotten "claims-forgotten",
    /// A client keeps a lease that came after its caller had given up.
    LateGrantKept "late-grant-kept",
    /// A client forgets that an answer that was lost may have been a grant.
    LostGrantForgotten "lost-grant-forgotten",
    /// A hello counts as that of the process whose client it names.
    TokenNotChecked "token-not-checked",
    /// A client does not show its token when it connects again.
    TokenForgotten "token-forgotten",
    /// The next daemon passes over who has borrowed something of another user.
    BorrowersForgotten "borrowers-forgotten",
    /// The next daemon takes everybody for a borrower with whom something is shared.
    AnybodyBorrows "anybody-borrows",
    /// Pages go back to the driver while work on them runs.
    NoFence "no-fence",
    /// Credit is taken after pages are made and mapped.
    CreditAfterMap "credit-after-map",
    /// Credit goes back before the driver has the pages.
    CreditBeforeRelease "credit-before-release",
    /// Between the look for room and the assignment to a waiter nobody holds the lock.
    AssignUnlocked "assign-unlocked",
    /// Whoever takes credit takes also what a waiter is owed.
    WaiterOvertaken "waiter-overtaken",
    /// What a waiter is owed stays when its connection is gone.
    HangUpKeepsWant "hang-up-keeps-want",
    /// Who waits for pages is not answered.
    WaiterNotAnswered "waiter-not-answered",
    /// A host makes memory after it has freed some, and says that it has not.
    HostNotSealed "host-not-sealed",
    /// A host answers with memory that it has made before.
    HostMakesNothing "host-makes-nothing",
    /// The keeper does not get the channel to a host.
    HostNotHeld "host-not-held",
    /// The end of a host is not told to the policy.
    HostDeathUnnoticed "host-death-unnoticed",
    /// The charge stays for memory that somebody else made, when it is gone.
    UnchargeForgotten "uncharge-forgotten",
    /// The next daemon is not told what a host has that is in no book.
    UnknownMemoryKept "unknown-memory-kept",
    /// A mover proves memory without opening it.
    AdoptedWithoutProof "adopted-without-proof",
    /// The next daemon takes adopted memory for memory of the pond.
    AdoptedRecycled "adopted-recycled",
    /// The record of a hold does not say which request it was.
    HoldTokenForgotten "hold-token-forgotten",
    /// The end of a process that tensors are held for is not told to the policy.
    HolderDeathUnnoticed "holder-death-unnoticed",
    /// The next daemon takes any process for a holder that has its number.
    HolderNumberTrusted "holder-number-trusted",
}

impl Mutation {
    /// The rule of the client's core that it breaks.
    #[must_use]
    pub fn in_the_client(self) -> Option<client::Mutation> {
        Some(match self {
            Mutation::ClaimsForgotten => client::Mutation::ClaimsForgotten,
            Mutation::LateGrantKept => client::Mutation::LateGrantKept,
            Mutation::LostGrantForgotten => client::Mutation::LostGrantForgotten,
            Mutation::TokenForgotten => client::Mutation::TokenForgotten,
            _ => return None,
        })
    }
}

impl FromStr for Mutation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Mutation::ALL.iter().copied().find(|mutation| mutation.name() == text);
        found.ok_or_else(|| {
            let known: Vec<_> = Mutation::ALL.iter().map(|mutation| mutation.name()).collect();
            format!("'{text}' is not one of {}", known.join(", "))
        })
    }
}
