// A condition's value as a person types it, and as JSON text, which is how the policy has it.
// Typing needs no JSON: what reads as a number, true, false or null is one; everything else is text; in quotes it is text
// whatever it reads as. Numbers keep the digits that were typed: 9007199254740993 must not be rounded on its way.

export type Shape = 'scalar' | 'text' | 'list' | 'folders' | 'existence';

export interface Operator {
  op: string;
  /** Between path and value: "args.url *matches* ^file:". */
  words: string;
  shape: Shape;
  hint: string;
}

export const operators: readonly Operator[] = [
  { op: 'eq', words: 'is', shape: 'scalar', hint: 'text, a number, true, false or null' },
  { op: 'neq', words: 'is not', shape: 'scalar', hint: 'text, a number, true, false or null' },
  { op: 'in', words: 'is one of', shape: 'list', hint: 'one a line' },
  { op: 'not_in', words: 'is none of', shape: 'list', hint: 'one a line' },
  { op: 'contains', words: 'contains', shape: 'scalar', hint: 'text in a text, or an entry of a list' },
  { op: 'regex', words: 'matches', shape: 'text', hint: 'a pattern; ^ and $ for the ends, (?i) for any case' },
  { op: 'lt', words: 'is below', shape: 'scalar', hint: 'a number' },
  { op: 'lte', words: 'is at most', shape: 'scalar', hint: 'a number' },
  { op: 'gt', words: 'is above', shape: 'scalar', hint: 'a number' },
  { op: 'gte', words: 'is at least', shape: 'scalar', hint: 'a number' },
  { op: 'inside', words: 'is inside', shape: 'folders', hint: 'a folder a line, such as ~/projects' },
  { op: 'not_inside', words: 'is outside of', shape: 'folders', hint: 'a folder a line, such as ~/.ssh' },
  { op: 'exists', words: 'is there', shape: 'existence', hint: '' },
];

const unknown: Omit<Operator, 'op' | 'words'> = { shape: 'scalar', hint: '' };

export function operator(op: string): Operator {
  return operators.find((known) => known.op === op) ?? { op, words: op, ...unknown };
}

const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const plain = new Set(['true', 'false', 'null']);

/** One value as JSON text. */
export function toScalar(typed: string): string {
  const text = typed.trim();
  if (number.test(text) || plain.has(text) || quoted(text) !== null) return text;
  return JSON.stringify(typed);
}

/** One value as it is typed; the other way round of `toScalar`. */
export function fromScalar(json: string): string {
  const text = quoted(json);
  if (text === null) return json.trim();
  const reads = number.test(text.trim()) || plain.has(text.trim()) || quoted(text.trim()) !== null;
  return reads || text.includes('\n') ? json.trim() : text;
}

/** The text of a JSON string, if it is one. */
function quoted(json: string): string | null {
  if (!json.startsWith('"')) return null;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}

/** What a person typed, as JSON text for this operator; none if the operator needs a value and there is none. */
export function toJson(op: string, typed: string): string | null {
  switch (operator(op).shape) {
    case 'existence':
      return typed === 'false' ? 'false' : 'true';
    case 'text':
      return typed === '' ? null : JSON.stringify(typed);
    case 'scalar':
      return typed.trim() === '' ? null : toScalar(typed);
    case 'folders': {
      const folders = lines(typed).map((line) => JSON.stringify(line));
      if (folders.length === 0) return null;
      return folders.length === 1 ? (folders[0] ?? null) : `[${folders.join(', ')}]`;
    }
    case 'list': {
      const entries = lines(typed).map(toScalar);
      return entries.length === 0 ? null : `[${entries.join(', ')}]`;
    }
  }
}

/** A value from a policy, as a person would have typed it for this operator. */
export function fromJson(op: string, json: string | null): string {
  const shape = operator(op).shape;
  if (json === null) return shape === 'existence' ? 'true' : '';
  switch (shape) {
    case 'existence':
      return json.trim() === 'false' ? 'false' : 'true';
    case 'text':
      return quoted(json) ?? json;
    case 'scalar':
      return fromScalar(json);
    case 'folders':
      return (entries(json) ?? [json]).map((entry) => quoted(entry) ?? entry).join('\n');
    case 'list':
      return (entries(json) ?? [json]).map(fromScalar).join('\n');
  }
}

function lines(typed: string): string[] {
  return typed
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** The entries of a flat JSON list, each as it is written: JSON.parse would round large numbers. */
function entries(json: string): string[] | null {
  const text = json.trim();
  if (!text.startsWith('[') || !text.endsWith(']')) return null;
  const found = text.slice(1, -1).match(/"(?:[^"\\]|\\.)*"|[^\s,]+/g);
  return found ?? [];
}
