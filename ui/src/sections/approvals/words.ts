// What is said of an approval that is over, and of one that waits.
import type { ApprovalView } from '../../lib/backend';

export function outcome({ state, decidedBy }: ApprovalView): string {
  switch (state) {
    case 'approved':
      return `Approved ${decidedBy ?? ''}`.trim();
    case 'denied':
      return `Denied ${decidedBy ?? ''}`.trim();
    case 'missed':
      return 'Missed';
    case 'withdrawn':
      return 'Given up by its client';
    case 'open':
      return 'Waits';
  }
}

/** What the person does again and again is worth a rule: so often. */
export const often = 8;
export const refusedOften = 3;

/** The cap that is offered beside a yes for good. */
export const cap = { max: 10, window: 'minute', words: '10 a minute' } as const;

export interface Suggestion {
  makes: 'block' | 'cap';
  words: string;
  button: string;
}

/** A rule that would spare the next questions. */
export function suggestion(approval: ApprovalView): Suggestion | null {
  const { tool, approvedLately, deniedLately, complete } = approval;
  if (deniedLately >= refusedOften)
    return {
      makes: 'block',
      words: `You denied this very call ${deniedLately} times this week.`,
      button: 'Block the tool',
    };
  if (approvedLately >= often && complete && !isConditional(approval))
    return {
      makes: 'cap',
      words: `You approved ${tool} ${approvedLately} times this week.`,
      button: `Allow it, at most ${cap.words}…`,
    };
  return null;
}

/** Asked about for its arguments: allowing the tool would change nothing, and other calls of it are not asked about. */
export const isConditional = ({ rule }: ApprovalView): boolean => rule.includes('/ask_if/');

/** What nobody can read of it. */
export const hidden = ({ masked }: ApprovalView): string =>
  masked === 1 ? '1 value is hidden by masking' : `${masked} values are hidden by masking`;

/** What decides how a card is laid out: when any of it changes, what lies under a pointer may be something else. */
export const layout = (approval: ApprovalView): string =>
  JSON.stringify([
    approval.id,
    approval.asked,
    approval.reason,
    approval.rule,
    approval.difference,
    approval.complete,
    approval.masked,
    approval.class,
    approval.compared?.words,
    approval.inBackground,
    approval.heldUntilMs === null,
    suggestion(approval),
  ]);

/** What Allow once reaches. */
export function once({ asked }: ApprovalView): string {
  const equal = asked > 1 ? ` Of ${asked} equal calls it is one.` : '';
  return `Allow once lets exactly this call through: now, or when it comes again within 10 minutes.${equal}`;
}

/** What a yes to a burst reaches, as the gate counts it; `most` can be ticked, and `few` are seen at a glance. */
export const burst = {
  most: 50,
  few: 8,
  hint: '20 calls, until idle for a minute',
  reach: '20 calls in all, until nothing comes for a minute, for at most 30 minutes',
} as const;

/** What else a yes can be for. */
export const further = ({ inConversation }: ApprovalView): string =>
  `More reaches further: this burst, ${inConversation ? 'this conversation' : 'until the client restarts'}, or by a rule.`;
