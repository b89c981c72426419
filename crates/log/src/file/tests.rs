use std::fs;

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
    std::os::unix::fs::symlink(&real, &path).unwrap();
    let mut log = LogFile::new(path.clone(), 5);
    for _ in 0..3 {
        log.write(b"line\n").unwrap();
    }
    assert_eq!((lines(&real), lines(&rotated(&path, 1))), (3, 0));
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
}
