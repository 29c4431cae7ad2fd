#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mk_fuzz::sync_policy(bytes));
