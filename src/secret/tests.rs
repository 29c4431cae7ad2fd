use super::forms::*;
use super::scan::{ANCHORS, LOOKED_AT, anchor_in, next_anchor};
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const ALPHABET: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+/";

/// Text around a secret, and the secret: built here, so that no file holds one.
#[derive(Debug, Clone)]
struct Sample {
    rule: &'static str,
    before: String,
    secret: String,
    after: &'static str,
}

/// Random bytes, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % sides
    }

    /// `len` bytes `of` a set, with a letter and a digit of each kind that it has.
    fn body(&mut self, of: u16, len: usize) -> String {
        let is = |set: u16| move |byte: &&u8| CLASS[usize::from(**byte)] & set != 0;
        let pool: Vec<u8> = ALPHABET.iter().filter(is(of)).copied().collect();
        let mut body: Vec<u8> = (0..len).map(|_| pool[self.roll(pool.len())]).collect();
        for (place, kind) in [LOWER & of, UPPER & of, DIGIT & of].into_iter().enumerate() {
            let pool: Vec<u8> = ALPHABET.iter().filter(is(kind)).copied().collect();
            if !pool.is_empty() {
                body[place * len / 3 + 1] = pool[self.roll(pool.len())];
            }
        }
        String::from_utf8(body).unwrap()
    }
}

/// The opposite of [`decode`].
fn encode(json: &str) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let three = |bytes: &[u8]| {
        let bits = bytes.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        let bits = bits << (8 * (3 - bytes.len()));
        let digit = |place: usize| char::from(digits[bits >> (18 - 6 * place) & 63]);
        (0..=bytes.len()).map(digit).collect::<String>()
    };
    json.as_bytes().chunks(3).map(three).collect()
}

fn pem(label: &str, break_: &str, dice: &mut Dice) -> String {
    let mut block = format!("-----BEGIN {label}-----{break_}");
    for _ in 0..3 {
        block += &dice.body(BASE64, 64);
        block += break_;
    }
    block + &format!("-----END {label}-----")
}

/// One of each shape, at the lengths that are issued.
fn samples(seed: u64) -> Vec<Sample> {
    let dice = &mut Dice(seed);
    let mut samples = Vec::new();
    let mut add = |rule, before: &str, secret: String, after| {
        samples.push(Sample { rule, before: before.to_owned(), secret, after });
    };
    for form in &TABLE {
        let Body::Run { of, min, .. } = form.body else { continue };
        for prefix in form.prefixes {
            let issued = match form.rule {
                "github-token" if *prefix == "github_pat_" => 82,
                "github-token" | "npm-token" => 36,
                "anthropic-key" => 101,
                "openai-key" if *prefix == "sk-" => 48,
                "digitalocean-token" => 64,
                "hugging-face-token" => 34,
                "google-oauth-secret" => 28,
                "stripe-key" => 24,
                _ => min,
            };
            let of = of & !DOT;
            add(form.rule, "", format!("{prefix}{}", dice.body(of, issued)), "");
        }
    }
    for prefix in ["AKIA", "ASIA", "ABIA", "ACCA"] {
        let body = dice.body(UPPER | BASE32_DIGIT, 16);
        add("aws-access-key", "", format!("{prefix}{body}"), "");
    }
    for (key, after) in [
        ("aws_secret_access_key = ", ""),
        ("export AWS_SECRET_ACCESS_KEY=", ""),
        ("aws configure set aws_secret_access_key ", ""),
        ("\"SecretAccessKey\": \"", "\""),
        ("\\\"SecretAccessKey\\\": \\\"", "\\\""),
        ("<SecretAccessKey>", "</SecretAccessKey>"),
        ("secretAccessKey: '", "'"),
        ("aws-secret-access-key: ", ""),
    ] {
        add("aws-secret-key", key, dice.body(BASE64, 40), after);
    }
    let stateless = format!("{}.{}.{}", encode(JWT_HEADER), encode(JWT_BODY), SIGNATURE);
    add("github-token", "", format!("ghs_{}_{stateless}", dice.body(DIGIT, 7)), "");
    let routable = format!("{}.01.{}", dice.body(WORD, 27), dice.body(LOWER | DIGIT, 9));
    add("gitlab-token", "", format!("glpat-{routable}"), "");
    let bot = format!("{}-{}-", dice.body(DIGIT, 12), dice.body(DIGIT, 13));
    add("slack-token", "", format!("xoxb-{bot}{}", dice.body(ALNUM, 24)), "");
    let hook = format!("T{}/B{}/", dice.body(UPPER, 9), dice.body(UPPER | DIGIT, 10));
    let hook = hook + &dice.body(ALNUM, 24);
    add("slack-webhook", "https://hooks.slack.com/services/", hook, "");
    let grid = format!("SG.{}.{}", dice.body(WORD, 22), dice.body(WORD, 43));
    add("sendgrid-key", "", grid, "");
    let bot = format!("{}:AA{}", dice.body(DIGIT, 10), dice.body(WORD, 33));
    add("telegram-token", "", bot.clone(), "");
    add("telegram-token", "https://api.telegram.org/bot", bot, "/getMe");
    for header in [JWT_HEADER, r#"{"typ":"JWT","alg":"RS256","kid":"2024-11"}"#] {
        let jwt = format!("{}.{}.", encode(header), encode(JWT_BODY));
        add("jwt", "", jwt + &dice.body(WORD, 43), "");
    }
    for label in ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"] {
        add("private-key", "", pem(label, "\n", dice), "");
    }
    add("private-key", "", pem("ENCRYPTED PRIVATE KEY", "\r\n", dice), "");
    add("private-key", "", pem("PRIVATE KEY", "\\n", dice), "");
    add("private-key", "+", pem("DSA PRIVATE KEY", "\n+", dice), "");
    let pgp = "\nVersion: GnuPG v2\nComment: none\n\n";
    add("private-key", "", pem("PGP PRIVATE KEY BLOCK", pgp, dice), "");
    for (before, password) in [
        ("postgres://app:", dice.body(ALNUM, 12)),
        ("redis://:", dice.body(ALNUM, 20)),
        ("mongodb+srv://user:", "p%40ss-w0rd".to_owned()),
        ("https://user:", "a@b".to_owned()),
        ("amqp://guest:", "пароль1".to_owned()),
    ] {
        add("url-password", before, password, "@db.example.org:5432/app?x=y");
    }
    for (before, after) in [
        ("Authorization: Bearer ", ""),
        ("authorization: bearer ", ""),
        ("\"Authorization\": \"Bearer ", "\""),
        ("headers['Authorization'] = 'Bearer ", "'"),
        ("('Authorization', 'Bearer ", "')"),
    ] {
        add("bearer-token", before, dice.body(ALNUM | DASH, 40), after);
    }
    samples
}

const JWT_HEADER: &str = r#"{"alg":"HS256"}"#;
const JWT_BODY: &str = r#"{"sub":"1234567890","name":"A. Nobody","iat":1516239022}"#;
const SIGNATURE: &str = concat!("SflKxwRJSMeKKF2QT4fwp", "MeJf36POk6yJV_adQssw5c");

/// What stands around secrets.
const PLACES: [(&str, &str); 18] = [
    ("", ""),
    ("use ", " now"),
    ("line\n", "\nline"),
    ("TOKEN=", ""),
    ("TOKEN=", ";"),
    ("'", "',"),
    ("\"", "\""),
    ("{\"token\":\"", "\"}"),
    ("{\\\"token\\\":\\\"", "\\\"}"),
    ("one\\n", "\\ntwo"),
    ("key: ", ". Done"),
    ("`", "`"),
    ("(", ")"),
    ("<b>", "</b>"),
    ("?q=%22", "%22&x=1"),
    ("\x1b[01;31m\x1b[K", "\x1b[m"),
    ("密钥", "。"),
    ("…", "…"),
];

/// What looks like a secret and has to stay.
fn look_alikes() -> Vec<String> {
    let dice = &mut Dice(7);
    let hex = "3f786850e387550fdab836ed7e6dc881de23001b";
    let sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let mut texts: Vec<String> = [
        "no secret here",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b (HEAD -> sk-fix)",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "ghp_ is the prefix of GitHub's personal tokens, glpat- that of GitLab's, sk- of OpenAI's",
        "set GITHUB_TOKEN to ghp_... or gho_<token>, SLACK_TOKEN to xoxb-your-token-goes-here",
        "task-5f3a9c, risk-assessment-2024-q3-final-report-v2, disk-usage, mask-rcnn-resnet50",
        "sk-learn sk-SK sk-linearregression sk-report-generator-for-quarterly-numbers-2024",
        "sk-ssh-ed25519@openssh.com sk-ecdsa-sha2-nistp256-cert-v01@openssh.com",
        "risk-ant-colony-optimization-2-of-3-with-pheromones",
        "fn task_live_reload_of_the_configuration() { sk_test_helpers::run_everything_now() }",
        "pnpm_config_registry npm_config_registry npm_lifecycle_event npm_package_version",
        "hf_hub_download(repo_id) hf_token hf_transfer_enabled_by_default_in_newer_releases",
        "precious ciocolata cioè socioeconomic ciouploadmanagerconfigurationbuilderfactory",
        "AKIAPPLE ASIAN AKIA ASIA-PACIFIC ASIA_PACIFIC_HEADQUARTERS_1",
        "AIzaSy... GOCSPX-xxxxxxxxxxxxxxxxxxxxxxxxxxxx SG.x.y SG.1.2 dop_v1_ pypi-AgEIcHlwaS5vcmc",
        "\"integrity\": \"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==\"",
        "checksum = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"",
        "uses: docker://alpine:3.19@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b",
        "https://example.org:8080/@scope/name and http://[::1]:80/ and mailto:a:b@example.org",
        "http://localhost:3000,admin@example.org [x](http://localhost:80)me@example.org",
        "ssh://git@example.org:22/repo.git git@github.com:owner/repo.git https://user@example.org",
        "postgres://user:***@db/app postgres://user:$PASSWORD@db postgres://user:${DB_PASS}@db",
        "postgres://user:<password>@db postgres://user:{pw}@db postgres://user:%s@db x://u:…@h",
        "postgres://user:password@db mysql://root:PASSWORD@db https://user:x-oauth-basic@github.com",
        "redis://user:@db redis://:@db https://a:xxxxxx@host https://user:••••••@host",
        "Authorization: Bearer $TOKEN, Authorization: Bearer <token>, Authorization: Bearer ${TOKEN}",
        "Authorization: Bearer your-access-token-goes-here, bearer of bad news, Bearer token",
        "Authorization: Basic realm=\"x\", Authorization: Bearer xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "12:30:45 12345678:AA not a bot; 2024-01-01T00:00:00Z",
        "AWS_SECRET_ACCESS_KEY=$SECRET aws_secret_access_key = <your key> secret_access_key: \"\"",
        "if text.contains(\"-----BEGIN PRIVATE KEY-----\") { return Err(Leak) } // ABCabc0123456789",
        "the line -----BEGIN PRIVATE KEY----- and the line -----END PRIVATE KEY----- enclose it",
        "\"-----BEGIN RSA PRIVATE KEY-----\\nkey omitted\\n-----END RSA PRIVATE KEY-----\"",
        "[redacted:github-token] https://user:[redacted:url-password]@host",
        "Authorization: Bearer [redacted:bearer-token]",
        "eyJ eyJhbGciOiJIUzI1NiJ9 eyJub3QiOiJqd3QifQ.eyJub3QiOiJqd3QifQ.x eyJa.eyJb.eyJc",
        "RFC 3339, x-y-z, --------------------------------, __________________________________",
    ]
    .map(str::to_owned)
    .into();
    let public = pem("PUBLIC KEY", "\n", dice);
    let certificate = pem("CERTIFICATE", "\n", dice);
    let image = dice.body(BASE64, 2000);
    texts.extend([
        format!("{public}\n{certificate}"),
        format!("![x](data:image/png;base64,iVBORw0KGgo{image}==)"),
        format!("src=\"data:font/woff2;base64,d09GMgABAAAAA{image}\""),
        format!("sk-{hex}").replace("sk-", "disk-"),
        format!("{hex} {sha256} sha256:{sha256} {}", hex.to_uppercase()),
        format!("aws_access_key_id = {}{}", "AKIA", "IOSFODNN7EXAMPLE"),
        format!("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/{}{}", "bPxRfiCY", "EXAMPLEKEY"),
        format!("ghp_{} AKIA{} xoxb-{}", "x".repeat(36), "X".repeat(16), "0".repeat(40)),
        format!("glpat-{} hf_{} npm_{}", "*".repeat(20), "A".repeat(34), "a".repeat(36)),
        format!("sk-ant-api03-{} sk-proj-{}", "x".repeat(93), "X".repeat(60)),
        format!("hooks.slack.com/services/T00000000/B00000000/{}", "X".repeat(24)),
        format!("{}.{}.{}", encode(r#"{"not":"a token"}"#), encode(JWT_BODY), SIGNATURE),
        format!("{}.{}.short", encode(JWT_HEADER), encode(JWT_BODY)),
    ]);
    texts
}

#[test]
fn the_names_are_those_of_the_table() {
    let mut names: Vec<_> = TABLE.iter().map(|form| form.rule).collect();
    names.dedup();
    assert_eq!(names, RULES);
}

#[test]
#[allow(clippy::print_stdout)]
fn precision_and_recall_on_the_corpus() {
    let mut table: BTreeMap<&str, [u32; 3]> = BTreeMap::new();
    let mut wrong = Vec::new();
    for Sample { rule, before, secret, after } in (0..20).flat_map(samples) {
        for (left, right) in PLACES {
            let text = format!("{left}{before}{secret}{after}{right}");
            let start = left.len() + before.len();
            let expected = Finding { rule, range: start..start + secret.len() };
            let found = find(&text);
            let hit = u32::from(found.contains(&expected));
            let row = table.entry(rule).or_default();
            row[0] += 1;
            row[1] += hit;
            row[2] += u32::try_from(found.len()).unwrap() - hit;
            if found != [expected] {
                wrong.push((text, found));
            }
        }
    }
    let look_alikes = look_alikes();
    for text in &look_alikes {
        let found = find(text);
        for finding in &found {
            table.entry(finding.rule).or_default()[2] += 1;
        }
        if !found.is_empty() {
            wrong.push((text.clone(), found));
        }
    }
    println!("{:<22}{:>8}{:>8}{:>8}{:>10}", "rule", "secrets", "found", "false", "recall");
    let mut sum = [0; 3];
    for (rule, row) in &table {
        let [secrets, found, wrong] = row;
        let recall = f64::from(*found) / f64::from(*secrets);
        println!("{rule:<22}{secrets:>8}{found:>8}{wrong:>8}{recall:>10.4}");
        sum.iter_mut().zip(row).for_each(|(sum, cell)| *sum += cell);
    }
    let [secrets, found, false_] = sum.map(f64::from);
    println!(
        "recall {:.4}, precision {:.4}, look-alikes {}",
        found / secrets,
        found / (found + false_),
        look_alikes.len()
    );
    assert!(wrong.is_empty(), "{} wrong, the first: {:#?}", wrong.len(), wrong[0]);
    assert_eq!(table.len(), RULES.len());
}

#[test]
fn a_placeholder_stands_where_the_secret_stood() {
    assert_eq!(redact("nothing here"), None);
    let github = format!("ghp_{}", Dice(1).body(ALNUM, 36));
    let text = format!("{github} and again {github}.");
    let expected = "[redacted:github-token] and again [redacted:github-token].".to_owned();
    assert_eq!(redact(&text), Some((expected, vec!["github-token", "github-token"])));
}

#[test]
fn a_secret_in_a_value_is_named_by_its_own_rule() {
    let dice = &mut Dice(2);
    let (lab, hub) = (dice.body(WORD, 20), dice.body(ALNUM, 36));
    for (text, expected) in [
        (
            format!("https://oauth2:glpat-{lab}@gitlab.example.org/a.git"),
            "https://oauth2:[redacted:gitlab-token]@gitlab.example.org/a.git",
        ),
        (
            format!("Authorization: Bearer ghp_{hub}"),
            "Authorization: Bearer [redacted:github-token]",
        ),
        (
            format!("https://ghp_{hub}:x-oauth-basic@github.com/a/b"),
            "https://[redacted:github-token]:x-oauth-basic@github.com/a/b",
        ),
        (
            format!("https://ghp_{hub}:hunter2@github.com/a/b"),
            "https://[redacted:github-token]:[redacted:url-password]@github.com/a/b",
        ),
        (
            format!("https://user:glpat-{lab}!more@host"),
            "https://user:[redacted:gitlab-token]@host",
        ),
        (format!("https://user:pre!glpat-{lab}@host"), "https://user:[redacted:url-password]@host"),
    ] {
        assert_eq!(redact(&text).unwrap().0, expected);
    }
}

#[test]
fn a_private_key_that_is_not_ended_goes_to_the_end_of_the_text() {
    let block = pem("PRIVATE KEY", "\n", &mut Dice(3));
    let clipped = format!("$ head -3 key.pem\n{}", &block[..160]);
    assert_eq!(redact(&clipped).unwrap().0, "$ head -3 key.pem\n[redacted:private-key]");
    let two = format!("{block}\nbetween\n{block}\nafter");
    let expected = "[redacted:private-key]\nbetween\n[redacted:private-key]\nafter";
    assert_eq!(redact(&two).unwrap().0, expected);
}

/// What [`find`] looks at is in proportion to the text, whatever the text is.
#[test]
fn the_work_is_linear_in_the_text() {
    let looked_at = |text: &str| {
        LOOKED_AT.set(0);
        let _ = redact(text);
        LOOKED_AT.get()
    };
    let mut units: Vec<String> = [
        "eyJ",
        "eyJ.",
        "eyJhbGciOiJIUzI1NiJ9.eyJ",
        "eyJhbGciOiJIUzI1NiJ9.eyJhbGciOiJIUzI1NiJ9.",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\nABCDEFabcdef0123456789ABCDEFabcdef0123456789\n",
        "-----END PRIVATE KEY-----",
        "-----END ",
        "-",
        "://a:",
        "a://a:",
        "a://a:b@",
        "a://a:bcd@h",
        "Authorization: Bearer ",
        "[0;0m",
        "1234567890:AA",
        ".",
        "ghs_.",
        "a",
    ]
    .map(str::to_owned)
    .into();
    let prefixes = || TABLE.iter().flat_map(|form| form.prefixes);
    for prefix in prefixes() {
        for filler in ["", "-", ".", "/", " ", "\n", "=", ":", "a", "aB3dE5gH7"] {
            units.push(format!("{prefix}{filler}"));
        }
        units.extend(prefixes().map(|other| format!("{prefix}{other}")));
    }
    for unit in units {
        let text = unit.repeat(8192 / unit.len());
        let steps = looked_at(&text);
        assert!(steps <= 24 * text.len(), "{steps} steps for {} of {unit:?}", text.len());
    }
    for unit in ["eyJ", "-----BEGIN PRIVATE KEY-----", "://a:", "glpat-", "sk-", "SG.", "ghs_."] {
        let (short, long) = (unit.repeat(1 << 12), unit.repeat(1 << 16));
        assert!(looked_at(&long) <= 17 * looked_at(&short), "{unit:?}");
    }
}

/// Pieces that make the rules meet: prefixes, runs, markers, and what is between words.
fn any_text() -> impl Strategy<Value = String> {
    let prefixes: Vec<_> = TABLE.iter().flat_map(|form| form.prefixes).copied().collect();
    let piece = prop_oneof![
        4 => prop::sample::select(prefixes).prop_map(str::to_owned),
        4 => "[a-zA-Z0-9]{1,45}",
        2 => "[a-zA-Z0-9_+/=.-]{1,45}",
        1 => "[A-Z2-7]{16}",
        1 => "[0-9]{8,12}",
        4 => prop::sample::select(vec![
            " ", "\n", "\"", "=", ":", "@", "/", ".", "-", "_", "\\n", "%3D", "[31m", "]", "é", "密",
            "$", "user", "https", "Bearer ", "-----END PRIVATE KEY-----", "PRIVATE KEY-----\n",
            "-----", "[redacted:jwt]", "eyJhbGciOiJIUzI1NiJ9.", "sha256:", "EXAMPLE",
        ]).prop_map(str::to_owned),
        2 => (any::<u64>(), any::<prop::sample::Index>()).prop_map(|(seed, index)| {
            let Sample { before, secret, after, .. } = index.get(&samples(seed)).clone();
            format!("{before}{secret}{after}")
        }),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn findings_are_in_order_and_on_character_boundaries(text in any_text()) {
        let mut end = 0;
        for Finding { rule, range } in find(&text) {
            prop_assert!(RULES.contains(&rule));
            prop_assert!(end <= range.start && range.start < range.end);
            prop_assert!(text.get(range.clone()).is_some());
            end = range.end;
        }
    }

    #[test]
    fn redacting_is_idempotent(text in any_text()) {
        if let Some((redacted, _)) = redact(&text) {
            prop_assert_eq!(redact(&redacted), None, "{}", redacted);
        }
    }

    #[test]
    fn a_secret_between_words_is_found_alone(
        seed in any::<u64>(),
        index in any::<prop::sample::Index>(),
        words in prop::array::uniform2("[a-z]{0,8}( [a-zA-Z]{1,8}){0,3}"),
        (left, right) in prop::sample::select(PLACES.to_vec()),
    ) {
        let Sample { rule, before, secret, after } = index.get(&samples(seed)).clone();
        let gap = if left.is_empty() { " " } else { "" };
        let start = format!("{}{gap}{left}{before}", words[0]);
        let text = format!("{start}{secret}{after}{right} {}", words[1]);
        let range = start.len()..start.len() + secret.len();
        prop_assert_eq!(find(&text), vec![Finding { rule, range }]);
    }

    /// Looking at every second pair misses no anchor of a prefix.
    #[test]
    fn every_prefix_is_seen(text in any_text(), from in 0_usize..40) {
        let text = text.as_bytes();
        let from = from.min(text.len());
        let mut next = next_anchor(text, from);
        for place in from..text.len() {
            if let Some((hit, forms)) = next && hit == place {
                prop_assert_eq!(anchor_in(text, place..place + 1), Some((place, forms)));
                next = next_anchor(text, place + 1);
                continue;
            }
            for (form, anchors) in TABLE.iter().zip(ANCHORS) {
                for (prefix, anchor) in form.prefixes.iter().zip(anchors) {
                    let three = &prefix.as_bytes()[anchor..anchor + 3];
                    prop_assert!(!text[place..].starts_with(three), "{} at {}", prefix, place);
                }
            }
        }
    }
}
