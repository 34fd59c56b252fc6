// @vitest-environment node
import { describe, expect, it } from 'vitest';
import type { RuleDraft, ToolRule, ToolState } from '../../lib/backend/bindings';
import {
  choose,
  copyOf,
  emptyDraft,
  missing,
  newCase,
  newLimit,
  same,
  sentences,
  stateOf,
  states,
  windowReads,
} from './draft';

const capped: RuleDraft = { ...emptyDraft(), limits: [newLimit(10, 'minute')] };

function tool(draft: RuleDraft | null, state: ToolState): ToolRule {
  return {
    name: 'browser_click',
    pattern: false,
    listed: true,
    description: null,
    class: null,
    state,
    words: '',
    source: 'own',
    from: 'its own rule',
    draft,
    clients: [],
    calls: 0,
    hits: 0,
    lastHitMs: null,
    lastCallMs: null,
  };
}

describe('every argument of a kind', () => {
  const inside = { path: 'paths', op: 'inside', value: '"~/projects"' };
  it('is required of every one, and refused for any', () => {
    expect(sentences({ ...emptyDraft(), require: [inside] })[0]).toBe(
      'Refused unless every path is inside “~/projects”.',
    );
    const refused = { conditions: [{ path: 'urls', op: 'regex', value: '"^file:"' }], reason: null };
    expect(sentences({ ...emptyDraft(), denyIf: [refused] })[0]).toBe('Refused when a URL matches “^file:”.');
  });

  it('is a whole condition without the way to one argument', () => {
    expect(missing({ ...emptyDraft(), require: [inside] })).toEqual([]);
    expect(missing({ ...emptyDraft(), require: [{ ...inside, path: 'path' }] })).toHaveLength(1);
  });
});

describe('choosing a state', () => {
  it('makes the draft that has this state, from every other one', () => {
    for (const from of states) {
      const start = choose(tool(emptyDraft(), 'allow'), from, null);
      for (const to of ['deny', 'hide', 'ask', 'custom'] as const)
        expect(stateOf(choose(tool(start, from), to, null)), `${from} to ${to}`).toBe(to);
    }
    expect(stateOf(choose(tool(emptyDraft(), 'allow'), 'cap', null))).toBe('cap');
  });

  it('keeps limits and conditions when a tool is allowed again', () => {
    const denied = choose(tool(capped, 'cap'), 'deny', null);
    expect(denied.action).toBe('deny');
    expect(choose(tool(denied, 'deny'), 'allow', null).limits).toEqual(capped.limits);
  });

  it('caps at what was advised, and leaves a cap that is there alone', () => {
    expect(choose(tool(null, 'allow'), 'cap', { max: 30, window: 'hour' }).limits).toEqual([newLimit(30, 'hour')]);
    expect(choose(tool(capped, 'cap'), 'cap', { max: 30, window: 'hour' }).limits).toEqual(capped.limits);
  });

  it('never edits the rule that it started from', () => {
    const before = JSON.stringify(capped);
    const copy = copyOf(capped);
    copy.limits.push(newLimit());
    choose(tool(capped, 'cap'), 'custom', null).limits.push(newLimit());
    expect(JSON.stringify(capped)).toBe(before);
    expect(same(copy, capped)).toBe(false);
    expect(same(copyOf(capped), capped)).toBe(true);
  });
});

describe('what is missing is named with its place', () => {
  it.each<[string, RuleDraft, string[]]>([
    ['nothing', emptyDraft(), []],
    ['a cap of none', { ...emptyDraft(), limits: [{ ...newLimit(), max: 0 }] }, ['limits.0.max']],
    ['a cap of a half', { ...emptyDraft(), limits: [{ ...newLimit(), max: 1.5 }] }, ['limits.0.max']],
    ['a window of nonsense', { ...emptyDraft(), limits: [newLimit(1, 'fortnight')] }, ['limits.0.window']],
    [
      'no window for calls at once',
      { ...emptyDraft(), limits: [{ ...newLimit(), limit: 'concurrent', window: null }] },
      [],
    ],
    [
      'a new condition',
      { ...emptyDraft(), denyIf: [newCase()] },
      ['denyIf.0.conditions.0.path', 'denyIf.0.conditions.0.value'],
    ],
    [
      'a new case to ask about',
      { ...emptyDraft(), askIf: [newCase()] },
      ['askIf.0.conditions.0.path', 'askIf.0.conditions.0.value'],
    ],
    ['existence needs no value', { ...emptyDraft(), require: [{ path: 'args.url', op: 'exists', value: null }] }, []],
    ['odd names', { ...emptyDraft(), require: [{ path: 'args["a.b"].0', op: 'eq', value: '1' }] }, []],
  ])('%s', (_, draft, at) => {
    expect(missing(draft).map((one) => one.at)).toEqual(at);
  });

  it('windows read as the policy reads them', () => {
    for (const good of ['minute', 'day', '90s', '15m', '2h', '3d', '90']) expect(windowReads(good), good).toBe(true);
    for (const bad of [null, '', '0s', '1.5h', 'minutes', '-1s']) expect(windowReads(bad), String(bad)).toBe(false);
  });
});

describe('a draft in words', () => {
  it.each<[RuleDraft, string[]]>([
    [emptyDraft(), ['Every call passes.']],
    [{ ...emptyDraft('deny'), reason: 'no scripts' }, ['Every call is refused: no scripts']],
    [capped, ['At most 10 a minute, each client.', 'Everything else passes.']],
    [{ ...emptyDraft('ask'), reason: 'look at the path' }, ['You are asked about every call: look at the path']],
    [{ ...capped, action: 'ask' }, ['At most 10 a minute, each client.', 'You are asked about everything else.']],
    [
      {
        ...emptyDraft(),
        askIf: [{ conditions: [{ path: 'args.url', op: 'regex', value: '"^http:"' }], reason: null }],
      },
      ['You are asked when args.url matches “^http:”.', 'Everything else passes.'],
    ],
    [
      {
        ...emptyDraft(),
        require: [{ path: 'args.path', op: 'inside', value: '["~/projects", "/tmp/x"]' }],
        denyIf: [
          {
            conditions: [
              { path: 'args.url', op: 'regex', value: '"^file:"' },
              { path: 'args.force', op: 'exists', value: 'false' },
            ],
            reason: 'no local files',
          },
        ],
      },
      [
        'Refused unless args.path is inside “~/projects” or “/tmp/x”.',
        'Refused when args.url matches “^file:” and args.force is missing: no local files',
        'Everything else passes.',
      ],
    ],
  ])('%#', (draft, words) => {
    expect(sentences(draft)).toEqual(words);
  });
});
