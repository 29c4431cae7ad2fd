use mk::canon::Value;
use serde::de::IgnoredAny;

/// A text is refused at a place in it, or has one canonical form, which is JSON for others too.
pub fn canonical_json(bytes: &[u8]) {
    let read = Value::parse(bytes);
    match &read {
        Ok(value) => {
            serde_json::from_slice::<IgnoredAny>(bytes).expect("another reader takes it too");
            let text = value.canonical();
            // `1e15` has the longest form for its length, `\u0001` the longest escape.
            assert!(text.len() <= 5 * bytes.len() + 1, "{} from {}", text.len(), bytes.len());
            for form in [text.clone(), value.to_pretty()] {
                let again = Value::parse(form.as_bytes()).expect("its own form can be read");
                assert!(again.same(value));
                assert_eq!(again.canonical(), text);
            }
        }
        Err(error) => {
            assert!(error.offset <= bytes.len());
            assert!(error.path.starts_with('$') && error.path.len() <= 164, "{}", error.path);
            let message = error.to_string();
            assert!(message.len() < 300 && !message.contains(char::is_control), "{message:?}");
            assert_eq!(Value::parse(bytes).err(), read.as_ref().err().cloned());
        }
    }
}
