//! The power is cut: what was not synced is lost, whole or by sector, in any order.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::vfs::{self, Act};
use crate::workload::{self, Stage, Workload};

const SECTOR: usize = 512;

/// What becomes of that which was written and not synced.
#[derive(Debug, Clone, Copy)]
enum Loss {
    /// All of it is lost.
    All,
    /// Nothing is.
    Nothing,
    /// Whole writes are lost, by chance; the others arrive in any order.
    Writes,
    /// Sectors are lost, by chance; the others arrive in any order.
    Sectors,
}

/// A generator of pseudo-random numbers (Steele, Lea, Flood: SplitMix64), so that a seed stands for an
/// image.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }
}

/// A change of a file that may be lost alone.
#[derive(Clone)]
enum Piece {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

impl Piece {
    fn apply(self, file: &mut Vec<u8>) {
        match self {
            Self::Write(offset, bytes) => {
                let end = offset + bytes.len();
                if file.len() < end {
                    file.resize(end, 0);
                }
                file[offset..end].copy_from_slice(&bytes);
            }
            Self::Truncate(size) => file.resize(size, 0),
        }
    }
}

/// What is on the disk after `acts`, in a directory of its own.
fn image(before: &Path, acts: &[Act], loss: Loss, chance: &mut Chance) -> TempDir {
    let mut files: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    let mut unsynced: BTreeMap<PathBuf, Vec<Piece>> = BTreeMap::new();
    let name = |path: &Path| PathBuf::from(path.file_name().unwrap());
    for entry in fs::read_dir(before).unwrap() {
        let path = entry.unwrap().path();
        files.insert(name(&path), fs::read(&path).unwrap());
    }
    for act in acts {
        match act {
            Act::Write { file, offset, bytes } => {
                let pieces = unsynced.entry(name(file)).or_default();
                pieces.push(Piece::Write(*offset, bytes.clone()));
            }
            Act::Truncate { file, size } => {
                unsynced.entry(name(file)).or_default().push(Piece::Truncate(*size));
            }
            Act::Sync { file } => {
                let on_disk = files.entry(name(file)).or_default();
                for piece in unsynced.remove(&name(file)).unwrap_or_default() {
                    piece.apply(on_disk);
                }
            }
            Act::Delete { file } => {
                files.remove(&name(file));
                unsynced.remove(&name(file));
            }
            Act::Acknowledged(_) => {}
        }
    }
    for (file, pieces) in unsynced {
        let kept = match loss {
            Loss::All => Vec::new(),
            Loss::Nothing => pieces,
            Loss::Writes => shuffled(pieces, chance),
            Loss::Sectors => shuffled(pieces.into_iter().flat_map(sectors).collect(), chance),
        };
        let on_disk = files.entry(file).or_default();
        kept.into_iter().for_each(|piece| piece.apply(on_disk));
    }
    let directory = tempfile::tempdir().unwrap();
    for (file, bytes) in files {
        fs::write(directory.path().join(file), bytes).unwrap();
    }
    directory
}

/// About half of `pieces`, in any order.
fn shuffled(pieces: Vec<Piece>, chance: &mut Chance) -> Vec<Piece> {
    let mut kept: Vec<Piece> =
        pieces.into_iter().filter(|_| chance.next().is_multiple_of(2)).collect();
    for last in (1..kept.len()).rev() {
        kept.swap(last, chance.below(last + 1));
    }
    kept
}

fn sectors(piece: Piece) -> Vec<Piece> {
    let Piece::Write(offset, bytes) = piece else { return vec![piece] };
    let mut sectors = Vec::new();
    let mut from = 0;
    while from < bytes.len() {
        // Up to the next border of a sector on the disk.
        let to = bytes.len().min((offset + from) / SECTOR * SECTOR + SECTOR - offset);
        sectors.push(Piece::Write(offset + from, bytes[from..to].to_owned()));
        from = to;
    }
    sectors
}

/// Images that are tried of each moment, by chance: with `MK_POWER_ROUNDS=N` so many.
fn rounds() -> u64 {
    std::env::var("MK_POWER_ROUNDS").map_or(1, |text| text.parse().expect("a number"))
}

fn cut_everywhere(workload: Workload) {
    let stage = Stage::set(workload);
    let copy = workload::copy(stage.directory.path());
    let ((done, failed), outcome) =
        vfs::with_plan(None, || stage.play(copy.path(), vfs::acknowledge));
    assert!(failed.is_none() && done == stage.workload.steps.len());
    let mut images = 0;
    for cut in 0..=outcome.acts.len() {
        let acts = &outcome.acts[..cut];
        let acknowledged = acts.iter().rev().find_map(|act| match act {
            Act::Acknowledged(steps) => Some(*steps),
            _ => None,
        });
        for round in 0..rounds() {
            for loss in [Loss::All, Loss::Nothing, Loss::Writes, Loss::Sectors] {
                let mut chance = Chance(round << 32 | cut as u64);
                let about = format!("{}: {loss:?}, cut {cut}, {round}", stage.workload.name);
                let image = image(stage.directory.path(), acts, loss, &mut chance);
                stage.check(image.path(), acknowledged.unwrap_or(0), &about);
                images += 1;
            }
        }
    }
    println!("{}: {images} images of a power cut, lost: 0", stage.workload.name);
}

#[test]
fn appends_survive_a_power_cut() {
    cut_everywhere(workload::appends());
}

#[test]
fn branches_survive_a_power_cut() {
    cut_everywhere(workload::branches());
}

#[test]
fn leases_survive_a_power_cut() {
    cut_everywhere(workload::leases());
}

#[test]
fn a_compaction_survives_a_power_cut() {
    cut_everywhere(workload::compaction());
}

#[test]
fn an_erasure_survives_a_power_cut() {
    cut_everywhere(workload::erasure());
}

#[test]
fn an_import_survives_a_power_cut() {
    cut_everywhere(workload::import());
}

#[test]
fn a_wal_that_is_emptied_survives_a_power_cut() {
    cut_everywhere(workload::long_wal());
}
