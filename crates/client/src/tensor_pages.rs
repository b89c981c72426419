//! Listings of tensors in pages.

use std::num::NonZeroU32;

use millpond_wire::message::TensorPage;

use crate::{Pond, Result, TensorInfo};

/// The pages of a listing, see [`Pond::list_pages`]. Each is asked for when it is wanted; a page that cannot be had is
/// an error, after which the same page is asked for again.
#[derive(Debug)]
pub struct TensorPages<'a> {
    pond: &'a Pond,
    prefix: String,
    next: Option<TensorPage>,
}

impl<'a> TensorPages<'a> {
    pub(crate) fn new(pond: &'a Pond, prefix: &str, most: NonZeroU32) -> Self {
        let first = TensorPage { after: None, most };
        Self { pond, prefix: prefix.to_owned(), next: Some(first) }
    }
}

impl Iterator for TensorPages<'_> {
    type Item = Result<Vec<TensorInfo>>;

    fn next(&mut self) -> Option<Self::Item> {
        let page = self.next?;
        let tensors = match self.pond.list_page(&self.prefix, Some(page)) {
            Ok(tensors) => tensors,
            Err(error) => return Some(Err(error)),
        };
        let is_full = u32::try_from(tensors.len()) == Ok(page.most.get());
        let after = tensors.iter().map(|tensor| tensor.tensor).max();
        // A pond that knows no pages has answered with everything, and would do so again.
        self.next = (is_full && after > page.after).then_some(TensorPage { after, ..page });
        (!tensors.is_empty()).then_some(Ok(tensors))
    }
}
