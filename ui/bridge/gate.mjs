// A client's session with a made-up server behind the real gate: `callgate run`, spoken to as a client does.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export class Session {
  #process;
  #waiting = new Map();
  #asked = 0;

  /** `command` is the server behind the gate. */
  static start(program, { server, client, command, env }) {
    const words = ['run', '--server', server, '--client', client, '--', ...command];
    return Session.begin(program, words, { server, client, env });
  }

  static async begin(program, words, { server, client, env }) {
    const session = new Session();
    session.server = server;
    session.#process = spawn(program, words, { env, stdio: ['pipe', 'pipe', 'ignore'] });
    session.ended = new Promise((resolve) => session.#process.once('exit', resolve));
    session.#process.stdin.on('error', () => undefined);
    createInterface({ input: session.#process.stdout }).on('line', (line) => session.#heard(JSON.parse(line)));
    const clientInfo = { name: client, version: '1.0.0' };
    await session.ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    session.#say({ method: 'notifications/initialized' });
    await session.ask('tools/list', {});
    return session;
  }

  get pid() {
    return this.#process.pid;
  }

  #say(message) {
    this.#process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #heard({ id, result, error }) {
    this.#waiting.get(id)?.({ result, error });
    this.#waiting.delete(id);
  }

  ask(method, params) {
    const id = ++this.#asked;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#say({ id, method, params });
    });
  }

  call(tool, args = {}) {
    return this.ask('tools/call', { name: tool, arguments: args });
  }

  async stop() {
    this.#process.stdin.end();
    await this.ended;
  }

  kill() {
    this.#process.kill('SIGKILL');
  }
}
