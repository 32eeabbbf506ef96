//! ptrace(2) and seccomp(2): a filter stops a thread at the calls of interest, and another thread of
//! kurabe examines and resumes it.
//!
//! The filter belongs to the program and all that it starts. A call costs two stops: one before it,
//! by the filter, and one after it.

use rustix::fd::{AsFd, OwnedFd};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Architecture in the data of a filter (linux/audit.h). Calls of another one are not stopped.
const ARCHITECTURE: u32 = if cfg!(target_arch = "aarch64") { 0xC000_00B7 } else { 0xC000_003E };
/// Offsets in `struct seccomp_data` (linux/seccomp.h).
const NUMBER_OFFSET: u32 = 0;
const ARCHITECTURE_OFFSET: u32 = 4;
const ARGUMENTS_OFFSET: u32 = 16;

/// Condition on a call under which it is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopRule {
    /// Every call.
    Any,
    /// Every call with this number.
    Always(i64),
    /// Calls with these bits in the low half of an argument.
    Bits(i64, u32, u32),
    /// Calls with this low half of an argument.
    Equals(i64, u32, u32),
}

/// Returns the program of a filter that stops calls.
pub(crate) fn filter(rules: &[StopRule]) -> Vec<libc::sock_filter> {
    let load = |offset| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0, 0);
    let give = |action| step(libc::BPF_RET | libc::BPF_K, action, 0, 0);
    let is_equal = |value, else_skip| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, 0, else_skip);
    let has_bits = |bits| step(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, bits, 0, 1);
    let (stop, go_on) = (give(libc::SECCOMP_RET_TRACE), give(libc::SECCOMP_RET_ALLOW));
    let argument = |index: u32| load(ARGUMENTS_OFFSET + 8 * index);
    let mut steps = vec![load(ARCHITECTURE_OFFSET), is_equal(ARCHITECTURE, 1), load(NUMBER_OFFSET)];
    // A filter has no jumps backwards, so another architecture ends right here.
    steps.insert(2, step(libc::BPF_JMP | libc::BPF_JA, 1, 0, 0));
    steps.insert(3, go_on);
    for rule in rules {
        match *rule {
            StopRule::Any => steps.push(stop),
            StopRule::Always(number) => steps.extend([is_equal(number as u32, 1), stop]),
            StopRule::Bits(number, index, bits) => {
                steps.extend([is_equal(number as u32, 4), argument(index), has_bits(bits), stop, go_on]);
            }
            StopRule::Equals(number, index, value) => {
                let check = [argument(index), is_equal(value, 1), stop, load(NUMBER_OFFSET)];
                steps.push(is_equal(number as u32, check.len() as u8));
                steps.extend(check);
            }
        }
    }
    steps.push(go_on);
    steps
}

fn step(code: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt, jf, k }
}

/// Makes a program wait until it is traced, and then stop at the calls of a filter. It sends a byte
/// through `socket`, and waits for one; 0 means that it cannot be traced.
pub(crate) fn be_traced(command: &mut Command, socket: OwnedFd, mut filter: Vec<libc::sock_filter>) {
    let begin = move || {
        rustix::io::write(socket.as_fd(), &[1])?;
        let mut answer = [0];
        rustix::io::read(socket.as_fd(), &mut answer)?;
        if answer != [1] {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        // SAFETY: the program and its steps outlive the call, which copies them.
        let set =
            || unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
        if set() == 0 {
            return Ok(());
        }
        // Without the privilege, the program must not gain any.
        // SAFETY: it has no pointers.
        unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
        if set() == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the closure only makes system calls; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(begin) };
}

/// Requests of ptrace(2) that are the same in every library.
const SEIZE: i64 = 0x4206;
const LISTEN: i64 = 0x4208;
const GET_SYSCALL_INFO: i64 = 0x420e;
const CONT: i64 = 7;
const SYSCALL: i64 = 24;

fn request(request: i64, thread: u32, address: usize, data: usize) -> io::Result<i64> {
    // SAFETY: the callers pass addresses only with requests that fill or read objects of that size.
    match unsafe { libc::syscall(libc::SYS_ptrace, request, i64::from(thread), address, data) } {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

/// Traces a thread, and everything that it starts. It is killed if this thread ends.
pub(crate) fn seize(thread: u32) -> io::Result<()> {
    let options = libc::PTRACE_O_TRACESYSGOOD
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_TRACESECCOMP
        | libc::PTRACE_O_EXITKILL;
    request(SEIZE, thread, 0, options as usize).map(|_| ())
}

/// How a stopped thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Onward {
    /// To the next call of interest, with a signal that was held back; 0 for none.
    Run(i32),
    /// To the end of its call.
    ToCallEnd,
    /// It stays stopped, as its group does.
    StayStopped,
}

/// Resumes a thread. A thread that was killed cannot be resumed.
pub(crate) fn resume(thread: u32, onward: Onward) {
    let _ = match onward {
        Onward::Run(signal) => request(CONT, thread, 0, signal as usize),
        Onward::ToCallEnd => request(SYSCALL, thread, 0, 0),
        Onward::StayStopped => request(LISTEN, thread, 0, 0),
    };
}

/// `struct ptrace_syscall_info` (ptrace(2)). `data` is the number and arguments of a call, or its
/// result.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct CallInfo {
    kind: u8,
    padding: [u8; 3],
    architecture: u32,
    instruction: u64,
    stack: u64,
    data: [u64; 8],
}

fn call_info(thread: u32) -> Option<CallInfo> {
    let mut info = CallInfo::default();
    request(GET_SYSCALL_INFO, thread, size_of::<CallInfo>(), (&raw mut info).expose_provenance()).ok()?;
    Some(info)
}

/// Returns the number and arguments of the call at which a thread was stopped by the filter.
pub(crate) fn stopped_call(thread: u32) -> Option<(i64, [u64; 6])> {
    let info = call_info(thread).filter(|info| info.kind == 3)?;
    let mut arguments = [0; 6];
    arguments.copy_from_slice(&info.data[1..7]);
    Some((info.data[0] as i64, arguments))
}

/// Returns the result of the call at whose end a thread is stopped.
pub(crate) fn call_result(thread: u32) -> Option<i64> {
    call_info(thread).filter(|info| info.kind == 2).map(|info| info.data[0] as i64)
}

/// Replaces the call at which a thread was stopped by an error.
pub(crate) fn fail_call(thread: u32, error: i32) -> io::Result<()> {
    const GET_REGISTERS: i64 = 0x4204;
    const SET_REGISTERS: i64 = 0x4205;
    const GENERAL: usize = 1;
    // SAFETY: every bit pattern is a valid value of these integers.
    let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    let place = |registers: &mut libc::user_regs_struct| libc::iovec {
        iov_base: std::ptr::from_mut(registers).cast(),
        iov_len: size_of::<libc::user_regs_struct>(),
    };
    let mut old = place(&mut registers);
    request(GET_REGISTERS, thread, GENERAL, (&raw mut old).expose_provenance())?;
    #[cfg(target_arch = "x86_64")]
    {
        (registers.orig_rax, registers.rax) = (u64::MAX, i64::from(-error) as u64);
    }
    #[cfg(target_arch = "aarch64")]
    {
        registers.regs[0] = i64::from(-error) as u64;
        let mut none = -1i32;
        let mut number = libc::iovec { iov_base: (&raw mut none).cast(), iov_len: size_of::<i32>() };
        // NT_ARM_SYSTEM_CALL of linux/elf.h.
        request(SET_REGISTERS, thread, 0x404, (&raw mut number).expose_provenance())?;
    }
    let mut new = place(&mut registers);
    request(SET_REGISTERS, thread, GENERAL, (&raw mut new).expose_provenance()).map(|_| ())
}

/// Waits for a stop or end of a thread that the calling thread traces. `None` if no traced thread is
/// left. `ends` is called before a thread that has ended is reaped, and returns whether
/// it may be; otherwise this returns `None`.
pub(crate) fn wait_for_stop(mut ends: impl FnMut(u32) -> bool) -> Option<(u32, i32)> {
    let own = libc::__WALL | libc::__WNOTHREAD;
    let options = libc::WEXITED | libc::WSTOPPED | libc::WNOWAIT | own;
    loop {
        // SAFETY: every bit pattern is a valid value of these integers.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        // SAFETY: the call fills the object, which outlives it.
        if unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, options) } == 0 {
            // SAFETY: waitid filled the fields of a child.
            let thread = unsafe { info.si_pid() };
            let is_stop = matches!(info.si_code, libc::CLD_TRAPPED | libc::CLD_STOPPED | libc::CLD_CONTINUED);
            if !is_stop && !ends(thread as u32) {
                return None;
            }
            let mut status = 0;
            // SAFETY: the call fills the object, which outlives it.
            let waited = unsafe { libc::waitpid(thread, &raw mut status, own) };
            // Another thread may have reaped it.
            if waited == thread {
                return Some((thread as u32, status));
            }
            continue;
        }
        if io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
            return None;
        }
    }
}

/// A stop of a traced thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceStop {
    /// At a call of interest.
    Call,
    /// At the end of such a call.
    CallEnd,
    /// It runs another program.
    NewProgram,
    /// With its group, by a signal that stops processes.
    Group,
    /// To receive a signal.
    Signal(i32),
    /// Because it started another thread or process, or was started.
    Start,
    /// It has ended.
    Ended,
}

/// Interprets the status of a traced thread.
pub(crate) fn trace_stop(status: i32) -> TraceStop {
    if !libc::WIFSTOPPED(status) {
        return TraceStop::Ended;
    }
    let signal = libc::WSTOPSIG(status);
    match (status >> 16, signal) {
        (libc::PTRACE_EVENT_SECCOMP, _) => TraceStop::Call,
        (libc::PTRACE_EVENT_EXEC, _) => TraceStop::NewProgram,
        // PTRACE_EVENT_STOP
        (128, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU) => TraceStop::Group,
        (0, signal) if signal == libc::SIGTRAP | 0x80 => TraceStop::CallEnd,
        (0, signal) => TraceStop::Signal(signal),
        _ => TraceStop::Start,
    }
}
