use candle_cuda_vmm::{SharedMemoryPool, Result};
use candle_core::Device;

fn main() -> Result<()> {
    let device = Device::new_cuda(0)?;
    let mut shared_pool = SharedMemoryPool::new(
        32 * 1024 * 1024 * 1024, // 32GB global physical limit
        device,
    )?;

    // Register models
    shared_pool.register_model("llama-7b", 64 * 1024 * 1024 * 1024)?;
    shared_pool.register_model("gpt2", 32 * 1024 * 1024 * 1024)?;

    // Allocate for specific model
    let addr = shared_pool.allocate_for_model("llama-7b", 1024 * 1024 * 1024)?;

    Ok(())
}
