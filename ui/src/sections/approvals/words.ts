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

/** A rule that would spare the next questions. */
export function suggestion({ tool, approvedLately, deniedLately }: ApprovalView): string | null {
  if (deniedLately >= refusedOften)
    return `You denied ${tool} ${deniedLately} times this week: Deny and block refuses it from now on.`;
  if (approvedLately >= often)
    return `You approved ${tool} ${approvedLately} times this week: Always allow spares you the next questions.`;
  return null;
}
