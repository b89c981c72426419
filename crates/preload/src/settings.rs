//! What the environment and the machine's file say about limits, read once.
//!
//! The smallest stated limit holds, wherever it is stated: a user's variable raises nothing. A
//! limit that cannot be read is not "no limit": it means no memory, and one line that says why.

use core::ffi::CStr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use millpond_ledger::{BadSize, Size, parse_size};

use crate::config_file::{
    CONFIG_FILE, CONFIG_FILE_BYTES, CONFIG_FILE_NAME, ConfigFile, Problem, parse_config_file,
};
use crate::environment::{
    GROUP, HAMI_LIMIT, HAMI_LIMITS, HAMI_LOG, LEDGER, LIMIT, LOG, ORDINALS, VCUDA_LIMIT, VCUDA_LOG,
    VCUDA_NAME, is_there, variable,
};
use crate::message::Level;

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

    /// As much of the text as there is room for.
    fn cut(text: &[u8]) -> Self {
        Self::new(text.get(..N - 1).unwrap_or(text)).unwrap_or(Self::EMPTY)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }

    pub(crate) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }
}

/// Which limit holds.
#[derive(Clone, Copy)]
#[allow(clippy::large_enum_variant, reason = "there is one, and no heap to put it on")]
pub(crate) enum Source {
    None,
    /// The limit of a group that is there, and [`Settings::stated`] if that is smaller.
    Ledger(Text<1024>),
    /// [`Settings::stated`], in a group that the first process makes.
    Stated,
    /// Stated in a way that cannot be understood.
    Bad(Bad),
}

/// A limit that was not understood.
#[derive(Clone, Copy)]
pub(crate) struct Bad {
    /// The variable, or the file.
    pub(crate) place: &'static str,
    pub(crate) text: Text<64>,
    pub(crate) why: Why,
}

/// Why a limit was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    Size(BadSize),
    TooLong,
    Name,
    /// A file that is there and cannot be read to its end.
    File,
    /// What is wrong in which line of a file.
    Line(u32, Problem),
}

/// A limit and where it is stated.
pub(crate) type Statement = Option<(&'static str, Size)>;

/// Where a limit for every GPU can be stated; the file first, HAMi's variable last.
const PLACES: [&str; 4] = [CONFIG_FILE_NAME, LIMIT, VCUDA_LIMIT, HAMI_LIMIT];

/// What is stated here, apart from any group.
#[derive(Clone, Copy, Default)]
pub(crate) struct Stated {
    /// For every GPU, by [`PLACES`].
    every: [Option<Size>; PLACES.len()],
    /// HAMi's variables for single GPUs, by CUDA number; each in place of its variable for all.
    own: [Option<Own>; ORDINALS],
}

/// HAMi's limit of one GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Own {
    None,
    Limit(Size),
}

impl Stated {
    fn is_empty(&self) -> bool {
        let is_limit = |own: &Option<Own>| matches!(own, Some(Own::Limit(_)));
        self.every.iter().all(Option::is_none) && !self.own.iter().any(is_limit)
    }

    pub(crate) fn differs_by_number(&self) -> bool {
        self.own.iter().any(Option::is_some)
    }

    /// The limit in bytes where it is the same on every card.
    pub(crate) fn same_everywhere(&self) -> Option<u64> {
        let depends = |size: &&Size| matches!(size, Size::Permille(_));
        let every = || self.every.iter().flatten();
        if self.differs_by_number() || every().any(|size| depends(&size)) {
            return None;
        }
        every().map(|size| size.of(0)).min()
    }

    /// Every limit on a GPU; without a number, on one that the program does not see.
    pub(crate) fn on(&self, ordinal: Option<usize>) -> [Statement; PLACES.len()] {
        let mut found = [None; PLACES.len()];
        for ((place, name), size) in found.iter_mut().zip(PLACES).zip(self.every) {
            *place = size.map(|size| (name, size));
        }
        let own = ordinal.and_then(|ordinal| Some((ordinal, (*self.own.get(ordinal)?)?)));
        if let (Some((ordinal, own)), [.., last]) = (own, &mut found) {
            let name = HAMI_LIMITS.get(ordinal).copied().unwrap_or(HAMI_LIMIT);
            *last = match own {
                Own::None => None,
                Own::Limit(size) => Some((name, size)),
            };
        }
        found
    }
}

/// The smallest limit on a card of that size, in bytes, and where it is stated.
pub(crate) fn least(of: &[Statement], card: u64) -> Option<(&'static str, u64)> {
    of.iter().flatten().map(|(place, size)| (*place, size.of(card))).min_by_key(|found| found.1)
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
    pub(crate) stated: Stated,
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
        matches!(self.source, Source::Stated) && self.stated.same_everywhere().is_none()
    }

    /// What holds on a GPU besides the limit of the group. A group that a variable has made may be
    /// given another limit later; the machine's file holds all the same.
    pub(crate) fn caps(&self, ordinal: Option<usize>) -> [Statement; PLACES.len()] {
        let mut found = self.stated.on(ordinal);
        if let (Source::Stated, [_file, variables @ ..]) = (&self.source, &mut found) {
            variables.fill(None);
        }
        found
    }

    fn read<'a>(get: impl Fn(&str) -> Option<&'a [u8]>, file: Found<'_>) -> Self {
        let get = |name: &str| get(name).filter(|value| !value.is_empty());
        let file = read_config(file);
        let name = file.as_ref().ok().and_then(|file| file.device_name).or_else(|| get(VCUDA_NAME));
        let level = get(LOG).or_else(|| get(VCUDA_LOG)).or_else(|| get(HAMI_LOG));
        let mut settings = Settings {
            source: Source::None,
            stated: Stated::default(),
            group: Text::EMPTY,
            // A longer name than NVML can give is cut.
            device_name: name.map_or(Text::EMPTY, Text::cut),
            log: level.and_then(Level::parse).unwrap_or(Level::Warn),
        };
        match settings.limits(&get, file) {
            Ok(source) => settings.source = source,
            Err(bad) => settings.source = Source::Bad(bad),
        }
        settings
    }

    /// Reads every place: a limit that is not understood means no memory, wherever it is stated.
    fn limits<'a>(
        &mut self,
        get: &impl Fn(&str) -> Option<&'a [u8]>,
        file: Result<ConfigFile<'_>, Bad>,
    ) -> Result<Source, Bad> {
        let variable = |name| get(name).map(|text| stated(name, text)).transpose();
        let hami = |name| get(name).map(|text| own(name, text)).transpose();
        self.stated.every = [
            file?.memory_limit,
            variable(LIMIT)?,
            variable(VCUDA_LIMIT)?,
            match hami(HAMI_LIMIT)? {
                Some(Own::Limit(size)) => Some(size),
                Some(Own::None) | None => None,
            },
        ];
        for (name, place) in HAMI_LIMITS.into_iter().zip(&mut self.stated.own) {
            *place = hami(name)?;
        }
        if let Some(folder) = get(LEDGER) {
            return match Text::new(folder) {
                Some(folder) => Ok(Source::Ledger(folder)),
                None => Err(bad(LEDGER, folder, Why::TooLong)),
            };
        }
        if self.stated.is_empty() {
            return Ok(Source::None);
        }
        if let Some(group) = get(GROUP) {
            // Others would be shown, and so named, alike.
            let plain = group.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'/');
            let reserved = group == millpond_ledger::POND.as_bytes();
            if !plain || reserved || group.starts_with(b".") {
                return Err(bad(GROUP, group, Why::Name));
            }
            self.group = Text::new(group).ok_or(bad(GROUP, group, Why::TooLong))?;
        }
        Ok(Source::Stated)
    }
}

fn bad(place: &'static str, text: &[u8], why: Why) -> Bad {
    Bad { place, text: Text::cut(text), why }
}

fn read_config(file: Found<'_>) -> Result<ConfigFile<'_>, Bad> {
    match file {
        Found::Nothing => Ok(ConfigFile::default()),
        Found::Unreadable => Err(bad(CONFIG_FILE_NAME, b"", Why::File)),
        Found::Text(text) => parse_config_file(text)
            .map_err(|it| bad(CONFIG_FILE_NAME, it.text, Why::Line(it.line, it.problem))),
    }
}

fn stated(name: &'static str, text: &[u8]) -> Result<Size, Bad> {
    parse_size(text).map_err(|why| bad(name, text, Why::Size(why)))
}

/// HAMi's variables: 0 means none.
fn own(name: &'static str, text: &[u8]) -> Result<Own, Bad> {
    match parse_size(text) {
        Ok(size) => Ok(Own::Limit(size)),
        Err(BadSize::Zero) => Ok(Own::None),
        Err(why) => Err(bad(name, text, Why::Size(why))),
    }
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

#[cold]
fn read_once() -> Option<&'static Settings> {
    if !is_there() {
        return None;
    }
    // One byte more, which shows that a file is too long.
    let mut file = [0_u8; CONFIG_FILE_BYTES + 1];
    let settings = Settings::read(variable, read_file(CONFIG_FILE, &mut file));
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

fn read_file<'a>(path: &CStr, into: &'a mut [u8]) -> Found<'a> {
    // SAFETY: errno is the program's and stays.
    let errno = unsafe { *libc::__errno_location() };
    let found = read_file_as_errno_is(path, into);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    match found {
        Ok(None) => Found::Nothing,
        // What fills the buffer may go on behind it.
        Ok(Some(len)) if len < into.len() => Found::Text(into.get(..len).unwrap_or(&[])),
        Ok(Some(_)) | Err(()) => Found::Unreadable,
    }
}

/// How much of a file there is; `None` without one.
fn read_file_as_errno_is(path: &CStr, into: &mut [u8]) -> Result<Option<usize>, ()> {
    // A pipe must not be waited for.
    let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: the path ends with a zero.
    let fd = unsafe { libc::open(path.as_ptr(), flags) };
    if fd < 0 {
        // SAFETY: the C library's own variable.
        let missing = matches!(unsafe { *libc::__errno_location() }, libc::ENOENT | libc::ENOTDIR);
        // A link that leads nowhere is a file that cannot be read.
        let mut target = [0_u8; 1];
        let place = target.as_mut_ptr().cast();
        // SAFETY: the path ends with a zero, and the buffer has the length that is said.
        let is_link = unsafe { libc::readlink(path.as_ptr(), place, target.len()) } >= 0;
        return if missing && !is_link { Ok(None) } else { Err(()) };
    }
    let mut len = 0;
    let read = loop {
        let rest = into.get_mut(len..).unwrap_or(&mut []);
        // SAFETY: the buffer is ours and has the length that is said.
        let read = unsafe { libc::read(fd, rest.as_mut_ptr().cast(), rest.len()) };
        match usize::try_from(read) {
            // The end, or the buffer is full.
            Ok(0) => break Ok(Some(len)),
            Ok(more) => len += more,
            // SAFETY: the C library's own variable.
            Err(_) if unsafe { *libc::__errno_location() } == libc::EINTR => {}
            Err(_) => break Err(()),
        }
    };
    // SAFETY: our own descriptor.
    unsafe { libc::close(fd) };
    read
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
    get().map_or(Level::Warn, |settings| settings.log)
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
            if file.is_empty() { Found::Nothing } else { Found::Text(file.as_bytes()) },
        )
    }

    /// The smallest limit on a card of 16 GiB, in MiB, and where it is stated.
    fn smallest(settings: &Settings) -> Option<(&'static str, u64)> {
        let stated = settings.stated.on(Some(0));
        least(&stated, 16 << 30).map(|(place, bytes)| (place, bytes >> 20))
    }

    fn bad_place(settings: &Settings) -> Option<&'static str> {
        match &settings.source {
            Source::Bad(bad) => Some(bad.place),
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
    fn the_smallest_limit_holds_wherever_it_is_stated() {
        let every = [
            ("MILLPOND_MEMORY_LIMIT", "4G"),
            ("VCUDA_MEMORY_LIMIT", "50%"),
            ("CUDA_DEVICE_MEMORY_LIMIT", "6g"),
        ];
        let file = "# vcuda\nmemory_limit: \"7G\"  # seven\ndevice_name: Tiny\n";
        assert_eq!(smallest(&read(&every, file)), Some((LIMIT, 4 << 10)));
        assert_eq!(smallest(&read(&every[1..], file)), Some((HAMI_LIMIT, 6 << 10)));
        assert_eq!(smallest(&read(&every[1..2], file)), Some((CONFIG_FILE_NAME, 7 << 10)));
        assert_eq!(smallest(&read(&every[1..2], "")), Some((VCUDA_LIMIT, 8 << 10)));
        assert_eq!(smallest(&read(&[], file)), Some((CONFIG_FILE_NAME, 7 << 10)));
        let own = [("CUDA_DEVICE_MEMORY_LIMIT_0", "2G"), ("CUDA_DEVICE_MEMORY_LIMIT", "1G")];
        let one = Some(("CUDA_DEVICE_MEMORY_LIMIT_0", 2 << 10));
        assert_eq!(smallest(&read(&own, file)), one, "in place of the limit for all");
        let group = [&every[..], &[("MILLPOND_LEDGER", "/run/group")]].concat();
        let settings = read(&group, file);
        assert!(matches!(settings.source, Source::Ledger(it) if it.as_bytes() == b"/run/group"));
        assert_eq!(smallest(&settings), Some((LIMIT, 4 << 10)));
        assert_eq!(settings.device_name.as_bytes(), b"Tiny");
    }

    #[test]
    fn a_group_that_a_variable_made_can_be_raised_to_the_machines_limit_and_no_further() {
        let cap = |settings: &Settings| least(&settings.caps(Some(0)), 16 << 30);
        let file = "memory_limit: 7G\n";
        let alone = read(&[("MILLPOND_MEMORY_LIMIT", "4G")], file);
        assert_eq!(cap(&alone), Some((CONFIG_FILE_NAME, 7 << 30)));
        assert_eq!(cap(&read(&[("MILLPOND_MEMORY_LIMIT", "4G")], "")), None);
        let group = [("MILLPOND_MEMORY_LIMIT", "4G"), ("MILLPOND_LEDGER", "/run/group")];
        assert_eq!(cap(&read(&group, file)), Some((LIMIT, 4 << 30)));
    }

    #[test]
    fn garbage_is_never_no_limit() {
        for text in ["0", "-1", "0.5", "ten", "10X", "10G extra", "999999999999T"] {
            let settings = read(&[("MILLPOND_MEMORY_LIMIT", text)], "");
            assert_eq!(bad_place(&settings), Some(LIMIT), "{text}");
            assert!(settings.active());
        }
        for name in ["a/b", "..", "caf\u{e9}", "a\nb", "pond"] {
            let settings = read(&[("MILLPOND_MEMORY_LIMIT", "1G"), ("MILLPOND_GROUP", name)], "");
            assert_eq!(bad_place(&settings), Some(GROUP), "{name}");
        }
    }

    #[test]
    fn a_limit_that_is_not_understood_is_an_error_beside_every_other() {
        let good = [
            ("MILLPOND_LEDGER", "/run/group"),
            ("MILLPOND_MEMORY_LIMIT", "1G"),
            ("VCUDA_MEMORY_LIMIT", "1G"),
            ("CUDA_DEVICE_MEMORY_LIMIT", "1G"),
            ("CUDA_DEVICE_MEMORY_LIMIT_1", "1G"),
        ];
        for (place, name) in good.iter().map(|pair| pair.0).enumerate().skip(1) {
            let mut variables = good;
            variables[place].1 = "much";
            assert_eq!(bad_place(&read(&variables, "memory_limit: 1G")), Some(name));
        }
        let unread = read(&good, "{memory_limit: 1G}");
        let Source::Bad(bad) = unread.source else { panic!() };
        assert_eq!((bad.place, bad.why), (CONFIG_FILE_NAME, Why::Line(1, Problem::Key)));
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
        let on = |place| least(&settings.stated.on(place), 0).map(|found| found.1 >> 20);
        assert_eq!([on(Some(0)), on(Some(1)), on(Some(12))], [Some(1024), Some(512), None]);
        assert_eq!([on(None), on(Some(99))], [Some(1024), Some(1024)]);
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
        std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
        assert!(matches!(read_file(&path("link"), &mut buffer), Found::Unreadable));
        // SAFETY: the path ends with a zero.
        assert_eq!(unsafe { libc::mkfifo(path("pipe").as_ptr(), 0o600) }, 0);
        assert!(matches!(read_file(&path("pipe"), &mut buffer), Found::Text(b"")), "nobody waits");
        let none = Settings::read(|_| None, Found::Unreadable);
        assert!(matches!(none.source, Source::Bad(Bad { why: Why::File, .. })));
    }

    #[test]
    fn levels() {
        assert_eq!(read(&[], "").log, Level::Warn);
        assert_eq!(read(&[("VCUDA_LOG_LEVEL", "debug")], "").log, Level::Debug);
        assert_eq!(
            read(&[("VCUDA_LOG_LEVEL", "debug"), ("MILLPOND_PRELOAD_LOG", "OFF")], "").log,
            Level::Off
        );
        for (number, level) in [("0", Level::Error), ("2", Level::Warn), ("4", Level::Debug)] {
            assert_eq!(read(&[("LIBCUDA_LOG_LEVEL", number)], "").log, level);
        }
    }
}
