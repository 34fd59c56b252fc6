// What the process trees took in the last two minutes, per session, and the line drawn of it. Pure.

import type { Usage } from '../../lib/backend/bindings';

export const spanMs = 120_000;

export interface Sample {
  atMs: number;
  cpuPercent: number | null;
  memoryBytes: number;
  processes: number;
}

export type Usages = ReadonlyMap<string, readonly Sample[]>;

/** With what came now added, and what is too old or over left out. Sessions that are not reported any more keep no line. */
export function withUsage(usages: Usages, now: readonly Usage[]): Usages {
  const next = new Map<string, readonly Sample[]>();
  for (const usage of now) {
    const { session, atMs, cpuPercent, memoryBytes, processes } = usage;
    const kept = (usages.get(session) ?? []).filter((one) => one.atMs > atMs - spanMs && one.atMs < atMs);
    next.set(session, [...kept, { atMs, cpuPercent, memoryBytes, processes }]);
  }
  return next;
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
