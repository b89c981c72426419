//! The card that a test runs on, and how bytes get there without a kernel.

use candle_core::cuda_backend::cudarc::driver::CudaContext;
use candle_core::{CpuStorage, CudaDevice, CudaStorage, Device, InplaceOp1, Layout, Tensor};
use candle_cuda_vmm::VirtualMemoryPool;
use std::sync::{Arc, Mutex, PoisonError};

pub const PAGE: usize = 2 << 20;

/// What other parts of the driver may take while a test measures.
pub const NOISE_BYTES: usize = 64 << 20;
/// The same where kernels are loaded, and cuBLAS makes its workspace.
const NOISE_OF_KERNELS_BYTES: usize = 512 << 20;

/// Runs a test on the first card, with nothing beside it. Afterwards all memory is free again, and no
/// error is left for the next call of Candle.
pub fn on_card(name: &str, test: impl FnOnce(&Device)) {
    one_at_a_time(name, Device::new_cuda, NOISE_BYTES, test);
}

/// As [`on_card`], with a device that has a stream of its own.
pub fn on_card_with_stream(name: &str, test: impl FnOnce(&Device)) {
    one_at_a_time(name, Device::new_cuda_with_stream, NOISE_BYTES, test);
}

/// As [`on_card`], where kernels run.
pub fn on_card_with_kernels(name: &str, test: impl FnOnce(&Device)) {
    one_at_a_time(name, Device::new_cuda, NOISE_OF_KERNELS_BYTES, |device| {
        let card = context(device).name().unwrap();
        if card.ends_with("(software)") {
            println!("SKIPPED: {name}: {card} runs no kernels");
        } else {
            test(device);
        }
    });
}

fn one_at_a_time(
    name: &str,
    open: impl FnOnce(usize) -> candle_core::Result<Device>,
    noise_bytes: usize,
    test: impl FnOnce(&Device),
) {
    static CARD: Mutex<()> = Mutex::new(());
    let _alone = CARD.lock().unwrap_or_else(PoisonError::into_inner);
    let device = match open(0) {
        Ok(device) => device,
        Err(error) => {
            println!("SKIPPED: {name}: no CUDA device: {error}");
            return;
        }
    };
    // Once for what the driver makes at the first use.
    drop(pool(&device, 1));
    let before = free(&device);
    test(&device);
    assert_no_error(&device);
    let after = free(&device);
    assert!(after + noise_bytes > before, "{} bytes are not free again", before - after);
}

/// A pool of so many pages, all of them allocated.
pub fn pool(device: &Device, pages: usize) -> VirtualMemoryPool {
    let mut pool = VirtualMemoryPool::new(pages * PAGE, PAGE, device.clone()).unwrap();
    pool.allocate(0, pages * PAGE).unwrap();
    pool
}

/// Asserts that the device is done, and that no drop has left an error for the next call.
#[track_caller]
pub fn assert_no_error(device: &Device) {
    let context = context(device);
    context.check_err().unwrap();
    context.synchronize().unwrap();
    let ordinary = Tensor::from_vec(vec![1f32, 2.0], 2, device).unwrap();
    assert_eq!(ordinary.to_vec1::<f32>().unwrap(), [1.0, 2.0]);
    drop(ordinary);
    context.check_err().unwrap();
}

/// What the card has left, after everything that was freed in a stream is free.
pub fn free(device: &Device) -> usize {
    let context = context(device);
    context.synchronize().unwrap();
    context.mem_get_info().unwrap().0
}

pub fn context(device: &Device) -> Arc<CudaContext> {
    cuda(device).cuda_stream().context().clone()
}

pub fn cuda(device: &Device) -> &CudaDevice {
    device.as_cuda_device().unwrap()
}

/// Writes bytes over a whole tensor of them.
pub fn write(tensor: &Tensor, bytes: Vec<u8>) {
    tensor.inplace_op1(&Write(bytes)).unwrap();
}

struct Write(Vec<u8>);

impl InplaceOp1 for Write {
    fn name(&self) -> &'static str {
        "write"
    }

    fn cpu_fwd(&self, _: &mut CpuStorage, _: &Layout) -> candle_core::Result<()> {
        candle_core::bail!("not on a CPU")
    }

    fn cuda_fwd(&self, storage: &mut CudaStorage, _: &Layout) -> candle_core::Result<()> {
        let device = storage.device.clone();
        device.memcpy_htod(&self.0, storage.as_cuda_slice_mut::<u8>()?)
    }
}
