// What the real desk says, written down for component tests: `node bridge/record.mjs` asks it in two worlds and writes
// `src/testing/recordings`. What differs from time to time (clocks, numbers of processes, names drawn by lot) is made the same, so
// that a new recording differs only where the desk does.
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { long, record as recordTest } from './past.mjs';
import { programs, World } from './world.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const minute = 60_000;
/** Times are told to this: more than a recording takes. */
const step = 10 * minute;
/** The moment of every recording (`src/testing/desk.ts`). */
const recordedMs = Date.UTC(2026, 0, 5, 12);
/** What no two recordings have in common. */
const measured = { cpuPercent: 1.5, memoryBytes: 48_000_000, usedBytes: 1_200_000, durationUs: 1_200 };

/** Of all that a policy can say of one server: for all tools, for one client, and more than a form can hold. */
const detailed = `{
  "version": "1",
  // What is said here is said for a test.
  "default": "allow",
  "all_tools": { "limits": [{ "counter": "all", "window": "minute", "max": 120 }] },
  "tools": {
    "slack_post_message": { "action": "deny", "reason": "not here" },
    "slack_get_channel_history": { "limits": [{ "counter": "s", "kind": "sum", "amount_from": "args.n", "window": "hour", "max": 9 }] }
  },
  "clients": {
    "Cursor": {
      "tools": {
        "slack_post_message": { "limits": [{ "counter": "c", "window": "hour", "max": 7 }] },
        "slack_list_channels": { "limits": [{ "counter": "t", "kind": "sum", "amount_from": "args.n", "window": "hour", "max": 5 }] }
      }
    }
  }
}
`;
const strict = '{\n  "version": "1",\n  "default": "deny"\n}\n';

/** Asks until the answer is the one that is to be recorded: what was just done takes its time to be known. */
async function answered(world, command, args, check) {
  const end = Date.now() + minute;
  for (let answer; !check((answer = await world.invoke(command, args)));)
    if (Date.now() > end) throw new Error(`${command} stays ${JSON.stringify(answer)}`);
}

/** What a person with some weeks of use sees and does. */
async function use(world, ask) {
  // Who starts when must not be a matter of luck.
  await answered(world, 'servers', {}, (all) => all.some(({ name, state }) => name === 'files' && state === 'running'));
  const newest = { filter: {}, from: { kind: 'newest' }, count: 200 };
  // The first session of a home that was copied finds other counters than it was made with.
  await answered(world, 'log_page', newest, (page) =>
    page.entries.some(({ event }) => event === 'database_moved_aside'),
  );
  await world.open('playwright');
  await recordTest(await world.open('recorder'));
  await answered(world, 'codegen', { server: 'recorder' }, ([one]) => one?.actions === 9);
  await answered(world, 'log_page', newest, ({ entries }) => entries.every(({ outcome }) => outcome !== null));
  world.editPolicy('slack', detailed);
  const { entries } = await ask('log_page', newest);
  const calls = entries.filter(({ kind }) => kind === 'call');
  const [passed, refused] = ['allowed', 'denied'].map((decision) => calls.findLast((one) => one.decision === decision));
  const hostile = calls.find(({ tool, decision }) => tool === 'browser_navigate' && decision === 'allowed');
  for (const { id } of [passed, refused, hostile]) await ask('call', { id });
  await ask('choices');
  await ask('runs', { beforeMs: null, count: 60 });
  await ask('runs_matching', { filter: { server: 'filesystem' }, before: null, count: 60 });
  for (const command of ['overview', 'settings', 'since_last_look', 'looked', 'rules_summary']) await ask(command);
  await ask('log_count', { filter: {}, counts: 1 });

  const target = { server: 'playwright', tool: 'browser_type', client: null };
  await ask('cap_advice', { target });
  for (const server of ['playwright', 'filesystem', 'slack', 'postgres', 'notes', '_default', long])
    await ask('rules', { server });
  await ask('tools');
  await ask('surface');
  await ask('catalogue');
  for (const tool of ['browser_click', 'browser_navigate']) await ask('tool', { server: 'playwright', tool });
  await ask('tool', { server: 'recorder', tool: 'end_codegen_session' });
  await ask('starting_points', { server: 'playwright' });
  await ask('server_page', { server: 'playwright' });
  const { text } = await world.invoke('rules', { server: 'playwright' });
  await ask('check_policy', { server: 'playwright', text });
  const draft = { action: 'deny', reason: null, limits: [], require: [], denyIf: [], askIf: [] };
  const stricter = await ask('draft_rule', { text, target, draft });
  await ask('draft_default', { text, action: 'deny' });
  await ask('draft_ready', { server: 'filesystem', text, id: 'files-inside', folder: '/srv/tests' });
  await ask('propose', { server: 'playwright', text: stricter.text });
  await ask('effect', { server: 'playwright', text: stricter.text, days: 7 });
  await ask('suggest_rules', { server: 'playwright', days: 30 });
  await ask('try_call', { server: 'playwright', text, client: null, tool: 'browser_evaluate', args: '{}' });
  await ask('versions', { server: 'playwright' });
  const save = (server, baseText, changed) => ask('save_policy', { server, baseText, text: changed });
  await save('playwright', text, stricter.text);
  await save('playwright', text, text.replace('"minute"', '"fortnight"'));
  await save('playwright', text, strict);
  const asked = await save('playwright', stricter.text, text);
  await ask('dismiss', { token: asked.token });

  const file = { server: 'filesystem', tool: 'search_files', client: 'claude-ai' };
  const done = await ask('restrict', { restriction: { kind: 'block', target: file, reason: null } });
  await ask('enforcement', { server: done.server, version: done.version });
  await ask('give_reason', { token: done.undo.token, reason: 'ask me first' });
  await ask('access', { queries: [{ ...file, rule: null }] });
  await ask('undo', { token: done.undo.token });
  const higher = { kind: 'cap', target: { ...target, tool: 'browser_click' }, max: 500, window: 'minute' };
  await ask('restrict', { restriction: higher });
  const question = await ask('loosen', { loosening: higher });
  await ask('confirm', { token: question.token });

  await answered(world, 'servers', {}, (all) => all.every(({ name, problem }) => name !== 'playwright' || !problem));
  const [{ session }] = (await ask('servers')).find(({ name }) => name === 'recorder').sessions;
  // Processes are looked at while somebody wants to know what they take.
  await world.ask('usage', { usages: '__CHANNEL__:2' });
  await answered(world, 'trees', { server: 'recorder' }, ([tree]) => tree?.processes.length === 3);
  for (const command of ['trees', 'happened']) await ask(command, { server: 'recorder' });
  await ask('stderr_tail', { session, search: '' });
  await ask('at_stake', { server: 'recorder', session });
  await ask('strays');
  const [{ id }] = await ask('codegen', { server: 'recorder' });
  for (const command of ['codegen_session', 'codegen_file']) await ask(command, { id });
  await ask('export_codegen', { id, path: `${world.person}/login.spec.ts` });

  await clients(world, ask);
  await ask('server_places');
  const mine = { name: 'mine', command: 'npx mine', variables: [], clients: ['cursor'] };
  await ask('preview_server', { draft: mine });
  await ask('draft_start', { draft: mine });
  await ask('preview_server', { draft: { ...mine, name: 'not good' } });
  await ask('add_server', { draft: mine });
  await ask('preview_removal', { server: 'mine' });
  await ask('remove_server', { server: 'mine', now: false });
  await ask('restore_server', { server: 'mine' });

  await ask('start_at_login', { yes: false });
  await ask('save_settings', { settings: (await world.invoke('settings')).settings });
  for (const command of ['stop_server', 'start_server']) await ask(command, { server: 'recorder', session });
  await ask('stop_everything');
}

/** AI clients and their files, before and after something is protected. */
async function clients(world, ask) {
  const found = await ask('clients');
  const entries = found.flatMap(({ files }) => files.flatMap((one) => one.entries));
  const key = (client, name) => entries.map((one) => one.key).find((one) => one.client === client && one.name === name);
  const open = [key('cursor', 'postgres'), key('claude-desktop', 'github')];
  await ask('preview_clients', { act: 'protect', entries: open });
  await ask('server_starts', { entries: open });
  await ask('preview_clients', { act: 'unprotect', entries: [key('claude-code', 'fetch')] });
  await ask('test_server', { entry: key('claude-desktop', 'files') });
  await ask('preview_secrets', { act: 'move', entry: key('claude-code', long), only: null });
  await ask('preview_secrets', { act: 'putBack', entry: key('claude-code', 'fetch'), only: null });
  await ask('change_clients', { act: 'protect', entries: open, now: false });
  const [backup] = await ask('client_backups');
  await ask('preview_backup', { id: backup.id });
  await ask('drop_queued', { client: 'claude-desktop', entries: [open[1]] });
  await ask('change_clients', { act: 'unprotect', entries: [open[0]], now: false });
}

/** What is there at the first start, with clients. */
async function begin(world, ask) {
  await ask('log_page', { filter: {}, from: { kind: 'newest' }, count: 200 });
  for (const command of [
    'overview',
    'settings',
    'choices',
    'servers',
    'tools',
    'surface',
    'since_last_look',
    'looked',
    'strays',
  ])
    await ask(command);
  const found = await ask('clients');
  const entries = found
    .flatMap(({ files }) => files.flatMap((one) => one.entries))
    .filter(({ state }) => state === 'open')
    .map((one) => one.key);
  await ask('preview_clients', { act: 'protect', entries });
  await ask('server_starts', { entries });
  await ask('start_at_login', { yes: false });
}

const worlds = {
  used: [{ calls: 0, clients: true, keychain: true }, use],
  first: [{ first: true, clients: true }, begin],
};

/** Everything that was asked in one of the worlds, by command. */
export async function record(name) {
  const [like, steps] = worlds[name];
  const world = await World.make(like);
  const same = sameness(world);
  const recordings = {};
  const ask = async (command, args = {}) => {
    const channel = Object.values(args).find((value) => Number.isInteger(value) && command in channels);
    const sent = channels[command] ? { ...args, [channels[command]]: `__CHANNEL__:${channel}` } : args;
    let answer = await world.ask(command, sent);
    if (channels[command]) answer = { ok: (await world.channels()).findLast((one) => one.channel === channel).message };
    const kept = same({ args, ...answer });
    (recordings[camel(command)] ??= []).push(kept);
    return answer.ok;
  };
  try {
    await steps(world, ask);
  } finally {
    await world.stop();
  }
  return recordings;
}

/** Commands that answer on a channel, and the argument that it comes in. */
const channels = { log_count: 'counts' };
const camel = (command) => command.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase());

/** Makes what is drawn by lot, measured or told by a clock the same each time. */
function sameness(world) {
  const names = new Map();
  const numbered = (kind, name) => {
    if (!names.has(name))
      names.set(name, `${kind}-${[...names.values()].filter((one) => one.startsWith(kind)).length + 1}`);
    return names.get(name);
  };
  const places = [
    [world.person, '/home/ada'],
    [world.folder, '/tmp/world'],
    [here, '/opt/'],
    [dirname(programs.gate), '/usr/bin'],
    [process.execPath, '/usr/bin/node'],
  ];
  const kinds = { session: 'session', token: 'token' };
  const plain = (text) => {
    let told = text;
    for (const [place, instead] of places) told = told.replaceAll(place, instead);
    for (const [name, instead] of names) told = told.replaceAll(name, instead);
    return told
      .replaceAll(/\d\d:\d\d:\d\d(\.\d+)?/g, '12:00:00')
      .replaceAll(/\b20\d\d-\d\d-\d\d/g, '2026-01-05')
      .replaceAll(/\b\d+ seconds\b/g, '8 seconds')
      .replaceAll(/"duration_ms":[\d.]+/g, '"duration_ms":1.2')
      .replaceAll(/[\da-f]{8}\/\d{13}-[\da-f]{12}/g, (copy) => numbered('copy', copy))
      .replaceAll(/(?<=keychain:\/\/callgate\/)[\da-f]{16}/g, (key) => numbered('key', key));
  };
  /** How often the record was written to depends on how quick who was. */
  const revs = new Set();
  const pids = new Set();
  const ranked = (rev) => [...revs].filter((one) => one <= rev).length;
  /** Names first: they stand in other texts too. */
  const learn = (value, key) => {
    if (value?.kind && Number.isInteger(value.rev))
      [value.rev, value.firstRev ?? value.rev].forEach((rev) => revs.add(rev));
    if (typeof value === 'string' && kinds[key] && !names.has(value)) numbered(kinds[key], value);
    else if (value && typeof value === 'object') for (const [inner, one] of Object.entries(value)) learn(one, inner);
  };
  const tell = (value, key, now) => {
    // Of a process that was just started, no more than its program is known.
    if (typeof value === 'string')
      return plain(value).replace(/^(\/usr\/bin\/\w+) .*/s, key === 'command' ? '$1 …' : '$&');
    // How many bars there are is a matter of the minute.
    if (key === 'bars') return value.slice(0, 1).map((bar) => ({ ...tell(bar, '', now), passed: 60, refused: 400 }));
    if (Array.isArray(value)) return value.map((one) => tell(one, '', now));
    if (value && typeof value === 'object')
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, tell(one, name, now)]));
    if (typeof value !== 'number') return value;
    if (key in measured) return measured[key];
    if (key === 'pid') return pids.add(value) && 4_711 + [...pids].indexOf(value);
    if (/^(.*rev|older|newer)$/i.test(key)) return ranked(value);
    if (key.endsWith('Ms') && value > recordedMs / 2) return recordedMs - Math.floor((now - value) / step) * step;
    return value;
  };
  return (recording) => {
    learn(recording, '');
    return tell(recording, '', Date.now());
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const name of Object.keys(worlds)) {
    const text = JSON.stringify(await record(name), null, 1);
    writeFileSync(new URL(`../src/testing/recordings/${name}.json`, import.meta.url), `${text}\n`);
  }
  await World.end();
}
