//! Made-up TOML and YAML, whose tables and blocks are lines.

use super::generators::{Dice, Made, quoted};

fn toml_text(dice: &mut Dice, text: &str) -> String {
    let literal = !text.contains('\'') && !text.chars().any(char::is_control);
    match dice.throw(4) {
        1 if literal => format!("'{text}'"),
        2 if literal && !text.is_empty() => format!("'''{text}'''"),
        3 if !text.contains(['"', '\\']) && !text.chars().any(char::is_control) => {
            format!("\"\"\"\n{text}\"\"\"")
        }
        _ => quoted(dice, text),
    }
}

fn toml_key(dice: &mut Dice, key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare && dice.throw(2) == 0 { key.to_owned() } else { quoted(dice, key) }
}

fn toml_list(dice: &mut Dice, items: &[String], eol: &str) -> String {
    let space = |dice: &mut Dice| dice.pick(&["", " ", "@  ", " # c ] \"@\t", "@@"]).replace('@', eol);
    let mut out = format!("[{}", space(dice));
    for (i, item) in items.iter().enumerate() {
        let comma = if i + 1 < items.len() || dice.throw(3) == 2 { "," } else { "" };
        out += &format!("{item}{}{comma}{}", space(dice), space(dice));
    }
    out + "]"
}

pub(super) fn toml(made: &[Made], dice: &mut Dice) -> String {
    let eol = dice.pick(&["\n", "\r\n"]);
    let end = |dice: &mut Dice| dice.pick(&["@", " # é✓ = [@", "@@", "\t@# c@"]).replace('@', eol);
    let equals = |dice: &mut Dice| dice.pick(&[" = ", "=", "\t=  "]);
    let mut out = dice.pick(&["", "# top@", "model = \"x\" # m@@", "n = 1979-05-27@"]).replace('@', eol);
    let (mut first, mut later) = (format!("[mcp_servers]{}", end(dice)), String::new());
    for made in made {
        let name = toml_key(dice, &made.name);
        let mut members = vec![("command", toml_text(dice, &made.program))];
        if let Some(args) = &made.args {
            let words: Vec<String> = args.iter().map(|a| toml_text(dice, a)).collect();
            members.push(("args", toml_list(dice, &words, eol)));
        }
        let by = usize::from(dice.throw(2)) % members.len();
        members.rotate_left(by);
        let env: Vec<(String, String)> =
            made.env.iter().map(|(k, v)| (toml_key(dice, k), toml_text(dice, v))).collect();
        match dice.throw(3) {
            0 => {
                later += &format!("[ mcp_servers . {name} ]{}", end(dice));
                for (key, value) in members {
                    let indent = dice.pick(&["", "  ", "\t"]);
                    later += &format!("{indent}{}{}{value}{}", toml_key(dice, key), equals(dice), end(dice));
                }
                if !env.is_empty() {
                    later += &format!("[mcp_servers.{name}.env]{eol}");
                }
                for (key, value) in env {
                    later += &format!("{key}{}{value}{}", equals(dice), end(dice));
                }
            }
            1 => {
                let mut parts: Vec<String> = members
                    .iter()
                    .map(|(k, v)| format!("{}{}{v}", toml_key(dice, k), equals(dice)))
                    .collect();
                parts.extend(env.iter().map(|(k, v)| format!("env.{k} = {v}")));
                first +=
                    &format!("{name} = {{ {} }}{}", parts.join(dice.pick(&[", ", ",", " , "])), end(dice));
            }
            _ => {
                let dot = dice.pick(&[".", " . "]);
                for (key, value) in members {
                    first +=
                        &format!("{name}{dot}{}{}{value}{}", toml_key(dice, key), equals(dice), end(dice));
                }
                for (key, value) in env {
                    first += &format!("{name}.env.{key} = {value}{eol}");
                }
            }
        }
    }
    out += &first;
    out += &later;
    if dice.throw(2) == 1 {
        out.trim_end_matches(['\r', '\n']).to_owned()
    } else {
        out + &format!("[z]{eol}y = 1{eol}")
    }
}

/// A text as YAML writes it: plain where that is safe for sure.
fn yaml_text(dice: &mut Dice, text: &str, flow: bool) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || "/.-_@$=+\\".contains(c) || (!flow && ",{}[]".contains(c)))
        && !["true", "null"].contains(&text);
    let single = !text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'));
    match dice.throw(3) {
        0 | 1 if plain => text.to_owned(),
        2 if single => format!("'{}'", text.replace('\'', "''")),
        _ => quoted(dice, text),
    }
}

/// `list`: entries with a name each, as Continue has them; else a map, as Goose has it.
pub(super) fn yaml(made: &[Made], dice: &mut Dice, list: bool) -> String {
    let eol = dice.pick(&["\n", "\r\n"]);
    let end = |dice: &mut Dice| dice.pick(&["@", " # é✓: [@", "@@", " \t@", "@# c: d@"]).replace('@', eol);
    let (section, command, env_key) =
        if list { ("mcpServers", "command", "env") } else { ("extensions", "cmd", "envs") };
    let mut out = dice.pick(&["", "# top ✓@", "---@", "# a@---@b: [1, x]@"]).replace('@', eol);
    out += &format!("{section}:{}", end(dice));
    let outer = dice.pick(if list { &["  ", "", " "] } else { &["  ", "    ", " "] });
    for made in made {
        let name = yaml_text(dice, &made.name, true);
        let flow = dice.throw(4) == 3;
        let inner = if list { "  ".to_owned() } else { dice.pick(&["  ", "    "]).to_owned() };
        let indent = format!("{outer}{inner}");
        let mut members = Vec::new();
        let program = yaml_text(dice, &made.program, flow);
        members.push(format!("{command}: {program}"));
        if let Some(args) = &made.args {
            let style = if flow || args.is_empty() { 0 } else { dice.throw(3) };
            let words: Vec<String> = args.iter().map(|a| yaml_text(dice, a, style == 0)).collect();
            let step = if style == 1 { "" } else { "  " };
            members.push(match style {
                0 => format!("args: [{}]", words.join(", ")),
                _ => {
                    let mut block =
                        format!("args:{}", dice.pick(&["", " # c", "\r\n  # x"]).replace("\r\n", eol));
                    for word in &words {
                        block += &format!("{eol}{indent}{step}-{}{word}", dice.pick(&[" ", "   "]));
                        block += dice.pick(&["", " # c"]);
                    }
                    block
                }
            });
        }
        let env: Vec<String> =
            made.env.iter().map(|(k, v)| format!("\"{k}\": {}", yaml_text(dice, v, true))).collect();
        members.push(if env.is_empty() {
            "timeout: 300".to_owned()
        } else {
            format!("{env_key}: {{{}}}", env.join(", "))
        });
        if list {
            members.push(format!("name: {name}"));
        }
        let by = usize::from(dice.throw(4)) % members.len();
        members.rotate_left(by);
        let head = if list { format!("{outer}- ") } else { format!("{outer}{name}:") };
        if flow {
            out += &format!("{head} {{{}}}{}", members.join(dice.pick(&[", ", " , "])), end(dice));
            continue;
        }
        out += &head;
        if !list {
            out += &end(dice);
        }
        for (i, member) in members.iter().enumerate() {
            let lead = if list && i == 0 { "" } else { indent.as_str() };
            out += &format!("{lead}{member}{}", end(dice));
        }
    }
    match dice.throw(3) {
        0 => out + &format!("last: x{eol}"),
        1 => out.trim_end_matches(['\r', '\n']).to_owned(),
        _ => out + &format!("...{eol}"),
    }
}
