//! Brings together what lies scattered in a file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use millpond_wire::Run;

use super::PieceBatch;

/// What is read at once: gaps between runs are small where runs are many.
const WINDOW_BYTES: u64 = 1 << 20;

impl PieceBatch {
    /// Reads the runs and writes them to `into`, one after the other from its start; returns the
    /// one run that they are there.
    ///
    /// # Errors
    /// What the system said about either file.
    pub fn gather(&self, source: &File, into: &File) -> io::Result<Run> {
        let mut window = Vec::new();
        let mut gathered = Vec::new();
        let mut written = 0;
        let mut rest = self.runs.as_slice();
        while let Some(first) = rest.first() {
            let inside = |run: &Run| {
                run.file_offset >= first.file_offset
                    && run.file_offset + run.bytes - first.file_offset <= WINDOW_BYTES
            };
            // A run that is larger than the window is read by itself.
            let count = rest.iter().take_while(|run| inside(run)).count().max(1);
            let (together, after) = rest.split_at(count);
            let end = together.last().map_or(0, |run| run.file_offset + run.bytes);
            window.resize(size(end - first.file_offset), 0);
            source.read_exact_at(&mut window, first.file_offset)?;
            gathered.clear();
            for run in together {
                let begin = size(run.file_offset - first.file_offset);
                gathered.extend_from_slice(&window[begin..begin + size(run.bytes)]);
            }
            into.write_all_at(&gathered, written)?;
            written += gathered.len() as u64;
            rest = after;
        }
        Ok(Run { file_offset: 0, bytes: written })
    }
}

/// Inside a window, or a run: always in memory, so it fits.
fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or_default()
}
