// Clients of the made-up machine. It acts as the real one does: what a running Claude Desktop would write over waits until it
// has quit, and a client that runs goes on with the old configuration until it is started again.
import { BackendError, type Backend } from '../backend';
import type * as T from '../backend';
import { clientFiles, type FakeClient, type FakeEntry, type FakeFile } from './clientfiles';
import { unified } from './jsonc';
import { fakeSecrets, namesOf, written } from './secrets';
import { entryOf, looksSecret, problemOf } from './own';
import type { World } from './world';

type Clients = Pick<
  Backend,
  | 'clients'
  | 'previewClients'
  | 'changeClients'
  | 'leaveOpen'
  | 'takeNote'
  | 'dropQueued'
  | 'clientBackups'
  | 'previewBackup'
  | 'restoreBackup'
  | 'repairFile'
  | 'reopenClient'
  | 'testServer'
  | 'previewSecrets'
  | 'changeSecrets'
  | 'serverPlaces'
  | 'previewServer'
  | 'addServer'
>;

interface Backup extends T.BackupView {
  path: string;
  entries: FakeEntry[];
}

interface Change {
  entry: FakeEntry;
  act: T.ClientAct;
}

export interface FakeClients extends Clients {
  /** Behind the window, for tests: what a person does in a client itself. */
  readonly machine: {
    clients: FakeClient[];
    quit: (id: string) => void;
    start: (id: string) => void;
  };
}

const program = '/home/ada/.callgate/bin/callgate';
const quitMs = 500;
const startMs = 700;
const testMs = 600;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export function fakeClients(world: World): FakeClients {
  const first = world.options.calls === 0;
  const clients = world.options.clients === 'none' ? [] : clientFiles(first);
  const backups: Backup[] = [];
  let pid = 61_000;
  /** What waits to be placed, by its name. */
  const drafts = new Map<string, T.ServerDraft>();

  const keyOf = (client: FakeClient, file: FakeFile, entry: FakeEntry): T.EntryKey => ({
    client: client.id,
    path: file.path,
    project: entry.project,
    name: entry.name,
  });
  const gone = (what: string) =>
    new BackendError({ code: 'notFound', message: `${what} is not there any more. Look again.`, detail: null });

  const runs = (client: FakeClient) =>
    new BackendError({
      code: 'conflict',
      message: `${client.name} runs and would write over it; nothing was written. Quit it and try again.`,
      detail: null,
    });

  function* places(): Generator<{ client: FakeClient; file: FakeFile; entry: FakeEntry; key: T.EntryKey }> {
    for (const client of clients)
      for (const file of client.files)
        for (const entry of file.entries) yield { client, file, entry, key: keyOf(client, file, entry) };
  }
  const same = (a: T.EntryKey, b: T.EntryKey) =>
    a.client === b.client && a.path === b.path && a.project === b.project && a.name === b.name;
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

  /** Chosen entries, or all that the act can apply to; what stays as it is, with why. */
  function plan(act: T.ClientAct, keys: T.EntryKey[]) {
    const chosen: { client: FakeClient; file: FakeFile; entry: FakeEntry; key: T.EntryKey }[] = [];
    const refused: T.RefusedEntry[] = [];
    const wanted = keys.length > 0 ? keys.map((key) => find(key) ?? key) : [...places()];
    for (const one of wanted) {
      if (!('entry' in one)) {
        refused.push({ clientName: one.client, name: one.name, why: 'it is not there any more' });
        continue;
      }
      const { client, entry } = one;
      if (entry.why !== null) {
        if (act === 'protect') refused.push({ clientName: client.name, name: entry.name, why: entry.why });
      } else if (entry.gated === (act === 'protect')) {
        if (keys.length > 0) refused.push({ clientName: client.name, name: entry.name, why: `it is ${act}ed already` });
      } else chosen.push(one);
    }
    if (keys.length === 0)
      for (const client of clients)
        for (const file of client.files)
          if (file.problem !== null) refused.push({ clientName: client.name, name: null, why: file.problem });
    return { chosen, refused };
  }

  function write(client: FakeClient, file: FakeFile, changes: Change[]): void {
    if (changes.length === 0) return;
    keep(client, file);
    for (const { entry, act } of changes) {
      if (act === 'place') file.entries.push(entry);
      entry.gated = act !== 'unprotect';
      file.lost = file.lost.filter((name) => name !== entry.name);
      file.fresh = file.fresh.filter((name) => name !== entry.name);
    }
    if (client.running) client.stale = true;
  }

  function flush(client: FakeClient): void {
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

  const taken = 'another server of this name is there already; choose another name';
  /** The files that a server is to be placed in. */
  const targets = (draft: T.ServerDraft): { client: FakeClient; file: FakeFile }[] =>
    clients
      .filter((client) => draft.clients.includes(client.id))
      .flatMap((client) => (client.files[0] ? [{ client, file: client.files[0] }] : []));

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

  return {
    machine: { clients, quit, start },

    async clients() {
      return clients.map(({ files, queued, ...client }) => ({
        ...client,
        queued: [...queued],
        files: files.map((file) => ({
          path: file.path,
          shown: file.shown,
          problem: file.problem,
          repairable: file.repairable,
          notes: file.notes,
          entries: file.entries.map((entry) => ({
            key: keyOf(theClient(client.id), file, entry),
            state:
              entry.why !== null ? ('notCoverable' as const) : entry.gated ? ('protected' as const) : ('open' as const),
            server: entry.gated ? entry.server : null,
            command: entry.url ?? [entry.command, ...entry.args].join(' '),
            why: entry.why,
            secrets: namesOf(entry),
          })),
          drift: driftOf(theClient(client.id), file, keyOf),
          backups: backups.filter((one) => one.path === file.path).length,
        })),
      }));
    },

    async previewClients(act, entries) {
      const { chosen, refused } = plan(act, entries);
      const files: T.FileDiff[] = [];
      for (const client of clients)
        for (const file of client.files) {
          const names = chosen.filter((one) => one.file === file);
          if (names.length === 0) continue;
          const after = file.entries.map((entry) =>
            names.some((one) => one.entry === entry) ? { ...entry, gated: act === 'protect' } : entry,
          );
          files.push({
            client: client.id,
            clientName: client.name,
            shown: file.shown,
            diff: unified(text(file, file.entries, client.id), text(file, after, client.id)),
            entries: names.map((one) => one.entry.name),
          });
        }
      return { files, refused };
    },

    async changeClients(act, entries, now) {
      if (act === 'place') {
        for (const client of clients.filter((one) => entries.some((key) => key.client === one.id))) flush(client);
        return { act, done: entries, waiting: [], refused: [], left: [] };
      }
      const { chosen, refused } = plan(act, entries);
      const done: T.EntryKey[] = [];
      const waiting: T.EntryKey[] = [];
      for (const client of clients) {
        const mine = chosen.filter((one) => one.client === client);
        if (mine.length === 0) continue;
        client.queued = client.queued.filter((queued) => !mine.some((one) => same(one.key, queued.entry)));
        if (client.waits && client.running && !now) {
          client.queued.push(...mine.map(({ key }) => ({ act, byItself: false, entry: key, sinceMs: world.now() })));
          waiting.push(...mine.map(({ key }) => key));
          continue;
        }
        for (const file of client.files)
          write(
            client,
            file,
            mine.filter((one) => one.file === file).map(({ entry }) => ({ entry, act })),
          );
        done.push(...mine.map(({ key }) => key));
      }
      return { act, done, waiting, refused, left: [] };
    },

    async leaveOpen(entries) {
      for (const key of entries) {
        const file = find(key)?.file;
        if (!file) continue;
        file.lost = file.lost.filter((name) => name !== key.name);
        file.fresh = file.fresh.filter((name) => name !== key.name);
      }
    },

    async takeNote(entries) {
      for (const key of entries) {
        const file = find(key)?.file;
        if (file) file.edited = file.edited.filter((name) => name !== key.name);
      }
    },

    async dropQueued(id, entries) {
      const client = theClient(id);
      const meant = (key: T.EntryKey) => entries.length === 0 || entries.some((one) => same(one, key));
      client.queued = client.queued.filter((queued) => !meant(queued.entry));
    },

    async clientBackups() {
      return backups.map(({ entries, path: _, ...view }) => {
        const { client, file } = fileOf({ ...view, entries, path: _ });
        return { ...view, current: text(file, entries, client.id) === text(file, file.entries, client.id) };
      });
    },

    async previewBackup(id) {
      const { entries } = backup(id);
      const { client, file } = fileOf(backup(id));
      const diff = unified(text(file, file.entries, client.id), text(file, entries, client.id));
      return { diff, warning: null };
    },

    async restoreBackup(id, now) {
      const { entries } = backup(id);
      const { client, file } = fileOf(backup(id));
      if (client.waits && client.running && !now) throw runs(client);
      keep(client, file);
      file.entries = structuredClone(entries);
      file.lost = [];
      if (client.running) client.stale = true;
    },

    async repairFile(id, path, now) {
      const client = theClient(id);
      const file = client.files.find((one) => one.path === path);
      if (!file?.repairable) throw gone(path);
      if (client.waits && client.running && !now) throw runs(client);
      keep(client, file);
      file.problem = null;
      file.repairable = false;
    },

    async reopenClient(id) {
      theClient(id);
      await wait(quitMs);
      quit(id);
      await wait(startMs);
      start(id);
    },

    async serverPlaces() {
      const found = clients.map(({ id, name, files: [first] }) => ({
        client: id,
        clientName: name,
        shown: first!.shown,
        newFile: false,
        problem: first!.problem,
      }));
      if (clients.length === 0) return [];
      return [
        ...found,
        { client: 'codex', clientName: 'Codex', shown: '~/.codex/config.toml', newFile: true, problem: null },
      ];
    },

    async previewServer(draft) {
      const nothing: T.ClientPreview = { files: [], refused: [] };
      const problem = problemOf(draft, world.own);
      if (problem) return { problem, looksSecret: [], edits: nothing };
      const entry = entryOf(draft);
      const list = (names: Iterable<string>) =>
        JSON.stringify({ mcpServers: Object.fromEntries([...names].map((one) => [one, {}])) }, null, 2);
      const edits: T.ClientPreview = { files: [], refused: [] };
      for (const { client, file } of targets(draft)) {
        if (file.entries.some((one) => one.name === draft.name))
          edits.refused.push({ clientName: client.name, name: draft.name, why: taken });
        else
          edits.files.push({
            client: client.id,
            clientName: client.name,
            shown: file.shown,
            diff: unified(text(file, file.entries, client.id), text(file, [...file.entries, entry], client.id)),
            entries: [draft.name],
          });
      }
      edits.files.push({
        client: 'callgate',
        clientName: "Callgate's own list",
        shown: '~/.callgate/servers.json',
        diff: unified(list(world.own.keys()), list([...world.own.keys(), draft.name])),
        entries: [draft.name],
      });
      return { problem: null, looksSecret: looksSecret(draft), edits };
    },

    async addServer(draft) {
      const problem = problemOf(draft, world.own);
      if (problem)
        throw new BackendError({ code: 'badInput', message: `${problem.words}; nothing was added`, detail: null });
      const change: T.ClientChange = { act: 'place', done: [], waiting: [], refused: [], left: [] };
      const entry = entryOf(draft);
      world.own.set(draft.name, [entry.command, ...entry.args]);
      drafts.set(draft.name, draft);
      for (const { client, file } of targets(draft)) {
        const key = keyOf(client, file, entry);
        if (file.entries.some((one) => one.name === draft.name))
          change.refused.push({ clientName: client.name, name: draft.name, why: taken });
        else if (client.waits && client.running) {
          client.queued.push({ act: 'place', byItself: false, entry: key, sinceMs: world.now() });
          change.waiting.push(key);
        } else {
          write(client, file, [{ entry: structuredClone(entry), act: 'place' }]);
          change.done.push(key);
        }
      }
      return change;
    },

    async testServer(key) {
      const { entry } = find(key) ?? {};
      if (!entry) throw gone(`The entry ${key.name}`);
      await wait(testMs);
      return typeof entry.answers === 'string'
        ? { says: null, tools: null, problem: entry.answers }
        : { ...entry.answers, problem: null };
    },

    ...fakeSecrets(world, {
      find: (key) => {
        const found = find(key);
        if (!found) throw gone(`The entry ${key.name}`);
        return found;
      },
      text: ({ client, file }, entries) => text(file, entries, client.id),
      keep: ({ client, file }) => keep(client, file),
    }),
  };
}

function driftOf(
  client: FakeClient,
  file: FakeFile,
  keyOf: (client: FakeClient, file: FakeFile, entry: FakeEntry) => T.EntryKey,
): T.DriftView[] {
  const keys = (name: string) =>
    file.entries.filter((entry) => entry.name === name).map((entry) => keyOf(client, file, entry));
  return [
    ...file.lost.map((name) => ({
      words: `${name} lost its gate: ${client.name} starts it by itself again, and its calls are not seen.`,
      serious: true,
      fix: { kind: 'protect' as const, entries: keys(name) },
    })),
    ...file.fresh.map((name) => ({
      words: `${name} is new and not protected.`,
      serious: false,
      fix: { kind: 'protect' as const, entries: keys(name) },
    })),
    ...file.edited.map((name) => ({
      words: `${name} was edited; it is behind the gate`,
      serious: false,
      fix: { kind: 'takeNote' as const, entries: keys(name) },
    })),
  ];
}

/** The file as it stands on the disk. */
function text(file: FakeFile, entries: readonly FakeEntry[], client = 'claude-desktop'): string {
  const body = (entry: FakeEntry) => {
    if (entry.url !== null) return { url: entry.url };
    const of = (place: T.SecretPlace) => entry.secrets.filter((secret) => secret.place === place);
    const variables = { ...entry.env, ...Object.fromEntries(of('variable').map((one) => [one.name, written(one)])) };
    const env = Object.keys(variables).length > 0 ? { env: variables } : {};
    // A secret among the arguments follows its flag.
    const args = entry.args.map((arg, at) => {
      const secret = of('argument').find(({ name }) => entry.args[at - 1] === `--${name}`);
      return secret ? written(secret) : arg;
    });
    if (!entry.gated) return { command: entry.command, args, ...env };
    const gate = ['run', '--server', entry.server ?? entry.name, '--client', client, '--'];
    return { command: program, args: [...gate, entry.command, ...args], ...env };
  };
  const block = (project: string | null) =>
    Object.fromEntries(entries.filter((entry) => entry.project === project).map((entry) => [entry.name, body(entry)]));
  const projects = [...new Set(entries.map((entry) => entry.project).filter((one) => one !== null))];
  return `${JSON.stringify(
    {
      mcpServers: block(null),
      ...(projects.length > 0
        ? { projects: Object.fromEntries(projects.map((one) => [one, { mcpServers: block(one) }])) }
        : {}),
      ...file.rest,
    },
    null,
    2,
  )}\n`;
}
