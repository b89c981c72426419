//! The worker process: does what it is told, one order after the other.

mod card;
mod orders;

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use millpond::{Dtype, Pond, PondBuilder, Tensor, TensorSpec};
use millpond_cuda::{Context, Device, Driver};

pub use self::card::context;
use self::card::{Meter, open_driver};
use self::orders::Orders;
use super::content::{self, CHUNK_BYTES, Content};
use super::protocol::{Answer, Card, Order, Spun};
use millpond_console::error::{CommandError, Outcome, failed, wrong};
use millpond_console::printer::Printer;

/// How much one read of a spinning worker reads.
const SPIN_BYTES: usize = 64 << 10;
/// How long it may take to tell the pond that nothing is mapped any longer.
pub const FLUSH: Duration = Duration::from_secs(10);

/// What a worker has.
pub struct Tools {
    label: String,
    folder: Option<PathBuf>,
    pond: Option<Pond>,
    driver: Option<Driver>,
    meter: Option<Meter>,
    context: Option<Context>,
    tensors: Vec<Tensor>,
}

/// What a program adds to its workers: it measures, and says how long each part took.
pub type Measure<'a> =
    &'a mut dyn FnMut(&mut Tools, serde_json::Value) -> Result<Vec<Duration>, CommandError>;

/// Works until its standard input ends, on the pond in this folder. `label` is what `ps` shows.
pub fn run(
    label: &str,
    folder: Option<PathBuf>,
    printer: &Printer,
    measure: Measure<'_>,
) -> Outcome {
    let mut worker = Tools {
        label: label.to_owned(),
        folder,
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
                match worker.spin(&orders, || answer(printer, &Answer::Done)) {
                    // What ended the spinning is the order to rest.
                    Ok(spun) => orders.next()?.map_or(Answer::Done, |_| Answer::Spun(spun)),
                    Err(error) => Answer::Failed(error.to_string()),
                }
            }
            order => worker
                .obey(order, measure)
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

impl Tools {
    fn obey(&mut self, order: Order, measure: Measure<'_>) -> Result<Answer, CommandError> {
        match order {
            Order::OpenCard => self.open_card().map(Answer::Card),
            Order::ReadUsed => self.meter()?.used_bytes().map(Answer::Used),
            Order::ReadProcess { pid } => Ok(Answer::Process(self.meter()?.process_bytes(pid))),
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
            Order::Measure(what) => measure(self, what).map(times),
            Order::Spin | Order::Rest => Err(wrong("nothing spins")),
        }
    }

    /// A connection to the pond, made when it is first needed.
    pub fn pond(&mut self) -> Result<&Pond, CommandError> {
        self.pond_by(PondBuilder::connect)
    }

    /// The same, made by the first call.
    pub fn lazy_pond(&mut self) -> Result<&Pond, CommandError> {
        self.pond_by(|builder| builder.lazy().connect())
    }

    fn pond_by(
        &mut self,
        connect: impl FnOnce(PondBuilder) -> millpond::Result<Pond>,
    ) -> Result<&Pond, CommandError> {
        if self.pond.is_none() {
            let mut builder = Pond::builder().program(self.label.clone());
            if let Some(folder) = self.folder.clone() {
                builder = builder.runtime_dir(folder);
            }
            self.pond = Some(connect(builder)?);
        }
        self.pond.as_ref().ok_or_else(|| wrong("no pond"))
    }

    fn driver(&mut self) -> Result<&Driver, CommandError> {
        if self.driver.is_none() {
            self.driver = Some(open_driver()?);
        }
        self.driver.as_ref().ok_or_else(|| wrong("no driver"))
    }

    /// The folder that was named.
    pub fn folder(&self) -> Option<PathBuf> {
        self.folder.clone()
    }

    /// A GPU of the driver that the environment chooses.
    pub fn device(&mut self, uuid: &str) -> Result<Device, CommandError> {
        let uuid = uuid.parse().map_err(|error| failed("a GPU's UUID", error))?;
        self.driver()?.device_by_uuid(uuid).map_err(|error| failed("the GPU", error))
    }

    fn open_card(&mut self) -> Result<Card, CommandError> {
        let (meter, card) = Meter::open(self.driver()?)?;
        self.meter = Some(meter);
        Ok(card)
    }

    fn meter(&self) -> Result<&Meter, CommandError> {
        self.meter.as_ref().ok_or_else(|| wrong("the card was not opened"))
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

    /// Reads the start of each tensor in turn until an order comes, and at least one. `ready` is
    /// called before the first of these reads.
    fn spin(&self, orders: &Orders, ready: impl FnOnce() -> Outcome) -> Result<Spun, CommandError> {
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
        ready()?;
        let mut spun = Spun::default();
        let mut last = Instant::now();
        loop {
            for (tensor, expected) in self.tensors.iter().zip(&first) {
                match read(tensor) {
                    Ok(sum) => spun.wrong += u64::from(sum != *expected),
                    Err(_) => spun.failed += 1,
                }
                spun.reads += 1;
                let pause = u64::try_from(last.elapsed().as_nanos()).unwrap_or(u64::MAX);
                spun.longest_pause_ns = spun.longest_pause_ns.max(pause);
                last = Instant::now();
                // Looked at after a read: on a busy machine the rest may be over before the first.
                if orders.are_waiting()? {
                    return Ok(spun);
                }
            }
        }
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
