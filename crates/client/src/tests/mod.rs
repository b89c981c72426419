//! Tests of several modules together, against a pond in a thread.

mod arena;
mod calls;
mod claims;
mod elastic;
mod events;
mod memo;
mod models;
mod retire;
mod staging;
mod tensors;
mod violations;
