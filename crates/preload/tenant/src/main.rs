//! A program that lives under a limit: it takes and gives back GPU memory as it is told.
//!
//! It knows nothing of Millpond. The key decision is that it is an ordinary CUDA program: it opens
//! `libcuda.so.1` and `libnvidia-ml.so.1` by name, finds every function by `dlsym` or (with
//! `--by procaddress`) by `cuGetProcAddress_v2`, and has its own types, so one body runs on a card
//! and on the software driver, with and without the preloaded library.
//!
//! `--device N` takes another device, `--no-context` no context; `--threads N` has so many idle
//! threads beside, because what a process of many threads held comes back later than its end.
//!
//! One command a line on stdin, one answer a line on stdout: `ok ...`, or `error CODE CALL`.
//!
//! ```text
//! alloc KIND BYTES   ok ID      kinds: linear pitch managed async pool vmm handle array mipmap
//!                               graph context
//! free ID | all      ok
//! export ID          ok HEX                 cuIpcGetMemHandle of linear memory
//! open HEX           ok ID                  cuIpcOpenMemHandle
//! info               ok FREE TOTAL          cuMemGetInfo
//! total              ok TOTAL               cuDeviceTotalMem
//! nvml               ok TOTAL FREE USED OWN nvmlDeviceGetMemoryInfo, this process's own reading
//! name               ok NAME                nvmlDeviceGetName
//! trim | sync        ok                     pools and graph memory; this stream and context
//! limit STACK        ok                     cuCtxSetLimit of the stack's size
//! fork BYTES         ok CODE                a child without exec asks for memory
//! exec BYTES         ok ANSWER              a child with exec does
//! thread KIND BYTES  ok ID                  a thread without a context asks
//! race KIND BYTES N  ok GOT CODE            takes until refused or N; the last refusal's code
//! churn SEED STEPS BYTES KIND,KIND...       ok GOT REFUSED; stops at any other error
//! keep               ok                     pools keep what is freed
//! uuid               ok GPU-...
//! time KIND BYTES N  ok ALLOC_NS FREE_NS    medians of N pairs
//! launch N | graph N ok NS                  of an empty kernel, of a graph of one
//! hold                                      never answers
//! quit
//! ```

mod bench;
mod cuda;
mod memory;
mod nvml;
mod session;

use std::io::{BufRead as _, Write as _};

/// Writes an answer at once: the other side waits for it.
fn answer(text: &str) {
    let mut out = std::io::stdout().lock();
    // Whoever asked may be gone: then there is nobody to tell.
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

fn main() {
    let mut options = session::Options::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--by" => options.by_proc_address = arguments.next().as_deref() == Some("procaddress"),
            "--device" => {
                options.device =
                    arguments.next().and_then(|number| number.parse().ok()).unwrap_or(0);
            }
            "--no-context" => options.context = false,
            "--threads" => {
                let count: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(0);
                for _ in 0..count {
                    std::thread::spawn(|| {
                        loop {
                            std::thread::park();
                        }
                    });
                }
            }
            other => return answer(&format!("error 1 {other}")),
        }
    }
    let mut session = match session::Session::start(&options) {
        Ok(session) => session,
        Err(fault) => return answer(&fault.to_string()),
    };
    answer(&format!("ready {}", std::process::id()));
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["quit"] => return answer("ok"),
            ["hold"] => loop {
                std::thread::park();
            },
            words => match session.obey(words) {
                Ok(text) => answer(format!("ok {text}").trim_end()),
                Err(fault) => answer(&fault.to_string()),
            },
        }
    }
}
