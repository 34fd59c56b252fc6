// Settings of the made-up gate, and its demo.
import { BackendError, type Backend, type Done, type SessionView, type SettingsView } from '../backend';
import type { World } from './world';

type Settings = Pick<Backend, 'settings' | 'saveSettings' | 'deleteHistory' | 'startAtLogin' | 'startDemo'>;

const demoCalls = 24;
const demoEvery = 350;

export function fakeSettings(world: World): Settings {
  const view = (): SettingsView => ({
    settings: structuredClone(world.settings),
    startsAtLogin: world.startsAtLogin,
    usedBytes: 4_200_000 + world.entries.length * 11_400,
    calls: world.entries.filter((entry) => entry.line.kind === 'call').length,
    oldestMs: world.entries[0]?.line.atMs ?? null,
    home: '/home/ada/.callgate',
    program: '/home/ada/.callgate/bin/callgate',
    version: '0.4.0',
    problems: [],
  });
  return {
    settings: async () => view(),
    async saveSettings(settings) {
      if (settings.historyDays < 1 || settings.historyMegabytes < 1)
        throw new BackendError({
          code: 'badInput',
          message: 'History needs at least a day and a megabyte.',
          detail: null,
        });
      world.settings = structuredClone(settings);
      return view();
    },
    async deleteHistory() {
      const calls = [...world.calls()];
      const servers = [...new Set(calls.map((line) => line.server))];
      const token = `forget-${world.questions.size + 1}`;
      const act = (): Done => {
        world.forget();
        return { words: 'Forgotten.', undo: null, server: null, version: null, endsMs: null };
      };
      world.questions.set(token, { untilMs: world.now() + 120_000, act });
      return {
        token,
        details: [],
        words: `Forget all of the history, ${calls.length} calls, for good?`,
        loosened: servers.map((server) => {
          const count = calls.filter((line) => line.server === server).length;
          return `${server}: ${count} calls`;
        }),
      };
    },
    async startAtLogin(yes) {
      world.startsAtLogin = yes;
      world.askLogin = false;
      return view();
    },
    async startDemo() {
      if (world.demoRunning) return;
      world.demoRunning = true;
      const server = world.server('files');
      if (!server) return;
      const session: SessionView = {
        session: 'demo',
        server: 'files',
        client: 'callgate-demo',
        pid: 60_000,
        startedMs: world.now(),
        endedMs: null,
        end: null,
        policy: world.version('files'),
        calls: 0,
        refused: 0,
        demo: true,
        stand: 'running',
        standWords: null,
        restarts: 0,
        restartedMs: null,
      };
      world.sessions.push(session);
      let made = 0;
      const call = () => {
        const tool = world.random.weighted(server.tools);
        world.makeCall(session, tool, tool.args(world.random), world.now(), true);
        made += 1;
        if (made < demoCalls) return;
        clearInterval(timer);
        world.demoRunning = false;
      };
      const timer = setInterval(call, demoEvery);
      call();
    },
  };
}
