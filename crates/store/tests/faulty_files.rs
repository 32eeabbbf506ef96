//! A file layer under SQLite that fails, tears or loses a write at the n-th change of a file.
//!
//! Reads, locks and names are passed to the operating system. Every write, truncation, sync and
//! removal is counted, and the fault occurs at the chosen one. A sync only records what it makes
//! durable, so that thousands of runs take seconds. The previous content of data written since the
//! last sync is saved, and a power cut restores part of it, sector by sector. After a torn write or
//! a power cut nothing is changed any more, as if the process had ended there.
//!
//! It needs a separate process with one connection: it reads and writes the files outside SQLite,
//! which drops SQLite's locks.
#![allow(unsafe_code)]

use rusqlite::ffi;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Unit that disks write atomically.
const SECTOR_BYTES: usize = 512;

#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// This one call fails with this code.
    Fails(c_int),
    /// Half of the change is made, and the process ends.
    Torn,
    /// The change is not made, the machine crashes, and part of the unsynced data is lost; the seed
    /// determines which.
    PowerCut(u64),
}

/// Previous content of a file at an unsynced change.
struct Undo {
    path: PathBuf,
    offset: u64,
    bytes: Vec<u8>,
}

#[derive(Default)]
struct Plan {
    changes: u64,
    fault: Option<(u64, Fault)>,
    is_over: bool,
    unsynced: Vec<Undo>,
}

/// A file that SQLite has open, and the methods of the operating system's layer.
#[derive(Clone)]
struct Opened {
    path: PathBuf,
    methods: ffi::sqlite3_io_methods,
}

static PLAN: Mutex<Option<Plan>> = Mutex::new(None);
static OPENED: Mutex<Option<HashMap<usize, Opened>>> = Mutex::new(None);
static SYSTEM: OnceLock<System> = OnceLock::new();

struct System(ffi::sqlite3_vfs);

// SAFETY: the layer of the operating system stays registered, and its functions may be called by
// any thread.
unsafe impl Send for System {}
// SAFETY: as above; the copy is never changed.
unsafe impl Sync for System {}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Schedules the fault at this change, counted from 1.
pub fn plan(change: u64, fault: Fault) {
    *locked(&PLAN) = Some(Plan { fault: Some((change, fault)), ..Plan::default() });
}

/// Ends the simulation, and returns whether the fault occurred.
pub fn end_of_plan() -> bool {
    let plan = locked(&PLAN).take().unwrap_or_default();
    plan.fault.is_some_and(|(change, _)| plan.changes >= change)
}

/// Makes this layer the default of the process.
pub fn install() {
    // SAFETY: without a name it is the default layer, which always exists.
    let system: *mut ffi::sqlite3_vfs = unsafe { ffi::sqlite3_vfs_find(std::ptr::null()) };
    // SAFETY: it points to a layer that is registered.
    let system = unsafe { *system };
    assert!(SYSTEM.set(System(system)).is_ok(), "it is installed once");
    let faulty = ffi::sqlite3_vfs {
        zName: c"faulty".as_ptr(),
        pNext: std::ptr::null_mut(),
        xOpen: Some(open),
        xDelete: Some(delete),
        ..system
    };
    // SAFETY: the layer is leaked, so it lives as long as the process.
    let registered = unsafe { ffi::sqlite3_vfs_register(Box::leak(Box::new(faulty)), 1) };
    assert_eq!(registered, ffi::SQLITE_OK);
}

fn system() -> &'static ffi::sqlite3_vfs {
    &SYSTEM.get().expect("it is installed").0
}

fn opened(file: *mut ffi::sqlite3_file) -> Opened {
    locked(&OPENED).as_ref().expect("a file is open")[&(file as usize)].clone()
}

impl Plan {
    /// Counts a change. Returns the code of the fault if it occurs instead; `half` makes half of
    /// the change.
    fn change(&mut self, half: impl FnOnce()) -> Option<c_int> {
        if self.is_over {
            return Some(ffi::SQLITE_IOERR);
        }
        self.changes += 1;
        match self.fault {
            Some((change, fault)) if change == self.changes => {
                match fault {
                    Fault::Fails(code) => return Some(code),
                    Fault::Torn => half(),
                    Fault::PowerCut(seed) => self.forget(seed),
                }
                self.is_over = true;
                Some(ffi::SQLITE_IOERR)
            }
            _ => None,
        }
    }

    /// Saves bytes before they change.
    fn remember(&mut self, path: &Path, offset: u64, length: usize) {
        // Beyond the end there are zeros.
        let mut bytes = vec![0; length];
        let end = std::fs::metadata(path).map_or(0, |file| file.len());
        let present = end.saturating_sub(offset).min(length as u64) as usize;
        if let Ok(file) = File::open(path) {
            file.read_exact_at(&mut bytes[..present], offset).expect("a file");
        }
        self.unsynced.push(Undo { path: path.to_owned(), offset, bytes });
    }

    /// Restores about half of the unsynced sectors, the newest change first.
    fn forget(&mut self, seed: u64) {
        let mut state = seed;
        let mut is_kept = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 63 == 0
        };
        for Undo { path, offset, bytes } in self.unsynced.drain(..).rev() {
            let Ok(file) = File::options().write(true).open(&path) else { continue };
            for (sector, bytes) in bytes.chunks(SECTOR_BYTES).enumerate() {
                if !is_kept() {
                    file.write_all_at(bytes, offset + (sector * SECTOR_BYTES) as u64).expect("a file");
                }
            }
        }
    }
}

/// Counts a change of a file during a simulation.
fn change(half: impl FnOnce(), undo: Option<(&Path, u64, usize)>) -> Option<c_int> {
    let mut guard = locked(&PLAN);
    let plan = guard.as_mut()?;
    if let Some((path, offset, length)) = undo.filter(|_| !plan.is_over) {
        plan.remember(path, offset, length);
    }
    plan.change(half)
}

unsafe extern "C" fn open(
    _vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    let open = system().xOpen.expect("a layer opens");
    let system = std::ptr::from_ref(system()).cast_mut();
    // SAFETY: the arguments are SQLite's own; `file` has the size that the system's layer asked for.
    let code = unsafe { open(system, name, file, flags, out_flags) };
    if code != ffi::SQLITE_OK || name.is_null() {
        return code;
    }
    // SAFETY: a name that is not null ends with a zero byte, and lives as long as the file is open.
    let name = unsafe { CStr::from_ptr(name) };
    // SAFETY: the system's layer has opened it, and has set its methods.
    let methods = unsafe { (*file).pMethods };
    // SAFETY: methods live as long as the process.
    let methods = unsafe { *methods };
    let path = PathBuf::from(name.to_str().expect("a path of the tests is UTF-8"));
    locked(&OPENED).get_or_insert_default().insert(file as usize, Opened { path, methods });
    // Without methods for shared or mapped memory.
    let faulty = ffi::sqlite3_io_methods {
        iVersion: 1,
        xClose: Some(close),
        xWrite: Some(write),
        xTruncate: Some(cut),
        xSync: Some(sync),
        ..methods
    };
    // SAFETY: the file is ours until it is closed; the methods are leaked, so they stay valid.
    unsafe { (*file).pMethods = Box::leak(Box::new(faulty)) };
    code
}

unsafe extern "C" fn delete(_vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync_dir: c_int) -> c_int {
    if let Some(code) = change(|| {}, None) {
        return code;
    }
    let delete = system().xDelete.expect("a layer removes");
    let system = std::ptr::from_ref(system()).cast_mut();
    // SAFETY: the arguments are SQLite's own.
    unsafe { delete(system, name, sync_dir) }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    let methods = opened(file).methods;
    locked(&OPENED).as_mut().expect("a file is open").remove(&(file as usize));
    // SAFETY: it is open, and its own layer closes it.
    unsafe { methods.xClose.expect("a layer closes")(file) }
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    data: *const c_void,
    length: c_int,
    offset: i64,
) -> c_int {
    let Opened { path, methods } = opened(file);
    // SAFETY: SQLite passes this many bytes to write.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length as usize) };
    let half = || {
        let file = File::options().write(true).open(&path).expect("it is open");
        file.write_all_at(&bytes[..bytes.len() / 2], offset as u64).expect("a file");
    };
    if let Some(code) = change(half, Some((&path, offset as u64, bytes.len()))) {
        return code;
    }
    // SAFETY: the arguments are SQLite's own.
    unsafe { methods.xWrite.expect("a layer writes")(file, data, length, offset) }
}

unsafe extern "C" fn cut(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    let Opened { path, methods } = opened(file);
    let length = std::fs::metadata(&path).map_or(0, |file| file.len()).saturating_sub(size as u64);
    if let Some(code) = change(|| {}, Some((&path, size as u64, length as usize))) {
        return code;
    }
    // SAFETY: the arguments are SQLite's own.
    unsafe { methods.xTruncate.expect("a layer cuts")(file, size) }
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    let path = opened(file).path;
    if let Some(code) = change(|| {}, None) {
        return code;
    }
    if let Some(plan) = locked(&PLAN).as_mut() {
        plan.unsynced.retain(|undo| undo.path != path);
    }
    ffi::SQLITE_OK
}
