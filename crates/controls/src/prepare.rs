//! The first use of a home: its default policy and its counters, made once.

use callgate_home::{Home, HomeError, atomic};
use callgate_policy::DEFAULT_POLICY;

use crate::limits;

/// Makes the home the first time, and checks every time that it is ours alone.
///
/// The default policy and the counters are written only when the home itself is made: a default that is missing later
/// means refuse, and so do counters.
pub fn prepare_home(home: &Home) -> Result<(), HomeError> {
    home.prepare_with(|home| {
        let path = home.default_policy();
        atomic::create(&path, DEFAULT_POLICY.as_bytes())
            .map_err(|source| HomeError::Write { path, source })?;
        limits::create_first(home).map_err(|error| HomeError::Counters(Box::new(error)))
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
pub(crate) mod testing {
    use super::*;

    pub(crate) fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        prepare_home(&home).unwrap();
        (folder, home)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed step is a failed test")]
mod tests {
    use std::fs;
    #[cfg(unix)]
    use std::path::Path;

    use super::*;

    #[test]
    fn a_new_home_has_a_default_policy_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        prepare_home(&home).unwrap();
        assert_eq!(fs::read_to_string(home.default_policy()).unwrap(), DEFAULT_POLICY);
        assert!(home.limits_db().exists() && home.was_prepared());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(home.path()), 0o700);
            assert_eq!(mode(&home.policies_dir()), 0o700);
            assert_eq!(mode(&home.default_policy()), 0o600);
            assert_eq!(mode(&home.limits_db()), 0o600);
        }
    }

    #[test]
    fn a_default_policy_deleted_later_is_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        prepare_home(&home).unwrap();
        fs::remove_file(home.default_policy()).unwrap();
        prepare_home(&home).unwrap();
        assert!(!home.default_policy().exists());
    }
}
