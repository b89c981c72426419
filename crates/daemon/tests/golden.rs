//! A journal's frames are those of the golden file.

#![allow(clippy::unwrap_used)]

#[path = "../../../tests/golden/check.rs"]
mod check;

use millpond_daemon::journal::{read_frames, write_frame};
use millpond_wire::record::Record;
use millpond_wire::samples;
use planus::Builder;

#[test]
fn golden_journal() {
    let records: Vec<Record> = samples::records().into_iter().map(|(_, record)| record).collect();
    let (mut builder, mut frame, mut journal) = (Builder::new(), Vec::new(), Vec::new());
    for record in &records {
        write_frame(&mut frame, record.encode(&mut builder)).unwrap();
        journal.extend_from_slice(&frame);
    }
    let golden = check::check("journal", [("frames".to_owned(), journal)]);
    let (found, whole) = read_frames(&golden["frames"]).unwrap();
    assert_eq!(found, records);
    assert_eq!(usize::try_from(whole).unwrap(), golden["frames"].len());
}
