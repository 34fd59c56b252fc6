// Just enough of JSON with comments for the in-memory backend to show how a policy text changes. The real thing is the
// policy crate's; nothing outside this folder may use this.

/** The same text with comments and trailing commas as blanks, so that places stay where they are. */
export function bare(text: string): string {
  return text
    .replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found) =>
      found.startsWith('"') ? found : found.replace(/[^\n]/g, ' '),
    )
    .replace(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g, (found) => (found === ',' ? ' ' : found));
}

export function parse(text: string): unknown {
  return JSON.parse(bare(text));
}

interface Place {
  from: number;
  to: number;
}

/** Where the value of this member of the object that starts at `at` stands; none if it has no such member. */
function member(plain: string, at: number, key: string): { place: Place | null; end: number; empty: boolean } {
  let depth = 0;
  let expectKey = true;
  let empty = true;
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;
  token.lastIndex = at;
  for (let found = token.exec(plain); found; found = token.exec(plain)) {
    const text = found[0];
    if (text === '{' || text === '[') {
      depth += 1;
      continue;
    }
    if (text === '}' || text === ']') {
      depth -= 1;
      if (depth === 0) return { place: null, end: found.index, empty };
      continue;
    }
    if (depth !== 1) continue;
    if (text === ',') expectKey = true;
    else if (text === ':') expectKey = false;
    else if (expectKey) {
      empty = false;
      if (JSON.parse(text) === key) {
        const colon = plain.indexOf(':', token.lastIndex);
        const from = colon + 1 + (/\S/.exec(plain.slice(colon + 1))?.index ?? 0);
        return { place: { from, to: valueEnd(plain, from) }, end: 0, empty };
      }
    }
  }
  return { place: null, end: plain.length, empty };
}

function valueEnd(plain: string, from: number): number {
  let depth = 0;
  const token = /"(?:[^"\\]|\\.)*"|[{}[\]]|[^\s"{}[\],]+|,/g;
  token.lastIndex = from;
  for (let found = token.exec(plain); found; found = token.exec(plain)) {
    if (found[0] === '{' || found[0] === '[') depth += 1;
    else if (found[0] === '}' || found[0] === ']') depth -= 1;
    if (depth === 0) return token.lastIndex;
  }
  return plain.length;
}

/** The text with this member set; objects on the way are made. All else stays. */
export function set(text: string, path: readonly string[], value: unknown): string {
  const plain = bare(text);
  let at = plain.indexOf('{');
  for (let i = 0; i < path.length; i += 1) {
    const key = path[i] ?? '';
    const { place, end, empty } = member(plain, at, key);
    const rest = path.slice(i + 1);
    if (!place) {
      let made: unknown = value;
      for (const inner of [...rest].reverse()) made = { [inner]: made };
      return insert(text, plain, end, empty, i + 1, key, made);
    }
    if (rest.length === 0) {
      return text.slice(0, place.from) + print(value, i + 1) + text.slice(place.to);
    }
    at = place.from;
  }
  return text;
}

function insert(
  text: string,
  plain: string,
  end: number,
  empty: boolean,
  depth: number,
  key: string,
  value: unknown,
): string {
  const pad = '  '.repeat(depth);
  // After the last thing that counts, before a comment that follows it.
  let last = end;
  while (last > 0 && /\s/.test(plain[last - 1] ?? '')) last -= 1;
  const comma = empty || plain[last - 1] === '{' ? '' : text[last] === ',' ? '' : ',';
  const line = text.indexOf('\n', last);
  const stop = line >= 0 && line < end ? line : last;
  const closing = '  '.repeat(depth - 1);
  const rest = text.slice(end);
  return `${text.slice(0, last)}${comma}${text.slice(last, stop)}\n${pad}${JSON.stringify(key)}: ${print(value, depth)}\n${closing}${rest}`;
}

function print(value: unknown, depth: number): string {
  const flat = JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ').replace(/\{ \}/g, '{}');
  if (flat.length + depth * 2 <= 92) return flat;
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${'  '.repeat(depth)}`);
}

/** A unified diff with two lines around each change. */
export function unified(before: string, after: string): string {
  const a = before.replace(/\n$/, '').split('\n');
  const b = after.replace(/\n$/, '').split('\n');
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const length = (i: number, k: number) => lengths[i]?.[k] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let k = b.length - 1; k >= 0; k -= 1)
      lengths[i]![k] = a[i] === b[k] ? length(i + 1, k + 1) + 1 : Math.max(length(i + 1, k), length(i, k + 1));
  const lines: { mark: string; text: string; old: number; new: number }[] = [];
  let i = 0;
  let k = 0;
  while (i < a.length || k < b.length) {
    if (i < a.length && k < b.length && a[i] === b[k]) lines.push({ mark: ' ', text: a[i] ?? '', old: ++i, new: ++k });
    else if (i < a.length && (k >= b.length || length(i + 1, k) >= length(i, k + 1)))
      lines.push({ mark: '-', text: a[i] ?? '', old: ++i, new: k + 1 });
    else lines.push({ mark: '+', text: b[k] ?? '', old: i + 1, new: ++k });
  }
  const near = lines.map((_, at) => lines.slice(Math.max(0, at - 2), at + 3).some((line) => line.mark !== ' '));
  const out: string[] = [];
  lines.forEach((line, at) => {
    if (!near[at]) return;
    if (!near[at - 1]) {
      const hunk = lines.slice(at, near.indexOf(false, at) < 0 ? undefined : near.indexOf(false, at));
      const olds = hunk.filter((one) => one.mark !== '+').length;
      const news = hunk.filter((one) => one.mark !== '-').length;
      out.push(`@@ -${line.old},${olds} +${line.new},${news} @@`);
    }
    out.push(line.mark + line.text);
  });
  return out.length === 0 ? '' : `--- now\n+++ then\n${out.join('\n')}\n`;
}
