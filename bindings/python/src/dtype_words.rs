//! Words for dtypes that other libraries read differently.
//!
//! `"i8"` is one byte to safetensors and eight to numpy, so whichever the pond took, somebody would
//! get a tensor of the wrong size without an error. Python refuses such a word and names two that
//! can be read in one way only.

use millpond::Dtype;

/// Words without a size, and what they may mean.
const SIZELESS: [(&str, &str, &str); 3] = [
    ("float", "float32", "float64"),
    ("int", "int32", "int64"),
    // Signed to numpy, unsigned to torch.
    ("byte", "uint8", "int8"),
];

/// Why a word is refused: the message, and two words that are not.
pub(crate) fn refusal(word: &str) -> Option<(String, String)> {
    let say = |one: &str, other: &str| Some(format!("say \"{one}\" or \"{other}\""));
    if let Some((_, one, other)) =
        SIZELESS.iter().find(|(sizeless, ..)| word.eq_ignore_ascii_case(sizeless))
    {
        let message = format!("dtype '{word}' is not the same type in numpy and torch");
        return Some((message, say(one, other)?));
    }
    let bare = word.strip_prefix(['<', '=', '|']);
    let numpy = numpys(bare.unwrap_or(word))?;
    let name = super::convert::spelling(numpy);
    let upper = word.to_ascii_uppercase();
    let pond = Dtype::ALL.iter().find(|dtype| dtype.name() == upper);
    // Where nothing of the pond has this very name, one that begins so, or the same type.
    let begins = || Dtype::ALL.iter().find(|dtype| dtype.name() == "F8_E4M3" && upper == "F8");
    let other = pond.or_else(begins).map_or(numpy.name(), |dtype| dtype.name());
    let message = match pond {
        Some(pond) => format!(
            "dtype '{word}' has {} bits in numpy's spelling and {} in safetensors'",
            numpy.bits(),
            pond.bits()
        ),
        None => format!("dtype '{word}' is {name} in numpy's spelling, which counts bytes"),
    };
    Some((message, say(name, other)?))
}

/// What numpy takes a letter and a number of bytes for. `f16` is missing: nobody means numpy's
/// 128 bits by it.
fn numpys(word: &str) -> Option<Dtype> {
    Some(match word {
        "b1" => Dtype::Bool,
        "i1" => Dtype::I8,
        "i2" => Dtype::I16,
        "i4" => Dtype::I32,
        "i8" => Dtype::I64,
        "u1" => Dtype::U8,
        "u2" => Dtype::U16,
        "u4" => Dtype::U32,
        "u8" => Dtype::U64,
        "f2" => Dtype::F16,
        "f4" => Dtype::F32,
        "f8" => Dtype::F64,
        "c8" => Dtype::C64,
        _ => return None,
    })
}
