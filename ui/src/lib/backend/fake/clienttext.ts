// A client's file on the made-up machine: what it says on the disk, and what drifted in it.
import type * as T from '../backend';
import { keyOf, type FakeClient, type FakeEntry, type FakeFile } from './clientfiles';
import { written } from './secrets';

const program = '/home/ada/.callgate/bin/callgate';

export function driftOf(client: FakeClient, file: FakeFile): T.DriftView[] {
  const keys = (name: string) =>
    file.entries.filter((entry) => entry.name === name).map((entry) => keyOf(client, file, entry));
  return [
    ...file.lost.map((name) => ({
      kind: 'lostGate' as const,
      words: `${client.name}: ${name} has lost its gate and ${client.running === false ? 'would run' : 'runs'} unwatched`,
      serious: true,
      fix: { kind: 'protect' as const, entries: keys(name) },
    })),
    ...file.fresh.map((name) => ({
      kind: 'new' as const,
      words: `${client.name}: ${name} is new and not protected`,
      serious: false,
      fix: { kind: 'protect' as const, entries: keys(name) },
    })),
    ...file.back.map((name) => ({
      kind: 'cameBack' as const,
      words: `${client.name} put the gate back in front of ${name}: it ran when you took it away, and wrote its own copy over that`,
      serious: false,
      fix: { kind: 'unprotect' as const, entries: keys(name) },
    })),
    ...file.edited.map((name) => ({
      kind: 'other' as const,
      words: `${client.name}: ${name} was edited; it is behind the gate`,
      serious: false,
      fix: { kind: 'takeNote' as const, entries: keys(name) },
    })),
  ];
}

/** The file as it stands on the disk. */
export function text(file: FakeFile, entries: readonly FakeEntry[], client = 'claude-desktop'): string {
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
