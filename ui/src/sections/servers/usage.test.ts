// @vitest-environment node
import { describe, expect, it } from 'vitest';
import type { Usage } from '../../lib/backend/bindings';
import { inPoints, pointMs, points, spanMs, spark, together, withUsage, type Usages } from './usage';

function usage(session: string, atMs: number, cpuPercent: number | null, memoryBytes = 100): Usage {
  return { session, server: 'files', atMs, cpuPercent, memoryBytes, processes: 1 };
}

describe('the last quarter of an hour', () => {
  it('holds no more than that, in order', () => {
    let usages: Usages = new Map();
    for (let at = 0; at <= 1_800_000; at += 2000) usages = withUsage(usages, [usage('s', at, 1)]);
    const kept = usages.get('s') ?? [];
    expect(kept.length).toBe(spanMs / 2000);
    expect(kept.at(-1)?.atMs).toBe(1_800_000);
    expect(kept.every((one, i) => i === 0 || one.atMs > (kept[i - 1]?.atMs ?? 0))).toBe(true);
  });

  it('comes as a whole first', () => {
    const past = [usage('a', 0, 1), usage('b', 0, 2), usage('a', 5000, 3)];
    const usages = withUsage(withUsage(new Map(), past), [usage('a', 7000, 4), usage('b', 7000, 2)]);
    expect(usages.get('a')?.map((one) => one.cpuPercent)).toEqual([1, 3, 4]);
    expect(usages.get('b')?.map((one) => one.atMs)).toEqual([0, 7000]);
  });

  it('forgets a session that is over', () => {
    const first = withUsage(new Map(), [usage('a', 0, 1), usage('b', 0, 1)]);
    expect([...withUsage(first, [usage('b', 2000, 1)]).keys()]).toEqual(['b']);
  });

  it('adds up the sessions of a server, also where the processor is not known yet', () => {
    let usages = withUsage(new Map(), [usage('a', 2000, null), usage('b', 2100, 5)]);
    usages = withUsage(usages, [usage('a', 4000, 7), usage('b', 4100, 5)]);
    expect(together(usages, ['a', 'b']).map((one) => [one.cpuPercent, one.memoryBytes, one.processes])).toEqual([
      [5, 200, 2],
      [12, 200, 2],
    ]);
  });
});

describe('points', () => {
  const at = (point: number, cpuPercent: number | null) => ({
    atMs: point * pointMs + 1,
    cpuPercent,
    memoryBytes: 0,
    processes: 1,
  });
  const cpu = (samples: ReturnType<typeof at>[]) => inPoints(samples, (one) => one.cpuPercent);

  it('keep the peak of what fell into one, and go on over a gap', () => {
    expect(cpu([at(1, 3), at(1, 9), at(1, 2), at(2, 1), at(5, 4)])).toEqual([9, 1, 1, 1, 4]);
    expect(cpu([])).toEqual([]);
    expect(cpu([at(1, null)])).toEqual([]);
  });

  it('are as many as the line has room for', () => {
    const long = Array.from({ length: 3 * points }, (_, point) => at(point, point));
    expect(cpu(long).length).toBe(points);
    expect(cpu(long).at(-1)).toBe(3 * points - 1);
  });
});

describe('the line', () => {
  it('ends at the right edge and stays inside', () => {
    const { line, area } = spark([0, 50, 100], 100, 20, 51, 1);
    expect(line).toBe('M96 19L98 10L100 1');
    expect(area.endsWith('L100 20L96 20Z')).toBe(true);
  });
  it('of a quiet server is flat, not full', () => {
    expect(spark([0.1, 0.1], 10, 12, 2, 100).line).toBe('M0 11L10 11');
  });
  it('needs two values', () => {
    expect(spark([1], 10, 10, 5, 1).line).toBe('');
  });
});
