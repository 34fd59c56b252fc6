// What can be done about one call: the same from its row, the drawer and the keyboard.
import Ban from '@lucide/svelte/icons/ban';
import Copy from '@lucide/svelte/icons/copy';
import EyeOff from '@lucide/svelte/icons/eye-off';
import FileCog from '@lucide/svelte/icons/file-cog';
import Gauge from '@lucide/svelte/icons/gauge';
import Hand from '@lucide/svelte/icons/hand';
import ListFilter from '@lucide/svelte/icons/list-filter';
import { loosen, restrict } from '../../lib/acts';
import type { App } from '../../lib/app.svelte';
import type { CallLine, CapAdvice, ChangeLine, Decision, Target, ToolAccess } from '../../lib/backend';
import { knownAs } from '../../lib/clients/known';
import { cannotCopy, copyText } from '../../lib/clipboard';
import { printJson, type Json } from '../../lib/json/lossless';
import { isPath, prefixes } from '../../lib/log/argument';
import { everything, writeFilters } from '../../lib/log/filters';
import type { MenuEntry, MenuPlace } from '../../lib/menu.svelte';
import { formatHash } from '../../lib/router.svelte';

/** This tool, for this client: the smallest scope that stops what is on the screen. */
export const targetOf = (call: CallLine): Target => ({ server: call.server, tool: call.tool, client: call.client });

export const block = (app: App, target: Target) => restrict(app, { kind: 'block', target, reason: null });
export const ask = (app: App, call: CallLine) => restrict(app, { kind: 'ask', target: targetOf(call), reason: null });
export const hide = (app: App, call: CallLine) => restrict(app, { kind: 'hide', target: targetOf(call) });

export function revert(app: App, change: ChangeLine): void {
  void loosen(app, { kind: 'revert', server: change.server, change: change.id });
}

/** What can be done about a call now, by how its tool stands. */
export type Offer = 'restrict' | 'allow' | 'both' | 'none';

/** Refused by no rule: there is nothing to allow. */
const unruled: readonly Decision[] = ['stopped', 'malformed', 'broken', 'unrecorded'];

/** Until it is known how the tool stands, what the call itself says counts. */
export function offerOf(call: CallLine, access: ToolAccess | null): Offer {
  if (access?.kind === 'blocked') return 'allow';
  if (!call.refused) return 'restrict';
  const possible = call.tool === null ? 'none' : 'restrict';
  if (unruled.includes(call.decision)) return possible;
  if (call.decision === 'paused') return access === null || access.kind === 'paused' ? 'allow' : possible;
  if (access?.kind === 'ruled') return 'both';
  return access?.kind === 'open' ? possible : 'allow';
}

/** Why a key that restricts does nothing about this call. */
export function notRestricted(call: CallLine, access: ToolAccess | null): string {
  const what = call.tool ?? call.server;
  if (access?.kind === 'blocked') return `${what} is blocked already. To allow it, press a.`;
  if (access?.kind === 'paused') return `${call.server} is paused: every call is refused. To resume it, press a.`;
  if (offerOf(call, access) === 'none') return 'This was no call of a tool: there is nothing to restrict.';
  return `${what} is refused already. To allow it, press a.`;
}

export function changeMenu(app: App, change: ChangeLine, place: MenuPlace): void {
  app.menus.show(place, 'Change', [
    { label: 'Revert…', hint: 'r', testid: 'revert', run: () => revert(app, change) },
    { label: 'Open the rules', icon: FileCog, testid: 'menu-rule', run: () => openRules(app, change.server, null) },
  ]);
}

/** Everything that can be done about a call: by right click, and by key. */
export function rowMenu(app: App, call: CallLine, place: MenuPlace, access: ToolAccess | null): void {
  const offer = offerOf(call, access);
  const entries: MenuEntry[] = [];
  if (offer === 'allow' || offer === 'both') entries.push(...allowEntries(app, call, access), 'line');
  if (isLoop(call))
    entries.push(
      {
        label: 'Cap this loop for an hour',
        hint: `${loopCap.max}/min`,
        icon: Gauge,
        strong: true,
        testid: 'menu-cap-loop',
        run: () => capLoop(app, call),
      },
      'line',
    );
  if (offer === 'restrict' || offer === 'both') {
    entries.push(...blockEntries(app, call), 'line', {
      label: 'Cap…',
      hint: 'c',
      icon: Gauge,
      testid: 'menu-cap',
      run: () => void capMenu(app, call, place),
    });
    if (call.tool !== null)
      entries.push({
        label: 'Ask from now on',
        icon: Hand,
        testid: 'menu-ask',
        run: () => void ask(app, call),
      });
    if (call.tool !== null)
      entries.push({ label: 'Hide', hint: 'h', icon: EyeOff, testid: 'menu-hide', run: () => void hide(app, call) });
    entries.push('line');
  }
  entries.push({
    label: 'Copy arguments',
    icon: Copy,
    testid: 'menu-copy',
    run: () => void copyArguments(app, call),
  });
  if (call.tool !== null)
    entries.push({
      label: 'Filter by this tool',
      icon: ListFilter,
      testid: 'menu-filter',
      run: () => {
        const filters = writeFilters({ ...everything, server: call.server, tool: call.tool });
        app.router.go(formatHash('activity', null, filters));
      },
    });
  entries.push({
    label: 'Open the rule',
    icon: FileCog,
    testid: 'menu-rule',
    run: () => openRules(app, call.server, call.tool),
  });
  app.menus.show(place, 'Call', entries);
}

function openRules(app: App, server: string, tool: string | null): void {
  app.router.go(formatHash('rules', server, new URLSearchParams(tool === null ? {} : { tool })));
}

async function copyArguments(app: App, { id }: CallLine): Promise<void> {
  try {
    const { args } = await app.backend.call(id);
    if (args === null) app.toasts.say('It was called without arguments.');
    else app.toasts.say((await copyText(args.text)) ? 'Copied the arguments' : cannotCopy);
  } catch (thrown) {
    app.fail(thrown);
  }
}

export function blockMenu(app: App, call: CallLine, anchor: HTMLElement): void {
  app.menus.show(anchor, 'Block', blockEntries(app, call));
}

function blockEntries(app: App, call: CallLine): MenuEntry[] {
  const target = targetOf(call);
  const everyone = { ...target, client: null };
  const entries: MenuEntry[] = [];
  if (call.tool !== null) {
    entries.push({ heading: `Block ${call.tool}` });
    if (call.client !== null) {
      entries.push({
        label: `for ${knownAs(call.client)}`,
        hint: 'b',
        icon: Ban,
        strong: true,
        testid: 'block-tool-client',
        run: () => void block(app, target),
      });
    }
    entries.push({ label: 'for everyone', icon: Ban, testid: 'block-tool', run: () => void block(app, everyone) });
  }
  entries.push({ heading: `Block all of ${call.server}` });
  if (call.client !== null) {
    entries.push({
      label: `for ${knownAs(call.client)}`,
      icon: Ban,
      testid: 'block-server-client',
      run: () => void block(app, { ...target, tool: null }),
    });
  }
  entries.push({
    label: 'for everyone',
    icon: Ban,
    testid: 'block-server',
    run: () => void block(app, { ...everyone, tool: null }),
  });
  return entries;
}

/** Calls a minute that a loop is slowed down to, and for how many minutes. */
const loopCap = { max: 10, window: 'minute', minutes: 60 };

/** A loop of one tool, or of several: then of everything on its server. Ends by itself. */
export function capLoop(app: App, call: CallLine): void {
  const target = { ...targetOf(call), tool: call.tools.length > 1 ? null : call.tool };
  void restrict(app, { kind: 'capFor', target, ...loopCap });
}

/** Refused again and again because it came too often. */
export const isLoop = (call: CallLine): boolean => call.decision === 'capped' && call.times > 1;

/** So long a menu waits for advice from own use. */
const ADVICE_MS = 400;
/** So long advice that was late for its menu is good for the next one. */
const FRESH_MS = 30_000;
/** Advice that was late for the menu over an element, and what it is about. */
const late = new WeakMap<Element, { about: string; advice: CapAdvice }>();

/** Opens once and stays as it is: a choice that moved when advice came late would be the wrong one under the pointer. */
export async function capMenu(app: App, call: CallLine, place: MenuPlace): Promise<void> {
  const target = targetOf(call);
  const about = JSON.stringify(target);
  const over = place instanceof HTMLElement ? place : place.over;
  const kept = late.get(over);
  forget(over);
  let advice = kept?.about === about ? kept.advice : null;
  if (advice === null) {
    const asked = app.backend.capAdvice(target).catch(() => null);
    const waited = new Promise<undefined>((give) => setTimeout(() => give(undefined), ADVICE_MS));
    const heard = await Promise.race([asked, waited]);
    // The fixed caps are there without it; advice is only a help.
    advice = heard ?? null;
    if (heard === undefined) void asked.then((came) => came && keep(over, about, came));
  }
  if (over.isConnected) app.menus.show(place, 'Cap', capEntries(app, target, advice));
}

function keep(over: Element, about: string, advice: CapAdvice): void {
  late.set(over, { about, advice });
  over.setAttribute('data-advice', 'here');
  setTimeout(() => forget(over), FRESH_MS);
}

function forget(over: Element): void {
  late.delete(over);
  over.removeAttribute('data-advice');
}

function capEntries(app: App, target: Target, advice: CapAdvice | null): MenuEntry[] {
  const cap = (max: number, window: string) => () => void restrict(app, { kind: 'cap', target, max, window });
  const who = target.client === null ? 'everyone' : knownAs(target.client);
  const entries: MenuEntry[] = [{ heading: `Cap ${target.tool ?? target.server} for ${who}` }];
  if (advice?.present) entries.push({ heading: `Now ${advice.present}` });
  const fixed = [
    { max: 5, window: 'minute', words: '5/min', advised: false },
    { max: 20, window: 'hour', words: '20/h', advised: false },
    { max: 100, window: 'day', words: '100/day', advised: false },
  ];
  for (const choice of advice?.choices ?? fixed) {
    entries.push({
      label: choice.advised && advice ? `${advice.words}: cap at ${choice.words}` : choice.words,
      icon: Gauge,
      strong: choice.advised,
      testid: choice.advised ? 'cap-advised' : `cap-${choice.max}-${choice.window}`,
      run: cap(choice.max, choice.window),
    });
  }
  entries.push({ label: 'Custom…', testid: 'cap-custom', run: () => (app.sheet = { kind: 'cap', target }) });
  if (advice?.present) {
    entries.push('line', {
      label: 'Remove the cap…',
      testid: 'uncap',
      run: () => void loosen(app, { kind: 'uncap', target }),
    });
  }
  return entries;
}

/** For what is refused. */
export function allowMenu(app: App, call: CallLine, anchor: HTMLElement, access: ToolAccess | null): void {
  app.menus.show(anchor, 'Allow', allowEntries(app, call, access));
}

/** What ends by itself comes first. */
function allowEntries(app: App, call: CallLine, access: ToolAccess | null): MenuEntry[] {
  const { server, tool, client } = call;
  // As for restricting: this client with this server.
  const whom = client === null ? 'every client' : knownAs(client);
  const entries: MenuEntry[] = [];
  if (call.decision === 'paused' || access?.kind === 'paused') {
    entries.push(
      {
        label: 'Resume…',
        strong: true,
        testid: 'allow-resume',
        run: () => void loosen(app, { kind: 'resume', server: app.overview?.pausedAll ? null : server }),
      },
      'line',
    );
  }
  if (access?.kind === 'blocked') entries.push({ heading: access.words });
  if (call.repeatable) {
    entries.push({
      label: 'Allow the next identical call…',
      hint: `for ${whom}`,
      strong: true,
      testid: 'allow-next',
      run: () => void loosen(app, { kind: 'allowNext', call: call.id }),
    });
  }
  // A name that would count as a pattern, which an agent may have made up.
  const pattern = tool !== null && /[*?]/.test(tool);
  if (tool !== null && !pattern) {
    entries.push({
      label: 'Allow for 15 min…',
      hint: `for ${whom}`,
      testid: 'allow-for',
      run: () => void loosen(app, { kind: 'allowFor', server, tool, client, seconds: 15 * 60 }),
    });
  }
  entries.push({
    label: `Only watch ${server} for 30 min…`,
    hint: `for ${whom}`,
    testid: 'observe',
    run: () => void loosen(app, { kind: 'observe', server, client, seconds: 30 * 60 }),
  });
  // What blocks it may be a rule for everyone, or for the whole server.
  const target = access?.kind === 'blocked' ? access.target : targetOf(call);
  if (pattern && target.tool === tool) return entries;
  entries.push('line', {
    label: 'Allow…',
    hint: 'until changed',
    testid: 'allow',
    run: () => void loosen(app, { kind: 'allow', target }),
  });
  return entries;
}

/** From one argument of a call: what to refuse because of it. */
export function argumentMenu(app: App, call: CallLine, path: string, json: Json, anchor: HTMLElement): void {
  const target = targetOf(call);
  const name = path.replace(/^args\.?/, '') || path;
  const entries: MenuEntry[] = [{ heading: `${name} of ${call.tool ?? call.server}` }];
  if (json.kind === 'string' && json.value !== '') {
    const first = prefixes(json.value)[0] ?? '';
    const cut = first.length > 24 ? `${first.slice(0, 24)}…` : first;
    entries.push({
      label: `Refuse when ${name} starts with ${cut} …`,
      code: [name, cut],
      testid: 'value-prefix',
      run: () => (app.sheet = { kind: 'startsWith', target, path, value: json.value }),
    });
  }
  entries.push({
    label: 'Refuse this value',
    testid: 'value-equals',
    run: () =>
      void restrict(app, {
        kind: 'refuse',
        target,
        rule: { kind: 'equals', path, value: printJson(json, 0) },
        reason: null,
      }),
  });
  if (json.kind === 'string' && isPath(json.value)) {
    entries.push({
      label: 'Only inside this folder…',
      testid: 'value-inside',
      run: () => (app.sheet = { kind: 'onlyInside', target, path, value: json.value }),
    });
  }
  app.menus.show(anchor, 'Make a rule', entries);
}
