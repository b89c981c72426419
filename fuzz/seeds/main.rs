//! Writes the seeds of the corpus with the real encoders: `seeds FOLDER`.
//!
//! Identities are fixed, so that the files are the same each time.

mod messages;
mod others;
mod weights;

use std::path::{Path, PathBuf};

/// One target's folder.
pub struct Folder(PathBuf);

impl Folder {
    fn new(root: &Path, target: &str) -> Self {
        let folder = root.join(target);
        std::fs::create_dir_all(&folder).expect("a folder for the seeds");
        Self(folder)
    }

    /// Writes one seed.
    pub fn seed(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.0.join(name), bytes).expect("a seed is written");
    }
}

fn main() {
    let root = PathBuf::from(std::env::args_os().nth(1).expect("usage: seeds FOLDER"));
    messages::requests(&Folder::new(&root, "requests"));
    messages::replies(&Folder::new(&root, "replies"));
    messages::keeper_channel(&Folder::new(&root, "keeper_channel"));
    messages::mover_channel(&Folder::new(&root, "mover_channel"));
    messages::host_channel(&Folder::new(&root, "host_channel"));
    others::journal(&Folder::new(&root, "journal"));
    others::config(&Folder::new(&root, "config"));
    others::npy_header(&Folder::new(&root, "npy_header"));
    weights::checkpoint(&Folder::new(&root, "checkpoint"));
    weights::manifest(&Folder::new(&root, "manifest"));
    others::policy(&Folder::new(&root, "policy"));
}
