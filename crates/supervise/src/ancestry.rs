//! Who descends from whom in a list of processes, where the list is all that a system gives.

/// Everyone below the process with this number, without itself. `tell` says a process' number and its parent's.
pub(crate) fn below<P>(all: &[P], root: u32, tell: impl Fn(&P) -> (u32, Option<u32>)) -> Vec<&P> {
    let mut found: Vec<&P> = Vec::new();
    let mut known = vec![root];
    let mut next = 0;
    while let Some(parent) = known.get(next).copied() {
        for process in all {
            let (number, its_parent) = tell(process);
            // A circle, which a torn view could show, must not turn for ever.
            if its_parent == Some(parent) && !known.contains(&number) {
                known.push(number);
                found.push(process);
            }
        }
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_below_is_found_in_any_order_and_a_circle_ends() {
        let cases = [
            ("nobody", vec![], vec![]),
            ("a chain, listed from its end", vec![(4, 3), (3, 2), (2, 1), (9, 8)], vec![2, 3, 4]),
            ("two children", vec![(2, 1), (3, 1), (4, 3)], vec![2, 3, 4]),
            ("a circle through the root", vec![(1, 3), (2, 1), (3, 2)], vec![2, 3]),
            ("its own parent", vec![(2, 1), (3, 3)], vec![2]),
        ];
        for (case, list, wanted) in cases {
            let mut found: Vec<u32> =
                below(&list, 1, |(pid, parent)| (*pid, Some(*parent))).iter().map(|(pid, _)| *pid).collect();
            found.sort_unstable();
            assert_eq!(found, wanted, "{case}");
        }
    }

    #[test]
    fn who_has_no_parent_is_below_nobody() {
        assert!(below(&[2_u32], 1, |pid| (*pid, None)).is_empty());
    }
}
