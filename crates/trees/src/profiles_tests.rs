#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::os::unix::fs::symlink;

use callgate_home::SessionId;
use callgate_home::clock::wall_ms;

use super::*;
use crate::record::Member;

/// As a library names it.
const MADE_UP: &str = "playwright_chromiumdev_profile-p";

/// Below the real temporary directory, as what is tested is. Nobody's home is near.
struct Place {
    folder: tempfile::TempDir,
    temp: PathBuf,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let temp = fs::canonicalize(folder.path()).unwrap().join("tmp");
        fs::create_dir(&temp).unwrap();
        Place { folder, temp }
    }

    fn profile(&self, name: &str) -> PathBuf {
        let path = self.temp.join(name);
        fs::create_dir_all(path.join("Default")).unwrap();
        fs::write(path.join("Default/Cookies"), "x").unwrap();
        path
    }

    fn check(&self, path: &Path, record: &Record) -> Result<PathBuf, KeepReason> {
        self.check_with(&[], path, record)
    }

    fn check_with(&self, homes: &[&Path], path: &Path, record: &Record) -> Result<PathBuf, KeepReason> {
        check(path, record, &self.ground(homes), |_| false)
    }

    fn ground(&self, homes: &[&Path]) -> Ground {
        Ground::of(self.temp.clone(), homes.iter().map(|home| home.to_path_buf())).unwrap()
    }

    /// Callgate's.
    fn home(&self) -> Home {
        Home::at(self.folder.path().join("home"))
    }
}

fn record(began_ms: i64, command: &[&str], profiles: &[&Path]) -> Record {
    let member = |path: &&Path| Member {
        pid: u32::MAX,
        start: 1,
        command: String::new(),
        brief: false,
        profile: Some(path.to_path_buf()),
    };
    Record {
        session: SessionId::random(),
        server: "s".to_owned(),
        client: None,
        command: command.iter().map(|part| (*part).to_owned()).collect(),
        boot: String::new(),
        pid_namespace: None,
        began_ms,
        keeper: None,
        server_process: None,
        members: profiles.iter().map(member).collect(),
        profiles: Vec::new(),
    }
}

#[test]
fn a_profile_that_the_session_made_goes() {
    let place = Place::new();
    let path = place.profile("playwright_chromiumdev_profile-x");
    let record = record(wall_ms() - 60_000, &["npx", "server"], &[&path]);
    assert_eq!(place.check(&path, &record), Ok(path.clone()));
    assert_eq!(
        remove(&place.home(), &record),
        std::slice::from_ref(&path),
        "below the system's own temporary directory too"
    );
    assert!(!path.exists());
    assert_eq!(place.check(&path, &record), Err(KeepReason::NotThere));
}

#[test]
fn everything_else_stays() {
    let place = Place::new();
    let began = wall_ms() - 60_000;
    let plain = record(began, &["npx", "server"], &[]);
    let outside = place.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let profile = place.profile(MADE_UP);

    let stays =
        |path: &Path, why: KeepReason| assert_eq!(place.check(path, &plain), Err(why), "{}", path.display());
    stays(&outside, KeepReason::Outside);
    stays(&place.temp, KeepReason::Outside);
    stays(&place.temp.join("playwright_chromiumdev_profile-p/../../outside"), KeepReason::Outside);
    stays(&place.temp.join("playwright_chromiumdev_profile-p/.."), KeepReason::Outside);
    stays(Path::new("p"), KeepReason::Outside);
    stays(Path::new("/"), KeepReason::Outside);
    stays(Path::new(""), KeepReason::Outside);
    // As long a way as the other: one name is the beginning of the other.
    let beside = place.folder.path().join("tmp-other/p");
    fs::create_dir_all(&beside).unwrap();
    stays(&beside, KeepReason::Outside);

    symlink(&outside, place.temp.join("link")).unwrap();
    stays(&place.temp.join("link"), KeepReason::NoFolder);
    fs::create_dir(outside.join("inner")).unwrap();
    stays(&place.temp.join("link/inner"), KeepReason::Outside);
    fs::write(place.temp.join("file"), "x").unwrap();
    stays(&place.temp.join("file"), KeepReason::NoFolder);

    let younger = record(wall_ms() + 60_000, &["npx"], &[&profile]);
    assert_eq!(place.check(&profile, &younger), Err(KeepReason::Older), "there before the session");
    for command in [
        ["--user-data-dir", profile.to_str().unwrap()].map(str::to_owned),
        ["-x".to_owned(), format!("--user-data-dir={}", profile.display())],
        ["-x".to_owned(), format!("{}/", profile.display())],
        ["-c".to_owned(), format!("npx server --user-data-dir={} --headless", profile.display())],
        ["-c".to_owned(), format!("npx server --user-data-dir \"$TMPDIR/{MADE_UP}\"")],
    ] {
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let chosen = record(began, &command, &[&profile]);
        assert_eq!(place.check(&profile, &chosen), Err(KeepReason::Chosen), "{command:?}");
    }
    assert_eq!(check(&profile, &plain, &place.ground(&[]), |_| true), Err(KeepReason::InUse));
    assert!(profile.join("Default/Cookies").exists() && outside.join("inner").exists());
}

#[test]
fn a_profile_goes_also_where_the_home_is_below_the_temporary_directory() {
    let place = Place::new();
    let plain = record(wall_ms() - 60_000, &["npx", "server"], &[]);
    let path = place.profile(MADE_UP);
    let home = place.temp.join("clone/target/tmp/person");
    fs::create_dir_all(&home).unwrap();
    assert_eq!(place.check_with(&[&home], &path, &plain), Ok(path.clone()), "beside it");
    assert_eq!(
        place.check_with(&[&place.temp], &path, &plain),
        Ok(path.clone()),
        "the home is that directory"
    );
    assert_eq!(place.check_with(&[place.folder.path()], &path, &plain), Ok(path), "that is in the home");
}

#[test]
fn what_is_in_a_home_below_the_temporary_directory_or_around_one_stays() {
    let place = Place::new();
    let plain = record(wall_ms() - 60_000, &["npx", "server"], &[]);
    let home = place.profile("playwright_chromiumdev_profile-around/playwright_chromiumdev_profile-home");
    let inside = home.join(".config").join(MADE_UP);
    let deeper = home.join("google-chrome/Default");
    fs::create_dir_all(&inside).unwrap();
    fs::create_dir_all(&deeper).unwrap();
    let around = home.parent().unwrap();
    for path in [&*home, around, &inside, &deeper] {
        assert_eq!(place.check_with(&[&home], path, &plain), Err(KeepReason::OwnData), "{}", path.display());
    }
    assert_eq!(place.check_with(&[&place.temp], &inside, &plain), Err(KeepReason::OwnData), "deep in a home");
    // A home that is reached through a link is the same one.
    let link = place.folder.path().join("link");
    symlink(&home, &link).unwrap();
    assert_eq!(place.check_with(&[&link], &inside, &plain), Err(KeepReason::OwnData));
    assert_eq!(
        place.check_with(&[&home], &place.temp, &plain),
        Err(KeepReason::Outside),
        "the directory itself"
    );
}

#[test]
fn nothing_is_temporary_below_the_root_or_at_a_place_that_depends_on_where_one_is() {
    for temp in ["/", "tmp", "", "/no/such/folder"] {
        assert!(Ground::of(PathBuf::from(temp), []).is_none(), "{temp}");
    }
}

#[test]
fn a_profile_whose_name_a_person_may_have_chosen_stays() {
    let place = Place::new();
    let plain = record(wall_ms() - 60_000, &["npx", "server", "--config", "mine.json"], &[]);
    for name in
        ["profile-of-mine", "work", "mcp-chrome-1a2b", "my-playwright_chromiumdev_profile-x", "lighthouse."]
    {
        let path = place.profile(name);
        assert_eq!(place.check(&path, &plain), Err(KeepReason::Named), "{name}");
    }
    for name in
        ["playwright_firefoxdev_profile-a1", "puppeteer_dev_chrome_profile-Xy", ".org.chromium.Chromium.aB3"]
    {
        let path = place.profile(name);
        assert_eq!(place.check(&path, &plain), Ok(path.clone()), "{name}");
    }
}

#[test]
fn a_profile_that_a_living_process_names_stays() {
    let place = Place::new();
    let path = place.profile("puppeteer_dev_chrome_profile-busy");
    let mut child = std::process::Command::new("sleep").arg0_named(&path).spawn().unwrap();
    let record = record(wall_ms() - 60_000, &["npx"], &[&path]);
    // Its command line is there from the moment that it runs its own program.
    while !in_use(&path, &[]) {
        std::thread::yield_now();
    }
    assert_eq!(remove(&place.home(), &record), [] as [PathBuf; 0]);
    assert!(path.exists());
    let busy = callgate_supervise::identify(child.id()).unwrap();
    assert_eq!(removable(&place.home(), &record, &[busy]), std::slice::from_ref(&path), "once that is ended");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(remove(&place.home(), &record), [path]);
}

#[test]
fn what_a_link_inside_a_profile_points_to_stays() {
    let place = Place::new();
    let path = place.profile(MADE_UP);
    let own = place.folder.path().join("own");
    fs::create_dir(&own).unwrap();
    fs::write(own.join("thesis"), "x").unwrap();
    symlink(&own, path.join("Default/link")).unwrap();
    let record = record(wall_ms() - 60_000, &["npx"], &[&path]);
    assert_eq!(remove(&place.home(), &record), [path]);
    assert!(own.join("thesis").exists());
}

/// `sleep` under a name of our choice, which is all that its command line says.
trait Arg0 {
    fn arg0_named(&mut self, path: &Path) -> &mut Self;
}

impl Arg0 for std::process::Command {
    fn arg0_named(&mut self, path: &Path) -> &mut Self {
        use std::os::unix::process::CommandExt;
        self.arg0(format!("chrome --user-data-dir={}", path.display())).arg("600")
    }
}
