//! Files made up for the property tests: what they say is known, how they say it is thrown with dice.

use proptest::prelude::*;

/// What a made-up entry says.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) name: String,
    pub(super) program: String,
    pub(super) args: Option<Vec<String>>,
    pub(super) env: Vec<(String, String)>,
}

/// Numbers that decide about style; when they run out, the plainest style is taken, so that shrinking makes plain files.
#[derive(Clone, Debug)]
pub(super) struct Dice(pub(super) std::vec::IntoIter<u8>);

impl Dice {
    pub(super) fn throw(&mut self, sides: u8) -> u8 {
        self.0.next().unwrap_or(0) % sides
    }

    pub(super) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from.get(usize::from(self.0.next().unwrap_or(0)) % from.len()).copied().unwrap_or_default()
    }
}

pub(super) fn dice() -> impl Strategy<Value = Dice> {
    prop::collection::vec(any::<u8>(), 0..300).prop_map(|v| Dice(v.into_iter()))
}

pub(super) fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(
            &[
                "-y",
                "--",
                "npx",
                "C:\\Program Files\\nodejs\\npx.cmd",
                "/opt/{a},b",
                "a: b",
                "a #b",
                "#x",
                "- x",
                "true",
                "1",
                "",
                "~",
                "null",
                "it's",
                "say \"hi\"",
                "${HOME}",
                "${{ secrets.X }}",
                "@scope/pkg@1.0",
                "*",
                "&a",
                "!t",
                "%A%",
                "|",
                ">",
                "é✓名😀",
                "a\tb",
                "line\nbreak",
                "\\",
                "\\n",
                "[x]",
                "{x}",
                "x:",
                ":x",
                "?",
                "? x",
                "'",
                "\"",
                "'''",
                "`x`",
                "run",
                "--server",
                "--no-args",
                "a,b",
                ", ",
                " lead",
                "trail ",
                "key = 1",
                "// c",
                "/* c */",
                "\u{2028}",
            ][..]
        )
        .prop_map(str::to_owned),
        "[a-z./@-]{1,12}",
        "[ -~]{0,12}",
        "\\PC{0,8}",
    ]
}

pub(super) fn entries() -> impl Strategy<Value = Vec<Made>> {
    let program = word().prop_filter("a program has a name", |p| !p.trim().is_empty());
    let env = prop::collection::btree_map("[A-Z_]{1,6}", word(), 0..3).prop_map(|m| m.into_iter().collect());
    let entry = (word(), program, prop::option::of(prop::collection::vec(word(), 0..4)), env);
    let entry = entry.prop_map(|(name, program, args, env)| Made { name, program, args, env });
    prop::collection::vec(entry, 1..5).prop_map(|mut made| {
        for (i, entry) in made.iter_mut().enumerate() {
            entry.name.push_str(&i.to_string());
        }
        made
    })
}

/// A text between double quotes, as JSON, TOML and YAML all read it, some characters written as escapes.
pub(super) fn quoted(dice: &mut Dice, text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        let code = u32::from(c);
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            _ if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
                || (code < 0xd800 && dice.throw(20) == 19) =>
            {
                out.push_str(&format!("\\u{code:04x}"));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

/// JSON, by chance with comments and trailing commas.
pub(super) fn json(made: &[Made], dice: &mut Dice, comments: bool) -> String {
    let eol = dice.pick(&["\n", "\r\n"]);
    let space = |dice: &mut Dice| -> String {
        let plain = ["", " ", "@", "@  ", "@\t", "@    ", " @@ "];
        let rich = ["", " ", "@  ", "/* c, \" */", " // c ] \"@", "@// é✓ }@\t", "/**/ "];
        dice.pick(if comments { &rich } else { &plain }).replace('@', eol)
    };
    let list = |dice: &mut Dice, open: &str, items: &[String], close: &str| -> String {
        let mut out = format!("{open}{}", space(dice));
        for (i, item) in items.iter().enumerate() {
            let last = i + 1 == items.len();
            let comma = if !last || (comments && dice.throw(3) == 2) { "," } else { "" };
            out += &format!("{item}{}{comma}{}", space(dice), space(dice));
        }
        out + close
    };
    let member = |dice: &mut Dice, key: &str, value: &str| -> String {
        format!("{}{}:{}{value}", quoted(dice, key), space(dice), space(dice))
    };
    let mut entries = Vec::new();
    for made in made {
        let program = quoted(dice, &made.program);
        let mut members = vec![member(dice, "command", &program)];
        if let Some(args) = &made.args {
            let words: Vec<String> = args.iter().map(|a| quoted(dice, a)).collect();
            let list = list(dice, "[", &words, "]");
            members.push(member(dice, "args", &list));
        }
        if !made.env.is_empty() {
            let mut env = Vec::new();
            for (k, v) in &made.env {
                let v = quoted(dice, v);
                env.push(member(dice, k, &v));
            }
            let env = list(dice, "{", &env, "}");
            members.push(member(dice, "env", &env));
        }
        let by = usize::from(dice.throw(3)) % members.len();
        members.rotate_left(by);
        let entry = list(dice, "{", &members, "}");
        entries.push(member(dice, &made.name, &entry));
    }
    let servers = list(dice, "{", &entries, "}");
    let mut top =
        vec![member(dice, "mcpServers", &servers), member(dice, "big", "123456789012345678901234567890")];
    top.push(member(dice, "preferences", "{\"a\": [1, 2.50, null], \"é\": {}}"));
    let by = usize::from(dice.throw(3));
    top.rotate_left(by);
    format!(
        "{}{}{}",
        space(dice).replace("// c ] \"", "//"),
        list(dice, "{", &top, "}"),
        dice.pick(&["", "\n", "\r\n"])
    )
}
