// The checklist as a function of what is there: step by step, as a person and the clients move it on.
import { beforeEach, expect, it } from 'vitest';
import { RecordedDesk } from '../../testing/desk';
import type { ClientEntry, ClientView, EntryKey, ServerView, SessionView } from '../backend';
import { checklist, sessionsOf, type StepId } from './checklist';
import { allEntries, keyText } from './entries';

let clients: ClientView[];
let servers: ServerView[];
let ours: EntryKey[];
let session: SessionView;

beforeEach(() => {
  clients = new RecordedDesk('first').recorded('clients');
  servers = [];
  ours = [];
  session = new RecordedDesk().recorded('servers').flatMap(({ sessions }) => sessions)[0]!;
});

const look = () => checklist(clients, servers, ours);
const desktop = () => clients.find(({ id }) => id === 'claude-desktop')!;
const expectMarks = (done: StepId[], now: StepId[]) => {
  const all: StepId[] = ['found', 'edits', 'quit', 'written', 'started', 'connected', 'called'];
  const mark = (step: StepId) => (done.includes(step) ? 'done' : now.includes(step) ? 'now' : 'later');
  expect(look().marks).toEqual(Object.fromEntries(all.map((step) => [step, mark(step)])));
};

/** From the list: at once, or when Claude Desktop has quit. */
function protect() {
  ours = look().open;
  for (const entry of allEntries(clients)) {
    if (!ours.some((key) => keyText(key) === keyText(entry.key))) continue;
    if (entry.key.client === 'claude-desktop')
      desktop().queued.push({ act: 'protect', byItself: false, entry: entry.key, sinceMs: 0 });
    else gate(entry);
  }
}
const gate = (entry: ClientEntry) => Object.assign(entry, { state: 'protected', server: entry.key.name });
/** It has quit: what waits is written. */
function quit() {
  for (const { entry: key } of desktop().queued.splice(0))
    gate(allEntries(clients).find((entry) => keyText(entry.key) === keyText(key))!);
  desktop().running = false;
}
/** A client has started its servers through the gate. */
function start(id: string, more: Partial<SessionView> = {}) {
  for (const { state, server, key } of allEntries(clients))
    if (state === 'protected' && key.client === id)
      servers.push({
        name: server!,
        sessions: [{ ...session, client: id, demo: false, endedMs: null, end: null, calls: 0, ...more }],
      } as ServerView);
}

it('goes from nothing to the first call, and each step ticks itself off', () => {
  expect(checklist(null, [], []).marks.found).toBe('now');
  expectMarks(['found'], ['edits']);
  protect();
  expectMarks(['found', 'edits'], ['quit']);
  expect(look().waiting.map((view) => view.name)).toEqual(['Claude Desktop']);
  quit();
  expectMarks(['found', 'edits', 'quit', 'written'], ['started', 'connected', 'called']);
  expect(look().started[0]).toMatchObject({ how: 'off', done: false });
  desktop().running = true;
  start('claude-desktop');
  expect(look().started.map((one) => `${one.view.id} ${one.how} ${one.done}`)).toEqual([
    'claude-desktop runs true',
    'cursor unknown false',
  ]);
  expect(
    look()
      .connected.filter((one) => one.done)
      .map((one) => one.entry.server),
  ).toEqual(['files', 'github']);
  start('cursor');
  expectMarks(['found', 'edits', 'quit', 'written', 'started', 'connected'], ['called']);
  servers[0]!.sessions[0]!.calls = 1;
  expect(look().allDone).toBe(true);
  // Its file was edited since it started.
  desktop().stale = true;
  expect(look().started[0]).toMatchObject({ how: 'old', done: false });
});

it('Undo knows what was protected here, written or waiting, and nothing else', () => {
  gate(allEntries(clients).find(({ key }) => key.client === 'cursor' && key.name === 'files')!);
  protect();
  const names = () => look().undoable.map((key) => `${key.client} ${key.name}`);
  const mine = ['claude-desktop files', 'claude-desktop github', 'cursor postgres'];
  expect(names()).toEqual(mine);
  quit();
  expect(names()).toEqual(mine);
  // What waits to be unprotected has no second Undo.
  for (const entry of look().undoable) desktop().queued.push({ act: 'unprotect', byItself: false, entry, sinceMs: 0 });
  expect(names()).toEqual(['cursor postgres']);
  expect(look().marks.quit).toBe('now');
});

it('a session counts for its own client: not a demo, a test or another known client', () => {
  const entry = allEntries(clients).find(({ key }) => key.client === 'cursor')!;
  Object.assign(entry, { server: 'files' });
  const one = (client: string | null, demo = false) => ({ client, demo, endedMs: null }) as SessionView;
  const counts = (given: SessionView, name = 'files') =>
    sessionsOf([{ name, sessions: [given] } as unknown as ServerView], entry).length;
  expect(counts(one('cursor'))).toBe(1);
  expect(counts(one(null))).toBe(1);
  expect(counts(one('cursor-vscode'))).toBe(1);
  expect(counts(one('claude-desktop'))).toBe(0);
  expect(counts(one('callgate-test'))).toBe(0);
  expect(counts(one('cursor', true))).toBe(0);
  expect(counts(one('cursor'), 'files@cursor')).toBe(0);
});

it('a server that was seen once stays ticked when its session ends, and whoever talks is started', () => {
  protect();
  quit();
  const seen = (end: string | null) => {
    servers = [];
    start('claude-desktop', { end, endedMs: end === null ? null : 1 });
    return look().connected.filter((one) => one.done && one.view.id === 'claude-desktop').length;
  };
  expect(seen('client_closed')).toBe(2);
  expect(look().started[0]).toMatchObject({ how: 'off', done: false });
  expect(seen('failed_to_start')).toBe(0);
  // Its program is not known to us, but it talks through the gate.
  expect(seen(null)).toBe(2);
  expect(look().started[0]).toMatchObject({ how: 'runs', done: true });
});
