//! Millpond for Python: the native half of the package `millpond`.
//!
//! Everything that is more than a few lines of Python is here, on top of the Rust client; what
//! needs numpy or torch is in Python beside it, so that neither is imported before it is used.
//!
//! # The key decision: a view keeps the lease
//!
//! Other libraries take memory over by DLPack and keep it for as long as they like. So nothing
//! here ever ends a lease by itself: a tensor, and every capsule made from it, hold a part of one
//! reference count, and the lease ends with the last of them, on whatever thread that happens and
//! also while the interpreter ends. `close()` only lets go of the caller's own part. (To end the
//! lease in `close()` was refused: arrays that point to nothing are the complaint about every
//! loader that does so.)

#![deny(unsafe_code)]

mod adopt;
#[allow(unsafe_code, reason = "symbols in C's calling convention, for torch")]
mod allocator;
mod caches;
mod clients;
mod convert;
#[allow(unsafe_code, reason = "structures in C's layout, which other libraries free")]
mod dlpack;
mod dtype_words;
mod elastic;
mod elastic_blocks;
mod elastic_cache;
mod elastic_errors;
mod elastic_layout;
mod elastic_stats;
mod ending;
mod errors;
mod gate;
mod groups;
mod handle;
mod hints;
mod info;
mod interrupt;
mod lazy;
mod lease;
mod load;
mod model;
mod model_tensor;
mod models;
mod pond;
mod pool;
#[allow(
    unsafe_code,
    reason = "symbols in C's calling convention, and streams of whoever calls them"
)]
mod pool_allocator;
mod pressure;
mod shown;
mod similar;
mod staging;
mod swaps;
mod taken;
mod tensor;
mod transfer;
mod view;

use pyo3::prelude::*;

/// The native half of the package `millpond`.
#[pymodule]
fn _millpond(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::add(module)?;
    module.add_class::<info::Holder>()?;
    module.add_class::<info::TensorInfo>()?;
    module.add_class::<info::Life>()?;
    module.add_class::<info::DeviceInfo>()?;
    module.add_class::<info::Status>()?;
    module.add_class::<info::MoverInfo>()?;
    module.add_class::<info::HostInfo>()?;
    module.add_class::<info::Counters>()?;
    module.add_class::<info::RequestCount>()?;
    module.add_class::<info::RefusalCount>()?;
    module.add_class::<info::Collected>()?;
    module.add_class::<clients::LeaseInfo>()?;
    module.add_class::<clients::ClientInfo>()?;
    module.add_class::<clients::Event>()?;
    module.add_class::<clients::Events>()?;
    module.add_class::<groups::GroupDevice>()?;
    module.add_class::<groups::GroupInfo>()?;
    module.add_class::<groups::MemberDevice>()?;
    module.add_class::<groups::MemberInfo>()?;
    module.add_class::<groups::GroupDetails>()?;
    module.add_class::<caches::CacheInfo>()?;
    module.add_class::<view::View>()?;
    module.add_class::<tensor::Tensor>()?;
    module.add_class::<handle::TensorHandle>()?;
    module.add_class::<model_tensor::ModelTensor>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<model::Paused>()?;
    module.add_class::<lazy::Made>()?;
    module.add_class::<staging::Staging>()?;
    module.add_class::<models::VersionInfo>()?;
    module.add_class::<models::ModelInfo>()?;
    module.add_class::<load::LoadReport>()?;
    module.add_class::<load::Unshared>()?;
    module.add_class::<load::VerifyReport>()?;
    module.add_class::<elastic::Elastic>()?;
    module.add_class::<elastic_cache::ElasticCache>()?;
    module.add_class::<elastic_blocks::BlockTable>()?;
    module.add_class::<elastic_blocks::Prepared>()?;
    module.add_class::<elastic_stats::ElasticStats>()?;
    module.add_class::<elastic_stats::CapChange>()?;
    module.add_class::<elastic_stats::Occupancy>()?;
    module.add_class::<pressure::PressureAsk>()?;
    module.add_class::<pool::StreamPool>()?;
    module.add_class::<pond::Pond>()?;
    module.add_class::<interrupt::Canceller>()?;
    module.add_function(wrap_pyfunction!(lease::live_leases, module)?)?;
    module.add_function(wrap_pyfunction!(lease::live_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(convert::dtype_name, module)?)?;
    module.add_function(wrap_pyfunction!(allocator::allocate_from, module)?)?;
    module.add_function(wrap_pyfunction!(allocator::allocated, module)?)?;
    module.add_function(wrap_pyfunction!(pool::pool, module)?)?;
    module.add_function(wrap_pyfunction!(load::check_plan, module)?)?;
    module.add_function(wrap_pyfunction!(adopt::capsule, module)?)?;
    module.add_function(wrap_pyfunction!(ending::end, module)?)?;
    module.add_function(wrap_pyfunction!(ending::after_fork, module)?)?;
    Ok(())
}
