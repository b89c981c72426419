//! Gives the library the name by which programs ask for it, and keeps it loaded after `dlclose`:
//! its streams are threads that run its code.

fn main() {
    #[allow(clippy::print_stdout, reason = "cargo reads a build script's answers from its output")]
    {
        println!("cargo:rerun-if-changed=build.rs");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
        // As the real one: a preloaded library that has the same names gets no calls from inside.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libnvidia-ml.so.1");
    }
}
