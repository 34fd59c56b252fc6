// What acts on clients' files did or will do, in words.
import type {
  ClientAct,
  ClientChange,
  ClientView,
  EntryKey,
  RefusedEntry,
  SecretsAct,
  SecretsChange,
  ServerTest,
} from '../backend';
import { count } from '../format';
import type { Tally } from './entries';

const most = 3;

/** "a", "a and b", "a, b and 4 more". */
export function listed(names: readonly string[], shown = most): string {
  if (names.length <= 1) return names[0] ?? '';
  const head = names.length > shown ? names.slice(0, shown - 1) : names.slice(0, -1);
  const rest = names.length - head.length;
  return `${head.join(', ')} and ${rest === 1 ? names.at(-1) : `${rest} more`}`;
}

/** Names within a sentence. A server may be called "everything": quotes keep it from being read as the word. */
export const quoted = (names: readonly string[], shown = most): string =>
  listed(
    [...new Set(names)].map((name) => `“${name}”`),
    shown,
  );

/** The client's name, or its id where it is not there any more. */
export const clientName = (views: readonly ClientView[], id: string): string =>
  views.find((view) => view.id === id)?.name ?? id;

function byClient(views: readonly ClientView[], keys: readonly EntryKey[]): { name: string; servers: string[] }[] {
  const found = new Map<string, string[]>();
  for (const key of keys) found.set(key.client, [...(found.get(key.client) ?? []), key.name]);
  return [...found].map(([id, servers]) => ({ name: clientName(views, id), servers }));
}

export const did: Record<ClientAct, string> = { protect: 'Protected', unprotect: 'Unprotected', place: 'Placed' };

/** "Protected “files” and “github” in Claude Desktop." */
export function doneWords(views: readonly ClientView[], change: ClientChange): string {
  const parts = byClient(views, change.done).map(({ name, servers }) => `${quoted(servers)} in ${name}`);
  return `${did[change.act]} ${parts.join('; ')}.`;
}

/** "To be protected when Claude Desktop has quit: “files” and “github”." */
export function waitingWords(views: readonly ClientView[], change: ClientChange): string {
  const parts = byClient(views, change.waiting).map(({ name, servers }) => `when ${name} has quit: ${quoted(servers)}`);
  return `To be ${did[change.act].toLowerCase()} ${parts.join('; ')}.`;
}

/** "To be restored when Claude Desktop has quit: ~/.config/Claude/…". */
export const restoresLater = (client: string, shown: string): string =>
  `To be restored when ${client} has quit: ${shown}.`;

/** "“github” in Claude Desktop: it is …". */
export const refusedWords = (refused: RefusedEntry): string =>
  `${refused.name === null ? refused.clientName : `${quoted([refused.name])} in ${refused.clientName}`}: ${refused.why}`;

/** "3 clients, 7 servers: 2 protected, 4 not protected, 1 not coverable". */
export function tallyWords(all: Tally): string {
  const parts = [
    all.protected > 0 ? `${all.protected} protected` : '',
    all.open > 0 ? `${all.open} not protected` : '',
    all.notCoverable > 0 ? `${all.notCoverable} not coverable` : '',
  ].filter(Boolean);
  const head = `${count(all.clients, 'client')}, ${count(all.servers, 'server')}`;
  return parts.length > 0 ? `${head}: ${parts.join(', ')}` : head;
}

/** "answers: playwright 1.2.3, 21 tools". */
export function testWords(test: ServerTest): string {
  const said = [test.says ?? '', test.tools === null ? '' : count(test.tools, 'tool')].filter(Boolean);
  return said.length > 0 ? `answers: ${said.join(', ')}` : 'answers';
}

/** "Moved 2 secrets of “github” into the keychain." */
export function secretsDone(act: SecretsAct, entry: EntryKey, change: SecretsChange): string {
  const name = quoted([entry.name]);
  const secrets = `${count(change.names.length, 'secret')} of ${name}`;
  if (act === 'rebind') return `The secrets of ${name} are for the command that it has now.`;
  if (act === 'move') return `Moved ${secrets} into the keychain.`;
  if (change.left.length === 0) return `Put ${secrets} back into the file.`;
  return `Put ${secrets} back into the file. Still in the keychain, until you remove it there: ${listed(change.left)}.`;
}

export const notQuitting = 'Closing its window is not quitting: quit it from its menu or its icon in the tray.';

/** Such a client takes a change up by itself. Its row in the table of clients says it with these words; a test holds them. */
const byItself = 'Nothing to do:';
export const takesUpByItself = (view: ClientView): boolean => view.reload.startsWith(byItself);

/** What a person does next, for each client whose file was written: "Cursor: Quit and restart …". */
export function nextSteps(views: readonly ClientView[], ids: readonly string[]): string[] {
  return [...new Set(ids)].flatMap((id) => {
    const view = views.find((one) => one.id === id);
    if (!view) return [];
    if (view.running === false) return [`${view.name}: It counts from its next start on.`];
    return view.reload === '' ? [] : [`${view.name}: ${view.reload}`];
  });
}
