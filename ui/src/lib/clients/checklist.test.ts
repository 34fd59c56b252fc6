// The checklist on the made-up machine, step by step, as a person and the clients move it on.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ClientEntry, EntryKey, ServerView, SessionView } from '../backend';
import { fakeBackend, type FakeBackend } from '../backend/fake';
import { checklist, sessionsOf, type StepId } from './checklist';
import { allEntries } from './entries';

let fake: FakeBackend;
let ours: EntryKey[];

beforeEach(() => {
  vi.useFakeTimers();
  fake = fakeBackend({ calls: 0, rate: 0 });
  ours = [];
});
afterEach(() => vi.useRealTimers());

const look = async () => checklist(await fake.clients(), await fake.servers(), ours);
const marks = async () =>
  Object.entries((await look()).marks)
    .map(([step, mark]) => `${step} ${mark}`)
    .join(', ');
const expectMarks = async (done: StepId[], now: StepId[]) => {
  const all: StepId[] = ['found', 'edits', 'quit', 'written', 'started', 'connected', 'called'];
  const mark = (step: StepId) => (done.includes(step) ? 'done' : now.includes(step) ? 'now' : 'later');
  expect(await marks()).toBe(all.map((step) => `${step} ${mark(step)}`).join(', '));
};
async function protect() {
  const { open } = await look();
  const change = await fake.changeClients('protect', open, false);
  ours = [...change.done, ...change.waiting];
}
async function reopen() {
  const done = fake.reopenClient('claude-desktop');
  await vi.runAllTimersAsync();
  await done;
}

it('goes from nothing to the first call, and each step ticks itself off', async () => {
  expect(checklist(null, [], []).marks.found).toBe('now');
  await expectMarks(['found'], ['edits']);
  await protect();
  await expectMarks(['found', 'edits'], ['quit']);
  expect((await look()).waiting.map((view) => view.name)).toEqual(['Claude Desktop']);
  await reopen();
  await expectMarks(['found', 'edits', 'quit', 'written'], ['started', 'connected', 'called']);
  const list = await look();
  expect(list.started.map((one) => `${one.view.id} ${one.how} ${one.done}`)).toEqual([
    'claude-desktop runs true',
    'cursor unknown false',
  ]);
  expect(list.connected.filter((one) => one.done).map((one) => one.entry.server)).toEqual(['files', 'github']);
  fake.machine.start('cursor');
  await expectMarks(['found', 'edits', 'quit', 'written', 'started', 'connected'], ['called']);
  fake.world.someCall(fake.world.now());
  expect((await look()).allDone).toBe(true);
});

it('a client that quits by itself writes what waits; one that was not restarted is told', async () => {
  await protect();
  fake.machine.quit('claude-desktop');
  expect((await look()).started[0]).toMatchObject({ how: 'off', done: false });
  fake.machine.start('claude-desktop');
  expect((await look()).started[0]).toMatchObject({ how: 'runs', done: true });
  const { open, started } = await look();
  expect(open).toEqual([]);
  await fake.changeClients('unprotect', [started[0]!.view.files[0]!.entries[0]!.key], true);
  expect((await look()).started[0]).toMatchObject({ how: 'old', done: false });
});

it('Undo knows what was protected here, written or waiting, and nothing else', async () => {
  const files = allEntries(await fake.clients()).filter((entry) => entry.key.name === 'files');
  await fake.changeClients('protect', [files[1]!.key], false);
  await protect();
  const names = async () => (await look()).undoable.map((key) => `${key.client} ${key.name}`);
  const mine = ['claude-desktop files', 'claude-desktop github', 'cursor postgres'];
  expect(await names()).toEqual(mine);
  await reopen();
  expect(await names()).toEqual(mine);
  await fake.changeClients('unprotect', (await look()).undoable, false);
  // Those of the running client wait to be unprotected: there is no second Undo for them.
  expect(await names()).toEqual([]);
  expect((await look()).marks.quit).toBe('now');
  await reopen();
  expect((await look()).marks.edits).toBe('now');
});

it('a session counts for its own client: not a demo, a test or another known client', () => {
  const entry: ClientEntry = {
    key: { client: 'cursor', path: '/c', project: null, name: 'files' },
    state: 'protected',
    server: 'files',
    command: '',
    why: null,
    secrets: { plain: [], kept: [], unbound: false },
    added: false,
  };
  const session = (client: string | null, demo = false) => ({ client, demo, endedMs: null }) as SessionView;
  const counts = (one: SessionView, name = 'files') =>
    sessionsOf([{ name, sessions: [one] } as unknown as ServerView], entry).length;
  expect(counts(session('cursor'))).toBe(1);
  expect(counts(session(null))).toBe(1);
  expect(counts(session('cursor-vscode'))).toBe(1);
  expect(counts(session('claude-desktop'))).toBe(0);
  expect(counts(session('callgate-test'))).toBe(0);
  expect(counts(session('cursor', true))).toBe(0);
  expect(counts(session('cursor'), 'files@cursor')).toBe(0);
});

it('a server that was seen once stays ticked when its session ends, and whoever talks is started', async () => {
  await protect();
  await reopen();
  fake.machine.quit('claude-desktop');
  const [clients, servers] = [await fake.clients(), await fake.servers()];
  const ended = (sessions: SessionView[], end: string) =>
    sessions.map((session) => ({ ...session, endedMs: session.startedMs + 1000, end }));
  const after = (end: string) =>
    checklist(
      clients,
      servers.map((server) => ({ ...server, sessions: ended(server.sessions, end) })),
      ours,
    );
  const seen = (list: ReturnType<typeof checklist>) =>
    list.connected.filter((one) => one.done && one.view.id === 'claude-desktop').length;
  expect(seen(after('client_closed'))).toBe(2);
  expect(seen(after('failed_to_start'))).toBe(0);
  expect(after('client_closed').started[0]).toMatchObject({ how: 'off', done: false });
  // Its program is not known to us, but it talks through the gate.
  const live = servers.map((server) => ({
    ...server,
    sessions: server.sessions.map((session) => ({ ...session, endedMs: null, end: null })),
  }));
  expect(checklist(clients, live, ours).started[0]).toMatchObject({ how: 'runs', done: true });
});
