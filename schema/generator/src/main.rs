//! Writes the Rust code of a FlatBuffers schema: `generator <schema.fbs> <out.rs>`.
//!
//! A tool of its own, outside the workspace, because its hundred dependencies have no place in a
//! user's build; `scripts/generate` runs it, `scripts/test` compares.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [schema, out] = arguments.as_slice() else {
        eprintln!("usage: generator <schema.fbs> <out.rs>");
        return ExitCode::from(2);
    };
    let Some(declarations) = planus_translation::translate_files(&[Path::new(schema)]) else {
        eprintln!("{schema}: not a valid schema");
        return ExitCode::FAILURE;
    };
    let code = match planus_codegen::generate_rust(&declarations, false) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{schema}: {error}");
            return ExitCode::FAILURE;
        }
    };
    // Nobody serialises the generated types; deriving it for all of them takes longer to compile
    // than the rest.
    let code = code.replace("::serde::Serialize,", "").replace("::serde::Deserialize", "");
    let text = format!("// Generated from {} by scripts/generate. Do not edit.\n{code}", schema_name(schema));
    if let Err(error) = std::fs::write(out, text) {
        eprintln!("{out}: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn schema_name(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}
