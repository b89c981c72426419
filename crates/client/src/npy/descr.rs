//! Numpy's names for dtypes, made from the one table.
//!
//! The first alias of a dtype there is numpy's name for it, or that of the package `ml_dtypes`. A
//! `descr` is such a name, or byte order, letter and bytes, as in `<f4`. Packed dtypes have none:
//! `ml_dtypes` keeps each of their elements in a byte of its own.

use millpond_wire::Dtype;

use super::NpyError;
use super::dict::Descr;

/// Numpy's letter for a kind of number, and the word that its names begin with.
const KINDS: [(char, &str); 4] = [('f', "float"), ('i', "int"), ('u', "uint"), ('c', "complex")];

/// What numpy writes for dtypes of `ml_dtypes` that share their letter and size with no other.
const OPAQUE: [(&str, Dtype); 2] = [("<V2", Dtype::Bf16), ("<f1", Dtype::F8E5M2)];

/// So much of an unknown `descr` is repeated in an error.
const SHOWN: usize = 64;

/// The dtype that a header names.
pub fn dtype(descr: &Descr) -> Result<Dtype, NpyError> {
    let text = match descr {
        Descr::Text(text) => text,
        Descr::Fields => return Err(NpyError::Descr("with fields".to_owned())),
    };
    let known = OPAQUE.iter().find(|(written, _)| written == text).map(|(_, dtype)| *dtype);
    if let Some(dtype) = known.or_else(|| named(text)) {
        return Ok(dtype);
    }
    let mut letters = text.chars();
    let order = letters.next();
    let known = element(letters.as_str());
    match (order, known) {
        // The order of one byte says nothing.
        (Some('<' | '>' | '|' | '='), Some(dtype)) if dtype.bits() == 8 => Ok(dtype),
        (Some('<'), Some(dtype)) => Ok(dtype),
        (Some('>'), Some(_)) => Err(NpyError::BigEndian(text.clone())),
        _ => {
            let shown: String = text.chars().take(SHOWN).collect();
            Err(NpyError::Descr(format!("{shown:?}")))
        }
    }
}

/// How a dtype is written.
pub fn of(dtype: Dtype) -> Option<String> {
    let name = name(dtype)?;
    if dtype == Dtype::Bf16 {
        return OPAQUE.iter().find(|(_, opaque)| *opaque == dtype).map(|(text, _)| (*text).into());
    }
    let order = if dtype.bits() == 8 { '|' } else { '<' };
    let mut ways = KINDS.iter().map(|(letter, _)| format!("{letter}{}", dtype.bits() / 8));
    let code = if dtype == Dtype::Bool {
        Some("b1".to_owned())
    } else {
        ways.find(|code| element(code) == Some(dtype))
    };
    Some(code.map_or_else(|| name.to_owned(), |code| format!("{order}{code}")))
}

/// Everything that can be read, for an error.
pub fn known() -> String {
    let all = Dtype::ALL.iter().filter_map(|dtype| of(*dtype));
    all.collect::<Vec<_>>().join(", ")
}

/// Letter and bytes, as in `f4`.
fn element(code: &str) -> Option<Dtype> {
    if code == "b1" {
        return Some(Dtype::Bool);
    }
    let (_, word) = KINDS.iter().find(|(letter, _)| code.starts_with(*letter))?;
    let bytes: u64 = match &code[1..] {
        "1" => 1,
        "2" => 2,
        "4" => 4,
        "8" => 8,
        _ => return None,
    };
    named(&format!("{word}{}", bytes * 8))
}

fn named(text: &str) -> Option<Dtype> {
    Dtype::ALL.iter().copied().find(|dtype| name(*dtype) == Some(text))
}

fn name(dtype: Dtype) -> Option<&'static str> {
    dtype.aliases().first().copied().filter(|_| dtype.bits() >= 8)
}
