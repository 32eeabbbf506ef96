//! Pages of a mapping that the kernel cannot provide when they are touched (SIGBUS): the file became shorter, or the device failed a
//! read.
//!
//! The model: a thread notes which mapping it is about to touch. If the kernel then signals that a page of that mapping is not
//! available, the handler replaces the whole mapping by anonymous memory, notes the cause and returns, so the interrupted
//! instruction runs again and succeeds. The bytes are meaningless from then on, which the thread finds out when the access is over.
//! An access without a fault costs three stores to memory of the thread. A SIGBUS for any other reason goes to the handler that was
//! there before.
#![allow(unsafe_code)]

use kurabe_core::{Error, Result, text};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering, compiler_fence};

/// The mapping that a thread touches, and what its handler found. Atomic because the handler interrupts the thread, not because
/// other threads see it.
struct Touched {
    start: AtomicUsize,
    /// Length in bytes; 0 while no mapping is touched.
    length: AtomicUsize,
    /// Error number of the page that was not available; 0 if all were.
    cause: AtomicI32,
}

thread_local! {
    /// Without a destructor and with a constant value, this is plain memory of the thread, which a handler may use.
    static TOUCHED: Touched = const {
        Touched { start: AtomicUsize::new(0), length: AtomicUsize::new(0), cause: AtomicI32::new(0) }
    };
}

/// The action for SIGBUS from before this handler was installed; `Err` if it could not be installed.
static PREVIOUS: OnceLock<std::result::Result<libc::sigaction, i32>> = OnceLock::new();

/// Installs the handler, once for the process.
///
/// # Errors
/// The operating system's.
pub(crate) fn survive() -> Result<()> {
    let install = || {
        let mut previous = no_action();
        // SAFETY: with no new action, the call only fills `previous`.
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
        // On the stack for signals, like the handler of the standard library, which may be called from this one.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the handler has the signature that SA_SIGINFO asks for, and does only what a handler may: it reads memory of its
        // thread and of a lock that is already initialized, and makes system calls.
        match unsafe { libc::sigaction(libc::SIGBUS, &raw const action, null_mut()) } {
            0 => Ok(()),
            _ => Err(errno()),
        }
    });
    outcome.map_err(|number| {
        let what = text!("cannot handle lost pages of a mapping", "マップしたページの消失に備えられません");
        Error::os(what, &std::io::Error::from_raw_os_error(number))
    })
}

/// Runs `access`, which touches a mapping.
///
/// # Errors
/// The cause if a page was not available. The mapping is anonymous memory from then on, and what `access` read or wrote is lost.
///
/// # Safety
/// `start` and `length` are a whole mapping that only this thread uses and that has no references into it; `access` does not
/// unwind.
pub(crate) unsafe fn touching(
    start: NonNull<u8>,
    length: usize,
    access: impl FnOnce(),
) -> rustix::io::Result<()> {
    TOUCHED.with(|touched| {
        touched.start.store(start.as_ptr() as usize, Ordering::Relaxed);
        touched.length.store(length, Ordering::Relaxed);
        // The handler runs on this thread, so the order of the compiler is the only one to fix.
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
    // SAFETY: the kernel passes the facts of the signal to a handler with SA_SIGINFO.
    let facts = unsafe { &*info };
    let code = facts.si_code;
    // SAFETY: SIGBUS has an address, and reading it where a process sent the signal gives a number without meaning.
    let address = unsafe { facts.si_addr() } as usize;
    // A signal that a process sent has a code of 0 or less, and no address.
    if code > 0 && replace_touched(address, code) {
        return;
    }
    pass_on(signal, code, info, context);
}

/// Replaces the mapping that this thread touches if the address lies in it; returns whether it did.
fn replace_touched(address: usize, code: c_int) -> bool {
    /// Codes of memory that has failed (`asm-generic/siginfo.h`): then it is not the storage.
    const MEMORY_FAILED: [c_int; 2] = [4, 5];
    TOUCHED.with(|touched| {
        let start = touched.start.load(Ordering::Relaxed);
        let length = touched.length.load(Ordering::Relaxed);
        if !(start..start.saturating_add(length)).contains(&address) {
            return false;
        }
        let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
        // SAFETY: who called `touching` owns the mapping alone and has promised that nothing refers into it.
        let replaced = unsafe {
            mmap_anonymous(start as *mut c_void, length, ProtFlags::READ | ProtFlags::WRITE, flags)
        };
        let cause = if MEMORY_FAILED.contains(&code) { Errno::HWPOISON } else { Errno::IO };
        touched.cause.store(cause.raw_os_error(), Ordering::Relaxed);
        replaced.is_ok()
    })
}

/// Does what would have happened without this handler.
fn pass_on(signal: c_int, code: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let previous = match PREVIOUS.get() {
        Some(Ok(action)) => *action,
        _ => no_action(),
    };
    match previous.sa_sigaction {
        libc::SIG_IGN if code <= 0 => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            let default = no_action();
            // SAFETY: the default action needs no handler. An instruction that faulted runs again and ends the process.
            unsafe { libc::sigaction(signal, &raw const default, null_mut()) };
            if code <= 0 {
                // SAFETY: a signal that a process sent is sent once more, and is delivered when this handler returns.
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

/// The default action: nothing is blocked, and the process ends.
fn no_action() -> libc::sigaction {
    // SAFETY: the structure is numbers and an optional pointer, for which zeros are valid; zero is SIG_DFL.
    unsafe { std::mem::zeroed() }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
