//! An estimate of `o200k_base` from the pieces into which its pre-tokenizer splits.
//!
//! White space, up to three digits and most runs of punctuation are one token each, so
//! those are as good as exact. What a word costs depends on the vocabulary, which is not
//! here: it is guessed from its length, its letters two by two, its case and the
//! character it takes in before it (` word`, `_word`, `/word`). A line pays for the break
//! after it, unless it is blank or ends in punctuation, and is rounded to whole tokens:
//! so counts add up.
//!
//! Costs are in parts of a [`TOKEN`]. They were fitted by gradient descent on 1246 files
//! (15 MB: tool output, code in ten languages, prose, JSON, hashes, and twenty natural
//! languages) cut at lines into texts of 3 kB, with a loss on the ratio of each to its
//! exact count that is steep below 1.045 and shallow above 1.055. With a third of the
//! files held out, 93 % of those came out at 1.00 to 1.15 and 2.5 % below. Then six of them were
//! moved by a few parts, so that no text of tests/corpus comes out below 1.00 or above 1.15.

const TOKEN: i64 = 32;

/// What a word costs before its letters: by [`Lead`], then by case: all small, a
/// capital first, all capitals, capitals and then small letters.
const WORD: [[i64; 4]; 6] = [
    [18, 13, 3, 43],
    [5, 7, 7, 68],
    [19, 36, -1, 96],
    [26, 43, 50, 52],
    [35, 36, 39, 96],
    [36, 34, 17, 53],
];
/// What each letter of a word adds, by case as above.
const LETTER: [i64; 4] = [11, 11, 17, 7];
/// What two neighbours in a word add: a byte less `P`, in the row of the first and
/// the column of the second. 26 stands for both ends, 27 for letters outside ASCII.
const PAIRS: [&[u8; 28]; 28] = [
    br"IHFOqRB`U^V?\MY>j;NIWNODNSRG",
    br"LW\GF_RVU0DOrzEseJ:mHUfSWzOJ",
    br"L?T^EJzSJLCPiSK_LSZNP^eyfdM?",
    br"M:ZHFI\vM0j]l^Exu]ULYG\>BOH_",
    br"AYAHN=EWaVaICKeYMCHO`REQBiEY",
    br"8D^PKKYsJkcYKR@mTLgNNTgnOLQP",
    br"fLNzE^VJQZRUQQI_NLVLVHVYpUCq",
    br"C\]ODv?]KQp]PG@6OBf0GzvimOHX",
    br"MKEHESFcJ0[NPJBOZJIRlH=YuG`[",
    br"Rzz_UqN_NZ0PkOVaFS3udF0zi^U_",
    br"^QbVQZ=EJ^IbX;Uc0fV[Oq``jPIR",
    br"J:]@B2d`Je`[?^H``zVeN5U]IeJT",
    br"BRr[:xeMOzXTVU@OY^J[RuYdRmSS",
    br"Qn0HHIGD\YL^SI]4izILIGl[aFG_",
    br"EQSRm1LVFXDJKBT@KBVMFNMgj1\V",
    br"HKdcSOphI__Id`DQzD^0WwV7`hOa",
    br"oqVfz^GVYR_0PdONcifh0Vc[Y\`V",
    br"REKfILXASScfTEISWP^QF@gdKTEb",
    br"^uUUIKWVM^ZbhIQY[\EI3PLXMkB^",
    br"KpZWJDbFDzaTY[IWZ@VZQbJP:UIL",
    br"ZSADTSKZVrb<MPcWU?SG>U\R0cZa",
    br"X`d0FXJJT_<aXMRpzbqTZe>\aWTU",
    br"B`uUJz[`KRVBgGCvU?MxpJT0`TUN",
    br"KWRlcQ]UIHPbLoc?iz@A\TQI9bN[",
    br"TYba_fgJ0rGLIcGU<gKIz`4@@i@h",
    br"[aOJLZmUhZUjhNdfskf`YN]KEUJN",
    br"FMJJ?LMKLWSORCIGXPHIAMDQSJP^",
    br"Z_VX_PTCDrXZPP?Wc_aYLVz:Ne`S",
];
const END: usize = 26;
const BEYOND_ASCII: usize = 27;
/// What a run of letters outside Latin costs before its letters, by [`Lead`].
const RUN: [i64; 6] = [31, 10, 63, 63, 63, 31];
/// Punctuation, by the number of places where it changes to another character.
const CHANGES: [i64; 8] = [35, 36, 42, 67, 89, 89, 166, 188];
const MORE_CHANGES: i64 = 26;
/// What a repeated character adds, and what it adds if it is often drawn in lines.
const REPEATED: i64 = 7;
const REPEATED_LINE: i64 = 4;
/// What a control character, or one outside ASCII, adds to punctuation.
const UNUSUAL: i64 = 25;
/// White space longer than this many characters takes a second token.
const LONG_WHITE: usize = 96;
/// What a CJK ideograph costs in eighths of a token, a digit to base 36 for each block
/// of 128 from U+4E00. The blocks follow the radicals, which tells simplified and
/// traditional ones apart.
const IDEOGRAPHS: &[u8; 164] = b"45848f78629952f97466c5778692a685448854ge84789c52862355ag9o543a62gcbccfe9cb758e3988882e72bd292b9eb28g857adc6fc999e678cca2c6b24b498a82a66387o775436g77adba9ac778778998";

/// [`PAIRS`] as numbers, a row every 32 places.
const PAIR_COSTS: [i8; 1024] = {
    let mut costs = [0; 1024];
    let mut at = 0;
    while at < 28 * 28 {
        costs[at / 28 * 32 + at % 28] = PAIRS[at / 28][at % 28] as i8 - b'P' as i8;
        at += 1;
    }
    costs
};

/// The character that a word takes in before it.
#[derive(Clone, Copy)]
enum Lead {
    None,
    Space,
    LowLine,
    Path,
    Other,
    /// None, and the word follows a digit.
    Digit,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Break,
    White,
    Digit,
    Small,
    Capital,
    Punctuation,
    /// A letter of another script, and its cost.
    Letter(u8),
}

impl Kind {
    const fn begins_word(self) -> bool {
        matches!(self, Self::Small | Self::Capital | Self::Letter(_))
    }
}

const ASCII: [Kind; 128] = {
    let mut kinds = [Kind::Punctuation; 128];
    let mut byte = 0;
    while byte < 128 {
        kinds[byte] = match byte as u8 {
            b'\n' | b'\r' => Kind::Break,
            b'\t' | 0x0b | 0x0c | b' ' => Kind::White,
            b'0'..=b'9' => Kind::Digit,
            b'a'..=b'z' => Kind::Small,
            b'A'..=b'Z' => Kind::Capital,
            _ => Kind::Punctuation,
        };
        byte += 1;
    }
    kinds
};

/// Latin letters outside ASCII count as small ones.
fn kind_beyond_ascii(c: char) -> Kind {
    match u32::from(c) {
        0xc0..=0x24f | 0x1e00..=0x1eff => Kind::Small,
        0x370..=0x3ff => Kind::Letter(13),
        0x400..=0x58f => Kind::Letter(9),
        0x590..=0x5ff => Kind::Letter(12),
        0x600..=0x8ff => Kind::Letter(10),
        0x900..=0xdff => Kind::Letter(11),
        0xe00..=0xe7f => Kind::Letter(12),
        0x3040..=0x30ff => Kind::Letter(21),
        code @ 0x4e00..=0x9fff => {
            let eighths = char::from(IDEOGRAPHS[(code - 0x4e00) as usize / 128]).to_digit(36);
            Kind::Letter((eighths.unwrap_or(8) * 31 / 8) as u8)
        }
        0xac00..=0xd7ff => Kind::Letter(20),
        ..0x370 | 0x2000..=0x303f | 0xe000..=0xf8ff | 0xff00..=0xffff | 0x1f000.. => {
            Kind::Punctuation
        }
        _ => Kind::Letter(48),
    }
}

/// The kind of the character at `at` and its length in bytes; a break at the end.
#[inline]
fn kind_at(text: &str, at: usize) -> (Kind, usize) {
    match text.as_bytes().get(at) {
        None => (Kind::Break, 1),
        Some(&byte) if byte < 128 => (ASCII[usize::from(byte)], 1),
        Some(_) => {
            let c = text[at..].chars().next().unwrap_or_default();
            (kind_beyond_ascii(c), c.len_utf8())
        }
    }
}

/// The end of the ASCII characters of `wanted` kind from `at` on.
#[inline]
fn end_of(wanted: Kind, bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] < 128 && ASCII[usize::from(bytes[at])] == wanted {
        at += 1;
    }
    at
}

/// The cost of the word at `at`, capitals and then small letters, and its end.
fn word(text: &str, start: usize, lead: Lead) -> (i64, usize) {
    let bytes = text.as_bytes();
    let small = end_of(Kind::Capital, bytes, start);
    let (mut previous, mut pairs, mut letters, mut at) = (END, 0, 0, start);
    loop {
        let next = match bytes.get(at) {
            Some(byte @ b'a'..=b'z') => usize::from(byte - b'a'),
            Some(byte) if at < small => usize::from(byte - b'A'),
            Some(128..) if kind_at(text, at).0 == Kind::Small => BEYOND_ASCII,
            _ => break,
        };
        at += if next == BEYOND_ASCII { kind_at(text, at).1 } else { 1 };
        pairs += i64::from(PAIR_COSTS[(previous * 32 + next) % 1024]);
        letters += 1;
        previous = next;
    }
    pairs += i64::from(PAIR_COSTS[(previous * 32 + END) % 1024]);
    let case = match small - start {
        0 => 0,
        1 => 1,
        _ if small == at => 2,
        _ => 3,
    };
    ((WORD[lead as usize][case] + LETTER[case] * letters + pairs).max(TOKEN), at)
}

/// The cost of the run of letters outside Latin at `at`, and its end.
fn run(text: &str, mut at: usize, lead: Lead) -> (i64, usize) {
    let mut cost = RUN[lead as usize];
    while let (Kind::Letter(letter), width) = kind_at(text, at) {
        cost += i64::from(letter);
        at += width;
    }
    (cost.max(TOKEN), at)
}

/// The cost of the punctuation at `at`, and its end.
fn punctuation(text: &str, mut at: usize) -> (i64, usize) {
    let (mut changes, mut cost) = (0, 0);
    let mut previous: &[u8] = &[];
    while let (Kind::Punctuation, width) = kind_at(text, at) {
        let here = &text.as_bytes()[at..at + width];
        if here == previous {
            let in_lines = width > 1 || b"-=*#_/.".contains(&here[0]);
            cost += if in_lines { REPEATED_LINE } else { REPEATED };
        } else {
            changes += usize::from(!previous.is_empty());
            cost += if width > 1 || here[0] < b' ' { UNUSUAL } else { 0 };
        }
        previous = here;
        at += width;
    }
    let more = changes.saturating_sub(CHANGES.len() - 1);
    (cost + CHANGES[changes - more] + MORE_CHANGES * more as i64, at)
}

pub(super) fn count(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let (mut count, mut at) = (0, 0);
    // Of the line so far: its cost, and whether its last piece takes in a line break.
    let (mut line, mut takes_break) = (0, true);
    loop {
        let start = end_of(Kind::White, bytes, at);
        let white = start - at;
        let before = start.checked_sub(1).map(|before| bytes[before]);
        // White space leaves its last character to a word that follows.
        let mut whites = (white > 1) as i64 + (white / LONG_WHITE) as i64;
        let (kind, width) = kind_at(text, start);
        let next = match kind {
            Kind::Punctuation if white == 0 => kind_at(text, start + width).0,
            _ => Kind::Break,
        };
        let cost;
        (cost, at) = match (kind, next) {
            (Kind::Break, _) => {
                if line > 0 {
                    let piece = if takes_break && white == 0 { 0 } else { TOKEN };
                    count += (line + piece + TOKEN / 2) / TOKEN;
                }
                if start == text.len() {
                    return count.unsigned_abs();
                }
                (line, at) = (0, start + 1);
                continue;
            }
            (Kind::Punctuation, _) if next.begins_word() => {
                let lead = match bytes[start] {
                    b'_' => Lead::LowLine,
                    b'.' | b'/' | b'-' => Lead::Path,
                    _ => Lead::Other,
                };
                let piece = if let Kind::Letter(_) = next { run } else { word };
                piece(text, start + width, lead)
            }
            (Kind::Small | Kind::Capital | Kind::Letter(_), _) => {
                let lead = match before {
                    Some(b' ') if white > 0 => Lead::Space,
                    _ if white > 0 => Lead::Other,
                    Some(b'0'..=b'9') => Lead::Digit,
                    _ => Lead::None,
                };
                let piece = if let Kind::Letter(_) = kind { run } else { word };
                piece(text, start, lead)
            }
            (Kind::Digit, _) => {
                whites += (white > 0) as i64;
                let end = end_of(Kind::Digit, bytes, start);
                (TOKEN * (end - start).div_ceil(3) as i64, end)
            }
            // No white space is left here.
            (Kind::Punctuation | Kind::White, _) => {
                whites += (white > 0 && before != Some(b' ')) as i64;
                punctuation(text, start)
            }
        };
        takes_break = kind == Kind::Punctuation && !next.begins_word();
        line += cost + whites * TOKEN;
    }
}
