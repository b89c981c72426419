//! Tests of several modules together, against a pond in a thread.

mod calls;
mod claims;
mod events;
mod memo;
mod retire;
mod tensors;
mod violations;
