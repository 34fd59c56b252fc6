//! A server's tree, summed up from what the system tells of each process.

use std::os::windows::io::OwnedHandle;

use super::census::tree_of;
use super::raw;
use crate::Measured;
use crate::windows_parsing::program_name;

/// Every process of a job, also those that lost their parent.
pub(super) fn of_job(job: &OwnedHandle) -> Option<Measured> {
    raw::members(job).map(|numbers| sum(&numbers))
}

/// Every process below this one, for a server that could not be put into a job.
pub(super) fn below(root: u32) -> Measured {
    let numbers: Vec<u32> = tree_of(root).iter().map(|one| one.id.pid).collect();
    sum(&numbers)
}

fn sum(numbers: &[u32]) -> Measured {
    // One that we may not look at is there nevertheless.
    let open: Vec<OwnedHandle> = numbers.iter().filter_map(|number| raw::open(*number)).collect();
    Measured {
        processes: u32::try_from(numbers.len()).unwrap_or(u32::MAX),
        memory: open.iter().filter_map(raw::private_bytes).sum(),
        names: open.iter().filter_map(raw::image).map(|file| program_name(&file).to_owned()).collect(),
    }
}

/// What one process takes: what it alone has claimed, so that the sum of a tree counts no page twice. None for who is gone.
pub fn memory_of(number: u32) -> Option<u64> {
    raw::private_bytes(&raw::open(number)?)
}
