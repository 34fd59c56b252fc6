// Servers of one's own on the made-up machine: what was typed, understood and checked as the real one does it.
import type * as T from '../backend';
import type { FakeEntry } from './clientfiles';

/** The words of a line; a text: what is wrong with it. */
export function words(line: string): string[] | string {
  const found: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (const c of line) {
    if (c === quote) quote = null;
    else if (quote === null && (c === '"' || c === "'")) [quote, word] = [c, word ?? ''];
    else if (quote === null && /\s/.test(c)) {
      if (word !== null) found.push(word);
      word = null;
    } else word = (word ?? '') + c;
  }
  if (quote !== null) return 'a quote is not closed';
  return word === null ? found : [...found, word];
}

const secretName = /(TOKEN|SECRET|PASSWORD|API_?KEY)$/i;
const secretLooks = /^(ghp_|sk-|xoxb-|AKIA)/;

export function looksSecret(draft: T.ServerDraft): string[] {
  const open = draft.variables.filter((one) => !one.secret && one.value.length >= 6);
  return open.filter((one) => secretName.test(one.name) || secretLooks.test(one.value)).map((one) => one.name);
}

/** `own`: names that are taken, with what they start. */
export function problemOf(draft: T.ServerDraft, own: ReadonlyMap<string, string[]>): T.DraftProblem | null {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/.test(draft.name))
    return {
      part: 'name',
      words:
        "a server's name has letters, digits, - and _, begins with a letter or a digit, and has at most 40 characters: clients make the names of tools of it",
    };
  const command = words(draft.command);
  if (typeof command === 'string') return { part: 'command', words: command };
  if (command.length === 0) return { part: 'command', words: 'there is no program to start' };
  const names = draft.variables.map((one) => one.name);
  if (names.some((name) => !/^[A-Za-z_]\w*$/.test(name)))
    return {
      part: 'variables',
      words: "a variable's name has letters, digits and _, and does not begin with a digit",
    };
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return { part: 'variables', words: `${twice} is given twice` };
  const taken = own.get(draft.name);
  if (taken && taken.join('\0') !== command.join('\0'))
    return {
      part: 'name',
      words: `~/.callgate/servers.json has another server called ${draft.name}. Choose another name, or take that one out: callgate remove ${draft.name}`,
    };
  return null;
}

/** Its entry in a client's file, behind the gate. */
export function entryOf(draft: T.ServerDraft): FakeEntry {
  const command = words(draft.command);
  const [program = '', ...args] = typeof command === 'string' ? [] : command;
  const value = (one: T.DraftVariable) =>
    one.secret ? `keychain://callgate/9f2c41d07be3a586/${one.name}` : '<masked>';
  return {
    name: draft.name,
    project: null,
    server: draft.name,
    command: program,
    args,
    url: null,
    env: Object.fromEntries(draft.variables.map((one) => [one.name, value(one)])),
    gated: true,
    why: null,
    answers: { says: `${draft.name} 1.0.0`, tools: 4 },
  };
}
