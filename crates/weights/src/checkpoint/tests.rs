use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::FileExt;

use safetensors::tensor::{TensorView, serialize};
use tempfile::TempDir;

use super::*;

fn bytes_of(tensors: &[(&str, &[usize], u8)]) -> Vec<u8> {
    let data: Vec<Vec<u8>> = tensors
        .iter()
        .map(|(_, shape, fill)| vec![*fill; shape.iter().product::<usize>() * 4])
        .collect();
    let views = tensors.iter().zip(&data).map(|((name, shape, _), data)| {
        (*name, TensorView::new(safetensors::Dtype::F32, shape.to_vec(), data).unwrap())
    });
    let metadata = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    serialize(views, Some(metadata)).unwrap()
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    fn with(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        fs::write(self.0.path().join(name), bytes).unwrap();
        self
    }

    fn open(&self) -> Result<Checkpoint, CheckpointError> {
        Checkpoint::open(&[self.path()])
    }

    fn refused(&self) -> String {
        self.open().unwrap_err().to_string()
    }
}

fn raw(header: &str, data: usize) -> Vec<u8> {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(vec![0; data]);
    file
}

fn index(entries: &[(&str, &str)]) -> String {
    let map: BTreeMap<&str, &str> = entries.iter().copied().collect();
    serde_json::json!({"metadata": {"total_size": 1}, "weight_map": map}).to_string()
}

#[test]
fn a_file_of_the_reference_writer_is_read() {
    let file = bytes_of(&[("wte", &[4, 3], 1), ("norm", &[3], 2), ("none", &[0, 2], 3)]);
    let folder = Folder::new().with("model.safetensors", &file);
    let path = folder.path().join("model.safetensors");
    for checkpoint in [folder.open().unwrap(), Checkpoint::open(&[path]).unwrap()] {
        assert_eq!(checkpoint.bytes(), 60);
        assert_eq!(checkpoint.metadata["format"], "pt");
        assert_eq!(checkpoint.files[0].bytes, file.len() as u64);
        for (name, fill) in [("wte", 1), ("norm", 2), ("none", 3)] {
            let tensor = checkpoint.tensors.iter().find(|tensor| tensor.name == name).unwrap();
            let mut data = vec![0; usize::try_from(tensor.bytes).unwrap()];
            checkpoint.files[0].file.read_exact_at(&mut data, tensor.file_offset).unwrap();
            assert!(data.iter().all(|byte| *byte == fill), "{name}");
        }
        checkpoint.check_unchanged().unwrap();
    }
}

#[test]
fn several_files_and_folders() {
    let [a, b, c] = ["a", "b", "c"].map(|name| bytes_of(&[(name, &[2], 1)]));
    let folder = Folder::new().with("1.safetensors", &a).with("2.safetensors", &b);
    let other = Folder::new().with("x.bin", &c).with("notes.txt", "");
    let paths = [folder.path(), other.path().join("x.bin")];
    let checkpoint = Checkpoint::open(&paths).unwrap();
    let found: Vec<(&str, usize)> =
        checkpoint.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.file)).collect();
    assert_eq!(found, [("a", 0), ("b", 1), ("c", 2)]);
    assert!(other.refused().ends_with("no *.safetensors file is in this folder"));
    let none = Folder::new().with("1.safetensors", raw("{}", 0));
    assert!(none.refused().ends_with("it has no tensors"));
    assert!(matches!(Checkpoint::open(&[]), Err(CheckpointError::NoTensors { .. })));
}

#[test]
fn an_index_says_which_files_count() {
    let shards = |folder: Folder| {
        folder
            .with("s1.safetensors", bytes_of(&[("a", &[2], 1)]))
            .with("s2.safetensors", bytes_of(&[("b", &[2], 1)]))
            .with("other.safetensors", bytes_of(&[("a", &[2], 1)]))
    };
    let good = [("a", "s1.safetensors"), ("b", "s2.safetensors")];
    for name in ["model.safetensors.index.json", "pytorch.safetensors.index.json"] {
        let folder = shards(Folder::new()).with(name, index(&good));
        let checkpoint = folder.open().unwrap();
        assert_eq!((checkpoint.files.len(), checkpoint.tensors.len()), (2, 2));
        let direct = Checkpoint::open(&[folder.path().join(name)]).unwrap();
        assert_eq!(direct.tensors, checkpoint.tensors);
    }
    let said = shards(Folder::new()).refused();
    assert!(said.contains("tensor 'a' is in "), "{said}");
    assert!(
        said.contains("other.safetensors and in ") && said.contains("s1.safetensors"),
        "{said}"
    );
    let with =
        |text: &str| shards(Folder::new()).with("model.safetensors.index.json", text).refused();
    let cases = [
        (with("{"), "the index cannot be read"),
        (with("{}"), "missing field `weight_map`"),
        (
            with(r#"{"weight_map":{"a":"s1.safetensors","a":"s2.safetensors"}}"#),
            "'a' appears twice",
        ),
        (
            with(&index(&[("a", "../s1.safetensors")])),
            "names '../s1.safetensors', which is not a plain file name",
        ),
        (with(&index(&[("a", "/etc/passwd")])), "not a plain file name"),
        (with(&index(&[("a", "..")])), "not a plain file name"),
        (with(&index(&[("a", "")])), "not a plain file name"),
        (with(&index(&[("a", "s3.safetensors")])), "s3.safetensors, which does not exist"),
        (
            with(&index(&[("a", "s2.safetensors")])),
            "says that tensor 'a' is in s2.safetensors, where it is not",
        ),
        (
            with(&index(&[("a", "s2.safetensors"), ("b", "s1.safetensors")])),
            "says that tensor 'a' is in s2.safetensors",
        ),
        (with(&index(&[])), "it has no tensors"),
    ];
    for (said, message) in cases {
        assert!(said.contains(message), "{said}\nlacks: {message}");
    }
    let two = shards(Folder::new())
        .with("x.safetensors.index.json", index(&good))
        .with("y.safetensors.index.json", index(&good));
    assert!(two.refused().contains("several *.safetensors.index.json"));
}

#[test]
fn hostile_files_are_refused_by_name() {
    let good = bytes_of(&[("wte", &[4, 3], 1)]);
    let mut long = good.clone();
    long.push(0);
    let one = r#"{"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#;
    let cases: [(Vec<u8>, &str); 9] = [
        (Vec::new(), "has 0 bytes, too few for a safetensors file"),
        (b"1234567".to_vec(), "has 7 bytes, too few"),
        ((1u64 << 60).to_le_bytes().to_vec(), "its header has 1152921504606846976 bytes; at most"),
        (u64::MAX.to_le_bytes().to_vec(), "at most 100000000 are possible"),
        (
            100u64.to_le_bytes().to_vec(),
            "its header has 100 bytes, but the file has 8: it is truncated",
        ),
        (
            good[..good.len() - 1].to_vec(),
            "need 48 bytes after the header, the file has 47: it is truncated",
        ),
        (long, "the file has 49: it is longer than it may be"),
        (raw("not json", 0), "its header cannot be read"),
        (raw(one, 3), "it is truncated"),
    ];
    for (bytes, message) in cases {
        let said = Folder::new().with("bad.safetensors", bytes).refused();
        assert!(
            said.contains(message) && said.contains("bad.safetensors"),
            "{said}\nlacks: {message}"
        );
    }
    for end in 0..good.len() {
        assert!(Folder::new().with("cut.safetensors", &good[..end]).open().is_err(), "{end}");
    }
}

#[test]
fn only_regular_files_are_opened() {
    let folder = Folder::new();
    let pipe = folder.path().join("model.safetensors");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(folder.refused().ends_with("model.safetensors: not a regular file"));
    let missing = Checkpoint::open(&[folder.path().join("none")]).unwrap_err();
    assert!(matches!(missing, CheckpointError::Io { .. }), "{missing}");
    let inner = Folder::new();
    fs::create_dir(inner.path().join("x.safetensors")).unwrap();
    assert!(inner.refused().ends_with("x.safetensors: not a regular file"));
    let linked = Folder::new();
    let real = Folder::new().with("blob", bytes_of(&[("a", &[2], 1)]));
    std::os::unix::fs::symlink(real.path().join("blob"), linked.path().join("m.safetensors"))
        .unwrap();
    assert_eq!(linked.open().unwrap().tensors.len(), 1, "caches of checkpoints are made of links");
}

#[test]
fn a_file_that_changes_is_noticed() {
    let folder = Folder::new().with("m.safetensors", bytes_of(&[("a", &[2], 1)]));
    let path = folder.path().join("m.safetensors");
    let said = |checkpoint: &Checkpoint| checkpoint.check_unchanged().unwrap_err().to_string();
    let checkpoint = folder.open().unwrap();
    fs::OpenOptions::new().append(true).open(&path).unwrap().set_len(9).unwrap();
    assert!(said(&checkpoint).contains("m.safetensors: changed while it was read"));
    let folder = folder.with("m.safetensors", bytes_of(&[("a", &[2], 1)]));
    let checkpoint = folder.open().unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert!(said(&checkpoint).contains("changed while it was read"), "the size is the same");
}

#[test]
fn weights_in_another_format_are_refused_by_what_they_are() {
    let mut npz = b"PK\x03\x04".to_vec();
    npz.resize(26, 0);
    npz.extend(b"\x09\x00\x00\x00arr_0.npy");
    let cases: [(&str, &[u8], &str); 6] = [
        ("pytorch_model.bin", b"PK\x03\x04..............................", "a PyTorch pickle"),
        ("old.pt", b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", "a PyTorch pickle"),
        ("llama.gguf", b"GGUF\x03\x00\x00\x00............", "a GGUF file"),
        ("model.h5", b"\x89HDF\r\n\x1a\n............", "an HDF5 file"),
        ("one.npy", b"\x93NUMPY\x01\x00............", "a numpy file"),
        ("many.npz", &npz, "a numpy file"),
    ];
    for (name, bytes, what) in cases {
        let folder = Folder::new().with(name, bytes).with("config.json", "{}");
        for path in [folder.path(), folder.path().join(name)] {
            let error = Checkpoint::open(&[path]).unwrap_err();
            let said = format!("{name}: this is {what}, not safetensors");
            assert!(error.to_string().ends_with(&said), "{error}");
            assert!(error.hint().is_some(), "{error}");
        }
    }
    let folder = Folder::new().with("pytorch_model.bin", cases[0].1);
    let hint = Checkpoint::open(&[folder.path()]).unwrap_err().hint().unwrap();
    assert!(hint.contains("torch.load('") && hint.contains("/pytorch_model.bin'"), "{hint}");
}
