//! Modules: enough of PTX to know which kernels a text has, and which of them can run.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use millpond_cuda::sys::Status;

use super::ids;

/// The one kernel that the software driver can run, and its number of 64-bit parameters.
pub const TOUCH: (&str, usize) = ("millpond_touch", 5);

/// A kernel of a loaded module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub parameters: usize,
    /// True when it only returns.
    pub is_empty: bool,
}

#[derive(Debug)]
struct Function {
    module: u64,
    entry: Entry,
}

/// All modules of this process.
#[derive(Debug, Default)]
pub struct Modules {
    modules: RwLock<HashMap<u64, Vec<Entry>>>,
    functions: RwLock<HashMap<u64, Function>>,
}

impl Modules {
    /// `cuModuleLoadData` of an image that is text.
    pub fn load(&self, image: &[u8]) -> Result<u64, Status> {
        let entries = parse(image)?;
        let id = ids::next();
        self.modules.write().unwrap_or_else(PoisonError::into_inner).insert(id, entries);
        Ok(id)
    }

    /// `cuModuleUnload`: its functions go with it.
    pub fn unload(&self, id: u64) -> Result<(), Status> {
        let removed = self.modules.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
        removed.ok_or(Status::INVALID_HANDLE)?;
        self.functions
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|_, function| function.module != id);
        Ok(())
    }

    /// `cuModuleGetFunction`: the same number each time.
    pub fn function(&self, module: u64, name: &[u8]) -> Result<u64, Status> {
        let modules = self.modules.read().unwrap_or_else(PoisonError::into_inner);
        let entries = modules.get(&module).ok_or(Status::INVALID_HANDLE)?;
        let entry =
            entries.iter().find(|entry| entry.name.as_bytes() == name).ok_or(Status::NOT_FOUND)?;
        let mut functions = self.functions.write().unwrap_or_else(PoisonError::into_inner);
        let known = functions
            .iter()
            .find(|(_, function)| function.module == module && function.entry == *entry);
        if let Some((id, _)) = known {
            return Ok(*id);
        }
        let id = ids::next();
        functions.insert(id, Function { module, entry: entry.clone() });
        Ok(id)
    }

    /// The kernel behind a function.
    pub fn entry(&self, function: u64) -> Result<Entry, Status> {
        let functions = self.functions.read().unwrap_or_else(PoisonError::into_inner);
        functions
            .get(&function)
            .map(|function| function.entry.clone())
            .ok_or(Status::INVALID_HANDLE)
    }
}

/// The kernels of a PTX text.
fn parse(image: &[u8]) -> Result<Vec<Entry>, Status> {
    if image.starts_with(b"\x7fELF") || image.starts_with(&0xba55_ed50_u32.to_le_bytes()) {
        return Err(Status::NOT_SUPPORTED);
    }
    let text = std::str::from_utf8(image).map_err(|_| Status::INVALID_IMAGE)?;
    let text = without_comments(text);
    if !text.trim_start().starts_with(".version") {
        return Err(Status::INVALID_IMAGE);
    }
    let depth = |open: char, close: char| text.matches(open).count() == text.matches(close).count();
    if !text.contains(".target") || !depth('{', '}') || !depth('(', ')') {
        return Err(Status::INVALID_PTX);
    }
    let mut entries = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(".entry") {
        rest = rest.get(at + ".entry".len()..).unwrap_or_default();
        let head = rest.split('{').next().unwrap_or_default();
        let name = head.split('(').next().unwrap_or_default().trim();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
        if name.is_empty() || !name.chars().all(is_name) || !rest.contains('{') {
            return Err(Status::INVALID_PTX);
        }
        let body = rest.split(['{', '}']).nth(1).unwrap_or_default();
        entries.push(Entry {
            name: name.to_owned(),
            parameters: head.matches(".param").count(),
            is_empty: matches!(body.trim(), "" | "ret;"),
        });
    }
    Ok(entries)
}

fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        let (before, comment) = rest.split_at(at);
        kept.push_str(before);
        kept.push(' ');
        let end = if comment.starts_with("//") {
            comment.find('\n')
        } else {
            comment.find("*/").map(|end| end + 2)
        };
        rest = comment.get(end.unwrap_or(comment.len())..).unwrap_or_default();
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "// made by hand\n.version 7.0\n.target sm_70\n.address_size 64\n/* .entry no() */\n\
        .visible .entry one(.param .u64 a, .param .u32 b)\n{\nret;\n}\n.entry two\n{ bar.sync 0; ret; }\n";

    #[test]
    fn entries_and_their_parameters() {
        let entries = parse(GOOD.as_bytes()).unwrap();
        assert_eq!(
            entries,
            [
                Entry { name: "one".into(), parameters: 2, is_empty: true },
                Entry { name: "two".into(), parameters: 0, is_empty: false }
            ]
        );
    }

    #[test]
    fn what_is_no_ptx() {
        for (image, status) in [
            (&b""[..], Status::INVALID_IMAGE),
            (b"hello", Status::INVALID_IMAGE),
            (b"\xff\xfe", Status::INVALID_IMAGE),
            (b"\x7fELF\x02", Status::NOT_SUPPORTED),
            (b".version 7.0\n.target sm_70\n.entry x( nonsense", Status::INVALID_PTX),
            (b".version 7.0\n.target sm_70\n.entry x()", Status::INVALID_PTX),
        ] {
            assert_eq!(parse(image), Err(status), "{image:?}");
        }
    }

    #[test]
    fn functions_end_with_their_module() {
        let modules = Modules::default();
        let module = modules.load(GOOD.as_bytes()).unwrap();
        let function = modules.function(module, b"one").unwrap();
        assert_eq!(modules.function(module, b"one"), Ok(function));
        assert_eq!(modules.function(module, b"on"), Err(Status::NOT_FOUND));
        assert_eq!(modules.entry(function).unwrap().parameters, 2);
        modules.unload(module).unwrap();
        assert_eq!(modules.entry(function), Err(Status::INVALID_HANDLE));
        assert_eq!(modules.unload(module), Err(Status::INVALID_HANDLE));
    }
}
