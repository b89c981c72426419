//! `CUDA_VISIBLE_DEVICES`: which devices a process may use, and in which order.
//!
//! As CUDA reads it: numbers or the beginnings of names as `GPU-1234`, separated by commas. The list
//! ends at the first entry that names no device, so that `-1` hides all after it; a device named
//! twice leaves none. NVML does not look at it.

use std::io;
use std::sync::Arc;

use super::board::{Board, Device};

const VARIABLE: &str = "CUDA_VISIBLE_DEVICES";

/// The devices of a board that the environment shows.
pub fn visible(board: &'static Board) -> io::Result<Vec<&'static Arc<Device>>> {
    let Some(list) = std::env::var_os(VARIABLE) else {
        return Ok(board.devices.iter().collect());
    };
    let names = board.devices.iter().map(|device| device.uuid_text());
    let names = names.collect::<io::Result<Vec<String>>>()?;
    let chosen = choose(&list.to_string_lossy(), &names);
    Ok(chosen.into_iter().filter_map(|index| board.devices.get(index)).collect())
}

/// The indices that a list names.
fn choose(list: &str, names: &[String]) -> Vec<usize> {
    let mut chosen = Vec::new();
    for entry in list.split(',') {
        let Some(index) = index(entry.trim(), names) else { break };
        if chosen.contains(&index) {
            return Vec::new();
        }
        chosen.push(index);
    }
    chosen
}

fn index(entry: &str, names: &[String]) -> Option<usize> {
    if !entry.starts_with("GPU-") {
        return entry.parse().ok().filter(|index| *index < names.len());
    }
    let mut matches = (0..names.len()).filter(|index| {
        names.get(*index).is_some_and(|name| {
            name.starts_with(&entry.to_ascii_lowercase().replacen("gpu-", "GPU-", 1))
        })
    });
    let first = matches.next()?;
    // A beginning that fits two devices names none.
    matches.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_cuda_reads_them() {
        let names = ["GPU-11ab", "GPU-11cd", "GPU-22ef"].map(str::to_owned);
        for (list, chosen) in [
            ("0,1,2", vec![0, 1, 2]),
            ("2, 0", vec![2, 0]),
            ("GPU-22ef,GPU-11c", vec![2, 1]),
            ("GPU-2,0", vec![2, 0]),
            ("GPU-11", vec![]),
            ("1,-1,2", vec![1]),
            ("1,7,2", vec![1]),
            ("1,1", vec![]),
            ("1,GPU-11cd", vec![]),
            ("", vec![]),
            ("NoDevFiles", vec![]),
        ] {
            assert_eq!(choose(list, &names), chosen, "{list:?}");
        }
    }
}
