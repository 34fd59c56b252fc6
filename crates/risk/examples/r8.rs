use callgate_risk::*;
fn main() {
    let mut n = 0;
    let mut hit = 0;
    for l in include_str!("../tests/data/held-out/poisoned.jsonl").lines() {
        let v: serde_json::Value = serde_json::from_str(l).unwrap();
        let e = &v["entry"];
        let t = ToolDefinition {
            name: e["name"].as_str().unwrap(),
            title: e["title"].as_str().unwrap_or(""),
            description: e["description"].as_str().unwrap_or(""),
            input_schema: e.get("inputSchema"),
            annotations: e.get("annotations"),
            ..Default::default()
        };
        n += 1;
        if !scan(&t).is_empty() {
            hit += 1
        }
    }
    println!("first try poisoned {hit}/{n}");
    let (mut n, mut f) = (0, 0);
    for l in include_str!("../tests/data/held-out/clean.txt").lines() {
        n += 1;
        if !scan(&ToolDefinition { name: "tool", description: l, ..Default::default() }).is_empty() {
            f += 1
        }
    }
    println!("first try sounding bad flagged {f}/{n}");
    let (mut n, mut f) = (0, 0);
    for (s, t) in [
        ("ordinary", include_str!("../tests/data/held-out/ordinary-1.tsv")),
        ("hard", include_str!("../tests/data/held-out/hard-1.tsv")),
        ("browser", include_str!("../tests/data/held-out/browser-1.tsv")),
    ] {
        let (mut a, mut r, mut under) = (0, 0, 0);
        for l in t.lines() {
            let c: Vec<_> = l.split('\t').collect();
            let t = ToolDefinition { server: c[0], name: c[1], description: c[3], ..Default::default() };
            n += 1;
            if !scan(&t).is_empty() {
                f += 1
            }
            let truth = RiskClass::from_name(c[2]).unwrap();
            let said = classify(&t).class;
            a += 1;
            if truth == said {
                r += 1
            };
            if truth >= RiskClass::Execute && said == RiskClass::Read {
                under += 1
            }
        }
        println!("{s} {r}/{a} = {:.3} under {under}", r as f64 / a as f64);
    }
    println!("clean flagged {f}/{n}");
}
