//! What is put: a file or standard input, and what its bytes mean.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;

use millpond::npy::{Header, NpyError};
use millpond::{Dtype, Shape, Source};
use millpond_wire::ErrorKind;

use crate::args::{Format, PutArgs};
use crate::error::{CommandError, Report};
use crate::exit::Code;

/// As many bytes tell a numpy file from another.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The bytes to be put, with dtype and shape.
pub fn open(args: &PutArgs) -> Result<(Source<'static>, Dtype, Shape), CommandError> {
    let (source, label) = source(&args.file)?;
    let (source, header) = match args.format {
        Some(Format::Raw) => (source, None),
        Some(Format::Npy) => with_header(source, Vec::new(), &label)?,
        None => sniff(source, &args.file, &label)?,
    };
    match header {
        Some(header) => {
            let (dtype, shape) = numpy(args, &header, &label)?;
            Ok((source, dtype, shape))
        }
        None => {
            let (dtype, shape) = raw(args, &source, &label)?;
            Ok((source, dtype, shape))
        }
    }
}

fn source(path: &Path) -> Result<(Source<'static>, String), CommandError> {
    if path.as_os_str() != "-" {
        return Ok((Source::open(path)?, format!("'{}'", path.display())));
    }
    let label = "standard input";
    // Our own descriptor of it: nothing of it waits in a buffer.
    let file = io::stdin().as_fd().try_clone_to_owned();
    let file = file.map_err(|error| not_read(label, &error))?;
    Ok((Source::file(File::from(file), label)?, label.to_owned()))
}

type Opened = (Source<'static>, Option<Header>);

/// Looks at the first bytes.
fn sniff(mut source: Source<'static>, path: &Path, label: &str) -> Result<Opened, CommandError> {
    let mut head = Vec::new();
    read_to(&mut source, &mut head, MAGIC.len(), label)?;
    if head.is_empty() {
        return Err(file(format!("{label} is empty")).into());
    }
    // A file that calls itself so and is not is an error, not a surprise.
    if head == MAGIC || path.extension().is_some_and(|ending| ending == "npy") {
        return with_header(source, head, label);
    }
    Ok((source.put_back(head), None))
}

/// Reads the header, of which some bytes may be read already, and nothing behind it.
fn with_header(
    mut source: Source<'static>,
    mut head: Vec<u8>,
    label: &str,
) -> Result<Opened, CommandError> {
    loop {
        let wrong = match Header::parse(&head) {
            Ok(header) => return Ok((source, Some(header))),
            Err(wrong) => wrong,
        };
        let NpyError::Cut { need, .. } = wrong else { return Err(not_numpy(label, &wrong)) };
        let before = head.len();
        read_to(&mut source, &mut head, need, label)?;
        if head.len() == before {
            return Err(not_numpy(label, &wrong));
        }
    }
}

/// Reads until there are so many bytes, or no more.
fn read_to(
    source: &mut Source<'static>,
    head: &mut Vec<u8>,
    bytes: usize,
    label: &str,
) -> Result<(), CommandError> {
    let missing = bytes.saturating_sub(head.len()) as u64;
    source.take(missing).read_to_end(head).map_err(|error| not_read(label, &error))?;
    Ok(())
}

/// What a numpy file says; the command line may call the same bytes something else.
fn numpy(args: &PutArgs, header: &Header, label: &str) -> Result<(Dtype, Shape), CommandError> {
    let extents = header.shape.dims().iter().filter(|extent| **extent > 1).count();
    if header.fortran_order && extents > 1 {
        let hint = "in numpy: `numpy.save(file, numpy.ascontiguousarray(array))`";
        let message = format!("{label} is in Fortran order; a tensor is in C order");
        return Err(file(message).hint(hint).into());
    }
    let dtype = args.dtype.unwrap_or(header.dtype);
    let shape = args.shape.clone().unwrap_or_else(|| header.shape.clone());
    let own = header.shape.bytes(header.dtype).map_err(millpond::Error::from)?;
    let said = shape.bytes(dtype).map_err(millpond::Error::from)?;
    if own != said {
        let message = format!(
            "{label} holds {} {} of {own} bytes; {dtype} {shape} has {said}",
            header.dtype, header.shape
        );
        return Err(Report::new(Code::Kind(ErrorKind::Invalid), message).into());
    }
    Ok((dtype, shape))
}

/// Bytes that say nothing about themselves.
fn raw(args: &PutArgs, source: &Source<'_>, label: &str) -> Result<(Dtype, Shape), CommandError> {
    let usage = |message: String| Report::new(Code::Usage, message);
    let Some(dtype) = args.dtype else {
        let message = format!("{label} is not a numpy file");
        return Err(usage(message).hint("say what it holds: `--dtype f32 --shape 512,512`").into());
    };
    if let Some(shape) = &args.shape {
        return Ok((dtype, shape.clone()));
    }
    let Some(bytes) = source.length() else {
        let message = format!("the size of {label} is not known in advance");
        return Err(usage(message).hint("say it: `--shape 512,512`").into());
    };
    let bits = bytes.checked_mul(8).filter(|bits| bits.is_multiple_of(dtype.bits()));
    let Some(bits) = bits else {
        let message =
            format!("{label} has {bytes} bytes, which is not a whole number of {dtype} elements");
        return Err(file(message).into());
    };
    let shape = Shape::new([bits / dtype.bits()]).map_err(millpond::Error::from)?;
    Ok((dtype, shape))
}

fn file(message: String) -> Report {
    Report::new(Code::Kind(ErrorKind::File), message)
}

fn not_read(label: &str, error: &io::Error) -> CommandError {
    file(format!("reading {label}: {error}")).into()
}

fn not_numpy(label: &str, error: &NpyError) -> CommandError {
    let report = file(format!("{label}: {error}"));
    let raw = "`--format raw` with `--dtype` and `--shape` reads the bytes as they are";
    report.hint(error.hint().unwrap_or(raw)).into()
}
