import { BackendError } from '../backend';

/** Where the made-up gate has nothing to say yet. */
export const unbuilt = async (): Promise<never> => {
  throw new BackendError({ code: 'failed', message: 'The made-up gate cannot do this yet.', detail: null });
};
