//! Making a project.

use std::env;
use std::path::{Path, PathBuf};

use mk::id::hex;
use mk::store::{Engine, Identity, Sqlite, StoreError, location};
use mk::tokens::Tokenizer;

use super::{Context, Failure};

/// Makes the store at `store` unless it is there; answers whether it made it, and the project's id.
pub fn make_project(
    store: &Path,
    tokenizer: Tokenizer,
    ctx: &mut Context,
) -> Result<(bool, String), Failure> {
    let root = ctx.directory()?.join(store.parent().unwrap_or(Path::new("")));
    let root = match root.file_name() {
        Some(name) if name == location::DIRECTORY => root.parent().unwrap_or(&root).to_owned(),
        _ => root,
    };
    let identity = Identity {
        project_id: hex(&ctx.random::<16>()),
        root: root.to_string_lossy().into_owned(),
        tokenizer,
        key: ctx.random(),
    };
    let agent = ctx.founder()?;
    let created = Sqlite::create(store, &identity, ctx.now(), &agent, ctx.lock_timeout())?;
    let project_id =
        Sqlite::open_to_read(store)?.read(|txn| Ok::<_, StoreError>(txn.identity()?.project_id))?;
    Ok((created, project_id))
}

/// The store of a project in `dir`; its directory is made if need be.
pub fn store_in(dir: &Path) -> Result<PathBuf, Failure> {
    let directory = dir.join(location::DIRECTORY);
    location::create_directory(&directory)?;
    Ok(directory.join(location::FILE))
}

/// Whether a directory is the root, or somebody's home.
pub fn is_everybodys(place: &Path) -> bool {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| !home.as_os_str().is_empty());
    let is_home = home
        .is_some_and(|home| place == home || home.canonicalize().is_ok_and(|home| home == place));
    place.parent().is_none() || is_home
}
