// A world for the page: a home with a past, a person with AI clients, and the bridge that serves the real desk on it. Everything in
// it is files and processes; who wants something to happen elsewhere writes a file or makes a call through the real gate.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { configs, endClaude, installClients, protectSome, startClaude } from './clients.mjs';
import { Session } from './gate.mjs';
import { startKeychain } from './keychain.mjs';
import { makePast, record, servers } from './past.mjs';

const run = promisify(execFile);
const here = fileURLToPath(new URL('.', import.meta.url));
const built = join(process.env.CARGO_TARGET_DIR ?? join(here, '../../target'), 'debug');
export const programs = {
  bridge: process.env.CALLGATE_BRIDGE ?? join(built, 'callgate-bridge'),
  gate: process.env.CALLGATE_BIN ?? join(built, 'callgate'),
  client: process.env.CALLGATE_CLIENT ?? join(built, 'claude-stand-in'),
};
const page = join(here, '../dist');

/** The environment of everything in a world: nothing of the person who runs the tests is in it. */
function environment(folder) {
  const person = join(folder, 'person');
  return {
    PATH: [join(person, 'bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
    HOME: person,
    USER: 'ada',
    LANG: 'C.UTF-8',
    TMPDIR: join(folder, 'tmp'),
    CALLGATE_HOME: join(folder, 'home'),
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
  };
}

let root = null;

/** Where all worlds of this program are. */
const worlds = () => (root ??= mkdtempSync(join(tmpdir(), 'callgate-worlds-')));

function emptyFolder() {
  const folder = mkdtempSync(join(worlds(), 'world-'));
  for (const name of ['tmp', 'person/bin', 'person/Downloads', 'person/.config'])
    mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'person/.config/user-dirs.dirs'), 'XDG_DOWNLOAD_DIR="$HOME/Downloads"\n');
  // What clients start is found by its name, whatever it is called.
  const server = `#!/bin/sh\nexec "${process.execPath}" "${join(here, 'server.mjs')}" "\${0##*/}" search,list,read,write,remove,move\n`;
  for (const name of ['npx', 'uvx', 'docker']) writeFileSync(join(folder, 'person/bin', name), server, { mode: 0o755 });
  return folder;
}

/** Pasts by their number of calls. */
const made = new Map();

/** What worlds with a past begin with, made once for all of them. */
export async function past(calls = 4_000) {
  if (made.has(calls)) return made.get(calls);
  for (const program of Object.values(programs))
    if (!existsSync(program)) throw new Error(`There is no ${program}: run \`cargo xtask ui\` once.`);
  const folder = emptyFolder();
  const env = environment(folder);
  execFileSync(programs.bridge, ['seed', String(calls)], { env });
  const open = (server, client) => Session.start(programs.gate, { server, client, command: command(server), env });
  await makePast(env.CALLGATE_HOME, open);
  made.set(calls, folder);
  return folder;
}

const command = (server) => [
  process.execPath,
  join(here, 'server.mjs'),
  server,
  (servers[server] ?? ['safe']).join(','),
];

export class World {
  #bridge;
  #env;
  #children = [];
  #timers = [];
  sessions = [];
  /** So many were made at the given rate. */
  calls = 0;

  /** An ordinary world, begun before somebody wants one. */
  static #spare = null;

  /**
   * `first`: nothing has ever happened; `calls`: so many in the past; `clients`: a person's AI clients are there, and one of
   * them runs; `keychain`: there is one, with secrets of a client in it; `live`: who runs which server behind the real gate,
   * `server client`; `recording`: who records a test at the moment; `rate`: new calls a second; `fail`: commands that fail.
   */
  static async make({ live = [], recording, rate = 0, fail = [], ...begun } = {}) {
    const ordinary = Object.values(begun).every((value) => !value);
    const world = await (ordinary && World.#spare ? World.#spare : World.#begin(begun));
    if (ordinary) World.#spare = World.#begin({});
    await Promise.all(fail.map((command) => world.answer(command, { error: broken })));
    const running = rate > 0 && live.length === 0 ? ['filesystem claude-ai', 'postgres Cursor'] : live;
    for (const one of running) await world.open(...one.split(' '));
    if (recording) await record(await world.open('recorder', recording));
    if (rate > 0) world.#callAt(rate);
    return world;
  }

  /** Nobody wants another one: what was made for all of them goes. */
  static async end() {
    await (await World.#spare)?.stop();
    // What dead clients started goes a moment after them.
    if (root) await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  static async #begin({ first = false, calls, clients = false, keychain = false }) {
    const world = new World();
    world.folder = emptyFolder();
    world.#env = environment(world.folder);
    world.home = world.#env.CALLGATE_HOME;
    world.person = world.#env.HOME;
    if (!first) await run('cp', ['-a', join(await past(calls), 'home'), world.folder]);
    if (keychain) await world.#openKeychain();
    if (clients) installClients(world, programs.client, first);
    world.url = await world.#serve();
    if (clients && !first) await protectSome(world, keychain);
    if (clients) world.claude = startClaude(world);
    return world;
  }

  async #openKeychain() {
    const { address, processes } = await startKeychain(this.folder, this.#env);
    this.#env.DBUS_SESSION_BUS_ADDRESS = address;
    this.#children.push(...processes);
  }

  #serve() {
    this.#bridge = spawn(programs.bridge, [page], { env: this.#env, stdio: ['pipe', 'pipe', 'inherit'] });
    return new Promise((resolve, reject) => {
      createInterface({ input: this.#bridge.stdout }).once('line', resolve);
      this.#bridge.once('exit', (code) => reject(new Error(`the bridge ended with ${code}`)));
    });
  }

  async #post(path, body) {
    const response = await fetch(new URL(path, this.url), { method: 'POST', body: JSON.stringify(body) });
    return response.json();
  }

  /** Hands a request of a page from another address on to the bridge. */
  async forward(request, response) {
    const answer = await this.#post(request.url.slice(1), JSON.parse(Buffer.concat(await request.toArray())));
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer));
  }

  /** Asks the desk, as the page does: `ok` or `error`. */
  ask(command, args = {}) {
    return this.#post(`invoke/${command}`, args);
  }

  async invoke(command, args = {}) {
    const { ok, error } = await this.ask(command, args);
    if (error) throw new Error(JSON.stringify(error));
    return ok;
  }

  /** What comes on channels, once something does. */
  channels() {
    return this.#post('channels', {});
  }

  /** From now on a command is answered with this; null: by the desk again. */
  answer(command, answer) {
    return this.#post(`answer/${command}`, answer);
  }

  /** A client starts a server behind the gate. */
  async open(server, client = 'claude-ai') {
    const session = await Session.start(programs.gate, { server, client, command: command(server), env: this.#env });
    this.sessions.push(session);
    return session;
  }

  /** A client starts every server that its file names. */
  async startServers(client) {
    const { mcpServers } = JSON.parse(readFileSync(join(this.person, configs[client]), 'utf8'));
    const begun = Object.values(mcpServers).map(({ command, args }) =>
      Session.begin(command, args, { client, env: this.#env }),
    );
    this.sessions.push(...(await Promise.all(begun)));
    return this.sessions;
  }

  #callAt(rate) {
    const began = Date.now();
    this.#timers.push(
      setInterval(() => {
        for (; this.calls < ((Date.now() - began) * rate) / 1_000; this.calls += 1) {
          const { calls: made } = this;
          const session = this.sessions[made % this.sessions.length];
          const tools = servers[session.server].filter((tool) => tool !== 'delete_file');
          void session.call(tools[made % tools.length], { path: `/home/ada/work/${made}`, sql: `select ${made}` });
        }
      }, 20),
    );
  }

  policy(server) {
    return join(this.home, 'policies', `${server}.json`);
  }

  /** Somebody edits a policy in an editor. */
  editPolicy(server, text) {
    writeFileSync(this.policy(server), text, { mode: 0o600 });
  }

  /** Starts a program of this world and ends it with it. */
  start(program, words) {
    const child = spawn(program, words, { env: this.#env, stdio: 'ignore' });
    this.#children.push(child);
    return child;
  }

  async stop() {
    this.#timers.forEach(clearInterval);
    for (const child of this.#children) child.kill('SIGKILL');
    endClaude(this);
    this.#bridge.removeAllListeners('exit');
    this.#bridge.kill('SIGKILL');
    await Promise.all(this.sessions.map((session) => session.stop()));
    await rm(this.folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

const broken = {
  code: 'failed',
  message: 'The record cannot be read: the disk is full. Free some space and try again.',
  detail: 'SQLITE_FULL: database or disk is full',
};
