//! The signed exchange of the peer as calls of the library, on files as both lay them out.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mk::canon::{Object, Value};
use mk::id::unhex;
use mk::store::Engine;
use mk::sync;

use super::replay::{Refusal, Replay, object, reported};
use super::scenario::Operation;

impl<E: Engine> Replay<'_, E> {
    pub(super) fn sync(&mut self, of: &Operation) -> Result<Value, Refusal> {
        let folder = self.shared.join("exchange");
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(of.text("file"));
        match of.name() {
            "sync_enable" => self.enable(of),
            "sync_put" => {
                fs::write(file, of.text("text")).unwrap();
                Ok(object([]))
            }
            "sync_remove" => {
                fs::remove_file(file).unwrap();
                Ok(object([]))
            }
            "sync_read" => {
                let text = fs::read_to_string(file).unwrap();
                Ok(object([("text", text.into())]))
            }
            "sync_run" => {
                let exchange = self.exchange.as_ref().expect("it was enabled");
                Ok(reported(&sync::run(self.store, exchange, of.time())?))
            }
            "sync_status" => {
                let policy = &self.exchange.as_ref().expect("it was enabled").policy;
                let status = self.store.read(|txn| sync::status(txn, policy, of.time()))?;
                Ok(reported(&status))
            }
            "sync_audit" => {
                let limit = of.integer("limit").map_or(Ok(100), u64::try_from).unwrap();
                Ok(reported(&self.store.read(|txn| sync::audit(txn, limit))?))
            }
            other => panic!("'{other}' is not replayed"),
        }
    }

    fn enable(&mut self, of: &Operation) -> Result<Value, Refusal> {
        let home = self.shared.join(of.database());
        fs::create_dir_all(&home).unwrap();
        let store = home.join("mk.db");
        // A store in memory has no file, and needs none.
        fs::write(&store, "").unwrap();
        let mut config = Object::from_iter([
            ("schema", Value::from("memkernel.sync-config/v1")),
            ("workspace_id", of.text("workspace").into()),
            ("peer_id", of.text("peer").into()),
            ("folder", "../exchange".into()),
            ("private_key", "sync.key".into()),
            ("trusted_peers", of.get("trusted").unwrap().clone()),
        ]);
        for name in ["interval_seconds", "stale_after_seconds"] {
            if let Some(seconds) = of.get(name) {
                config.insert(name, seconds.clone());
            }
        }
        let policy = home.join("sync.json");
        write_private(&policy, config.canonical().as_bytes(), 0o600);
        write_private(&home.join("sync.key"), &unhex(of.text("key_seed")).unwrap(), 0o600);
        let exchange = sync::open(&policy, &store)?;
        let path = policy.to_str().unwrap();
        self.store.write(|txn| sync::enable(txn, &exchange.policy, path))?;
        self.exchange = Some(exchange);
        Ok(object([]))
    }
}

pub fn write_private(path: &Path, bytes: &[u8], mode: u32) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
