//! A log file of bounded size that several processes append to: above its size it is begun anew, and the one before stays
//! beside it as `.1`.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::private;

#[derive(Debug)]
pub struct CappedFile {
    path: PathBuf,
    limit: u64,
    file: Option<File>,
}

impl CappedFile {
    /// Nothing is opened before there is something to write.
    pub fn new(path: PathBuf, limit: u64) -> CappedFile {
        CappedFile { path, limit, file: None }
    }

    /// Appends whole lines with one write, so that those of several processes do not mix.
    pub fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        // Others may have taken it away, or begun it anew, since the last time.
        let mut file = match self.file.take().filter(|file| private::is_at(file, &self.path)) {
            Some(file) => file,
            None => private::options().create(true).append(true).open(&self.path)?,
        };
        file.write_all(lines)?;
        if file.metadata()?.len() > self.limit {
            self.rotate(&file);
        } else {
            self.file = Some(file);
        }
        Ok(())
    }

    /// One of those that write does it: whoever comes second would put the new file in the place of the full one.
    fn rotate(&self, full: &File) {
        if full.try_lock().is_ok() && private::is_at(full, &self.path) {
            let _full_for_longer = fs::rename(&self.path, Self::previous(&self.path));
        }
    }

    /// Where the lines before those in `path` are.
    pub fn previous(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".1");
        name.into()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use super::*;

    fn text(path: &Path) -> String {
        fs::read_to_string(path).unwrap_or_default()
    }

    #[test]
    fn two_writers_rotate_a_full_file_once_and_go_on_in_the_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.log");
        let (mut one, mut other) = (CappedFile::new(path.clone(), 10), CappedFile::new(path.clone(), 10));
        other.append(b"a\n").unwrap();
        one.append(b"0123456789\n").unwrap();
        other.append(b"b\n").unwrap();
        one.append(b"c\n").unwrap();
        let previous = CappedFile::previous(&path);
        assert_eq!((text(&previous), text(&path)), ("a\n0123456789\n".into(), "b\nc\n".into()));
    }

    #[test]
    fn a_file_that_was_removed_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.log");
        let mut log = CappedFile::new(path.clone(), 1000);
        log.append(b"before\n").unwrap();
        fs::remove_file(&path).unwrap();
        log.append(b"after\n").unwrap();
        assert_eq!(text(&path), "after\n");
    }

    #[test]
    fn a_folder_that_is_gone_is_an_error_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none").join("gate.log");
        let mut log = CappedFile::new(path.clone(), 1000);
        assert!(log.append(b"lost\n").is_err());
        fs::create_dir(path.parent().unwrap()).unwrap();
        log.append(b"kept\n").unwrap();
        assert_eq!(text(&path), "kept\n");
    }

    /// Says to a copy of this test that it is one of the processes, and which file is meant.
    const WRITER: &str = "CAPPED_FILE_WRITER";
    const LIMIT: u64 = 16 * 1024;

    #[test]
    fn processes_that_share_a_file_rotate_it_when_it_is_full_and_mix_no_lines() {
        if let Some(path) = std::env::var_os(WRITER) {
            let mut file = CappedFile::new(path.into(), LIMIT);
            let line = format!("{:>39}\n", std::process::id());
            return (0..2000).for_each(|_| file.append(line.as_bytes()).unwrap());
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.log");
        let this =
            "capped_file::tests::processes_that_share_a_file_rotate_it_when_it_is_full_and_mix_no_lines";
        let start = || {
            let mut copy = std::process::Command::new(std::env::current_exe().unwrap());
            copy.args(["--exact", this])
                .env(WRITER, &path)
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        };
        let writers: Vec<_> = (0..3).map(|_| start()).collect();
        assert!(writers.into_iter().all(|mut writer| writer.wait().unwrap().success()));
        let (before, now) = (text(&CappedFile::previous(&path)), text(&path));
        assert!(before.lines().chain(now.lines()).all(|line| line.len() == 39), "no line is within another");
        assert!(before.len() as u64 > LIMIT, "only a full file was put aside");
        assert!(now.len() as u64 <= LIMIT, "{}", now.len());
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.log");
        CappedFile::new(path.clone(), 1000).append(b"x\n").unwrap();
        assert!(!private::readable_by_others(&fs::metadata(&path).unwrap()));
    }
}
