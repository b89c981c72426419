//! Tensors that are dropped while a kernel reads them.

use std::time::{Duration, Instant};

use millpond::{Dtype, Pond, Tensor, TensorSpec, TransportKind};
use millpond_cuda::{
    Access, AddressRange, Allocation, Context, CudaError, Granularity, Mapping, Stream, TouchKernel,
};

use super::{Trouble, trouble, wrong};
use crate::{PATIENCE, content, driver};

/// A drop that takes longer has waited for something.
const BOUND: Duration = Duration::from_secs(10);
/// How often the kernel may be too short for the machine before the test gives up.
const TRIES: u32 = 4;

/// Makes and maps tensors, queues a kernel over each of them, drops all while the kernels run, and
/// compares the sums. The tensors stay in the pond, without a lease.
pub(crate) fn run(
    pond: &Pond,
    transport: TransportKind,
    count: u64,
    bytes: u64,
    duration: Duration,
) -> Result<String, Trouble> {
    let sums = pond.create(TensorSpec::new("sums", Dtype::U64, [count])).map_err(trouble)?;
    let kernel = TouchKernel::load(sums.context()).map_err(trouble)?;
    let stream = Stream::new(sums.context()).map_err(trouble)?;
    let mut duration = duration;
    for _ in 0..TRIES {
        let work = Work { pond, transport, count, bytes, duration };
        let (took, ran) = work.once(&kernel, &stream, &sums)?;
        if ran {
            let ms = duration.as_millis();
            return Ok(format!("dropped {count} tensors in {took:?} under {ms} ms of kernels"));
        }
        // The machine was too slow, or is too fast: nothing is shown by that.
        duration *= 4;
    }
    Err(wrong("the kernels were always done before the tensors were dropped"))
}

struct Work<'a> {
    pond: &'a Pond,
    transport: TransportKind,
    count: u64,
    bytes: u64,
    duration: Duration,
}

impl Work<'_> {
    /// How long dropping took, and whether the kernels still ran after it.
    fn once(
        &self,
        kernel: &TouchKernel,
        stream: &Stream,
        sums: &Tensor,
    ) -> Result<(Duration, bool), Trouble> {
        sums.fill(0).map_err(trouble)?;
        let tensors = self.tensors()?;
        let each = self.duration / u32::try_from(self.count).unwrap_or(u32::MAX);
        for (index, tensor) in (0..).zip(&tensors) {
            tensor.touch(kernel, stream, sums, index, each).map_err(trouble)?;
        }
        let start = Instant::now();
        drop(tensors);
        let took = start.elapsed();
        if took > BOUND {
            return Err(wrong(format!("dropping took {took:?}")));
        }
        let ran = !stream.is_idle().map_err(trouble)?;
        if !self.pond.flush(PATIENCE).map_err(trouble)? {
            return Err(wrong("the retire list does not become empty"));
        }
        // The context must be alive, and everything must have been read before it was unmapped.
        stream.synchronize().map_err(trouble)?;
        let found = sums.to_vec().map_err(trouble)?;
        for (index, found) in (0..self.count).zip(found.as_chunks::<8>().0) {
            let (found, right) = (u64::from_le_bytes(*found), self.sum(index));
            if found != right {
                return Err(wrong(format!("tensor {index} summed up to {found}, not {right}")));
            }
        }
        Ok((took, ran))
    }

    fn tensors(&self) -> Result<Vec<Tensor>, Trouble> {
        (0..self.count)
            .map(|index| {
                let spec = TensorSpec::new(format!("read/{index}"), Dtype::U8, [self.bytes]);
                let spec = spec.transport(self.transport);
                let tensor = self.pond.create(spec).map_err(trouble)?;
                tensor.fill(byte(index)).map_err(trouble)?;
                Ok(tensor)
            })
            .collect()
    }

    fn sum(&self, index: u64) -> u64 {
        u64::from_le_bytes([byte(index); 8]).wrapping_mul(self.bytes / 8)
    }
}

fn byte(index: u64) -> u8 {
    u8::try_from(index % 255 + 1).unwrap_or(1)
}

/// The control: unmaps by hand while the kernel may still run. Says what the device said.
pub(crate) fn early_unmap() -> Result<String, Trouble> {
    let driver = driver::open().map_err(trouble)?;
    let device = driver.devices().map_err(trouble)?.remove(0);
    let context = Context::primary(&device).map_err(trouble)?;
    let unit = Allocation::granularity(&device, Granularity::Minimum).map_err(trouble)?;
    let map = || -> Result<Mapping, CudaError> {
        let range = AddressRange::reserve(&driver, unit)?;
        let memory = Allocation::create(&device, unit)?;
        Mapping::map(&context, &range, 0, &memory, Access::ReadWrite)
    };
    let (source, target) = (map().map_err(trouble)?, map().map_err(trouble)?);
    let kernel = TouchKernel::load(&context).map_err(trouble)?;
    let stream = Stream::new(&context).map_err(trouble)?;
    source.copy_from_host(0, &content::bytes(4096, 1)).map_err(trouble)?;
    kernel.touch(&stream, &source, &target, Duration::from_millis(300)).map_err(trouble)?;
    source.unmap().map_err(trouble)?;
    let met = stream.synchronize();
    let later = context.synchronize();
    // A lost context takes nothing back.
    std::mem::forget((target, kernel, stream));
    match (met, later) {
        (Err(met), Err(later)) if met.is_sticky() && later.is_sticky() => {
            Ok(format!("lost {}", met.status.0))
        }
        (met, later) => Ok(format!("kept {met:?} {later:?}")),
    }
}
