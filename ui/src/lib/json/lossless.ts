// JSON as it was written: numbers keep their digits, duplicate keys stay, strings keep lone surrogates. The platform's reader
// would round the one, drop the other, and show a person something that was never sent.

export type Json =
  | { kind: 'object'; members: [string, Json][] }
  | { kind: 'array'; items: Json[] }
  | { kind: 'string'; value: string }
  | { kind: 'number'; digits: string }
  | { kind: 'word'; value: 'true' | 'false' | 'null' };

export class JsonError extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(`${message} at ${at}`);
    this.at = at;
  }
}

/** Deeper text is shown as text: nobody reads a tree of this depth, and reading it must not end the window. */
const maxDepth = 512;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escapes: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

export function parseJson(text: string): Json {
  let at = 0;

  const fail = (message: string): never => {
    throw new JsonError(message, at);
  };
  const space = () => {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      at += 1;
    }
  };

  function value(depth: number): Json {
    if (depth > maxDepth) fail('nested too deeply');
    space();
    const sign = text[at];
    if (sign === '{') return object(depth);
    if (sign === '[') return array(depth);
    if (sign === '"') return { kind: 'string', value: string() };
    for (const word of ['true', 'false', 'null'] as const) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return { kind: 'word', value: word };
      }
    }
    number.lastIndex = at;
    const digits = number.exec(text)?.[0];
    if (digits === undefined) return fail(at < text.length ? 'not JSON' : 'ends too early');
    at += digits.length;
    return { kind: 'number', digits };
  }

  function object(depth: number): Json {
    const members: [string, Json][] = [];
    at += 1;
    space();
    if (text[at] === '}') {
      at += 1;
      return { kind: 'object', members };
    }
    for (;;) {
      space();
      if (text[at] !== '"') fail('a name is missing');
      const name = string();
      space();
      if (text[at] !== ':') fail('a colon is missing');
      at += 1;
      members.push([name, value(depth + 1)]);
      space();
      const next = text[at];
      at += 1;
      if (next === '}') return { kind: 'object', members };
      if (next !== ',') {
        at -= 1;
        fail('a comma is missing');
      }
    }
  }

  function array(depth: number): Json {
    const items: Json[] = [];
    at += 1;
    space();
    if (text[at] === ']') {
      at += 1;
      return { kind: 'array', items };
    }
    for (;;) {
      items.push(value(depth + 1));
      space();
      const next = text[at];
      at += 1;
      if (next === ']') return { kind: 'array', items };
      if (next !== ',') {
        at -= 1;
        fail('a comma is missing');
      }
    }
  }

  function string(): string {
    at += 1;
    let out = '';
    let from = at;
    for (;;) {
      const code = text.charCodeAt(at);
      if (Number.isNaN(code)) fail('a string does not end');
      if (code < 0x20) fail('a bare control character in a string');
      if (code === 0x22) {
        out += text.slice(from, at);
        at += 1;
        return out;
      }
      if (code !== 0x5c) {
        at += 1;
        continue;
      }
      out += text.slice(from, at);
      const sign = text[at + 1] ?? '';
      if (sign === 'u') {
        const hex = text.slice(at + 2, at + 6);
        if (!/^[\da-fA-F]{4}$/.test(hex)) fail('a broken escape');
        out += String.fromCharCode(Number.parseInt(hex, 16));
        at += 6;
      } else {
        const plain = escapes[sign];
        if (plain === undefined) fail('an unknown escape');
        out += plain;
        at += 2;
      }
      from = at;
    }
  }

  const whole = value(0);
  space();
  if (at < text.length) fail('something follows');
  return whole;
}

/** Written out again: the same digits, members and order, with this indent. */
export function printJson(json: Json, indent = 2): string {
  const line = (depth: number) => (indent > 0 ? `\n${' '.repeat(indent * depth)}` : '');
  const print = (one: Json, depth: number): string => {
    switch (one.kind) {
      case 'number':
        return one.digits;
      case 'word':
        return one.value;
      case 'string':
        return JSON.stringify(one.value);
      case 'array': {
        if (one.items.length === 0) return '[]';
        return `[${one.items.map((item) => line(depth + 1) + print(item, depth + 1)).join(',')}${line(depth)}]`;
      }
      case 'object': {
        if (one.members.length === 0) return '{}';
        const gap = indent > 0 ? ': ' : ':';
        const members = one.members.map(
          ([name, item]) => `${line(depth + 1)}${JSON.stringify(name)}${gap}${print(item, depth + 1)}`,
        );
        return `{${members.join(',')}${line(depth)}}`;
      }
    }
  };
  return print(json, 0);
}

/** Names that occur more than once, at any depth of one object. */
export function duplicates(members: [string, Json][]): Set<string> {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const [name] of members) (seen.has(name) ? twice : seen).add(name);
  return twice;
}
