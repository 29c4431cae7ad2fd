use mk::setting::Setting;

use super::assert_is_message;

/// `KEY=VALUE`: what is let in fits a line of `mk config --list -z`.
pub fn config(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    let setting = match Setting::named(key) {
        Ok(setting) => setting,
        Err(error) => return assert_is_message(&error),
    };
    match setting.check(value) {
        Ok(()) => assert!(!value.is_empty() && !value.contains('\0'), "{key}={value:?}"),
        Err(error) => {
            assert_is_message(&error);
            assert!(error.to_string().starts_with(&format!("{key}: ")), "{error}");
        }
    }
}
