// @vitest-environment node
import { expect, it } from 'vitest';
import type { ClientEntry, ClientView, EntryState } from '../backend';
import { applicable, keyText, leavable, queuedFor, sameKey, tally, unmended, wouldWait } from './entries';

const entry = (name: string, state: EntryState, project: string | null = null): ClientEntry => ({
  key: { client: 'claude-desktop', path: '/c.json', project, name },
  state,
  server: state === 'protected' ? name : null,
  command: 'npx',
  why: null,
  secrets: { plain: [], kept: [], unbound: false },
  added: false,
});

const view = (entries: ClientEntry[], more: Partial<ClientView> = {}): ClientView => ({
  id: 'claude-desktop',
  name: 'Claude Desktop',
  running: true,
  stale: false,
  waits: true,
  canReopen: true,
  reload: '',
  queued: [],
  restores: [],
  files: [
    { path: '/c.json', shown: '~/c.json', problem: null, repairable: false, notes: [], entries, drift: [], backups: 0 },
  ],
  ...more,
});

it('entries are told apart by client, file, project and name', () => {
  const a = entry('files', 'open').key;
  expect(sameKey(a, { ...a })).toBe(true);
  for (const other of [{ client: 'cursor' }, { path: '/d.json' }, { project: '/p' }, { name: 'Files' }])
    expect(sameKey(a, { ...a, ...other }), keyText({ ...a, ...other })).toBe(false);
  // What is written next to each other must not become the same text.
  expect(sameKey({ ...a, path: '/c.json","x', name: 'y' }, { ...a, path: '/c.json', name: 'x","y' })).toBe(false);
});

it('an act is about what is not so yet and does not wait to be', () => {
  const [open, waits, gated, url] = [
    entry('a', 'open'),
    entry('b', 'open'),
    entry('c', 'protected'),
    entry('d', 'notCoverable'),
  ];
  const one = view([open!, waits!, gated!, url!], {
    queued: [{ act: 'protect', byItself: false, entry: waits!.key, sinceMs: 0 }],
  });
  expect(applicable([one], 'protect').map((key) => key.name)).toEqual(['a']);
  expect(applicable([one], 'unprotect').map((key) => key.name)).toEqual(['c']);
  expect(queuedFor(one, waits!.key)?.act).toBe('protect');
  expect(queuedFor(one, open!.key)).toBeNull();
  expect(tally([one])).toEqual({ clients: 1, servers: 4, protected: 1, open: 2, notCoverable: 1 });
});

it('only what is open can be left open; a broken gate cannot', () => {
  const one = view([entry('a', 'open'), entry('b', 'protected')]);
  const [a, b] = one.files[0]!.entries.map(({ key }) => key);
  expect(leavable(one, [a!])).toBe(true);
  expect(leavable(one, [a!, b!])).toBe(false);
  expect(leavable(one, [])).toBe(false);
});

it('what waits to be protected is not complained about; everything else is', () => {
  const a = entry('a', 'open');
  const drift = {
    kind: 'lostGate' as const,
    words: '',
    serious: false,
    fix: { kind: 'protect' as const, entries: [a.key] },
  };
  expect(unmended(view([a]), '/c', drift)).toBe(true);
  expect(
    unmended(view([a], { queued: [{ act: 'protect', byItself: false, entry: a.key, sinceMs: 0 }] }), '/c', drift),
  ).toBe(false);
  expect(unmended(view([a]), '/c', { ...drift, fix: null })).toBe(true);
});

it('a change waits only for a client that runs and would write over it', () => {
  expect(wouldWait(view([]))).toBe(true);
  for (const more of [{ running: false }, { running: null }, { waits: false }])
    expect(wouldWait(view([], more)), JSON.stringify(more)).toBe(false);
});
