//! A disk that is soon full.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, UnmountFlags, mount, mount_remount, unmount};

use crate::not_here::not_here;

/// A small file system of memory, mounted over a directory for as long as this lives.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None`, said aloud, when we may not mount.
    pub fn over(path: &Path, options: &std::ffi::CStr) -> Option<SmallDisk> {
        match mount("tmpfs", path, "tmpfs", MountFlags::empty(), options) {
            Ok(()) => Some(SmallDisk(path.to_owned())),
            Err(error) => {
                not_here(&format!("only root may mount a small disk ({error})"));
                None
            }
        }
    }

    pub fn read_only(&self) {
        mount_remount(&self.0, MountFlags::RDONLY, c"").unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}
