// Acts on the made-up gate: what is asked first, and what becomes of a no.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { restrict } from './acts';
import { App } from './app.svelte';
import { BackendError, type Done } from './backend';
import { fakeBackend, type FakeBackend } from './backend/fake';

const target = { server: 'github', tool: 'search_code', client: null };
let fake: FakeBackend;
let app: App;

beforeEach(() => {
  fake = fakeBackend({ calls: 200, rate: 0 });
  app = new App(fake);
});

const present = () => fake.world.rules.find((rule) => rule.kind === 'cap' && rule.target.tool === 'search_code')?.max;

async function higher(yes: boolean): Promise<Done | null> {
  const acting = restrict(app, { kind: 'cap', target, max: 50, window: 'minute' });
  await vi.waitFor(() => expect(app.asked).not.toBeNull());
  expect(present()).toBe(6);
  app.asked?.answer(yes);
  return acting;
}

describe('a cap', () => {
  it('that is lower acts at once', async () => {
    expect(await restrict(app, { kind: 'cap', target, max: 2, window: 'minute' })).not.toBeNull();
    expect(app.asked).toBeNull();
    expect(present()).toBe(2);
  });

  it('that is higher than the present one is asked about, and set after yes', async () => {
    expect((await higher(true))?.words).toContain('50 per minute');
    expect(present()).toBe(50);
    expect(app.toasts.list.some((toast) => toast.tone === 'error')).toBe(false);
  });

  it('that got a no stays as it was, and its question is good for nothing any more', async () => {
    expect(await higher(false)).toBeNull();
    expect(present()).toBe(6);
    expect(fake.world.questions.size).toBe(0);
  });

  it('that failed for another reason says so and asks nothing', async () => {
    fake.restrict = () =>
      Promise.reject(new BackendError({ code: 'brokenPolicy', message: 'Mend the policy first.', detail: null }));
    expect(await restrict(app, { kind: 'cap', target, max: 50, window: 'minute' })).toBeNull();
    expect(app.asked).toBeNull();
    expect(app.toasts.list.map((toast) => toast.words)).toEqual(['Mend the policy first.']);
  });
});

describe('an act on a server that is not behind the gate everywhere', () => {
  it('says so in its note', async () => {
    const plain = fake.restrict.bind(fake);
    const caveat = 'github is not behind the gate in Cursor: its calls there are not seen';
    fake.restrict = async (act) => ({ ...(await plain(act)), caveats: [caveat] });
    await restrict(app, { kind: 'block', target, reason: null });
    expect(app.toasts.list.at(-1)!.next).toEqual([`But ${caveat}`]);
  });
});

describe('an act at one of several servers of one name', () => {
  it('offers the others, one click each, and not those that have had it', async () => {
    const plain = fake.restrict.bind(fake);
    fake.restrict = async (act) => {
      const server = act.kind === 'block' ? act.target.server : '';
      const siblings = ['github', 'github@cursor'].filter((name) => name !== server);
      return { ...(await plain(act)), server, siblings };
    };
    await restrict(app, { kind: 'block', target, reason: null });
    const offered = app.toasts.list.at(-1)!.also;
    expect(offered.map((one) => one.server)).toEqual(['github@cursor']);
    offered[0]!.run();
    const blocked = (server: string) =>
      fake.world.rules.some((rule) => rule.kind === 'block' && rule.target.server === server);
    await vi.waitFor(() => expect(blocked('github') && blocked('github@cursor')).toBe(true));
    await vi.waitFor(() => expect(app.toasts.list).toHaveLength(2));
    expect(app.toasts.list.at(-1)!.also).toEqual([]);
  });
});
