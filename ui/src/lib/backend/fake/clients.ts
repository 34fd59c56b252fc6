// Clients of the made-up machine. It acts as the real one does: what a running Claude Desktop would write over waits until it
// has quit, and a client that runs goes on with the old configuration until it is started again.
import type { Backend } from '../backend';
import type * as T from '../backend';
import { keyOf, type FakeClient } from './clientfiles';
import { clientMachine, gone, runs, same, type Placed } from './clientmachine';
import { driftOf, text } from './clienttext';
import { unified } from './jsonc';
import { fakePlacing } from './placing';
import { fakeSecrets, namesOf } from './secrets';
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
  | 'previewRemoval'
  | 'removeServer'
  | 'restoreServer'
  | 'purgeCopies'
>;

export interface FakeClients extends Clients {
  /** Behind the window, for tests: what a person does in a client itself. */
  readonly machine: {
    clients: FakeClient[];
    quit: (id: string) => void;
    start: (id: string) => void;
  };
}

const quitMs = 500;
const startMs = 700;
const testMs = 600;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export function fakeClients(world: World): FakeClients {
  const machine = clientMachine(world);
  const { clients, backups, places, find, keep, write, flush, theClient, quit, start, backup, fileOf, putBack } =
    machine;

  /** Chosen entries, or all that the act can apply to; what stays as it is, with why. */
  function plan(act: T.ClientAct, keys: T.EntryKey[]) {
    const chosen: Placed[] = [];
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

  return {
    machine: { clients, quit, start },

    async clients() {
      return clients.map(({ files, queued, restores, ...client }) => ({
        ...client,
        queued: [...queued],
        restores: [...restores],
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
            added: world.own.has(entry.name) && machine.drafts.has(entry.name),
          })),
          drift: driftOf(theClient(client.id), file),
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
        if (!file) continue;
        file.edited = file.edited.filter((name) => name !== key.name);
        file.back = file.back.filter((name) => name !== key.name);
      }
    },

    async dropQueued(id, entries) {
      const client = theClient(id);
      const meant = (key: T.EntryKey) => entries.length === 0 || entries.some((one) => same(one, key));
      client.queued = client.queued.filter((queued) => !meant(queued.entry));
      if (entries.length === 0) client.restores = [];
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
      const { client, file } = fileOf(backup(id));
      client.restores = client.restores.filter(({ path }) => path !== file.path);
      if (client.waits && client.running && !now) {
        client.restores.push({ backup: id, path: file.path, shown: file.shown, sinceMs: world.now() });
        return 'waits';
      }
      putBack(id);
      return 'done';
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

    async testServer(key) {
      const { entry } = find(key) ?? {};
      if (!entry) throw gone(`The entry ${key.name}`);
      await wait(testMs);
      return typeof entry.answers === 'string'
        ? { says: null, tools: null, problem: entry.answers }
        : { ...entry.answers, problem: null };
    },

    ...fakePlacing(world, machine),
    ...fakeSecrets(world, {
      find: (key) => {
        const found = find(key);
        if (!found) throw gone(`The entry ${key.name}`);
        return found;
      },
      text: ({ client, file }, entries) => text(file, entries, client.id),
      keep: ({ client, file }) => keep(client, file),
      backups,
    }),
  };
}
