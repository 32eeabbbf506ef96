//! Handling of SIGBUS, which the kernel raises when it can't provide a page of a mapping: the file
//! was truncated, or the device failed to read.
//!
//! A thread registers the mapping that it is about to access. If the kernel then signals that a
//! page of that mapping is not available, the handler replaces the whole mapping by anonymous
//! memory, records the cause and returns, so that the interrupted instruction is repeated and
//! succeeds. The bytes are meaningless from then on, which the thread detects after the access. An
//! access without a fault costs three stores to thread-local memory. A SIGBUS for any other reason
//! is passed to the previous handler.
#![allow(unsafe_code)]

use kurabe_core::{Error, Result, text};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering, compiler_fence};

/// The mapping that a thread accesses, and the result of its handler. Atomic because the handler
/// interrupts the thread, not because other threads access it.
struct Touched {
    start: AtomicUsize,
    /// Length in bytes. 0 while no mapping is accessed.
    length: AtomicUsize,
    /// Error number of the unavailable page. 0 if all pages were available.
    cause: AtomicI32,
}

thread_local! {
    /// Without a destructor and with a constant initialiser, this is plain thread-local memory,
    /// which a handler may use.
    static TOUCHED: Touched = const {
        Touched { start: AtomicUsize::new(0), length: AtomicUsize::new(0), cause: AtomicI32::new(0) }
    };
}

/// The action for SIGBUS that was set before this handler was installed, or `Err` if the
/// installation failed.
static PREVIOUS: OnceLock<std::result::Result<libc::sigaction, i32>> = OnceLock::new();

/// Installs the handler, once per process.
///
/// # Errors
/// Returns the operating system's error.
pub(crate) fn survive() -> Result<()> {
    let install = || {
        let mut previous = no_action();
        // SAFETY: without a new action, the call only fills `previous`.
        if unsafe { libc::sigaction(libc::SIGBUS, null(), &raw mut previous) } != 0 {
            return Err(errno());
        }
        Ok(previous)
    };
    let installed = PREVIOUS.get_or_init(install);
    let outcome = installed.and_then(|_| {
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_bus_error;
        let mut action = no_action();
        action.sa_sigaction = handler as *const () as usize;
        // The handler runs on the alternate signal stack, like the standard library's handler,
        // which this one may call.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the handler has the signature that SA_SIGINFO requires and is async-signal-safe:
        // it reads thread-local memory and an initialised lock, and makes system calls.
        match unsafe { libc::sigaction(libc::SIGBUS, &raw const action, null_mut()) } {
            0 => Ok(()),
            _ => Err(errno()),
        }
    });
    outcome.map_err(|number| {
        let what = text!(
            "cannot set up handling of lost pages in a mapping",
            "マップしたページの消失に備えられません"
        );
        Error::os(what, &std::io::Error::from_raw_os_error(number))
    })
}

/// Runs `access`, which accesses a mapping.
///
/// # Errors
/// Returns the cause if a page was not available. The mapping is anonymous memory from then on, and
/// the data that `access` read or wrote is lost.
///
/// # Safety
/// `start` and `length` must denote a whole mapping that only this thread uses and that has no
/// references into it. `access` must not unwind.
pub(crate) unsafe fn touching(
    start: NonNull<u8>,
    length: usize,
    access: impl FnOnce(),
) -> rustix::io::Result<()> {
    TOUCHED.with(|touched| {
        touched.start.store(start.as_ptr() as usize, Ordering::Relaxed);
        touched.length.store(length, Ordering::Relaxed);
        // The handler runs on this thread, so only the order of the compiler's instructions must be
        // fixed.
        compiler_fence(Ordering::SeqCst);
        access();
        compiler_fence(Ordering::SeqCst);
        touched.length.store(0, Ordering::Relaxed);
        match touched.cause.swap(0, Ordering::Relaxed) {
            0 => Ok(()),
            number => Err(Errno::from_raw_os_error(number)),
        }
    })
}

extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes the signal information to a handler with SA_SIGINFO.
    let facts = unsafe { &*info };
    let code = facts.si_code;
    // SAFETY: SIGBUS has an address. If a process sent the signal, the address is a meaningless
    // number.
    let address = unsafe { facts.si_addr() } as usize;
    // A signal sent by a process has a code of 0 or less, and no address.
    if code > 0 && replace_touched(address, code) {
        return;
    }
    pass_on(signal, code, info, context);
}

/// Replaces the mapping that this thread accesses if the address is inside it. Returns whether it
/// was replaced.
fn replace_touched(address: usize, code: c_int) -> bool {
    /// Codes of failed memory (`asm-generic/siginfo.h`). In that case the storage is not the cause.
    const MEMORY_FAILED: [c_int; 2] = [4, 5];
    TOUCHED.with(|touched| {
        let start = touched.start.load(Ordering::Relaxed);
        let length = touched.length.load(Ordering::Relaxed);
        if !(start..start.saturating_add(length)).contains(&address) {
            return false;
        }
        let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
        // SAFETY: the caller of `touching` owns the mapping exclusively and has guaranteed that
        // there are no references into it.
        let replaced = unsafe {
            mmap_anonymous(start as *mut c_void, length, ProtFlags::READ | ProtFlags::WRITE, flags)
        };
        let cause = if MEMORY_FAILED.contains(&code) { Errno::HWPOISON } else { Errno::IO };
        touched.cause.store(cause.raw_os_error(), Ordering::Relaxed);
        replaced.is_ok()
    })
}

/// Performs the action that would have happened without this handler.
fn pass_on(signal: c_int, code: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let previous = match PREVIOUS.get() {
        Some(Ok(action)) => *action,
        _ => no_action(),
    };
    match previous.sa_sigaction {
        libc::SIG_IGN if code <= 0 => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            let default = no_action();
            // SAFETY: the default action needs no handler. The faulting instruction is repeated and
            // ends the process.
            unsafe { libc::sigaction(signal, &raw const default, null_mut()) };
            if code <= 0 {
                // SAFETY: a signal that a process sent is raised again and is delivered when this
                // handler returns.
                unsafe { libc::raise(signal) };
            }
        }
        handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: an action with SA_SIGINFO is a function of this signature.
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: an action without SA_SIGINFO is a function of this signature.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

/// Returns the default action, without blocked signals, which ends the process.
fn no_action() -> libc::sigaction {
    // SAFETY: the structure consists of numbers and an optional pointer, for which zeros are valid.
    // Zero is SIG_DFL.
    unsafe { std::mem::zeroed() }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
