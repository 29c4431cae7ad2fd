use proptest::collection::vec;
use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Value {
    Value::parse(text.as_bytes()).unwrap()
}

fn refusal(text: impl AsRef<[u8]>) -> String {
    Value::parse(text.as_ref()).unwrap_err().to_string()
}

fn vectors(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/cases/kernel/unit/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(parse).collect()
}

fn member<'a>(line: &'a Value, key: &str) -> &'a str {
    line.get(key).and_then(Value::as_str).unwrap()
}

#[test]
fn canonical_json_follows_the_vectors() {
    let mut repeated = 0;
    for line in vectors("canonical.jsonl") {
        let json = member(&line, "json");
        // The peer takes the last of repeated members; mk refuses them.
        if json == r#"{"k":"v","k":"w"}"# {
            assert_eq!(refusal(json), "at $ (byte 9): duplicate member 'k'");
            repeated += 1;
            continue;
        }
        assert_eq!(parse(json).canonical(), member(&line, "canonical"), "{json}");
    }
    assert_eq!(repeated, 1);
}

#[test]
fn the_text_of_a_value_follows_the_vectors() {
    for line in vectors("coercion.jsonl") {
        assert_eq!(line.get("value").unwrap().text(), member(&line, "text"));
    }
}

#[test]
fn the_text_of_a_string_is_not_copied() {
    assert!(matches!(Value::from("é").text(), std::borrow::Cow::Borrowed("é")));
}

#[test]
fn every_kind_of_fault_has_its_message() {
    let long_int = format!("[-{}]", "7".repeat(4301));
    let deep = format!("{}0{}", "[".repeat(65), "]".repeat(65));
    let deep_path = format!("at ${}…{} (byte 64): ", "[0]".repeat(20), "[0]".repeat(33));
    let cases: &[(&str, &str)] = &[
        ("\u{feff}{}", "at $ (byte 0): a byte order mark stands before the text"),
        ("", "at $ (byte 0): the text ends where a value should be"),
        ("[1, ", "at $[1] (byte 4): the text ends where a value should be"),
        ("[1", "at $ (byte 2): the text ends where ',' or ']' should be"),
        ("{\"a\"", "at $.a (byte 4): the text ends where ':' should be"),
        ("[\"a\\", "at $[0] (byte 4): the text ends where the rest of a string should be"),
        ("[\"\\u00", "at $[0] (byte 6): the text ends where the rest of a string should be"),
        ("{} x", "at $ (byte 3): found 'x' where the end should be"),
        ("[1,]", "at $[1] (byte 3): found ']' where a value should be"),
        ("{\"a\":1,}", "at $ (byte 7): found '}' where a member name should be"),
        ("{\"a\":1 \"b\"", "at $ (byte 7): found '\\\"' where ',' or '}' should be"),
        ("{\"a\" 1}", "at $.a (byte 5): found '1' where ':' should be"),
        ("\u{b}1", "at $ (byte 0): found '\\u000b' where a value should be"),
        ("[\u{202e}]", "at $[0] (byte 1): found '\\u202e' where a value should be"),
        ("[True]", "at $[0] (byte 1): 'True' is no JSON value"),
        ("nul", "at $ (byte 0): 'nul' is no JSON value"),
        ("nullx", "at $ (byte 0): 'nullx' is no JSON value"),
        ("01", "at $ (byte 0): '01' is no JSON number"),
        ("[1.]", "at $[0] (byte 1): '1.' is no JSON number"),
        (".5", "at $ (byte 0): '.5' is no JSON number"),
        ("+1", "at $ (byte 0): '+1' is no JSON number"),
        ("-", "at $ (byte 0): '-' is no JSON number"),
        ("1e+", "at $ (byte 0): '1e+' is no JSON number"),
        ("0x1f", "at $ (byte 0): '0x1f' is no JSON number"),
        ("{\"a\":NaN}", "at $.a (byte 5): NaN is not finite, and so no JSON number"),
        ("[-Infinity]", "at $[0] (byte 1): -Infinity is not finite, and so no JSON number"),
        ("[0, -1e400]", "at $[1] (byte 4): '-1e400' is beyond the range of a double"),
        (&long_int, "at $[0] (byte 1): an integer of 4301 digits; the limit is 4300"),
        ("\"a\nb\"", "at $ (byte 2): control character U+000A is not escaped"),
        (r#"{"a":"\x"}"#, r"at $.a (byte 6): '\x' is no JSON escape"),
        (r#""\u12"#, "at $ (byte 5): the text ends where the rest of a string should be"),
        (r#""\u12""#, r"at $ (byte 1): '\u12' is no JSON escape"),
        (r#""\u+123""#, r"at $ (byte 1): '\u+123' is no JSON escape"),
        (r#"["\ud83d\n"]"#, r"at $[0] (byte 2): \ud83d is half of a surrogate pair"),
        (r#""\ud83d\ud83d""#, r"at $ (byte 1): \ud83d is half of a surrogate pair"),
        (r#""\ude42""#, r"at $ (byte 1): \ude42 is half of a surrogate pair"),
        (r#"{"b":[{"x":1,"a":{},"x":2}]}"#, "at $.b[0] (byte 20): duplicate member 'x'"),
        (r#"{"a":1,"\u0061":1}"#, "at $ (byte 7): duplicate member 'a'"),
        (&deep, &(deep_path + "nested deeper than 64 levels")),
    ];
    for (text, message) in cases {
        assert_eq!(refusal(text), *message, "{text}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_refused_where_they_stand() {
    let cases: &[(&[u8], &str)] = &[
        (b"\xff", "at $ (byte 0): byte 0xff is not UTF-8"),
        (b"{\"a\":[0,\"b\x80\"]}", "at $.a[1] (byte 10): byte 0x80 is not UTF-8"),
        (b"\"\xed\xa0\x80\"", "at $ (byte 1): byte 0xed is not UTF-8"),
        (b"\"\xc3", "at $ (byte 1): byte 0xc3 is not UTF-8"),
        (b"{} \xff", "at $ (byte 3): byte 0xff is not UTF-8"),
        (b"[1 2, \"\xff\"]", "at $ (byte 3): found '2' where ',' or ']' should be"),
    ];
    for (bytes, message) in cases {
        assert_eq!(refusal(bytes), *message);
    }
}

#[test]
fn a_path_names_plain_keys_bare_and_others_quoted() {
    let text = r#"{"facts":{"a b":[0,1,2,{"_x9":{"9":{"":{"\"\u0000\u2028é":!}}}}]}}"#;
    let path = Value::parse(text.as_bytes()).unwrap_err().path;
    assert_eq!(path, r#"$.facts["a b"][3]._x9["9"][""]["\"\u0000\u2028é"]"#);
}

#[test]
fn long_keys_are_cut_in_messages_and_whole_in_the_kind() {
    let key = "ü".repeat(30);
    let error = Value::parse(format!("{{\"{key}\":{{\"{key}\":1,\"{key}\":1}}}}").as_bytes());
    let error = error.unwrap_err();
    let cut = "ü".repeat(20);
    assert_eq!(
        error.to_string(),
        format!("at $[\"{cut}…\"] (byte 130): duplicate member '{cut}…'")
    );
    assert_eq!(error.kind, JsonErrorKind::DuplicateMember { member: key });
}

#[test]
fn limits_are_inclusive() {
    let nested = "[".repeat(64) + &"]".repeat(64);
    assert_eq!(parse(&nested).canonical(), nested);
    let members = "{\"a\":".repeat(64) + "0" + &"}".repeat(64);
    assert_eq!(parse(&members).canonical(), members);
    assert!(refusal("{\"a\":".repeat(65)).ends_with("nested deeper than 64 levels"));

    let digits = "-".to_owned() + &"9".repeat(4300);
    assert_eq!(parse(&digits).canonical(), digits);
    let exact = format!("1.{}", "0".repeat(10_000));
    assert_eq!(parse(&exact), Value::Float(1.0));
    assert_eq!(parse("1.7976931348623158e308"), Value::Float(f64::MAX));
    assert_eq!(parse("-1e-400").canonical(), "-0.0");
    assert_eq!(parse("0e999999999999999999999").canonical(), "0.0");
}

#[test]
fn a_hundred_thousand_brackets_are_refused_at_the_65th() {
    for open in ["[", "{\"a\":"] {
        let error = Value::parse(open.repeat(100_000).as_bytes()).unwrap_err();
        assert_eq!((error.offset, error.kind), (64 * open.len(), JsonErrorKind::TooDeep));
    }
}

#[test]
fn integers_keep_all_digits() {
    for text in ["9223372036854775807", "-9223372036854775808"] {
        assert_eq!(parse(text).as_i64().unwrap().to_string(), text);
    }
    for text in ["9223372036854775808", "-9223372036854775809", "18446744073709551616"] {
        let value = parse(text);
        assert_eq!((value.as_i64(), value.is_int()), (None, true));
        assert_eq!(value.canonical(), text);
    }
    assert_eq!(Value::from(u64::MAX), parse("18446744073709551615"));
    assert_eq!(Value::from(5_u64), Value::from(5_i64));
    assert_eq!(parse("-0"), Value::from(0_i64));
}

#[test]
fn numbers_are_the_same_by_exact_value_and_equal_by_bytes() {
    let same = [
        ("1", "1.0"),
        ("0", "-0.0"),
        ("0.0", "-0.0"),
        ("9007199254740992", "9007199254740993.0"),
        ("9223372036854775808", "9223372036854775808.0"),
        ("-9223372036854775808", "-9223372036854775808.0"),
        ("[{\"a\":1,\"b\":[2]}]", "[{\"b\":[2.0],\"a\":1e0}]"),
    ];
    for (a, b) in same {
        assert!(parse(a).same(&parse(b)) && parse(b).same(&parse(a)), "{a} {b}");
        assert_ne!(parse(a), parse(b));
    }
    let different = [
        ("1", "true"),
        ("0", "false"),
        ("0", "null"),
        ("1", "\"1\""),
        ("1", "1.5"),
        ("9007199254740993", "9007199254740993.0"),
        ("9223372036854775807", "9223372036854775807.0"),
        ("100000000000000000000001", "1e23"),
        ("[1,2]", "[2,1]"),
        ("[1]", "[1,1]"),
        ("{\"a\":1}", "{\"b\":1}"),
        ("{\"a\":1}", "{\"a\":1,\"b\":1}"),
    ];
    for (a, b) in different {
        assert!(!parse(a).same(&parse(b)) && !parse(b).same(&parse(a)), "{a} {b}");
    }
}

/// As Python prints them: of two shortest decimals that are as near, the even one.
#[test]
fn doubles_between_two_shortest_decimals_take_the_even_one() {
    let cases = [
        ("834587527217989.25", "834587527217989.2"),
        ("834587527217989.75", "834587527217989.8"),
        ("-991852775402910.25", "-991852775402910.2"),
        ("9000000.0009765625", "9000000.000976562"),
        // 2^-24: the even one is as near but reads back to the double below.
        ("5.9604644775390625e-08", "5.960464477539063e-08"),
    ];
    for (exact, shortest) in cases {
        assert_eq!(parse(exact).canonical(), shortest);
    }
}

#[test]
fn falsy_is_what_python_takes_for_false() {
    for text in ["null", "false", "0", "-0", "0.0", "-0.0", "\"\"", "[]", "{}"] {
        assert!(parse(text).is_falsy(), "{text}");
    }
    for text in ["true", "1", "99999999999999999999", "5e-324", "\" \"", "[0]", "{\"\":0}"] {
        assert!(!parse(text).is_falsy(), "{text}");
    }
}

#[test]
fn an_object_stays_sorted_and_unique() {
    let mut object = Object::new();
    assert!(object.is_empty());
    for key in ["b", "\u{ffff}", "a", "\u{1f600}", "aa"] {
        assert_eq!(object.insert(key, 1_i64), None);
    }
    assert_eq!(object.insert("b", "two"), Some(Value::from(1_i64)));
    assert_eq!(object.remove("aa"), Some(Value::from(1_i64)));
    assert_eq!(object.remove("aa"), None);
    *object.get_mut("a").unwrap() = Value::from(None::<bool>);
    for (key, value) in object.iter_mut() {
        if key == "\u{ffff}" {
            *value = vec![Value::from(true)].into();
        }
    }
    assert!(object.contains_key("a") && !object.contains_key("aa"));
    assert_eq!((object.len(), object.get("b")), (4, Some(&Value::from("two"))));
    let text = "{\"a\":null,\"b\":\"two\",\"\u{ffff}\":[true],\"\u{1f600}\":1}";
    assert_eq!(Value::from(object.clone()).canonical(), text);
    assert_eq!(object.clone().into_iter().rev().collect::<Object>(), object);
    assert_eq!(Object::from_iter([("k", 1_i64), ("j", 2), ("k", 3)]).get("k"), Some(&3_i64.into()));
}

#[test]
fn pretty_json_has_a_line_for_every_member() {
    let value = parse(r#"{"b":[1,{"c":1e16},[]],"a":{},"é":"x\ny"}"#);
    let lines = [
        "{",
        "  \"a\": {},",
        "  \"b\": [",
        "    1,",
        "    {",
        "      \"c\": 1e+16",
        "    },",
        "    []",
        "  ],",
        "  \"é\": \"x\\ny\"",
        "}",
    ];
    assert_eq!(value.to_pretty(), lines.join("\n"));
}

#[test]
fn serde_json_prints_the_canonical_bytes() {
    #[derive(serde::Serialize)]
    struct Report {
        z: Value,
        a: u8,
    }
    let text = r#"{"a":[123456789012345678901234567890,1e+16,-0.0],"b":"\u007f"}"#;
    let report = serde_json::to_string(&Report { z: parse(text), a: 1 }).unwrap();
    let canonical = text.replace("\\u007f", "\x7f");
    assert_eq!(report, format!("{{\"z\":{canonical},\"a\":1}}"));
}

#[test]
fn a_double_that_is_not_finite_is_written_as_null() {
    for double in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Value::Float(double).canonical(), "null");
    }
}

fn any_int() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-3..=3_i64, 0..63_u32).prop_map(|(near, bits)| Value::from((1_i64 << bits) + near)),
        "-?[1-9][0-9]{0,40}".prop_map(|digits| parse(&digits)),
    ]
}

fn any_double() -> impl Strategy<Value = f64> {
    prop_oneof![
        NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE,
        (-3..=3_i64, 0..63_u32).prop_map(|(near, bits)| ((1_i64 << bits) + near) as f64),
        (any::<i32>(), -30..30_i32).prop_map(|(m, e)| format!("{m}e{e}").parse().unwrap()),
    ]
}

fn any_number() -> impl Strategy<Value = Value> {
    prop_oneof![any_int(), any_double().prop_map(Value::Float)]
}

fn any_text() -> impl Strategy<Value = String> {
    let special = prop::sample::select(
        "\"\\/\0\x08\t\n\x0c\r\x1f\x7fé\u{2028}\u{ffff}🙂".chars().collect::<Vec<_>>(),
    );
    prop_oneof![
        "[a-c]{0,3}",
        any::<String>(),
        vec(prop_oneof![special, any::<char>(), proptest::char::range('a', 'z')], 0..24)
            .prop_map(String::from_iter),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any_number(),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Value::from),
            vec((any_text(), inner), 0..8).prop_map(|all| Value::from(Object::from_iter(all))),
        ]
    })
}

/// JSON text of `value` with shuffled members, needless escapes and white space, as the
/// dice have it.
fn scrambled(value: &Value, dice: &mut dyn Iterator<Item = usize>) -> String {
    let mut pick = |sides: usize| dice.next().unwrap() % sides;
    let space = [" ", "", "\n\t", "\r"][pick(4)];
    let inner = match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| scrambled(item, dice)).collect();
            format!("[{space}{}]", items.join(","))
        }
        Value::Object(object) => {
            let mut members: Vec<_> = object.iter().collect();
            for last in (1..members.len()).rev() {
                members.swap(last, pick(last + 1));
            }
            let members: Vec<_> = members
                .into_iter()
                .map(|(key, member)| scrambled(&key.into(), dice) + ":" + &scrambled(member, dice))
                .collect();
            format!("{{{space}{}}}", members.join(","))
        }
        Value::String(text) if pick(2) == 0 => {
            let units: Vec<_> = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
            format!("\"{}\"", units.concat())
        }
        other => other.canonical(),
    };
    format!("{space}{inner}{space}")
}

/// All digits of a number, however many, and no zero to spare.
fn exact_decimal(number: &Value) -> String {
    let digits = match number {
        Value::Int(int) => format!("{int}.0"),
        Value::Float(double) => format!("{double:.1074}"),
        other => panic!("{other:?} is no number"),
    };
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    if digits == "-0" { "0".to_owned() } else { digits.to_owned() }
}

/// A double and the integer of its digits before the point, the last one maybe changed.
fn near_pair() -> impl Strategy<Value = (Value, Value)> {
    (any_double(), prop::option::of(0..=9_u8)).prop_map(|(double, last)| {
        let mut digits = format!("{:.0}", double.trunc());
        if let (Some(last), true) = (last, digits.len() > 2) {
            digits.pop();
            digits.push((b'0' + last).into());
        }
        (Value::Float(double), parse(&digits))
    })
}

proptest! {
    #[test]
    fn parsing_the_canonical_json_of_a_value_gives_the_value(value in any_value()) {
        let text = value.canonical();
        let again = Value::parse(text.as_bytes()).unwrap();
        prop_assert_eq!(&again.canonical(), &text);
        prop_assert_eq!(again, value);
    }

    #[test]
    fn canonical_json_does_not_depend_on_how_a_text_is_laid_out(
        value in any_value(),
        dice in vec(any::<usize>(), 1..64),
    ) {
        let text = scrambled(&value, &mut dice.into_iter().cycle());
        prop_assert_eq!(parse(&text).canonical(), value.canonical());
        prop_assert_eq!(parse(&value.to_pretty()), value);
    }

    #[test]
    fn json_inside_a_text_reads_back_to_the_same_value(value in any_value()) {
        prop_assume!(value.as_str().is_none());
        prop_assert!(value.text().is_ascii());
        prop_assert_eq!(parse(&value.text()), value);
    }

    #[test]
    fn values_are_equal_when_their_bytes_are(a in any_value(), b in any_value()) {
        prop_assert_eq!(a == b, a.canonical() == b.canonical());
        prop_assert_eq!(a.same(&b), b.same(&a));
        prop_assert!(a.same(&a));
    }

    #[test]
    fn numbers_are_the_same_when_all_their_digits_are(
        (a, b) in prop_oneof![(any_number(), any_number()), near_pair()],
    ) {
        let same = exact_decimal(&a) == exact_decimal(&b);
        prop_assert_eq!(a.same(&b), same);
        prop_assert_eq!(b.same(&a), same);
    }

    #[test]
    fn what_a_string_keeps_unescaped_is_found_byte_by_byte(bytes in vec(any::<u8>(), 0..40)) {
        let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
        let slow = bytes.iter().position(special).unwrap_or(bytes.len());
        prop_assert_eq!(plain_prefix(&bytes), slow);
    }

    #[test]
    fn objects_hold_what_a_map_holds(members in vec(("[a-d]{1,2}", any::<i64>()), 0..20)) {
        let map: std::collections::BTreeMap<_, _> = members.iter().cloned().collect();
        let mut inserted = Object::new();
        for (key, number) in &members {
            inserted.insert(key.as_str(), *number);
        }
        prop_assert_eq!(&Object::from_iter(members), &inserted);
        let held: Vec<_> = inserted.iter().map(|(k, v)| (k, v.as_i64().unwrap())).collect();
        let expected: Vec<_> = map.iter().map(|(k, v)| (k.as_str(), *v)).collect();
        prop_assert_eq!(held, expected);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in vec(any::<u8>(), 0..64)) {
        let _ = Value::parse(&bytes);
    }

    /// Sound documents with a few bytes changed or the end cut off; texts of tokens.
    #[test]
    fn messages_are_one_short_line_and_point_into_the_text(
        value in any_value(),
        edits in vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        cut in any::<prop::sample::Index>(),
        tokens in "([\\[\\]{},: 019.eE+\"\\\\-]|NaN|true|\\\\u[dD][8cC]00|\"\\p{C}\"|🙂|[\u{80}-\u{9f}]){0,40}",
    ) {
        let mut edited = value.canonical().into_bytes();
        for (index, byte) in edits {
            let at = index.index(edited.len());
            edited[at] = byte;
        }
        let cut = edited[..cut.index(edited.len() + 1)].to_vec();
        for bytes in [edited, cut, tokens.into_bytes()] {
            match Value::parse(&bytes) {
                Ok(value) => prop_assert_eq!(parse(&value.canonical()), value),
                Err(error) => {
                    let message = error.to_string();
                    prop_assert!(error.offset <= bytes.len());
                    prop_assert!(error.path.len() <= 164);
                    prop_assert!(message.len() < 300, "{}", message);
                    prop_assert!(!message.contains(char::is_control), "{}", message);
                }
            }
        }
    }

    /// Long keys at every level, with a fault in the innermost.
    #[test]
    fn messages_stay_short_at_any_depth(keys in vec(any_text(), 0..64), long in 1..50_usize) {
        let mut text = String::new();
        for key in &keys {
            text += "{";
            write_string(&mut text, &key.repeat(long));
            text += ":";
        }
        text += &("1e".to_owned() + &"9".repeat(48));
        let error = Value::parse(text.as_bytes()).unwrap_err();
        let message = error.to_string();
        let text = "1e".to_owned() + &"9".repeat(48);
        prop_assert_eq!(error.kind, JsonErrorKind::DoubleOverflow { text });
        prop_assert!(message.len() < 300 && !message.contains(char::is_control), "{}", message);
    }
}
