//! Functions of the driver that are not in the table: found by name, as any program finds them.
//!
//! The lists are the software driver's. A real driver may lack one: the test then says which, and
//! counts as skipped.

use crate::support::driver;
use millpond_cuda::sys::*;
use millpond_cuda::{Driver, Nvml};
use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ushort, c_void};

macro_rules! functions {
    ($(#[$about:meta])* $functions:ident of $library:ty => $status:ty; $($name:ident($($arg:ident: $type:ty),* $(,)?);)*) => {
        $(#[$about])*
        #[allow(non_snake_case, dead_code, reason = "fields carry the names of the C symbols")]
        pub struct $functions {
            $(pub $name: Option<unsafe extern "C" fn($($arg: $type),*) -> $status>,)*
        }

        impl $functions {
            /// Whatever of them the library exports.
            pub fn of(library: &$library) -> Self {
                Self {
                    $($name: library.symbol(stringify!($name)).map(|address| {
                        // SAFETY: the driver exports this name with this signature.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($arg: $type),*) -> $status,
                            >(address.as_ptr())
                        }
                    }),)*
                }
            }
        }
    };
}

macro_rules! extra {
    ($($list:tt)*) => {
        functions! {
            /// The functions that the software driver has beyond the table.
            Extra of Driver => Status;
            $($list)*
        }
    };
}

macro_rules! twins {
    ($($twin:ident = $name:ident($($args:tt)*);)*) => {
        functions! {
            /// The functions whose stream 0 is the thread's own.
            Twins of Driver => Status;
            $($twin($($args)*);)*
        }

        /// Each twin with the function that it is a twin of.
        pub const PAIRS: &[(&str, &str)] = &[$((stringify!($twin), stringify!($name))),*];
    };
}

macro_rules! nvml_extra {
    ($($list:tt)*) => {
        functions! {
            /// NVML's functions beyond the table.
            NvmlExtra of Nvml => NvmlStatus;
            $($list)*
        }
    };
}

millpond_softgpu::extra_entry_points!(extra);
millpond_softgpu::nvml_extra_entry_points!(nvml_extra);
millpond_softgpu::twin_entry_points!(twins);

impl Extra {
    pub fn find() -> Self {
        Self::of(&driver())
    }
}

impl Twins {
    pub fn find() -> Self {
        Self::of(&driver())
    }
}

/// A function that the test cannot do without; ends the test as skipped when the driver has none.
macro_rules! need {
    ($functions:expr, $name:ident) => {
        match $functions.$name {
            Some(function) => function,
            None => {
                crate::support::skip(concat!("the driver exports no ", stringify!($name)));
                return;
            }
        }
    };
}
pub(crate) use need;
