#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| millpond_fuzz::manifest::check(data));
