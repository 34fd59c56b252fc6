//! What Windows tells of processes, as it is to be read. Nothing is asked here, so that it is tested on every system.

use std::collections::HashMap;

use crate::ObservedProcess;

/// What the system said of a list that it was to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListAnswer {
    Whole,
    /// There was no room for all of it.
    Cut,
}

/// Two numbers of 32 bits stand before the list: how many processes there are, and how many of them are listed.
const HEAD: usize = 8 / size_of::<usize>();
/// Most servers have fewer processes.
const ROOM: usize = 64;
/// The room is at least doubled each time.
const ROUNDS: usize = 12;

/// The numbers of the processes of a job. `ask` has the system write its list (`JOBOBJECT_BASIC_PROCESS_ID_LIST`) into the words
/// that it is given; none if it refuses. A job that grows faster than the room is told as far as it was listed.
pub(crate) fn job_list(mut ask: impl FnMut(&mut [usize]) -> Option<ListAnswer>) -> Option<Vec<u32>> {
    let mut words = vec![0; HEAD + ROOM];
    let mut asked = 1;
    while ask(&mut words)? == ListAnswer::Cut && asked < ROUNDS {
        let (there, _) = head(&words);
        // Those that are started between two questions want room too.
        words = vec![0; there.saturating_add(words.len() * 2)];
        asked += 1;
    }
    let (_, listed) = head(&words);
    Some(words.iter().skip(HEAD).take(listed).filter_map(|number| u32::try_from(*number).ok()).collect())
}

/// How many there are, and how many are listed.
fn head(words: &[usize]) -> (usize, usize) {
    let bytes: Vec<u8> = words.iter().take(HEAD).flat_map(|word| word.to_ne_bytes()).collect();
    let number = |bytes: &[u8; 4]| usize::try_from(u32::from_ne_bytes(*bytes)).unwrap_or(0);
    match bytes.as_chunks().0 {
        [there, listed] => (number(there), number(listed)),
        _ => (0, 0),
    }
}

/// What a program is called, by its file: `node` for `C:\Program Files\nodejs\node.exe`.
pub(crate) fn program_name(file: &str) -> &str {
    let name = file.rsplit(['\\', '/']).next().unwrap_or(file);
    match name.rsplit_once('.') {
        Some((stem, ending)) if ending.eq_ignore_ascii_case("exe") && !stem.is_empty() => stem,
        _ => name,
    }
}

/// A process keeps its parent's number when the parent is gone, and that number may be another's by then: nobody's parent is
/// younger than itself.
pub(crate) fn with_true_parents(mut all: Vec<ObservedProcess>) -> Vec<ObservedProcess> {
    let starts: HashMap<u32, u64> = all.iter().map(|one| (one.id.pid, one.id.start)).collect();
    for one in &mut all {
        let own = one.id;
        one.parent = one.parent.filter(|parent| {
            *parent != own.pid && starts.get(parent).is_some_and(|start| *start <= own.start)
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProcessId;

    /// Writes as the system does: as many as there is room for, and both numbers.
    fn write(words: &mut [usize], job: &[u32], counts_when_cut: bool) -> Option<ListAnswer> {
        let room = words.len() - HEAD;
        let listed = job.len().min(room);
        let answer = if listed == job.len() { ListAnswer::Whole } else { ListAnswer::Cut };
        if answer == ListAnswer::Whole || counts_when_cut {
            let head: Vec<u8> = [u32::try_from(job.len()).ok()?, u32::try_from(listed).ok()?]
                .iter()
                .flat_map(|number| number.to_ne_bytes())
                .collect();
            for (word, bytes) in words.iter_mut().zip(head.as_chunks().0) {
                *word = usize::from_ne_bytes(*bytes);
            }
            for (word, pid) in words.iter_mut().skip(HEAD).zip(job) {
                *word = usize::try_from(*pid).ok()?;
            }
        }
        Some(answer)
    }

    #[test]
    fn a_job_of_any_size_is_listed_whole() {
        for size in [0, 1, 63, 64, 65, 128, 129, 1_000, 40_000] {
            let job: Vec<u32> = (0..size).map(|number| 4 + number * 4).collect();
            for counts in [true, false] {
                let mut asked = 0;
                let found = job_list(|words| {
                    asked += 1;
                    write(words, &job, counts)
                });
                assert_eq!(found.as_ref(), Some(&job), "{size} processes");
                assert!(
                    !counts || asked <= 2,
                    "{size} processes: the system said how many, and was asked {asked} times"
                );
            }
        }
    }

    #[test]
    fn a_job_that_grows_at_every_look_is_told_as_far_as_it_was_listed() {
        let (mut asked, mut room) = (0, 0);
        let found = job_list(|words| {
            (asked, room) = (asked + 1, words.len() - HEAD);
            let more: Vec<u32> = (1..=u32::try_from(words.len()).ok()?).collect();
            write(words, &more, false)?;
            write(words, &more[..1], true)?;
            Some(ListAnswer::Cut)
        });
        assert_eq!((asked, found), (ROUNDS, Some(vec![1])));
        assert!(room > 64 * 2_000, "room for {room}");
    }

    #[test]
    fn a_job_that_the_system_does_not_tell_of_has_no_list() {
        assert_eq!(job_list(|_| None), None);
    }

    #[test]
    fn a_head_that_promises_more_than_there_is_reads_nothing_beyond() {
        let found = job_list(|words| {
            words[..HEAD].fill(usize::MAX);
            Some(ListAnswer::Whole)
        });
        assert_eq!(found.map(|found| found.len()), Some(ROOM));
    }

    #[test]
    fn a_program_is_called_by_its_file_without_exe() {
        for (file, wanted) in [
            (r"C:\Program Files\nodejs\node.exe", "node"),
            ("uv.EXE", "uv"),
            (r"\\server\share/tool.exe", "tool"),
            ("python3.12", "python3.12"),
            ("System", "System"),
            (".exe", ".exe"),
            ("", ""),
        ] {
            assert_eq!(program_name(file), wanted, "{file}");
        }
    }

    #[test]
    fn a_number_used_again_is_nobodys_parent() {
        let seen = |pid, start, parent| ObservedProcess {
            id: ProcessId { pid, start },
            parent: Some(parent),
            name: String::new(),
        };
        let all = vec![seen(8, 10, 4), seen(12, 20, 8), seen(16, 15, 12), seen(20, 20, 12), seen(24, 1, 24)];
        let parents: Vec<(u32, Option<u32>)> =
            with_true_parents(all).iter().map(|one| (one.id.pid, one.parent)).collect();
        // 4 is not there; 12 is younger than 16; 20 was made in the same moment as its parent.
        assert_eq!(parents, [(8, None), (12, Some(8)), (16, None), (20, Some(12)), (24, None)]);
    }
}
