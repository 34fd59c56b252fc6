// Servers of the made-up gate: those of the catalog, and two that show what else can be the matter.
import type { Backend } from '../backend';
import type * as T from '../backend';
import { clients } from './policies';
import { fakeTrees, type FakeTrees } from './trees';
import type { World } from './world';

type Servers = Pick<
  Backend,
  'servers' | 'usage' | 'stderrTail' | 'stopServer' | 'startServer' | 'restartServer' | 'stopEverything'
> &
  FakeTrees;

const minute = 60_000;
const megabyte = 1024 * 1024;

/** Memory and processor of a server when it does nothing special. */
const appetite: Record<string, { megabytes: number; percent: number; processes: number }> = {
  playwright: { megabytes: 742, percent: 38, processes: 11 },
  files: { megabytes: 74, percent: 1.2, processes: 2 },
  github: { megabytes: 41, percent: 0.4, processes: 4 },
  fetch: { megabytes: 58, percent: 2.5, processes: 2 },
};
const usual = { megabytes: 52, percent: 0.8, processes: 1 };

const stderr = `Starting…
[12:01:07] listening on stdio
[12:01:09] warning: experimental feature enabled
[12:04:41] request 17 took 4.2 s
[12:05:02] retrying after ECONNRESET
[12:05:03] ok
\u001b[31mred by escape codes\u001b[0m, and a turned\u202e word
`;

export function fakeServers(world: World): Servers {
  const extra = world.options.calls > 0 ? extras(world.now()) : [];
  const all = () => [...world.sessions, ...extra.flatMap((server) => server.sessions)];
  const meant = (server: string | null, session: string | null) =>
    all().filter(
      (one) =>
        one.endedMs === null &&
        (server === null || one.server === server) &&
        (session === null || one.session === session),
    );
  const stand = (server: string | null, session: string | null, to: T.StandView, words: string): T.Done => {
    for (const one of meant(server, session)) [one.stand, one.standWords] = [to, null];
    return { words, undo: null, server, version: null, endsMs: null };
  };

  return {
    async servers() {
      const known = world.servers.filter((server) => world.sessions.some((session) => session.server === server.name));
      const views = [
        ...extra.map((server) => withPause(world, server)),
        ...known.map((server) => viewOf(world, server.name, server.command, server.tools.length)),
        ...[...world.own]
          .filter(([name]) => !known.some((server) => server.name === name))
          .map(([name, command]): T.ServerView => ({ ...viewOf(world, name, command, 0), state: 'neverStarted' })),
      ];
      // As they are now: what changes later is another answer.
      return structuredClone(views);
    },

    usage(on) {
      let beat = 0;
      const send = (atMs: number) => {
        beat += 1;
        const running = all().filter((session) => session.endedMs === null);
        on(
          running.map((session, index) => {
            const needs = appetite[session.server] ?? usual;
            const wave = Math.sin(beat / 3 + index) + 0.6 * Math.sin(beat / 1.3 + index * 2);
            const burst = (beat + index * 5) % 23 < 4 ? 2.2 : 1;
            return {
              session: session.session,
              server: session.server,
              atMs,
              cpuPercent: beat === 1 ? null : Math.max(0, needs.percent * burst * (1 + 0.35 * wave)),
              memoryBytes: Math.round(needs.megabytes * megabyte * (1 + 0.04 * wave + 0.002 * (beat % 40))),
              processes: needs.processes,
            };
          }),
        );
      };
      // A past, so that there is a line from the start.
      for (let back = 180; back > 0; back -= 1) send(world.now() - back * 5_000);
      const timer = setInterval(() => send(world.now()), 2_000);
      return () => clearInterval(timer);
    },

    async stderrTail(session) {
      const found = all().find((one) => one.session === session);
      return found?.server === 'github' ? '' : stderr;
    },

    async stopServer(server, session) {
      return stand(server, session, 'stopped', `Stopped: ${server}`);
    },
    async startServer(server, session) {
      return stand(server, session, 'running', `Running: ${server}`);
    },
    async restartServer(server, session) {
      for (const one of meant(server, session)) {
        one.restarts += 1;
        one.restartedMs = world.now();
      }
      return stand(server, session, 'running', `Running: ${server}`);
    },
    async stopEverything() {
      world.pausedAll = true;
      return stand(null, null, 'stopped', 'Paused every server. Stopped: every server');
    },

    ...fakeTrees(world, all),
  };
}

function viewOf(world: World, name: string, command: string[], tools: number): T.ServerView {
  const midnight = new Date(world.now()).setHours(0, 0, 0, 0);
  const lines = [...world.calls()].filter((line) => line.server === name);
  const today = lines.filter((line) => line.atMs >= midnight);
  const failed = lines.findLast((line) => line.outcome === 'tool_error');
  const sessions = world.sessions
    .filter((session) => session.server === name)
    .sort((a, b) => Number(a.endedMs !== null) - Number(b.endedMs !== null) || b.startedMs - a.startedMs);
  const observed = world.allowances.some((one) => one.server === name && one.tool === null);
  const plain: T.ServerView = {
    name,
    state: sessions.some((session) => session.endedMs === null) ? 'running' : 'stopped',
    protection: observed
      ? 'observed'
      : name === 'files' || name === 'github' || name === 'fetch'
        ? 'enforcing'
        : 'watchOnly',
    problem: null,
    command,
    sessions: sessions.slice(0, 10),
    callsToday: today.length,
    refusedToday: today.filter((line) => line.refused).length,
    callsLastHour: lines.filter((line) => line.atMs > world.now() - 3_600_000).length,
    lastCallMs: lines.at(-1)?.atMs ?? null,
    lastError: failed ? `${failed.tool ?? ''}: ENOENT: no such file` : null,
    lastErrorMs: failed?.atMs ?? null,
    tools,
    codegen: false,
    added: world.own.has(name),
  };
  return withPause(world, plain);
}

function withPause(world: World, view: T.ServerView): T.ServerView {
  if (!world.pausedAll && !world.pausedServers.has(view.name)) return view;
  return { ...view, protection: 'paused', problem: 'Every call is refused until it is resumed.' };
}

function extras(now: number): T.ServerView[] {
  const session = (
    server: string,
    id: string,
    client: string,
    pid: number | null,
    startedAgo: number,
    endedAgo: number | null,
    end: string | null,
    calls: number,
    refused: number,
  ): T.SessionView => ({
    session: id,
    server,
    client,
    pid,
    startedMs: now - startedAgo * minute,
    endedMs: endedAgo === null ? null : now - endedAgo * minute,
    end,
    policy: '5be01f4cc0de',
    calls,
    refused,
    demo: false,
    stand: 'running',
    standWords: null,
    restarts: 0,
    restartedMs: null,
  });
  const [first = 'claude-ai', second = 'cursor-vscode'] = clients.playwright ?? [];
  return [
    {
      name: 'playwright',
      state: 'running',
      protection: 'enforcing',
      problem: null,
      command: ['npx', '-y', '@playwright/mcp@latest', '--headless'],
      sessions: [
        session('playwright', 'p1', first, 52_114, 133, null, null, 412, 11),
        session('playwright', 'p2', second, 52_390, 38, null, null, 77, 0),
        session('playwright', 'p3', first, 48_020, 900, 640, 'client_closed', 1303, 29),
        session('playwright', 'p4', first, 47_711, 1600, 1591, 'server_ended', 12, 0),
      ],
      callsToday: 489,
      refusedToday: 11,
      callsLastHour: 122,
      lastCallMs: now - 40_000,
      lastError:
        'browser_click: TimeoutError: locator.click: Timeout 5000ms exceeded, waiting for getByRole("button", { name: "Sign in" })',
      lastErrorMs: now - 9 * minute,
      tools: 18,
      codegen: true,
      added: false,
    },
    {
      name: 'notes',
      state: 'running',
      protection: 'broken',
      problem: 'Its policy has an error in line 5, so every call is refused. Mend it in Rules.',
      command: ['node', '/home/ada/notes-mcp/dist/index.js'],
      sessions: [session('notes', 'n1', first, 53_001, 22, null, null, 49, 49)],
      callsToday: 49,
      refusedToday: 49,
      callsLastHour: 49,
      lastCallMs: now - 6 * minute,
      lastError: null,
      lastErrorMs: null,
      tools: 2,
      codegen: false,
      added: false,
    },
    {
      name: 'linear',
      state: 'neverStarted',
      protection: 'watchOnly',
      problem: null,
      command: ['npx', '-y', 'mcp-remote', 'https://mcp.linear.app/sse'],
      sessions: [],
      callsToday: 0,
      refusedToday: 0,
      callsLastHour: 0,
      lastCallMs: null,
      lastError: null,
      lastErrorMs: null,
      tools: 0,
      codegen: false,
      added: false,
    },
  ];
}
