//! The worker process: does what it is told, one order after the other.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use millpond::{Dtype, GetOptions, Pond, Tensor, TensorSpec};
use millpond_cuda::{
    Access, AddressRange, Allocation, Context, Device, Driver, DriverChoice, DriverKind, Mapping,
    Nvml,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::content::{self, CHUNK_BYTES, Content};
use super::protocol::{Answer, Card, Order, Spun};
use crate::args::{Global, WorkerArgs};
use crate::error::{CommandError, Outcome, failed, wrong};
use crate::printer::Printer;

/// How much one read of a spinning worker reads.
const SPIN_BYTES: usize = 1 << 20;
/// How long it may take to tell the pond that nothing is mapped any longer.
const FLUSH: Duration = Duration::from_secs(10);

/// What a worker has.
struct Worker {
    label: String,
    global: Global,
    pond: Option<Pond>,
    driver: Option<Driver>,
    meter: Option<(Device, Meter)>,
    context: Option<Context>,
    tensors: Vec<Tensor>,
}

/// Who says how much of the card is used.
enum Meter {
    Nvml(millpond_cuda::NvmlDevice),
    /// Where there is no NVML: a context of one's own, which itself counts.
    Context(Context),
}

/// Works until its standard input ends.
pub fn run(args: &WorkerArgs, global: &Global, printer: &Printer) -> Outcome {
    let mut worker = Worker {
        label: args.label.clone(),
        global: global.clone(),
        pond: None,
        driver: None,
        meter: None,
        context: None,
        tensors: Vec::new(),
    };
    let mut orders = Orders::default();
    while let Some(order) = orders.next()? {
        let answer = match order {
            Order::Spin => {
                answer(printer, &Answer::Done)?;
                match worker.spin(&orders) {
                    // What ended the spinning is the order to rest.
                    Ok(spun) => orders.next()?.map_or(Answer::Done, |_| Answer::Spun(spun)),
                    Err(error) => Answer::Failed(error.to_string()),
                }
            }
            order => worker
                .obey(order)
                .unwrap_or_else(|error: CommandError| Answer::Failed(error.to_string())),
        };
        self::answer(printer, &answer)?;
    }
    worker.let_go()?;
    if let Some(pond) = worker.pond.take() {
        pond.close()?;
    }
    Ok(())
}

fn answer(printer: &Printer, answer: &Answer) -> Outcome {
    let text = serde_json::to_string(answer).map_err(|error| failed("answering", error))?;
    printer.line(text)?;
    io::stdout().flush().map_err(|error| failed("answering", error))
}

impl Worker {
    fn obey(&mut self, order: Order) -> Result<Answer, CommandError> {
        match order {
            Order::OpenCard => self.open_card().map(Answer::Card),
            Order::ReadUsed => self.used_bytes().map(Answer::Used),
            Order::MakeContext { device } => {
                self.context = Some(context(&self.device(&device)?)?);
                Ok(Answer::Done)
            }
            Order::Write { name, bytes, seed } => {
                self.write(&name, bytes, seed).map(|()| Answer::Done)
            }
            Order::Map { names } => self.map(&names),
            Order::Check => self.sums().map(Answer::Sums),
            Order::LetGo => self.let_go().map(|()| Answer::Done),
            Order::Attach { name, rounds } => self.attach(&name, rounds).map(times),
            Order::AttachRaw { device, bytes, rounds } => {
                attach_raw(&self.device(&device)?, bytes, rounds).map(times)
            }
            Order::Spin | Order::Rest => Err(wrong("nothing spins")),
        }
    }

    fn pond(&mut self) -> Result<&Pond, CommandError> {
        if self.pond.is_none() {
            let mut builder = Pond::builder().program(self.label.clone());
            if let Some(folder) = &self.global.runtime_dir {
                builder = builder.runtime_dir(folder.clone());
            }
            self.pond = Some(builder.connect()?);
        }
        self.pond.as_ref().ok_or_else(|| wrong("no pond"))
    }

    fn driver(&mut self) -> Result<&Driver, CommandError> {
        if self.driver.is_none() {
            self.driver = Some(open_driver()?);
        }
        self.driver.as_ref().ok_or_else(|| wrong("no driver"))
    }

    fn device(&mut self, uuid: &str) -> Result<Device, CommandError> {
        let uuid = uuid.parse().map_err(|error| failed("a GPU's UUID", error))?;
        self.driver()?.device_by_uuid(uuid).map_err(|error| failed("the GPU", error))
    }

    fn open_card(&mut self) -> Result<Card, CommandError> {
        let driver = self.driver()?.clone();
        let devices = driver.devices().map_err(|error| failed("listing GPUs", error))?;
        let device = devices.into_iter().next().ok_or_else(|| wrong("there is no GPU"))?;
        let by_nvml = Nvml::open(&driver).ok().and_then(|nvml| nvml.device(device.uuid()).ok());
        let (meter, reading) = match by_nvml {
            Some(nvml) => (Meter::Nvml(nvml), "NVML"),
            None => (Meter::Context(context(&device)?), "cuMemGetInfo"),
        };
        let card = Card {
            soft: driver.kind() == DriverKind::Soft,
            driver: format!("{} {}", driver.name(), driver.version()),
            device: device.uuid().to_string(),
            name: device.name().to_owned(),
            total_bytes: device.total_bytes(),
            reading: reading.to_owned(),
        };
        self.meter = Some((device, meter));
        Ok(card)
    }

    fn used_bytes(&self) -> Result<u64, CommandError> {
        match &self.meter {
            None => Err(wrong("the card was not opened")),
            Some((_, Meter::Nvml(nvml))) => {
                let memory = nvml.memory().map_err(|error| failed("reading NVML", error))?;
                Ok(memory.used_bytes)
            }
            Some((_, Meter::Context(context))) => {
                let memory =
                    context.memory_info().map_err(|error| failed("reading the card", error))?;
                Ok(memory.total_bytes - memory.free_bytes)
            }
        }
    }

    fn write(&mut self, name: &str, bytes: u64, seed: u64) -> Result<(), CommandError> {
        let tensor = self.pond()?.create(TensorSpec::new(name, Dtype::U8, [bytes]))?;
        let mut content = Content::new(seed);
        let mut buffer = vec![0; CHUNK_BYTES];
        let mut offset = 0;
        while offset < bytes {
            let length = usize::try_from(bytes - offset).unwrap_or(usize::MAX).min(CHUNK_BYTES);
            content.fill(&mut buffer[..length]);
            tensor.copy_from_host(offset, &buffer[..length])?;
            offset += length as u64;
        }
        tensor.publish()?;
        Ok(())
    }

    fn map(&mut self, names: &[String]) -> Result<Answer, CommandError> {
        let mut taken = Vec::new();
        for name in names {
            let start = Instant::now();
            let tensor = self.pond()?.get(name.as_str())?;
            taken.push(start.elapsed());
            self.tensors.push(tensor);
        }
        Ok(times(taken))
    }

    fn sums(&self) -> Result<Vec<u64>, CommandError> {
        let sum = |tensor: &Tensor| {
            Ok(content::checksum(tensor.bytes(), |offset, chunk| {
                tensor.copy_to_host(offset, chunk)
            })?)
        };
        self.tensors.iter().map(sum).collect()
    }

    /// Reads the start of each tensor in turn until an order comes.
    fn spin(&self, orders: &Orders) -> Result<Spun, CommandError> {
        let mut buffer = vec![0; SPIN_BYTES];
        let mut read = |tensor: &Tensor| {
            let length = usize::try_from(tensor.bytes()).unwrap_or(usize::MAX).min(SPIN_BYTES);
            tensor.copy_to_host(0, &mut buffer[..length])?;
            content::checksum(length as u64, |offset, chunk| {
                let at = usize::try_from(offset).unwrap_or(usize::MAX);
                chunk.copy_from_slice(&buffer[at..at + chunk.len()]);
                Ok::<(), CommandError>(())
            })
        };
        let first: Vec<u64> = self.tensors.iter().map(&mut read).collect::<Result<_, _>>()?;
        let mut spun = Spun::default();
        let mut last = Instant::now();
        loop {
            for (tensor, expected) in self.tensors.iter().zip(&first) {
                if orders.are_waiting()? {
                    return Ok(spun);
                }
                match read(tensor) {
                    Ok(sum) => spun.wrong += u64::from(sum != *expected),
                    Err(_) => spun.failed += 1,
                }
                spun.reads += 1;
                let pause = u64::try_from(last.elapsed().as_nanos()).unwrap_or(u64::MAX);
                spun.longest_pause_ns = spun.longest_pause_ns.max(pause);
                last = Instant::now();
            }
        }
    }

    fn attach(&mut self, name: &str, rounds: u32) -> Result<Vec<Duration>, CommandError> {
        let pond = self.pond()?;
        let mut taken = Vec::new();
        for _ in 0..rounds {
            let start = Instant::now();
            let tensor = pond.get_with(name, GetOptions::default())?;
            taken.push(start.elapsed());
            drop(tensor);
            pond.flush(FLUSH)?;
        }
        Ok(taken)
    }

    fn let_go(&mut self) -> Result<(), CommandError> {
        self.tensors.clear();
        if let Some(pond) = &self.pond {
            pond.flush(FLUSH)?;
        }
        Ok(())
    }
}

fn times(taken: Vec<Duration>) -> Answer {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Answer::Times(taken.into_iter().map(nanos).collect())
}

/// The driver that the environment chooses, the software driver included.
pub fn open_driver() -> Result<Driver, CommandError> {
    Driver::open(DriverChoice::from_env(), Some(&millpond_softgpu::PROVIDER))
        .map_err(|error| failed("opening the driver", error))
}

fn context(device: &Device) -> Result<Context, CommandError> {
    Context::primary(device).map_err(|error| failed("making a context", error))
}

/// What no attach can be faster than: import, reserve, map and set access, on a descriptor that
/// is here already.
fn attach_raw(device: &Device, bytes: u64, rounds: u32) -> Result<Vec<Duration>, CommandError> {
    use std::os::fd::AsFd;
    let context = context(device)?;
    let driver = device.driver();
    let refused = |error| failed("attaching with the bare driver", error);
    let fd = Allocation::create(device, bytes).and_then(|memory| memory.export());
    let fd = fd.map_err(refused)?;
    let mut taken = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        let memory = Allocation::import(driver, fd.as_fd(), bytes).map_err(refused)?;
        let range = AddressRange::reserve(driver, bytes).map_err(refused)?;
        let mapping =
            Mapping::map(&context, &range, 0, &memory, Access::ReadOnly).map_err(refused)?;
        taken.push(start.elapsed());
        drop(memory);
        mapping.unmap().map_err(refused)?;
    }
    Ok(taken)
}

/// Orders as they come, one on a line. Not buffered behind the back of `poll`.
#[derive(Default)]
struct Orders {
    pending: Vec<u8>,
}

impl Orders {
    /// The next order; nothing when whoever gives them is gone.
    fn next(&mut self) -> Result<Option<Order>, CommandError> {
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return serde_json::from_slice(&line)
                    .map(Some)
                    .map_err(|error| failed("an order", error));
            }
            let mut buffer = [0; 4096];
            let read = rustix::io::retry_on_intr(|| {
                rustix::io::read(rustix::stdio::stdin(), &mut buffer)
            })
            .map_err(|error| failed("reading orders", error))?;
            if read == 0 {
                return Ok(None);
            }
            self.pending.extend_from_slice(&buffer[..read]);
        }
    }

    fn are_waiting(&self) -> Result<bool, CommandError> {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let stdin = rustix::stdio::stdin();
        let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&at_once))
            .map_err(|error| failed("waiting for orders", error))?;
        Ok(ready > 0 || self.pending.contains(&b'\n'))
    }
}
