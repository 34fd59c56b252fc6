// What a rule could say about one value of an argument.

/** Beginnings worth refusing, shortest first: the scheme, the host, then folder by folder. */
export function prefixes(value: string): string[] {
  const found: string[] = [];
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(value)?.[0];
  if (scheme) {
    found.push(scheme);
    const host = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+\/?/i.exec(value)?.[0];
    if (host) found.push(host);
  }
  found.push(...folders(value));
  const first = /^\s*[\w-]+/.exec(value)?.[0];
  if (found.length === 0 && first && first !== value) found.push(first);
  found.push(value);
  return [...new Set(found)].filter((one) => one.length > 0 && one.length <= 300).slice(0, 8);
}

/** The folders that this path is in, outermost first. */
export function folders(value: string): string[] {
  if (!isPath(value)) return [];
  const mark = value.includes('\\') && !value.includes('/') ? '\\' : '/';
  const parts = value.split(mark);
  const found: string[] = [];
  for (let n = 2; n < parts.length; n += 1) {
    const folder = parts.slice(0, n).join(mark);
    if (folder !== '' && folder !== '~' && !/^[a-zA-Z]:$/.test(folder)) found.push(folder);
  }
  return found.slice(-6);
}

/** Absolute, or from home, or a drive: something that "inside a folder" can be asked of. */
export const isPath = (value: string): boolean =>
  value.length <= 4_096 && !/[\n\r\0]/.test(value) && /^(\/[^/]|~\/|[a-zA-Z]:[\\/])/.test(value);

/** One step further down, as policies write it: `args.url`, `args.items.0`, `args["name.with.dots"]`. */
export function stepInto(path: string, step: string | number): string {
  if (typeof step === 'number') return `${path}.${step}`;
  return /^[A-Za-z_][\w-]*$/.test(step) ? `${path}.${step}` : `${path}[${JSON.stringify(step)}]`;
}
