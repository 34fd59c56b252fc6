// Restricting and loosening in the made-up gate, with the same words and the same second step as the real one.
import { BackendError, type Backend } from '../backend';
import type * as T from '../backend';
import type { FakeRules } from './rules';
import type { FakeRule } from './verdict';
import type { World } from './world';

type Acts = Pick<
  Backend,
  'restrict' | 'undo' | 'giveReason' | 'loosen' | 'confirm' | 'dismiss' | 'enforcement' | 'capAdvice'
>;

type Cap = Pick<FakeRule, 'target' | 'max' | 'window'>;

const undoFor = 10_000;
const askFor = 120_000;

export function fakeActs(world: World, policies: FakeRules): Acts {
  let next = 1;
  const undos = new Map<
    string,
    { untilMs: number; back: () => void; words: string; rule: FakeRule | null; server: string | null }
  >();
  const { questions } = world;
  const enforcedFrom = new Map<string, number>();

  const done = (words: string, server: string | null, version: string | null, more: Partial<T.Done> = {}): T.Done => {
    if (server !== null && version !== null) enforcedFrom.set(`${server} ${version}`, world.now());
    return { words, undo: null, server, version, endsMs: null, ...more };
  };

  const undoable = (words: string, server: string | null, back: () => void, rule: FakeRule | null): T.Undo => {
    const token = `undo-${next++}`;
    const untilMs = world.now() + undoFor;
    undos.set(token, { untilMs, back, words, rule, server });
    return { token, untilMs };
  };

  world.undoable = (words, server, back) => undoable(words, server, back, null);

  const write = (rule: FakeRule, words: string): T.Done => {
    const before = world.rules;
    world.rules = [
      rule,
      ...before.filter((one) => !(sameTarget(one.target, rule.target) && one.kind === rule.kind && !rule.argument)),
    ];
    const { server } = rule.target;
    const version = world.changed(server, words, false);
    return done(words, server, version, {
      undo: undoable(
        words,
        server,
        () => {
          world.rules = before;
          world.changed(server, `Undone: ${words}`, true);
        },
        rule,
      ),
    });
  };

  const cap = ({ target, max, window }: Cap): T.Done =>
    write(
      { kind: 'cap', target, max, window, reason: null, argument: null },
      `Capped ${scope(target)} at ${max} per ${window}`,
    );

  const ask = (words: string, loosened: string[], act: () => T.Done): T.Answer => {
    const token = `ask-${next++}`;
    questions.set(token, { untilMs: world.now() + askFor, act });
    return { kind: 'ask', token, words, details: [], loosened };
  };

  const tooLate = (what: string) =>
    new BackendError({ code: 'tooLate', message: `It is too late to ${what}.`, detail: null });

  const allowFor = (target: T.Target, seconds: number, what: string): T.Done => {
    const { server, tool, client } = target;
    const words = client === null ? what : `${what} for ${client}`;
    const id = `allow-${next++}`;
    const endsMs = world.now() + seconds * 1000;
    world.allowances = [...world.allowances, { id, server, tool, client, words, endsMs }];
    world.happened('allowance', server, words);
    setTimeout(() => (world.allowances = world.allowances.filter((one) => one.id !== id)), seconds * 1000);
    return done(words, server, world.version(server), { endsMs });
  };

  return {
    async restrict(restriction) {
      const blank = { max: 0, window: '', reason: null, argument: null };
      switch (restriction.kind) {
        case 'block':
          return write(
            { ...blank, kind: 'block', target: restriction.target, reason: restriction.reason },
            `Blocked ${scope(restriction.target)}`,
          );
        case 'hide':
          return write({ ...blank, kind: 'hide', target: restriction.target }, `Hidden: ${scope(restriction.target)}`);
        case 'cap': {
          if (raises(world, restriction))
            throw new BackendError({
              code: 'notConfirmed',
              message: `${scope(restriction.target)} is capped lower already; more calls need a yes first.`,
              detail: null,
            });
          return cap(restriction);
        }
        case 'capFor': {
          const { target, max, window, minutes } = restriction;
          const done = write(
            { ...blank, kind: 'cap', target, max, window },
            `Capped ${scope(target)} at ${max} per ${window} for ${minutes} minutes`,
          );
          return { ...done, endsMs: world.now() + minutes * 60_000 };
        }
        case 'refuse': {
          const { target, rule, reason } = restriction;
          return write(
            { ...blank, kind: 'refuse', target, argument: rule, reason },
            `Refused on ${scope(target)}: ${ruleWords(rule)}`,
          );
        }
        case 'pause': {
          const { server } = restriction;
          if (server === null) world.pausedAll = true;
          else world.pausedServers.add(server);
          const words = server === null ? 'Paused every server' : `Paused ${server}`;
          world.happened('paused', server, words);
          return done(words, null, null, {
            undo: undoable(
              words,
              server,
              () => {
                if (server === null) world.pausedAll = false;
                else world.pausedServers.delete(server);
                world.happened('resumed', server, `Undone: ${words}`);
              },
              null,
            ),
          });
        }
        case 'keepRecordings': {
          const { server } = restriction;
          const words = `Clearing a recording on ${server} is refused until it has ended, for every client`;
          const back = policies.keepRecordings(server);
          return done(words, server, world.changed(server, words, false), {
            undo: undoable(words, server, back, null),
          });
        }
        case 'endAllowance': {
          const found = world.allowances.find((one) => one.id === restriction.id);
          if (!found)
            throw new BackendError({ code: 'notFound', message: 'That allowance has ended already.', detail: null });
          world.allowances = world.allowances.filter((one) => one !== found);
          return done(`Ended: ${found.words}`, found.server, world.version(found.server));
        }
        case 'enforce': {
          const { server } = restriction;
          world.allowances = world.allowances.filter((one) => one.server !== server || one.tool !== null);
          return done(`Ended: the rules of ${server} refuse again`, server, world.version(server));
        }
      }
    },

    async undo(token) {
      const found = undos.get(token);
      undos.delete(token);
      if (!found || found.untilMs < world.now()) throw tooLate('undo this; change the rule in Rules instead');
      found.back();
      return done(`Undone: ${found.words}`, found.server, found.server && world.version(found.server));
    },

    async giveReason(token, reason) {
      const found = undos.get(token);
      if (!found || found.untilMs < world.now()) throw tooLate('give a reason; write it in Rules instead');
      if (found.rule) found.rule.reason = reason;
      return done(`${found.words}: “${reason}”`, found.server, found.server && world.version(found.server), {
        undo: { token, untilMs: found.untilMs },
      });
    },

    async loosen(loosening) {
      switch (loosening.kind) {
        case 'allowNext': {
          const entry = world.entries.find(({ line }) => line.kind === 'call' && line.id === loosening.call);
          if (!entry || entry.line.kind !== 'call')
            throw new BackendError({ code: 'notFound', message: 'That call is not on record any more.', detail: null });
          const { server, tool, client } = entry.line;
          return ask(
            `Let the next identical call of ${tool} on ${server} pass, once, for ${client ?? 'every client'}?`,
            [`${tool} on ${server} passes once with exactly these arguments, within 10 minutes`],
            () => {
              world.passNext.add(`${server} ${client} ${tool} ${entry.args}`);
              return done(
                `The next identical call of ${tool} on ${server} passes, once`,
                server,
                world.version(server),
              );
            },
          );
        }
        case 'allowFor': {
          const { server, tool, client, seconds } = loosening;
          return ask(
            `Let ${client ?? 'every client'} call ${tool} on ${server} for ${seconds / 60} minutes?`,
            [`Rules that refuse ${tool} do not count for ${seconds / 60} minutes`],
            () => allowFor({ server, tool, client }, seconds, `${tool} on ${server} is allowed`),
          );
        }
        case 'observe': {
          const { server, client, seconds } = loosening;
          return ask(
            `Only watch ${server}, for ${client ?? 'every client'}, for ${seconds / 60} minutes?`,
            [`Nothing on ${server} is refused; what would have been is on record`],
            () => allowFor({ server, tool: null, client }, seconds, `${server} is only watched`),
          );
        }
        case 'allow':
        case 'uncap': {
          const { target } = loosening;
          const uncap = loosening.kind === 'uncap';
          const words = uncap ? `Removed the cap of ${scope(target)}` : `Allowed ${scope(target)}`;
          return ask(
            `${uncap ? 'Remove the cap of' : 'Allow'} ${scope(target)}?`,
            [`${scope(target)} is not refused any more`],
            () => {
              world.rules = world.rules.filter(
                (rule) =>
                  !(
                    rule.target.server === target.server &&
                    rule.target.tool === target.tool &&
                    (uncap ? rule.kind === 'cap' : true)
                  ),
              );
              return done(words, target.server, world.changed(target.server, words, true));
            },
          );
        }
        case 'cap': {
          const { target, max, window } = loosening;
          if (!raises(world, loosening)) return { kind: 'done', ...cap(loosening) };
          return ask(
            `Cap ${scope(target)} at ${max} per ${window}?`,
            [`${scope(target)} may be called more often than now`],
            () => cap(loosening),
          );
        }
        case 'resume': {
          const { server } = loosening;
          const name = server ?? 'every server';
          return ask(`Resume ${name}?`, [`Calls of ${name} reach their server again, as the rules say`], () => {
            if (server === null) {
              world.pausedAll = false;
              world.pausedServers.clear();
            } else world.pausedServers.delete(server);
            world.happened('resumed', server, `Resumed ${name}`);
            return done(`Resumed ${name}`, null, null);
          });
        }
        case 'restoreDefault': {
          if (!world.defaultBroken)
            return {
              kind: 'done',
              ...done('Nothing to change: the default policy is there and can be used', null, null),
            };
          return ask(
            'Put back the default policy as Callgate ships it, for every server without a policy of its own? The present file is kept beside it.',
            ['Tools that no rule names pass'],
            () => {
              world.defaultBroken = false;
              world.happened('loosened', null, 'the default policy was put back as Callgate ships it');
              return done('Put back the default policy as Callgate ships it', null, null);
            },
          );
        }
        case 'lastGood':
          return world.lastGood(loosening.server);
        case 'revert': {
          const { server, change } = loosening;
          const answer = world.revert(server, change);
          if (answer) return answer;
          const found = world.entries.find(({ line }) => line.kind === 'change' && line.id === change);
          const what = found?.line.kind === 'change' ? found.line.summary : 'this change';
          return ask(`Revert “${what}”?`, [`${server}: ${what}, no longer`], () =>
            done(`Reverted: ${what}`, server, world.changed(server, `Reverted: ${what}`, true)),
          );
        }
      }
    },

    async dismiss(token) {
      questions.delete(token);
    },

    async confirm(token) {
      const found = questions.get(token);
      questions.delete(token);
      if (!found || found.untilMs < world.now()) throw tooLate('confirm this; ask again');
      return found.act();
    },

    async enforcement(server, version) {
      const sessions = world.sessions.filter((one) => one.server === server && one.endedMs === null).length;
      const passed = world.now() - (enforcedFrom.get(`${server} ${version}`) ?? 0);
      return { inForce: passed > 900 ? sessions : passed > 300 ? Math.min(1, sessions) : 0, sessions };
    },

    async capAdvice(target) {
      const perMinute = new Map<number, number>();
      for (const line of world.calls()) {
        if (
          line.server !== target.server ||
          (target.tool && line.tool !== target.tool) ||
          (target.client && line.client !== target.client)
        )
          continue;
        const minute = Math.floor(line.atMs / 60_000);
        perMinute.set(minute, (perMinute.get(minute) ?? 0) + 1);
      }
      const peak = Math.max(0, ...perMinute.values());
      const advised = Math.max(5, Math.ceil((peak * 1.3) / 5) * 5);
      const cap = world.rules.find((rule) => rule.kind === 'cap' && sameTarget(rule.target, target));
      return {
        peakPerMinute: peak,
        words: `your peak is ${peak}/min`,
        choices: [
          { max: advised, window: 'minute', words: `${advised}/min`, advised: true },
          { max: 5, window: 'minute', words: '5/min', advised: false },
          { max: 20, window: 'hour', words: '20/h', advised: false },
          { max: 100, window: 'day', words: '100/day', advised: false },
        ],
        present: cap ? `${cap.max} per ${cap.window}` : null,
      };
    },
  };
}

/** Would this cap let more through than the one that is there? */
function raises(world: World, { target, max, window }: Cap): boolean {
  const present = world.rules.find((rule) => rule.kind === 'cap' && sameTarget(rule.target, target));
  return present !== undefined && (present.window !== window || present.max < max);
}

function sameTarget(a: T.Target, b: T.Target): boolean {
  return a.server === b.server && a.tool === b.tool && a.client === b.client;
}

export function scope(target: T.Target): string {
  const what = target.tool === null ? `everything on ${target.server}` : `${target.tool} on ${target.server}`;
  return `${what}, for ${target.client ?? 'everyone'}`;
}

function ruleWords(rule: T.ArgumentRule): string {
  if (rule.kind === 'startsWith') return `${rule.path} starts with ${rule.prefix}`;
  if (rule.kind === 'equals') return `${rule.path} is ${rule.value}`;
  return `${rule.path} outside ${rule.folder}`;
}
