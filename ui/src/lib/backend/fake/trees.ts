// Processes of the made-up gate: a browser with its parts, plain servers, what a dead session left, and a browser of nobody.
import type { Backend } from '../backend';
import type * as T from '../backend';
import type { World } from './world';

export type FakeTrees = Pick<Backend, 'trees' | 'happened' | 'strays' | 'sweep' | 'endSuspects' | 'endTree'>;

const minute = 60_000;
const megabyte = 1024 * 1024;

/** Depth, what, command, megabytes, percent. */
type Row = readonly [number, string, string, number, number];

const chromium = '/usr/lib/chromium/chromium';
const profile = '/tmp/playwright_chromiumdev_profile-8xKq2P';
const browser: readonly Row[] = [
  [0, 'gate', 'callgate run --server playwright -- npx -y @playwright/mcp@latest --headless', 8, 0.1],
  [1, 'keeper', 'callgate run --server playwright -- npx -y @playwright/mcp@latest --headless', 1, 0],
  [2, 'npx', 'npm exec @playwright/mcp@latest --headless', 61, 0],
  [3, 'shell', 'sh -c playwright-mcp --headless', 2, 0],
  [4, 'node', 'node /home/ada/.npm/_npx/9833c18b2d85bc59/node_modules/.bin/playwright-mcp --headless', 118, 2.1],
  [
    5,
    'browser',
    `${chromium} --disable-field-trial-config --disable-background-networking --headless --remote-debugging-pipe --user-data-dir=${profile} --no-startup-window`,
    176,
    11,
  ],
  [6, 'browser: zygote', `${chromium} --type=zygote --no-zygote-sandbox`, 38, 0],
  [6, 'browser: graphics', `${chromium} --type=gpu-process --headless`, 71, 3.2],
  [6, 'browser: network', `${chromium} --type=utility --utility-sub-type=network.mojom.NetworkService`, 64, 0.8],
  [6, 'renderer', `${chromium} --type=renderer --lang=en-US`, 142, 19],
  [2, 'crash handler', '/usr/lib/chromium/chrome_crashpad_handler --monitor-self', 4, 0],
];
const plain = (server: string): readonly Row[] => [
  [0, 'gate', `callgate run --server ${server} -- node server.js`, 8, 0.1],
  [1, 'keeper', `callgate run --server ${server} -- node server.js`, 1, 0],
  [2, 'node', `node /home/ada/servers/${server}/dist/index.js`, 56, 0.7],
];

export function fakeTrees(world: World, sessions: () => T.SessionView[]): FakeTrees {
  let strays = world.options.calls > 0 ? left(world.now()) : { leftovers: [], elsewhere: [], suspects: [] };
  const ended = new Set<string>();

  function ends(processes: readonly T.ProcessView[], words: string, session: string | null): T.SweepView {
    const all = processes.map(({ pid, what, command }) => ({ pid, what, command, session, server: null, gone: true }));
    return { words, ended: all, profiles: [] };
  }

  return {
    async trees(server) {
      const running = sessions().filter((one) => one.server === server && one.endedMs === null);
      return running.map((session, index) => {
        const rows = server === 'playwright' ? browser : plain(server);
        const shown = ended.has(session.session) || session.stand !== 'running' ? rows.slice(0, 2) : rows;
        const processes = shown.map((row, at) => view(row, 52_114 + index * 100 + at, session.startedMs + at * 400));
        return {
          session: session.session,
          server,
          client: session.client,
          startedMs: session.startedMs,
          atMs: world.now(),
          elsewhere: null,
          cpuPercent: processes.reduce((sum, one) => sum + (one.cpuPercent ?? 0), 0),
          memoryBytes: processes.reduce((sum, one) => sum + one.memoryBytes, 0),
          processes,
        };
      });
    },

    async happened(server) {
      const now = world.now();
      const rows: T.HappenedView[] = sessions()
        .filter((one) => one.server === server)
        .flatMap((one) => {
          const of = { session: one.session };
          const began = { ...of, atMs: one.startedMs, kind: 'started', text: `started by ${one.client ?? 'unknown'}` };
          if (one.endedMs === null) return [began];
          const text = one.end === 'server_ended' ? 'ended: the server ended by itself' : 'ended: the client closed it';
          return [began, { ...of, atMs: one.endedMs, kind: one.end ?? 'client_closed', text }];
        });
      if (server === 'playwright') {
        rows.push(
          {
            atMs: now - 41 * minute,
            kind: 'crashed',
            text: 'the server ended (exit code 1) between calls',
            session: 'p1',
          },
          { atMs: now - 41 * minute + 900, kind: 'restarted', text: 'started again after it crashed', session: 'p1' },
        );
      }
      return rows.sort((a, b) => b.atMs - a.atMs);
    },

    async strays() {
      return strays;
    },

    async sweep() {
      const all = strays.leftovers.flatMap((one) => one.processes);
      const session = strays.leftovers[0]?.session ?? null;
      strays = { ...strays, leftovers: [] };
      return ends(all, `${all.length} processes of dead sessions ended. 1 temporary profile removed.`, session);
    },

    async endSuspects(ids) {
      const chosen = strays.suspects.filter((one) => ids.includes(one.id));
      strays = { ...strays, suspects: strays.suspects.filter((one) => !ids.includes(one.id)) };
      const words = `${chosen.length} ${chosen.length === 1 ? 'process' : 'processes'} that nobody owned ended.`;
      return { words, ended: [], profiles: [] };
    },

    async endTree(session) {
      ended.add(session);
      const server = sessions().find((one) => one.session === session)?.server ?? session;
      return { words: `9 processes of ${server} ended.`, ended: [], profiles: [] };
    },
  };
}

function view([depth, what, command, megabytes, percent]: Row, pid: number, startedMs: number): T.ProcessView {
  return { pid, depth, what, command, cpuPercent: percent, memoryBytes: megabytes * megabyte, startedMs };
}

function left(now: number): T.Strays {
  const ago = now - 2 * 24 * 60 * minute;
  const processes = browser
    .filter((row) => row[1].startsWith('browser') || row[1] === 'renderer' || row[1] === 'crash handler')
    .map((row, at) => view([Math.max(0, row[0] - 5), ...row.slice(1)] as unknown as Row, 31_020 + at, ago - minute));
  return {
    leftovers: [
      {
        session: 'k3v9qa',
        server: 'playwright',
        client: 'claude-ai',
        endedMs: ago,
        seenMs: null,
        memoryBytes: processes.reduce((sum, one) => sum + one.memoryBytes, 0),
        browsers: processes.length,
        processes,
      },
    ],
    elsewhere: [],
    suspects: [
      {
        id: '20114:88123',
        pid: 20_114,
        command: `${chromium} --headless --remote-debugging-port=0 --user-data-dir=/tmp/puppeteer_dev_chrome_profile-Zk1a0Q`,
        profile: '/tmp/puppeteer_dev_chrome_profile-Zk1a0Q',
        processes: 9,
        memoryBytes: 388 * megabyte,
        startedMs: now - 3 * 24 * 60 * minute,
      },
    ],
  };
}
