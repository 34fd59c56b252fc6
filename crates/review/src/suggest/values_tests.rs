#![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;

fn common(values: &[&str]) -> Option<Common> {
    let mut seen = Values::default();
    for value in values {
        seen.add(Raw::parse(value).unwrap());
    }
    seen.common("name", values.len() as u64)
}

fn five(value: &str) -> Vec<&str> {
    vec![value; 5]
}

#[test]
fn paths_below_one_folder() {
    let inside = |folder: &str| Some(Common::Inside(folder.to_owned()));
    let three =
        [r#""/home/a/p/x""#, r#""/home/a/p/y/z""#, r#""/home/a/p""#, r#""/home/a/p/x""#, r#""/home/a/p/""#];
    assert_eq!(common(&three), inside("/home/a/p"));
    assert_eq!(common(&five(r#""/home/a/p/file.txt""#)), inside("/home/a/p"), "the folder of the one file");
    assert_eq!(common(&five(r#""C:\\Users\\a\\x""#)), inside(r"C:\Users\a"));
    let apart = [r#""/home/a""#, r#""/srv/a""#, r#""/home/a""#, r#""/home/a""#, r#""/home/a""#];
    assert_eq!(common(&apart), None, "nothing in common, and too few for a set");
    let climbing = [
        r#""/home/a/p/../q""#,
        r#""/home/a/p/x""#,
        r#""/home/a/p/x""#,
        r#""/home/a/p/x""#,
        r#""/home/a/p/x""#,
    ];
    assert_eq!(common(&climbing), None);
    assert_eq!(common(&three[..2]), None, "two are too few");
    let lists = [r#"["/home/a/p/x","/home/a/p/y"]"#, r#"["/home/a/p/z"]"#, r#""/home/a/p/z""#];
    assert_eq!(common(&lists), inside("/home/a/p"), "lists of paths are held as one");
    assert_eq!(common(&[lists[0], lists[1], r#"["/srv/x/y"]"#]), None);
    assert_eq!(common(&[lists[0], lists[1], "[7]"]), None);
}

#[test]
fn addresses_of_a_few_hosts() {
    let origins =
        |texts: &[&str]| Some(Common::Origins(texts.iter().map(|text| (*text).to_owned()).collect()));
    let shop = [
        r#""https://shop.example:8443/a?b""#,
        r#""https://shop.example:8443""#,
        r#""https://shop.example:8443#x""#,
        r#""https://shop.example:8443/c""#,
        r#""https://shop.example:8443/d""#,
    ];
    assert_eq!(common(&shop), origins(&["https://shop.example:8443"]));
    let mut other = shop.to_vec();
    other.push(r#""https://shop.example/a""#);
    let both = origins(&["https://shop.example", "https://shop.example:8443"]);
    assert_eq!(common(&other), both, "another port is another origin");
    let many: Vec<String> = (0..9).map(|host| format!("\"https://h{host}.example/\"")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(common(&many), None, "more hosts than a person would read");
    let mut sly = shop.to_vec();
    sly.push(r#""https://shop.example:8443\\@evil.example/""#);
    assert_eq!(common(&sly), None);
    let mut named = shop.to_vec();
    named.push(r#""https://me@shop.example:8443/""#);
    assert_eq!(common(&named), None);
}

#[test]
fn one_value_or_a_few() {
    let one_of = |values: &[&str]| Some(Common::OneOf(values.iter().map(|v| (*v).to_owned()).collect()));
    assert_eq!(common(&five("\"json\"")), one_of(&["\"json\""]));
    assert_eq!(common(&five("10")), one_of(&["10"]));
    assert_eq!(common(&five("true")), one_of(&["true"]));
    let mixed = ["\"a\"", "\"b\""].repeat(10);
    assert_eq!(common(&mixed), one_of(&["\"a\"", "\"b\""]));
    assert_eq!(common(&mixed[..18]), None, "too few for a set");
    assert_eq!(common(&["true", "false"].repeat(10)), None, "both are no choice");
    let six = ["1", "2", "3", "4", "5", "6"].repeat(10);
    assert_eq!(common(&six), None);
    for odd in ["null", "{}", "[1]", "1e400", r#""\ud800""#] {
        assert_eq!(common(&five(odd)), None, "{odd}");
    }
}

#[test]
fn nothing_is_drawn_from_what_is_not_whole_or_not_always_there() {
    let mut seen = Values::default();
    (0..5).for_each(|_| seen.add(Raw::parse("1").unwrap()));
    assert_eq!(seen.common("name", 6), None, "one call had none");
    let mut paths = Values::default();
    (0..3).for_each(|_| paths.add(Raw::parse("\"/home/a/p/x\"").unwrap()));
    assert_eq!((paths.common("name", 4), paths.folder("name").as_deref()), (None, Some("/home/a/p")));
    seen.spoil();
    assert_eq!(seen.common("name", 6), None, "one was masked");
}

#[test]
fn what_looks_like_a_secret_is_never_written() {
    let key = format!("\"{}{}\"", "ghp", "_0123456789abcdefghijABCDEFGHIJklmnop");
    assert_eq!(common(&five(&key)), None);
    assert_eq!(common(&five("\"a1b2c3d4e5f6a1b2c3d4e5f6\"")), None, "a run of letters and digits");
    assert_eq!(common(&five("\"/home/a/p/a1b2c3d4e5f6a1b2c3d4e5f6/x\"")), None, "also as a folder");
    assert!(common(&five("\"an-ordinary-long-value-of-words\"")).is_some());
    let mut named = Values::default();
    (0..5).for_each(|_| named.add(Raw::parse("\"abcdef\"").unwrap()));
    assert_eq!(named.common("password", 5), None, "by its name");
}
