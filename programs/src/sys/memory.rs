use libc::{c_void, iovec, pid_t};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};

pub(crate) fn file_in_memory() -> io::Result<File> {
    // SAFETY: the name is NUL-terminated.
    let descriptor = unsafe { libc::memfd_create(c"fencepost".as_ptr(), libc::MFD_CLOEXEC) };
    match descriptor {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: the descriptor is new and has no other owner.
        _ => Ok(unsafe { File::from_raw_fd(descriptor) }),
    }
}

pub(crate) fn next_data(file: &File, from: u64) -> io::Result<u64> {
    // SAFETY: `lseek` takes no pointers.
    match unsafe { libc::lseek(file.as_raw_fd(), from as i64, libc::SEEK_DATA) } {
        -1 => Err(io::Error::last_os_error()),
        at => Ok(at as u64),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Memory(pub(crate) pid_t);

impl Memory {
    pub(crate) fn read(self, at: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0u8; length];
        let got = self.read_into(at, &mut bytes);
        bytes.truncate(got);
        bytes
    }

    fn read_into(self, at: u64, bytes: &mut [u8]) -> usize {
        let local = iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let remote = iovec { iov_base: at as *mut c_void, iov_len: bytes.len() };
        // SAFETY: the local range is a live buffer, and the kernel checks the remote range.
        let got = unsafe { libc::process_vm_readv(self.0, &local, 1, &remote, 1, 0) };
        usize::try_from(got).unwrap_or(0)
    }

    pub(crate) fn write(self, at: u64, bytes: &[u8]) -> bool {
        if bytes.is_empty() {
            return true;
        }
        let local = iovec { iov_base: bytes.as_ptr() as *mut c_void, iov_len: bytes.len() };
        let remote = iovec { iov_base: at as *mut c_void, iov_len: bytes.len() };
        // SAFETY: the local range is live and only read, and the kernel checks the remote range.
        let done = unsafe { libc::process_vm_writev(self.0, &local, 1, &remote, 1, 0) };
        usize::try_from(done) == Ok(bytes.len())
    }

    pub(crate) fn u64(self, at: u64) -> u64 {
        let mut bytes = [0; 8];
        self.read_into(at, &mut bytes);
        u64::from_le_bytes(bytes)
    }

    pub(crate) fn u32(self, at: u64) -> u32 {
        let mut bytes = [0; 4];
        self.read_into(at, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    pub(crate) fn u16(self, at: u64) -> u16 {
        let mut bytes = [0; 2];
        self.read_into(at, &mut bytes);
        u16::from_le_bytes(bytes)
    }

    pub(crate) fn text(self, at: u64) -> Vec<u8> {
        // Stop at the page boundary, because a read that reaches an unmapped page returns nothing.
        let first = 4096 - (at % 4096) as usize;
        let mut bytes = self.read(at, first);
        if !bytes.contains(&0) {
            bytes.extend(self.read(at + first as u64, 4096));
        }
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        bytes.truncate(end);
        bytes
    }
}
