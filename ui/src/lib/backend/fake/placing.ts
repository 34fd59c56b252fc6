// Servers of one's own, added on the made-up machine and placed in clients' files.
import { BackendError, type Backend } from '../backend';
import type * as T from '../backend';
import { keyOf, type FakeClient, type FakeFile } from './clientfiles';
import type { ClientMachine } from './clientmachine';
import { text } from './clienttext';
import { unified } from './jsonc';
import { entryOf, looksSecret, problemOf } from './own';
import type { World } from './world';

type Placing = Pick<
  Backend,
  'serverPlaces' | 'previewServer' | 'addServer' | 'previewRemoval' | 'removeServer' | 'restoreServer'
>;

const taken = 'another server of this name is there already; choose another name';

export function fakePlacing(world: World, { clients, drafts, write }: ClientMachine): Placing {
  /** The files that a server is to be placed in. */
  const targets = (draft: T.ServerDraft): { client: FakeClient; file: FakeFile }[] =>
    clients
      .filter((client) => draft.clients.includes(client.id))
      .flatMap((client) => (client.files[0] ? [{ client, file: client.files[0] }] : []));

  const list = (names: Iterable<string>) =>
    JSON.stringify({ mcpServers: Object.fromEntries([...names].map((one) => [one, {}])) }, null, 2);
  /** Where a server is that was added here. */
  const places = (name: string) => {
    if (!world.own.has(name))
      throw new BackendError({
        code: 'notFound',
        message: `no server ${name} was added to Callgate here`,
        detail: null,
      });
    return clients.flatMap((client) =>
      client.files
        .filter((file) => file.entries.some((entry) => entry.name === name))
        .map((file) => ({ client, file })),
    );
  };
  const secretsOf = (name: string) =>
    (drafts.get(name)?.variables ?? []).filter(({ secret }) => secret).map((one) => one.name);
  let removed: T.ServerDraft | null = null;

  const own: Placing = {
    async previewRemoval(name) {
      const files = places(name).map(({ client, file }) => {
        const left = file.entries.filter((entry) => entry.name !== name);
        const diff = unified(text(file, file.entries, client.id), text(file, left, client.id));
        return { client: client.id, clientName: client.name, shown: file.shown, diff, entries: [name] };
      });
      const others = [...world.own.keys()].filter((one) => one !== name);
      files.push({
        client: 'callgate',
        clientName: "Callgate's own list",
        shown: '~/.callgate/servers.json',
        diff: unified(list(world.own.keys()), list(others)),
        entries: [name],
      });
      const running = places(name)
        .filter(({ client }) => client.waits && client.running)
        .map(({ client }) => client.name);
      return { edits: { files, refused: [] }, secrets: secretsOf(name), stays: [], running };
    },

    async removeServer(name, now) {
      const from = places(name);
      const runs = from.find(({ client }) => client.waits && client.running);
      if (runs && !now)
        throw new BackendError({
          code: 'conflict',
          message: `${runs.client.name} runs and would write it back; nothing was removed. ${runs.client.reload}`,
          detail: null,
        });
      for (const { file } of from) file.entries = file.entries.filter((entry) => entry.name !== name);
      const draft = secretsOf(name).length === 0 ? (drafts.get(name) ?? null) : null;
      removed = draft && { ...draft, clients: from.map(({ client }) => client.id) };
      world.own.delete(name);
      drafts.delete(name);
      return {
        from: [...from.map(({ client }) => client.name), "Callgate's own list"],
        refused: [],
        left: [],
        next: from.map(({ client }) => client.reload),
        undoUntilMs: draft ? world.now() + 10_000 : null,
      };
    },

    async restoreServer() {
      const draft = removed!;
      removed = null;
      return own.addServer(draft);
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
  };
  return own;
}
