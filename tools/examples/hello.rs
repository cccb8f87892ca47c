// SPDX-License-Identifier: GPL-2.0-only
//! Emits an event with libelog, from Rust. Needs no crates.
//!
//!     rustc hello.rs -l elog && elog capture -e hello -- ./hello
use std::ffi::CString;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::{env, io, process, ptr};

#[repr(C)]
struct IoVec {
    base: *const c_void,
    size: usize,
}

// The C compiler and rustc cannot compare these with elog.h: write them with care.
extern "C" {
    fn elog_producer_open(producer: *mut *mut c_void, options: *const c_void) -> c_int;
    fn elog_producer_connect(producer: *mut c_void) -> c_int;
    fn elog_producer_close(producer: *mut c_void);
    fn elog_event_register(
        producer: *mut c_void, provider: *const c_char, command: *const c_char,
        level: c_uint, keywords: u64, flags: c_uint, event: *mut *mut c_void,
    ) -> c_int;
    fn elog_event_write(
        event: *const c_void, session: u64, iov: *const IoVec, count: c_uint,
    ) -> c_int;
    fn elog_event_invalid(event: *const c_void);
    fn elog_session_new() -> u64;
    fn elog_session_enter(event: *const c_void, session: u64) -> Running;
    fn elog_session_leave(event: *const c_void, before: Running);
}

/// struct elog_running
#[repr(C)]
#[derive(Clone, Copy)]
struct Running {
    session: u64,
    of: u32,
    epoch: u32,
}

/// While this exists, the thread that made it works on a session: see "elog why".
struct Work {
    event: *const c_void, // so it stays in its thread
    before: Running,
}

impl Work {
    fn on(event: *const c_void, session: u64) -> Work {
        Work { event, before: unsafe { elog_session_enter(event, session) } }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        unsafe { elog_session_leave(self.event, self.before) };
    }
}

/// A failure of libelog is a negative errno.
fn check(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::from_raw_os_error(-result)) } else { Ok(()) }
}

/// Emits an event; false: the kernel did not take it, because the event has no subscriber.
///
/// The program must run in the same way whether it is recorded or not. So a text that is too
/// long is no error, except with ELOG_STRICT=1: the event is dropped, and counts as invalid.
fn emit(event: *const c_void, session: u64, number: u32, text: &str) -> io::Result<bool> {
    const FIXED: usize = 8;
    let size = text.len() + 1;
    let strict = env::var_os("ELOG_STRICT").map_or(false, |value| value != "" && value != "0");

    if FIXED + size > 0xffff {
        if strict {
            let error = format!("text: {} bytes are too many", text.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
        }
        unsafe { elog_event_invalid(event) };
        return Ok(false);
    }
    // The fields, packed: a number, and a word that says where the text is.
    let fields = [number, (size as u32) << 16 | FIXED as u32];
    let end = 0u8;
    let parts = [
        IoVec { base: fields.as_ptr() as *const c_void, size: FIXED },
        IoVec { base: text.as_ptr() as *const c_void, size: text.len() },
        IoVec { base: &end as *const u8 as *const c_void, size: 1 },
    ];

    Ok(unsafe { elog_event_write(event, session, parts.as_ptr(), 3) } == 0)
}

fn run() -> io::Result<()> {
    let provider = CString::new("hello")?;
    let command = CString::new("rust u32 number; __data_loc char[] text")?;
    let text = env::args().nth(1).unwrap_or("hello, world".to_string());
    let (mut producer, mut event) = (ptr::null_mut(), ptr::null_mut());

    unsafe {
        check(elog_producer_open(&mut producer, ptr::null()))?;
        // Without this, the event is disabled while there is no kernel module.
        check(elog_producer_connect(producer))?;
        check(elog_event_register(
            producer, provider.as_ptr(), command.as_ptr(), 0, 0, 0, &mut event,
        ))?;
    }
    let session = unsafe { elog_session_new() };
    let work = Work::on(event, session);
    if !emit(event, session, 42, &text)? {
        println!("the event is disabled; try: elog capture -e hello -- ./hello");
    }
    drop(work);
    unsafe { elog_producer_close(producer) };
    Ok(())
}

fn main() {
    if let Err(error) = run() {
        eprintln!("hello: {}", error);
        process::exit(1);
    }
}
