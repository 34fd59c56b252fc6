#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::fs::{PermissionsExt, symlink};

use callgate_policy::{Call, Circumstances, Judgement, Policy};
use callgate_protocol::json::Raw;

use super::*;

/// A folder `allowed` with a few things in and around it.
struct World {
    _guard: tempfile::TempDir,
    root: PathBuf,
    disk: Disk,
    policy: Policy,
}

fn world() -> World {
    let guard = tempfile::tempdir().unwrap();
    let root = guard.path().canonicalize().unwrap();
    for folder in ["allowed/sub", "allowed_evil", "outside/deep"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::write(root.join("allowed/file.txt"), "x").unwrap();
    fs::write(root.join("outside/secret.txt"), "x").unwrap();
    let allowed = root.join("allowed");
    let value = serde_json::to_string(allowed.to_str().unwrap()).unwrap();
    let policy = format!(
        r#"{{"version":"1","default":"deny","tools":{{
            "in":{{"require":[{{"path":"args.p","op":"inside","value":{value}}}]}},
            "out":{{"require":[{{"path":"args.p","op":"not_inside","value":{value}}}]}}}}}}"#
    );
    let policy = Policy::parse(&policy).unwrap();
    World { disk: Disk::at(Some(root.clone()), Some(allowed)), _guard: guard, root, policy }
}

impl World {
    fn judge(&self, tool: &str, path: &str) -> Result<(), String> {
        let path = path.replace("ROOT", self.root.to_str().unwrap());
        let args = format!("{{\"p\":{}}}", serde_json::to_string(&path).unwrap());
        let call = Call::tool("c", tool, Some(Raw::parse(&args).unwrap()));
        let circumstances = Circumstances { files: &self.disk, ..Circumstances::timeless() };
        match self.policy.judge(&call, &circumstances) {
            Judgement::Pass(_) => Ok(()),
            Judgement::Refuse(refusal) => Err(refusal.reason),
        }
    }

    fn real(&self, path: &str) -> Result<PathBuf, String> {
        self.disk.real(&self.root.join(path))
    }
}

#[test]
fn a_sibling_that_begins_like_the_folder_is_outside() {
    let world = world();
    assert!(world.judge("in", "ROOT/allowed/file.txt").is_ok());
    assert!(world.judge("in", "ROOT/allowed").is_ok());
    assert!(world.judge("in", "ROOT/allowed_evil").is_err());
    assert!(world.judge("in", "ROOT/allowed_evil/new.txt").is_err());
    assert!(world.judge("out", "ROOT/allowed_evil").is_ok());
}

#[test]
fn a_link_out_of_the_folder_is_outside() {
    let world = world();
    symlink(world.root.join("outside/secret.txt"), world.root.join("allowed/link.txt")).unwrap();
    symlink("../outside", world.root.join("allowed/dir")).unwrap();
    symlink(world.root.join("allowed"), world.root.join("outside/back")).unwrap();
    assert!(world.judge("in", "ROOT/allowed/link.txt").is_err());
    assert!(world.judge("in", "ROOT/allowed/dir/secret.txt").is_err());
    assert!(world.judge("out", "ROOT/allowed/dir/secret.txt").is_ok());
    assert!(world.judge("in", "ROOT/outside/back/file.txt").is_ok());
    assert!(world.judge("out", "ROOT/outside/back/file.txt").is_err());
    assert!(world.judge("in", "dir/secret.txt").is_err());
}

#[test]
fn a_file_that_does_not_exist_yet_is_where_its_folder_is() {
    let world = world();
    symlink(world.root.join("outside"), world.root.join("allowed/dir")).unwrap();
    symlink(world.root.join("outside/not_yet"), world.root.join("allowed/broken")).unwrap();
    assert!(world.judge("in", "ROOT/allowed/sub/new.txt").is_ok());
    assert!(world.judge("in", "ROOT/allowed/new/folder/new.txt").is_ok());
    assert!(world.judge("in", "ROOT/allowed/dir/new.txt").is_err());
    assert!(world.judge("in", "ROOT/allowed/dir/new/deeper.txt").is_err());
    assert!(world.judge("in", "ROOT/allowed/broken").is_err());
    assert!(world.judge("in", "ROOT/allowed/broken/new.txt").is_err());
    assert_eq!(world.real("allowed/broken/x"), Ok(world.root.join("outside/not_yet/x")));
}

#[test]
fn a_way_up_behind_a_link_is_not_the_way_back() {
    let world = world();
    symlink(world.root.join("outside/deep"), world.root.join("allowed/dir")).unwrap();
    assert_eq!(world.real("allowed/dir/../secret.txt"), Ok(world.root.join("outside/secret.txt")));
    for tool in ["in", "out"] {
        let refused = world.judge(tool, "ROOT/allowed/dir/../file.txt").unwrap_err();
        assert!(refused.contains("different places"), "{refused}");
    }
    assert!(world.judge("in", "ROOT/allowed/missing/../dir/x").is_err());
    assert!(world.judge("in", "ROOT/allowed/sub/../file.txt").is_ok());
    assert!(world.judge("in", "ROOT/allowed/missing/../../outside/secret.txt").is_err());
}

#[test]
fn a_loop_of_links_leads_nowhere() {
    let world = world();
    symlink("two", world.root.join("allowed/one")).unwrap();
    symlink("one", world.root.join("allowed/two")).unwrap();
    symlink("self/x", world.root.join("allowed/self")).unwrap();
    for path in ["ROOT/allowed/one", "ROOT/allowed/one/x", "ROOT/allowed/self"] {
        for tool in ["in", "out"] {
            let refused = world.judge(tool, path).unwrap_err();
            assert!(refused.contains("loop of links"), "{path}: {refused}");
        }
    }
}

#[test]
fn a_folder_that_may_not_be_read_cannot_be_judged() {
    let world = world();
    let closed = world.root.join("allowed/closed");
    fs::create_dir_all(closed.join("in")).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let readable = fs::symlink_metadata(closed.join("in")).is_ok();
    let judged = world.judge("in", "ROOT/allowed/closed/in/x");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    // Who may read everything is not kept out.
    match judged {
        Ok(()) => assert!(readable),
        Err(refused) => assert!(refused.contains("may not be read"), "{refused}"),
    }
}

#[test]
fn a_file_in_the_place_of_a_folder_is_only_a_name() {
    let world = world();
    assert_eq!(world.real("allowed/file.txt/x"), Ok(world.root.join("allowed/file.txt/x")));
    assert_eq!(world.real("allowed/file.txt/../x"), Ok(world.root.join("allowed/x")));
    assert!(world.disk.real(Path::new("relative")).is_err());
    let long = format!("allowed/{}", "x".repeat(5000));
    assert!(world.real(&long).is_err());
}

#[test]
fn a_folder_that_is_a_link_itself_is_where_it_leads() {
    let world = world();
    symlink(world.root.join("allowed"), world.root.join("alias")).unwrap();
    let value = serde_json::to_string(world.root.join("alias").to_str().unwrap()).unwrap();
    let policy = format!(
        r#"{{"version":"1","default":"deny","tools":{{"in":{{"require":[{{"path":"args.p","op":"inside","value":{value}}}]}}}}}}"#
    );
    let world = World { policy: Policy::parse(&policy).unwrap(), ..world };
    assert!(world.judge("in", "ROOT/allowed/file.txt").is_ok());
    assert!(world.judge("in", "ROOT/alias/file.txt").is_ok());
    assert!(world.judge("in", "~/alias/file.txt").is_ok());
    assert!(world.judge("in", "ROOT/outside").is_err());
}

#[test]
fn this_process_has_a_place() {
    let disk = Disk::new();
    assert_eq!(disk.here(), env::current_dir().ok());
    assert!(disk.home().is_none_or(|home| home.is_absolute()));
}
