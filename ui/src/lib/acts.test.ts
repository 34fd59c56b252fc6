// Acts: what is asked first, and what becomes of a no.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RecordedDesk } from '../testing/desk';
import { restrict } from './acts';
import { App } from './app.svelte';
import type { Done } from './backend';

const target = { server: 'playwright', tool: 'browser_click', client: null };
const cap = { kind: 'cap', target, max: 500, window: 'minute' } as const;
let desk: RecordedDesk;
let app: App;

beforeEach(() => {
  desk = new RecordedDesk();
  app = new App(desk.backend);
});

describe('a cap', () => {
  /** It is higher than the present one, and a person answers the question. */
  async function higher(yes: boolean): Promise<Done | null> {
    desk.fail('restrict', { code: 'notConfirmed' });
    const acting = restrict(app, cap);
    await vi.waitFor(() => expect(app.asked).not.toBeNull());
    expect(desk.asked('loosen')).toEqual([{ loosening: cap }]);
    expect(desk.asked('confirm')).toEqual([]);
    app.asked?.answer(yes);
    return acting;
  }

  it('that is lower acts at once', async () => {
    expect(await restrict(app, cap)).not.toBeNull();
    expect(app.asked).toBeNull();
    expect(desk.asked('restrict')).toEqual([{ restriction: cap }]);
  });

  it('that is higher than the present one is asked about, and set after yes', async () => {
    expect((await higher(true))?.words).toContain('500 per minute');
    expect(desk.asked('confirm')).toHaveLength(1);
    expect(app.toasts.list.some((toast) => toast.tone === 'error')).toBe(false);
  });

  it('that got a no stays as it was, and its question is good for nothing any more', async () => {
    expect(await higher(false)).toBeNull();
    expect(desk.asked('confirm')).toEqual([]);
    expect(desk.asked('dismiss')).toHaveLength(1);
  });

  it('that failed for another reason says so and asks nothing', async () => {
    desk.fail('restrict', { code: 'brokenPolicy', message: 'Mend the policy first.' });
    expect(await restrict(app, cap)).toBeNull();
    expect(app.asked).toBeNull();
    expect(app.toasts.list.map((toast) => toast.words)).toEqual(['Mend the policy first.']);
  });
});

describe('an act on a server that is not behind the gate everywhere', () => {
  it('says so in its note', async () => {
    const caveat = 'github is not behind the gate in Cursor: its calls there are not seen';
    desk.answer('restrict', { ...desk.recorded('restrict'), caveats: [caveat] });
    await restrict(app, { kind: 'block', target, reason: null });
    expect(app.toasts.list.at(-1)!.next).toEqual([`But ${caveat}`]);
  });
});

describe('an act at one of several servers of one name', () => {
  it('offers the others, one click each, and not those that have had it', async () => {
    const done = desk.recorded('restrict');
    const all = ['playwright', 'playwright@cursor'];
    desk.answer('restrict', ({ restriction }) => {
      const { server } = restriction.target;
      return { ...done, server, siblings: all.filter((name) => name !== server) };
    });
    await restrict(app, { kind: 'block', target, reason: null });
    const offered = app.toasts.list.at(-1)!.also;
    expect(offered.map((one) => one.server)).toEqual(['playwright@cursor']);
    offered[0]!.run();
    await vi.waitFor(() => expect(app.toasts.list).toHaveLength(2));
    expect(desk.asked('restrict').map(({ restriction }) => restriction.target.server)).toEqual(all);
    expect(app.toasts.list.at(-1)!.also).toEqual([]);
  });
});
