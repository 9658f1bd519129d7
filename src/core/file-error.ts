/** Whether it is the system's error about this very file: it cannot be read, or is gone. */
export const isAboutFile = (error: unknown, path: string): error is Error =>
  error instanceof Error && 'code' in error && 'path' in error && error.path === path
