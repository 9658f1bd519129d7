/** Something that a process does again and again in the background. It may fail: it is tried again, and the others go on. */
export interface Job {
  name: string
  everyMs: number // from the end of one run to the beginning of the next
  run(): unknown // what it gives back is awaited, and ignored
}
