// SPDX-License-Identifier: GPL-2.0
//! Read a collective socket until its end, in a level-triggered loop around poll().
//!
//! reader-rust DESCRIPTOR

use std::fs::File;
use std::io::Read;
use std::os::raw::{c_int, c_short, c_ulong};
use std::os::unix::io::FromRawFd;

const POLLIN: c_short = 1;
const COOKIE_GROUP: u64 = 0xffff_ffff_ffff_ffff;

#[repr(C)]
struct PollFd {
    fd: c_int,
    events: c_short,
    revents: c_short,
}

extern "C" {
    fn poll(fds: *mut PollFd, count: c_ulong, timeout: c_int) -> c_int;
}

fn word(data: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(data[at..at + 4].try_into().unwrap())
}

fn main() {
    let fd: c_int = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut socket = unsafe { File::from_raw_fd(fd) };
    let mut data = [0u8; 4096];
    let mut wakeups = 0;

    println!("ready");
    loop {
        let mut entry = PollFd { fd, events: POLLIN, revents: 0 };
        if unsafe { poll(&mut entry, 1, -1) } < 0 {
            panic!("poll: {}", std::io::Error::last_os_error());
        }
        wakeups += 1;
        if entry.revents & POLLIN == 0 {
            continue;
        }
        let bytes = socket.read(&mut data).unwrap();
        if bytes == 0 {
            println!("end 0\nwakeups {wakeups}");
            return;
        }
        let cookie = u64::from_ne_bytes(data[16..24].try_into().unwrap());
        println!(
            "error {} rank {} group {}",
            word(&data, 4),
            word(&data, 8),
            (cookie == COOKIE_GROUP) as u32
        );
    }
}
