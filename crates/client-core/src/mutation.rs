//! Rules of this crate that the kill harness breaks on purpose, to see that it notices. Without the
//! feature `mutations` no rule can be broken.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "mutations"), allow(dead_code, reason = "broken by the harness only"))]
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
