//! The one table of element types, all of safetensors' and in its spelling.

use std::fmt;
use std::str::FromStr;

macro_rules! dtypes {
    ($($code:literal $variant:ident $name:literal $bits:literal [$($alias:literal)*] $doc:literal;)*) => {
        /// The type of a tensor's elements.
        ///
        /// The number is what travels and what the journal keeps: it never changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Dtype {
            $(#[doc = $doc] $variant = $code,)*
        }

        impl Dtype {
            /// Every dtype, in the order of the table.
            pub const ALL: &'static [Dtype] = &[$(Dtype::$variant,)*];

            /// The name in safetensors' spelling, for example `BF16`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Dtype::$variant => $name,)* }
            }

            /// Bits of one element; less than eight for packed kinds.
            #[must_use]
            pub const fn bits(self) -> u64 {
                match self { $(Dtype::$variant => $bits,)* }
            }

            /// Other spellings: numpy's, torch's and short ones.
            #[must_use]
            pub const fn aliases(self) -> &'static [&'static str] {
                match self { $(Dtype::$variant => &[$($alias,)*],)* }
            }

            /// The dtype with this number.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Dtype> {
                match code { $($code => Some(Dtype::$variant),)* _ => None }
            }
        }
    };
}

dtypes! {
    1 Bool "BOOL" 8 ["bool"] "Truth value in one byte.";
    2 F4 "F4" 4 ["float4_e2m1fn" "f4_e2m1"] "Four-bit float, two to a byte.";
    3 F6E2M3 "F6_E2M3" 6 ["float6_e2m3fn"] "Six-bit float, packed.";
    4 F6E3M2 "F6_E3M2" 6 ["float6_e3m2fn"] "Six-bit float, packed.";
    5 U8 "U8" 8 ["uint8" "byte"] "Unsigned byte.";
    6 I8 "I8" 8 ["int8"] "Signed byte.";
    7 F8E5M2 "F8_E5M2" 8 ["float8_e5m2" "f8e5m2"] "Eight-bit float, five exponent bits.";
    8 F8E4M3 "F8_E4M3" 8 ["float8_e4m3fn" "f8e4m3" "fp8"] "Eight-bit float, four exponent bits.";
    9 F8E8M0 "F8_E8M0" 8 ["float8_e8m0fnu" "f8e8m0"] "Eight-bit exponent, for block scales.";
    10 F8E4M3Fnuz "F8_E4M3FNUZ" 8 ["float8_e4m3fnuz"] "Eight-bit float, four exponent bits, no negative zero.";
    11 F8E5M2Fnuz "F8_E5M2FNUZ" 8 ["float8_e5m2fnuz"] "Eight-bit float, five exponent bits, no negative zero.";
    12 I16 "I16" 16 ["int16" "short"] "Signed, 16 bits.";
    13 U16 "U16" 16 ["uint16"] "Unsigned, 16 bits.";
    14 F16 "F16" 16 ["float16" "half" "fp16"] "IEEE half precision.";
    15 Bf16 "BF16" 16 ["bfloat16"] "Brain float.";
    16 I32 "I32" 32 ["int32" "int"] "Signed, 32 bits.";
    17 U32 "U32" 32 ["uint32"] "Unsigned, 32 bits.";
    18 F32 "F32" 32 ["float32" "float" "fp32"] "IEEE single precision.";
    19 C64 "C64" 64 ["complex64"] "Complex of two single-precision parts.";
    20 F64 "F64" 64 ["float64" "double" "fp64"] "IEEE double precision.";
    21 I64 "I64" 64 ["int64" "long"] "Signed, 64 bits.";
    22 U64 "U64" 64 ["uint64"] "Unsigned, 64 bits.";
}

impl Dtype {
    /// The number of the table.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No dtype has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown dtype '{0}'; known are {known}", known = known())]
pub struct UnknownDtype(pub String);

fn known() -> String {
    Dtype::ALL.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for Dtype {
    type Err = UnknownDtype;

    fn from_str(text: &str) -> Result<Self, UnknownDtype> {
        let bare = text.strip_prefix("torch.").unwrap_or(text);
        Dtype::ALL
            .iter()
            .copied()
            .find(|dtype| {
                bare.eq_ignore_ascii_case(dtype.name())
                    || dtype.aliases().iter().any(|alias| bare.eq_ignore_ascii_case(alias))
            })
            .ok_or_else(|| UnknownDtype(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_names_exactly_one_dtype() {
        let mut seen = std::collections::HashMap::new();
        for dtype in Dtype::ALL {
            assert_eq!(Dtype::from_code(dtype.code()), Some(*dtype));
            for spelling in dtype.aliases().iter().chain([&dtype.name()]) {
                let lower = spelling.to_ascii_lowercase();
                let other = seen.insert(lower, *dtype);
                assert!(other.is_none() || other == Some(*dtype), "{spelling} is ambiguous");
                assert_eq!(spelling.parse::<Dtype>().unwrap(), *dtype);
            }
        }
        assert_eq!("torch.bfloat16".parse::<Dtype>().unwrap(), Dtype::Bf16);
        assert!("f33".parse::<Dtype>().unwrap_err().to_string().contains("BF16"));
        assert_eq!(Dtype::from_code(0), None);
    }
}
