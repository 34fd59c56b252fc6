// One word per thing, the same as in the log of the terminal and in refusals.
import type { Decision, Exported, Outcome } from './backend';
import { count } from './format';

export const decisionWords: Record<Decision, string> = {
  allowed: 'Allowed',
  denied: 'Denied',
  capped: 'Capped',
  hidden: 'Hidden',
  paused: 'Paused',
  malformed: 'Malformed',
  broken: 'Broken policy',
  unrecorded: 'Unrecorded',
  unsupported: 'Unsupported',
  would_deny: 'Would deny',
  stopped: 'Stopped',
  asked: 'Asked',
};

export const decisionHints: Record<Decision, string> = {
  allowed: 'It reached its server',
  denied: 'A rule refused it',
  capped: 'Refused: over its limit',
  hidden: 'Refused: the agent is told that there is no such tool',
  paused: 'Refused while paused',
  malformed: 'Refused: not a proper call',
  broken: 'Refused: the policy cannot be used',
  unrecorded: 'Refused: it could not be put on record',
  unsupported: 'Refused: a kind of message that is not let through',
  would_deny: 'Let through while only watching; rules would have denied it',
  stopped: 'Refused: its server was not running, or had lost what the call counts on',
  asked: 'A person decides: the server has not seen it',
};

export const outcomeWords: Record<Outcome, string> = {
  ok: 'Answered',
  tool_error: 'The tool answered with an error',
  rpc_error: 'The server answered with an error',
  cancelled: 'Cancelled by the client',
  not_delivered: 'The answer did not reach the client',
  server_ended: 'The server ended before it answered',
  unusable: 'The answer could not be used',
  not_sent: 'Not sent to the server',
  unknown: 'How it ended is not known',
  timed_out: 'Given up: it took too long',
  cancelled_by_user: 'Cancelled by you',
};

/** Ended, and not well, although it was let through. */
export const failed = (outcome: Outcome | null): boolean =>
  outcome !== null && !['ok', 'not_sent', 'cancelled', 'cancelled_by_user'].includes(outcome);

/** What the gate calls the default policy, where a server's name stands. */
export const defaultServer = '_default';
export const serverName = (server: string): string => (server === defaultServer ? 'Default policy' : server);

export const originWords: Record<string, string> = {
  window: 'in the app',
  cli: 'in the terminal',
  file: 'in the file',
  approval: 'by an approval',
};

/** What an export says, wherever it was asked for. */
export const exported = (done: Exported): string => `Exported ${count(done.calls, 'call')} to ${done.path}`;
