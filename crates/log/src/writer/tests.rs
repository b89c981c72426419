use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;
use crate::QUEUE_LINES;

const SOON: Duration = Duration::from_secs(30);

/// Fails while it is told to, and keeps what it took.
#[derive(Clone, Default)]
struct Flaky {
    fails: Arc<std::sync::atomic::AtomicBool>,
    taken: Arc<Mutex<Vec<String>>>,
}

impl Flaky {
    fn fails(&self, fails: bool) {
        self.fails.store(fails, std::sync::atomic::Ordering::SeqCst);
    }

    fn taken(&self) -> Vec<String> {
        self.taken.lock().unwrap().clone()
    }
}

impl Sink for Flaky {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        if self.fails.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.taken.lock().unwrap().push(String::from_utf8_lossy(line).trim().to_owned());
        Ok(())
    }
}

/// Takes a line only when it is let.
struct Blocked {
    may: Receiver<()>,
    taken: Arc<Mutex<Vec<String>>>,
}

impl Sink for Blocked {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.may.recv().map_err(io::Error::other)?;
        self.taken.lock().unwrap().push(String::from_utf8_lossy(line).trim().to_owned());
        Ok(())
    }
}

fn blocked() -> (Log, Sender<()>, Arc<Mutex<Vec<String>>>) {
    let (let_one, may) = channel();
    let taken = Arc::new(Mutex::new(Vec::new()));
    let sink = Blocked { may, taken: Arc::clone(&taken) };
    (Log::to(Box::new(sink), Style::Text), let_one, taken)
}

#[test]
fn lines_that_failed_are_counted_and_the_count_comes_with_the_next_that_does_not() {
    let sink = Flaky::default();
    let log = Log::to(Box::new(sink.clone()), Style::Text);
    log.push(b"one\n");
    assert!(log.flush(SOON));
    sink.fails(true);
    log.push(b"two\n");
    log.push(b"three\n");
    assert!(log.flush(SOON), "lost lines are not waited for");
    sink.fails(false);
    log.push(b"four\n");
    assert!(log.flush(SOON));
    let taken = sink.taken();
    assert_eq!((taken.len(), taken[0].as_str(), taken[2].as_str()), (3, "one", "four"));
    assert!(taken[1].contains("2 log lines were dropped"), "{taken:?}");
}

#[test]
fn a_target_that_takes_nothing_stops_nobody_and_what_was_dropped_is_said_later() {
    let (log, let_one, taken) = blocked();
    // One is with the thread, or will be.
    for number in 0..QUEUE_LINES + 100 {
        log.push(format!("{number}\n").as_bytes());
    }
    assert!(!log.flush(Duration::from_millis(1)));
    for _ in 0..QUEUE_LINES + 101 {
        let_one.send(()).unwrap();
    }
    assert!(log.flush(SOON));
    let taken = taken.lock().unwrap();
    assert_eq!(taken[0], "0");
    let last = taken.last().unwrap();
    assert!(last.contains("log lines were dropped"), "{last}");
    assert!(taken.len() <= QUEUE_LINES + 2);
}

#[test]
fn the_last_line_of_a_process_does_not_wait_for_a_lock_that_is_kept() {
    let (log, _let_one, _) = blocked();
    let kept = log.lock();
    log.push_last("the end", Duration::from_millis(20));
    assert!(!log.flush(Duration::from_millis(20)));
    drop(kept);
}
