//! Tests of several modules together, against a pond in a thread.

mod adoption;
mod arena;
mod calls;
mod claims;
mod elastic;
mod events;
mod handles;
mod memo;
mod models;
mod opened;
mod retire;
mod staging;
mod tensors;
mod violations;
