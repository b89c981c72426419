//! Writes the C header: `millpond-c-header SOURCE_FOLDER VERSION OUT`.
//!
//! The sources are parsed and not compiled, so that this needs nothing of what they need.

use std::path::Path;
use std::{env, fs, process};

use cbindgen::{Builder, Config};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [folder, version, out] = arguments.as_slice() else {
        eprintln!("usage: millpond-c-header FOLDER VERSION OUT");
        process::exit(64);
    };
    if let Err(error) = write(Path::new(folder), version, Path::new(out)) {
        eprintln!("{error}");
        process::exit(1);
    }
}

fn write(folder: &Path, version: &str, out: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut config = Config::from_file(folder.join("cbindgen.toml"))?;
    let parts: Vec<&str> = version.split('.').collect();
    let [major, minor, patch] = parts.as_slice() else {
        return Err(format!("'{version}' is no version of three numbers").into());
    };
    let macros = config.after_includes.take().unwrap_or_default();
    config.after_includes = Some(
        macros
            .replace("@MAJOR@", major)
            .replace("@MINOR@", minor)
            .replace("@PATCH@", patch)
            .replace("@VERSION@", version),
    );
    let mut builder = Builder::new().with_config(config);
    // cbindgen knows `Option<&mut T>` as a pointer, and resolves no alias with parameters.
    let copies = out.with_extension("sources");
    fs::create_dir_all(&copies)?;
    for file in sources(folder)? {
        let copy = copies.join(file.file_name().ok_or("a source without a name")?);
        fs::write(&copy, without_alias(&fs::read_to_string(&file)?))?;
        builder = builder.with_src(copy);
    }
    let mut header = Vec::new();
    builder.generate()?.write(&mut header);
    fs::remove_dir_all(&copies)?;
    fs::write(out, polished(&String::from_utf8(header)?))?;
    Ok(())
}

/// `Out<'_, T>` written out.
fn without_alias(source: &str) -> String {
    let mut parts = source.split("Out<'_, ");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (inner, rest) = part.split_once('>').unwrap_or((part, ""));
        whole += &format!("Option<&mut {inner}>{rest}");
    }
    whole
}

/// Comments as people write them, of at most a hundred columns, and types by their short names.
fn polished(header: &str) -> String {
    let mut lines = Vec::new();
    let mut comment: Option<(String, Vec<String>)> = None;
    for line in header.lines() {
        let bare = line.trim_start();
        match &mut comment {
            Some((indent, text)) if bare == "*/" => {
                lines.extend(written(indent, text));
                comment = None;
            }
            Some((_, text)) => text.push(bare.to_owned()),
            None if bare == "/*" => {
                comment = Some((line[..line.len() - bare.len()].to_owned(), Vec::new()));
            }
            None if line.starts_with("typedef struct ") || line.starts_with("enum ") => {
                lines.push(line.to_owned())
            }
            None => lines.push(
                line.replace("struct millpond_", "millpond_")
                    .replace("char* ", "char *")
                    .replace("const const char **", "const char *const *"),
            ),
        }
    }
    lines.join("\n") + "\n"
}

fn written(indent: &str, text: &[String]) -> Vec<String> {
    let width = 100 - indent.len();
    let mut wrapped: Vec<String> = Vec::new();
    let mut begins = true;
    for line in text {
        if line.is_empty() {
            wrapped.push(String::new());
            begins = true;
            continue;
        }
        for word in line.split_whitespace() {
            match wrapped.last_mut() {
                Some(last)
                    if !begins && last.chars().count() + word.chars().count() + 4 <= width =>
                {
                    last.push(' ');
                    last.push_str(word);
                }
                _ => wrapped.push(word.to_owned()),
            }
            begins = false;
        }
    }
    if let [line] = wrapped.as_slice()
        && line.chars().count() + 7 <= width
    {
        return vec![format!("{indent}/** {line} */")];
    }
    let mut lines = vec![format!("{indent}/**")];
    lines.extend(wrapped.iter().map(|line| format!("{indent} * {line}").trim_end().to_owned()));
    lines.push(format!("{indent} */"));
    lines
}

/// The modules in the order in which `header/order.txt` lists them.
fn sources(folder: &Path) -> Result<Vec<std::path::PathBuf>, Box<dyn std::error::Error>> {
    let order = fs::read_to_string(folder.join("header/order.txt"))?;
    Ok(order.lines().map(|name| folder.join("src").join(format!("{name}.rs"))).collect())
}
