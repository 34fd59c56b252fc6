// What happened before the window opened, made up: runs of work with idle gaps, an agent that does not take no for an answer.
import type * as T from '../backend';
import type { FakeTool } from './catalog';
import type { World } from './world';

const day = 86_400_000;

/** Rules, sessions and everything on record at the start. */
export function fillPast(world: World, now: number): void {
  world.rules = [
    {
      kind: 'block',
      target: { server: 'files', tool: 'delete_file', client: null },
      max: 0,
      window: '',
      reason: 'not from an agent',
      argument: null,
    },
    {
      kind: 'refuse',
      target: { server: 'fetch', tool: 'fetch', client: null },
      max: 0,
      window: '',
      reason: null,
      argument: { kind: 'startsWith', path: 'args.url', prefix: 'file:' },
    },
    {
      kind: 'block',
      target: { server: 'github', tool: 'merge_pull_request', client: 'claude-ai' },
      max: 0,
      window: '',
      reason: 'a person merges',
      argument: null,
    },
    {
      kind: 'cap',
      target: { server: 'github', tool: 'search_code', client: null },
      max: 6,
      window: 'minute',
      reason: null,
      argument: null,
    },
  ];
  const pairs = world.servers.flatMap((server) => server.clients.map((client) => ({ server: server.name, client })));
  pairs.forEach(({ server, client }, index) =>
    world.begin(server, client, now - (index + 1) * 47 * 60_000, null, 41_000 + index * 37),
  );
  const ended = world.begin('files', 'claude-ai', now - 2.2 * day, now - 2 * day, 9_120);
  const open = world.sessions.filter((session) => session !== ended);
  for (const happen of plan(world, now, open, ended)) happen.make(Math.floor(happen.atMs));
  for (const server of world.servers) world.versions.set(server.name, world.versions.get(server.name) ?? 1);
}

/** What happened, in order of time: runs of work with idle gaps between them, the most of it lately. */
function plan(
  world: World,
  now: number,
  open: T.SessionView[],
  ended: T.SessionView,
): { atMs: number; make: (atMs: number) => void }[] {
  const { random } = world;
  const total = world.options.calls;
  const all: { atMs: number; make: (atMs: number) => void }[] = [];
  const one = (session: T.SessionView, tool: FakeTool, atMs: number, args = tool.args(random)) =>
    all.push({ atMs, make: (at) => void world.makeCall(session, tool, args, at, false) });
  const days = Math.min(29, Math.max(3, total / 1_500));
  while (all.length < total) {
    // Some lately, the rest spread before it, more by day than by night.
    const back = random.next() < 0.16 ? random.next() * 0.2 * day : random.next() ** 1.3 * days * day;
    const hour = new Date(now - back).getHours();
    if (back > 0.3 * day && (hour < 8 || hour > 19) && random.next() < 0.85) continue;
    const session = back > 2 * day && random.next() < 0.5 ? ended : random.pick(open);
    let at = now - back;
    for (let n = 3 + random.int(34); n > 0 && all.length < total; n -= 1) {
      at += random.around(9_000);
      if (at > now - 1_500) break;
      one(session, random.weighted(world.server(session.server)!.tools), at);
    }
  }
  // An agent that does not take no for an answer, and one in a hurry.
  const files = open.find((session) => session.server === 'files')!;
  const github = open.find((session) => session.server === 'github')!;
  const remove = world.server('files')!.tools.find((tool) => tool.name === 'delete_file')!;
  const search = world.server('github')!.tools.find((tool) => tool.name === 'search_code')!;
  for (let n = 0; n < Math.min(412, total / 8); n += 1)
    one(files, remove, now - 26 * 60_000 + n * 90, { path: '/home/ada/.ssh/config' });
  for (let n = 0; n < 9; n += 1)
    one(files, remove, now - 100_000 + n * 400, { path: '/home/ada/project/notes/plan.md' });
  for (let n = 0; n < 14; n += 1) one(github, search, now - 52_000 + n * 800);
  const change = (minutes: number, server: string, words: string, loosened: boolean, origin: string) =>
    all.push({ atMs: now - minutes * 60_000, make: (at) => void world.changed(server, words, loosened, origin, at) });
  change(2_900, 'fetch', 'Refused fetch when url starts with file:, for everyone', false, 'window');
  change(1_500, 'github', 'Capped search_code at 6 per minute, for everyone', false, 'cli');
  change(75, 'files', 'Blocked delete_file, for everyone: “not from an agent”', false, 'window');
  change(1.4, 'postgres', 'Allowed query without a cap, for cursor-vscode', true, 'file');
  all.push({
    atMs: now - 18 * 60_000,
    make: (at) =>
      world.happened('processes_ended', 'fetch', '2 processes left behind by a session of fetch were ended', at),
  });
  all.push({
    atMs: now - 45_000,
    make: (at) =>
      world.happened('policy_reloaded', 'postgres', 'The rules were read again after an edit of the file', at),
  });
  return all.sort((a, b) => a.atMs - b.atMs);
}
