//! What happened, for whoever replays a seed.

use std::cell::RefCell;
use std::rc::Rc;

/// Lines, if anybody wants them.
#[derive(Clone, Debug, Default)]
pub struct Trace(Option<Rc<RefCell<Vec<String>>>>);

impl Trace {
    /// One that keeps lines, or does not.
    #[must_use]
    pub fn new(kept: bool) -> Self {
        Self(kept.then(Rc::default))
    }

    /// Adds a line; it is only made if it is kept.
    pub fn say(&self, line: impl FnOnce() -> String) {
        if let Some(lines) = &self.0 {
            lines.borrow_mut().push(line());
        }
    }

    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.0.as_ref().map(|lines| lines.borrow().clone()).unwrap_or_default()
    }
}
