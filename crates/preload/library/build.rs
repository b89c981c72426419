//! Exports what programs may find and nothing else, and binds the library's own calls to itself.

fn main() {
    #[allow(clippy::print_stdout, reason = "cargo reads a build script's answers from its output")]
    {
        println!("cargo:rerun-if-changed=build.rs");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
