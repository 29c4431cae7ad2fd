//! Law 8, in short: the decoders of tests/fuzz over the seeds of fuzz/corpus, as they are and mutated.
//!
//! `MK_FUZZ_CASES` is how many mutations of each are tried.

use std::fmt;
use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};

use crate::fuzz;

/// An input, shown so that it can be written to a file of the corpus.
#[derive(Clone)]
struct Input(Vec<u8>);

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

#[derive(Debug, Clone)]
enum Change {
    Replace(Index, u8),
    Flip(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    /// A piece of another seed.
    Take(Index, Index, Index, usize),
    Repeat(Index, usize, usize),
}

/// What means something to one decoder or another.
const WORDS: [&[u8]; 32] = [
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\\ud800",
    b"\\u0000",
    b"9223372036854775807",
    b"-1",
    b"1e999",
    b"-0.0",
    b"NaN",
    b"null",
    b"~",
    b"@",
    b"@{",
    b"..",
    b"/",
    b"./",
    b":",
    b"\xc3\xa9",
    b"\xcc\x8c",
    b"\xe2\x80\x83",
    b" ",
    b"@erase",
    b"=",
];

fn any_change() -> impl Strategy<Value = Change> {
    let any_bytes = prop_oneof![
        3 => select(&WORDS[..]).prop_map(<[u8]>::to_vec),
        1 => vec(any::<u8>(), 1..8),
    ];
    prop_oneof![
        2 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Replace(at, byte)),
        1 => (any::<Index>(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, 1 << bit)),
        4 => (any::<Index>(), any_bytes).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        2 => (any::<Index>(), 1..40_usize).prop_map(|(at, count)| Change::Remove(at, count)),
        2 => (any::<Index>(), any::<Index>(), any::<Index>(), 1..200_usize)
            .prop_map(|(at, seed, from, count)| Change::Take(at, seed, from, count)),
        1 => (any::<Index>(), 1..40_usize, 2..70_usize)
            .prop_map(|(at, count, times)| Change::Repeat(at, count, times)),
    ]
}

fn changed(mut bytes: Vec<u8>, changes: &[Change], seeds: &[Vec<u8>]) -> Vec<u8> {
    for change in changes {
        let length = bytes.len();
        let in_range = |at: &Index| at.index(length.max(1)).min(length);
        match change {
            Change::Replace(at, byte) if length > 0 => bytes[in_range(at)] = *byte,
            Change::Flip(at, bit) if length > 0 => bytes[in_range(at)] ^= bit,
            Change::Replace(..) | Change::Flip(..) => {}
            Change::Insert(at, new) => {
                let at = at.index(length + 1);
                bytes.splice(at..at, new.iter().copied());
            }
            Change::Remove(at, count) => {
                let at = in_range(at);
                bytes.drain(at..length.min(at + count));
            }
            Change::Take(at, seed, from, count) => {
                let seed = seed.get(seeds);
                let from = from.index(seed.len() + 1);
                let piece = &seed[from..seed.len().min(from + count)];
                let at = at.index(length + 1);
                bytes.splice(at..at, piece.iter().copied());
            }
            Change::Repeat(at, count, times) => {
                let at = in_range(at);
                let piece = bytes[at..length.min(at + count)].repeat(*times);
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

/// The files of the corpus, and of tests/cases what `more` names.
fn seeds(name: &str, more: &[&str]) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = fs::read_dir(root.join("fuzz/corpus").join(name)).into_iter().flatten();
    let mut files: Vec<_> = corpus.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.extend(more.iter().map(|file| root.join("tests/cases").join(file)));
    assert!(!files.is_empty(), "{name} has no seeds");
    files.into_iter().map(|file| fs::read(file).unwrap()).collect()
}

/// Runs `decoder` over `seeds` and over `cases` mutations of them and of nothing.
#[expect(clippy::print_stdout, reason = "the count is asked for with --nocapture")]
fn run(name: &str, seeds: &[Vec<u8>], decoder: fn(&[u8]), cases: u32) {
    seeds.iter().for_each(|seed| decoder(seed));
    let cases = std::env::var("MK_FUZZ_CASES").map_or(cases, |cases| cases.parse().unwrap());
    let seed = prop_oneof![9 => select(seeds.to_vec()), 1 => vec(any::<u8>(), 0..64)];
    let all = seeds.to_vec();
    let input = (seed, vec(any_change(), 0..6))
        .prop_map(move |(seed, changes)| Input(changed(seed, &changes, &all)));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let tried = TestRunner::new(config).run(&input, |Input(bytes)| {
        decoder(&bytes);
        Ok(())
    });
    if let Err(error) = tried {
        panic!("{name}: {error}");
    }
    println!("{name}: {} seeds, {cases} mutations", seeds.len());
}

macro_rules! decoders {
    ($($name:ident: $cases:literal $(+ $file:literal)*;)*) => {
        $(#[test]
        fn $name() {
            let seeds = seeds(stringify!($name), &[$($file),*]);
            run(stringify!($name), &seeds, fuzz::$name, $cases);
        })*

        #[test]
        fn every_decoder_has_a_target_and_every_target_a_decoder() {
            let targets = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/fuzz_targets");
            let names = fs::read_dir(targets).unwrap();
            let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = names.collect();
            names.sort();
            assert_eq!(names, [$(concat!(stringify!($name), ".rs")),*]);
        }
    };
}

decoders! {
    canonical_json: 4_000;
    cat_event: 500;
    config: 2_000;
    event_line: 1_000;
    export_lines: 300;
    memkernel: 60;
    memkernel_file: 20 + "memkernel-import/sample.db";
    notice_document: 1_000;
    resource: 2_000;
    revision: 2_000;
    signed_bundle: 300;
    sync_policy: 1_000;
}
