/** The line for a shell that starts a runner, in a checkout of the repository that it is to serve. `base`: the server's address; `program`: the
 *  URL of the program `parley`; where there is none, the line is for a checkout of Parley, and names the repository's by a PATH to fill
 *  in. */
export const runnerLine = (base: string, program: string | undefined, key = '…'): string =>
  `PARLEY_RUNNER_KEY=${key} ${program ? `npx -y ${program} runner` : 'bun run runner --worktree PATH'} --hub ${base}`
