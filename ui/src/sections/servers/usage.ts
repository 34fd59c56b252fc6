// What the process trees took in the last quarter of an hour, per session, and the line drawn of it. Pure.

import type { Usage } from '../../lib/backend/bindings';

export const spanMs = 15 * 60_000;
/** A line has a point for so long: what came in between is one value. */
export const pointMs = 10_000;
export const points = spanMs / pointMs;

export interface Sample {
  atMs: number;
  cpuPercent: number | null;
  memoryBytes: number;
  processes: number;
}

export type Usages = ReadonlyMap<string, readonly Sample[]>;

/**
 * With what came now added, and what is too old or over left out. Sessions that are not reported any more keep no line. What
 * comes may be a whole past, the oldest first.
 */
export function withUsage(usages: Usages, now: readonly Usage[]): Usages {
  const next = new Map<string, Sample[]>();
  for (const usage of now) {
    const { session, atMs, cpuPercent, memoryBytes, processes } = usage;
    const known = next.get(session) ?? [...(usages.get(session) ?? [])];
    while (known.length > 0 && known.at(-1)!.atMs >= atMs) known.pop();
    known.push({ atMs, cpuPercent, memoryBytes, processes });
    next.set(session, known);
  }
  for (const [session, samples] of next) {
    const from = samples.at(-1)!.atMs - spanMs;
    if (samples[0]!.atMs <= from)
      next.set(
        session,
        samples.filter((one) => one.atMs > from),
      );
  }
  return next;
}

/** One value a point, the newest last: the highest of what fell into it, since a short peak must not vanish. */
export function inPoints(samples: readonly Sample[], value: (one: Sample) => number | null): number[] {
  const found = new Map<number, number>();
  for (const one of samples) {
    const taken = value(one);
    const at = Math.floor(one.atMs / pointMs);
    if (taken !== null) found.set(at, Math.max(taken, found.get(at) ?? 0));
  }
  const last = samples.at(-1);
  if (found.size === 0 || !last) return [];
  const to = Math.floor(last.atMs / pointMs);
  const values: number[] = [];
  // A gap (the machine slept, nobody looked) goes on with what was before it.
  for (let at = Math.max(Math.min(...found.keys()), to - points + 1); at <= to; at += 1) {
    const value = found.get(at) ?? values.at(-1);
    if (value !== undefined) values.push(value);
  }
  return values;
}

/** What several sessions take together, newest last; moments are matched by rounding to two seconds. */
export function together(usages: Usages, sessions: readonly string[]): Sample[] {
  const sums = new Map<number, Sample>();
  for (const session of sessions) {
    for (const one of usages.get(session) ?? []) {
      const at = Math.round(one.atMs / 2000) * 2000;
      const sum = sums.get(at);
      sums.set(at, {
        atMs: at,
        cpuPercent: sum ? add(sum.cpuPercent, one.cpuPercent) : one.cpuPercent,
        memoryBytes: (sum?.memoryBytes ?? 0) + one.memoryBytes,
        processes: (sum?.processes ?? 0) + one.processes,
      });
    }
  }
  return [...sums.values()].sort((a, b) => a.atMs - b.atMs);
}

function add(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : a + b;
}

export interface Spark {
  line: string;
  area: string;
}

/**
 * The path of a line through values, newest at the right edge, `slots` values wide.
 * The scale starts at zero and never ends below `least`: a quiet server must not look busy.
 */
export function spark(values: readonly number[], width: number, height: number, slots: number, least: number): Spark {
  const shown = values.slice(-slots);
  if (shown.length < 2) return { line: '', area: '' };
  const top = Math.max(least, ...shown);
  const step = width / (slots - 1);
  const points = shown.map((value, i) => {
    const x = width - (shown.length - 1 - i) * step;
    const y = height - 1 - (Math.max(0, value) / top) * (height - 2);
    return `${round(x)} ${round(y)}`;
  });
  const line = `M${points.join('L')}`;
  const left = round(width - (shown.length - 1) * step);
  return { line, area: `${line}L${round(width)} ${round(height)}L${left} ${round(height)}Z` };
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
