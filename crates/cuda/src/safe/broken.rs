//! A machine that has a GPU, or had one, and whose NVIDIA driver does not work.

use std::path::Path;

use super::driver::Driver;
use crate::error::DriverError;
use crate::sys::Status;

/// Why the machine's own driver does not work, although something says that it should: device
/// files of a GPU, or a library that fails otherwise than by finding no GPU. `None` on a machine
/// without a GPU, and where it works.
#[must_use]
pub fn broken_driver() -> Option<String> {
    let error = Driver::working().err()?;
    reason(&error, Path::new("/dev"))
}

fn reason(error: &DriverError, devices: &Path) -> Option<String> {
    let device = device_file(devices);
    let is_absent = match error {
        DriverError::Library { tried, .. } => tried.iter().all(|(path, said)| {
            // The loader names what it did not find: the library itself, or one that it needs.
            said.starts_with(&*path.to_string_lossy()) && said.contains("No such file")
        }),
        DriverError::NoDevice { .. } => true,
        DriverError::Cuda(error) => error.status == Status::NO_DEVICE,
        _ => false,
    };
    let said = match error {
        DriverError::Library { tried, .. } => {
            tried.first().map_or_else(|| error.to_string(), |(_, said)| said.clone())
        }
        other => other.to_string(),
    };
    match device {
        Some(device) => Some(format!("{device} is there, but {said}")),
        None => (!is_absent).then_some(said),
    }
}

/// One of `/dev/nvidia0`, `/dev/nvidia1`, …
fn device_file(folder: &Path) -> Option<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_card = |name: &String| {
        let number = name.strip_prefix("nvidia");
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let first = names.filter(is_card).min()?;
    Some(folder.join(first).display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::CudaError;

    fn library(said: &str) -> DriverError {
        let tried = vec![("libcuda.so.1".into(), said.to_owned())];
        DriverError::Library { name: "the CUDA driver", tried }
    }

    #[test]
    fn a_driver_is_broken_where_a_gpu_or_its_library_is_there() {
        const ABSENT: &str =
            "libcuda.so.1: cannot open shared object file: No such file or directory";
        let empty = tempfile::tempdir().unwrap();
        let gpu = tempfile::tempdir().unwrap();
        for name in ["nvidiactl", "nvidia0"] {
            std::fs::write(gpu.path().join(name), "").unwrap();
        }
        let none = DriverError::NoDevice { library: "libcuda.so.1".into() };
        let no_device =
            |status| DriverError::Cuda(CudaError { call: "cuInit", status, detail: None });
        for error in [library(ABSENT), none, no_device(Status::NO_DEVICE)] {
            assert_eq!(reason(&error, empty.path()), None, "{error}");
            let said = reason(&error, gpu.path()).unwrap();
            assert!(said.contains("/nvidia0 is there, but "), "{said}");
        }
        let needs = "libnvidia-x.so: cannot open shared object file: No such file or directory";
        assert_eq!(reason(&library(needs), empty.path()).as_deref(), Some(needs));
        let mismatch = no_device(Status(803));
        assert!(reason(&mismatch, empty.path()).unwrap().starts_with("cuInit: "));
    }
}
