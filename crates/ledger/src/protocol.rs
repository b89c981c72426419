//! The rules of the words.
