// Codegen sessions of the made-up gate: one of each kind, some with text that nobody should trust.
import type { Backend } from '../backend';
import type * as T from '../backend';
import { BackendError } from '../backend';
import type { FakeRules } from './rules';
import type { World } from './world';

export type FakeCodegen = Pick<Backend, 'codegen' | 'codegenSession' | 'codegenFile' | 'exportCodegen' | 'atStake'> & {
  /** Sessions with their actions, the newest first. */
  recordings: T.CodegenDetail[];
};

const minute = 60_000;
const steps: [string, string][] = [
  ['playwright_navigate', 'url: http://127.0.0.1:8080/login'],
  ['playwright_fill', 'selector: #user, value: ada'],
  ['playwright_fill', 'selector: #password, value: [masked, 12 characters]'],
  ['playwright_click', 'selector: button[type=submit]'],
  ['playwright_get_visible_text', ''],
  ['playwright_fill', "selector: #note, value: x'); console.log('INJECTED'); ('"],
  ['playwright_select', 'selector: #colour, value: blue'],
  ['playwright_hover', 'selector: #menu \u202eturned'],
  ['playwright_click', 'selector: text=Save'],
];

export function fakeCodegen(world: World, policies: FakeRules): FakeCodegen {
  const now = world.now();
  const made = (
    n: number,
    state: T.CodegenState,
    startedAgo: number,
    endedAgo: number | null,
    count: number,
    client = 'claude-ai',
  ): T.CodegenDetail => {
    const startedMs = now - startedAgo * minute;
    const actions = Array.from({ length: count }, (_, at): T.CodegenAction => {
      const [tool, gist] = steps[at % steps.length] ?? ['', ''];
      const failed = at % 7 === 6;
      return { call: `p${n}-${at + 2}`, atMs: startedMs + (at + 1) * 4_000, tool, gist, failed };
    });
    const session: T.CodegenView = {
      id: `p${n}-1`,
      session: `4f1c2a9${n}-7be0-4c55-9a51-0d6f3f1e77a2`,
      server: 'playwright',
      client,
      state,
      startedMs,
      endedMs: endedAgo === null ? null : now - endedAgo * minute,
      output: '/home/ada/project/e2e',
      file: state === 'ended' ? `/home/ada/project/e2e/login_4f1c2a9${n}.spec.ts` : null,
      actions: count,
      thrownAway: count > 0 && (state === 'cleared' || state === 'lost'),
      clearing: null,
    };
    return { session, actions };
  };
  const recordings =
    world.options.calls === 0
      ? []
      : [
          made(1, 'open', 6, null, 9),
          made(2, 'cleared', 34, 31, 12),
          made(3, 'ended', 75, 71, 8, 'cursor-vscode'),
          made(4, 'lost', 1595, 1591, 23),
          made(5, 'cleared', 1700, 1699, 0),
          made(6, 'ended', 2900, 2890, 41),
        ];
  const find = (id: string): T.CodegenDetail => {
    const found = recordings.find((one) => one.session.id === id);
    if (found) return found;
    throw new BackendError({ code: 'notFound', message: `there is no codegen session ${id} on record`, detail: null });
  };
  const written = new Set<string>();
  const told = (session: T.CodegenView): T.CodegenView => {
    if (session.state !== 'open' || session.actions === 0) return session;
    return { ...session, clearing: policies.clearing(session.server) };
  };
  return {
    recordings,
    codegen: async (server) => recordings.map((one) => told(one.session)).filter((one) => one.server === server),
    codegenSession: async (id) => {
      const found = find(id);
      return { ...found, session: told(found.session) };
    },
    atStake: async (server) =>
      recordings
        .map((one) => one.session)
        .filter((one) => (server === null || one.server === server) && one.state === 'open' && one.actions > 0)
        .map(
          (one) =>
            `the codegen session ${one.session} of ${one.client} is open: the server loses it; its ${one.actions} ${one.actions === 1 ? 'action stays' : 'actions stay'} saved in Callgate`,
        ),
    codegenFile: async (id) => {
      const { server, session } = find(id).session;
      const names = ['', ...Array.from({ length: 98 }, (_, at) => `-${at + 2}`)];
      const paths = names.map(
        (name) => `/home/ada/Downloads/${server}-${session?.slice(0, 8)}-2026-11-16${name}.spec.ts`,
      );
      return paths.find((path) => !written.has(path)) ?? '';
    },
    exportCodegen: async (id, path) => {
      const bad = (message: string) =>
        new BackendError({ code: 'badInput', message: `${path}: ${message}`, detail: null });
      if (!path.startsWith('/')) throw bad('say the whole path, from the root on');
      if (!/[^/]\.spec\.ts$/.test(path)) throw bad('a Playwright test is called something.spec.ts');
      if (written.has(path)) throw bad('is there already and was left as it is: choose another name');
      const { actions } = find(id).session;
      written.add(path);
      return { path, calls: actions };
    },
  };
}
