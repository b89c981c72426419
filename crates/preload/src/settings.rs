//! What the environment says about limits, read once.
//!
//! A limit that cannot be read is not "no limit": it means no memory, and one line that says why.
//! In order: `MILLPOND_LEDGER`, `MILLPOND_MEMORY_LIMIT`, `/etc/vcuda/config.yaml`, `VCUDA_*`,
//! `CUDA_DEVICE_MEMORY_LIMIT*`. The first that states a limit holds.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use millpond_ledger::{BadSize, Size, parse_size};

use crate::message::Level;

/// One environment variable: its name, what it may hold, what it does.
#[derive(Debug)]
pub struct EnvironmentVariable {
    pub name: &'static str,
    /// Its values in words.
    pub values: &'static str,
    pub meaning: &'static str,
}

const LEDGER: &str = "MILLPOND_LEDGER";
const LIMIT: &str = "MILLPOND_MEMORY_LIMIT";
const GROUP: &str = "MILLPOND_GROUP";
const LOG: &str = "MILLPOND_PRELOAD_LOG";
const VCUDA_LIMIT: &str = "VCUDA_MEMORY_LIMIT";
const VCUDA_LOG: &str = "VCUDA_LOG_LEVEL";
const VCUDA_NAME: &str = "VCUDA_DEVICE_NAME";
const HAMI_LIMIT: &str = "CUDA_DEVICE_MEMORY_LIMIT";

/// Every variable that the library reads, first things first.
pub const ENVIRONMENT: &[EnvironmentVariable] = &[
    EnvironmentVariable {
        name: LEDGER,
        values: "a group's folder",
        meaning: "The group whose limit holds; set by `millpond run`",
    },
    EnvironmentVariable {
        name: LIMIT,
        values: "a size such as `10G`, or a part of the card such as `50%`",
        meaning: "The limit, without a daemon",
    },
    EnvironmentVariable {
        name: GROUP,
        values: "a name",
        meaning: "Who shares that limit; else all processes of the user with the same limit",
    },
    EnvironmentVariable {
        name: LOG,
        values: "`off`, `error`, `warn`, `info`, `debug`, `trace`",
        meaning: "What is said on standard error; `error` unless set",
    },
    EnvironmentVariable { name: VCUDA_LIMIT, values: "a size", meaning: "The limit" },
    EnvironmentVariable {
        name: VCUDA_LOG,
        values: "as above",
        meaning: "What is said on standard error",
    },
    EnvironmentVariable {
        name: VCUDA_NAME,
        values: "a text",
        meaning: "The name that every GPU has inside",
    },
    EnvironmentVariable {
        name: HAMI_LIMIT,
        values: "a size, or 0 for none",
        meaning: "The limit on every GPU; with `_0`, `_1`, ... on one, by its CUDA number",
    },
];

/// The file of vcuda-hook, which beats its variables.
const VCUDA_FILE: &CStr = c"/etc/vcuda/config.yaml";

/// The most GPUs that can have a limit of their own.
pub(crate) const ORDINALS: usize = 16;

/// HAMi's variables for single GPUs, by CUDA number.
const HAMI_LIMITS: [&str; ORDINALS] = [
    "CUDA_DEVICE_MEMORY_LIMIT_0",
    "CUDA_DEVICE_MEMORY_LIMIT_1",
    "CUDA_DEVICE_MEMORY_LIMIT_2",
    "CUDA_DEVICE_MEMORY_LIMIT_3",
    "CUDA_DEVICE_MEMORY_LIMIT_4",
    "CUDA_DEVICE_MEMORY_LIMIT_5",
    "CUDA_DEVICE_MEMORY_LIMIT_6",
    "CUDA_DEVICE_MEMORY_LIMIT_7",
    "CUDA_DEVICE_MEMORY_LIMIT_8",
    "CUDA_DEVICE_MEMORY_LIMIT_9",
    "CUDA_DEVICE_MEMORY_LIMIT_10",
    "CUDA_DEVICE_MEMORY_LIMIT_11",
    "CUDA_DEVICE_MEMORY_LIMIT_12",
    "CUDA_DEVICE_MEMORY_LIMIT_13",
    "CUDA_DEVICE_MEMORY_LIMIT_14",
    "CUDA_DEVICE_MEMORY_LIMIT_15",
];

/// A short text without a heap.
#[derive(Clone, Copy)]
pub(crate) struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    pub(crate) const EMPTY: Self = Self { bytes: [0; N], len: 0 };

    /// The text, unless it is too long; a zero always follows it.
    pub(crate) fn new(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; N];
        bytes.get_mut(..text.len()).filter(|_| text.len() < N)?.copy_from_slice(text);
        Some(Self { bytes, len: text.len() })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }

    pub(crate) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }
}

/// Where the limit comes from.
#[derive(Clone, Copy)]
#[allow(clippy::large_enum_variant, reason = "there is one, and no heap to put it on")]
pub(crate) enum Source {
    None,
    /// A group that somebody made.
    Ledger(Text<1024>),
    /// Stated here: for every GPU, and for some by their CUDA number.
    Stated {
        all: Option<Size>,
        some: [Option<Stated>; ORDINALS],
    },
    /// Stated in a way that cannot be understood.
    Bad {
        variable: &'static str,
        text: Text<64>,
        why: Why,
    },
}

/// A limit for one GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stated {
    None,
    Limit(Size),
}

/// Why a limit was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Size(BadSize),
    TooLong,
    Name,
    /// A file that is there and cannot be read to its end.
    File,
}

/// What is in a file of settings.
#[derive(Clone, Copy)]
enum Found<'a> {
    Nothing,
    Text(&'a [u8]),
    /// Something, but not all of it can be read.
    Unreadable,
}

/// What the environment says.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) source: Source,
    pub(crate) group: Text<64>,
    pub(crate) device_name: Text<96>,
    pub(crate) log: Level,
}

impl Settings {
    /// Whether anything is to be hooked at all.
    fn active(&self) -> bool {
        self.limited() || self.device_name.len > 0
    }

    /// Whether memory is limited.
    fn limited(&self) -> bool {
        !matches!(self.source, Source::None)
    }

    /// Whether the limit depends on the cards that the program sees.
    pub(crate) fn needs_devices(&self) -> bool {
        matches!(&self.source, Source::Stated { all, some } if by_device(*all, some))
    }

    fn read<'a>(get: impl Fn(&str) -> Option<&'a [u8]>, file: Found<'_>) -> Self {
        let get = |name: &str| get(name).filter(|value| !value.is_empty());
        let unreadable = matches!(file, Found::Unreadable);
        let file = if let Found::Text(text) = file { text } else { &[] };
        let file_value = |names: &[&str]| names.iter().find_map(|name| yaml_value(file, name));
        let name = file_value(&["device_name", "target_device", "target_device_name"])
            .or_else(|| get(VCUDA_NAME));
        let level = get(LOG).or_else(|| get(VCUDA_LOG)).and_then(Level::parse);
        let mut settings = Settings {
            source: Source::None,
            group: Text::EMPTY,
            // A longer name than NVML can give is cut.
            device_name: name
                .and_then(|name| Text::new(name.get(..95).unwrap_or(name)))
                .unwrap_or(Text::EMPTY),
            log: level.unwrap_or(Level::Error),
        };
        settings.source = if let Some(folder) = get(LEDGER) {
            match Text::new(folder) {
                Some(folder) => Source::Ledger(folder),
                None => bad(LEDGER, folder, Why::TooLong),
            }
        } else if let Some(limit) = get(LIMIT) {
            stated(LIMIT, limit)
        } else if unreadable {
            bad("/etc/vcuda/config.yaml", b"", Why::File)
        } else if let Some(limit) = file_value(&["memory_limit", "memoryLimit"]) {
            stated("/etc/vcuda/config.yaml: memory_limit", limit)
        } else if let Some(limit) = get(VCUDA_LIMIT) {
            stated(VCUDA_LIMIT, limit)
        } else {
            hami(get)
        };
        if let (Source::Stated { .. }, Some(group)) = (&settings.source, get(GROUP)) {
            // Others would be shown, and so named, alike.
            let plain = group.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'/');
            let reserved = group == millpond_ledger::POND.as_bytes();
            if !plain || reserved || group.starts_with(b".") {
                settings.source = bad(GROUP, group, Why::Name);
            } else {
                match Text::new(group) {
                    Some(group) => settings.group = group,
                    None => settings.source = bad(GROUP, group, Why::TooLong),
                }
            }
        }
        settings
    }
}

/// Whether a stated limit is one of single cards.
pub(crate) fn by_device(all: Option<Size>, some: &[Option<Stated>; ORDINALS]) -> bool {
    !matches!(all, Some(Size::Bytes(_))) || some.iter().any(Option::is_some)
}

fn bad(variable: &'static str, text: &[u8], why: Why) -> Source {
    let text = Text::new(text.get(..63).unwrap_or(text)).unwrap_or(Text::EMPTY);
    Source::Bad { variable, text, why }
}

fn stated(variable: &'static str, text: &[u8]) -> Source {
    match parse_size(text.trim_ascii()) {
        Ok(size) => Source::Stated { all: Some(size), some: [None; ORDINALS] },
        Err(why) => bad(variable, text, Why::Size(why)),
    }
}

/// HAMi's variables: one for all GPUs, one for each, and 0 means none.
fn hami<'a>(get: impl Fn(&str) -> Option<&'a [u8]>) -> Source {
    let one = |text: &[u8]| match parse_size(text.trim_ascii()) {
        Ok(size) => Ok(Stated::Limit(size)),
        Err(BadSize::Zero) => Ok(Stated::None),
        Err(why) => Err(why),
    };
    let mut found = false;
    let mut all = None;
    if let Some(text) = get(HAMI_LIMIT) {
        match one(text) {
            Ok(Stated::None) => {}
            Ok(Stated::Limit(size)) => {
                found = true;
                all = Some(size);
            }
            Err(why) => return bad(HAMI_LIMIT, text, Why::Size(why)),
        }
    }
    let mut some = [None; ORDINALS];
    for (name, place) in HAMI_LIMITS.into_iter().zip(&mut some) {
        let Some(text) = get(name) else { continue };
        match one(text) {
            Ok(limit) => {
                found |= limit != Stated::None;
                *place = Some(limit);
            }
            Err(why) => return bad(name, text, Why::Size(why)),
        }
    }
    if found { Source::Stated { all, some } } else { Source::None }
}

/// The value of a key at the start of a line, without quotes and comments.
fn yaml_value<'a>(file: &'a [u8], key: &str) -> Option<&'a [u8]> {
    file.split(|byte| *byte == b'\n').find_map(|line| {
        let rest = line.trim_ascii().strip_prefix(key.as_bytes())?;
        let value = rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii();
        let value = match value {
            [quote @ (b'"' | b'\''), rest @ ..] => {
                rest.split(|byte| byte == quote).next().unwrap_or(rest)
            }
            plain => plain.split(|byte| *byte == b'#').next().unwrap_or(plain).trim_ascii(),
        };
        (!value.is_empty()).then_some(value)
    })
}

static SETTINGS: AtomicPtr<Settings> = AtomicPtr::new(core::ptr::null_mut());

/// The settings, read at the first call and the same for good, in forked children too.
///
/// `None` while the C library has not set up the environment.
pub(crate) fn get() -> Option<&'static Settings> {
    let known = SETTINGS.load(Ordering::Acquire);
    if known.is_null() {
        return read_once();
    }
    // SAFETY: only ever set to a mapping that is written before and never changed or unmapped.
    Some(unsafe { &*known })
}

unsafe extern "C" {
    static environ: *const *const c_char;
}

#[cold]
fn read_once() -> Option<&'static Settings> {
    // SAFETY: the C library's own variable.
    if unsafe { environ }.is_null() {
        return None;
    }
    let mut file = [0_u8; 4096];
    let settings = Settings::read(variable, read_file(VCUDA_FILE, &mut file));
    // Threads that come here at once read the same; the first one's answer stays.
    let place = crate::state::map::<Settings>(false)?;
    // SAFETY: a fresh mapping of the right size that nobody else knows.
    unsafe { place.write(settings) };
    let order = (Ordering::AcqRel, Ordering::Acquire);
    let kept =
        match SETTINGS.compare_exchange(core::ptr::null_mut(), place.as_ptr(), order.0, order.1) {
            Ok(_) => place.as_ptr(),
            Err(first) => {
                crate::state::unmap(place);
                first
            }
        };
    // SAFETY: as in `get`.
    Some(unsafe { &*kept })
}

/// A variable of the environment, without the C library's own look-up, which another library may
/// have replaced.
fn variable(name: &str) -> Option<&'static [u8]> {
    // SAFETY: `environ` is a list of texts that ends with null; whoever changes it while another
    // thread reads it breaks the same rule for every reader.
    unsafe {
        let mut at = environ;
        while !at.is_null() && !(*at).is_null() {
            let entry = CStr::from_ptr(*at).to_bytes();
            if let Some(value) =
                entry.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b"="))
            {
                return Some(value);
            }
            at = at.add(1);
        }
    }
    None
}

fn read_file<'a>(path: &CStr, into: &'a mut [u8]) -> Found<'a> {
    // SAFETY: the path ends with a zero and the buffer is ours; errno is the program's and stays.
    let (missing, read) = unsafe {
        let errno = *libc::__errno_location();
        let fd = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        let missing = fd < 0 && matches!(*libc::__errno_location(), libc::ENOENT | libc::ENOTDIR);
        let mut read = -1;
        if fd >= 0 {
            read = libc::read(fd, into.as_mut_ptr().cast(), into.len());
            libc::close(fd);
        }
        *libc::__errno_location() = errno;
        (missing, read)
    };
    if missing {
        return Found::Nothing;
    }
    // What fills the buffer may go on behind it.
    match usize::try_from(read).ok().filter(|read| *read < into.len()) {
        Some(read) => Found::Text(into.get(..read).unwrap_or(&[])),
        None => Found::Unreadable,
    }
}

/// Whether anything is hooked.
#[inline]
pub(crate) fn active() -> bool {
    get().is_some_and(Settings::active)
}

/// What [`limited`] answers, apart from the settings and their page: every hook asks first.
static LIMITED: AtomicU32 = AtomicU32::new(UNKNOWN);
const UNKNOWN: u32 = 0;
const NO: u32 = 1;
const YES: u32 = 2;

/// Whether memory is limited.
#[inline]
pub(crate) fn limited() -> bool {
    match LIMITED.load(Ordering::Relaxed) {
        UNKNOWN => look_whether_limited(),
        known => known == YES,
    }
}

#[cold]
fn look_whether_limited() -> bool {
    let Some(settings) = get() else { return false };
    let limited = settings.limited();
    LIMITED.store(if limited { YES } else { NO }, Ordering::Relaxed);
    limited
}

pub(crate) fn log_level() -> Level {
    get().map_or(Level::Error, |settings| settings.log)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn read(pairs: &[(&str, &'static str)], file: &str) -> Settings {
        let pairs: Vec<_> = pairs.to_vec();
        Settings::read(
            |name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.as_bytes()),
            Found::Text(file.as_bytes()),
        )
    }

    fn all(settings: &Settings) -> Option<Size> {
        match settings.source {
            Source::Stated { all, .. } => all,
            _ => None,
        }
    }

    #[test]
    fn nothing_stated_is_nothing_hooked() {
        assert!(!read(&[], "").active());
        assert!(!read(&[("MILLPOND_MEMORY_LIMIT", "")], "").active());
        assert!(!read(&[("MILLPOND_GROUP", "team")], "").active());
        assert!(
            !read(&[("CUDA_DEVICE_MEMORY_LIMIT", "0"), ("CUDA_DEVICE_MEMORY_LIMIT_0", "0")], "")
                .active()
        );
        assert!(read(&[("VCUDA_DEVICE_NAME", "X")], "").active());
    }

    #[test]
    fn the_first_that_states_a_limit_holds() {
        let every = [
            ("MILLPOND_LEDGER", "/run/group"),
            ("MILLPOND_MEMORY_LIMIT", "10G"),
            ("VCUDA_MEMORY_LIMIT", "5G"),
            ("CUDA_DEVICE_MEMORY_LIMIT", "4g"),
        ];
        let file = "# vcuda\nmemory_limit: \"7G\"  # seven\ndevice_name: Tiny\n";
        let settings = read(&every, file);
        assert!(
            matches!(settings.source, Source::Ledger(folder) if folder.as_bytes() == b"/run/group")
        );
        assert_eq!(settings.device_name.as_bytes(), b"Tiny");
        assert_eq!(all(&read(&every[1..], file)), Some(Size::Bytes(10 << 30)));
        assert_eq!(all(&read(&every[2..], file)), Some(Size::Bytes(7 << 30)));
        assert_eq!(all(&read(&every[2..], "")), Some(Size::Bytes(5 << 30)));
        assert_eq!(all(&read(&every[3..], "")), Some(Size::Bytes(4 << 30)));
    }

    #[test]
    fn garbage_is_never_no_limit() {
        for text in ["0", "-1", "0.5", "ten", "10X", "10G extra", "999999999999T"] {
            let settings = read(&[("MILLPOND_MEMORY_LIMIT", text)], "");
            assert!(matches!(settings.source, Source::Bad { variable: LIMIT, .. }), "{text}");
            assert!(settings.active());
        }
        for name in ["a/b", "..", "caf\u{e9}", "a\nb", "pond"] {
            let settings = read(&[("MILLPOND_MEMORY_LIMIT", "1G"), ("MILLPOND_GROUP", name)], "");
            let bad =
                matches!(settings.source, Source::Bad { variable: GROUP, why: Why::Name, .. });
            assert!(bad, "{name}");
        }
    }

    #[test]
    fn one_gpu_may_have_its_own_limit() {
        let settings = read(
            &[
                ("CUDA_DEVICE_MEMORY_LIMIT", "1g"),
                ("CUDA_DEVICE_MEMORY_LIMIT_1", "512m"),
                ("CUDA_DEVICE_MEMORY_LIMIT_12", "0"),
            ],
            "",
        );
        let Source::Stated { all, some } = settings.source else { panic!() };
        assert_eq!(all, Some(Size::Bytes(1 << 30)));
        assert_eq!(some[0], None);
        assert_eq!(some[1], Some(Stated::Limit(Size::Bytes(512 << 20))));
        assert_eq!(some[12], Some(Stated::None));
    }

    #[test]
    fn a_bad_limit_of_one_gpu_is_named() {
        let settings = read(&[("CUDA_DEVICE_MEMORY_LIMIT_1", "much")], "");
        let Source::Bad { variable, .. } = settings.source else { panic!() };
        assert_eq!(variable, "CUDA_DEVICE_MEMORY_LIMIT_1");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_not_no_file() {
        let mut buffer = [0; 64];
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| {
            std::ffi::CString::new(folder.path().join(name).into_os_string().into_encoded_bytes())
                .unwrap()
        };
        assert!(matches!(read_file(&path("none"), &mut buffer), Found::Nothing));
        std::fs::write(folder.path().join("short"), "memory_limit: 1G\n").unwrap();
        assert!(matches!(read_file(&path("short"), &mut buffer), Found::Text(_)));
        std::fs::write(folder.path().join("long"), "#".repeat(100)).unwrap();
        assert!(matches!(read_file(&path("long"), &mut buffer), Found::Unreadable));
        assert!(matches!(read_file(&path(""), &mut buffer), Found::Unreadable), "a folder");
        let source = |get: &[(&str, &'static str)]| {
            let get = |name: &str| get.iter().find(|it| it.0 == name).map(|it| it.1.as_bytes());
            Settings::read(get, Found::Unreadable).source
        };
        assert!(matches!(source(&[]), Source::Bad { why: Why::File, .. }));
        assert!(matches!(source(&[("VCUDA_MEMORY_LIMIT", "1G")]), Source::Bad { .. }));
        assert!(matches!(source(&[("MILLPOND_MEMORY_LIMIT", "1G")]), Source::Stated { .. }));
    }

    #[test]
    fn levels() {
        assert_eq!(read(&[], "").log, Level::Error);
        assert_eq!(read(&[("VCUDA_LOG_LEVEL", "debug")], "").log, Level::Debug);
        assert_eq!(
            read(&[("VCUDA_LOG_LEVEL", "debug"), ("MILLPOND_PRELOAD_LOG", "OFF")], "").log,
            Level::Off
        );
    }
}
