//! Just enough of ELF: how a program is loaded, and what a library exports and needs.
//!
//! A crate for this reads everything about every object file; here three tables of a file that was
//! made for this machine are wanted. A file is hostile input: every number is checked against the
//! file's length before it is used, and every table has a cap.

mod names;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Why a file could not be read as ELF.
#[derive(Debug)]
pub enum ElfError {
    /// The file could not be read.
    Io(io::Error),
    /// It does not begin as ELF files do.
    NotElf,
    /// It is ELF, but what it says about itself cannot be.
    Damaged(&'static str),
}

impl std::fmt::Display for ElfError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::NotElf => f.write_str("not an ELF file"),
            Self::Damaged(what) => write!(f, "a damaged ELF file: {what}"),
        }
    }
}

impl From<io::Error> for ElfError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Damaged("it ends too early"),
            _ => Self::Io(error),
        }
    }
}

/// The first bytes of every ELF file.
const MAGIC: [u8; 4] = *b"\x7fELF";
/// A file of 64 bits with the low byte first, as on every machine that CUDA has today.
const CLASS_64_LITTLE: [u8; 2] = [2, 1];
/// The largest table that is read; libcuda's are under 1 MiB.
const TABLE_BYTES: u64 = 64 << 20;

const PROGRAM_HEADER_BYTES: u16 = 56;
const SECTION_HEADER_BYTES: u16 = 64;
const PT_INTERP: u32 = 3;

#[derive(Debug)]
pub struct Elf {
    file: File,
    header: Header,
}

/// What the first 64 bytes say.
#[derive(Clone, Copy, Debug)]
struct Header {
    machine: u16,
    program_headers: Place,
    sections: Place,
}

/// A table of headers.
#[derive(Clone, Copy, Debug)]
struct Place {
    offset: u64,
    count: u16,
}

#[derive(Clone, Copy, Debug)]
struct Section {
    kind: u32,
    offset: u64,
    bytes: u64,
    link: u32,
}

/// How a program asks to be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loading {
    /// By this dynamic loader.
    Dynamic(String),
    /// By nobody: what it needs is inside.
    Static,
    /// For another kind of machine than this program.
    Foreign,
}

impl Elf {
    pub fn open(path: &Path) -> Result<Self, ElfError> {
        let file = File::open(path)?;
        let mut head = [0; 64];
        let read = file.read_at(&mut head, 0)?;
        if read < MAGIC.len() || head[..4] != MAGIC {
            return Err(ElfError::NotElf);
        }
        // A file of 32 bits is recognised by its first bytes; the rest of it is not looked at.
        let same_class = head[4..6] == CLASS_64_LITTLE;
        if same_class && read < head.len() {
            return Err(ElfError::Damaged("it ends in its header"));
        }
        let nothing = Place { offset: 0, count: 0 };
        let header = if same_class {
            Header {
                machine: u16_at(&head, 18)?,
                program_headers: place(&head, 32, 54, 56, PROGRAM_HEADER_BYTES)?,
                sections: place(&head, 40, 58, 60, SECTION_HEADER_BYTES)?,
            }
        } else {
            Header { machine: 0, program_headers: nothing, sections: nothing }
        };
        Ok(Self { file, header })
    }

    /// How it asks to be loaded.
    pub fn loading(&self) -> Result<Loading, ElfError> {
        if self.header.machine != MACHINE {
            return Ok(Loading::Foreign);
        }
        let headers = self.table(self.header.program_headers, PROGRAM_HEADER_BYTES)?;
        for header in headers.chunks_exact(usize::from(PROGRAM_HEADER_BYTES)) {
            if u32_at(header, 0)? == PT_INTERP {
                let name = self.read(u64_at(header, 8)?, u64_at(header, 32)?.min(4096))?;
                let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
                return Ok(Loading::Dynamic(String::from_utf8_lossy(name).into_owned()));
            }
        }
        Ok(Loading::Static)
    }

    fn sections(&self) -> Result<Vec<Section>, ElfError> {
        let headers = self.table(self.header.sections, SECTION_HEADER_BYTES)?;
        let section = |header: &[u8]| {
            Ok(Section {
                kind: u32_at(header, 4)?,
                offset: u64_at(header, 24)?,
                bytes: u64_at(header, 32)?,
                link: u32_at(header, 40)?,
            })
        };
        headers.chunks_exact(usize::from(SECTION_HEADER_BYTES)).map(section).collect()
    }

    fn table(&self, place: Place, entry_bytes: u16) -> Result<Vec<u8>, ElfError> {
        self.read(place.offset, u64::from(place.count) * u64::from(entry_bytes))
    }

    fn read(&self, offset: u64, bytes: u64) -> Result<Vec<u8>, ElfError> {
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let length = self.file.metadata()?.len();
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= length);
        if !fits || bytes > TABLE_BYTES {
            return Err(ElfError::Damaged("a table lies outside of it"));
        }
        let bytes =
            usize::try_from(bytes).map_err(|_| ElfError::Damaged("a table is too large"))?;
        let mut read = vec![0; bytes];
        self.file.read_exact_at(&mut read, offset)?;
        Ok(read)
    }
}

/// The number of this kind of machine.
#[cfg(target_arch = "x86_64")]
const MACHINE: u16 = 62;
/// The number of this kind of machine.
#[cfg(target_arch = "aarch64")]
const MACHINE: u16 = 183;

fn place(
    head: &[u8],
    offset: usize,
    entry_bytes: usize,
    count: usize,
    expected: u16,
) -> Result<Place, ElfError> {
    let place = Place { offset: u64_at(head, offset)?, count: u16_at(head, count)? };
    if place.count > 0 && u16_at(head, entry_bytes)? != expected {
        return Err(ElfError::Damaged("headers of an unknown size"));
    }
    Ok(place)
}

fn bytes_at<const N: usize>(bytes: &[u8], offset: usize) -> Result<[u8; N], ElfError> {
    let end = offset.checked_add(N);
    let found = end.and_then(|end| bytes.get(offset..end)).and_then(|part| part.try_into().ok());
    found.ok_or(ElfError::Damaged("an entry ends too early"))
}

fn u16_at(bytes: &[u8], offset: usize) -> Result<u16, ElfError> {
    bytes_at(bytes, offset).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], offset: usize) -> Result<u32, ElfError> {
    bytes_at(bytes, offset).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], offset: usize) -> Result<u64, ElfError> {
    bytes_at(bytes, offset).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn this_program_has_a_loader() {
        let own = Elf::open(&std::env::current_exe().unwrap()).unwrap();
        let Loading::Dynamic(loader) = own.loading().unwrap() else { panic!() };
        assert!(loader.starts_with('/') && loader.contains("ld-"), "{loader}");
        let (major, minor) = own.needed_glibc().unwrap().unwrap();
        assert!(major == 2 && minor >= 2, "{major}.{minor}");
    }

    #[test]
    fn without_a_loader_it_is_static_and_with_other_bits_foreign() {
        let mut own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        own.truncate(64);
        // No program headers and no sections.
        own[56..58].fill(0);
        own[60..62].fill(0);
        let elf = Elf::open(file(&own).path()).unwrap();
        assert_eq!(elf.loading().unwrap(), Loading::Static);
        assert_eq!(elf.needed_glibc().unwrap(), None);
        own[4] = 1;
        assert_eq!(Elf::open(file(&own).path()).unwrap().loading().unwrap(), Loading::Foreign);
    }

    #[test]
    fn what_is_no_elf_file_is_told_from_a_damaged_one() {
        for bytes in [&b""[..], b"#!/bin/sh\n", b"\x7fEL"] {
            assert!(matches!(Elf::open(file(bytes).path()), Err(ElfError::NotElf)));
        }
        assert!(matches!(Elf::open(file(b"\x7fELF\x02\x01").path()), Err(ElfError::Damaged(_))));
        assert!(matches!(Elf::open(Path::new("/nowhere")), Err(ElfError::Io(_))));
    }

    /// Every number of the header, and of what it leads to, set to something else.
    #[test]
    fn no_damage_panics() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let mut head = own[..own.len().min(64 << 10)].to_vec();
        for index in (16..64).chain((64..head.len()).step_by(1021)) {
            let before = head[index];
            for value in [0, 1, 0x7f, 0xff] {
                head[index] = value;
                if let Ok(elf) = Elf::open(file(&head).path()) {
                    let _ = (elf.loading(), elf.exports(), elf.needed_glibc());
                }
            }
            head[index] = before;
        }
    }
}
