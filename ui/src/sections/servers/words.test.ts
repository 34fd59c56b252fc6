import { expect, it } from 'vitest';
import type { ServerView, SessionView } from '../../lib/backend';
import { happening, isStill, isUp, resumption, runningSince, standing, stateOf, warnings } from './words';

const session = (some: Partial<SessionView>): SessionView => ({
  session: 'a',
  server: 'files',
  client: 'claude-ai',
  pid: 1,
  startedMs: 1_000,
  endedMs: null,
  end: null,
  policy: null,
  calls: 0,
  refused: 0,
  demo: false,
  stand: 'running',
  standWords: null,
  restarts: 0,
  restartedMs: null,
  ...some,
});
const server = (...sessions: SessionView[]): ServerView => ({
  name: 'files',
  state: sessions.length === 0 ? 'neverStarted' : sessions.some((one) => one.endedMs === null) ? 'running' : 'stopped',
  protection: 'watchOnly',
  problem: null,
  command: [],
  sessions,
  callsToday: 0,
  refusedToday: 0,
  callsLastHour: 0,
  lastCallMs: null,
  lastError: null,
  lastErrorMs: null,
  tools: 0,
  codegen: false,
  added: false,
});
const limits = 'ended by its limits: it has 11 processes, more than its limit of 10';

it('does not say "stopped by you" of what its limits ended', () => {
  expect(standing(session({ stand: 'stopped' })).word).toBe('stopped by you');
  const ended = server(session({ stand: 'stopped', standWords: limits }));
  expect(stateOf(ended).word).toBe('ended by its limits');
  expect(warnings(ended)).toEqual([{ words: limits, still: true }]);
});

it('warns of a server that runs beyond its limit', () => {
  const words = 'its processes take 1.5 GB of memory, more than its limit of 1.0 GB';
  const over = server(session({ standWords: words }), session({ session: 'b', standWords: words }));
  expect(stateOf(over).word).toBe('running');
  expect(warnings(over)).toEqual([{ words: `Over its limit: ${words}`, still: false }]);
});

it('says crash loop on the card and in the row of the session', () => {
  const down = session({ stand: 'down', standWords: 'the server does not run' });
  expect(standing(down)).toEqual({ word: 'crash loop', tone: 'refused' });
  expect(stateOf(server(session({}), down))).toEqual({ word: 'crash loop', tone: 'refused' });
  expect([isStill(server(session({}), down)), isUp(server(session({}), down)), isUp(server(down))]).toEqual([
    true,
    true,
    false,
  ]);
});

it('does not call a server stopped that nobody stopped', () => {
  const said = (end: string) => stateOf(server(session({ endedMs: 2_000, end }))).word;
  expect(['client_closed', 'signal', 'lost', 'crashed', 'failed_to_start', 'server_ended'].map(said)).toEqual([
    'not running',
    'not running',
    'not running',
    'crashed',
    'did not start',
    'ended by itself',
  ]);
  expect(stateOf(server()).word).toBe('never started');
});

it('counts the time that a server runs from its restart', () => {
  expect(runningSince(server(session({})))).toBe(1_000);
  expect(runningSince(server(session({ restartedMs: 9_000 })))).toBe(9_000);
  expect(runningSince(server(session({ stand: 'down' })))).toBeNull();
  expect(runningSince(server(session({ endedMs: 2_000, end: 'client_closed' })))).toBeNull();
});

it('has words for what happened, whatever it is', () => {
  expect([happening('limit').word, happening('start_failed').word, happening('some_news').word]).toEqual([
    'Over its limit',
    'Failed to start',
    'Some news',
  ]);
});

it('resumes the client where the pause is the client’s', () => {
  const files = server(session({ client: 'cursor' }));
  const need = (server: string | null, client: string) => ({
    words: 'paused',
    fix: { kind: 'resume' as const, server, client },
    server,
    serious: true,
  });
  const none = { pausedAll: false, pausedServers: [], needs: [] };
  const cases = [
    [
      { ...none, pausedAll: true, pausedServers: ['files'] },
      { server: null, client: null },
    ],
    [
      { ...none, pausedServers: ['files'], needs: [need('files', 'cursor')] },
      { server: 'files', client: null },
    ],
    [
      { ...none, needs: [need('files', 'zed'), need('files', 'cursor')] },
      { server: 'files', client: 'cursor' },
    ],
    [
      { ...none, needs: [need('mail', 'cursor')] },
      { server: 'files', client: null },
    ],
    [
      { ...none, needs: [need(null, 'cursor')] },
      { server: null, client: 'cursor' },
    ],
  ] as const;
  for (const [overview, scope] of cases) {
    expect(
      resumption(files, { ...overview, pausedServers: [...overview.pausedServers], needs: [...overview.needs] }),
    ).toEqual(scope);
  }
});
