//! A stack that stays off the heap while it is small.
//!
//! An ordinary message opens a handful of objects with a handful of members each; the scanner must not pay an
//! allocation for that, and must not fall over when a hostile one opens thousands.

#[derive(Debug)]
pub(super) struct Stack<T, const N: usize> {
    inline: [T; N],
    /// Empty until the inline part is full; from then on it holds everything.
    heap: Vec<T>,
    len: usize,
}

impl<T: Copy + Default, const N: usize> Stack<T, N> {
    pub(super) fn new() -> Self {
        Stack { inline: [T::default(); N], heap: Vec::new(), len: 0 }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn push(&mut self, item: T) {
        if self.heap.is_empty() {
            if let Some(slot) = self.inline.get_mut(self.len) {
                *slot = item;
                self.len += 1;
                return;
            }
            self.heap.extend_from_slice(&self.inline);
        }
        self.heap.push(item);
        self.len += 1;
    }

    #[inline]
    pub(super) fn last(&self) -> Option<T> {
        self.len.checked_sub(1).map(|top| self.as_slice()[top])
    }

    #[inline]
    pub(super) fn truncate(&mut self, len: usize) {
        debug_assert!(len <= self.len);
        self.len = len;
        if !self.heap.is_empty() {
            if len <= N {
                self.inline[..len].copy_from_slice(&self.heap[..len]);
                self.heap.clear();
            } else {
                self.heap.truncate(len);
            }
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) {
        self.truncate(self.len.saturating_sub(1));
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[T] {
        if self.heap.is_empty() { &self.inline[..self.len] } else { &self.heap }
    }

    #[inline]
    pub(super) fn tail_mut(&mut self, from: usize) -> &mut [T] {
        if self.heap.is_empty() { &mut self.inline[from..self.len] } else { &mut self.heap[from..] }
    }
}

#[cfg(test)]
mod tests {
    use super::Stack;

    #[test]
    fn holds_the_same_items_on_either_side_of_the_spill() {
        let mut stack = Stack::<usize, 4>::new();
        for round in 0..3 {
            for item in 0..10 {
                stack.push(item);
                assert_eq!(stack.last(), Some(item), "round {round}");
            }
            assert_eq!(stack.as_slice(), (0..10).collect::<Vec<_>>());
            stack.truncate(6);
            assert_eq!(stack.tail_mut(4), [4, 5]);
            stack.truncate(3);
            assert_eq!(stack.as_slice(), [0, 1, 2]);
            stack.pop();
            assert_eq!(stack.len(), 2);
            stack.truncate(0);
            assert_eq!(stack.last(), None);
        }
    }
}
