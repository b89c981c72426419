//! Lines that wait to be written.

use std::collections::VecDeque;

/// Lines that wait at most: a minute of a busy pond at level `info`.
pub const QUEUE_LINES: usize = 4096;
/// Bytes that wait at most: 256 for each of [`QUEUE_LINES`], and nothing that a machine would notice
/// in three processes.
pub const QUEUE_BYTES: usize = 1 << 20;

/// One step of the writer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Line(Vec<u8>),
    /// So many lines were dropped at this place.
    Dropped(u64),
}

/// Bounded by count and by bytes.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    lines: VecDeque<Entry>,
    bytes: usize,
    /// Dropped after the last line of the queue.
    dropped: u64,
}

#[derive(Debug)]
struct Entry {
    dropped_before: u64,
    line: Vec<u8>,
}

impl Queue {
    /// Takes a line, or counts it as dropped.
    pub(crate) fn push(&mut self, line: &[u8]) {
        let bytes = self.bytes.saturating_add(line.len());
        if self.lines.len() >= QUEUE_LINES || bytes > QUEUE_BYTES {
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        self.bytes = bytes;
        let dropped_before = std::mem::take(&mut self.dropped);
        self.lines.push_back(Entry { dropped_before, line: line.to_vec() });
    }

    /// What is to be written next.
    pub(crate) fn pop(&mut self) -> Option<Next> {
        let Some(first) = self.lines.front_mut() else {
            let dropped = std::mem::take(&mut self.dropped);
            return (dropped > 0).then_some(Next::Dropped(dropped));
        };
        let dropped = std::mem::take(&mut first.dropped_before);
        if dropped > 0 {
            return Some(Next::Dropped(dropped));
        }
        let entry = self.lines.pop_front()?;
        self.bytes = self.bytes.saturating_sub(entry.line.len());
        Some(Next::Line(entry.line))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.dropped == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_over_the_count_are_dropped_and_counted_where_they_are_missing() {
        let mut queue = Queue::default();
        for _ in 0..QUEUE_LINES + 3 {
            queue.push(b"x\n");
        }
        assert_eq!(queue.pop(), Some(Next::Line(b"x\n".to_vec())));
        queue.push(b"later\n");
        for _ in 1..QUEUE_LINES {
            assert!(matches!(queue.pop(), Some(Next::Line(_))));
        }
        assert_eq!(queue.pop(), Some(Next::Dropped(3)));
        assert_eq!(queue.pop(), Some(Next::Line(b"later\n".to_vec())));
        assert_eq!((queue.pop(), queue.bytes), (None, 0));
    }

    #[test]
    fn bytes_are_bounded_and_a_line_over_all_of_them_is_dropped() {
        let mut queue = Queue::default();
        queue.push(&vec![b'x'; QUEUE_BYTES + 1]);
        assert_eq!(queue.pop(), Some(Next::Dropped(1)));
        for _ in 0..3 {
            queue.push(&vec![b'x'; QUEUE_BYTES / 2]);
        }
        assert_eq!((queue.bytes, queue.dropped), (QUEUE_BYTES, 1));
        assert!(!queue.is_empty());
    }
}
