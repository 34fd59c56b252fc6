// Whether this version's gate can stop, start and restart a server.
export const supervised = false;
