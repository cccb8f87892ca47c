// SPDX-License-Identifier: GPL-2.0-only
//! Emits an event with libelog, from Rust. Needs no crates.
//!
//!     rustc hello.rs -l elog && elog capture -e hello -- ./hello
use std::ffi::CString;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::{io, process, ptr};

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
    fn elog_session_new() -> u64;
}

/// A failure of libelog is a negative errno.
fn check(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::from_raw_os_error(-result)) } else { Ok(()) }
}

fn run() -> io::Result<()> {
    let provider = CString::new("hello")?;
    let command = CString::new("rust u32 number; __data_loc char[] text")?;
    let (mut producer, mut event) = (ptr::null_mut(), ptr::null_mut());
    let text = b"hello, world\0";
    // The fields, packed: a number, and a word that says where the text is.
    let fields = [42u32, (text.len() as u32) << 16 | 8];
    let parts = [
        IoVec { base: fields.as_ptr() as *const c_void, size: 8 },
        IoVec { base: text.as_ptr() as *const c_void, size: text.len() },
    ];

    unsafe {
        check(elog_producer_open(&mut producer, ptr::null()))?;
        // Without this, the event is disabled while there is no kernel module.
        check(elog_producer_connect(producer))?;
        check(elog_event_register(
            producer, provider.as_ptr(), command.as_ptr(), 0, 0, 0, &mut event,
        ))?;
        // -EBADF: the event has no subscriber.
        if elog_event_write(event, elog_session_new(), parts.as_ptr(), 2) < 0 {
            println!("the event is disabled; try: elog capture -e hello -- ./hello");
        }
        elog_producer_close(producer);
    }
    Ok(())
}

fn main() {
    if let Err(error) = run() {
        eprintln!("hello: {}", error);
        process::exit(1);
    }
}
