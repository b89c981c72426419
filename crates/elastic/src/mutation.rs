//! Rules of this crate that tests break on purpose, to see that they notice. A test breaks one at run
//! time: a feature of cargo would be on in everything that is built beside the tests.

/// A rule, named by what happens when it is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Pages are unmapped although work may still use them.
    NoFenceBeforeUnmap = 1,
    /// Pages are made and mapped before anybody was asked to pay.
    CreditAfterMap,
    /// Credit is given back before the driver has the memory.
    CreditBeforeRelease,
    /// A row that another thread is mapping is mapped once more.
    RowTwice,
    /// What a failed growth had made stays.
    NothingUndone,
    /// Pages with committed blocks are given back.
    TrimInUse,
    /// A block that is taken is offered again.
    BlockTwice,
}
