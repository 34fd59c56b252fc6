// The made-up machine behind the window's clients: files that are written or wait to be, and clients that are quit and started.
import { BackendError } from '../backend';
import type * as T from '../backend';
import { clientFiles, keyOf, type FakeClient, type FakeEntry, type FakeFile } from './clientfiles';
import { text } from './clienttext';
import { entryOf } from './own';
import type { World } from './world';

interface Backup extends T.BackupView {
  path: string;
  entries: FakeEntry[];
}

interface Change {
  entry: FakeEntry;
  act: T.ClientAct;
}

export interface Placed {
  client: FakeClient;
  file: FakeFile;
  entry: FakeEntry;
  key: T.EntryKey;
}

export type ClientMachine = ReturnType<typeof clientMachine>;

export const gone = (what: string) =>
  new BackendError({ code: 'notFound', message: `${what} is not there any more. Look again.`, detail: null });

export const runs = (client: FakeClient) =>
  new BackendError({
    code: 'conflict',
    message: `${client.name} runs and would write over it; nothing was written. Quit it and try again.`,
    detail: null,
  });

export const same = (a: T.EntryKey, b: T.EntryKey) =>
  a.client === b.client && a.path === b.path && a.project === b.project && a.name === b.name;

/** Clients with their files, what was kept of these, and what waits. */
export function clientMachine(world: World) {
  const first = world.options.calls === 0;
  const clients = world.options.clients === 'none' ? [] : clientFiles(first);
  const backups: Backup[] = [];
  let pid = 61_000;
  /** What waits to be placed, by its name. */
  const drafts = new Map<string, T.ServerDraft>();

  function* places(): Generator<Placed> {
    for (const client of clients)
      for (const file of client.files)
        for (const entry of file.entries) yield { client, file, entry, key: keyOf(client, file, entry) };
  }
  const find = (key: T.EntryKey) => [...places()].find((one) => same(one.key, key));

  function keep(client: FakeClient, file: FakeFile, ago = 0): void {
    backups.unshift({
      id: `b${backups.length + 1}`,
      client: client.id,
      clientName: client.name,
      shown: file.shown,
      path: file.path,
      atMs: world.now() - ago,
      bytes: text(file, file.entries).length,
      current: false,
      entries: structuredClone(file.entries),
    });
  }
  if (!first) {
    for (const [at, client] of clients.filter((one) => one.files[0]!.entries.length > 0).entries()) {
      const file = client.files[0]!;
      const now = file.entries;
      file.entries = now.map((entry) => ({ ...entry, gated: false }));
      keep(client, file, (9 + at * 31) * 3_600_000);
      file.entries = now;
      if (client.id === 'claude-desktop') keep(client, file, 3 * 3_600_000);
    }
    backups.sort((a, b) => b.atMs - a.atMs);
  }

  function write(client: FakeClient, file: FakeFile, changes: Change[]): void {
    if (changes.length === 0) return;
    keep(client, file);
    for (const { entry, act } of changes) {
      if (act === 'place') file.entries.push(entry);
      entry.gated = act !== 'unprotect';
      file.lost = file.lost.filter((name) => name !== entry.name);
      file.fresh = file.fresh.filter((name) => name !== entry.name);
      file.back = file.back.filter((name) => name !== entry.name);
    }
    if (client.running) client.stale = true;
  }

  /** What waited. A file that comes back has other entries: it comes first. */
  function flush(client: FakeClient): void {
    for (const { backup: id } of client.restores) putBack(id);
    client.restores = [];
    for (const file of client.files)
      write(
        client,
        file,
        client.queued.flatMap(({ act, entry: key }): Change[] => {
          const draft = drafts.get(key.name);
          if (act === 'place') return draft && key.path === file.path ? [{ entry: entryOf(draft), act }] : [];
          const entry = file.entries.find((one) => same(keyOf(client, file, one), key));
          return entry ? [{ entry, act }] : [];
        }),
      );
    client.queued = [];
  }

  function theClient(id: string): FakeClient {
    const client = clients.find((one) => one.id === id);
    if (!client) throw gone(`The client ${id}`);
    return client;
  }

  function quit(id: string): void {
    const client = theClient(id);
    if (client.running) client.running = false;
    client.stale = false;
    for (const session of world.sessions)
      if (session.client === id && session.endedMs === null) {
        session.endedMs = world.now();
        session.end = 'client_closed';
      }
    flush(client);
  }

  function start(id: string): void {
    const client = theClient(id);
    if (client.running !== null) client.running = true;
    for (const { entry } of [...places()].filter((one) => one.client === client && one.entry.gated)) {
      const name = entry.server;
      if (name === null) continue;
      // The same program under another name at the gate.
      const like = world.server(name) ?? world.server(entry.name);
      if (!like) continue;
      if (like.name !== name) world.servers.push({ ...like, name, command: [entry.command, ...entry.args] });
      world.begin(name, id, world.now(), null, (pid += 7));
    }
  }

  const backup = (id: string): Backup => {
    const found = backups.find((one) => one.id === id);
    if (!found) throw gone('This backup');
    return found;
  };
  const fileOf = (one: Backup): { client: FakeClient; file: FakeFile } => {
    const client = theClient(one.client);
    const file = client.files.find(({ path }) => path === one.path);
    if (!file) throw gone(one.shown);
    return { client, file };
  };

  function putBack(id: string): void {
    const { entries } = backup(id);
    const { client, file } = fileOf(backup(id));
    keep(client, file);
    file.entries = structuredClone(entries);
    file.lost = [];
    if (client.running) client.stale = true;
  }

  return {
    clients,
    backups,
    drafts,
    places,
    find,
    keep,
    write,
    flush,
    theClient,
    quit,
    start,
    backup,
    fileOf,
    putBack,
  };
}
