/** The line for a shell that starts a runner, in a checkout of the repository that it is to serve. `base`: the server's address; `program`: the
 *  URL of the client program; a server that hands out none is run from a checkout, which has it. */
export const runnerLine = (base: string, program: string | undefined, key = '…'): string =>
  `PARLEY_RUNNER_KEY=${key} ${program ? `npx -y ${program} runner` : 'bun run runner'} --url ${base}`
