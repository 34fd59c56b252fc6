// The sheet of rules on the in-memory backend: what is proposed, saved, asked, and never lost.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { App } from '../../lib/app.svelte';
import type { Effect, ToolRule } from '../../lib/backend';
import { fakeBackend, type FakeBackend } from '../../lib/backend/fake';
import { actionsFor, statesFor } from './draft';
import { sheetOf, unsaved, type Sheet } from './sheet.svelte';

let fake: FakeBackend;
let app: App;
let sheet: Sheet;

const tool = (name: string): ToolRule => {
  const found = sheet.view?.tools.find((one) => one.name === name);
  if (!found) throw new Error(`no tool ${name}`);
  return found;
};

beforeEach(async () => {
  fake = fakeBackend({ calls: 200, rate: 0 });
  app = new App(fake);
  sheet = sheetOf(app, 'playwright');
  await sheet.load();
});

describe('a state that was chosen', () => {
  it('is proposed and not written before it is saved', async () => {
    const before = sheet.view?.text;
    sheet.open(tool('browser_type'), 'deny');
    expect(sheet.dirty).toBe(true);
    expect(fake.policies.rules('playwright').text).toBe(before);
    expect(await sheet.save()).toBe(true);
    expect(fake.policies.rules('playwright').text).toContain('"browser_type": { "action": "deny" }');
    await vi.waitFor(() => expect(tool('browser_type').state).toBe('deny'));
    expect(sheet.dirty).toBe(false);
  });

  it('is dropped by closing the form', () => {
    sheet.open(tool('browser_type'), 'deny');
    sheet.close();
    expect(sheet.dirty).toBe(false);
    expect(sheet.wanted).toBeNull();
  });

  it('says nothing to the gate while something is missing in it', () => {
    sheet.open(tool('browser_type'), 'custom');
    expect(sheet.form?.missing.length).toBeGreaterThan(0);
    expect(sheet.wanted).toBeNull();
  });

  it('for one client is written for that client, and nothing else changes', async () => {
    sheet.open(tool('browser_navigate'));
    sheet.form?.forClient('cursor-vscode');
    if (sheet.form) sheet.form.draft.action = 'deny';
    expect(await sheet.save()).toBe(true);
    const { text } = fake.policies.rules('playwright');
    expect(text).toMatch(/"clients": \{\s*"cursor-vscode"/);
    expect(text).toContain('"value": "^file:"');
  });
});

describe('the form for one client', () => {
  const policy = `{
  "version": "1",
  "default": "allow",
  "all_tools": { "limits": [{ "counter": "all", "window": "minute", "max": 120 }] },
  "tools": { "browser_type": { "action": "deny", "reason": "not here" } },
  "clients": {
    "cursor-vscode": {
      "tools": {
        "browser_type": { "limits": [{ "counter": "c", "window": "hour", "max": 7 }] },
        "browser_click": { "limits": [{ "counter": "s", "kind": "sum", "amount_from": "args.n", "max": 5 }] }
      }
    }
  }
}
`;

  beforeEach(async () => {
    fake.policies.editElsewhere('playwright', policy);
    await sheet.load();
  });

  it("starts from what that client's rule holds, and keeps it when something is added", async () => {
    sheet.open(tool('browser_type'));
    sheet.form?.forClient('cursor-vscode');
    expect(sheet.form?.draft).toMatchObject({ action: 'allow', limits: [{ counter: 'c', max: 7, window: 'hour' }] });
    expect(sheet.form?.touched).toBe(false);
    sheet.form?.draft.require.push({ path: 'args.text', op: 'exists', value: null });
    expect(await sheet.save()).toBe(true);
    const rule = fake.policies.rules('playwright').tools.find((one) => one.name === 'browser_type')?.clients[0];
    expect(rule?.draft).toMatchObject({ limits: [{ max: 7 }], require: [{ path: 'args.text' }] });
  });

  it('starts from nothing for a client of which nothing is said, and from the rule again for everyone', () => {
    sheet.open(tool('browser_type'));
    sheet.form?.forClient('claude-ai');
    expect(sheet.form?.draft).toMatchObject({ action: 'allow', limits: [] });
    sheet.form?.forClient(null);
    expect(sheet.form?.draft).toMatchObject({ action: 'deny', reason: 'not here' });
  });

  it('a tool that is blocked for one client does not open as if every call passed', async () => {
    const blocked = policy.replace(
      '"browser_click": { "limits": [{ "counter": "s", "kind": "sum", "amount_from": "args.n", "max": 5 }] }',
      '"browser_click": { "action": "deny" }',
    );
    fake.policies.editElsewhere('playwright', blocked);
    await sheet.load();
    sheet.open(tool('browser_click'));
    expect(sheet.form?.client).toBe('cursor-vscode');
    expect(sheet.form?.draft.action).toBe('deny');
    // What is refused to everyone is opened for everyone; so is what was just chosen in the table.
    sheet.open(tool('browser_type'));
    expect(sheet.form?.client).toBeNull();
    sheet.open(tool('browser_click'), 'cap');
    expect(sheet.form?.client).toBeNull();
  });

  it('is not offered for a rule that says more than it can hold', () => {
    sheet.open(tool('browser_click'));
    expect(sheet.form?.beyond).toBe(false);
    sheet.form?.forClient('cursor-vscode');
    expect(sheet.form?.beyond).toBe(true);
    expect(sheet.dirty).toBe(false);
  });
});

describe('what counts for more than one tool', () => {
  it('the default is edited like a rule, with its comments kept', async () => {
    sheet.openGeneral('default', 'deny');
    expect(sheet.form?.touched).toBe(true);
    expect(await sheet.save()).toBe(true);
    const { text, defaultAction } = fake.policies.rules('playwright');
    expect(defaultAction).toBe('deny');
    expect(text).toContain('// Browsing is fine; scripts are not.');
  });

  it('a looser default is saved only after yes', async () => {
    const files = sheetOf(app, 'files');
    await files.load();
    files.openGeneral('default', 'allow');
    const saving = files.save();
    await vi.waitFor(() => expect(app.asked?.loosened.length).toBe(1));
    app.asked?.answer(false);
    expect(await saving).toBe(false);
    expect(fake.policies.rules('files').defaultAction).toBe('deny');
  });

  it('the rule for all tools is written where it belongs, for everyone and for one client', async () => {
    sheet.openGeneral('allTools');
    expect(sheet.form?.draft.limits).toMatchObject([{ counter: 'all', max: 120 }]);
    if (sheet.form) sheet.form.draft.limits[0]!.max = 60;
    expect(await sheet.save()).toBe(true);
    await vi.waitFor(() => expect(sheet.view?.forAll?.draft?.limits[0]?.max).toBe(60));
    sheet.openGeneral('allTools');
    sheet.form?.forClient('cursor-vscode');
    if (sheet.form) sheet.form.draft.action = 'deny';
    expect(await sheet.save()).toBe(true);
    const { forAll, tools } = fake.policies.rules('playwright');
    expect(forAll?.clients).toMatchObject([{ client: 'cursor-vscode', state: 'deny' }]);
    expect(forAll?.state).toBe('cap');
    expect(tools.some((one) => one.name === '*')).toBe(false);
  });

  it('what no rule names can be hidden from agents, everything at once cannot', async () => {
    expect(statesFor('default', 'allow')).toEqual(['allow', 'deny', 'hide']);
    expect(statesFor('allTools', 'allow')).not.toContain('hide');
    sheet.openGeneral('default', 'hide');
    expect(await sheet.save()).toBe(true);
    expect(fake.policies.rules('playwright').text).toMatch(/"unlisted": "hide"/);
    await vi.waitFor(() => expect(sheet.view?.defaultAction).toBe('hide'));
    sheet.openGeneral('default', 'deny');
    expect(await sheet.save()).toBe(true);
    expect(fake.policies.rules('playwright').text).not.toContain('unlisted');
  });

  it('the default policy says what a change would have done to the servers that follow it', async () => {
    const asked = vi.spyOn(fake, 'effect');
    const standard = sheetOf(app, '_default');
    await standard.load();
    standard.openGeneral('default', 'deny');
    standard.wish();
    await vi.waitFor(() => expect(standard.effect?.words).toMatch(/servers? that follows? it/));
    expect(asked).toHaveBeenCalledWith('_default', expect.stringContaining('"deny"'), 7);
  });

  it('several tools are denied, hidden or capped in one change', async () => {
    const three = ['browser_click', 'browser_snapshot', 'browser_type'].map(tool);
    const saved = vi.spyOn(fake, 'savePolicy');
    expect(await sheet.chooseMany(three, 'deny')).toBe(true);
    expect(saved).toHaveBeenCalledTimes(1);
    const states = () =>
      three.map(({ name }) => fake.policies.rules('playwright').tools.find((one) => one.name === name)!);
    expect(states().map(({ state }) => state)).toEqual(['deny', 'deny', 'deny']);
    expect(fake.policies.rules('playwright').text).toContain('// Browsing is fine; scripts are not.');
    await vi.waitFor(() => expect(sheet.view?.tools.find((one) => one.name === 'browser_click')?.state).toBe('deny'));
    const saving = sheet.chooseMany(
      three.map(({ name }) => tool(name)),
      'cap',
      { max: 5, window: 'minute' },
    );
    await vi.waitFor(() => expect(app.asked).not.toBeNull());
    app.asked?.answer(true);
    expect(await saving).toBe(true);
    expect(states().map(({ draft }) => draft?.limits[0])).toMatchObject(Array(3).fill({ max: 5, window: 'minute' }));
  });

  it('ask is not offered while it does not work, and shown where the policy says it', () => {
    for (const about of ['tool', 'allTools', 'default'] as const) {
      expect(statesFor(about, 'deny')).not.toContain('ask');
      expect(actionsFor(about, 'deny').map(({ action }) => action)).not.toContain('ask');
      expect(statesFor(about, 'ask')).toContain('ask');
      expect(actionsFor(about, 'ask').map(({ action }) => action)).toContain('ask');
    }
  });
});

describe('what loosens', () => {
  it('is saved only after yes', async () => {
    const before = fake.policies.rules('playwright').text;
    for (const answer of [false, true]) {
      sheet.open(tool('browser_evaluate'), 'allow');
      const saving = sheet.save();
      await vi.waitFor(() => expect(app.asked?.loosened.length).toBe(1));
      app.asked?.answer(answer);
      expect(await saving).toBe(answer);
      expect(fake.policies.rules('playwright').text === before).toBe(!answer);
    }
  });
});

describe('an edit made elsewhere', () => {
  const theirs = '{\n  "version": "1",\n  "default": "deny"\n}\n';

  it('is a conflict, and nothing is overwritten', async () => {
    sheet.text = `${sheet.text}// mine\n`;
    fake.policies.editElsewhere('playwright', theirs);
    expect(await sheet.save()).toBe(false);
    expect(sheet.conflict?.theirs).toBe(theirs);
    expect(fake.policies.rules('playwright').text).toBe(theirs);
  });

  it('is noticed before saving, without touching the edits', async () => {
    sheet.text = `${sheet.text}// mine\n`;
    fake.policies.editElsewhere('playwright', theirs);
    await sheet.load();
    expect(sheet.stale).toBe(true);
    expect(sheet.text).toContain('// mine');
  });

  it('can be taken, or written over knowingly', async () => {
    const mine = `${sheet.text}// mine\n`;
    sheet.text = mine;
    fake.policies.editElsewhere('playwright', theirs);
    await sheet.save();
    await sheet.keepMine();
    expect(sheet.text).toBe(mine);
    expect(sheet.view?.text).toBe(theirs);
    expect(sheet.conflict).toBeNull();
    fake.policies.editElsewhere('playwright', `${theirs}// again\n`);
    expect(await sheet.save()).toBe(false);
    await sheet.takeTheirs();
    expect(sheet.text).toBe(sheet.view?.text);
    expect(sheet.dirty).toBe(false);
  });

  it('does not swallow a form: it is put on the new text', async () => {
    sheet.open(tool('browser_type'), 'deny');
    const other = fake.policies.rules('playwright').text.replace('"max": 120', '"max": 90');
    fake.policies.editElsewhere('playwright', other);
    expect(await sheet.save()).toBe(false);
    await sheet.keepMine();
    expect(await sheet.save()).toBe(true);
    const { text } = fake.policies.rules('playwright');
    expect(text).toContain('"max": 90');
    expect(text).toContain('"browser_type": { "action": "deny" }');
  });
});

it('a broken text is refused with its places, and stays as it was typed', async () => {
  sheet.text = sheet.text.replace('"minute"', '"fortnight"');
  expect(await sheet.save()).toBe(false);
  expect(sheet.refusedFor[0]?.message).toMatch(/A window is/);
  expect(sheet.text).toContain('fortnight');
});

it('a broken policy opens as text', async () => {
  const broken = sheetOf(app, 'notes');
  await broken.load();
  expect(broken.broken).toBe(true);
  expect(broken.tab).toBe('text');
});

it('an answer to an older question is not shown beside newer edits', async () => {
  const answers: ((effect: Effect) => void)[] = [];
  fake.effect = () => new Promise((resolve) => answers.push(resolve));
  const effect = (words: string): Effect => ({
    days: 7,
    calls: 1,
    more: 0,
    fewer: 0,
    words,
    details: [],
    tools: [],
    moreCalls: [],
    fewerCalls: [],
  });
  sheet.text = `${sheet.text}// one\n`;
  sheet.wish();
  await vi.waitFor(() => expect(answers.length).toBe(1), { timeout: 3_000 });
  sheet.text = `${sheet.text}// two\n`;
  sheet.wish();
  await vi.waitFor(() => expect(answers.length).toBe(2), { timeout: 3_000 });
  answers[1]?.(effect('new'));
  await vi.waitFor(() => expect(sheet.effect?.words).toBe('new'));
  answers[0]?.(effect('old'));
  await Promise.resolve();
  expect(sheet.effect?.words).toBe('new');
});

it('edits outlive the section, and are known by server', async () => {
  sheet.text = `${sheet.text}// later\n`;
  expect(sheetOf(app, 'playwright')).toBe(sheet);
  expect(unsaved(app).map((one) => one.server)).toEqual(['playwright']);
  sheet.discard();
  expect(unsaved(app)).toEqual([]);
});
