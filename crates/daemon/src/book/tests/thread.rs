//! The thread itself, asked from outside.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::super::{Ask, Cards, start};
use super::*;

const PATIENCE: Duration = Duration::from_secs(20);
/// Requests that wait at any time.
const WAITING: u64 = 5000;

/// A card that counts how often it is read, and how often its processes are.
#[derive(Clone, Default)]
struct Counted {
    read: Arc<AtomicU64>,
    processes: Arc<AtomicU64>,
    takes: Duration,
}

impl Cards for Counted {
    fn list(&self) -> Vec<(GpuUuid, u64)> {
        vec![(GPU, 100 * GIB)]
    }

    fn used(&self, _: GpuUuid) -> Option<u64> {
        self.read.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(self.takes);
        Some(0)
    }

    fn processes(&self, _: GpuUuid) -> Option<Vec<(u32, u64)>> {
        self.processes.fetch_add(1, Ordering::Relaxed);
        None
    }
}

#[test]
fn who_asks_without_an_end_does_not_stop_the_daemon_from_looking() {
    let folder = tempfile::tempdir().unwrap();
    let book = start(folder.path(), Arc::new(ChargedAccounts::default()), CAPS).unwrap();
    let card = Counted::default();
    let ask = |work| {
        let ask = GroupAsk { conn: ConnId(1), number: 1, by: me(), work };
        book.ask(Ask::Group(Box::new(ask)));
    };
    ask(GroupWork::Set(GroupSet { create: true, ..GroupSet::of(name("team")) }));
    book.ask(Ask::Cards(Box::new(card.clone())));
    for _ in 0..WAITING {
        ask(GroupWork::List);
    }
    let began = Instant::now();
    while card.read.load(Ordering::Relaxed) < 3 {
        assert!(began.elapsed() < PATIENCE, "the cards were never read");
        while let Some(told) = book.next() {
            if let Told::Answer { answer, .. } = told {
                answer.unwrap();
                ask(GroupWork::List);
            }
        }
    }
    assert!(book.end(Ask::Stop, PATIENCE));
}

#[test]
fn processes_are_read_also_where_a_reading_takes_longer_than_the_time_between_two() {
    let folder = tempfile::tempdir().unwrap();
    let book = start(folder.path(), Arc::new(ChargedAccounts::default()), CAPS).unwrap();
    let work = GroupWork::Set(GroupSet { create: true, ..GroupSet::of(name("team")) });
    let ask = GroupAsk { conn: ConnId(1), number: 1, by: me(), work };
    book.ask(Ask::Group(Box::new(ask)));
    let path = c_path(&folder.path().join("groups/team")).unwrap();
    let began = Instant::now();
    let _member = loop {
        assert!(began.elapsed() < PATIENCE, "no group was made");
        if let Ok(member) = Member::attach(&path) {
            break member;
        }
    };
    // Every other look finds the reader at work, and so does every tenth.
    let card = Counted { takes: Duration::from_millis(150), ..Counted::default() };
    book.ask(Ask::Cards(Box::new(card.clone())));
    while card.processes.load(Ordering::Relaxed) < 2 {
        assert!(began.elapsed() < PATIENCE, "processes were never read");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(book.end(Ask::Stop, PATIENCE));
}

/// Cards that keep whoever asks until they are let go.
struct Kept {
    asked: Sender<()>,
    go: Mutex<Receiver<()>>,
}

impl Cards for Kept {
    fn list(&self) -> Vec<(GpuUuid, u64)> {
        let _ = self.asked.send(());
        let _ = self.go.lock().unwrap().recv();
        Vec::new()
    }

    fn used(&self, _: GpuUuid) -> Option<u64> {
        None
    }

    fn processes(&self, _: GpuUuid) -> Option<Vec<(u32, u64)>> {
        None
    }
}

#[test]
fn a_thread_that_shall_end_does_not_do_first_what_it_was_asked() {
    let folder = tempfile::tempdir().unwrap();
    let book = start(folder.path(), Arc::new(ChargedAccounts::default()), CAPS).unwrap();
    let ((asked, is_kept), (go, kept)) = (channel(), channel::<()>());
    book.ask(Ask::Cards(Box::new(Kept { asked, go: kept.into() })));
    is_kept.recv_timeout(PATIENCE).unwrap();
    for number in 0..10 {
        let set = GroupSet { create: true, ..GroupSet::of(name(&format!("team-{number}"))) };
        let work = GroupWork::Set(set);
        book.ask(Ask::Group(Box::new(GroupAsk { conn: ConnId(1), number, by: me(), work })));
    }
    assert!(!book.end(Ask::Stop, Duration::from_millis(1)), "it is at something");
    drop(go);
    assert!(book.end(Ask::Stop, PATIENCE));
    assert!(!folder.path().join("groups").exists(), "who was not answered asks the next daemon");
    let told = std::iter::from_fn(|| book.next());
    assert_eq!(told.filter(|told| matches!(told, Told::Answer { .. })).count(), 0);
}
