#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| millpond_fuzz::messages::host_channel(data));
