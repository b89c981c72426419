use proptest::prelude::*;

use super::*;

/// A file of version 1.0 with this header.
fn file(dict: &str) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&u16::try_from(dict.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(dict.as_bytes());
    bytes
}

fn parse(dict: &str) -> Result<Header, NpyError> {
    Header::parse(&file(dict))
}

fn with_descr(descr: &str) -> Result<Dtype, NpyError> {
    parse(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (2, 3), }}"))
        .map(|header| header.dtype)
}

#[test]
fn the_bytes_are_those_that_numpy_writes() {
    let written = write_header(Dtype::F32, &Shape::new([2, 3]).unwrap()).unwrap();
    let mut expected = b"\x93NUMPY\x01\x00v\x00".to_vec();
    expected.extend_from_slice(b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
    expected.resize(127, b' ');
    expected.push(b'\n');
    assert_eq!(written, expected);
    let scalar = write_header(Dtype::U8, &Shape::default()).unwrap();
    assert!(scalar.windows(9).any(|part| part == b"shape': (".as_slice()));
    assert_eq!(Header::parse(&scalar).unwrap().shape, Shape::default());
}

#[test]
fn versions_two_and_three_have_a_longer_length() {
    let dict = b"{'descr': '|u1', 'fortran_order': True, 'shape': (7,)}";
    for version in [2, 3] {
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend_from_slice(&[version, 0]);
        bytes.extend_from_slice(&u32::try_from(dict.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(dict);
        let offset = bytes.len();
        bytes.extend_from_slice(b"the array");
        let header = Header::parse(&bytes).unwrap();
        let shape = Shape::new([7]).unwrap();
        let expected = Header { dtype: Dtype::U8, shape, fortran_order: true, data_offset: offset };
        assert_eq!(header, expected);
    }
    assert_eq!(Header::parse(b"\x93NUMPY\x04\x00aaaa"), Err(NpyError::Version(4, 0)));
    let long = b"\x93NUMPY\x02\x00\xff\xff\xff\xff{";
    assert_eq!(Header::parse(long), Err(NpyError::TooLong(u32::MAX)));
}

#[test]
fn the_dict_may_be_written_in_any_way_that_python_reads() {
    for dict in [
        "{'shape': (4, 5), 'fortran_order': False, 'descr': '<i8'}",
        "{\"descr\": \"<i8\", \"fortran_order\": False, \"shape\": (4, 5), }   \n",
        " {\n'descr':'<i8','fortran_order':False,'shape':(4,5,),}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (4L, 5L)}",
    ] {
        let header = parse(dict).unwrap();
        assert_eq!((header.dtype, header.shape.dims()), (Dtype::I64, [4, 5].as_slice()), "{dict}");
    }
}

#[test]
fn what_is_no_such_dict_is_refused() {
    for dict in [
        "",
        "{",
        "{}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'more': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} + 1",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [2, 3]}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (03, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 3)}",
        "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (2, 3)}",
    ] {
        assert!(matches!(parse(dict), Err(NpyError::Syntax { .. })), "{dict}: {:?}", parse(dict));
    }
}

#[test]
fn shapes_that_no_tensor_has_are_refused() {
    let parse = |shape: &str| {
        parse(&format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}"))
    };
    assert!(matches!(parse("(0, 3)"), Err(NpyError::Shape(ShapeError::Empty(_)))));
    assert!(parse("(0, 3)").unwrap_err().hint().is_some());
    let huge = "(4294967296, 4294967296, 4294967296)";
    assert!(matches!(parse(huge), Err(NpyError::Shape(ShapeError::TooLarge(_)))));
    let many = format!("({})", "1, ".repeat(17));
    assert!(matches!(parse(&many), Err(NpyError::Shape(ShapeError::TooManyDimensions(17)))));
    assert!(parse(&format!("({})", "1, ".repeat(16))).is_ok());
}

#[test]
fn descrs_name_one_dtype_or_are_refused_by_name() {
    for (descr, dtype) in [
        ("'|b1'", Dtype::Bool),
        ("'|u1'", Dtype::U8),
        ("'<i1'", Dtype::I8),
        ("'<f2'", Dtype::F16),
        ("'<c8'", Dtype::C64),
        ("'<V2'", Dtype::Bf16),
        ("'bfloat16'", Dtype::Bf16),
        ("'<f1'", Dtype::F8E5M2),
        ("'float8_e4m3fn'", Dtype::F8E4M3),
        ("'float32'", Dtype::F32),
    ] {
        assert_eq!(with_descr(descr), Ok(dtype), "{descr}");
    }
    assert_eq!(with_descr("'>f4'"), Err(NpyError::BigEndian(">f4".to_owned())));
    assert!(with_descr("'>f4'").unwrap_err().hint().unwrap().contains("newbyteorder"));
    // In numpy `int` has 64 bits, `byte` is signed, and `f4` is not the packed F4.
    for descr in ["'int'", "'byte'", "'f4'", "'F4'", "'|V2'", "'<V1'", "'|O'", "'<c16'", "'<U5'"] {
        let error = with_descr(descr).unwrap_err();
        assert!(matches!(error, NpyError::Descr(_)), "{descr}");
        assert!(error.to_string().contains(descr.trim_matches('\'')), "{error}");
        assert!(error.to_string().contains("<f4, ") && error.hint().is_some(), "{error}");
    }
    let fields = with_descr("[('a', '<f4'), ('b', '<i4')]").unwrap_err();
    assert!(fields.to_string().contains("with fields"), "{fields}");
}

#[test]
fn every_dtype_that_is_not_packed_comes_back() {
    for dtype in Dtype::ALL {
        match write_header(*dtype, &Shape::new([2]).unwrap()) {
            Ok(bytes) => assert_eq!(Header::parse(&bytes).unwrap().dtype, *dtype),
            Err(error) => {
                assert_eq!(error, NpyError::NoDescr(*dtype));
                assert!(dtype.bits() < 8);
            }
        }
    }
}

fn dtypes() -> impl Strategy<Value = Dtype> {
    let whole: Vec<Dtype> = Dtype::ALL.iter().copied().filter(|dtype| dtype.bits() >= 8).collect();
    prop::sample::select(whole)
}

proptest! {
    #[test]
    fn what_is_written_is_read(dtype in dtypes(), dims in prop::collection::vec(1u64..9, 0..=16)) {
        let Ok(shape) = Shape::new(dims) else { return Ok(()) };
        let bytes = write_header(dtype, &shape).unwrap();
        prop_assert!(bytes.len().is_multiple_of(64));
        let header = Header::parse(&bytes).unwrap();
        prop_assert_eq!(&header, &Header {
            dtype, shape, fortran_order: false, data_offset: bytes.len(),
        });
        for length in 0..bytes.len() {
            let cut = Header::parse(&bytes[..length]);
            let fits = matches!(cut, Err(NpyError::Cut { have, need }) if have == length && need > length);
            prop_assert!(fits, "{:?}", cut);
        }
    }

    #[test]
    fn damage_is_refused_or_read_but_never_worse(
        at in 0usize..128, byte in any::<u8>(), dims in prop::collection::vec(1u64..9, 0..4),
    ) {
        let mut bytes = write_header(Dtype::F32, &Shape::new(dims).unwrap()).unwrap();
        bytes[at] = byte;
        if let Ok(header) = Header::parse(&bytes) {
            prop_assert!(header.data_offset <= bytes.len());
            prop_assert!(write_header(header.dtype, &header.shape).is_ok());
        }
    }
}
