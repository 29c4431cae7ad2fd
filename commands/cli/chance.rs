//! Randomness.

use std::env;

/// Randomness of the operating system; in a debug build repeatable bytes if `MK_SALT_SEED` is set, so
/// that a test can compare hashes.
#[derive(Debug)]
pub struct Chance {
    seed: Option<String>,
    drawn: u64,
    /// Random bytes asked for ahead, a page at a time once more than a few are wanted.
    ahead: Vec<u8>,
}

impl Chance {
    pub fn new() -> Self {
        let seed = if cfg!(debug_assertions) { env::var("MK_SALT_SEED").ok() } else { None };
        Self { seed, drawn: 0, ahead: Vec::new() }
    }

    /// Bytes that nobody can guess, in tests neither.
    pub fn secret() -> [u8; 24] {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
        bytes
    }

    /// Bytes that nobody can guess, at most 32.
    pub fn draw<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.drawn += 1;
        if let Some(seed) = &self.seed {
            use sha2::{Digest, Sha256};
            let digest = Sha256::digest(format!("{seed} {}", self.drawn));
            bytes.copy_from_slice(&digest[..N]);
            return bytes;
        }
        if self.ahead.len() < N {
            self.ahead.resize(if self.drawn < 8 { N } else { 4_096 }, 0);
            getrandom::fill(&mut self.ahead).expect("the operating system gives random bytes");
        }
        bytes.copy_from_slice(&self.ahead.split_off(self.ahead.len() - N));
        bytes
    }
}
