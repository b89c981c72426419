//! The commands.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::ptr::null_mut;

use crate::bench;
use crate::cuda::{Cuda, Fault, IpcHandle};
use crate::memory::{Held, Memory};
use crate::nvml::{Nvml, spelled};

const INVALID_VALUE: u32 = 1;
const OUT_OF_MEMORY: u32 = 2;
const STACK: u32 = 0;

/// How the program starts.
#[derive(Debug)]
pub struct Options {
    /// Functions are found by `cuGetProcAddress`, not by `dlsym`.
    pub by_proc_address: bool,
    /// CUDA's number of the device.
    pub device: c_int,
    /// Whether to take the primary context and a stream.
    pub context: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { by_proc_address: false, device: 0, context: true }
    }
}

pub struct Session {
    memory: Memory,
    uuid: [u8; 16],
    nvml: Option<Nvml>,
    held: BTreeMap<u64, Held>,
    next: u64,
}

fn bad(call: &'static str) -> Fault {
    Fault { code: INVALID_VALUE, call }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Fault> {
    text.parse().map_err(|_| bad("number"))
}

/// Numbers that a seed decides: an additive counter, mixed (splitmix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % bound.max(1)
    }
}

impl Session {
    /// Opens the driver and takes the device.
    pub fn start(options: &Options) -> Result<Self, Fault> {
        let cuda = Cuda::open(options.by_proc_address)?;
        let (mut device, mut uuid) = (0, [0; 16]);
        let (mut context, mut stream) = (null_mut(), null_mut());
        // SAFETY: every answer has room.
        unsafe {
            cuda.cuInit(0)?;
            cuda.cuDeviceGet(&raw mut device, options.device)?;
            cuda.cuDeviceGetUuid(&raw mut uuid, device)?;
            if options.context {
                cuda.cuDevicePrimaryCtxRetain(&raw mut context, device)?;
                cuda.cuCtxSetCurrent(context)?;
                cuda.cuStreamCreate(&raw mut stream, 1)?;
            }
        }
        let memory = Memory::new(cuda, device, context, stream);
        Ok(Self { memory, uuid, nvml: None, held: BTreeMap::new(), next: 1 })
    }

    fn nvml(&mut self) -> Result<&Nvml, Fault> {
        if self.nvml.is_none() {
            self.nvml = Some(Nvml::open(self.uuid)?);
        }
        self.nvml.as_ref().ok_or(bad("nvml"))
    }

    fn keep(&mut self, held: Held) -> u64 {
        let id = self.next;
        self.next += 1;
        self.held.insert(id, held);
        id
    }

    /// Does what one line says.
    pub fn obey(&mut self, words: &[&str]) -> Result<String, Fault> {
        match words {
            ["alloc", "context"] => self.alloc("context", 0),
            ["alloc", kind, bytes] => self.alloc(kind, number(bytes)?),
            ["free", "all"] => {
                while let Some((_, held)) = self.held.pop_last() {
                    self.memory.give(held)?;
                }
                Ok(String::new())
            }
            ["free", id] => {
                let held = self.held.remove(&number(id)?).ok_or(bad("id"))?;
                self.memory.give(held).map(|()| String::new())
            }
            ["export", id] => {
                let held = self.held.get(&number(id)?).ok_or(bad("id"))?;
                let handle = self.memory.export(held)?;
                Ok(handle.bytes.iter().map(|byte| format!("{byte:02x}")).collect())
            }
            ["open", text] => {
                let mut handle = IpcHandle { bytes: [0; 64] };
                for (place, byte) in handle.bytes.iter_mut().enumerate() {
                    let digits = text.get(2 * place..2 * place + 2).ok_or(bad("handle"))?;
                    *byte = u8::from_str_radix(digits, 16).map_err(|_| bad("handle"))?;
                }
                let held = self.memory.open(handle)?;
                Ok(self.keep(held).to_string())
            }
            ["info"] => {
                let (mut free, mut total) = (0, 0);
                // SAFETY: both answers have room.
                unsafe { self.memory.cuda.cuMemGetInfo(&raw mut free, &raw mut total) }?;
                Ok(format!("{free} {total}"))
            }
            ["total"] => {
                let mut total = 0;
                let device = self.memory.device;
                // SAFETY: the answer has room.
                unsafe { self.memory.cuda.cuDeviceTotalMem(&raw mut total, device) }?;
                Ok(total.to_string())
            }
            ["nvml"] => {
                let nvml = self.nvml()?;
                let [total, free, used] = nvml.memory()?;
                Ok(format!("{total} {free} {used} {}", nvml.own()?))
            }
            ["name"] => self.nvml()?.name(),
            ["uuid"] => Ok(spelled(self.uuid)),
            ["trim"] => self.memory.trim().map(|()| String::new()),
            ["keep"] => self.memory.keep().map(|()| String::new()),
            ["sync"] => self.memory.sync().map(|()| String::new()),
            ["limit", stack] => {
                // SAFETY: a number is all that it takes.
                unsafe { self.memory.cuda.cuCtxSetLimit(STACK, number(stack)?) }?;
                Ok(String::new())
            }
            ["fork", bytes] => self.fork(number(bytes)?),
            ["exec", bytes] => exec(bytes),
            ["thread", kind, bytes] => self.thread(kind, number(bytes)?),
            ["race", kind, bytes, count] => self.race(kind, number(bytes)?, number(count)?),
            ["churn", seed, steps, bytes, kinds] => {
                let kinds: Vec<&str> = kinds.split(',').collect();
                self.churn(number(seed)?, number(steps)?, number(bytes)?, &kinds)
            }
            ["time", kind, bytes, count] => {
                bench::pairs(&mut self.memory, kind, number(bytes)?, number(count)?)
            }
            ["launch", count] => bench::launches(&self.memory, number(count)?),
            ["graph", count] => bench::graphs(&self.memory, number(count)?),
            _ => Err(bad("command")),
        }
    }

    fn alloc(&mut self, kind: &str, bytes: usize) -> Result<String, Fault> {
        let held = self.memory.take(kind, bytes)?;
        Ok(self.keep(held).to_string())
    }

    /// Takes until it is refused; whatever was taken stays.
    fn race(&mut self, kind: &str, bytes: usize, count: u64) -> Result<String, Fault> {
        for got in 0..count {
            match self.memory.take(kind, bytes) {
                Ok(held) => self.keep(held),
                Err(fault) => return Ok(format!("{got} {}", fault.code)),
            };
        }
        Ok(format!("{count} 0"))
    }

    fn churn(
        &mut self,
        seed: u64,
        steps: u64,
        bytes: u64,
        kinds: &[&str],
    ) -> Result<String, Fault> {
        let mut chance = Chance(seed);
        let (mut got, mut refused) = (0_u64, 0_u64);
        for _ in 0..steps {
            let full = self.held.len() >= 6;
            if full || (!self.held.is_empty() && chance.below(5) < 2) {
                let at = usize::try_from(chance.below(self.held.len() as u64)).unwrap_or(0);
                let id = self.held.keys().nth(at).copied().ok_or(bad("id"))?;
                let held = self.held.remove(&id).ok_or(bad("id"))?;
                self.memory.give(held)?;
                if chance.below(2) == 0 {
                    self.memory.sync()?;
                }
                continue;
            }
            let kind = usize::try_from(chance.below(kinds.len() as u64)).unwrap_or(0);
            let size = usize::try_from(1 + chance.below(bytes)).unwrap_or(1);
            match self.memory.take(kinds[kind], size) {
                Ok(held) => {
                    self.keep(held);
                    got += 1;
                }
                Err(fault) if fault.code == OUT_OF_MEMORY => refused += 1,
                Err(fault) => return Err(fault),
            }
        }
        Ok(format!("{got} {refused}"))
    }

    /// A child of this process without exec: CUDA is not usable there, and asking must do no harm.
    fn fork(&mut self, bytes: usize) -> Result<String, Fault> {
        // SAFETY: this program has no thread of its own, and the child only asks the driver and ends.
        let child = unsafe { libc::fork() };
        if child < 0 {
            return Err(bad("fork"));
        }
        if child == 0 {
            let code = self.memory.take("linear", bytes).map_or_else(|fault| fault.code, |_| 0);
            // SAFETY: ends this process without the parent's exit handlers.
            unsafe { libc::_exit(c_int::try_from(code & 0xff).unwrap_or(255)) };
        }
        let mut status = 0;
        // SAFETY: the child is ours, and the answer has room.
        if unsafe { libc::waitpid(child, &raw mut status, 0) } != child {
            return Err(bad("waitpid"));
        }
        if libc::WIFSIGNALED(status) {
            return Ok(format!("signal {}", libc::WTERMSIG(status)));
        }
        Ok(libc::WEXITSTATUS(status).to_string())
    }

    /// A thread that has no context of its own.
    fn thread(&mut self, kind: &str, bytes: usize) -> Result<String, Fault> {
        struct Lent<'a>(&'a mut Memory);
        // SAFETY: the driver is for many threads, and this one waits while the other uses it.
        unsafe impl Send for Lent<'_> {}
        struct Back(Result<Held, Fault>);
        // SAFETY: handles belong to the process, not to a thread.
        unsafe impl Send for Back {}
        let lent = Lent(&mut self.memory);
        let taken = std::thread::scope(|scope| {
            let work = move || {
                let lent = lent;
                Back(lent.0.take(kind, bytes))
            };
            scope.spawn(work).join()
        });
        let held = taken.map_err(|_| bad("thread"))?.0?;
        Ok(self.keep(held).to_string())
    }
}

/// A child with exec: it takes memory, says so, and ends.
fn exec(bytes: &str) -> Result<String, Fault> {
    let me = std::env::current_exe().map_err(|_| bad("exe"))?;
    let mut child = Command::new(me)
        .args(std::env::args_os().skip(1))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|_| bad("spawn"))?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (mut stdin, stdout) = (stdin.ok_or(bad("stdin"))?, stdout.ok_or(bad("stdout"))?);
    let asked = writeln!(stdin, "alloc linear {bytes}\nquit");
    let lines: Vec<String> = BufReader::new(stdout).lines().map_while(Result::ok).collect();
    let _ = child.wait();
    asked.map_err(|_| bad("child"))?;
    lines.get(1).or(lines.first()).cloned().ok_or(bad("child"))
}
