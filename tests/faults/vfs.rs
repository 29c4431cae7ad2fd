//! A VFS of SQLite that passes every call on to the real one, counts them, lets one of them fail, and
//! writes down what would reach a disk.
//!
//! It is the default VFS of this test program, and does nothing on a thread that has no [`Plan`].

#![expect(unsafe_code, reason = "a VFS is a table of C functions")]

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr;
use std::sync::Once;

use rusqlite::ffi;

/// A kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    Open,
    Delete,
    Access,
    Read,
    Write,
    Truncate,
    Sync,
    Size,
    Lock,
    Unlock,
    MapShared,
    LockShared,
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is done, and the device is at fault.
    Device,
    /// Nothing is written for want of space.
    NoSpace,
    /// Half is written, then there is no space.
    ShortWrite,
}

impl Fault {
    fn of(self, call: Call) -> Option<c_int> {
        match (self, call) {
            (Self::NoSpace | Self::ShortWrite, Call::Write) => Some(ffi::SQLITE_FULL),
            (Self::NoSpace | Self::ShortWrite, _) => None,
            (Self::Device, call) => Some(match call {
                Call::Open => ffi::SQLITE_CANTOPEN,
                Call::Delete => ffi::SQLITE_IOERR_DELETE,
                Call::Access => ffi::SQLITE_IOERR_ACCESS,
                Call::Read => ffi::SQLITE_IOERR_READ,
                Call::Write => ffi::SQLITE_IOERR_WRITE,
                Call::Truncate => ffi::SQLITE_IOERR_TRUNCATE,
                Call::Sync => ffi::SQLITE_IOERR_FSYNC,
                Call::Size => ffi::SQLITE_IOERR_FSTAT,
                Call::Lock => ffi::SQLITE_IOERR_LOCK,
                Call::Unlock => ffi::SQLITE_IOERR_UNLOCK,
                Call::MapShared => ffi::SQLITE_IOERR_SHMMAP,
                Call::LockShared => ffi::SQLITE_IOERR_SHMLOCK,
            }),
        }
    }
}

/// What happened to a file.
#[derive(Debug, Clone)]
pub enum Act {
    Write {
        file: PathBuf,
        offset: usize,
        bytes: Vec<u8>,
    },
    Truncate {
        file: PathBuf,
        size: usize,
    },
    Sync {
        file: PathBuf,
    },
    Delete {
        file: PathBuf,
    },
    /// Not of a file: so many steps of the workload had been acknowledged.
    Acknowledged(usize),
}

/// What is done to the calls of this thread.
#[derive(Debug, Default)]
pub struct Plan {
    calls: u64,
    fail: Option<(u64, Fault)>,
    failed: Option<Call>,
    acts: Vec<Act>,
}

thread_local! {
    static PLAN: RefCell<Option<Plan>> = const { RefCell::new(None) };
}

/// What came of a plan.
#[derive(Debug)]
pub struct Outcome {
    /// The calls that were made.
    pub calls: u64,
    /// The call that failed.
    pub failed: Option<Call>,
    pub acts: Vec<Act>,
}

/// Runs `body` on this thread with the call number `fail` (from 0) failing, if it can fail so.
pub fn with_plan<T>(fail: Option<(u64, Fault)>, body: impl FnOnce() -> T) -> (T, Outcome) {
    register();
    PLAN.set(Some(Plan { fail, ..Plan::default() }));
    let done = body();
    let Plan { calls, failed, acts, .. } = PLAN.take().expect("nobody else takes it");
    (done, Outcome { calls, failed, acts })
}

/// Writes down that `steps` steps were acknowledged.
pub fn acknowledge(steps: usize) {
    note(Act::Acknowledged(steps));
}

fn note(act: Act) {
    PLAN.with_borrow_mut(|plan| {
        if let Some(plan) = plan {
            plan.acts.push(act);
        }
    });
}

/// The error with which this call fails, if it is the one.
fn fails(call: Call) -> Option<(c_int, Fault)> {
    PLAN.with_borrow_mut(|plan| {
        let plan = plan.as_mut()?;
        let number = plan.calls;
        plan.calls += 1;
        let (at, fault) = plan.fail?;
        let code = fault.of(call).filter(|_| at == number)?;
        plan.failed = Some(call);
        Some((code, fault))
    })
}

/// Our part of an open file; the real one's lies behind it.
#[repr(C)]
struct File {
    base: ffi::sqlite3_file,
    /// Null for a temporary file.
    path: *mut PathBuf,
}

const OWN_SIZE: usize = size_of::<File>().next_multiple_of(16);

fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| unsafe {
        let real = ffi::sqlite3_vfs_find(ptr::null());
        let mut vfs = *real;
        vfs.szOsFile += c_int::try_from(OWN_SIZE).unwrap();
        vfs.zName = c"mk-faults".as_ptr();
        vfs.pAppData = real.cast();
        vfs.xOpen = Some(open);
        vfs.xDelete = Some(delete);
        vfs.xAccess = Some(access);
        assert_eq!(ffi::sqlite3_vfs_register(Box::leak(Box::new(vfs)), 1), ffi::SQLITE_OK);
    });
}

unsafe fn real_vfs(vfs: *mut ffi::sqlite3_vfs) -> *mut ffi::sqlite3_vfs {
    unsafe { (*vfs).pAppData.cast() }
}

unsafe fn real_file(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    unsafe { file.cast::<u8>().add(OWN_SIZE).cast() }
}

unsafe fn path(file: *mut ffi::sqlite3_file) -> Option<PathBuf> {
    unsafe { (*file.cast::<File>()).path.as_ref().cloned() }
}

unsafe fn path_of(name: *const c_char) -> Option<PathBuf> {
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_str().unwrap().into())
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    unsafe {
        (*file).pMethods = ptr::null();
        if let Some((code, _)) = fails(Call::Open) {
            return code;
        }
        let real = real_vfs(vfs);
        let code = (*real).xOpen.unwrap()(real, name, real_file(file), flags, out_flags);
        if code == ffi::SQLITE_OK {
            let path = path_of(name).map_or(ptr::null_mut(), |path| Box::into_raw(Box::new(path)));
            (*file.cast::<File>()).path = path;
            (*file).pMethods = &raw const METHODS;
        }
        code
    }
}

unsafe extern "C" fn delete(vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    unsafe {
        if let Some((code, _)) = fails(Call::Delete) {
            return code;
        }
        let real = real_vfs(vfs);
        let code = (*real).xDelete.unwrap()(real, name, sync);
        if let Some(file) = path_of(name).filter(|_| code == ffi::SQLITE_OK) {
            note(Act::Delete { file });
        }
        code
    }
}

unsafe extern "C" fn access(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    unsafe {
        if let Some((code, _)) = fails(Call::Access) {
            return code;
        }
        let real = real_vfs(vfs);
        (*real).xAccess.unwrap()(real, name, flags, out)
    }
}

/// Passes a call on to the method of the real file.
macro_rules! real {
    ($file:ident, $method:ident $(, $argument:expr)*) => {{
        let real = real_file($file);
        (*(*real).pMethods).$method.unwrap()(real $(, $argument)*)
    }};
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    unsafe {
        let own = file.cast::<File>();
        if !(*own).path.is_null() {
            drop(Box::from_raw((*own).path));
        }
        real!(file, xClose)
    }
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    to: *mut c_void,
    count: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    match fails(Call::Read) {
        Some((code, _)) => code,
        None => unsafe { real!(file, xRead, to, count, offset) },
    }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    from: *const c_void,
    count: c_int,
    offset: ffi::sqlite3_int64,
) -> c_int {
    let failed = fails(Call::Write);
    let written = match failed {
        None => count,
        Some((_, Fault::ShortWrite)) => count / 2,
        Some((code, _)) => return code,
    };
    unsafe {
        let code = real!(file, xWrite, from, written, offset);
        if let Some(file) = path(file).filter(|_| code == ffi::SQLITE_OK) {
            let bytes = std::slice::from_raw_parts(from.cast::<u8>(), written.try_into().unwrap());
            let offset = offset.try_into().unwrap();
            note(Act::Write { file, offset, bytes: bytes.to_owned() });
        }
        failed.map_or(code, |(code, _)| code)
    }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: ffi::sqlite3_int64) -> c_int {
    if let Some((code, _)) = fails(Call::Truncate) {
        return code;
    }
    unsafe {
        let code = real!(file, xTruncate, size);
        if let Some(file) = path(file).filter(|_| code == ffi::SQLITE_OK) {
            note(Act::Truncate { file, size: size.try_into().unwrap() });
        }
        code
    }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, flags: c_int) -> c_int {
    if let Some((code, _)) = fails(Call::Sync) {
        return code;
    }
    // A power cut is simulated, so that nothing has to be forced to the real disk.
    let _ = flags;
    if let Some(file) = unsafe { path(file) } {
        note(Act::Sync { file });
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn size(file: *mut ffi::sqlite3_file, out: *mut ffi::sqlite3_int64) -> c_int {
    match fails(Call::Size) {
        Some((code, _)) => code,
        None => unsafe { real!(file, xFileSize, out) },
    }
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    match fails(Call::Lock) {
        Some((code, _)) => code,
        None => unsafe { real!(file, xLock, level) },
    }
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // The lock is given back either way: a process cannot be made to keep one.
    let code = unsafe { real!(file, xUnlock, level) };
    fails(Call::Unlock).map_or(code, |(code, _)| code)
}

unsafe extern "C" fn check_lock(file: *mut ffi::sqlite3_file, out: *mut c_int) -> c_int {
    unsafe { real!(file, xCheckReservedLock, out) }
}

unsafe extern "C" fn control(
    file: *mut ffi::sqlite3_file,
    operation: c_int,
    argument: *mut c_void,
) -> c_int {
    unsafe { real!(file, xFileControl, operation, argument) }
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    unsafe { real!(file, xSectorSize) }
}

unsafe extern "C" fn characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    // No promise of the real device: sectors are written in any order, and torn.
    let _ = file;
    0
}

unsafe extern "C" fn map_shared(
    file: *mut ffi::sqlite3_file,
    region: c_int,
    bytes: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    match fails(Call::MapShared) {
        Some((code, _)) => code,
        None => unsafe { real!(file, xShmMap, region, bytes, extend, out) },
    }
}

unsafe extern "C" fn lock_shared(
    file: *mut ffi::sqlite3_file,
    offset: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    if flags & ffi::SQLITE_SHM_UNLOCK == 0
        && let Some((code, _)) = fails(Call::LockShared)
    {
        return code;
    }
    unsafe { real!(file, xShmLock, offset, count, flags) }
}

unsafe extern "C" fn barrier(file: *mut ffi::sqlite3_file) {
    unsafe { real!(file, xShmBarrier) }
}

unsafe extern "C" fn unmap_shared(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    unsafe { real!(file, xShmUnmap, delete) }
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    // Version 2: no memory maps, whose faults nobody can count.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_lock),
    xFileControl: Some(control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(characteristics),
    xShmMap: Some(map_shared),
    xShmLock: Some(lock_shared),
    xShmBarrier: Some(barrier),
    xShmUnmap: Some(unmap_shared),
    xFetch: None,
    xUnfetch: None,
};
