//! Headers of `.npy` files.

use millpond::npy::{HEADER_BYTES, Header, NpyError, write_header};

use crate::memory;

/// What is read can be written, and then says the same.
pub fn check(data: &[u8]) {
    memory::within(data, 16, || match Header::parse(data) {
        Ok(header) => {
            assert!(header.data_offset <= data.len().min(HEADER_BYTES));
            let bytes = write_header(header.dtype, &header.shape).expect("it has a descr");
            let again = Header::parse(&bytes).expect("what was written can be read");
            assert_eq!((again.dtype, &again.shape), (header.dtype, &header.shape));
            assert!(!again.fortran_order && again.data_offset == bytes.len());
        }
        Err(NpyError::Cut { have, need }) => {
            assert!(have == data.len() && need > have && need <= HEADER_BYTES);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    });
}
