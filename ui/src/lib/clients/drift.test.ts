// @vitest-environment node
import { expect, it } from 'vitest';
import type { ClientFile, ClientView, DriftView, QueuedChange } from '../backend';
import { folded, severalWords } from './drift';

const key = (name: string) => ({ client: 'cursor', path: '/c', project: null, name });
const lost = (name: string, serious = true): DriftView => ({
  kind: serious ? 'lostGate' : 'new',
  words: `${name} drifted`,
  serious,
  fix: { kind: 'protect', entries: [key(name)] },
});
const other: DriftView = { kind: 'other', words: 'unreadable', serious: true, fix: null };
const names = (drift: DriftView[], queued: QueuedChange[] = []) =>
  folded({ queued, restores: [] } as unknown as ClientView, { drift } as unknown as ClientFile).map((one) =>
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

it('a gate that is another one, or came back, is not told as a lost one', () => {
  const other = { ...lost('m'), kind: 'otherGate' as const };
  const back = {
    ...lost('b', false),
    kind: 'cameBack' as const,
    fix: { kind: 'unprotect' as const, entries: [key('b')] },
  };
  expect(names([lost('a'), other, back, back])).toEqual(['a drifted', 'm drifted', 'b drifted + b drifted']);
  const waits = [{ act: 'unprotect', byItself: false, entry: key('b'), sinceMs: 0 } as const];
  expect(names([lost('a'), back], waits)).toEqual(['a drifted']);
});

it('a wiped file that waits to be put back is not told beside that', () => {
  const drift: DriftView[] = [{ ...other, fix: { kind: 'restore', backup: 'b1', lost: [] } }];
  const of = (path: string) =>
    folded(
      { queued: [], restores: [{ backup: 'b2', path, shown: path, sinceMs: 0 }] } as unknown as ClientView,
      { path: '/c', drift } as unknown as ClientFile,
    );
  expect([of('/c').length, of('/d').length]).toEqual([0, 1]);
});

it('several lost gates are said as one is', () => {
  const words = (running: boolean | null) =>
    severalWords(
      { running } as ClientView,
      folded(
        { running, queued: [], restores: [] } as unknown as ClientView,
        {
          drift: [lost('a'), lost('b')],
        } as unknown as ClientFile,
      )[0]!,
    );
  expect([words(true), words(null), words(false)]).toEqual([
    '2 servers have lost their gates and run unwatched',
    '2 servers have lost their gates and run unwatched',
    '2 servers have lost their gates and would run unwatched',
  ]);
});
