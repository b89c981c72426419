//! Rules of this crate that the kill harness breaks on purpose, to see that it notices. The harness
//! breaks one at run time: a feature of cargo would be on in every client that is built beside it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// Nothing is claimed from a new daemon.
    ClaimsForgotten,
    /// A grant whose caller has given up is not given back.
    LateGrantKept,
    /// A grant whose answer may have been lost with its connection is not given back.
    LostGrantForgotten,
    /// A client that comes back does not show its token.
    TokenForgotten,
}
