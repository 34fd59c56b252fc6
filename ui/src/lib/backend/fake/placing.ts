// Servers of one's own, added on the made-up machine and placed in clients' files.
import { BackendError, type Backend } from '../backend';
import type * as T from '../backend';
import { keyOf, type FakeClient, type FakeFile } from './clientfiles';
import type { ClientMachine } from './clientmachine';
import { text } from './clienttext';
import { unified } from './jsonc';
import { entryOf, looksSecret, problemOf } from './own';
import type { World } from './world';

type Placing = Pick<Backend, 'serverPlaces' | 'previewServer' | 'addServer'>;

const taken = 'another server of this name is there already; choose another name';

export function fakePlacing(world: World, { clients, drafts, write }: ClientMachine): Placing {
  /** The files that a server is to be placed in. */
  const targets = (draft: T.ServerDraft): { client: FakeClient; file: FakeFile }[] =>
    clients
      .filter((client) => draft.clients.includes(client.id))
      .flatMap((client) => (client.files[0] ? [{ client, file: client.files[0] }] : []));

  return {
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
  };
}
