// The made-up gate: the same interface as the real one, all in memory. Development, component tests and browser tests run on
// it. In the address: ?calls=200000&rate=50&seed=3&fail=logPage,call (calls=0: the first start; rate=0: nothing new; clients=none:
// no client is installed; keychain=none: secrets cannot be stored).
import { BackendError, type Backend } from '../backend';
import { fakeActs } from './acts';
import { fakeClients, type FakeClients } from './clients';
import { fakeCodegen, type FakeCodegen } from './codegen';
import { fakeLog } from './log';
import { fakeRules, type FakeRules } from './rules';
import { fakeServers } from './servers';
import { fakeSettings } from './settings';
import { fakeStanding } from './standing';
import { World, type Options } from './world';

export type FakeOptions = Partial<Options>;

export interface FakeBackend extends Backend {
  readonly world: World;
  readonly policies: FakeRules;
  readonly machine: FakeClients['machine'];
  readonly recordings: FakeCodegen['recordings'];
}

export function fakeBackend(options: Partial<Options> = fromAddress(location.search)): FakeBackend {
  const world = new World(options);
  const rules = fakeRules(world);
  const backend: FakeBackend = {
    world,
    ...fakeLog(world),
    ...fakeActs(world, rules.policies),
    ...rules,
    ...fakeServers(world),
    ...fakeCodegen(world, rules.policies),
    ...fakeClients(world),
    ...fakeSettings(world),
    ...fakeStanding(world),
    onNavigate: () => () => undefined,
  };
  // Browser tests reach behind the window with it: an edit made elsewhere.
  Object.assign(globalThis, { callgateFake: backend });
  for (const name of world.options.fail) breakDown(backend, name);
  world.run();
  return backend;
}

function fromAddress(search: string): Partial<Options> {
  const query = new URLSearchParams(search);
  const options: Partial<Options> = {};
  for (const name of ['seed', 'calls', 'rate'] as const) {
    const value = query.get(name);
    if (value !== null && Number.isFinite(Number(value))) options[name] = Number(value);
  }
  for (const name of ['clients', 'keychain'] as const) if (query.get(name) === 'none') options[name] = 'none';
  options.fail = query.get('fail')?.split(',') ?? [];
  return options;
}

function breakDown(backend: FakeBackend, name: string): void {
  const error = () =>
    new BackendError({
      code: 'failed',
      message: 'The record cannot be read: the disk is full. Free some space and try again.',
      detail: 'SQLITE_FULL: database or disk is full',
    });
  const broken = backend as unknown as Record<string, unknown>;
  if (name === 'count' || name === 'follow' || name === 'usage') {
    broken[name] = (...args: unknown[]) => {
      (args.at(-1) as (error: BackendError) => void)(error());
      return () => undefined;
    };
  } else broken[name] = () => Promise.reject(error());
}
