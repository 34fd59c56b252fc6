// @vitest-environment node
import { expect, it } from 'vitest';
import type { ClientFile, ClientView, DriftView, QueuedChange } from '../backend';
import { folded } from './drift';

const key = (name: string) => ({ client: 'cursor', path: '/c', project: null, name });
const lost = (name: string, serious = true): DriftView => ({
  words: `${name} drifted`,
  serious,
  fix: { kind: 'protect', entries: [key(name)] },
});
const other: DriftView = { words: 'unreadable', serious: true, fix: null };
const names = (drift: DriftView[], queued: QueuedChange[] = []) =>
  folded({ queued } as unknown as ClientView, { drift } as unknown as ClientFile).map((one) =>
    one.drifts.map(({ words }) => words).join(' + '),
  );

it('three lost gates of one file are told once, apart from what is new and what nothing mends', () => {
  expect(names([lost('a'), other, lost('b'), lost('n', false), lost('c'), other])).toEqual([
    'a drifted + b drifted + c drifted',
    'unreadable',
    'n drifted',
    'unreadable',
  ]);
});

it('what is on its way back is not told', () => {
  const queued = [{ act: 'protect', byItself: true, entry: key('a'), sinceMs: 0 } as const];
  expect(names([lost('a'), lost('b')], queued)).toEqual(['b drifted']);
});
