// The sheet of rules: what is proposed, saved, asked, and never lost.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { App } from '../../lib/app.svelte';
import type { Effect, RulesView, SaveAnswer, ToolRule } from '../../lib/backend';
import { RecordedDesk } from '../../testing/desk';
import { actionsFor, statesFor } from './draft';
import { sheetOf, unsaved, type Sheet } from './sheet.svelte';

let desk: RecordedDesk;
let app: App;
let sheet: Sheet;

const tool = (name: string, of = sheet): ToolRule => {
  const found = of.view?.tools.find((one) => one.name === name);
  if (!found) throw new Error(`no tool ${name}`);
  return found;
};
const opened = async (server: string): Promise<Sheet> => {
  const one = sheetOf(app, server);
  await one.load();
  return one;
};
/** What saving was answered with when it was recorded. */
const answerOf = (kind: SaveAnswer['kind']) => desk.all('savePolicy').find((one) => one.kind === kind)!;
/** What the desk reads from now on. */
const rules = (change: (view: RulesView) => void, server = 'playwright') => {
  const view = desk.recorded('rules', { server });
  change(view);
  desk.answer('rules', view);
};

beforeEach(async () => {
  desk = new RecordedDesk();
  app = new App(desk.backend);
  sheet = await opened('playwright');
});

describe('a state that was chosen', () => {
  it('is proposed and not written before it is saved', async () => {
    const { text: before } = sheet.view!;
    sheet.open(tool('browser_type'), 'deny');
    expect(sheet.dirty).toBe(true);
    expect(desk.asked('savePolicy')).toEqual([]);
    const { text } = desk.recorded('draftRule');
    rules((view) => (view.text = text));
    expect(await sheet.save()).toBe(true);
    const target = { server: 'playwright', tool: 'browser_type', client: null };
    expect(desk.asked('draftRule')).toMatchObject([{ text: before, target, draft: { action: 'deny' } }]);
    expect(desk.asked('savePolicy')).toEqual([{ server: 'playwright', baseText: before, text }]);
    expect(sheet.text).toBe(text);
    expect(sheet.dirty).toBe(false);
  });

  it('is dropped by closing the form', () => {
    sheet.open(tool('browser_type'), 'deny');
    sheet.close();
    expect(sheet.dirty).toBe(false);
    expect(sheet.wanted).toBeNull();
  });

  it('says nothing to the desk while something is missing in it', () => {
    sheet.open(tool('browser_type'), 'custom');
    expect(sheet.form?.missing.length).toBeGreaterThan(0);
    expect(sheet.wanted).toBeNull();
  });

  it('for one client is drafted for that client', async () => {
    sheet.open(tool('browser_navigate'));
    sheet.form?.forClient('Cursor');
    if (sheet.form) sheet.form.draft.action = 'deny';
    expect(await sheet.save()).toBe(true);
    const target = { server: 'playwright', tool: 'browser_navigate', client: 'Cursor' };
    expect(desk.asked('draftRule')).toMatchObject([{ target, draft: { action: 'deny', denyIf: [] } }]);
  });
});

describe('while a save is under way', () => {
  /** Saving waits for the answer; reading the rules again waits for `read`. */
  function slowly(change: (view: RulesView) => void) {
    const view = desk.recorded('rules', { server: 'playwright' });
    change(view);
    let read: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (read = resolve));
    desk.answer('rules', () => asked.then(() => view));
    return read;
  }

  it('the text from before it is not shown again', async () => {
    const mine = sheet.text.replace('no local files', 'none of them');
    const read = slowly((view) => (view.text = mine));
    const seen = new Set<string>();
    sheet.text = mine;
    const saving = sheet.save();
    await vi.waitFor(() => {
      seen.add(sheet.text);
      expect(desk.asked('rules')).toHaveLength(2);
    });
    seen.add(sheet.text);
    read();
    await saving;
    seen.add(sheet.text);
    expect([...seen]).toEqual([mine]);
    expect(sheet.dirty).toBe(false);
  });

  it('a look at the rules does not say that somebody else changed them', async () => {
    const mine = `${sheet.text}// mine\n`;
    const read = slowly((view) => (view.text = mine));
    sheet.text = mine;
    const [saving, looking] = [sheet.save(), sheet.load()];
    read();
    await Promise.all([saving, looking]);
    expect(sheet.stale).toBe(false);
  });

  it('the form of a tool that is asked for opens after it, with the rule as it was saved', async () => {
    const read = slowly((view) => {
      view.tools.find(({ name }) => name === 'browser_type')!.draft!.reason = 'as it was saved';
    });
    sheet.open(tool('browser_type'), 'deny');
    const saving = sheet.save();
    sheet.open(tool('browser_type'));
    read();
    expect(await saving).toBe(true);
    expect(sheet.form?.draft.reason).toBe('as it was saved');
    expect(sheet.dirty).toBe(false);
  });

  it('what is typed meanwhile is kept', async () => {
    const mine = `${sheet.text}// mine\n`;
    const read = slowly((view) => (view.text = mine));
    sheet.text = mine;
    const saving = sheet.save();
    sheet.text = `${mine}// and more\n`;
    read();
    await saving;
    expect(sheet.text).toContain('// and more');
    expect(sheet.edited).toBe(true);
  });
});

describe('the form for one client', () => {
  beforeEach(async () => (sheet = await opened('slack')));

  it("starts from what that client's rule holds, and keeps it when something is added", async () => {
    sheet.open(tool('slack_post_message'));
    sheet.form?.forClient('Cursor');
    expect(sheet.form?.draft).toMatchObject({ action: 'allow', limits: [{ counter: 'c', max: 7, window: 'hour' }] });
    expect(sheet.form?.touched).toBe(false);
    sheet.form?.draft.require.push({ path: 'args.text', op: 'exists', value: null });
    desk.answer('savePolicy', answerOf('done'));
    expect(await sheet.save()).toBe(true);
    const draft = { limits: [{ max: 7 }], require: [{ path: 'args.text' }] };
    expect(desk.asked('draftRule')).toMatchObject([{ target: { client: 'Cursor' }, draft }]);
  });

  it('starts from nothing for a client of which nothing is said, and from the rule again for everyone', () => {
    sheet.open(tool('slack_post_message'));
    sheet.form?.forClient('claude-ai');
    expect(sheet.form?.draft).toMatchObject({ action: 'allow', limits: [] });
    sheet.form?.forClient(null);
    expect(sheet.form?.draft).toMatchObject({ action: 'deny', reason: 'not here' });
  });

  it('a tool that is blocked for one client does not open as if every call passed', async () => {
    rules((view) => {
      const listed = view.tools.find(({ name }) => name === 'slack_list_channels')!;
      const [rule] = listed.clients;
      Object.assign(rule!, { state: 'deny', draft: { ...listed.draft!, action: 'deny' } });
    }, 'slack');
    await sheet.load();
    sheet.open(tool('slack_list_channels'));
    expect(sheet.form?.client).toBe('Cursor');
    expect(sheet.form?.draft.action).toBe('deny');
    // What is refused to everyone is opened for everyone; so is what was just chosen in the table.
    sheet.open(tool('slack_post_message'));
    expect(sheet.form?.client).toBeNull();
    sheet.open(tool('slack_list_channels'), 'cap');
    expect(sheet.form?.client).toBeNull();
  });

  it('is not offered for a rule that says more than it can hold', () => {
    sheet.open(tool('slack_list_channels'));
    expect(sheet.form?.beyond).toBe(false);
    sheet.form?.forClient('Cursor');
    expect(sheet.form?.beyond).toBe(true);
    expect(sheet.dirty).toBe(false);
  });
});

describe('what counts for more than one tool', () => {
  it('the default is drafted as the default', async () => {
    sheet.openGeneral('default', 'deny');
    expect(sheet.form?.touched).toBe(true);
    expect(await sheet.save()).toBe(true);
    expect(desk.asked('draftDefault')).toMatchObject([{ action: 'deny' }]);
    expect(desk.asked('draftRule')).toEqual([]);
  });

  it('the rule for all tools is drafted for no tool, for everyone and for one client', async () => {
    sheet = await opened('slack');
    desk.answer('savePolicy', answerOf('done'));
    sheet.openGeneral('allTools');
    expect(sheet.form?.draft.limits).toMatchObject([{ counter: 'all', max: 120 }]);
    if (sheet.form) sheet.form.draft.limits[0]!.max = 60;
    expect(await sheet.save()).toBe(true);
    sheet.openGeneral('allTools');
    sheet.form?.forClient('Cursor');
    if (sheet.form) sheet.form.draft.action = 'deny';
    expect(await sheet.save()).toBe(true);
    expect(desk.asked('draftRule')).toMatchObject([
      { target: { tool: null, client: null }, draft: { limits: [{ max: 60 }] } },
      { target: { tool: null, client: 'Cursor' }, draft: { action: 'deny', limits: [] } },
    ]);
  });

  it('what no rule names can be hidden from agents, everything at once cannot', () => {
    expect(statesFor('default')).toEqual(['allow', 'deny', 'hide', 'ask']);
    expect(statesFor('allTools')).not.toContain('hide');
  });

  it('the default policy is asked what a change would have done to the servers that follow it', async () => {
    const standard = await opened('_default');
    desk.answer('effect', desk.all('effect')[0]!);
    standard.openGeneral('default', 'deny');
    standard.wish();
    await vi.waitFor(() => expect(standard.effect).not.toBeNull());
    const { text } = desk.recorded('draftDefault');
    expect(desk.asked('effect')).toEqual([{ server: '_default', text, days: 7 }]);
  });

  it('several tools are denied, hidden or capped in one change', async () => {
    const three = ['browser_click', 'browser_snapshot', 'browser_type'].map((name) => tool(name));
    let drafted = 0;
    desk.answer('draftRule', ({ text }) => ({ ...desk.recorded('draftRule'), text: `${text}// ${++drafted}\n` }));
    const { text } = sheet;
    expect(await sheet.chooseMany(three, 'deny')).toBe(true);
    expect(desk.asked('savePolicy')).toMatchObject([{ text: `${text}// 1\n// 2\n// 3\n` }]);
    expect(desk.asked('draftRule').map(({ target }) => target.tool)).toEqual(three.map(({ name }) => name));
    expect(desk.asked('draftRule').every(({ draft }) => draft.action === 'deny')).toBe(true);
    expect(await sheet.chooseMany(three, 'cap', { max: 5, window: 'minute' })).toBe(true);
    for (const { draft } of desk.asked('draftRule').slice(3))
      expect(draft.limits[0]).toMatchObject({ max: 5, window: 'minute' });
  });

  it('ask is a choice for one tool, for all at once and as the default', async () => {
    for (const about of ['tool', 'allTools', 'default'] as const) {
      expect(statesFor(about)).toContain('ask');
      expect(actionsFor(about).map(({ action }) => action)).toContain('ask');
    }
    sheet.open(tool('browser_type'), 'ask');
    expect(await sheet.save()).toBe(true);
    expect(desk.asked('draftRule').at(-1)).toMatchObject({ draft: { action: 'ask' } });
  });
});

describe('what loosens', () => {
  it('is saved only after yes', async () => {
    desk.answer('savePolicy', answerOf('ask'));
    for (const answer of [false, true]) {
      sheet.open(tool('browser_evaluate'), 'allow');
      const saving = sheet.save();
      await vi.waitFor(() => expect(app.asked?.loosened.length).toBeGreaterThan(0));
      expect(desk.asked('confirm')).toEqual([]);
      app.asked?.answer(answer);
      expect(await saving).toBe(answer);
      expect(sheet.dirty).toBe(!answer);
    }
    expect(desk.asked('dismiss')).toHaveLength(1);
    expect(desk.asked('confirm')).toHaveLength(1);
  });
});

describe('an edit made elsewhere', () => {
  const theirs = '{\n  "version": "1",\n  "default": "deny"\n}\n';
  const elsewhere = (text = theirs) => rules((view) => (view.text = text));

  it('is a conflict, and edits stay', async () => {
    sheet.text = `${sheet.text}// mine\n`;
    const answer = answerOf('conflict');
    desk.answer('savePolicy', answer);
    expect(await sheet.save()).toBe(false);
    expect(sheet.conflict).toMatchObject({ theirs: 'theirs' in answer && answer.theirs });
    expect(sheet.text).toContain('// mine');
  });

  it('is noticed before saving, without touching the edits', async () => {
    sheet.text = `${sheet.text}// mine\n`;
    elsewhere();
    await sheet.load();
    expect(sheet.stale).toBe(true);
    expect(sheet.text).toContain('// mine');
  });

  it('can be taken, or written over knowingly', async () => {
    const mine = `${sheet.text}// mine\n`;
    sheet.text = mine;
    desk.answer('savePolicy', answerOf('conflict'));
    elsewhere();
    await sheet.save();
    await sheet.keepMine();
    expect(sheet.text).toBe(mine);
    expect(sheet.view?.text).toBe(theirs);
    expect(sheet.conflict).toBeNull();
    elsewhere(`${theirs}// again\n`);
    expect(await sheet.save()).toBe(false);
    await sheet.takeTheirs();
    expect(sheet.text).toBe(`${theirs}// again\n`);
    expect(sheet.dirty).toBe(false);
  });

  it('does not swallow a form: it is put on the new text', async () => {
    sheet.open(tool('browser_type'), 'deny');
    desk.answer('savePolicy', answerOf('conflict'));
    elsewhere();
    expect(await sheet.save()).toBe(false);
    await sheet.keepMine();
    desk.answer('savePolicy', answerOf('done'));
    expect(await sheet.save()).toBe(true);
    expect(desk.asked('draftRule').at(-1)).toMatchObject({ text: theirs, draft: { action: 'deny' } });
    expect(desk.asked('savePolicy').at(-1)).toMatchObject({ baseText: theirs });
  });
});

it('a broken text is refused with its places, and stays as it was typed', async () => {
  sheet.text = sheet.text.replace('"minute"', '"fortnight"');
  desk.answer('savePolicy', answerOf('broken'));
  expect(await sheet.save()).toBe(false);
  expect(sheet.refusedFor[0]?.message).toContain('window');
  expect(sheet.text).toContain('fortnight');
});

it('a broken policy opens as text', async () => {
  const broken = await opened('notes');
  expect(broken.broken).toBe(true);
  expect(broken.tab).toBe('text');
});

it('an answer to an older question is not shown beside newer edits', async () => {
  const answers: ((effect: Effect) => void)[] = [];
  desk.answer('effect', () => new Promise((resolve) => answers.push(resolve)));
  const effect = (words: string): Effect => ({ ...desk.recorded('effect'), words });
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

it('edits outlive the section, and are known by server', () => {
  sheet.text = `${sheet.text}// later\n`;
  expect(sheetOf(app, 'playwright')).toBe(sheet);
  expect(unsaved(app).map((one) => one.server)).toEqual(['playwright']);
  sheet.discard();
  expect(unsaved(app)).toEqual([]);
});
