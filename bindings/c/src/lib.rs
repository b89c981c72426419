//! Millpond for C and C++: a stable C ABI over the Rust client.
//!
//! The header, `include/millpond/millpond.h`, is generated from these sources by `scripts/c-header`;
//! the comments of exported functions and types are its documentation.
//!
//! # The key decision: a handle is a key, not an address
//!
//! What C code calls a `millpond_tensor *` is never dereferenced, by either side. It is a number that
//! names a slot of a table in this library, with the kind of the object and a generation that no other
//! object ever gets (`table.rs`). So a handle that was freed, is of another kind, or was never one is
//! refused with `MILLPOND_INVALID_HANDLE`, and a free while another thread is in a call is safe: the call
//! has its own reference. (Boxes behind raw pointers were refused: a double free would be undefined behaviour.)
//!
//! # The border
//!
//! Every exported function goes through [`border::call`] or [`border::value`]: no panic leaves the library, and a
//! failure is kept for its thread. Pointers to C structs are `Option<&T>` and `Option<&mut MaybeUninit<T>>`, which
//! have the layout of a pointer that may be NULL, so that a check cannot be forgotten.

#![deny(missing_docs)]
#![allow(non_camel_case_types, reason = "these are the names that C programs use")]

mod adopt;
mod blocks;
mod border;
mod callback;
mod cancel;
mod dlpack;
mod elastic;
mod events;
mod failure;
mod fork;
mod groups;
mod handle;
mod listings;
mod load;
mod model;
mod model_calls;
mod model_types;
mod objects;
#[cfg(test)]
mod parity;
mod pond;
mod pool;
mod prepared;
mod result;
mod staging;
mod status;
mod stream;
mod table;
mod tensor;
mod tensor_data;
mod tensor_list;
mod tensor_stream;
mod tensor_types;
mod text;
mod transfer;
mod uuid;
mod version;
mod words;
