//! stub until the scanner lands
pub struct Finding {
    pub rule: &'static str,
    pub range: std::ops::Range<usize>,
}
pub fn find(_text: &str) -> Vec<Finding> {
    Vec::new()
}
pub fn redact(_text: &str) -> Option<(String, Vec<&'static str>)> {
    None
}
