//! A graph for tests and probes: fills that a stream was given in a capture, to be run again and again.

use super::context::Context;
use super::report_drop;
use super::stream::Stream;
use crate::error::CudaError;
use crate::result;
use crate::sys::{CUgraphExec, constants};

/// A graph of nothing but fills. They touch memory of the device alone, so that running them harms nobody's
/// memory on the host, however late: an address that is not mapped any more faults on the device.
#[derive(Debug)]
pub struct FillGraph {
    context: Context,
    exec: CUgraphExec,
}

// SAFETY: an executable graph is a handle that any thread may use, one at a time: launching needs it alone.
unsafe impl Send for FillGraph {}

impl FillGraph {
    /// Begins a capture in the global mode: work of the stream is written down from now on.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_UNSUPPORTED` for the legacy stream, `ILLEGAL_STATE` when it captures already.
    pub fn begin(stream: &Stream) -> Result<(), CudaError> {
        let context = stream.context();
        let _bound = context.bind()?;
        let mode = constants::CAPTURE_GLOBAL;
        // SAFETY: the stream is alive.
        unsafe { result::graph::begin_capture(context.table(), stream.raw(), mode) }
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// What broke the capture; a capture of anything but fills. The capture is over even so.
    pub fn end(stream: &Stream) -> Result<Self, CudaError> {
        let context = stream.context();
        let (_bound, table) = (context.bind()?, context.table());
        // SAFETY: the stream is alive; graph and nodes are this function's, and are used before they go.
        unsafe {
            let graph = result::graph::end_capture(table, stream.raw())?;
            let kind = |node| result::graph::node_type(table, node);
            let nodes = result::graph::nodes(table, graph);
            let kinds =
                nodes.and_then(|nodes| nodes.into_iter().map(kind).collect::<Result<Vec<_>, _>>());
            let exec = kinds.and_then(|kinds| {
                match kinds.iter().all(|one| *one == constants::NODE_MEMSET) {
                    true => result::graph::instantiate(table, graph, 0),
                    false => {
                        let why = "the graph has other nodes than fills".to_owned();
                        Err(CudaError::refused("FillGraph::end", why))
                    }
                }
            });
            report_drop(result::graph::destroy(table, graph));
            Ok(Self { context: context.clone(), exec: exec? })
        }
    }

    /// Queues all of its fills.
    ///
    /// # Errors
    /// What the driver answers. A fault of the fills shows when the stream is waited for.
    pub fn launch(&mut self, stream: &Stream) -> Result<(), CudaError> {
        let _bound = self.context.bind()?;
        // SAFETY: graph and stream are alive. Fills of memory that is gone fault on the device.
        unsafe { result::graph::launch(self.context.table(), self.exec, stream.raw()) }
    }
}

impl Drop for FillGraph {
    fn drop(&mut self) {
        // SAFETY: we own the graph. A run that is not over owns what it needs.
        report_drop(unsafe { result::graph::destroy_exec(self.context.table(), self.exec) });
    }
}
