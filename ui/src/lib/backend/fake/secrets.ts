// Secrets of the made-up machine's entries, and a keychain that takes a moment, or is not there.
import { BackendError, type Backend } from '../backend';
import type * as T from '../backend';
import type { FakeClient, FakeEntry, FakeFile, FakeSecret } from './clientfiles';
import { unified } from './jsonc';
import type { World } from './world';

type Secrets = Pick<Backend, 'previewSecrets' | 'changeSecrets' | 'purgeCopies'>;

interface Place {
  client: FakeClient;
  file: FakeFile;
  entry: FakeEntry;
}

/** What the machine lends: where an entry is, how its file reads with other entries, and a copy before an edit. */
interface Machine {
  find: (key: T.EntryKey) => Place;
  text: (place: Place, entries: readonly FakeEntry[]) => string;
  keep: (place: Place) => void;
  /** Copies of files, with the entries in them. */
  backups: { entries: FakeEntry[] }[];
}

const keychainMs = 400;

/** By name, as the window shows them. */
export const namesOf = (entry: FakeEntry): T.EntrySecrets => ({
  plain: entry.secrets.filter(({ kept }) => !kept).map(({ name }) => name),
  kept: entry.secrets.filter(({ kept }) => kept).map(({ name }) => name),
  unbound: entry.unbound && entry.secrets.some(({ kept }) => kept),
});

/** What stands in the file. */
export const written = ({ name, kept, length }: FakeSecret): string =>
  kept ? `keychain://callgate/…/${name}` : `[masked, ${length} characters]`;

export function fakeSecrets(world: World, machine: Machine): Secrets {
  const sorry = (code: T.ErrorCode, message: string) => new BackendError({ code, message, detail: null });
  const concerned = (act: T.SecretsAct, entry: FakeEntry) =>
    entry.secrets.filter(({ kept }) => kept === (act !== 'move'));
  const after = (act: T.SecretsAct, entry: FakeEntry, only: string[] | null): FakeEntry => ({
    ...entry,
    unbound: act === 'putBack' || act === 'rebind' ? false : entry.unbound,
    secrets: entry.secrets.map((one) => ({
      ...one,
      kept: act === 'putBack' ? false : one.kept || (act === 'move' && (only?.includes(one.name) ?? true)),
    })),
  });

  const keychain = async () => {
    await new Promise((resolve) => setTimeout(resolve, keychainMs));
    if (world.options.keychain === 'none')
      throw sorry(
        'failed',
        'no keychain can be reached here (there is no session bus). Start GNOME Keyring, KWallet or KeePassXC and try again. Nothing was changed.',
      );
  };

  return {
    async purgeCopies() {
      await keychain();
      const holding = machine.backups.filter(({ entries }) =>
        entries.some((entry) => entry.secrets.some(({ kept }) => !kept)),
      );
      for (const copy of holding)
        copy.entries = copy.entries.map((entry) => ({
          ...entry,
          secrets: entry.secrets.map((one) => ({ ...one, kept: true })),
        }));
      return { rewritten: holding.length, problems: [] };
    },

    async previewSecrets(act, key, only) {
      const place = machine.find(key);
      const { client, file, entry } = place;
      if (act === 'move' && !entry.gated)
        throw sorry(
          'failed',
          'it is not behind the gate, which is what would put the values back in place when the server starts. Protect it first',
        );
      const then = file.entries.map((one) => (one === entry ? after(act, entry, only) : one));
      return {
        clientName: client.name,
        shown: file.shown,
        command: [entry.command, ...entry.args].join(' '),
        secrets: concerned(act, entry).map(({ name, place, length, kept }) => ({
          name,
          place,
          length: kept ? null : length,
        })),
        diff: act === 'rebind' ? '' : unified(machine.text(place, file.entries), machine.text(place, then)),
      };
    },

    async changeSecrets(act, key, only, now) {
      const place = machine.find(key);
      const { client, entry } = place;
      if (client.waits && client.running && !now)
        throw sorry(
          'conflict',
          `${client.name} runs and would write its own copy over it; nothing was changed. ${client.reload}`,
        );
      await keychain();
      const names = concerned(act, entry)
        .map(({ name }) => name)
        .filter((name) => act !== 'move' || (only?.includes(name) ?? true));
      if (act !== 'rebind') machine.keep(place);
      Object.assign(entry, after(act, entry, only));
      return { names: act === 'rebind' ? [] : names, left: [] };
    },
  };
}
