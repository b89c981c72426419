use std::fs::{self, Permissions};
use std::os::unix::fs::symlink;

use super::*;

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

#[test]
fn a_full_file_is_rotated_and_three_older_ones_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let mut log = LogFile::new(path.clone(), 100);
    for number in 0..60 {
        log.write(format!("line {number:04}\n").as_bytes()).unwrap();
    }
    let found: Vec<_> = (0..=KEPT + 1).map(|number| lines(&rotated(&path, number))).collect();
    assert_eq!(found, [10, 10, 10, 10, 0], "each has room for ten lines");
    assert!(fs::read_to_string(rotated(&path, 1)).unwrap().starts_with("line 0040\n"));
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn processes_that_rotate_at_once_lose_no_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    // Room for all lines in the files that are kept, and several rotations on the way.
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let mut log = LogFile::new(path.clone(), 3000);
            std::thread::spawn(move || {
                for number in 0..200 {
                    log.write(format!("{writer} {number:04}\n").as_bytes()).unwrap();
                }
            })
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    let all: Vec<_> = (0..=KEPT)
        .flat_map(|number| fs::read_to_string(rotated(&path, number)))
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    assert_eq!(all.len(), 800);
    assert!(all.iter().all(|line| line.len() == 6), "no line was torn");
}

#[test]
fn a_file_that_was_moved_removed_or_emptied_is_opened_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let mut log = LogFile::new(path.clone(), 0);
    log.write(b"one\n").unwrap();
    fs::rename(&path, dir.path().join("elsewhere")).unwrap();
    log.write(b"two\n").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "two\n");
    assert_eq!(lines(&dir.path().join("elsewhere")), 1);
    fs::remove_file(&path).unwrap();
    log.write(b"three\n").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "three\n");
    File::options().write(true).truncate(true).open(&path).unwrap();
    log.write(b"four\n").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "four\n", "appended, not at the old place");
}

#[test]
fn without_its_folder_lines_are_lost_until_it_is_back() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("logs");
    fs::create_dir(&folder).unwrap();
    let mut log = LogFile::new(folder.join("log"), 100);
    log.write(b"one\n").unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert!(log.write(b"two\n").is_err());
    fs::create_dir(&folder).unwrap();
    log.write(b"three\n").unwrap();
    assert_eq!(fs::read_to_string(folder.join("log")).unwrap(), "three\n");
}

#[test]
fn a_lock_that_somebody_keeps_delays_a_rotation_and_no_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    let mut log = LogFile::new(path.clone(), 10);
    log.write(b"12345678\n").unwrap();
    let other = File::open(&path).unwrap();
    flock(&other, FlockOperation::LockExclusive).unwrap();
    log.write(b"12345678\n").unwrap();
    assert_eq!(lines(&path), 2);
    drop(other);
    log.write(b"12345678\n").unwrap();
    assert_eq!((lines(&path), lines(&rotated(&path, 1))), (1, 2));
}

#[test]
fn a_link_is_written_through_and_never_renamed() {
    let dir = tempfile::tempdir().unwrap();
    let (path, real) = (dir.path().join("log"), dir.path().join("real"));
    symlink(&real, &path).unwrap();
    let mut log = LogFile::new(path.clone(), 5);
    for _ in 0..3 {
        log.write(b"line\n").unwrap();
    }
    assert_eq!((lines(&real), lines(&rotated(&path, 1))), (3, 0));
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
}

fn refusal(path: &Path) -> String {
    let error = LogFile::new(path.to_owned(), 0).write(b"line\n").unwrap_err();
    distrust(&error).unwrap_or_else(|| panic!("{error}")).to_string()
}

#[test]
fn a_file_that_another_user_can_exchange_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, secret) = (dir.path().join("logs"), dir.path().join("secret"));
    fs::create_dir(&folder).unwrap();
    fs::write(&secret, "").unwrap();
    let path = folder.join("log");
    let mut log = LogFile::new(path.clone(), 0);
    log.write(b"one\n").unwrap();
    // While it is open, too.
    fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
    fs::remove_file(&path).unwrap();
    symlink(&secret, &path).unwrap();
    let error = log.write(b"two\n").unwrap_err();
    let why = distrust(&error).unwrap().to_string();
    assert!(why.contains("not safe to write: another user can change"), "{why}");
    assert!(refusal(&path).contains(folder.to_str().unwrap()));
    assert_eq!(fs::read_to_string(&secret).unwrap(), "");
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(&path).unwrap();
    log.write(b"three\n").unwrap();
    assert_eq!(lines(&path), 1);
}

#[test]
fn a_file_with_another_name_or_owner_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let (path, other) = (dir.path().join("log"), dir.path().join("other"));
    fs::write(&other, "").unwrap();
    fs::hard_link(&other, &path).unwrap();
    assert!(refusal(&path).contains("another name of the file"));
    fs::remove_file(&path).unwrap();
    fs::write(&path, "").unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(4711), None).unwrap();
        assert!(refusal(&path).contains("user 4711"));
        fs::remove_file(&path).unwrap();
        // In a folder like /tmp, where anybody can put a link.
        fs::set_permissions(dir.path(), Permissions::from_mode(0o1777)).unwrap();
        symlink(&other, &path).unwrap();
        let owner = Some(rustix::fs::Uid::from_raw(4711));
        let link = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
        rustix::fs::chownat(rustix::fs::CWD, &path, owner, None, link).unwrap();
        assert!(refusal(&path).contains("user 4711"));
    }
    assert_eq!(fs::read_to_string(&other).unwrap(), "");
}

#[test]
fn others_lose_a_file_that_is_there_and_a_group_goes_on_reading_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    for (before, after) in [(0o666, 0o640), (0o644, 0o640), (0o600, 0o600), (0o640, 0o640)] {
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(before)).unwrap();
        LogFile::new(path.clone(), 0).write(b"line\n").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, after);
    }
}
