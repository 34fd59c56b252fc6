import { describe, expect, it } from 'vitest';
import type { LeftoverView, ProcessView } from '../../lib/backend';
import { foldable, unfolded } from './tree';
import { leftover } from './words';

const one = (pid: number, depth: number): ProcessView => ({
  pid,
  depth,
  what: 'node',
  command: 'node',
  cpuPercent: 0,
  memoryBytes: 1,
  startedMs: 0,
});
const tree = [one(1, 0), one(2, 1), one(3, 2), one(4, 2), one(5, 1), one(6, 0)];
const pids = (folded: number[]) => unfolded(tree, new Set(folded)).map((row) => row.pid);

describe('a process tree', () => {
  it('folds a process with all that is below it, and nothing else', () => {
    expect(pids([])).toEqual([1, 2, 3, 4, 5, 6]);
    expect(pids([2])).toEqual([1, 2, 5, 6]);
    expect(pids([1])).toEqual([1, 6]);
    expect(pids([2, 1])).toEqual([1, 6]);
    expect(pids([6, 4])).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('offers to fold only what has something below it', () => {
    expect([...foldable(tree)]).toEqual([1, 2]);
    expect(foldable([]).size).toBe(0);
  });
});

describe('what a dead session left', () => {
  const left: LeftoverView = {
    session: 'k3v9qa',
    server: 'playwright',
    client: null,
    endedMs: 0,
    seenMs: null,
    memoryBytes: 1,
    browsers: 2,
    processes: [one(1, 0), one(2, 1)],
  };

  it('is told in one sentence', () => {
    const days = 2 * 86_400_000;
    expect(leftover(left, days)).toBe('2 browser processes of a session of playwright that ended 2 d ago');
    expect(leftover({ ...left, browsers: 1, server: null, endedMs: null }, days)).toBe(
      '2 processes of a session that ended',
    );
    expect(leftover({ ...left, endedMs: null, seenMs: 0 }, days)).toBe(
      '2 browser processes of a session of playwright that was last seen 2 d ago',
    );
  });
});
