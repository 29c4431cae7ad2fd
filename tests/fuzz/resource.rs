use mk::lease::{KEY_MAX, Place, Resource, ResourceError};

use super::assert_is_message;

const ROOTS: [(&str, &str); 4] = [
    ("/work/project", "/work/project"),
    ("/work/project", "/work/project/src/deep"),
    ("/", "/tmp"),
    ("/work/Ärger Σ", "/work/Ärger Σ/ x"),
];

/// Who spells a key as it is printed, at the root or from there on, names the same thing; no key lies
/// outside of the root.
pub fn resource(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(error) = Resource::of_peer(text) {
        assert_is_message(&error);
    }
    for folds_case in [false, true] {
        for (root, here) in ROOTS {
            let place =
                |here: &str| Place { root: root.to_owned(), here: here.to_owned(), folds_case };
            match Resource::locate(text, &place(here)) {
                Ok(resource) => assert_is_key(&resource, &place(root)),
                Err(ResourceError::Control { position, .. }) => {
                    assert!(text.chars().nth(position - 1).is_some_and(mk::text::is_unsafe));
                }
                Err(error) => assert_is_message(&error),
            }
        }
    }
}

fn assert_is_key(resource: &Resource, at_root: &Place) {
    let key = resource.as_str();
    assert!(!key.is_empty() && key.chars().count() <= KEY_MAX);
    assert!(!key.contains(mk::text::is_unsafe), "{key:?}");
    assert_eq!(Resource::locate(key, at_root).as_ref(), Ok(resource));
    assert_eq!(Resource::of_key(key).as_ref(), Ok(resource));
    let below = key.strip_prefix("./").unwrap_or(key);
    let is_path = key.starts_with("./") || !key.contains(':');
    if is_path {
        let parts: Vec<&str> = below.trim_end_matches('/').split('/').collect();
        assert!(parts.iter().all(|part| !["", ".", ".."].contains(part)), "{key:?}");
        let absolute = format!("{}/{below}", at_root.root);
        assert_eq!(Resource::locate(&absolute, at_root).as_ref(), Ok(resource));
    }
    assert!(resource.overlaps(resource));
    let path = key.strip_suffix('/').unwrap_or(key);
    assert!(resource.around().any(|around| around == path), "{key:?}");
    if resource.is_tree() {
        let inside = Resource::of_key(&format!("{key}x"));
        assert!(inside.is_ok_and(|inside| resource.overlaps(&inside) && inside.overlaps(resource)));
    }
}
