//! What the pond says about itself and its tensors.

use millpond_view::{self as view, units};

use crate::shown::{info_class, visible};

view::holder_fields!(
    info_class,
    /// Who holds memory of a full GPU, or uses a tensor.
    Holder(view::Holder) {
        #[new]
        #[pyo3(signature = (user, bytes, tensors, cache=None, pid=None))]
        fn new(
            user: u32,
            bytes: u64,
            tensors: u32,
            cache: Option<String>,
            pid: Option<u32>,
        ) -> Self {
            Self(view::Holder { user, bytes, tensors, cache, pid })
        }

        /// An error that names holders can travel to another process.
        fn __getnewargs__(&self) -> (u32, u64, u32, Option<String>, Option<u32>) {
            (self.0.user, self.0.bytes, self.0.tensors, self.0.cache.clone(), self.0.pid)
        }

        fn __repr__(&self) -> String {
            let view::Holder { user, bytes, tensors, cache, pid } = &self.0;
            match (cache, pid) {
                (Some(cache), _) => format!("Holder(user={user}, bytes={bytes}, cache={cache:?})"),
                (None, Some(pid)) => format!("Holder(user={user}, bytes={bytes}, pid={pid})"),
                (None, None) => format!("Holder(user={user}, bytes={bytes}, tensors={tensors})"),
            }
        }
    }
);

view::tensor_fields!(
    info_class,
    /// What the pond knows about a tensor.
    TensorInfo(view::Tensor) {
        /// The same as `bytes`.
        #[getter]
        fn nbytes(&self) -> u64 {
            self.0.bytes
        }

        /// The same as `share`.
        #[getter]
        fn audience(&self) -> String {
            self.0.share.to_string()
        }

        /// The same as `lease_count`.
        #[getter]
        fn leases(&self) -> u32 {
            self.0.lease_count
        }

        fn __repr__(&self) -> String {
            let info = &self.0;
            let name = info.name.as_ref().map_or_else(|| info.id.to_string(), ToString::to_string);
            let (dtype, state) = (crate::convert::spelling(info.dtype.0), info.state);
            visible(&format!("TensorInfo('{name}', {:?}, {dtype}, {state})", info.shape.0.dims()))
        }
    }
);

view::life_fields!(
    info_class,
    /// What ends a tensor beside being deleted.
    Life(view::Life) {
        fn __repr__(&self) -> String {
            let shown = |left: Option<u64>| left.map_or("None".to_owned(), |left| left.to_string());
            format!(
                "Life(ttl_left_ms={}, linger_left_ms={}, accesses_left={})",
                shown(self.0.ttl_left_ms),
                shown(self.0.linger_left_ms),
                shown(self.0.accesses_left)
            )
        }
    }
);

view::device_fields!(
    info_class,
    /// A GPU of the pond, and the account of it.
    DeviceInfo(view::Device) {
        fn __repr__(&self) -> String {
            visible(&format!("DeviceInfo({}, '{}', {})", self.0.index, self.0.name, self.0.device))
        }
    }
);

view::mover_fields!(
    info_class,
    /// A process of the pond that moves bytes.
    MoverInfo(view::Mover) {
        fn __repr__(&self) -> String {
            format!("MoverInfo(pid {}, {} moves)", self.0.pid, self.0.moves)
        }
    }
);

view::host_fields!(
    info_class,
    /// A process of the pond that owns the memory of `ipc` tensors.
    HostInfo(view::Host) {
        fn __repr__(&self) -> String {
            let view::Host { pid, tensors, bytes, sealed, .. } = &self.0;
            let sealed = if *sealed { ", sealed" } else { "" };
            format!("HostInfo(pid {pid}, {tensors} tensors, {}{sealed})", units::bytes(*bytes))
        }
    }
);

view::counters_fields!(
    info_class,
    /// What a daemon has counted since its start; the next one begins with zero.
    Counters(view::Counters) {
        fn __repr__(&self) -> String {
            let requests: u64 = self.0.requests.iter().map(|it| it.answered + it.refused).sum();
            let view::Counters { leases_granted, tensors_created, .. } = &self.0;
            format!(
                "Counters({requests} requests, {leases_granted} leases granted, \
                 {tensors_created} tensors created)"
            )
        }
    }
);

view::request_count_fields!(
    info_class,
    /// What one kind of request has come to.
    RequestCount(view::RequestCount) {
        fn __repr__(&self) -> String {
            let view::RequestCount { kind, answered, refused, .. } = &self.0;
            visible(&format!("RequestCount('{kind}', {answered} answered, {refused} refused)"))
        }
    }
);

view::refusal_count_fields!(
    info_class,
    /// How often requests were refused for one reason.
    RefusalCount(view::RefusalCount) {
        fn __repr__(&self) -> String {
            format!("RefusalCount('{}', {})", self.0.kind, self.0.count)
        }
    }
);

view::collected_fields!(
    info_class,
    /// What was given back, or would be.
    Collected(view::Collected) {
        fn __repr__(&self) -> String {
            let (tensors, slabs) = (self.0.tensors.len(), self.0.slabs);
            let bytes = units::bytes(self.0.slab_bytes);
            format!("Collected({tensors} tensors, {slabs} slabs, {bytes})")
        }
    }
);

view::status_fields!(
    info_class,
    /// The pond, its GPUs and accounts.
    Status(view::Status) {
        /// The same as `version`.
        #[getter]
        fn daemon_version(&self) -> &str {
            &self.0.version
        }

        fn __repr__(&self) -> String {
            let view::Status { driver, runtime_dir, leases, devices, .. } = &self.0;
            let count = devices.len();
            visible(&format!("Status('{runtime_dir}', {driver}, {count} devices, {leases} leases)"))
        }
    }
);
