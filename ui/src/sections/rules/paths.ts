// Ways to arguments, out of arguments that were really sent: what the builder offers instead of asking for a syntax.

const most = 40;
const deepest = 4;

/** The paths in one call's arguments, outer ones first; a value that was cut or withheld has none. */
export function pathsOf(args: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(args);
  } catch {
    return [];
  }
  const found: string[] = [];
  let level: [string, unknown][] = [['args', value]];
  for (let depth = 0; depth < deepest && level.length > 0; depth += 1) {
    const next: [string, unknown][] = [];
    for (const [path, inner] of level) {
      if (typeof inner !== 'object' || inner === null) continue;
      const members: [string, unknown][] = Array.isArray(inner)
        ? inner.slice(0, 1).map((one: unknown): [string, unknown] => ['0', one])
        : Object.entries(inner);
      for (const [name, one] of members) {
        const way = /^[^.\s[\]"]+$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
        found.push(way);
        next.push([way, one]);
      }
    }
    level = next;
  }
  return found.slice(0, most);
}

/** Without repetition, in the order in which they came first. */
export function merged(lists: readonly string[][]): string[] {
  return [...new Set(lists.flat())].slice(0, most);
}
