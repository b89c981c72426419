//! Names in a library: what it exports, and which versions of the C library it needs.

use super::{Elf, ElfError, Section, u16_at, u32_at};

const SHT_DYNSYM: u32 = 11;
const SHT_GNU_VERNEED: u32 = 0x6fff_fffe;
const SYMBOL_BYTES: usize = 24;
/// Symbols for everybody: global and weak ones.
const BINDINGS: [u8; 2] = [1, 2];
/// Functions, and those that choose themselves when they are bound.
const FUNCTIONS: [u8; 2] = [2, 10];
/// Symbols that cannot be seen from outside.
const HIDDEN: [u8; 2] = [1, 2];
/// Versions that one library needs of all others; a few dozen are usual.
const VERSIONS: usize = 10_000;

impl Elf {
    /// The functions that others can call, sorted.
    pub fn exports(&self) -> Result<Vec<String>, ElfError> {
        let sections = self.sections()?;
        let Some(symbols) = sections.iter().find(|section| section.kind == SHT_DYNSYM) else {
            return Err(ElfError::Damaged("it has no table of symbols"));
        };
        let (table, names) = (self.content(symbols)?, self.names_of(symbols, &sections)?);
        let mut exports = Vec::new();
        for symbol in table.chunks_exact(SYMBOL_BYTES) {
            let (info, other, section) = (symbol[4], symbol[5], u16_at(symbol, 6)?);
            let is_export = section != 0
                && BINDINGS.contains(&(info >> 4))
                && FUNCTIONS.contains(&(info & 15))
                && !HIDDEN.contains(&(other & 3));
            if is_export {
                exports.push(name_at(&names, u32_at(symbol, 0)?)?);
            }
        }
        exports.sort_unstable();
        exports.dedup();
        Ok(exports)
    }

    /// The newest glibc that it needs, as major and minor; nothing if it needs none.
    pub fn needed_glibc(&self) -> Result<Option<(u32, u32)>, ElfError> {
        let sections = self.sections()?;
        let Some(needs) = sections.iter().find(|section| section.kind == SHT_GNU_VERNEED) else {
            return Ok(None);
        };
        let (table, names) = (self.content(needs)?, self.names_of(needs, &sections)?);
        let (mut newest, mut library, mut seen) = (None, 0usize, 0);
        loop {
            let count = u16_at(&table, library + 2)?;
            let mut version = advance(library, u32_at(&table, library + 8)?)?;
            for _ in 0..count {
                seen += 1;
                if seen > VERSIONS {
                    return Err(ElfError::Damaged("its needs never end"));
                }
                newest = newest.max(glibc(&name_at(&names, u32_at(&table, version + 8)?)?));
                version = advance(version, u32_at(&table, version + 12)?)?;
            }
            seen += 1;
            let next = u32_at(&table, library + 12)?;
            if next == 0 || seen > VERSIONS {
                return Ok(newest);
            }
            library = advance(library, next)?;
        }
    }

    fn content(&self, section: &Section) -> Result<Vec<u8>, ElfError> {
        self.read(section.offset, section.bytes)
    }

    fn names_of(&self, section: &Section, sections: &[Section]) -> Result<Vec<u8>, ElfError> {
        let index = usize::try_from(section.link).unwrap_or(usize::MAX);
        let names = sections.get(index).ok_or(ElfError::Damaged("its names are missing"))?;
        self.content(names)
    }
}

/// Never so far that adding a field's offset overflows.
fn advance(from: usize, by: u32) -> Result<usize, ElfError> {
    let to = usize::try_from(by).ok().and_then(|by| from.checked_add(by));
    to.filter(|to| *to < usize::MAX / 2).ok_or(ElfError::Damaged("an entry lies outside of it"))
}

fn name_at(names: &[u8], offset: u32) -> Result<String, ElfError> {
    let rest = usize::try_from(offset).ok().and_then(|offset| names.get(offset..));
    let name = rest.and_then(|rest| rest.split(|byte| *byte == 0).next());
    let name = name.ok_or(ElfError::Damaged("a name lies outside of it"))?;
    Ok(String::from_utf8_lossy(name).into_owned())
}

fn glibc(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.strip_prefix("GLIBC_")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_exports_what_everybody_calls() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let libc = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
        let libc = libc.into_iter().find(|path| path.contains("libc.so")).unwrap();
        let exports = Elf::open(libc.as_ref()).unwrap().exports().unwrap();
        for name in ["malloc", "memcpy", "dlsym", "open"] {
            assert!(exports.binary_search(&name.to_owned()).is_ok(), "{name}");
        }
        assert!(!exports.contains(&"environ".to_owned()), "only functions");
    }

    #[test]
    fn versions() {
        assert_eq!(glibc("GLIBC_2.28"), Some((2, 28)));
        assert_eq!(glibc("GLIBC_2.2.5"), Some((2, 2)));
        assert_eq!([glibc("GLIBC_PRIVATE"), glibc("GCC_3.0")], [None, None]);
    }
}
