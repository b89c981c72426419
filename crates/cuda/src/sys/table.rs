//! The function tables: one field per entry point of the list.

// The list names every type that some signature uses.
use super::{
    CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUcontext, CUdevice, CUdeviceptr, CUevent,
    CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUipcEventHandle, CUipcMemHandle,
    CUmemAccessDesc, CUmemAllocationProp, CUmemGenericAllocationHandle, CUmemLocation,
    CUmemPoolProps, CUmemPoolPtrExportData, CUmemoryPool, CUmodule, CUstream, CUuuid, NvmlDevice,
    NvmlMemory, NvmlProcessInfo, NvmlStatus, NvmlUtilization, Status,
};
use std::ffi::{c_char, c_int, c_uchar, c_uint, c_void};
use std::fmt;

/// A symbol of the list that a library or provider does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingSymbol(pub &'static str);

macro_rules! table {
    (
        $(#[$attribute:meta])* $table:ident returns $status:ident;
        $( $name:ident ( $( $argument:ident : $type:ty ),* ); )*
    ) => {
        $(#[$attribute])*
        #[allow(non_snake_case, reason = "fields carry the names of the C symbols")]
        #[derive(Clone, Copy)]
        pub struct $table {
            $(
                #[doc = concat!("`", stringify!($name), "`.")]
                pub $name: unsafe extern "C" fn($( $argument: $type ),*) -> $status,
            )*
        }

        impl $table {
            /// Every symbol of the table, in the order of the list.
            pub const SYMBOLS: &'static [&'static str] = &[$( stringify!($name) ),*];

            /// Fills the table from a look-up that answers null for an unknown symbol.
            ///
            /// # Errors
            /// The first symbol that the look-up does not know.
            ///
            /// # Safety
            /// Each address that `lookup` returns for a symbol must be a C function with that
            /// symbol's signature in the list, and must stay callable while the table is in use.
            pub unsafe fn fill(
                lookup: impl Fn(&'static str) -> *const c_void,
            ) -> Result<Self, MissingSymbol> {
                Ok(Self {
                    $( $name: {
                        let address = lookup(stringify!($name));
                        if address.is_null() {
                            return Err(MissingSymbol(stringify!($name)));
                        }
                        // SAFETY: not null, and the caller vouches for the signature.
                        unsafe {
                            std::mem::transmute::<
                                *const c_void,
                                unsafe extern "C" fn($( $argument: $type ),*) -> $status,
                            >(address)
                        }
                    }, )*
                })
            }
        }

        impl fmt::Debug for $table {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($table), "({} entry points)"), Self::SYMBOLS.len())
            }
        }
    };
}

macro_rules! cuda_table {
    ($($list:tt)*) => {
        table! {
            /// The functions of `libcuda.so.1` that Millpond uses.
            CudaTable returns Status;
            $($list)*
        }
    };
}

macro_rules! nvml_table {
    ($($list:tt)*) => {
        table! {
            /// The functions of `libnvidia-ml.so.1` that Millpond uses.
            NvmlTable returns NvmlStatus;
            $($list)*
        }
    };
}

crate::cuda_entry_points!(cuda_table);
crate::nvml_entry_points!(nvml_table);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_symbol_is_named() {
        extern "C" fn nothing() {}
        let address: *const c_void = (nothing as extern "C" fn() as *const ()).cast();
        let lookup = |name: &'static str| {
            if name == "cuMemMap" { std::ptr::null() } else { address }
        };
        // SAFETY: the table is dropped without a call.
        let error = unsafe { CudaTable::fill(lookup) }.unwrap_err();
        assert_eq!(error, MissingSymbol("cuMemMap"));
    }

    #[test]
    fn the_list_has_no_symbol_twice() {
        let mut symbols = CudaTable::SYMBOLS.to_vec();
        symbols.extend(NvmlTable::SYMBOLS);
        let count = symbols.len();
        symbols.sort_unstable();
        symbols.dedup();
        assert_eq!(symbols.len(), count);
    }
}
