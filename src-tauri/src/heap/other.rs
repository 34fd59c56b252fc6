//! Other allocators give back what is free.

pub(crate) fn prepare() {}

pub(crate) fn give_back() {}
